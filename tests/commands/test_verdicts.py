"""The commands ``gate``, ``compare`` and ``baseline``, by their exit codes and what they print."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from functools import reduce
from operator import getitem
from pathlib import Path
from random import Random
from typing import Any

import pytest

from pytest_retrieval import cli
from tests.gates.reports import run, written
from tests.report.runs import dumped, original, original_detail

HALF = [1, 0] * 50


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with ``old.json``, and ``new.json`` in which ten of fifty hits are lost."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    written(tmp_path, run(HALF), "old.json")
    written(tmp_path, run([0 if place < 20 else rank for place, rank in enumerate(HALF)]), "new.json")
    return tmp_path


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--gate", "grep: hit@k >= 0.4"], 0, "gate PASSED grep: hit@k >= 0.4: got 0.4 (n 100, "),
        (["--gate", "grep: hit@k >= 0.41"], 1, "gate FAILED grep: hit@k >= 0.41: got 0.4 "),
        (["--gate", "no_regression(grep, hit@k, 0.02)", "--baseline", "old.json"], 1, "gate FAILED no_regr"),
        (["--gate", "lost(grep, hit@5) <= 10", "--baseline", "old.json"], 0, "gate PASSED lost(grep, hit@5)"),
        (["--gate", "no_regression(grep, hit@k, 0.1)", "--baseline", "old.json"], 0, "gate UNDECIDED no_"),
        (
            ["--gate", "no_regression(grep, hit@k, 0.1)", "--baseline", "old.json", "--undecided=fail"],
            1,
            "gate UNDECIDED no_",
        ),
        (
            ["--gate", "lost(grep, hit@5) <= 0", "--baseline", "main", "--retrieval-baseline-missing=pass"],
            0,
            "  excepted, the run may pass: --retrieval-baseline-missing=pass",
        ),
    ],
)
def test_a_stored_report_is_judged(
    folder: Path, capsys: pytest.CaptureFixture[str], words: list[str], code: int, said: str
) -> None:
    assert cli.main(["gate", "new.json", *words]) == code
    assert any(line.startswith(said) for line in capsys.readouterr().out.splitlines())


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ([], "no gate was given"),
        (["--gate", "grep: hit@k"], "must stand between the measure and the number"),
        (["--gate", "rg: hit@k > 0"], "no arm 'rg' here"),
        (["--gate", "lost(grep, hit@5) <= 0"], "it needs a report to compare with: give --baseline"),
        (
            ["--gate", "lost(grep, hit@5) <= 0", "--baseline", "main"],
            "there is no .retrieval/baselines/main",
        ),
        (["--gate", "lost(grep, hit@5) <= 0", "--baseline", "new.json"], "it is this report itself"),
        (["--gate", "lost(grep, hit@5) <= 0", "--baseline", "copy.json"], "it is this report itself"),
        (["--gate", "lost(grep, hit@5) <= 0", "--baseline", "short.json"], "it lacks 90 of 100 samples"),
        (["--gate", "grep: errors == 0", "--undecided", "maybe"], "'maybe' is neither warn nor fail"),
        (
            ["--gate", "lost(grep, hit@5) <= 0", "--baseline", "old.json", "--baseline-overlap", "90"],
            "'90' is no share such as 0.9",
        ),
    ],
)
def test_what_cannot_be_judged(
    folder: Path, capsys: pytest.CaptureFixture[str], words: list[str], why: str
) -> None:
    (folder / "copy.json").write_bytes((folder / "new.json").read_bytes())
    written(folder, run([1] * 10), "short.json")
    assert cli.main(["gate", "new.json", *words]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert why in line


def test_reports_of_the_original_are_judged(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    details = [original_detail(f"s{row}", {"grep": ["ring_test.c"] if row else []}) for row in range(4)]
    dumped(folder / "original.json", original(*details))
    assert cli.main(["gate", "original.json", "--gate", "grep: hit@k == 0.75"]) == 0


@pytest.mark.parametrize("text", ["{}", '{"profile": "pytest-retrieval/1"}', "[1]", "nothing"])
def test_what_is_no_report(folder: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    (folder / "bad.json").write_text(text, encoding="utf-8")
    for words in (
        ["gate", "bad.json", "--gate", "grep: errors == 0"],
        ["gate", "new.json", "--gate", "lost(grep, hit@k) <= 0", "--baseline", "bad.json"],
        ["compare", "bad.json", "new.json"],
        ["baseline", "accept", "bad.json", "--as", "main", "--reason", "why"],
    ):
        assert cli.main(words) == 2
        assert len(capsys.readouterr().err.splitlines()) == 1


def test_figures_that_are_none_are_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = json.loads((folder / "new.json").read_bytes())
    report["arms"]["grep"]["groups"]["all"]["errors"] = "many"
    dumped(folder / "bad.json", report)
    assert cli.main(["gate", "bad.json", "--gate", "grep: errors == 0"]) == 2
    assert "arms.grep.groups.all.errors: must be a whole number" in capsys.readouterr().err


def test_a_baseline_is_accepted_under_a_name(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    accept = ["baseline", "accept", "old.json", "--as", "main", "--reason", "the first one"]
    assert cli.main(accept) == 0
    assert cli.main(["baseline", "list"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].endswith("old.json: the first one")
    kept = folder / ".retrieval" / "baselines" / "main.json"
    assert kept.read_bytes() == (folder / "old.json").read_bytes()
    assert (folder / ".retrieval" / ".gitignore").read_text(encoding="utf-8") == "*\n"
    gate = ["gate", "new.json", "--gate", "lost(grep, hit@5) <= 0", "--baseline", "main"]
    assert cli.main(gate) == 1
    assert "baseline main " in capsys.readouterr().out
    assert cli.main(["compare", "main", "new.json"]) == 0
    kept.write_bytes(kept.read_bytes().replace(b'"of":100', b'"of":101'))
    assert cli.main(gate) == 2
    assert "it is not the report that was accepted on" in capsys.readouterr().err


def test_a_report_is_not_compared_with_itself_under_its_name(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["baseline", "accept", "new.json", "--as", "main", "--reason", "the first"]) == 0
    assert cli.main(["gate", "new.json", "--gate", "lost(grep, hit@5) <= 0", "--baseline", "main"]) == 2
    assert capsys.readouterr().err.endswith(
        "baseline main: it is this report itself, as it was accepted; give the report of another run\n"
    )


def test_names_keep_what_was_accepted_before(folder: Path) -> None:
    for report in ("old.json", "new.json"):
        cli.main(["baseline", "accept", report, "--as", "main", "--reason", f"because of {report}"])
    history = json.loads((folder / ".retrieval" / "baselines" / "main.accepted.json").read_bytes())
    assert [entry["reason"] for entry in history] == ["because of old.json", "because of new.json"]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["old.json", "--as", "a/b", "--reason", "why"], "a name is made of letters"),
        (["old.json", "--as", "..", "--reason", "why"], "a name is made of letters"),
        (["old.json", "--as", "main", "--reason", " "], "--reason must say in one line"),
        (["none.json", "--as", "main", "--reason", "why"], "cannot read the report none.json"),
        (["lost.json", "--as", "main", "--reason", "why"], "1 samples were lost; a baseline must be whole"),
    ],
)
def test_what_is_no_baseline(
    folder: Path, capsys: pytest.CaptureFixture[str], words: list[str], why: str
) -> None:
    lost = {"source": "ab" * 32, "id": "s9", "ordinal": 0, "why": "not run"}
    written(folder, run([1], selection={"of": 2, "chosen": 2, "lost": [lost]}), "lost.json")
    assert cli.main(["baseline", "accept", *words]) == 2
    assert why in capsys.readouterr().err
    assert not (folder / ".retrieval" / "baselines" / "main.json").exists()


def test_two_reports_are_compared(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["compare", "old.json", "new.json", "--moved", "1", "--measures", "Success@20"]) == 0
    out = capsys.readouterr().out
    assert "  10 samples moved, the 1 that moved most:" in out.splitlines()
    assert "hit@k    100  0.500  0.400  -0.100 [" in out
    assert cli.main(["compare", "old.json", "new.json", "--format", "md"]) == 0
    assert capsys.readouterr().out.startswith("### Retrieval, compared\n")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["old.json", "old.json"], "are one report"),
        (["old.json", "none.json"], "cannot read the report none.json"),
        (["old.json", "new.json", "--arm", "grep"], "write OLD=NEW"),
        (["old.json", "new.json", "--measures", "hti@k"], "unknown measure 'hti@k'; did you mean 'hit@k'"),
    ],
)
def test_what_cannot_be_compared(
    folder: Path, capsys: pytest.CaptureFixture[str], words: list[str], why: str
) -> None:
    assert cli.main(["compare", *words]) == 2
    assert why in capsys.readouterr().err


JUNK: list[Any] = [None, -1, 1.5, "x", [], {}, True]
EVERY = [
    "grep: hit@k.low > 0",
    "grep @ repo:acme/r1: recall@5.p50 > 0",
    "lost(grep, hit@3) <= 0",
    "grep: errors == 0",
]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to everything in a document."""
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value if isinstance(value, list) else ())
    for key, item in items:
        yield from places(item, (*path, key))


