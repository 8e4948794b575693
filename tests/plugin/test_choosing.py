"""Which samples run, and what a run says that judged some of them only."""

from __future__ import annotations

from typing import Any

import pytest

from tests.plugin.support import CORE, ECHO, FFT, HULL, IDS, ITEMS, LEAK, MAIN, SAIL, SVD, Bench

pytest_plugins = ["pytester"]

GATE = ("--gate", "alphabet: hit@k >= 1")

# Stumbles over the samples whose title it knows: always, or at the first attempt only.
STUMBLER = """
from pytest_retrieval import Arm

class Stumbler(Arm):
    name = "stumbler"
    asked = 0

    def rank(self, query):
        if "SVD" in query.text:
            raise RuntimeError("stumbled")
        if "rfft" in query.text:
            self.asked += 1
            if self.asked == 1:
                raise RuntimeError("slipped")
        return self.snapshot.paths

def pytest_retrieval_arms():
    return [Stumbler]
"""
STUMBLE = ("--release=release", "--arms=stumbler", "--gate", "stumbler: hit@k >= 0")


def selection(bench: Bench) -> dict[str, Any]:
    """The report's selection, its lost samples as a mapping from name to reason."""
    found: dict[str, Any] = bench.report()["selection"]
    names = {sample_id: name for name, sample_id in IDS.items()}
    return {**found, "lost": {names[lost["id"]]: lost["why"] for lost in found["lost"]}}


@pytest.mark.parametrize("workers", [[], ["-n2"]])
def test_a_choice_is_a_population_and_the_verdict_says_of_how_many(bench: Bench, workers: list[str]) -> None:
    result = bench.run(*MAIN, *GATE, "-k", "numpy", *workers)
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        [
            "retrieval: 2 of 7 samples, 1 snapshot to build, arms: alphabet",
            "samples: 2 of 7 chosen, 2 with gold",
            "gate PASSED alphabet: hit@k >= 1: got 1 (n 2, unit sample, on 2 of 7)",
        ]
    )
    assert selection(bench) == {"of": 7, "chosen": 2, "judged": 2, "lost": {}}
    assert {gate["chosen"] for gate in bench.report()["gates"]} == {2}
    assert {gate["of"] for gate in bench.report()["gates"]} == {7}


@pytest.mark.parametrize(
    ("arguments", "chosen"),
    [
        (["--task-type=code2test"], [SVD, FFT, ECHO]),
        (["--task-type=trace2code,abstention"], [LEAK, SAIL, CORE]),
        (["--task-type=trace2code", "--retrieval-task-type", "abstention"], [LEAK, SAIL, CORE]),
        (["--max-samples=1"], [HULL, LEAK, SAIL, SVD]),  # of each suite
        (["--max-samples=2", "--task-type=code2test"], [SVD, FFT]),
        (["--max-samples=99"], [HULL, LEAK, SAIL, SVD, FFT, ECHO, CORE]),
        (["--deselect", f"test_suite.py::{ITEMS[SVD]}", "-k", "numpy"], [FFT]),
    ],
)
def test_options_that_choose(bench: Bench, arguments: list[str], chosen: list[str]) -> None:
    bench.run(*MAIN, *arguments).assert_outcomes(passed=len(chosen))
    assert set(bench.judged()) == set(chosen)
    assert selection(bench) == {"of": 7, "chosen": len(chosen), "judged": len(chosen), "lost": {}}


def test_max_samples_takes_the_first_of_all_rows_of_a_suite(bench: Bench) -> None:
    samples = "release/benchmark/mini/samples.jsonl"
    arguments = [f"--samples={samples}", "--corpus=release/corpus/mini", "--arms=alphabet"]
    bench.run(*arguments, "--max-samples=2").assert_outcomes(passed=2)
    assert set(bench.judged()) == {SVD, FFT}


