"""The cases 87 to 92 of the trial's specification, and its repairs 6, 19, 22 and 23."""

from __future__ import annotations

import json
import re
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from pytest_retrieval.cli import main
from pytest_retrieval.errors import SnapshotError, UsageError
from pytest_retrieval.history.classes import is_source_path, is_test_path, is_text_path, language
from pytest_retrieval.history.cochange import Candidate, evenly, task_text
from pytest_retrieval.history.commits import Commit
from pytest_retrieval.history.generate import Wanted, generate
from pytest_retrieval.history.moments import parse_moment, shown_moment
from pytest_retrieval.snapshots.chunkfile import read_chunk_file
from pytest_retrieval.trial.manifest import load_manifest
from tests.history.support import History

BOOK = "def post(entry):\n    return entry\n"
REVERSED = BOOK + "\n\ndef reverse(entry):\n    return -entry\n"
BASE: dict[str, str | bytes | None] = {
    "pyproject.toml": "[project]\nname = 'ledger'\n",
    "ledger/book.py": BOOK,
    "ledger/test_book.py": "from ledger.book import post\n",
    "ledger/cli.py": "print('ledger')\n",
    "logo.png": b"\x89PNG\0",
}
FEATURE: dict[str, str | bytes | None] = {
    "ledger/book.py": REVERSED,
    "ledger/cli.py": "print('a ledger')\n",
    "ledger/export.py": "def export(book): ...\n",
    "ledger/testdata/x.json": "{}\n",
    "ledger/with space.py": "BLANK = ' '\n",
    "poetry.lock": "locked\n",
}


@pytest.fixture
def ledger(tmp_path: Path) -> History:
    history = History(tmp_path / "ledger")
    history.commit("base", BASE)
    history.commit("feat: reverse entries\n\nWire the export.", FEATURE)
    history.commit("docs", {"README.md": "A ledger\n"})
    return history


def made(history: History, since: str = "2026-09-01", **options: Any) -> dict[str, Any]:
    """The manifest as it was written."""
    output = history.path.parent / "made"
    output.mkdir(exist_ok=True)
    wanted = Wanted(history.path, "acme/ledger", parse_moment(since), output, **options)
    generate(wanted, lambda line: None)
    manifest: dict[str, Any] = json.loads((output / "tasks.json").read_text(encoding="utf-8"))
    return manifest


def test_a_commit_becomes_a_task(ledger: History) -> None:
    """Case 87; of a name with a blank, which the original lost, repair 19 makes gold."""
    manifest = made(ledger)
    base, feature = ledger.git("rev-parse", "HEAD~2"), ledger.git("rev-parse", "HEAD~1")
    (task,) = manifest["tasks"]
    assert task["changed_file"] == "ledger/book.py"
    assert task["gold"] == {
        "source-file": ["ledger/cli.py", "ledger/export.py", "ledger/with space.py"],
        "test-file": ["ledger/test_book.py"],
    }
    assert task["id"] == f"cochange:{feature[:12]}"
    assert re.fullmatch(r"cochange:[0-9a-f]{12}", task["id"])
    assert task["base_commit"] == base
    assert task["source"] == {
        "commit": feature,
        "touched_files": 4,
        "novel_gold_paths": 2,
        "counterpart_gold_paths": 1,
    }
    assert "Intent:\nfeat: reverse entries\n\nWire the export." in task["text"]
    assert "@@ -1,2 +1,6 @@" in task["text"]
    assert "diff --git" not in task["text"]
    counts = ("population", "novel_gold_paths", "counterpart_gold_paths", "gold_paths")
    assert [manifest[name] for name in counts] == [1, 2, 1, 4]
    assert manifest["snapshots"] == {base: 4}
    assert manifest["per_kind_counts"] == {"change": 1}
    assert manifest["per_language_counts"] == {"py": 1}
    assert (manifest["partition"], manifest["name"]) == ("unseen", "unseen-acme-ledger")
    assert (manifest["tip"], manifest["since"]) == (ledger.git("rev-parse", "HEAD"), "2026-09-01T00:00:00Z")


