"""Gates become an exit code and one line each.

The arm ``alphabet`` finds the five gold files at ranks 5, 3 (fold A), 5 (fold B), 2 and 4; it never abstains.
"""

from __future__ import annotations

import pytest

from tests.plugin.support import MAIN, Bench

pytest_plugins = ["pytester"]

VERDICTS = {
    # (1/5 + 1/3 + 1/5 + 1/2 + 1/4) / 5
    "alphabet: mrr@k >= 0.2966": ("PASSED", "got 0.296667 (n 5, unit sample, on 7 of 7)"),
    "alphabet: mrr@k >= 0.297": ("FAILED", "got 0.296667 (n 5, unit sample, on 7 of 7)"),
    "alphabet @ fold:A: mrr@k < 0.2667": ("PASSED", "got 0.266667 (n 2, unit sample, on 7 of 7)"),
    "alphabet @ fold:B: mrr@k == 0.2": ("PASSED", "got 0.2 (n 1, unit sample, on 7 of 7)"),
    "alphabet @ task:code2test: recall@5 == 1": ("PASSED", "got 1 (n 3, unit sample, on 7 of 7)"),
    "alphabet @ stratum:positive: hit@k != 1": ("FAILED", "got 1 (n 5, unit sample, on 7 of 7)"),
    # Wilson's interval of 5 of 5 begins at 5 / (5 + 1.959964 ** 2).
    "alphabet: hit@k.low >= 0.5655": ("PASSED", "got 0.565518 (n 5, unit sample, on 7 of 7)"),
    "alphabet: hit@k.low > 0.566": ("FAILED", "got 0.565518 (n 5, unit sample, on 7 of 7)"),
    "alphabet: hit@k.high <= 1": ("PASSED", "got 1 (n 5, unit sample, on 7 of 7)"),
    "alphabet: selective_success >= 0.7": ("PASSED", "got 0.714286 (n 7, unit sample, on 7 of 7)"),
    "alphabet: errors == 0": ("PASSED", "got 0 (n 7, unit sample, on 7 of 7)"),
    "alphabet @ stratum:natural_no_gold: abstained >= 1": ("FAILED", "got 0 (n 1, unit sample, on 7 of 7)"),
    "alphabet @ task:abstention: mrr@k >= 0": (
        "UNDECIDABLE",
        "no sample has this figure (n 0, unit sample, on 7 of 7)",
    ),
}


@pytest.mark.parametrize("gate", VERDICTS)
def test_verdicts(bench: Bench, gate: str) -> None:
    status, rest = VERDICTS[gate]
    result = bench.run(*MAIN, f"--gate={gate}")
    assert f"gate {status} {gate}: {rest}" in result.outlines
    assert result.ret == (0 if status == "PASSED" else 1)
    result.assert_outcomes(passed=7)
    [record] = bench.report()["gates"]
    assert (record["gate"], record["status"]) == (gate, status.lower())


@pytest.mark.parametrize("workers", [[], ["-n1"]])
def test_every_gate_is_judged_and_one_that_fails_is_enough(bench: Bench, workers: list[str]) -> None:
    gates = [f"--gate={gate}" for gate in VERDICTS]
    result = bench.run(*MAIN, *gates, *workers)
    assert result.ret == 1
    lines = [line for line in result.outlines if line.startswith("gate ")]
    assert lines == [f"gate {status} {gate}: {rest}" for gate, (status, rest) in VERDICTS.items()]
    assert [record["gate"] for record in bench.report()["gates"]] == list(VERDICTS)


@pytest.mark.parametrize(
    ("typed", "written"),
    [
        ("alphabet: RR >= 0.1", "alphabet: mrr@k >= 0.1"),
        ("alphabet:R@5>=.1", "alphabet: recall@5 >= 0.1"),
        ("alphabet @ all: Success@20 >= 1e-1", "alphabet: hit@k >= 0.1"),
        ("bm25:all @ fold:A: MRR >= 0.1", "bm25:all @ fold:A: mrr@k >= 0.1"),
    ],
)
def test_gates_may_be_written_in_several_ways(bench: Bench, typed: str, written: str) -> None:
    result = bench.run("--release=release", "--arms=alphabet,bm25", f"--gate={typed}")
    assert result.ret == 0
    assert bench.report()["gates"][0]["gate"] == written


def test_a_limit_is_part_of_the_measures(bench: Bench) -> None:
    # Within four files those at ranks 3, 2 and 4 are found.
    result = bench.run(*MAIN, "--limit=4", "--gate=alphabet: hit@k >= 0.6", "--gate=alphabet: hit@4 <= 0.6")
    assert result.ret == 0
    assert [record["got"] for record in bench.report()["gates"]] == [0.6, 0.6]


def test_a_group_that_was_not_chosen_is_undecidable(bench: Bench) -> None:
    result = bench.run(*MAIN, "-k", "click", "--gate=alphabet @ fold:A: mrr@k >= 0")
    assert result.ret == 1
    line = (
        "gate UNDECIDABLE alphabet @ fold:A: mrr@k >= 0: no sample is in fold:A; known are fold:B"
        " (n 0, unit sample, on 2 of 7)"
    )
    assert line in result.outlines


def test_a_failed_item_and_a_passed_gate(bench: Bench) -> None:
    bench.write("mine.py", "def nothing(query, snapshot): raise ValueError('no')\n")
    bench.pytester.syspathinsert()
    result = bench.run(
        "--release=release",
        "--arms=alphabet,mine:nothing",
        "--gate=alphabet: hit@k >= 1",
        "--gate=nothing: errors == 7",
    )
    assert result.ret == 1
    result.assert_outcomes(failed=7)
    assert [record["status"] for record in bench.report()["gates"]] == ["passed", "passed"]


def test_an_arm_whose_every_sample_is_an_error_has_no_figure(bench: Bench) -> None:
    bench.write("mine.py", "def nothing(query, snapshot): raise ValueError('no')\n")
    bench.pytester.syspathinsert()
    result = bench.run("--release=release", "--arms=mine:nothing", "--gate=nothing: mrr@k <= 1")
    line = "gate UNDECIDABLE nothing: mrr@k <= 1: all 7 samples are errors (n 5, unit sample, on 7 of 7)"
    assert line in result.outlines


@pytest.mark.parametrize("quiet", ["-q", "-qq", "-qqq"])
def test_a_failed_gate_is_never_silent(bench: Bench, quiet: str) -> None:
    gates = ["--gate=alphabet: mrr@k >= 0", "--gate=alphabet: mrr@k >= 0.9"]
    result = bench.run(*MAIN, *gates, quiet)
    assert result.ret == 1
    assert "gate FAILED alphabet: mrr@k >= 0.9: got 0.296667 (n 5, unit sample, on 7 of 7)" in result.outlines
    passed = [line for line in result.outlines if line.startswith("gate PASSED")]
    assert len(passed) == (1 if quiet == "-q" else 0)
