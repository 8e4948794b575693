"""What of an earlier report is reused: cases 67 to 69, and section 25-14."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from pytest_retrieval.errors import UsageError
from pytest_retrieval.report.write import write_report
from pytest_retrieval.trial.reuse import Reused, load_reuse
from tests.trial.support import GOOD, NOT_OBSERVED, built, entry, header, run, task

PROMPT = "cd" * 32
AGENT = header()["agent"]


def stored(folder: Path, *runs: dict[str, Any]) -> Path:
    path = folder / "prior.json"
    write_report(path, built([task(0, {"grep": entry("", *runs)})], repeats=len(runs)).chunks())
    return path


def reused(path: Path, **changes: Any) -> Reused:
    return load_reuse(path, **{"model": "", "access": "none", "agent": AGENT, **changes})


def test_case_67_a_record_comes_back_raw_and_marked(tmp_path: Path) -> None:
    path = stored(tmp_path, run(GOOD, commands=["ls"], tool_calls=1))
    prior = reused(path)
    assert prior.digest == f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"
    expected = run(GOOD, commands=["ls"], tool_calls=1, reused_from=prior.digest)
    assert prior.record("q0", "grep", PROMPT) == expected


def test_case_68_another_prompt_task_or_arm_is_run(tmp_path: Path) -> None:
    prior = reused(stored(tmp_path, run()))
    assert prior.record("q0", "grep", "00" * 32) is None
    assert prior.record("q1", "grep", PROMPT) is None
    assert prior.record("q0", "none", PROMPT) is None
    assert prior.record("q0", "grep", PROMPT, 1) is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"model": "m2"}, "its model is '', and this run's 'm2'"),
        ({"access": "read-only"}, "its access is 'none'"),
        ({"agent": {**AGENT, "sha256": "00" * 32}}, "its agent is {'sha256': 'efef"),  # section 25-14
    ],
)
def test_case_68_another_model_access_or_agent_is_refused(
    tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    with pytest.raises(UsageError) as caught:
        reused(stored(tmp_path, run()), **change)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("prior", "again"),
    [
        (run("refused", exit_code=1), True),
        (run(GOOD, exit_code=1), False),
        (run(GOOD, error="timed out"), True),
        (run("", wall_ms=NOT_OBSERVED), True),
        (run("no idea"), False),
    ],
)
def test_case_69_what_is_run_again(tmp_path: Path, prior: dict[str, Any], again: bool) -> None:
    assert (reused(stored(tmp_path, prior)).record("q0", "grep", PROMPT) is None) == again


def test_each_repetition_is_its_own(tmp_path: Path) -> None:
    prior = reused(stored(tmp_path, run(GOOD), run("", error="x"), run("no idea")))
    found = [prior.record("q0", "grep", PROMPT, place) for place in range(3)]
    assert [record and record["reply"] for record in found] == [GOOD, None, "no idea"]
