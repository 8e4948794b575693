"""A report that would cost the user a file ends the run before the first item, with one line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.plugin.support import BOAT, COMMITS, MAIN, TREES, Bench

pytest_plugins = ["pytester"]

SAMPLES = "release/benchmark/mini/samples.jsonl"
CHUNKS = f"release/corpus/mini/acme__boat/{COMMITS[BOAT]}.chunks.jsonl"
HERE = f"{BOAT}@{COMMITS[BOAT]}"
ARM = "--arms=grep"
QUIET = ("-p", "no:cacheprovider")
NAMED = "--report=whole/.retrieval/named.json"


def linked(bench: Bench) -> str:
    (bench.path / "link.json").symlink_to(SAMPLES)
    return "link.json"


def linked_hard(bench: Bench) -> str:
    (bench.path / "hard.json").hardlink_to(bench.path / CHUNKS)
    return "hard.json"


def beside(bench: Bench) -> str:
    bench.write("r.json.journal", "notes\n")
    return "r.json"


PLACES: dict[str, tuple[Callable[[Bench], str], str]] = {
    "the samples": (lambda bench: SAMPLES, "the report */samples.jsonl must not be the samples file *"),
    "a link to the samples": (
        linked,
        "the report */link.json must not be the samples file */samples.jsonl;*",
    ),
    "a chunk file": (
        lambda bench: CHUNKS,
        "the report *.chunks.jsonl lies in */corpus/mini, which the run *",
    ),
    "a hard link to a chunk file": (linked_hard, "the report */hard.json would replace a file that no run *"),
    "a new file of the corpus": (
        lambda bench: "release/corpus/mini/new.json",
        "the report */new.json lies in */release/corpus/mini, which the run reads; *",
    ),
    "a source file": (
        lambda bench: "test_suite.py",
        "the report */test_suite.py would replace a file that *",
    ),
    "notes beside it": (
        beside,
        "the report's journal */r.json.journal would replace a file that no run wrote*",
    ),
}


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not {"__pycache__", "temporary"} & set(path.parts) and path.suffix != ".pyc"
    }


@pytest.mark.parametrize("workers", [[], ["-n1"]], ids=" ".join)
@pytest.mark.parametrize("place", PLACES)
def test_no_file_is_lost(place: str, workers: list[str], bench: Bench) -> None:
    make, says = PLACES[place]
    name = make(bench)
    before = contents(bench.path)
    result = bench.run(*MAIN, f"--report={name}", "-p", "no:cacheprovider", *workers)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {says}"])
    assert "passed" not in result.stdout.str()
    assert contents(bench.path) == before


def test_a_single_file_that_is_searched(bench: Bench) -> None:
    result = bench.run(*MAIN, f"--snapshot={HERE}={CHUNKS}", f"--report={CHUNKS}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: the report * must not be the snapshot *.chunks.jsonl; name another *"]
    )


def test_the_report_of_an_earlier_run_is_replaced(bench: Bench) -> None:
    bench.write("out.json", "")
    for _ in range(2):
        bench.run(*MAIN, "--report=out.json", "--retrieval-overwrite").assert_outcomes(passed=7)


def test_a_registration_stays_out_of_what_is_read_and_says_how_it_is_replaced(bench: Bench) -> None:
    result = bench.run(*MAIN, "--report=out.json", "--retrieval-registration=release/corpus/mini/r.json")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: the registration */r.json lies in */corpus/mini, which the run reads*"]
    )
    bench.write("out.json.registration.json", "{}")
    result = bench.run(*MAIN, "--report=out.json")
    result.stderr.fnmatch_lines(
        ["ERROR: * it exists, and is never replaced without --retrieval-overwrite; *"]
    )


def test_the_default_report_may_lie_in_the_searched_folder_and_is_no_part_of_it(bench: Bench) -> None:
    for path, text in TREES[BOAT].items():
        bench.write(f"whole/{path}", text)
    row = {"query": "Sail", "relevant": ["boat/sail.go"], "repo": BOAT, "base_commit": COMMITS[BOAT]}
    bench.write("own.jsonl", json.dumps(row) + "\n")
    run = (
        "--rootdir=whole",
        "--samples=own.jsonl",
        f"--snapshot={HERE}=whole",
        ARM,
        "-k",
        "code2test",
        *QUIET,
    )
    for name, further in (("report", ()), ("report", ("-n1",)), ("named", (NAMED,)), ("report", ())):
        bench.run(*run, *further).assert_outcomes(passed=1)
        report = bench.report(f"whole/.retrieval/{name}.json")
        assert report["details"][0]["arms"]["grep"]["ranked"] == ["boat/sail.go"]
        assert report["snapshots"][HERE]["files"] == len(TREES[BOAT])
    result = bench.run(*run, "--report=whole/named.json")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: the report */named.json lies in */whole, which the run reads; *"])