def test_last_failed(bench: Bench) -> None:
    bench.write("conftest.py", STUMBLER)
    bench.run(*STUMBLE).assert_outcomes(passed=5, failed=2)
    result = bench.run(*STUMBLE, "--lf")
    verdict = "gate UNDECIDABLE stumbler: hit@k >= 0: all 2 samples are errors (n 2, unit sample, on 2 of 7)"
    result.stdout.fnmatch_lines([verdict])
    assert set(bench.judged()) == {SVD, FFT}
    bench.run(*STUMBLE, "--ff").assert_outcomes(passed=5, failed=2)
    assert set(bench.judged()) == set(IDS)


@pytest.mark.parametrize(
    ("stop", "workers", "code"),
    [
        ("-x", [], 1),
        ("--maxfail=1", [], 1),
        ("--sw", [], 2),  # pytest's own code for a stepwise stop
        ("-x", ["-n1"], 2),  # xdist's own code for -x
    ],
)
def test_a_run_that_stops_at_a_failure_reports_what_it_has(
    bench: Bench, stop: str, workers: list[str], code: int
) -> None:
    bench.write("conftest.py", STUMBLER)
    result = bench.run(*STUMBLE, stop, *workers)
    assert result.ret == code
    found = selection(bench)
    lost = found.pop("lost")
    # With a worker the next item may already be on its way.
    assert set(lost) <= {FFT, ECHO, CORE}
    assert set(lost.values()) == {"not run"}
    assert found == {"of": 7, "chosen": 7, "judged": 7 - len(lost)}
    [gate] = bench.report()["gates"]
    assert gate["status"] == "undecidable"
    assert gate["reason"] == f"{len(lost)} of 7 chosen samples were lost; run those again"
    result.stdout.fnmatch_lines([f"lost: {len(lost)} of 7: *", "gate UNDECIDABLE stumbler: hit@k >= 0: *"])


def test_two_workers_that_stop_at_a_failure(bench: Bench) -> None:
    bench.write("conftest.py", STUMBLER)
    result = bench.run(*STUMBLE, "-x", "-n2")
    assert result.ret == 2
    assert bench.judged()[SVD]["status"] == "fault"
    assert bench.report()["selection"]["judged"] == len(bench.judged())
    assert bench.report()["selection"]["judged"] + len(selection(bench)["lost"]) == 7


@pytest.mark.parametrize("workers", [[], ["-n1"]])
def test_reruns_keep_the_last_attempt_and_count_them(bench: Bench, workers: list[str]) -> None:
    bench.write("conftest.py", STUMBLER)
    result = bench.run("-p", "rerunfailures", *STUMBLE, "--reruns=2", *workers)
    result.assert_outcomes(passed=6, failed=1)
    assert result.ret == 1
    judged = bench.judged()
    assert {name: detail.get("attempts") for name, detail in judged.items()} == {
        **dict.fromkeys(IDS),
        SVD: 3,
        FFT: 2,
    }
    assert judged[FFT]["status"] == "measured"
    assert judged[FFT]["metrics"]["stumbler"]["mrr@k"] == pytest.approx(1 / 3)
    assert judged[SVD]["arms"]["stumbler"]["error"] == "RuntimeError: stumbled"
    assert bench.report()["arms"]["stumbler"]["groups"]["all"]["errors"] == 1


def test_an_attempt_behind_the_last_outcome_makes_the_report_anew(bench: Bench) -> None:
    """After its first attempt the one item has an outcome, and the report is built; the second counts."""
    bench.write("conftest.py", STUMBLER)
    result = bench.run("-p", "rerunfailures", *STUMBLE, "--reruns=2", "-n1", "-k", "rfft")
    assert result.ret == 0
    [detail] = bench.report()["details"]
    assert (detail["status"], detail["attempts"]) == ("measured", 2)
    assert bench.report()["arms"]["stumbler"]["groups"]["all"]["errors"] == 0


