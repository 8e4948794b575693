"""What a run prints, and when it prints nothing."""

from __future__ import annotations

import re

import pytest

from tests.plugin.support import BOAT, ITEMS, MAIN, ROWS, SVD, Bench, lines, row

pytest_plugins = ["pytester"]

OPENING = "retrieval: 7 samples, 3 snapshots to build, arms: alphabet"
HEADINGS = ["arm", "n", "R@5", "R@10", "R@20", "MRR", "hit@20", "(95%", "CI)", "abst", "err", "p50"]


def section(result: pytest.RunResult) -> list[str]:
    """The lines between our heading and the next one."""
    lines = result.outlines
    start = next(place for place, line in enumerate(lines) if re.fullmatch("=+ retrieval =+", line))
    end = next(place for place, line in enumerate(lines[start + 1 :]) if line.startswith("==="))
    return lines[start + 1 : start + 1 + end]


@pytest.mark.parametrize("workers", [[], ["-n2"]])
def test_what_will_be_run_comes_before_the_first_item(bench: Bench, workers: list[str]) -> None:
    bench.write(
        "conftest.py",
        f"{(bench.path / 'conftest.py').read_text(encoding='utf-8')}\n"
        "def pytest_runtest_logreport(report):\n"
        "    print('first report')\n",
    )
    result = bench.run(*MAIN, *workers, "-s")
    assert result.outlines.count(OPENING) == 1
    reports = [place for place, line in enumerate(result.outlines) if "first report" in line]
    assert result.outlines.index(OPENING) < reports[0]


def test_one_sample_and_one_snapshot_are_singular(bench: Bench) -> None:
    result = bench.run(*MAIN, f"test_suite.py::{ITEMS[SVD]}")
    assert "retrieval: 1 of 7 samples, 1 snapshot to build, arms: alphabet" in result.outlines


@pytest.mark.parametrize("workers", [[], ["-n1"]])
def test_the_table_has_a_row_per_arm(bench: Bench, workers: list[str]) -> None:
    result = bench.run("--release=release", "--arms=alphabet,grep,bm25", *workers)
    lines = section(result)
    assert lines[0].split() == HEADINGS
    assert [line.split()[0] for line in lines[1:6]] == [
        "alphabet",
        "grep",
        "bm25:all",
        "bm25:ident",
        "(ceiling)",
    ]
    # Five of five: Wilson's interval is .566 to 1.
    row = ["alphabet", "7", "1.000", "1.000", "1.000", "0.297", "1.000", ".566-1.00", "0.000", "0", "-"]
    assert lines[1].split() == row
    assert lines[6:8] == ["", "differences, 95% intervals over 5 samples; * zero is outside"]
    pairs = [line.split(" - ")[0] for line in lines[9:12]]
    assert pairs == ["alphabet", "alphabet", "alphabet"]  # against each of the lexical arms
    assert lines[-4:] == [
        "",
        "samples: 7 chosen, 5 with gold",
        "skipped: 1 (no_gold_unlabeled: 1)",
        "report: .retrieval/report.json",
    ]
    assert sum(bool(re.fullmatch("=+ retrieval =+", line)) for line in result.outlines) == 1


