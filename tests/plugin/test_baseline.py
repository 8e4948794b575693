"""Runs against the baseline that somebody accepted.

The arm ``alphabet`` finds the five gold files at ranks 5, 3, 5, 2 and 4.
"""

from __future__ import annotations

import pytest

from pytest_retrieval import cli
from pytest_retrieval.report.write import write_report
from tests.plugin.support import ALPHABET, BOAT, COMMITS, MAIN, TREES, Bench, chunks
from tests.trial.support import built, entry, task

pytest_plugins = ["pytester"]

LOST = "lost(alphabet, hit@3) <= 0"
SAME = "no_regression(alphabet, recall@5, 0.5)"


@pytest.fixture
def accepted(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """The bench with its first run accepted as ``main``."""
    monkeypatch.chdir(bench.path)
    bench.run(*MAIN, "--report=first.json").assert_outcomes(passed=7)
    words = ["baseline", "accept", "first.json", "--as", "main", "--reason", "the first"]
    assert cli.main(words) == 0
    return bench


def verdicts(result: pytest.RunResult) -> list[str]:
    return [line for line in result.outlines if line.startswith("gate ")]


@pytest.mark.parametrize("workers", [[], ["-n1"]], ids=" ".join)
def test_the_same_again(accepted: Bench, workers: list[str]) -> None:
    gates = [LOST, "alphabet: mrr@k >= baseline", "alphabet @ fold:A: errors <= baseline"]
    result = accepted.run(*MAIN, "--baseline=main", *(f"--gate={gate}" for gate in gates), *workers)
    assert result.ret == 0
    assert [line.split(":")[0].split(" ")[1] for line in verdicts(result)] == ["PASSED"] * 3
    assert (
        "got 0.296667, baseline 0.296667 (n 5, unit sample, on 7 of 7, baseline main " in verdicts(result)[1]
    )
    for record in accepted.report()["gates"]:
        assert (
            record["baseline"]["sha256"]
            in (accepted.path / ".retrieval/baselines/main.accepted.json").read_text()
        )


def test_a_worse_arm_fails_and_what_it_lost_is_named(accepted: Bench) -> None:
    accepted.write("conftest.py", ALPHABET.replace("self.snapshot.paths", "self.snapshot.paths[:2]"))
    result = accepted.run(*MAIN, "--baseline=main", f"--gate={LOST}", "-q")
    assert result.ret == 1
    (line,) = verdicts(result)
    assert line.startswith(f"gate FAILED {LOST}: got 2 (n 5, unit sample, ")
    assert "  lost: numpy/numpy fft-length: rank 3 before, now not found" in result.outlines


def test_a_few_samples_decide_nothing_and_that_is_a_policy(accepted: Bench) -> None:
    arguments = (*MAIN, "--baseline=main", f"--gate={SAME}")
    result = accepted.run(*arguments)
    assert result.ret == 0
    assert verdicts(result)[0].startswith(f"gate UNDECIDED {SAME}: 1 -> 1, difference 0 [0, 0], ")
    assert "unit sample, speaks of these 3 repositories alone" in verdicts(result)[0]
    assert accepted.run(*arguments, "--retrieval-undecided=fail", "-qq").ret == 1


def test_a_choice_is_compared_on_itself(accepted: Bench) -> None:
    result = accepted.run(*MAIN, "--baseline=main", "--gate=alphabet: mrr@k >= baseline", "-k", "click")
    assert result.ret == 0
    (line,) = verdicts(result)
    assert "got 0.2, baseline 0.2 (n 1, unit sample, on 2 of 7, " in line
    assert line.endswith(", 2 of its 7 samples)")


def test_from_an_ini_file_with_labels_and_exceptions(accepted: Bench) -> None:
    accepted.write(
        "gates.toml",
        '[[gate]]\nlabel = "good enough"\ngate = "alphabet: mrr@k > baseline"\n'
        'exception = { reason = "we know", until = 2999-12-31 }\n',
    )
    accepted.write("pytest.ini", "[pytest]\nretrieval_gates_file = gates.toml\nretrieval_baseline = main\n")
    result = accepted.run(*MAIN)
    assert result.ret == 0
    assert verdicts(result)[0].startswith("gate FAILED good enough: alphabet: mrr@k > baseline: got 0.296667")
    assert "  excepted, the run may pass: we know (until 2999-12-31)" in result.outlines
    record = accepted.report()["gates"][0]
    assert (record["label"], record["fails"]) == ("good enough", False)


def test_a_changed_tree_is_not_comparable(accepted: Bench) -> None:
    name = f"release/corpus/mini/acme__boat/{COMMITS[BOAT]}.chunks.jsonl"
    accepted.write(name, chunks({**TREES[BOAT], "z.go": "package boat\n"}))
    result = accepted.run(*MAIN, "--baseline=main", f"--gate={LOST}")
    assert result.ret == 1
    assert f"baseline main: the snapshot {BOAT}@{COMMITS[BOAT]} had the tree " in verdicts(result)[0]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ([f"--gate={LOST}"], f"gate '{LOST}': it needs a report to compare with: give --baseline"),
        (["--baseline=man", f"--gate={LOST}"], "baselines/man.json; did you mean 'main'?"),
        (["--baseline=none.json"], "--retrieval-baseline-missing=pass lets a run without one pass"),
        (["--baseline=main", f"--gate={LOST}", "--limit=5"], "baseline main: its limit is 20, here 5"),
        (["--baseline=first.json", f"--gate={LOST}", "--report=first.json"], "it is this report itself"),
        (
            ["--baseline=main", "--gate=b: hit@k >= baseline", "--arms=b=alphabet"],
            "no arm 'b'",
        ),
        (["--baseline=trial.json", f"--gate={LOST}"], "its samples are of the kind trial, here bench"),
        (["--retrieval-gates=none.toml"], "cannot read the gates"),
    ],
)
def test_mistakes_end_the_run_before_its_first_item(accepted: Bench, arguments: list[str], why: str) -> None:
    write_report(accepted.path / "trial.json", built([task(0, {"alphabet": entry()})]).chunks())
    result = accepted.run(*MAIN, *arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (line,) = [line for line in result.errlines if line.startswith("ERROR:")]
    assert why in line
    assert "passed" not in result.stdout.str()


def test_a_baseline_may_be_missing_where_that_was_said(bench: Bench) -> None:
    result = bench.run(*MAIN, "--baseline=main", f"--gate={LOST}", "--retrieval-baseline-missing=pass")
    assert result.ret == 0
    assert verdicts(result) == [f"gate UNDECIDABLE {LOST}: there is no baseline main (n 0, on 7 of 7)"]
    assert "  excepted, the run may pass: --retrieval-baseline-missing=pass" in result.outlines


def test_ordinary_tests_need_no_baseline(bench: Bench) -> None:
    bench.write("pytest.ini", "[pytest]\nretrieval_baseline = main\n")
    bench.write("test_suite.py", "def test_plain(): pass\n")
    assert bench.run().ret == 0
