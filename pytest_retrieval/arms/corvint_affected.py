"""``affected``: the tests that ``corvint affected`` selects for a file that is dirtied for the call."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar

from pytest_retrieval.arms.corvint_verb import CorvintVerb, changed_file, ranked
from pytest_retrieval.arms.packet import Packet
from pytest_retrieval.errors import ArmError
from pytest_retrieval.model import Answer, Query, path_key
from pytest_retrieval.programs.process import Completed

DIRT = b"\n\n"  # a change in every language, and a meaning in none


class CorvintAffected(CorvintVerb):
    """Ranks by ``plan.selected[].tests[]``, without the changed file; ``plan.scope`` is the state.

    The verb takes no path: what is dirty is the change. So the changed file of the work tree gets two line
    feeds, and exactly its previous bytes back, however the call ends; then Git must find the tree clean. A
    plan that selects nothing is an abstention. Every failed call is a fault, for what makes this verb fail is
    the state of the work tree and never the sample.
    """

    name: ClassVar[str] = "affected"
    verb: ClassVar[str] = "affected"
    may_refuse: ClassVar[bool] = False

    def arguments(self, query: Query) -> Sequence[str]:
        """Nothing but the verb; the changed file is needed all the same."""
        changed_file(query)
        return [self.verb]

    def run(self, arguments: Sequence[str], query: Query) -> Completed:
        """Call the program while the changed file is dirty.

        Raises:
            ArmError: the work tree does not hold the file, or is not clean afterwards.
        """
        path = changed_file(query)
        if path not in self.snapshot:
            raise ArmError(f"the snapshot has no file {path!r:.200} to change")
        with dirtied(self.root / os.fsdecode(path_key(path)), self.root / ".git"):
            done = self.call(arguments)
        changes = self.snapshot.worktree_changes()
        if changes:
            raise ArmError(f"work tree left dirty: {'; '.join(map(str.strip, changes))[:200]}")
        return done

    def read(self, packet: Packet, query: Query) -> Answer:
        """The tests of each selection, in the order of the plan."""
        plan = packet.require("plan").inside("plan").require("scope", "selected")
        tests = (test for selection in plan.rows("selected") for test in selection.texts("tests"))
        hits = ranked(tests, without=query.changed_file)
        return Answer(hits=hits, state=plan.text("scope") or None, abstained=not hits)


@contextlib.contextmanager
def dirtied(place: Path, aside: Path) -> Iterator[None]:
    """Append two line feeds to the file at ``place``, and give it back byte for byte at the end of the block.

    The copy that takes its place is written in the folder ``aside`` (same file system) and renamed, so it
    does not matter what a program made of the file meanwhile.

    Raises:
        ArmError: the file is not there, is no regular file, or cannot be written.
    """
    original, mode = _regular(place)
    try:
        with _fault("cannot be dirtied"), _opened(place, os.O_WRONLY | os.O_APPEND) as file:
            os.write(file, DIRT)
        yield
    except BaseException:
        # What went wrong first is what is told; a tree that stays dirty is found by its own check.
        with contextlib.suppress(OSError):
            _restore(place, aside, original, mode)
        raise
    with _fault("cannot be restored"):
        _restore(place, aside, original, mode)


def _regular(place: Path) -> tuple[bytes, int]:
    with _fault("cannot be read"), _opened(place, os.O_RDONLY) as descriptor:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            raise ArmError("the changed file is no regular file in the work tree")
        with os.fdopen(os.dup(descriptor), "rb") as file:
            return file.read(), stat.S_IMODE(mode)


def _restore(place: Path, aside: Path, original: bytes, mode: int) -> None:
    spare = aside / "pytest-retrieval-restored"
    spare.unlink(missing_ok=True)
    with _opened(spare, os.O_WRONLY | os.O_CREAT | os.O_EXCL) as descriptor:
        os.fchmod(descriptor, mode)
        with os.fdopen(os.dup(descriptor), "wb") as file:
            file.write(original)
    spare.replace(place)


@contextlib.contextmanager
def _opened(place: Path, flags: int) -> Iterator[int]:
    descriptor = os.open(place, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _fault(what: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ArmError(f"the changed file {what} in the work tree: {error.strerror}") from error
