"""Where a capture may go (cases 52, 53, 63)."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_retrieval.errors import ReportError, UsageError
from pytest_retrieval.report.capture.place import CapturePlace


class Run:
    """The inputs and outputs of a run in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.samples = folder / "samples.jsonl"
        self.samples.write_bytes(b"samples")
        self.snapshot = folder / "snapshot"
        self.corpus = folder / "corpus"
        for tree in (self.snapshot, self.corpus):
            (tree / "sub").mkdir(parents=True)

    def place(self, path: Path | str) -> CapturePlace:
        files = [
            ("the samples file", self.samples),
            ("the registration", self.folder / "reg.json"),
            ("the report", self.folder / "r.json"),
        ]
        return CapturePlace.of(Path(path), files=files, trees=[self.corpus, self.snapshot])


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path)


def state(folder: Path) -> list[str]:
    return sorted(str(path) for path in folder.rglob("*"))


def test_a_new_file_is_made_for_its_owner(run: Run) -> None:
    place = run.place(run.folder / "c.jsonl")
    place.check()
    assert not place.path.exists()
    os.close(place.create())
    assert place.path.stat().st_mode & 0o777 == 0o600


def test_a_relative_path_is_made_absolute(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(run.corpus)
    place = run.place("../c.jsonl")
    assert place.path == run.folder / "c.jsonl"
    place.check()
    with pytest.raises(UsageError, match="which the run reads"):
        run.place("c.jsonl").check()


def existing(run: Run) -> Path:
    (run.folder / "c.jsonl").write_bytes(b"old")
    return run.folder / "c.jsonl"


def dangling(run: Run) -> Path:
    (run.folder / "c.jsonl").symlink_to("nowhere")
    return run.folder / "c.jsonl"


def below_a_link(run: Run) -> Path:
    (run.folder / "real").mkdir()
    (run.folder / "link").symlink_to("real")
    return run.folder / "link" / "c.jsonl"


def deep_below_a_link(run: Run) -> Path:
    (run.folder / "real" / "sub").mkdir(parents=True)
    (run.folder / "link").symlink_to("real")
    return run.folder / "link" / "sub" / "c.jsonl"


def registration_through_a_link(run: Run) -> Path:
    (run.folder / "reg.json").symlink_to("c.jsonl")
    return run.folder / "c.jsonl"


def below_a_file(run: Run) -> Path:
    return run.samples / "c.jsonl"


REFUSED: dict[str, tuple[Callable[[Run], Path], str]] = {
    "existing": (existing, "it exists"),
    "samples": (lambda run: run.samples, "it exists"),
    "folder": (lambda run: run.corpus, "it exists"),
    "registration": (lambda run: run.folder / "reg.json", "it is the registration"),
    "report": (lambda run: run.folder / "x" / ".." / "r.json", "it is the report"),
    "registration through a link": (registration_through_a_link, "it is the registration"),
    "in the snapshot": (lambda run: run.snapshot / "c.jsonl", "it lies in .*snapshot"),
    "deep in the corpus": (lambda run: run.corpus / "sub" / "c.jsonl", "it lies in .*corpus"),
    "link": (dangling, "it is a symbolic link"),
    "below a link": (below_a_link, r"link is a symbolic link, as /tmp is .* write .*/real/c\.jsonl"),
    "deep below a link": (deep_below_a_link, r"write .*/real/sub/c\.jsonl"),
    "no parent": (lambda run: run.folder / "absent" / "c.jsonl", "absent: No such file"),
    "below a file": (below_a_file, "Not a directory"),
    "root": (lambda run: Path("/"), "it exists"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_leave_everything_as_it_was(name: str, run: Run) -> None:
    """Cases 52 and 53, before anything is written and again when the file would be made."""
    make, message = REFUSED[name]
    place = run.place(make(run))
    before = state(run.folder)
    with pytest.raises(UsageError, match=message):
        place.check()
    with pytest.raises((UsageError, ReportError)):
        place.create()
    assert state(run.folder) == before
    assert run.samples.read_bytes() == b"samples"


def test_a_tree_under_another_name_is_known_by_its_inode(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mount or a name in another case leads to the same folder: seen through the call that asks for it."""
    alias = run.folder / "alias"
    (alias / "sub").mkdir(parents=True)
    place = run.place(alias / "sub" / "c.jsonl")
    place.check()
    seen = Path.lstat
    monkeypatch.setattr(Path, "lstat", lambda path: seen(run.corpus if path == alias else path))
    with pytest.raises(UsageError, match=r"it lies in .*corpus"):
        place.check()


def test_a_tree_through_a_link_is_known(run: Run) -> None:
    (run.folder / "to-corpus").symlink_to(run.corpus)
    place = CapturePlace.of(run.corpus / "c.jsonl", files=(), trees=[run.folder / "to-corpus"])
    with pytest.raises(UsageError, match="it lies in"):
        place.check()


def test_a_tree_that_is_a_file_or_absent_is_no_trouble(run: Run) -> None:
    trees = [run.samples, run.folder / "absent"]
    CapturePlace.of(run.folder / "c.jsonl", files=(), trees=trees).check()
    with pytest.raises(UsageError, match="it lies in"):
        CapturePlace.of(run.folder / "absent", files=(), trees=trees).check()


# --- what happens between the check and the file


class Exchanged:
    """Exchanges the folder ``parent`` for a link to ``target`` while it is opened, and back."""

    def __init__(self, parent: Path, target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.parent = parent
        self.target = target
        self.opened = 0
        self._open = os.open
        monkeypatch.setattr(os, "open", self.open)

    def open(self, path: Any, *arguments: Any, **options: Any) -> int:
        self.opened += 1
        if self.opened > 1:
            return self._open(path, *arguments, **options)
        away = self.parent.with_name("away")
        self.parent.rename(away)
        self.parent.symlink_to(self.target)
        try:
            return self._open(path, *arguments, **options)
        finally:
            self.parent.unlink()
            away.rename(self.parent)


@pytest.mark.parametrize("inside", ["", "sub"])
def test_a_folder_exchanged_while_it_is_opened(
    inside: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case 63: the folder itself is not followed as a link, one above it is noticed by its inode."""
    parent = run.folder / "out"
    (parent / "sub").mkdir(parents=True)
    place = run.place(parent / inside / "c.jsonl")
    place.check()
    before = state(run.folder)
    with monkeypatch.context() as patch:
        exchanged = Exchanged(parent, run.snapshot, patch)
        with pytest.raises((UsageError, ReportError), match=r"exchanged|cannot write the capture"):
            place.create()
    assert exchanged.opened == 1
    assert state(run.folder) == before


def test_a_file_made_meanwhile_is_not_opened(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    place = run.place(run.folder / "c.jsonl")
    check = CapturePlace.check

    def checked(self: CapturePlace) -> None:
        check(self)
        self.path.write_bytes(b"other")

    monkeypatch.setattr(CapturePlace, "check", checked)
    with pytest.raises(ReportError, match="File exists"):
        place.create()
    assert place.path.read_bytes() == b"other"


def test_a_report_that_is_the_new_file_under_another_name(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The report's name leads to the file once it exists: the file goes again."""
    place = run.place(run.folder / "c.jsonl")
    make = os.open

    def linked(path: Any, *arguments: Any, **options: Any) -> int:
        descriptor = make(path, *arguments, **options)
        if path == "c.jsonl":
            (run.folder / "r.json").hardlink_to(run.folder / "c.jsonl")
        return descriptor

    monkeypatch.setattr(os, "open", linked)
    with pytest.raises(UsageError, match="it became the report"):
        place.create()
    assert not place.path.exists()
