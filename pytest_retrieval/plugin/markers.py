"""The arguments of the ``retrieval`` marker, and the sources that it and the options name."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_retrieval.errors import UsageError, closest
from pytest_retrieval.snapshots.distribution import distribution_version
from pytest_retrieval.snapshots.sources import NamedSource, split_view

SAMPLE_KEYS = ("repo", "task", "stratum", "fold", "language", "id", "difficulty", "corpus")
MARKER_ARGUMENTS = ("task", "samples", "corpus", "snapshot", "release", "corpora")


def check_marker(positional: Sequence[object], arguments: Mapping[str, Any]) -> None:
    """Refuse arguments of the ``retrieval`` marker that mean nothing."""
    check_arguments("retrieval", positional, arguments, MARKER_ARGUMENTS, ("release", "corpora"))


def check_arguments(
    marker: str,
    positional: Sequence[object],
    arguments: Mapping[str, Any],
    allowed: Sequence[str],
    single: Sequence[str],
) -> None:
    """Refuse arguments of a marker that are not ``allowed``, and several values of a ``single`` one."""
    known = ", ".join(allowed)
    if positional:
        raise UsageError(f"marker {marker}: takes named arguments only ({known}), not {positional[0]!r}")
    for name in arguments:
        if name not in allowed:
            raise UsageError(
                f"marker {marker}: no argument {name!r}{closest(name, allowed)} (known: {known})"
            )
        if len(texts_of(arguments, name)) > 1 and name in single:
            raise UsageError(f"marker {marker}: {name} must be one path, not {arguments[name]!r:.80}")


def check_choice(expression: str) -> None:
    """Refuse a ``-m`` expression that asks samples for a key they do not have; it would choose none."""
    for arguments in re.findall(r"\bsample\(([^()]*)\)", expression):
        for key in re.findall(r"(?:^|,)\s*(\w+)\s*=", arguments):
            if key not in SAMPLE_KEYS:
                known = f"{closest(key, SAMPLE_KEYS)} (known: {', '.join(SAMPLE_KEYS)})"
                raise UsageError(f"-m {expression!r}: samples have no {key!r}{known}")


def check_source(named: NamedSource) -> None:
    """Refuse a source that is not there at all; whether it serves the commit shows when it is read."""
    if named.source.startswith("dist:"):
        distribution_version(named.source.removeprefix("dist:"))
        return
    place = split_view(named.source.removeprefix("git:"))[0]
    if not Path(place).exists():
        raise UsageError(f"--snapshot {named.name}={named.source}: there is no file or folder {place}")


def texts_of(arguments: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """The texts of a marker's argument; none where it is absent or None."""
    value = arguments.get(name)
    if value is None:
        return ()
    values = value if isinstance(value, list | tuple) else (value,)
    if not values or not all(isinstance(text, str | Path) and str(text) for text in values):
        raise UsageError(f"marker retrieval: {name} must be a text or a list of texts, not {value!r:.80}")
    return tuple(str(text) for text in values)
