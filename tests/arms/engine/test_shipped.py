"""The shipped engines, for real: each finds what the words of a question name."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_retrieval.arms.engine.arm import EngineArm
from pytest_retrieval.engines.loading import SHIPPED, load_description
from pytest_retrieval.engines.shipped import fts5, words
from tests.arms.engine.support import ask, home, paths, snapshot, spans

PADDING = b"".join(b"line %d\n" % number for number in range(50))
TREE = {
    "src/pool.py": PADDING + b"class ConnectionPool:\n    # reuses idle connections\n    idle = []\n",
    "src/idle.py": b"# idle\n",
    "docs/we ird: näme.md": b"a connection is idle\n",
    "src/binary.bin": b"idle connection\0",
    "src/other.py": b"nothing here\n",
}
QUESTION = "Where are the idle connections of the pool reused?"


def programs(name: str) -> str:
    """What must be installed for the description ``name``."""
    return {"ripgrep": "rg", "git-grep": "git", "sqlite-fts5": sys.executable}.get(name, "grep")


@pytest.fixture(params=sorted(path.stem for path in SHIPPED.glob("*.json")))
def shipped(request: pytest.FixtureRequest, tmp_path: Path) -> EngineArm:
    program = programs(request.param)
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    return EngineArm(load_description(SHIPPED / f"{request.param}.json"), home(tmp_path))


def test_a_shipped_engine_finds_files_and_lines(shipped: EngineArm) -> None:
    try:
        shipped.prepare(snapshot(TREE))
        literal = shipped.description.name == "grep-literal"
        answer = ask(shipped, "reuses idle" if literal else QUESTION)
        assert paths(answer)[0] == "src/pool.py"
        assert set(paths(answer)) <= set(TREE)
        assert literal or "src/other.py" not in paths(answer)
        _, start, end = spans(answer)[0]
        assert start is not None
        assert end is not None
        assert start <= 52 <= end
        assert end <= 53
        assert paths(ask(shipped, "zyxwvut")) == []
        assert answer.state is None
        for hostile in ('"', "(", "a* OR NEAR(", "-e", "--help", "$(x)", "*", "\\", "'", "é", "\n"):
            ask(shipped, hostile)
        assert "unknown" not in shipped.version
    finally:
        shipped.close()


def test_words_of_a_question() -> None:
    assert words.words_of(QUESTION) == ["idle", "connections", "pool", "reused"]
    assert words.words_of("to be or not to be") == ["to be or not to be"]
    assert words.words_of(" \n") == []
    assert len(words.words_of(" ".join(f"word{number}" for number in range(100)))) == 24


def test_files_rank_by_different_words_then_lines_then_path() -> None:
    lines = [b"./b\0001:x", b"a\0003:X x", b"c\0009:y x\n", b"d\0001\0y", b"d\0002\0y", b"no match"]
    places = words.places_of(lines, ["x", "y"])
    assert words.ranking(places) == [(b"c", 2), (b"d", 1), (b"a", 1), (b"b", 1)]
    assert places[b"a"] == [(3, 1)]


def test_the_best_window_has_most_words() -> None:
    assert words.best_window([(1, 1), (30, 1), (40, 2), (49, 4), (50, 1)]) == (30, 49)
    assert words.best_window([(7, 1), (90, 1)]) == (7, 7)


def test_a_searcher_that_fails_hands_on_its_status() -> None:
    script = [sys.executable, "-IS", str(SHIPPED / "words.py"), "20", "--"]
    for command, status, said in (
        (["sh", "-c", "exit 3", "WORDS"], 3, ""),
        (["no-tool", "WORDS"], 1, "no-tool: No such"),
    ):
        done = subprocess.run([*script, *command], input=b"query", capture_output=True, check=False)
        assert (done.returncode, done.stdout) == (status, b"")
        assert said in done.stderr.decode()


def test_an_index_of_pieces_is_whole_or_made_again(tmp_path: Path) -> None:
    root, database = tmp_path / "root", tmp_path / "db"
    root.mkdir()
    (root / "a.py").write_text("\n" * 45 + "def parseHTTPHeader(): pass\n")
    (root / ".git").mkdir()
    (root / ".git" / "header.txt").write_text("header")
    (root / "link.py").symlink_to("a.py")
    database.write_bytes(b"half an index")
    fts5.index(database, root)
    connection = sqlite3.connect(database)
    try:
        (hit,) = fts5.answer(connection, "header", 5)
        assert (hit["path"], hit["start"], hit["end"]) == ("a.py", 41, 46)
        assert fts5.answer(connection, "?", 5) == []
    finally:
        connection.close()
    before = database.stat().st_mtime_ns
    fts5.index(database, root)
    assert database.stat().st_mtime_ns == before


def test_what_building_the_full_text_index_took_is_measured(tmp_path: Path) -> None:
    """The file of 53 lines has two pieces, the other three texts one each."""
    arm = EngineArm(load_description(SHIPPED / "sqlite-fts5.json"), home(tmp_path))
    try:
        arm.prepare(snapshot(TREE))
        ask(arm, QUESTION)
        cost = arm.costs()
    finally:
        arm.close()
    assert (cost.index_chunks, cost.index_state) == (5, "COLD")
    assert cost.index_seconds
    assert cost.index_peak_rss is not None
    assert cost.index_peak_rss > 5 << 20
    if Path("/proc/self/status").exists():
        assert cost.query_peak_rss is not None
        assert cost.query_peak_rss > 5 << 20