def test_durations_are_of_items(bench: Bench) -> None:
    result = bench.run(*MAIN, "--durations=0", "-vv")
    result.stdout.fnmatch_lines([f"* call * test_suite.py::{ITEMS[SVD].replace('[', '[[]')}"])


@pytest.mark.parametrize("without", ["cacheprovider", "terminal", "junitxml"])
def test_a_run_without_a_plugin_of_pytest(bench: Bench, without: str) -> None:
    assert bench.run(*MAIN, "-p", f"no:{without}").ret == 0
    assert len(bench.judged()) == 7


def test_what_a_suite_of_ones_own_skips_or_breaks_is_lost_with_the_reason(bench: Bench) -> None:
    bench.write(
        "test_suite.py",
        "import pytest\n"
        "@pytest.fixture\n"
        "def ready(retrieval_sample):\n"
        "    if 'rfft' in retrieval_sample.query_text: raise RuntimeError('not ready')\n"
        "@pytest.mark.retrieval(task='code2test')\n"
        "def test_it(ready, retrieval_sample, retrieval_judge):\n"
        "    if 'SVD' in retrieval_sample.query_text: pytest.skip('another day')\n"
        "    assert retrieval_judge().detail['metrics']['alphabet']['mrr@k'] > 0.5\n",
    )
    result = bench.run(*MAIN, *GATE)
    result.assert_outcomes(skipped=1, errors=1, failed=1)
    assert selection(bench) == {
        "of": 3,
        "chosen": 3,
        "judged": 1,
        "lost": {SVD: "skipped in call", FFT: "failed in setup"},
    }
    assert bench.judged()[ECHO]["status"] == "measured"
    assert bench.report()["gates"][0]["status"] == "undecidable"


def test_a_skipped_sample_makes_a_gate_undecidable_and_the_run_fail(bench: Bench) -> None:
    bench.write(
        "test_suite.py",
        "import pytest\n"
        "@pytest.mark.retrieval(task='code2test')\n"
        "def test_it(retrieval_sample, retrieval_judge):\n"
        "    if 'SVD' in retrieval_sample.query_text: pytest.skip('another day')\n"
        "    retrieval_judge()\n",
    )
    result = bench.run(*MAIN, *GATE)
    result.assert_outcomes(passed=2, skipped=1)
    assert result.ret == 1


@pytest.mark.parametrize("workers", [[], ["-n1"]])
def test_nothing_is_written_where_nothing_was_chosen(bench: Bench, workers: list[str]) -> None:
    result = bench.run(*MAIN, *GATE, "-k", "nothing", *workers)
    assert result.ret == 5
    assert not (bench.path / ".retrieval").exists()
    result.stdout.no_fnmatch_line("*retrieval: *")
    result.stdout.no_fnmatch_line("*= retrieval =*")


@pytest.mark.parametrize("option", ["--setup-only", "--setup-plan"])
def test_a_look_at_fixtures_is_no_run(bench: Bench, option: str) -> None:
    result = bench.run(*MAIN, *GATE, option)
    assert result.ret == 0
    assert not (bench.path / ".retrieval").exists()


def test_a_failed_collection_runs_nothing_and_keeps_the_last_report(bench: Bench) -> None:
    bench.run(*MAIN)
    before = (bench.path / ".retrieval" / "report.json").read_bytes()
    bench.write("test_broken.py", "import nowhere\n")
    result = bench.run(*MAIN)
    assert result.ret == 2
    assert "interrupted" not in result.stdout.str()
    assert (bench.path / ".retrieval" / "report.json").read_bytes() == before
    assert {path.name for path in (bench.path / ".retrieval").iterdir()} == {".gitignore", "report.json"}


@pytest.mark.parametrize("workers", [[], ["-n2"]])
def test_a_key_that_samples_do_not_have_is_refused(bench: Bench, workers: list[str]) -> None:
    result = bench.run(*MAIN, "-m", "sample(lang='python')", *workers)
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*samples have no 'lang'*language?*(known: repo, task, *"])