def test_a_damaged_report_is_one_line_or_a_verdict(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(folder, run([1, 0, 2]), "whole.json")
    whole = json.loads((folder / "whole.json").read_bytes())
    ways, random = list(places(whole)), Random(7)
    gates = [f"--gate={gate}" for gate in EVERY]
    for _ in range(30):
        damaged, (*outer, last) = deepcopy(whole), random.choice(ways)
        holder = reduce(getitem, outer, damaged)
        holder[last] = deepcopy(random.choice(JUNK))
        dumped(folder / "damaged.json", damaged)
        for words in (
            ["gate", "damaged.json", "--baseline=whole.json", *gates],
            ["gate", "whole.json", "--baseline=damaged.json", *gates],
            ["compare", "whole.json", "damaged.json"],
        ):
            code, said = cli.main(words), capsys.readouterr()
            assert code in (0, 1) or len(said.err.splitlines()) == 1


def test_a_name_that_nobody_accepted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["baseline", "list"]) == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == "none here: pytest-retrieval baseline accept REPORT --as main --reason 'why'\n"
    assert cli.main(["baseline", "accept", "old.json", "--as", "main", "--reason", "first"]) == 0
    assert cli.main(["compare", "maim", "new.json"]) == 2
    assert capsys.readouterr().err == (
        "pytest-retrieval: maim: no report, and no baseline of that name was accepted here;"
        " did you mean 'main'?; known are main\n"
    )


def test_folders_of_outputs_are_made(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["export", "old.json", "--as", "csv", "-o", "a/rows.csv"]) == 0
    assert capsys.readouterr().err == "wrote a/rows.csv\n"
    assert cli.main(["summarize", "old.json", "-o", "b/c/all.json"]) == 0
    assert cli.main(["html", "old.json", "-o", "d/page.html"]) == 0
    assert all((folder / name).stat().st_size for name in ("a/rows.csv", "b/c/all.json", "d/page.html"))


def test_parquet_is_not_for_a_terminal(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert cli.main(["export", "old.json", "--as", "parquet"]) == 2
    assert capsys.readouterr().err == "pytest-retrieval: parquet is no text to look at: give -o FILE\n"
