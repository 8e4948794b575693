"""The trees of many neighbouring commits as chunk files: a blob that two of them share is read once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import orjson

from pytest_retrieval.history.classes import is_text_path
from pytest_retrieval.report.write import write_report
from pytest_retrieval.snapshots.git import Entry, batch
from pytest_retrieval.snapshots.paths import TEXT_LIMIT, is_safe, is_text
from pytest_retrieval.snapshots.program import Git

_REGULAR = ("100644", "100755")


class TreeWriter:
    """Writes trees of ``git`` below ``corpus``, as ``OWNER__NAME/COMMIT.chunks.jsonl``."""

    def __init__(self, git: Git, corpus: Path, repo: str) -> None:
        self._git = git
        self._repo = repo
        self._folder = corpus / repo.replace("/", "__")
        # Texts of the latest tree as JSON, None for a file that is left out.
        self._latest: dict[str, bytes | None] = {}

    def write(self, commit: str, entries: Sequence[Entry]) -> int:
        """Write the texts among the ``entries`` of ``commit``, whole; how many there are."""
        shown = [entry for entry in entries if _is_shown(entry)]
        known = {entry.oid: self._latest[entry.oid] for entry in shown if entry.oid in self._latest}
        unknown = list(dict.fromkeys(entry.oid for entry in shown if entry.oid not in known))
        for oid, _, pieces in batch(self._git, unknown):
            known[oid] = _encoded(b"".join(pieces))
        self._latest = known
        rows = [row for entry in shown if (row := self._row(commit, entry)) is not None]
        self._folder.mkdir(parents=True, exist_ok=True)
        write_report(self._folder / f"{commit}.chunks.jsonl", _lines(rows), "the chunk file")
        return len(rows)

    def _row(self, commit: str, entry: Entry) -> bytes | None:
        """One line, keys in order, the text as it was encoded once."""
        text = self._latest[entry.oid]
        if text is None:
            return None
        own = {"base_commit": commit, "kind": "file", "path": entry.path, "repo": self._repo}
        return orjson.dumps({**own, "text": orjson.Fragment(text)})


def _is_shown(entry: Entry) -> bool:
    """Whether a tree shows the file: regular, a text by its name, of at most 1 MiB."""
    return (
        entry.mode in _REGULAR
        and is_text_path(entry.path)
        and is_safe(entry.path)
        and 0 <= entry.size <= TEXT_LIMIT
    )


def _encoded(content: bytes) -> bytes | None:
    if not is_text(len(content), content):
        return None
    return orjson.dumps(content.decode("utf-8", "replace"))


def _lines(rows: Sequence[bytes]) -> Iterator[bytes]:
    for number, row in enumerate(rows):
        yield b"\n" + row if number else row
