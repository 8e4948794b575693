"""A frozen held-out set becomes a run manifest, one field to one field, or is refused as a whole.

Such a set is ``tasks.jsonl`` with a ``manifest.json`` that holds its digest. Nothing is guessed: a row that
does not map stops the import, so that what is run is what was frozen.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from pytest_retrieval.datasets.rows import RowError, parse_row
from pytest_retrieval.errors import SampleError, closest
from pytest_retrieval.regular import open_regular
from pytest_retrieval.report.canonical import encode
from pytest_retrieval.report.shapes import MisfitError, anything, list_of, record, text, whole
from pytest_retrieval.snapshots.paths import is_safe
from pytest_retrieval.text.cutting import truncate
from pytest_retrieval.trial.manifest import KINDS, MAX_BYTES, parse_manifest
from pytest_retrieval.trial.values import PATH_KINDS

DIFF_LIMIT = 8_192
_PIECE = 1 << 20
_INSTRUCTION = "Report each path as a claim with the repository-relative path as its value, of kind {kind}."

_manifest = record(
    {"partition": text, "tasks_sha256": text, "task_count": whole(1, 1 << 31)},
    {"name": text},
)
_row = record(
    {
        "id": text,
        "mode": text,
        "repository": text,
        "gold": list_of(text),
        "gold_kind": text,
        "source": anything,
    },
    {"changed_file": text, "task": text, "query": anything},
)


def import_heldout(tasks: Path, manifest: Path, chunk_root: Path | None = None) -> dict[str, Any]:
    """The run manifest of a frozen set, whose files are only read.

    With ``chunk_root`` the chunk file that each row names is held against its digest, too.

    Raises:
        SampleError: a digest or the count differs, a row cannot be mapped, or a run would refuse what it
            becomes; every fault is told.
    """
    head = _read_manifest(manifest)
    data = _read(tasks)
    digest = hashlib.sha256(data).hexdigest()
    if digest != head["tasks_sha256"]:
        raise SampleError(
            str(tasks), [f"its SHA-256 is {digest}, tasks_sha256 of {manifest} is {head['tasks_sha256']}"]
        )
    rows = list(_rows(data, str(tasks)))
    if len(rows) != head["task_count"]:
        raise SampleError(str(tasks), [f"{len(rows)} rows, task_count of {manifest} is {head['task_count']}"])
    mapped, faults = [], []
    for number, row in rows:
        try:
            mapped.append(_map_row(row))
            if chunk_root is not None:
                _check_chunks(row["source"], chunk_root)
        except (RowError, MisfitError) as fault:
            faults.append(f"line {number}: row {str(row.get('id'))[:80]!a}: {fault}")
    if faults:
        raise SampleError(str(tasks), faults)
    named = head.get("name", "")
    source = f"{named}: {tasks.name} (tasks_sha256 {digest})"
    found = {"partition": head["partition"], "source": source, "tasks": mapped}
    parse_manifest(encode(found), str(tasks))  # what a run would refuse is refused here
    return found


def _read(path: Path) -> bytes:
    try:
        with open_regular(path) as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise SampleError(str(path), [f"cannot be read: {error.strerror or error}"]) from error
    if len(data) > MAX_BYTES:
        raise SampleError(str(path), ["larger than 16 MiB, the bound for a frozen set"])
    return data


def _read_manifest(path: Path) -> dict[str, Any]:
    try:
        head = parse_row(_read(path))
        _manifest(head)
    except (RowError, MisfitError) as fault:
        raise SampleError(str(path), [f"not the manifest of a frozen set: {fault}"]) from None
    return head


def _rows(data: bytes, shown: str) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(data.split(b"\n"), start=1):
        if line.strip():
            try:
                yield number, parse_row(line)
            except RowError as fault:
                raise SampleError(shown, [f"line {number}: {fault}"]) from None


def _map_row(row: Mapping[str, Any]) -> dict[str, Any]:
    _row(row)
    _check_row(row)
    repo, _, commit = row["repository"].partition("@")
    changed = {"changed_file": row["changed_file"]} if row.get("changed_file") else {}
    return {
        "id": row["id"],
        "kind": row["mode"],
        "repo": repo,
        "base_commit": commit,
        **changed,
        "text": _text(row),
        "gold": {row["gold_kind"]: row["gold"]},
        "source": row["source"],
    }


def _check_row(row: Mapping[str, Any]) -> None:
    """Raise RowError for a row that cannot be mapped."""
    if not row["id"]:
        raise RowError("id: empty")
    if row["mode"] not in KINDS:
        raise RowError(f"mode: {row['mode']!a} is not one of {', '.join(KINDS)}")
    repo, _, commit = row["repository"].partition("@")
    if not repo or not commit:
        raise RowError(f"repository: {row['repository']!a} is not OWNER/NAME@COMMIT")
    if row["mode"] == "change" and not row.get("changed_file"):
        raise RowError("changed_file: empty, in a row of mode change")
    if row["gold_kind"] not in PATH_KINDS:
        raise RowError(f"gold_kind: {row['gold_kind']!a} is not one of {', '.join(PATH_KINDS)}")
    if not row["gold"]:
        raise RowError("gold: empty")


def _text(row: Mapping[str, Any]) -> str:
    """The question of a row, in paragraphs, by the release that it comes from."""
    source = row["source"] if isinstance(row["source"], dict) else {}
    release = source.get("release")
    if release not in _QUESTIONS:
        near = closest(str(release), list(_QUESTIONS))
        raise RowError(f"source.release: {str(release)[:80]!a} is not one of {', '.join(_QUESTIONS)}{near}")
    paragraphs = _QUESTIONS[release](row, _query(row))
    return "\n\n".join([*paragraphs, _INSTRUCTION.format(kind=row["gold_kind"])])


def _query(row: Mapping[str, Any]) -> Mapping[str, Any]:
    query = row.get("query")
    return query if isinstance(query, dict) else {}


def _trace(row: Mapping[str, Any], query: Mapping[str, Any]) -> Iterator[str]:
    yield (
        "A test run of this repository failed. Which source file(s) hold the cause of the failure, and must"
        " be changed to mend it?"
    )
    if command := _said(query, "command"):
        yield f"Command: {command}"
    yield _needed(row, "task")


def _edit(row: Mapping[str, Any], query: Mapping[str, Any]) -> Iterator[str]:
    yield "The file below is about to be changed. Which other file(s) of this repository must change with it?"
    yield f"Changed file: {row.get('changed_file', '')}"
    yield f"Intent:\n{_needed(row, 'task')}"
    yield f"Diff of the changed file:\n{truncate(_needed(query, 'anchor_diff', 'query.'), DIFF_LIMIT)[0]}"


def _comment(row: Mapping[str, Any], query: Mapping[str, Any]) -> Iterator[str]:
    task, given = _needed(row, "task"), _needed(query, "given_file", "query.")
    line = query.get("line")
    number = int(line) if isinstance(line, int | float) else 0
    title = _said(query, "pr_title").strip()
    about = f" of the pull request {title!r}" if title else ""
    yield (
        f"A reviewer commented on {given} at line {number}{about}. Which other file(s) of this repository"
        " must be read to answer the comment?"
    )
    if hunk := _said(query, "diff_hunk_context"):
        yield f"Diff hunk:\n{hunk}"
    yield f"Comment:\n{task}"


_QUESTIONS = {"v2_trace2code": _trace, "v2_edit2ripple": _edit, "v2_comment2context": _comment}


def _needed(values: Mapping[str, Any], name: str, inside: str = "") -> str:
    if found := _said(values, name):
        return found
    raise RowError(f"{inside}{name}: missing or empty")


def _said(values: Mapping[str, Any], name: str) -> str:
    found = values.get(name)
    return found if isinstance(found, str) else ""


def _check_chunks(source: Any, root: Path) -> None:
    """Hold the chunk file of a row against the digest that the row has of it."""
    values = source if isinstance(source, dict) else {}
    name, wanted = (
        _needed(values, "corpus_chunk_file", "source."),
        _needed(values, "corpus_sha256", "source."),
    )
    if not is_safe(name):
        raise RowError(f"source.corpus_chunk_file: {name[:80]!a} leaves the folder of chunk files")
    try:
        with open_regular(root / name) as stream:
            found = _digest(stream)
    except OSError as error:
        raise RowError(f"{root / name}: cannot be read: {error.strerror or error}") from None
    if found != wanted:
        raise RowError(f"{root / name}: its SHA-256 is {found}, corpus_sha256 of the row is {wanted}")


def _digest(stream: BinaryIO) -> str:
    whole = hashlib.sha256()
    while piece := stream.read(_PIECE):
        whole.update(piece)
    return whole.hexdigest()
