"""The command ``pytest-retrieval summarize``: what it prints, writes, refuses, and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_retrieval.cli import main
from pytest_retrieval.report.corvint import PROFILE
from tests.report.runs import dumped, made_up_run, original, original_detail, whole, written
from tests.report.samples import OTHER_SOURCE, SOURCE


@pytest.fixture
def halves(tmp_path: Path) -> list[str]:
    sources = [{"path": "s.jsonl", "sha256": SOURCE, "rows": 6, "kept": 6}]
    runs = [made_up_run(rows, of=6, sources=sources) for rows in (range(3), range(3, 6))]
    return [str(written(tmp_path / f"half{place}.json", run)) for place, run in enumerate(runs)]


def test_without_a_file_the_table_is_printed(halves: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["summarize", *halves]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:2] == ["arm", "n"]
    assert {line.split()[0] for line in lines[1:5]} == {"context", "grep", "bm25:all", "(ceiling)"}
    assert "samples: 6 chosen, 4 with gold" in lines


def test_the_merged_report_is_written(
    halves: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "all.json"
    assert main(["summarize", *halves, "-o", str(output)]) == 0
    assert f"report: {output}" in capsys.readouterr().out
    text = output.read_bytes()
    assert text.endswith(b"}\n")
    assert not text.endswith(b"\n\n")
    assert [found["id"] for found in json.loads(text)["details"]] == ["s0", "s1", "s2", "s3", "s4", "s5"]
    again = tmp_path / "again.json"
    assert main(["summarize", str(output), "-o", str(again)]) == 0
    assert main(["summarize", *halves, "-o", str(again)]) == 0  # another file is replaced
    assert again.read_bytes() == text


@pytest.mark.parametrize("status", ["PASSED", "FAILED"])
def test_gates_are_judged_over_the_whole(
    halves: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], status: str
) -> None:
    output = tmp_path / "all.json"
    gate = "grep: hit@k >= 0" if status == "PASSED" else "grep: hit@k >= 1"
    assert main(["summarize", *halves, "--gate", gate, "-o", str(output)]) == (status == "FAILED")
    printed = capsys.readouterr().out
    assert f"gate {status} grep: hit@k" in printed
    assert "on 6 of 6" in printed
    assert json.loads(output.read_text())["gates"][0]["status"] == status.lower()


def test_the_profile_of_the_original(halves: list[str], tmp_path: Path) -> None:
    output = tmp_path / "all.json"
    assert main(["summarize", *halves, "--format", "corvint", "-o", str(output)]) == 0
    report = json.loads(output.read_text())
    assert (report["profile"], report["samples"], report["samples_sha256"]) == (PROFILE, 6, SOURCE)


def test_reports_of_the_original_and_of_ours_together(tmp_path: Path) -> None:
    samples = (original_detail("a", {"context": ["ring_test.c"]}), original_detail("b", {"context": []}))
    theirs = dumped(tmp_path / "theirs.json", original(*samples))
    ours = tmp_path / "ours.json"
    assert main(["summarize", str(theirs), "-o", str(ours)]) == 0
    both = tmp_path / "both.json"
    assert main(["summarize", str(theirs), str(ours), "-o", str(both)]) == 0
    assert json.loads(both.read_text())["details"] == json.loads(ours.read_text())["details"]


def test_unions_are_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = []
    for place, source in enumerate((SOURCE, OTHER_SOURCE)):
        document = whole(made_up_run(range(2 * place, 2 * place + 2), of=2))
        document["sources"] = [{"path": f"{place}.jsonl", "sha256": source, "rows": 2, "kept": 2}]
        for found in document["details"]:
            found["source"] = source
        paths.append(str(dumped(tmp_path / f"{place}.json", document)))
    assert main(["summarize", *paths]) == 2
    assert "--union" in capsys.readouterr().err
    assert main(["summarize", "--union", *paths]) == 0
    assert "samples: 4 chosen" in capsys.readouterr().out


@pytest.mark.parametrize("alias", ["same", "link", "hard link", "noise"])
def test_an_input_is_never_overwritten(
    halves: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], alias: str
) -> None:
    target, before = Path(halves[1]), Path(halves[1]).read_bytes()
    output = target if alias == "same" else tmp_path / "alias.json"
    if alias == "link":
        output.symlink_to(target)
    elif alias == "hard link":
        output.hardlink_to(target)
    elif alias == "noise":
        output = tmp_path / "sub" / ".." / target.name
        (tmp_path / "sub").mkdir()
    assert main(["summarize", *halves, "-o", str(output)]) == 2
    assert "this is one of the reports to merge" in capsys.readouterr().err
    assert target.read_bytes() == before


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--format", "corvint"], "--format corvint says how the file of -o is written"),
        (["--gate", "grep"], "gate 'grep': one of"),
        (["--gate", "rocket: errors == 0"], "no arm 'rocket' here"),
        (["-o", "/dev/null/all.json"], "cannot write the report /dev/null/all.json: Not a directory"),
        (["absent.json"], "cannot read the report absent.json"),
    ],
)
def test_usage_errors(
    halves: list[str],
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    why: str,
) -> None:
    assert main(["summarize", *halves, *words]) == 2
    printed = capsys.readouterr()
    assert why in printed.err
    assert printed.err.count("\n") == 1
    assert printed.out == ""


@pytest.mark.parametrize(
    "words",
    [
        ["summarize"],
        ["summarize", "r.json", "--format", "odd"],
        ["summarize", "r.json", "--context-packets", "c"],  # case 64
        ["summarize", "r.json", "--samples", "s.jsonl"],
    ],
)
def test_words_that_the_parser_refuses(words: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(words)
    assert caught.value.code == 2
