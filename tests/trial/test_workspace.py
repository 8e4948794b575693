"""Copies of repositories: cases 61 to 64 of trial.md, under the repaired rules of its section 25."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from pytest_retrieval.errors import SnapshotError
from pytest_retrieval.snapshots.catalog import Catalog
from pytest_retrieval.trial.workspace import Workspaces
from tests.snapshots.repos import git
from tests.trial.quota import FILES, Quota, write

COMMIT = "a" * 40


def rows(*files: tuple[str, str, str]) -> str:
    return "".join(
        f"{json.dumps({'kind': kind, 'path': path, 'text': text})}\n" for kind, path, text in files
    )


def listed(root: Path) -> list[str]:
    found = (path.relative_to(root) for path in root.rglob("*") if not path.is_dir())
    return sorted(path.as_posix() for path in found if path.parts[0] != ".git")


def test_case_61_a_chunk_file_gives_its_safe_files(quota: Quota) -> None:
    hostile = [("file", path, "x") for path in ("../up.txt", ".git/config", "/abs", "a/../b", "\\c", "d//e")]
    text = rows(
        ("file", "a.py", "old"),
        ("symbol", "a.py", "symbol"),
        *hostile,
        ("file", "t/a_test.py", "test"),
        ("file", ".gitignore", "*.log\n"),
        ("file", "kept.log", "log"),
        ("file", "a.py", "new"),
    )
    (quota.folder / "c.chunks.jsonl").write_text(text)
    before = sorted(quota.folder.iterdir())
    with quota.workspaces().open(quota.task(snapshot="c.chunks.jsonl")) as workspace:
        root = workspace.path
        assert listed(root) == [".gitignore", "a.py", "kept.log", "t/a_test.py"]
        assert (root / "a.py").read_text() == "new"
        assert git(root, "status", "--porcelain", "--ignored") == b""  # 25-24: ignored files are committed
        assert workspace.changes() == ()
        assert workspace.history_commits is None
    assert not root.exists()
    assert sorted(quota.folder.iterdir()) == before


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (rows(("file", "../up.txt", "x")), "no row of kind 'file'"),
        (rows(("file", "a.py", "x")) + '{"kind":"file","pa', "c.chunks.jsonl:2: not JSON"),
        ("", "no row of kind 'file'"),
    ],
)
def test_case_61_chunk_files_that_are_refused(quota: Quota, text: str, fault: str) -> None:
    (quota.folder / "c.chunks.jsonl").write_text(text)
    with (
        pytest.raises(SnapshotError) as caught,
        quota.workspaces().open(quota.task(snapshot="c.chunks.jsonl")),
    ):
        pass
    assert str(caught.value).startswith("q1: ")
    assert fault in str(caught.value)


def test_case_62_the_source_is_never_written_nor_used_in_place(quota: Quota) -> None:
    agent = quota.program("agent", "touch agent-was-here")
    before = listed(quota.root)
    detail = quota.run(agent, "grep", access="read-only")
    assert detail["arms"]["grep"]["runs"][0]["error"] == "work tree left dirty: ?? agent-was-here"
    assert listed(quota.root) == before == sorted(FILES)
    assert not (quota.root / ".git").exists()


def test_a_git_file_of_a_folder_is_no_part_of_its_copy(quota: Quota) -> None:
    """25-1: a linked worktree has ``.git`` as a file, and a commit of the copy went to its source."""
    main = quota.folder / "main"
    main.mkdir()
    git(main, "init", "--quiet", "--initial-branch=main")
    git(main, "commit", "--quiet", "--allow-empty", "-m", "one")
    git(main, "worktree", "add", "--quiet", str(quota.folder / "linked"))
    write(quota.folder / "linked", {"a.py": "x"})
    with quota.workspaces().open(quota.task(snapshot="linked")) as workspace:
        assert listed(workspace.path) == ["a.py"]
        assert (workspace.path / ".git").is_dir()
    assert git(main, "log", "--all", "--format=%s") == b"one\n"


def test_a_folder_is_copied_without_links(quota: Quota) -> None:
    (quota.root / "link").symlink_to("/etc/passwd")
    with quota.workspaces().open(quota.task()) as workspace:
        assert listed(workspace.path) == sorted(FILES)


@pytest.fixture
def history(quota: Quota) -> tuple[Path, list[str]]:
    """A repository with the commits base, feature and docs."""
    folder = quota.folder / "history"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main")
    commits = []
    for name in ("base", "feature", "docs"):
        write(folder, {f"{name}.txt": name})
        git(folder, "add", "-A")
        git(folder, "commit", "--quiet", "-m", name)
        commits.append(git(folder, "rev-parse", "HEAD").decode().strip())
    return folder, commits


def test_case_63_history_up_to_the_base_commit(quota: Quota, history: tuple[Path, list[str]]) -> None:
    folder, (base, feature, docs) = history
    entries = sorted(path.name for path in (folder / ".git").iterdir())
    with quota.workspaces(history=folder).open(quota.task(base_commit=feature)) as workspace:
        root = workspace.path
        assert git(root, "rev-parse", "HEAD").decode().strip() == feature
        assert workspace.history_commits == 2
        assert listed(root) == ["base.txt", "feature.txt"]
        assert git(root, "log", "--all", "--format=%H").decode().split() == [feature, base]
        later = subprocess.run(["git", "cat-file", "-e", docs], cwd=root, capture_output=True, check=False)
        assert later.returncode != 0
        assert "feature.txt" in workspace.snapshot
        assert "docs.txt" not in workspace.snapshot
    assert not root.exists()
    assert list(quota.scratch.iterdir()) == []
    assert sorted(path.name for path in (folder / ".git").iterdir()) == entries
    assert len(git(folder, "worktree", "list").splitlines()) == 1


def test_case_63_a_base_commit_that_history_lacks_is_taken_from_its_snapshot(
    quota: Quota, history: tuple[Path, list[str]]
) -> None:
    prepared = quota.prepared(quota.contexts("grep"), quota.task(base_commit="0" * 40), history=history[0])
    assert "history_commits" not in prepared.detail
    assert "tests/test_quota.py" in prepared.detail["arms"]["grep"]["context"]


def test_the_row_of_a_task_counts_its_history(quota: Quota, history: tuple[Path, list[str]]) -> None:
    folder, (_, feature, _) = history
    task = quota.task(
        base_commit=feature, text="feature", gold={"source-file": ["./feature.txt", "docs.txt"]}
    )
    prepared = quota.prepared(quota.contexts("grep"), task, history=folder)
    assert prepared.detail["history_commits"] == 2
    assert prepared.detail["gold_at_base"] == ["feature.txt"]
    assert prepared.detail["arms"]["grep"]["context"] == "score=2 feature.txt"


def test_history_may_be_named_relative_to_the_working_directory(
    quota: Quota, history: tuple[Path, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """25-2: the original cloned inside of the copy, where a relative name leads nowhere."""
    monkeypatch.chdir(quota.folder)
    with quota.workspaces(history=Path("history")).open(quota.task(base_commit=history[1][0])) as workspace:
        assert listed(workspace.path) == ["base.txt"]


def test_case_64_a_missing_snapshot_names_the_task(quota: Quota) -> None:
    corpus = quota.folder / "corpus"
    write(corpus, {f"acme__quota/{COMMIT}.chunks.jsonl": rows(("file", "a.py", "x"))})
    workspaces = Workspaces(quota.scratch, catalog=Catalog({}, [corpus], quota.scratch))
    with workspaces.open(quota.task(snapshot=None, base_commit=COMMIT)) as workspace:
        assert listed(workspace.path) == ["a.py"]
    assert list(quota.scratch.iterdir()) == []
    for task, fault in (
        (quota.task(snapshot=None, base_commit="b" * 40), "no snapshot for acme/quota@bbbb"),
        (quota.task(snapshot="gone"), "snapshot 'gone': no such file or folder"),
    ):
        with pytest.raises(SnapshotError) as caught, workspaces.open(task):
            pass
        assert str(caught.value).startswith(f"q1: {fault}")
    with pytest.raises(SnapshotError, match="q1: no snapshot: give --corpus DIR"):
        quota.prepared(quota.contexts("none"), quota.task(snapshot=None))


def test_a_copy_tells_what_changed_and_is_made_anew(quota: Quota) -> None:
    with quota.workspaces().open(quota.task()) as workspace:
        assert (workspace.changes(), workspace.mend()) == ((), None)  # there is no copy yet
        root = workspace.path
        write(root, {"NOTES.md": "changed", "new.txt": "x"})
        assert workspace.mend() == "work tree left dirty: M NOTES.md; ?? new.txt"
        assert listed(root) == sorted(FILES)
        git(root, "commit", "--quiet", "--allow-empty", "-m", "moved")
        told = workspace.mend()
        assert told is not None
        assert told.startswith("work tree left dirty: HEAD is at ")
        assert workspace.changes() == ()
        (root / "locked").mkdir()
        write(root / "locked", {"x": "x"})
        (root / "locked").chmod(0o500)
        assert workspace.mend() == "work tree left dirty: ?? locked/x"
        assert listed(root) == sorted(FILES)


def test_what_git_ignores_is_nobodys_fault_but_goes(quota: Quota) -> None:
    write(quota.root, {".gitignore": "__pycache__/\n"})
    with quota.workspaces().open(quota.task()) as workspace:
        write(workspace.path, {"lib/__pycache__/quota.pyc": "x"})
        assert workspace.mend() is None
        assert "lib/__pycache__/quota.pyc" not in listed(workspace.path)


def test_a_copy_with_history_is_made_anew_too(quota: Quota, history: tuple[Path, list[str]]) -> None:
    folder, (_, feature, _) = history
    with quota.workspaces(history=folder).open(quota.task(base_commit=feature)) as workspace:
        write(workspace.path, {"base.txt": "changed"})
        assert workspace.mend() == "work tree left dirty: M base.txt"
        assert (workspace.path / "base.txt").read_text() == "base"
    assert list(quota.scratch.iterdir()) == []