def test_the_set_loads_and_its_tree_is_the_parents(ledger: History) -> None:
    manifest = made(ledger)
    path = ledger.path.parent / "made"
    loaded = load_manifest(path / "tasks.json")
    assert [task.id for task in loaded.tasks] == [manifest["tasks"][0]["id"]]
    assert loaded.tasks[0].cluster == ledger.git("rev-parse", "HEAD~1")
    base = loaded.tasks[0].base_commit
    tree = read_chunk_file(path / "corpus" / "acme__ledger" / f"{base}.chunks.jsonl")
    found = {file.path: file.digest for file in tree.files}
    texts = {name: content for name, content in BASE.items() if isinstance(content, str)}
    assert found == {name: sha256(content.encode()).hexdigest() for name, content in texts.items()}


def test_what_the_repository_configures_changes_nothing(ledger: History) -> None:
    """Repair 23: an external diff, prefixes, attributes and substitutions of the source."""
    ledger.commit("attributes", {".gitattributes": "*.py diff=mine export-ignore\n*.toml export-subst\n"})
    ledger.commit("more", {"ledger/book.py": BOOK, "ledger/cli.py": "print('$Format:%H$')\n"})
    plain = made(ledger)
    for name, value in [
        ("diff.external", "false"),
        ("diff.noprefix", "true"),
        ("diff.mine.textconv", "rev"),
        ("diff.context", "9"),
        ("diff.algorithm", "patience"),
        ("log.showSignature", "true"),
    ]:
        ledger.git("config", name, value)
    (ledger.path / ".git" / "info" / "attributes").write_text("*.py -diff\n")
    assert made(ledger) == plain
    assert len(plain["tasks"]) == 2
    rows = (ledger.path.parent / "made").rglob("*.jsonl")
    assert all("ledger/book.py" in row.read_text() for row in rows)


def test_a_bare_date_is_midnight_in_utc(ledger: History) -> None:
    """Repair 22: Git would take the time of day from the clock, and "now" for what it cannot read."""
    for since, population in [("2026-09-10", 1), ("2026-09-10T12:00:00Z", 1)]:
        assert made(ledger, since)["population"] == population
    for since in ("2026-09-10T12:00:01Z", "2026-09-11"):
        with pytest.raises(UsageError, match="no commit with one parent from 2026-09-1"):
            made(ledger, since)
    assert shown_moment(parse_moment("2026-09-10T14:00:00+02:00")) == "2026-09-10T12:00:00Z"


def test_a_moment_without_a_zone_is_utc_wherever_one_is(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "Asia/Tokyo-9")
        time.tzset()
        found = [parse_moment(text).timestamp() for text in ("2026-09-10", "2026-09-10T12:00:00")]
    time.tzset()
    assert found == [1788998400, 1789041600]  # date -u -d 2026-09-10 +%s


@pytest.mark.parametrize("text", ["yesterday", "", "2026", "20260901", "2026-13-01", "2026-09-01T25:00"])
def test_what_names_no_moment_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="names no moment"):
        parse_moment(text)


@pytest.mark.parametrize(
    ("population", "limit", "first"),
    [(7, 3, [0, 2, 4]), (10, 4, [0, 2, 5, 7]), (3, 40, [0, 1, 2]), (247, 50, [0, 4, 9])],
)
def test_even_spacing(population: int, limit: int, first: list[int]) -> None:
    """Case 88."""
    found = [Candidate(Commit(str(number), ""), ()) for number in range(population)]
    chosen = [int(candidate.commit.oid) for candidate in evenly(found, limit)]
    assert chosen[: len(first)] == first
    assert len(chosen) == min(population, limit)


def test_classes_of_paths() -> None:
    """Case 89, and its neighbours."""
    assert not is_test_path("src/latest/x.py")
    assert is_test_path("a/tests/util.py")
    assert is_test_path("a/Test/util.py")
    assert not is_test_path("src/FooTests.swift")
    assert is_test_path("web/menu.spec.ts")
    assert not is_text_path(".github/x.yml")
    assert not is_text_path("a/testdata/x.py")
    assert is_text_path("testdata/x.py")
    assert not is_text_path("GO.SUM")
    assert not is_text_path("caf\udce9.py")
    assert is_source_path("A.PY")
    assert not is_source_path("README")
    assert language("x/y.TSX") == "tsx"


