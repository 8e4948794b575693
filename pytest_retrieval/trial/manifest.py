"""The run manifest: a frozen list of tasks, each with a question, a tree and, mostly, gold.

The tasks are read whole and checked whole before any is cut off or run. What a task holds beside the known
members is ignored.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_retrieval.datasets.rows import DECODER, LABEL, REPO, RowError
from pytest_retrieval.errors import SampleError, closest
from pytest_retrieval.regular import open_regular
from pytest_retrieval.report.shapes import MisfitError, anything, list_of, map_of, record, text
from pytest_retrieval.snapshots.paths import is_safe
from pytest_retrieval.trial.values import ANSWER, CLAIM_KINDS, normalise

MAX_BYTES = 16 << 20
KINDS = ("retrieval", "change")
CONTROL = "already-fixed"  # the issue is resolved at the base commit: the right reply claims nothing
PILOT = "pilot"

_task = record(
    {},
    {
        "id": text,
        "kind": text,
        "text": text,
        "repo": text,
        "base_commit": text,
        "changed_file": text,
        "snapshot": text,
        "gold": map_of(list_of(text)),
        "control": text,
        "cluster": text,
        "source": anything,
    },
)
_manifest = record({}, {"partition": text, "source": text, "name": text, "tasks": list_of(anything)})


@dataclass(frozen=True, slots=True)
class Task:
    """One question about one repository at one commit.

    ``gold`` maps a claim kind to its true values, None where the manifest has none: such a task's claims stay
    unjudged. ``snapshot`` is a folder or chunk file that the manifest names itself. ``cluster`` is what tasks
    of one origin share: the member of that name, else the commit that a generated task was made from.
    """

    id: str
    kind: str
    repo: str
    base_commit: str
    changed_file: str | None
    snapshot: str | None
    text: str
    gold: Mapping[str, tuple[str, ...]] | None
    control: str | None
    cluster: str | None
    source: Any

    @property
    def subject(self) -> str | None:
        """The file that the question is about, which is never an answer."""
        return self.changed_file

    @property
    def is_control(self) -> bool:
        """Whether the right reply is to claim nothing."""
        return self.control is not None


@dataclass(frozen=True, slots=True)
class Manifest:
    """A run manifest: ``path`` as it is shown, all ``tasks``, ``sha256`` of its exact bytes."""

    path: str
    name: str
    partition: str
    source: str
    tasks: tuple[Task, ...]
    sha256: str

    @property
    def pilot(self) -> bool:
        """Whether its results may never be presented as held-out."""
        return self.partition == PILOT


def load_manifest(path: Path, *, shown: str | None = None) -> Manifest:
    """Read a run manifest of at most 16 MiB; ``shown`` is its name in messages and reports.

    Raises SampleError with every fault, one a task, each naming the file and the task.
    """
    shown = str(path) if shown is None else shown
    try:
        with open_regular(path) as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise SampleError(shown, [f"cannot read the task manifest: {error.strerror or error}"]) from error
    if len(data) > MAX_BYTES:
        raise SampleError(shown, ["larger than 16 MiB, the bound for a task manifest; split it"])
    return parse_manifest(data, shown)


def parse_manifest(data: bytes, shown: str) -> Manifest:
    """The manifest in ``data``; raises as :func:`load_manifest`."""
    values = _read_object(data, shown)
    missing = "partition: missing or empty; name the set's partition, such as 'pilot'"
    faults = [] if values.get("partition") else [missing]
    tasks: list[Task] = []
    for place, value in enumerate(values.get("tasks", [])):
        try:
            tasks.append(_read_task(value))
        except (_TaskError, MisfitError) as fault:
            faults.append(f"{_name_of(value, place)}: {fault}")
    counts = Counter(task.id for task in tasks)
    faults += [f"task {name!a}: duplicate id ({count} times)" for name, count in counts.items() if count > 1]
    if faults:
        raise SampleError(shown, faults)
    return Manifest(
        path=shown,
        name=values.get("name") or Path(shown).stem,
        partition=values["partition"],
        source=values.get("source", ""),
        tasks=tuple(tasks),
        sha256=hashlib.sha256(data).hexdigest(),
    )


def _read_object(data: bytes, shown: str) -> dict[str, Any]:
    try:
        value = DECODER.decode(data.decode("utf-8"))
        if not isinstance(value, dict):
            raise RowError("not a task manifest: it holds no JSON object")
        values = _present(value)
        _manifest(values)
    except UnicodeDecodeError as error:
        raise SampleError(shown, [f"not UTF-8 at byte {error.start}"]) from None
    except RecursionError:
        raise SampleError(shown, ["its JSON is nested too deeply"]) from None
    except json.JSONDecodeError as error:
        what = f"not JSON: {error.msg} (line {error.lineno}, column {error.colno})"
        raise SampleError(shown, [what]) from None
    except ValueError as error:  # a repeated key, NaN, a number with too many digits
        raise SampleError(shown, [str(error)]) from None
    except MisfitError as fault:
        raise SampleError(shown, [f"not a task manifest: {fault}"]) from None
    return values


class _TaskError(ValueError):
    """What is wrong with one task."""


def _present(values: Mapping[str, Any]) -> dict[str, Any]:
    """Null counts as absent."""
    return {name: value for name, value in values.items() if value is not None}


def _name_of(value: Any, place: int) -> str:
    named = value.get("id") if isinstance(value, dict) else None
    return f"task {named[:80]!a}" if named and isinstance(named, str) else f"tasks[{place}]"


def _read_task(value: Any) -> Task:
    if not isinstance(value, dict):
        raise _TaskError(f"must be an object, not {json.dumps(value)[:60]}")
    values = _present(value)
    _task(values)
    for fault in _faults(values):
        raise _TaskError(fault)
    gold = values.get("gold")
    return Task(
        id=values["id"],
        kind=values["kind"],
        repo=values.get("repo", ""),
        base_commit=values.get("base_commit", ""),
        changed_file=values.get("changed_file") or None,
        snapshot=values.get("snapshot") or None,
        text=values["text"],
        gold=None if gold is None else {kind: tuple(found) for kind, found in gold.items()},
        control=values.get("control") or None,
        cluster=values.get("cluster") or _origin(values.get("source")),
        source=values.get("source"),
    )


def _faults(values: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with a task whose members have the right types, the first thing first."""
    gold = values.get("gold", {})
    for name in ("id", "text"):
        if not values.get(name):
            yield f"{name}: missing or empty"
    kind = values.get("kind", "")
    if kind not in KINDS:
        yield f"kind: {kind[:80]!a} is not one of {', '.join(KINDS)}"
    if kind == "change" and not values.get("changed_file"):
        yield "changed_file: missing; a change task names the file whose change is asked about"
    for kind in sorted(gold.keys() - set(CLAIM_KINDS)):
        near = closest(kind, CLAIM_KINDS)
        yield f"gold: {kind[:80]!a} is no kind of claim ({', '.join(CLAIM_KINDS)}){near}"
    if values.get("control") and values["control"] != CONTROL:
        yield f"control: {values['control'][:80]!a} is not {CONTROL!r}, the one control that there is"
    if values.get("control") and gold:
        yield "gold: a control has none, for its right reply claims nothing"
    yield from _unusable(values)


def _unusable(values: Mapping[str, Any]) -> Iterator[str]:
    """Values that would match everything, or that could lead a path or a program elsewhere."""
    for kind, found in values.get("gold", {}).items():
        for place, value in enumerate(found):
            if not normalise(kind, value):
                yield f"gold[{kind!r}][{place}]: empty; write a true value or leave it out"
            elif kind != ANSWER and not is_safe(normalise(kind, value)):
                yield f"gold[{kind!r}][{place}]: {value[:80]!a} is no path inside the repository"
    if values.get("changed_file") and not is_safe(values["changed_file"].removeprefix("./")):
        yield f"changed_file: {values['changed_file'][:80]!a} is no path inside the repository"
    if values.get("repo") and not REPO.fullmatch(values["repo"]):
        yield f"repo: {values['repo'][:80]!a} is not OWNER/NAME of letters, digits, '.', '_' and '-'"
    if values.get("base_commit") and not LABEL.fullmatch(values["base_commit"]):
        yield f"base_commit: {values['base_commit'][:80]!a} is no commit, nor a label in place of one"


def _origin(source: Any) -> str | None:
    """The commit that a generated task was made from."""
    commit = source.get("commit") if isinstance(source, dict) else None
    return commit if commit and isinstance(commit, str) else None
