"""Whole runs with a cold, a warm and no store."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.snapshots.releases import COMMIT, OTHER, lines

CHECKOUT = Path(__file__).parents[2]
SUITE = """
import pytest

@pytest.mark.retrieval(release="data")
def test_sample(retrieval_judge):
    retrieval_judge()
"""
POISON = """
from pytest_retrieval.snapshots import sources

def refuse(*arguments):
    raise AssertionError("a chunk file was read")

sources.read_chunk_file = refuse
"""
UNEQUAL = {
    "wall_ms",
    "build_ms",
    "cold_wall_ms",
    "cache_state",
    "latency",
    "environment",
    "registered_at",
}


def equal_part(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: equal_part(inner) for key, inner in value.items() if key not in UNEQUAL}
    return [equal_part(inner) for inner in value] if isinstance(value, list) else value


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A suite over two neighbouring snapshots, its files old enough to be kept."""
    folder = tmp_path / "suite"
    corpus = folder / "data" / "corpus" / "v1" / "o__n"
    corpus.mkdir(parents=True)
    for commit, extra in ((COMMIT, "one"), (OTHER, "two")):
        texts = {f"f{number}.py": f"def get_{number}(): to\u212aen read-me" for number in range(9)}
        texts |= {f"{extra}.py": "read-me get_3", "read.md": "help_me"}
        rows = ({"kind": "file", "path": path, "text": text} for path, text in texts.items())
        path = corpus / f"{commit}.chunks.jsonl"
        path.write_bytes(lines(*rows))
        os.utime(path, ns=(10**18, 10**18))
    samples = [
        {
            "id": f"{number}" * 12,
            "task_type": "code2test",
            "repo": "o/n",
            "base_commit": (COMMIT, OTHER)[number % 2],
            "query": {"text": f"get_{number} token read-me.py"},
            "gold": {"files": [f"f{number}.py"]},
        }
        for number in range(1, 7)
    ]
    (folder / "data" / "benchmark" / "v1").mkdir(parents=True)
    (folder / "data" / "benchmark" / "v1" / "samples.jsonl").write_bytes(lines(*samples))
    (folder / "test_it.py").write_text(SUITE)
    (folder / "conftest.py").touch()
    return folder


def run(suite: Path, *options: str) -> tuple[str, dict[str, Any]]:
    argv = [sys.executable, "-m", "pytest", "-p", "pytest_retrieval.plugin", "-p", "no:cacheprovider", "-q"]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(CHECKOUT)}
    for old in suite.glob("report*"):
        old.unlink()
    report = suite / "report.json"
    done = subprocess.run(
        [*argv, "--report", str(report), *options],
        cwd=suite,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout, equal_part(json.loads(report.read_bytes()))


def test_the_report_is_the_same_cold_warm_and_without_a_store(suite: Path, tmp_path: Path) -> None:
    store = f"--retrieval-store={tmp_path / 'store'}"
    _, without = run(suite, "--retrieval-store=none")
    _, cold = run(suite, store)
    (suite / "conftest.py").write_text(POISON)
    _, warm = run(suite, store)
    assert without == cold == warm
    assert without["snapshots"]


def test_workers_share_a_store(suite: Path, tmp_path: Path) -> None:
    store = f"--retrieval-store={tmp_path / 'store'}"
    workers = ("-p", "xdist.plugin", "-n", "2")
    _, without = run(suite, "--retrieval-store=none")
    _, cold = run(suite, store, *workers)
    (suite / "conftest.py").write_text(POISON)
    _, warm = run(suite, store, *workers)
    assert without == cold == warm


@pytest.mark.parametrize("workers", [(), ("-p", "xdist.plugin", "-n", "2")])
def test_a_store_that_cannot_be_written_is_one_line(
    suite: Path, tmp_path: Path, workers: tuple[str, ...]
) -> None:
    (tmp_path / "file").touch()
    out, report = run(suite, f"--retrieval-store={tmp_path / 'file' / 'store'}", *workers)
    assert out.count("cannot be written (Not a directory); going on without keeping") == 1
    assert report["arms"]["grep"]["groups"]["all"]["n"] == 6


def test_the_ini_file_may_say_none(suite: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (suite / "pytest.ini").write_text("[pytest]\nretrieval_store = none\n")
    run(suite)
    assert not (tmp_path / "cache").exists()
    (suite / "pytest.ini").write_text("[pytest]\nretrieval_store_size = 1M\n")
    run(suite)
    assert list((tmp_path / "cache" / "pytest-retrieval").rglob("*.pack"))


def test_the_home_of_nobody_is_a_usage_error(suite: Path) -> None:
    with pytest.raises(AssertionError, match="--retrieval-store '~nobody-here/x': no such user"):
        run(suite, "--retrieval-store=~nobody-here/x")


def test_a_user_without_a_home_has_no_store(suite: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOME")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    (suite / "homeless.py").write_text("import os\n\nos.path.expanduser = lambda path: path\n")
    monkeypatch.setenv("PYTHONPATH", str(suite))
    _, report = run(suite, "-p", "homeless")
    assert report["arms"]["grep"]["groups"]["all"]["n"] == 6
    assert not list(suite.rglob("*.pack"))


def test_a_wrong_size_is_a_usage_error(suite: Path) -> None:
    with pytest.raises(AssertionError, match="--retrieval-store-size is a number with K, M, G or T"):
        run(suite, "--retrieval-store-size=big")
