"""Where one engine works on one tree: the tree at a path that stays, and a state that outlives the run.

A tool may write absolute paths into its index, so all processes of a run, and later runs, show it the tree at
one and the same path. That path is named by what is measured: the description, the tool and the tree. What
another version of any of them left is at another path, and never found.

Whoever uses a place holds its lock shared; whoever makes something there holds it alone.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from pytest_retrieval.arms.engine.home import EngineHome
from pytest_retrieval.arms.engine.states import STAMP, states, tree_size, trim
from pytest_retrieval.errors import ArmError, SnapshotError
from pytest_retrieval.snapshots.base import Snapshot
from pytest_retrieval.snapshots.program import Git
from pytest_retrieval.snapshots.scratch import ScratchError, hold, let_go, private_base, remove_tree
from pytest_retrieval.snapshots.worktree import commit, write_files

COLD, WARM = "COLD", "WARM"
_BRANCH = "refs/heads/main"
_WRITTEN = 946_684_800  # 2000-01-01: a tree that is made anew looks unchanged to who compares times


@dataclass(frozen=True, slots=True)
class Built:
    """What building an index cost, once per session: told by the process that built it.

    ``cache_state`` is ``COLD`` where the state was empty before. ``failure`` says why there is no index, or
    is None. ``size`` is the state's, in bytes, after the build. The others are as of :class:`Indexed`.
    """

    session: str
    cache_state: str
    seconds: float = 0.0
    size: int = 0
    failure: str | None = None
    peak: int | None = None
    tree: int | None = None
    chunks: int | None = None


@dataclass(frozen=True, slots=True)
class Indexed:
    """What the index command took: seconds, the memory of its largest process and of all at once, in bytes.

    ``chunks`` is how many pieces it said that the index has. None is what was not measured.
    """

    seconds: float = 0.0
    peak: int | None = None
    tree: int | None = None
    chunks: int | None = None


class Place:
    """The place of one engine (by ``label`` and ``identity``) for the tree of ``snapshot``."""

    def __init__(self, home: EngineHome, label: str, identity: str, snapshot: Snapshot) -> None:
        self._home = home
        self._snapshot = snapshot
        base = private_base()
        key = hashlib.sha256("\n".join((identity, snapshot.tree_digest, str(base))).encode()).hexdigest()
        self._folder = base / f"engine-{key[:24]}"
        self._lock = base / f"{self._folder.name}.lock"
        self._kept = home.states / f"{label}-{key[:24]}"
        self._held: int | None = None
        self._entered = False

    @property
    def checkout(self) -> Path:
        """The tree: a Git repository of one commit."""
        return self._folder / "tree"

    @property
    def state(self) -> Path:
        """The folder that belongs to the tool."""
        return self._kept / "state"

    def enter(self, build: Callable[[], Indexed] | None) -> Built | None:
        """Make the tree, have ``build`` make the index unless this session has it, and hold the place.

        ``build`` is None where the tool keeps no state, which has no costs.

        Raises:
            ArmError: the index could not be built, now or earlier in this session.
            SnapshotError: the tree cannot be written.
        """
        self._entered = True
        while True:
            self._held = hold(self._lock, fcntl.LOCK_SH)
            built = self._found() if build is not None else None
            if built is not None and built.failure is not None:
                self.leave()
                raise ArmError(built.failure)
            if self.checkout.is_dir() and (build is None or built is not None):
                return built
            self._release()
            self._held = hold(self._lock, fcntl.LOCK_EX)
            try:
                self._make_tree()
                if build is not None and self._found() is None:
                    self._build(build)
            finally:
                self._release()

    def changes(self) -> str | None:
        """One line that says what differs from the commit in the tree, or None while nothing does."""
        git = Git(self.checkout / ".git", self.checkout)
        try:
            said = git.output("status", "--porcelain", "--untracked-files=all", "--ignored")
        except SnapshotError as error:
            return f"the tree's state cannot be told: {error}"
        lines = said.decode("utf-8", "replace").splitlines()
        if lines:
            return f"it wrote into the tree: {'; '.join(map(str.strip, lines))[:200]}"
        return None if self._is_at_its_commit(git) else "it wrote into the tree: a commit"

    def restore(self) -> None:
        """Make the tree what it was, anew where it is broken; while others may be using it."""
        git = Git(self.checkout / ".git", self.checkout)
        if self._is_at_its_commit(git):
            with contextlib.suppress(SnapshotError):
                git.output("reset", "--hard", "--quiet")
                git.output("clean", "-ffdxq")
        if self.changes() is not None:
            self._replace_tree()

    def leave(self) -> None:
        """Let go of the place; the tree goes with the last process that holds it. Harmless when repeated."""
        if not self._entered:
            return
        self._entered = False
        self._release()
        with contextlib.suppress(OSError, ScratchError):
            descriptor = hold(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            remove_tree(self._folder)
            let_go(self._lock, descriptor)

    def _release(self) -> None:
        if self._held is not None:
            os.close(self._held)
            self._held = None

    def _found(self) -> Built | None:
        """What this session built, or None."""
        built = _read(self._kept)
        return built if built is not None and built.session == self._home.session else None

    @property
    def _commit(self) -> Path:
        """The file that says which commit the tree is."""
        return self._folder / "commit"

    def _is_at_its_commit(self, git: Git) -> bool:
        """Whether the tree's one commit is checked out; Git is asked where its files do not tell."""
        try:
            made = self._commit.read_text(encoding="ascii")
            with contextlib.suppress(FileNotFoundError):
                head, branch = ((git.directory / name).read_bytes() for name in ("HEAD", _BRANCH))
                if (head, branch) == (f"ref: {_BRANCH}\n".encode(), f"{made}\n".encode()):
                    return True
            return git.output("rev-parse", "HEAD").decode().strip() == made
        except (OSError, SnapshotError):
            return False

    def _make_tree(self) -> None:
        if self.checkout.is_dir() and self.changes() is None:
            return
        remove_tree(self._folder)
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._written().rename(self.checkout)

    def _replace_tree(self) -> None:
        """Put a new tree in place of a broken one; of several processes the first has done it."""
        written, broken = self._written(), self._folder / f"broken.{os.getpid()}"
        if self.checkout.is_symlink():
            self.checkout.unlink(missing_ok=True)
        for old, new in ((self.checkout, broken), (written, self.checkout)):
            with contextlib.suppress(OSError):
                old.rename(new)
        for left in (written, broken):
            remove_tree(left)

    def _written(self) -> Path:
        """The tree, beside its place."""
        unfinished = self._folder / f"unfinished.{os.getpid()}"
        try:
            unfinished.mkdir(mode=0o700)
            write_files(self._snapshot, unfinished)
            for place, _, names in os.walk(unfinished):
                for name in names:
                    os.utime(Path(place) / name, (_WRITTEN, _WRITTEN))
            commit(unfinished)
            made = (unfinished / ".git" / _BRANCH).read_text(encoding="ascii").strip()
            self._commit.write_text(made, encoding="ascii")
        except OSError as error:
            raise SnapshotError(f"{self.checkout}: the tree cannot be written: {error.strerror}") from error
        return unfinished

    def _build(self, build: Callable[[], Indexed]) -> None:
        before = _read(self._kept)
        (self._kept / STAMP).unlink(missing_ok=True)  # from here on the state is unfinished
        if before is None or before.failure is not None or self._home.reindex:
            remove_tree(self.state)
        self.state.mkdir(mode=0o700, parents=True, exist_ok=True)
        cold = not any(self.state.iterdir())
        done, failure = Indexed(), None
        try:
            done = build()
        except ArmError as error:
            failure = str(error)
        dirt = self.changes()
        if dirt is not None:
            failure = failure or f"index: {dirt}"
            self.restore()
        label = COLD if cold else WARM
        size = tree_size(self.state)
        _write(self._kept, Built(self._home.session, label, size=size, failure=failure, **asdict(done)))
        trim(states(self._home.states), self._home.state_limit, spared=self._kept)


def _read(kept: Path) -> Built | None:
    """What was noted last, or None where nothing was, or it cannot be read."""
    try:
        return Built(**json.loads((kept / STAMP).read_bytes()))
    except (OSError, ValueError, TypeError):
        return None


def _write(kept: Path, built: Built) -> None:
    unfinished = kept / f"{STAMP}.{os.getpid()}"
    unfinished.write_text(json.dumps(asdict(built)), encoding="utf-8")
    unfinished.replace(kept / STAMP)
