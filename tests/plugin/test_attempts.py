"""What became of each item: answers, crashes, repeats, and every worker on its own under ``--dist each``."""

from __future__ import annotations

import pytest

from pytest_retrieval.plugin.attempts import Attempts


def report(nodeid: str, when: str, outcome: str = "passed", worker: str = "") -> pytest.TestReport:
    made = pytest.TestReport(nodeid, ("f.py", 1, "f"), {}, outcome, None, when)  # type: ignore[arg-type]  # "???" is xdist's
    if worker:
        made.worker_id = worker  # type: ignore[attr-defined]  # xdist's name
    return made


def crash(nodeid: str) -> pytest.TestReport:
    return report(nodeid, "???", "failed")


def test_an_item_without_an_answer_is_lost_with_its_reason() -> None:
    attempts = Attempts(["a", "b", "c", "d", "e"], everywhere=False)
    attempts.note_answer(report("a", "call"))
    attempts.note_silence(crash("b"))
    attempts.note_silence(report("c", "setup", "skipped"))
    attempts.note_silence(report("d", "teardown"))  # of an item that says nothing else: not run to its end
    assert list(attempts.lost()) == [
        ("b", "worker died"),
        ("c", "skipped in setup"),
        ("d", "not run"),
        ("e", "not run"),
    ]
    assert not attempts.complete


def test_an_answer_beats_a_crash_and_both_are_tries() -> None:
    attempts = Attempts(["a", "b"], everywhere=False)
    attempts.note_silence(crash("a"))
    attempts.note_answer(report("a", "call", worker="gw1"))
    attempts.note_silence(crash("b"))
    attempts.note_silence(crash("b"))
    attempts.note_silence(crash("b"))
    assert (attempts.tries("a"), attempts.tries("b")) == (2, 3)
    assert attempts.run_again() == (2, 3)
    assert attempts.died() == ["b"]
    assert attempts.total() == 5
    assert attempts.workers == {"gw1"}


def test_nothing_ran_again_after_one_crash() -> None:
    attempts = Attempts(["a"], everywhere=False)
    assert attempts.run_again() == (0, 0)
    assert attempts.idle
    attempts.note_silence(crash("a"))
    assert attempts.run_again() == (0, 1)
    assert not attempts.idle


@pytest.mark.parametrize(("everywhere", "tries"), [(True, 1), (False, 2)])
def test_where_every_worker_runs_every_item_a_dead_one_says_nothing_of_the_others(
    everywhere: bool, tries: int
) -> None:
    attempts = Attempts(["a"], everywhere=everywhere)
    attempts.note_answer(report("a", "call", worker="gw0"))
    attempts.note_answer(report("a", "call", worker="gw1"))
    attempts.note_silence(crash("a"))
    assert attempts.tries("a") == tries
    assert attempts.complete
