"""The journal: nothing arrives that is lost, whatever the disk does."""

from __future__ import annotations

import errno
import json
import os
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_retrieval.errors import ReportError
from pytest_retrieval.report.canonical import encode
from pytest_retrieval.report.journal import Journal, read_journal

HEADER = {"sources": [{"path": "s.jsonl", "sha256": "ab"}]}


def started(folder: Path) -> Journal:
    journal = Journal(folder / "report.json")
    journal.start(HEADER)
    return journal


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_every_line_is_on_disk_at_once(tmp_path: Path) -> None:
    journal = started(tmp_path)
    journal.append("a", b'{"n":1}')
    assert journal.path == tmp_path / "report.json.journal"
    lines = [json.loads(line) for line in journal.path.read_bytes().splitlines()]
    assert lines == [{"profile": "pytest-retrieval/1", **HEADER}, {"key": "a", "outcome": {"n": 1}}]
    journal.keep()


def test_a_later_payload_replaces_and_keeps_its_place(tmp_path: Path) -> None:
    journal = started(tmp_path)
    for key, payload in (("a", b"1"), ("b", b"2"), ("a", b"3")):
        journal.append(key, payload)
    assert list(journal.outcomes()) == [b"3", b"2"]
    assert "a" in journal
    assert "c" not in journal
    assert len(journal) == 2
    journal.keep()
    assert read_journal(journal.path)[1] == {"a": b"3", "b": b"2"}


def test_publish_removes_and_keep_leaves(tmp_path: Path) -> None:
    journal = started(tmp_path)
    journal.keep()
    journal.keep()
    assert names(tmp_path) == ["report.json.journal"]
    journal = started(tmp_path)
    journal.publish()
    journal.publish()
    assert names(tmp_path) == ["report.json.journal.previous"]
    assert journal.fault is None


def test_the_journal_of_an_interrupted_run_is_moved_aside(tmp_path: Path) -> None:
    first = started(tmp_path)
    first.append("a", b"1")
    first.keep()
    second = started(tmp_path)
    second.keep()
    assert read_journal(tmp_path / "report.json.journal.previous")[1] == {"a": b"1"}
    assert read_journal(second.path)[1] == {}


def test_publishing_spares_the_journal_of_another_session(tmp_path: Path) -> None:
    first = started(tmp_path)
    second = started(tmp_path)
    first.publish()
    assert names(tmp_path) == ["report.json.journal", "report.json.journal.previous"]
    second.publish()
    assert names(tmp_path) == ["report.json.journal.previous"]


@given(
    outcomes=st.lists(st.tuples(st.text(), st.dictionaries(st.text(), st.text() | st.integers()))),
    cut=st.integers(min_value=1, max_value=40),
)
def test_reading_leaves_out_a_torn_last_line(
    tmp_path_factory: pytest.TempPathFactory, outcomes: list[tuple[str, dict[str, str | int]]], cut: int
) -> None:
    journal = started(tmp_path_factory.mktemp("journal"))
    for key, outcome in outcomes:
        journal.append(key, encode(outcome))
    journal.keep()
    whole = journal.path.read_bytes()
    assert list(read_journal(journal.path)[1].values()) == list(journal.outcomes())
    last_line = whole.splitlines(keepends=True)[-1]
    journal.path.write_bytes(whole[: -min(cut, len(last_line))])
    if outcomes:
        expected = {key: encode(outcome) for key, outcome in outcomes[:-1]}
        assert read_journal(journal.path)[1] == expected
    else:
        with pytest.raises(ReportError, match="it has no header"):
            read_journal(journal.path)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"", "it has no header"),
        (b"[]\n", "line 1"),
        (b'{"profile":"other/1"}\n', "line 1"),
        (b'{"profile":"pytest-retrieval/1"}\n{"key":\n{"key":"a","outcome":1}\n', "line 2"),
        (b'{"profile":"pytest-retrieval/1"}\n{"key":1,"outcome":1}\n{"key":2}\n', "line 2"),
        (b'{"profile":"pytest-retrieval/1"}\n[]\n', "line 2"),
    ],
)
def test_what_is_no_journal_is_refused_in_one_line(tmp_path: Path, text: bytes, why: str) -> None:
    (tmp_path / "j").write_bytes(text)
    with pytest.raises(ReportError) as caught:
        read_journal(tmp_path / "j")
    assert why in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_absent_journal_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="cannot read the journal"):
        read_journal(tmp_path / "absent")


def test_a_full_disk_is_remembered_once_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = started(tmp_path)
    journal.append("a", b"1")

    def full(descriptor: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        journal.append("b", b"2")
    journal.append("c", b"3")
    assert list(journal.outcomes()) == [b"1", b"2", b"3"]
    assert journal.fault == f"cannot write the journal {journal.path}: No space left on device"
    assert read_journal(journal.path)[1] == {"a": b"1"}
    journal.publish()
    assert names(tmp_path) == ["report.json.journal"]


def test_an_interrupt_in_the_middle_of_a_line_takes_the_line_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = started(tmp_path)
    write = os.write

    def interrupted(descriptor: int, data: bytes) -> int:
        write(descriptor, data[:5])
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", interrupted)
        with pytest.raises(KeyboardInterrupt):
            journal.append("a", b"1")
    journal.append("b", b"2")
    journal.keep()
    assert list(journal.outcomes()) == [b"1", b"2"]
    assert read_journal(journal.path)[1] == {"b": b"2"}


def test_short_writes_are_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: write(fd, data[:7]))
    journal = started(tmp_path)
    journal.append("a", b'{"text":"longer than seven bytes"}')
    journal.keep()
    assert read_journal(journal.path)[1] == {"a": b'{"text":"longer than seven bytes"}'}


def test_a_journal_that_cannot_be_opened_lives_in_memory(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "absent" / "report.json")
    journal.start(HEADER)
    journal.append("a", b"1")
    assert list(journal.outcomes()) == [b"1"]
    assert journal.fault is not None
    assert journal.fault.endswith("No such file or directory")
    journal.publish()


def test_twenty_thousand_outcomes_stay_small_in_memory(tmp_path: Path) -> None:
    ranked = [f"src/package/module_{number % 7}/file_{number}.py" for number in range(20)]
    tracemalloc.start()
    journal = started(tmp_path)
    for number in range(2_000):  # a tenth of the run; the bound below is a tenth too
        arms = {f"arm{arm}": {"ranked": ranked[arm:], "top_score": number / 7} for arm in range(6)}
        journal.append(str(number), encode({"id": number, "arms": arms}))
    current, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    journal.publish()
    assert current < 10_000_000
