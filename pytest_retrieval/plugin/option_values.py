"""The text of an option made into a value: every mistake is one line naming the option."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_retrieval.errors import UsageError
from pytest_retrieval.plugin import options

if TYPE_CHECKING:
    import pytest

    from pytest_retrieval.snapshots.sources import NamedSource


def base_of(config: pytest.Config, name: str) -> Path:
    """A path typed on the command line is relative to where pytest was started, one of an ini file to it."""
    if options.from_command_line(config, name) or config.inipath is None:
        return config.invocation_params.dir
    return config.inipath.parent


def absolute_path(config: pytest.Config, name: str, text: str) -> Path:
    """The path ``text`` of the option ``name``, absolute; raises UsageError for a home that is not there."""
    try:
        return base_of(config, name) / Path(text).expanduser()
    except RuntimeError as error:
        raise UsageError(f"--retrieval-{name} {text!r}: no such user, or one without a home") from error


def optional_path(config: pytest.Config, name: str) -> Path | None:
    """The path that an option names, absolute; None where it was not given."""
    text = options.value(config, name)
    return None if text is None else absolute_path(config, name, text)


def whole_number(config: pytest.Config, name: str, default: int, allowed: range) -> int:
    """The number that an option gives; raises UsageError for one that is not ``allowed``."""
    text = options.value(config, name)
    if text is None:
        return default
    try:
        number = int(text)
    except ValueError:
        number = allowed.start - 1
    if number not in allowed:
        upper = f" to {allowed.stop - 1}" if allowed.stop < 10**9 else " or more"
        raise UsageError(f"--retrieval-{name}: {text!r} is not a whole number of {allowed.start}{upper}")
    return number


def words(config: pytest.Config, name: str) -> tuple[str, ...]:
    """The words of an option that may be repeated, or name several with commas."""
    parts = (part.strip() for text in options.values(config, name) for part in text.split(","))
    return tuple(filter(None, parts))


def named_sources(texts: Iterable[str], base: Path) -> tuple[NamedSource, ...]:
    """Snapshots as users name them, their paths relative to ``base``."""
    from pytest_retrieval.snapshots.sources import parse_snapshot_option

    return tuple(parse_snapshot_option(text, base) for text in texts)
