"""The console command."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_retrieval import __version__, cli
from tests.plugin.support import ROOT, Bench, write

pytest_plugins = ["pytester"]


def command(bench: Bench, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the console command in the benchmark's folder."""
    line = [sys.executable, "-m", "pytest_retrieval.cli", *words]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run(line, cwd=bench.path, env=environment, capture_output=True, text=True, check=False)


def test_a_suite_is_run_with_the_options_of_pytest(bench: Bench) -> None:
    words = ["--arms=grep", "--release=release", "--report=out.json", "-p", "no:cacheprovider"]
    done = command(bench, "run", "code2test", *words, "-k", "numpy and not linalg", "-q")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed, 2 deselected" in done.stdout
    assert [detail["id"] for detail in bench.report("out.json")["details"]] == ["fft-length"]


def test_several_suites_and_the_code_of_pytest(bench: Bench) -> None:
    words = ["--arms=grep", "--release=release", "--report=out.json", "-p", "no:cacheprovider"]
    done = command(bench, "run", "trace2code", "abstention", *words, "--gate", "grep: mrr@k >= 2")
    assert done.returncode == 1, done.stdout + done.stderr
    assert len(bench.report("out.json")["details"]) == 3


def test_an_unknown_suite(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", "code2tset"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("pytest-retrieval: no suite 'code2tset'; did you mean 'code2test'? (known: ")
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    "words", [[], ["nothing"], ["snapshot"], ["run"], ["snapshot", ".", "--diff", "arb"]]
)
def test_usage(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as error:
        cli.main(words)
    assert error.value.code == 2
    assert "usage: pytest-retrieval" in capsys.readouterr().err


def test_an_unknown_option_of_a_command_that_is_not_pytest(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as error:
        cli.main(["snapshot", ".", "--gld", "a"])
    assert error.value.code == 2
    assert "unrecognized arguments: --gld a" in capsys.readouterr().err


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as done:
        cli.main(["--version"])
    assert done.value.code == 0
    assert capsys.readouterr().out == f"pytest-retrieval {__version__}\n"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A clone with one commit: source, a picture, an installed dependency, and a file that is too large."""
    folder = tmp_path / "boat"
    write(folder / "main.go", "package main\n")
    write(folder / "node_modules" / "dep" / "index.js", "module.exports = 1\n")
    write(folder / "big.txt", "a line of text\n" * 100_000)
    (folder / "logo.png").write_bytes(b"\x89PNG\0\0")
    git = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@localhost"]
    for words in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "-m", "base"]):
        subprocess.run([*git, *words], check=True)
    return folder


def test_what_a_snapshot_holds(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    commit = subprocess.run(
        ["git", "-C", str(repository), "rev-parse", "HEAD"], check=True, capture_output=True, text=True
    ).stdout.strip()
    assert cli.main(["snapshot", f"acme/boat@{commit}=git:{repository}"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"acme/boat@{commit}"
    assert {"view: full", "files: 4", "texts: 2"} <= set(lines)


def test_what_the_view_of_the_benchmark_hides(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "snapshot",
        f"git:{repository}",
        "--diff",
        "arb",
        "full",
        "--gold",
        "main.go",
        "--gold",
        "big.txt",
    ]
    assert cli.main(words) == 0
    text = capsys.readouterr().out
    assert text.startswith("local/boat@")
    for path in ("node_modules/dep/index.js", "logo.png", "big.txt"):
        assert path in text


@pytest.mark.parametrize(
    ("source", "code", "line"),
    [
        (
            "none",
            1,
            "none: no such file or folder; a source is git:PATH, dist:NAME, a chunk file or a folder",
        ),
        ("", 2, "--snapshot wants OWNER/NAME@COMMIT=SOURCE or SOURCE, and got an empty text"),
        ("dist:no-such-distribution", 1, "dist:no-such-distribution: not installed here; *"),
    ],
)
def test_a_snapshot_that_cannot_be_read(
    source: str, code: int, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["snapshot", source]) == code
    error = capsys.readouterr().err
    assert error.startswith(f"pytest-retrieval: {line.rstrip('*')}")
    assert error.count("\n") == 1