def test_it_fits_eighty_columns(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    (bench.path / "release" / "corpus" / "mini" / "acme__boat").rename(bench.path / "gone")
    arms = "grep,grep-ident,bm25,alphabet,a-label-that-is-much-too-long-for-any-table-of-eighty-columns=grep"
    result = bench.run("--release=release", f"--arms={arms}")
    assert [line for line in section(result) if len(line) > 80] == []


def test_the_report_is_named_as_seen_from_the_place_of_the_call(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(bench.pytester.mkdir("place"))
    result = bench.run("..", "--release=../release", "--arms=alphabet")
    assert "report: ../.retrieval/report.json" in result.outlines


@pytest.mark.parametrize(
    ("quiet", "opening", "table"), [("-v", True, True), ("-q", False, True), ("-qq", False, False)]
)
def test_how_much_is_said(bench: Bench, quiet: str, opening: bool, table: bool) -> None:
    result = bench.run(*MAIN, quiet)
    assert (OPENING in result.outlines) == opening
    assert ("report: .retrieval/report.json" in result.outlines) == table


@pytest.mark.parametrize("words", [[], ["-q"], ["-qq"], ["-n1"]], ids=" ".join)
def test_a_run_without_a_sample_says_why(bench: Bench, words: list[str]) -> None:
    gold = {"no_gold": "true"}
    unlabelled = [row(name, "abstention", BOAT, {"title": name}, gold) for name in ("a", "b", "c")]
    bench.write("release/benchmark/mini/samples.jsonl", lines(unlabelled))
    result = bench.run(*MAIN, *words)
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    result.stdout.fnmatch_lines(
        [
            "release/benchmark/mini/samples.jsonl: field 'gold.no_gold': neither true nor false (rows: 3, *",
            "retrieval: no sample to judge: 3 of 3 rows skipped (no_gold_unlabeled: 3)",
        ]
    )


def test_nor_has_a_suite_whose_task_is_in_no_row(bench: Bench) -> None:
    bench.write("release/benchmark/mini/samples.jsonl", lines(ROWS[:3]))
    bench.write(
        "test_suite.py",
        "import pytest\n"
        "@pytest.mark.retrieval(task='edit2ripple')\n"
        "def test_ripples(retrieval_judge): retrieval_judge()\n",
    )
    result = bench.run(*MAIN)
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    says = "retrieval: no sample to judge: none of 3 rows has the task of a suite that is run"
    assert result.outlines.count(says) == 1


@pytest.mark.parametrize("workers", [[], ["-n2"]], ids=" ".join)
def test_what_was_noticed_in_a_samples_file_is_said_once_and_kept(bench: Bench, workers: list[str]) -> None:
    bench.write("release/benchmark/mini/samples.jsonl", lines([*ROWS, ROWS[0]]))
    result = bench.run(*MAIN, *workers)
    result.assert_outcomes(passed=8)
    (source,) = bench.report()["sources"]
    (warning,) = source["warnings"]
    assert warning.startswith("repeated ids: 1 (first '0f3a91c2d4e5ffffffffffff', lines 1 and 9);")
    assert section(result).count(f"release/benchmark/mini/samples.jsonl: {warning}") == 1


def test_no_colour_but_on_a_terminal(bench: Bench) -> None:
    gate = "--gate=alphabet: hit@k >= 1"
    assert "\x1b" not in bench.run(*MAIN, gate).stdout.str()
    coloured = bench.run(*MAIN, gate, "--color=yes").stdout.str()
    assert "gate \x1b[32mPASSED\x1b[0m alphabet: hit@k >= 1" in coloured


@pytest.mark.parametrize("workers", [[], ["-n1"]])
def test_ordinary_tests_are_told_nothing(bench: Bench, workers: list[str]) -> None:
    bench.write("test_suite.py", "def test_plain(): pass\n")
    result = bench.run("test_suite.py", *workers)
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*retrieval: *")
    result.stdout.no_fnmatch_line("*= retrieval =*")
    assert not (bench.path / ".retrieval").exists()


def test_ordinary_tests_print_the_same_with_and_without_the_plugin(bench: Bench) -> None:
    bench.write("conftest.py", "")
    bench.write("test_suite.py", "def test_plain(): pass\ndef test_other(): assert 1 == 2\n")
    bare = bench.pytester.runpytest_inprocess("test_suite.py")
    loaded = bench.run("test_suite.py")
    assert without_times(loaded) == without_times(bare)


def without_times(result: pytest.RunResult) -> list[str]:
    return [re.sub(r"in [\d.]+s", "in time", line) for line in result.outlines]


def test_ordinary_tests_beside_an_option_of_ours(bench: Bench) -> None:
    bench.write("test_suite.py", "def test_plain(): pass\n")
    result = bench.run("test_suite.py", *MAIN, "--gate=alphabet: hit@k >= 1")
    assert result.ret == 0
    result.stdout.no_fnmatch_line("*= retrieval =*")
    assert not (bench.path / ".retrieval").exists()


def test_the_markers_are_documented(bench: Bench) -> None:
    result = bench.run("--markers")
    result.stdout.fnmatch_lines(
        [
            "@pytest.mark.retrieval(task=None, samples=None, corpus=None, snapshot=None, release=None): *",
            "@pytest.mark.sample(repo, task, stratum, fold, language, id): *",
            "@pytest.mark.fold_A: samples of fold A",
        ]
    )


def test_the_fixtures_are_documented(bench: Bench) -> None:
    result = bench.run("--fixtures")
    result.stdout.fnmatch_lines(
        ["retrieval_judge -- *", "    Run every arm on the sample, hand the outcome *"]
    )


def test_nothing_escapes_a_name_that_would_steer_the_terminal(bench: Bench) -> None:
    bench.write("mine.py", "def steer(query, snapshot): raise ValueError('\\x1b[2J gone')\n")
    bench.pytester.syspathinsert()
    result = bench.run("--release=release", "--arms=mine:steer")
    assert not [line for line in section(result) if "\x1b" in line]


@pytest.mark.parametrize("workers", [[], ["-n1"]], ids=" ".join)
def test_a_crash_says_where_in_the_arm_and_the_report_does_not(bench: Bench, workers: list[str]) -> None:
    bench.write("mine.py", "def crash(query, snapshot):\n    raise RuntimeError('boom')\n")
    bench.pytester.syspathinsert()
    result = bench.run("--release=release", "--arms=mine:crash", "-k", SVD, *workers)
    result.assert_outcomes(failed=1)
    assert "crash: RuntimeError: boom (mine.py:2 in crash)" in result.outlines
    (detail,) = bench.report()["details"]
    assert detail["arms"]["crash"]["error"] == "RuntimeError: boom"