def test_commits_that_do_not_qualify(tmp_path: Path) -> None:
    """Case 90."""
    history = History(tmp_path / "plain")
    history.commit("base", {f"f{number}.py": "a\n" for number in range(8)})
    history.commit("tests and docs", {"tests/test_f.py": "b\n", "README.md": "b\n"})
    history.commit("seven", {f"f{number}.py": "b\n" for number in range(7)})
    history.git("checkout", "--quiet", "-b", "side", "HEAD~1")
    history.commit("alone", {"side.py": "c\n"})
    history.git("checkout", "--quiet", "main")
    history.git("merge", "--quiet", "--no-ff", "-m", "merge", "side")
    with pytest.raises(UsageError, match=r"none of 3 commits .* qualifies"):
        made(history)
    assert not (tmp_path / "made" / "tasks.json").exists()
    assert made(history, max_files=7)["population"] == 1


def test_a_long_message_gives_way_and_the_instruction_stays() -> None:
    """Case 92 by repair 6: the original cut the end off, and went over the bound by its mark."""
    text = task_text("a.py", "\u00e9" * 20_480, b"diff --git a/a.py b/a.py\n@@ -1 +1 @@\n-a\n+b\n")
    assert 31_900 < len(text.encode()) <= 32_000
    assert "\n[TRUNCATED]\n\nDiff of the changed file:\n@@ -1 +1 @@\n-a\n+b\n\n" in text
    assert text.endswith("with kind source-file for any other file.")
    assert "\ufffd" not in text


def test_a_long_diff_is_cut(ledger: History) -> None:
    ledger.commit("long", {"ledger/book.py": "x\n" * 9_000, "ledger/cli.py": "\n"})
    text = made(ledger)["tasks"][-1]["text"]
    shown = text.partition("Diff of the changed file:\n")[2].partition("\n\nReport")[0]
    assert len(shown) == 8_192 + len("\n[TRUNCATED]")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"repo": "acme"}, "--name: 'acme' is not OWNER/NAME"),
        ({"repo": "a/b/c"}, "--name: 'a/b/c' is not OWNER/NAME"),
        ({"limit": 0}, "--limit: 0"),
        ({"min_files": 1}, "--min-files: 1"),
        ({"max_files": 1}, "--max-files: 1 is less than --min-files 2"),
    ],
)
def test_options_that_mean_nothing(tmp_path: Path, options: dict[str, Any], said: str) -> None:
    wanted = Wanted(
        **{
            "source": tmp_path,
            "repo": "acme/ledger",
            "since": parse_moment("2026-01-01"),
            "output": tmp_path,
            **options,
        }
    )
    with pytest.raises(UsageError, match=re.escape(said)):
        generate(wanted, lambda line: None)


def test_the_command(ledger: History, capsys: pytest.CaptureFixture[str]) -> None:
    output = ledger.path.parent / "out"
    words = [
        "trial",
        "generate",
        "--repo",
        str(ledger.path),
        "--name",
        "acme/ledger",
        "--output",
        str(output),
    ]
    assert main([*words, "--since", "2026-09-01"]) == 0
    printed = capsys.readouterr()
    assert printed.out == f"1 tasks of 1 qualifying commits: {output}/tasks.json\n"
    assert printed.err == "2 commits, 1 qualify, 1 tasks over 1 trees\n"
    assert main([*words, "--since", "soon"]) == 2
    assert "--since: 'soon' names no moment" in capsys.readouterr().err
    assert main([*words, "--since", "2026-09-01", "--tip", "nowhere"]) == 2
    assert "no commit 'nowhere'" in capsys.readouterr().err


def test_no_repository(tmp_path: Path) -> None:
    with pytest.raises(SnapshotError, match="not a Git repository"):
        generate(Wanted(tmp_path, "a/b", parse_moment("2026-01-01"), tmp_path), lambda line: None)
