"""What cannot be written where it belongs goes to the temporary folder, or nowhere, and nothing half."""

from __future__ import annotations

import errno
import tempfile
from pathlib import Path

import pytest

from pytest_retrieval.errors import ReportError
from pytest_retrieval.report.journal import Journal, read_journal
from pytest_retrieval.report.rescue import rescue


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_the_file_lies_in_a_new_folder_of_its_own(temporary: Path) -> None:
    places = [rescue("report.json", lambda path: path.write_text("text")) for _ in range(2)]
    assert len(set(places)) == 2
    for place in places:
        assert place is not None
        assert (place.name, place.read_text(), place.parent.parent) == ("report.json", "text", temporary)


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "full"), ReportError("cannot write")])
def test_a_failure_leaves_nothing(temporary: Path, error: Exception) -> None:
    def fail(path: Path) -> None:
        path.write_text("half")
        raise error

    assert rescue("report.json", fail) is None
    assert list(temporary.iterdir()) == []


def test_without_a_temporary_folder_nothing_is_rescued(temporary: Path) -> None:
    temporary.rmdir()
    assert rescue("report.json", Path.touch) is None


def test_a_journal_in_memory_can_be_copied(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "missing" / "report.json")
    journal.start({"version": "1"})
    for key, payload in [("a", b"1"), ('"', b"[2]"), ("a", b"3")]:
        journal.append(key, payload)
    assert journal.fault is not None
    journal.copy(tmp_path / "copy")
    header, payloads = read_journal(tmp_path / "copy")
    assert header == {"profile": "pytest-retrieval/1", "version": "1"}
    assert list(payloads.items()) == [("a", b"3"), ('"', b"[2]")]
