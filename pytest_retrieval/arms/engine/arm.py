"""Any code-search tool as an arm, by the file that describes it: ``engine:FILE``, or ``engine:NAME``."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from pytest_retrieval.arms.base import Arm
from pytest_retrieval.arms.engine.calls import (
    call,
    check_end,
    clean,
    counted,
    depth_values,
    discreet,
    query_values,
    tree_values,
)
from pytest_retrieval.arms.engine.home import EngineHome
from pytest_retrieval.arms.engine.identity import Identity
from pytest_retrieval.arms.engine.place import COLD, Built, Indexed, Place
from pytest_retrieval.arms.engine.talk import RESTARTS, Metered, Talk, talk_of
from pytest_retrieval.arms.engine.version import look
from pytest_retrieval.costs import INCREMENTAL, WARM, Cost
from pytest_retrieval.engines.collapse import Slot, collapse
from pytest_retrieval.engines.description import MCP, Description
from pytest_retrieval.engines.loading import find_description, load_description
from pytest_retrieval.engines.output import OutputError, Reading, Result, read_output
from pytest_retrieval.engines.trees import corpus_path, indexed_tree
from pytest_retrieval.errors import ArmError, UsageError
from pytest_retrieval.model import NO_CACHE, Answer, Capabilities, Hit, Query
from pytest_retrieval.snapshots.base import Snapshot


@dataclass(frozen=True, slots=True)
class Found:
    """What one search found: ``reading`` as printed, ``slots`` with paths of the corpus.

    ``outside`` are the printed paths that lie outside of the corpus.
    """

    reading: Reading
    slots: tuple[Slot, ...]
    outside: tuple[str, ...]


class EngineArm(Arm):
    """A tool that ``description`` drives.

    ``built`` is what the index cost, None where there is none; ``tree`` which tree the tool searches;
    ``last`` what the latest query found, ``output`` what the tool printed for it, even where it could not be
    read, ``diagnostics`` what it said beside that; ``values`` are the template fields of the tree.
    """

    keeps_timeout: ClassVar[bool] = True

    def __init__(self, description: Description, home: EngineHome) -> None:
        self.description = description
        self.home = home
        self.capabilities = Capabilities(
            spans=description.spans,
            per_file=description.per_file,
            tokens=description.has_tokens,
            tokens_from_corpus=description.text_from_corpus,
            timeout=description.search.timeout,
        )
        self.notices = (*description.unknown, *description.warnings)
        self.built: Built | None = None
        self.last: Found | None = None
        self.output = self.diagnostics = b""
        self.values: dict[str, str] = {}
        self._identity: Identity | None = None
        self._place: Place | None = None
        self._talk: Talk | None = None
        self._latest: dict[str, str] = {}
        # A start may take long before it fails, and every query would wait for it.
        self._tried: Snapshot | None = None
        self._failures: list[str] = []
        # What was asked last, where the answer is the same for any number of spans per file.
        self._asked: dict[str, str] = {}
        # An engine that is not there is a fault of each of its rows, told by prepare.
        with contextlib.suppress(ArmError):
            self._identity = self._identify()
        self.version = "unknown" if self._identity is None else self._identity.shown

    def prepare(self, snapshot: Snapshot) -> None:
        """Put the tree in its place, build the index unless this session has it, and start what persists.

        Raises:
            ArmError: the tool is not there, or the index could not be built.
        """
        self.close()
        if self._tried is not snapshot:
            self._tried, self._failures = snapshot, []
        if len(self._failures) > RESTARTS:
            raise ArmError(f"given up after {RESTARTS} restarts; the last fault: {self._failures[-1]}")
        super().prepare(snapshot)
        identity = self._identity = self._identity or self._identify()
        corpus = self.home.corpus(snapshot)
        measured = (self.description.digest, identity.digest, repr(corpus))
        self._place = Place(self.home, self.description.label, "\n".join(measured), snapshot)
        self.tree = indexed_tree(self._place.checkout, corpus.subdirs)
        self.values = tree_values(self.description, self.tree, corpus, self._place.state)
        depth = depth_values(self.home.limit, self.description)
        self._talk = talk_of(self.description, {**self.values, **depth})
        self.built = self._place.enter(self._index if self.description.keeps_state else None)
        try:
            with discreet(self.description):
                self._talk.start()
        except ArmError as error:
            self._failures.append(str(error))
            raise
        self.tool_schema = self._talk.tool_schema
        self.cache_state = NO_CACHE if self.built is None else self.built.cache_state
        self.index_seconds = self._talk.set_up if self.built is None else self.built.seconds
        self.index_bytes = None if self.built is None else self.built.size
        self.index_state = self._index_state()

    def rank(self, query: Query) -> Answer:
        """The files that the tool found, each with the first lines it gave, or as many as are asked for.

        Raises:
            ArmError: the search failed, its output cannot be read, or a result lies outside of the corpus.
        """
        try:
            found = self.search(query.text, query.limit + len(query.given), query.per_file)
        except ArmError as error:
            dirt = self._mended()
            raise error if dirt is None else ArmError(f"{error}; {dirt}") from error
        if found.outside:
            count, of = len(found.outside), len(found.reading.results)
            raise ArmError(
                f"{count} of {of} results lie outside the corpus, the first is {found.outside[0]!r:.200}"
            )
        hits = tuple(hit for slot in found.slots for hit in _hits(slot))
        return Answer(hits=hits, state=found.reading.noticed())

    def search(self, text: str, files: int, per_file: int) -> Found:
        """What the tool finds when asked for ``files`` files with up to ``per_file`` spans each.

        Raises:
            ArmError: the search failed, or its output cannot be read.
        """
        assert self._talk is not None
        asked = query_values(text, files, per_file, self.description)
        if per_file > 1 and self.last is not None and asked == {**self._asked, "PerFile": str(per_file)}:
            return self._settled(self.last.reading, files, per_file)
        self.last, self._asked = None, {} if self.description.knows_width else asked
        self.output = self.diagnostics = b""
        self._latest = {**self.values, **asked}
        with discreet(self.description):
            reply = self._talk.ask(self._latest)
            self.output, self.diagnostics = reply.raw, reply.diagnostics
            try:
                reading = read_output(reply.document, self.description)
            except OutputError as error:
                raise ArmError(str(error)) from error
        self.last = self._settled(reading, files, per_file)
        return self.last

    @property
    def contents_of(self) -> tuple[str, ...]:
        """The programs and scripts whose contents alone tell the version; none where the tool tells it."""
        return () if self._identity is None else self._identity.contents_of

    @property
    def reply(self) -> str:
        """What the tool printed for the latest query."""
        return self.output.decode("utf-8", "replace")

    def about(self) -> Iterator[str]:
        """Lines on what was started for the queries."""
        return iter(()) if self._talk is None else self._talk.about()

    def shown(self, values: Mapping[str, str]) -> Iterator[str]:
        """Lines on how a query with these template fields is asked."""
        return iter(()) if self._talk is None else self._talk.shown(values)

    def costs(self) -> Cost:
        """What the index cost, and the memory of a search; to measure that, a tool may be asked once more."""
        peak = None
        if isinstance(self._talk, Metered):
            with contextlib.suppress(ArmError):
                peak = self._talk.peak_rss(self._latest)
        told = replace(super().costs(), query_peak_rss=peak)
        if self.built is None:
            return told
        return replace(
            told,
            index_chunks=self.built.chunks,
            index_peak_rss=self.built.peak,
            index_tree_rss=self.built.tree,
        )

    def inspect(self) -> None:
        """Look at the tree after a query; one that was written into is restored.

        Raises:
            ArmError: something was written into the tree.
        """
        dirt = self._mended()
        if dirt is not None:
            raise ArmError(dirt)

    def close(self) -> None:
        """End the tool's process, and let go of the tree."""
        talk, self._talk = self._talk, None
        place, self._place = self._place, None
        try:
            if talk is not None:
                talk.close()
        finally:
            if place is not None:
                place.leave()

    def _mended(self) -> str | None:
        """What was written into the tree, which is restored; None where nothing was."""
        dirt = None if self._place is None else self._place.changes()
        if self._place is not None and dirt is not None:
            self._place.restore()
        return dirt

    def _settled(self, reading: Reading, files: int, per_file: int) -> Found:
        strip = self.description.strip_prefix
        prefix = "" if strip is None else strip.render(self.values)
        inside, outside = [], []
        for result in reading.results:
            path = corpus_path(result.path, self.tree, prefix)
            if path is None:
                outside.append(result.path)
            else:
                known = path if path in self.snapshot else clean(path)
                inside.append(Result(known, result.lines, result.text, result.score))
        return Found(reading, tuple(collapse(inside, files, per_file)), tuple(outside))

    def _index_state(self) -> str | None:
        """What the index was built from; None where the tool keeps nothing."""
        if self.built is None or self.built.cache_state == COLD:
            return None if self.built is None else COLD
        is_built = self.description.index is not None or (self._talk is not None and self._talk.sets_up)
        return INCREMENTAL if is_built else WARM

    def _index(self) -> Indexed:
        """Run the index command, and set up what is part of the index."""
        with discreet(self.description):
            built = self._indexed()
            if self._talk is None or not self._talk.sets_up:
                return built
            self._talk.start()
            peak = self._talk.peak_rss(self.values) if isinstance(self._talk, Metered) else None
            peaks = [one for one in (built.peak, peak) if one is not None]
            return replace(built, seconds=built.seconds + self._talk.set_up, peak=max(peaks, default=None))

    def _indexed(self) -> Indexed:
        command = self.description.index
        if command is None:
            return Indexed()
        try:
            done = call(self.description, command, self.values, metered=True)
            check_end(done, command, may_find_nothing=False)
        except ArmError as error:
            raise ArmError(f"index: {error}") from error
        chunks = counted(command.chunks, done)
        if done.usage is None:
            return Indexed(done.wall, chunks=chunks)
        return Indexed(done.wall, done.usage.peak, done.usage.tree, chunks)

    def _identify(self) -> Identity:
        with discreet(self.description):
            seen = look(self.description)
        self.tool_schema = seen.tool_schema
        self.notices = (*self.description.unknown, *self.description.warnings, *seen.notes)
        return seen.identity


def engine_arm(text: str, home: EngineHome, base: Path | None = None) -> tuple[str, Callable[[], Arm]]:
    """The label and the maker of the arm ``engine:TEXT``; a path is relative to ``base``.

    Raises:
        UsageError: there is no such description, or it has faults.
    """
    description = load_description(find_description(text, base), text)
    if description.mode == MCP:
        from pytest_retrieval.arms.engine.mcp_connect import require_package

        try:
            require_package()
        except UsageError as error:
            raise UsageError(f"engine:{text}: {error}") from error
    return description.label, lambda: EngineArm(description, home)


def _hits(slot: Slot) -> Iterator[Hit]:
    if not slot.lines:
        yield Hit(slot.path, slot.score, text=slot.text)
    for lines in slot.lines:
        yield Hit(slot.path, slot.score, lines.start, lines.end, lines.text)
