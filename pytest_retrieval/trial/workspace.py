"""The throw-away copy of a task's repository, written only where someone needs files."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

from pytest_retrieval.errors import SnapshotError
from pytest_retrieval.snapshots.ancestry import copy_with_history, count_commits, has_commit
from pytest_retrieval.snapshots.base import Snapshot, Tree
from pytest_retrieval.snapshots.catalog import Catalog
from pytest_retrieval.snapshots.chunkfile import read_chunk_file
from pytest_retrieval.snapshots.directory import read_directory
from pytest_retrieval.snapshots.git import read_commit
from pytest_retrieval.snapshots.kept import Keeper, file_identity
from pytest_retrieval.snapshots.program import Git
from pytest_retrieval.snapshots.scratch import remove_tree
from pytest_retrieval.store.store import Store
from pytest_retrieval.trial.manifest import Task

_IGNORED = "!! "


class Workspace:
    """One task's repository while it lives: ``snapshot`` in memory, and a copy on disk for who asks for it.

    ``history_commits`` is how many commits the copy has, None where it has one that stands for the snapshot.
    """

    def __init__(self, snapshot: Snapshot, scratch: Path, history: Path | None = None) -> None:
        self.snapshot = snapshot
        self._scratch = scratch
        self._history = history
        self._folder: Path | None = None
        self._head: str | None = None

    @cached_property
    def history_commits(self) -> int | None:
        """See the class."""
        return None if self._history is None else count_commits(self._history, self.snapshot.commit)

    @property
    def path(self) -> Path:
        """The copy: a Git repository at the task's revision, clean, with nothing that came after it.

        Raises:
            SnapshotError: it cannot be written.
        """
        if self._folder is None:
            self._folder = self._make()
            self._head = Git(self._folder / ".git", self._folder).resolve("HEAD")
        return self._folder

    def changes(self) -> tuple[str, ...]:
        """What differs from the copy as it was made, a line each; ``!!`` is before files that Git ignores."""
        if self._folder is None:
            return ()
        git = Git(self._folder / ".git", self._folder)
        try:
            head = git.resolve("HEAD")
            said = git.output("status", "--porcelain", "--untracked-files=all", "--ignored")
        except SnapshotError as error:
            return (f"its state cannot be told: {error}",)
        moved = () if head == self._head else (f"HEAD is at {head}",)
        return (*moved, *said.decode("utf-8", "replace").splitlines())

    def mend(self) -> str | None:
        """Make the copy anew if anything differs in it; one line that says what did, None if nothing counts.

        Files that Git ignores are taken away like the rest, but are nobody's fault: caches are such.
        """
        changes = self.changes()
        if changes:
            self._remake()
        told = [line.strip() for line in changes if not line.startswith(_IGNORED)]
        return f"work tree left dirty: {'; '.join(told)[:200]}" if told else None

    def holds(self, path: str) -> bool:
        """Whether ``path`` is a regular file of the snapshot."""
        return path in self.snapshot

    def remove(self) -> None:
        """Take the copy away."""
        folder, self._folder = self._folder, None
        if folder is not None and self._history is not None:
            remove_tree(folder.parent)

    def _make(self) -> Path:
        if self._history is None:
            return self.snapshot.worktree()
        folder = Path(tempfile.mkdtemp(prefix="history-", dir=self._scratch))
        try:
            (folder / "tree").mkdir()
            copy_with_history(self._history, self.snapshot.commit, folder / "tree")
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return folder / "tree"

    def _remake(self) -> None:
        if self._history is not None:
            self.remove()
            _ = self.path
        elif self._folder is not None:
            remove_tree(self._folder)  # also where folders were made unreadable
            self.snapshot.rebuild_worktree()


class Workspaces:
    """Where the repositories of tasks are found: in ``history``, in the manifest, in the ``catalog``.

    ``scratch`` is the private folder for copies, ``base`` the folder that paths of a manifest are relative
    to. ``store`` keeps what was read.
    """

    def __init__(
        self,
        scratch: Path,
        *,
        catalog: Catalog | None = None,
        history: Path | None = None,
        store: Store | None = None,
        base: Path | None = None,
    ) -> None:
        self._scratch = scratch
        self._catalog = catalog
        self._history = None if history is None else history.absolute()
        self._store = store
        self._base = Path() if base is None else base

    @contextmanager
    def open(self, task: Task) -> Iterator[Workspace]:
        """The repository of ``task``; its copy is gone, and what was read of it let go of, after the block.

        Raises:
            SnapshotError: nothing serves it, or what does cannot be read; the text starts with the task's id.
        """
        with _naming(task):
            workspace = self._found(task)
        try:
            yield workspace
        finally:
            workspace.remove()
            workspace.snapshot.close()
            if self._catalog is not None:
                self._catalog.close()

    def _found(self, task: Task) -> Workspace:
        history = self._history
        if history is not None and has_commit(history, task.base_commit):
            tree = read_commit(history, task.base_commit, keeper=self._keeper(task))
            source = f"git:{history.name}"
            return Workspace(self._snapshot(task, source, tree), self._scratch, history)
        if task.snapshot is not None:
            return Workspace(self._named(task, task.snapshot), self._scratch)
        if self._catalog is None or not task.repo or not task.base_commit:
            raise SnapshotError("no snapshot: give --corpus DIR, or name one in the task's `snapshot`")
        return Workspace(self._catalog.open(task.repo, task.base_commit), self._scratch)

    def _named(self, task: Task, place: str) -> Snapshot:
        """The folder or chunk file that the manifest names; nothing called ``.git`` in it is read."""
        path = self._base / place
        if path.is_dir():
            return self._snapshot(task, place, read_directory(path))
        if not path.is_file():
            raise SnapshotError(f"snapshot {place!r}: no such file or folder")
        keeper = self._keeper(task)
        tree = keeper.read(lambda: file_identity(path), lambda: read_chunk_file(path, place))
        return self._snapshot(task, place, tree)

    def _snapshot(self, task: Task, source: str, tree: Tree) -> Snapshot:
        return Snapshot(task.repo, task.base_commit, source, tree, self._scratch, store=self._store)

    def _keeper(self, task: Task) -> Keeper:
        return Keeper(self._store, task.repo)


@contextmanager
def _naming(task: Task) -> Iterator[None]:
    """Say of a fault whose it is."""
    try:
        yield
    except (SnapshotError, OSError) as error:
        raise SnapshotError(f"{task.id}: {error}") from error
