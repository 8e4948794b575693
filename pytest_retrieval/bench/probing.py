"""Tries an engine description on a tree: what is called, what is printed, what is read, what is wrong."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pytest_retrieval.arms.engine.arm import EngineArm, Found
from pytest_retrieval.arms.engine.calls import hidden, query_values, shown_command
from pytest_retrieval.arms.engine.place import Built
from pytest_retrieval.engines import checks
from pytest_retrieval.engines.collapse import Slot
from pytest_retrieval.errors import ArmError
from pytest_retrieval.snapshots.base import Snapshot

_RAW_LINES = 12
_RAW_WIDTH = 200
_FILES = 5
_MIB = 1 << 20


@dataclass(slots=True)
class Report:
    """What a probe says: ``lines`` to print, and whether there was an ``error`` among them."""

    lines: list[str] = field(default_factory=list)
    failed: bool = False

    def say(self, *lines: str) -> None:
        """Add lines."""
        self.lines += lines

    def error(self, text: str) -> None:
        """Add an error."""
        self.failed = True
        self.lines.append(f"error: {text}")


def probe(arm: EngineArm, snapshot: Snapshot, queries: Sequence[str]) -> Report:
    """Index the tree, ask every query twice, and check what came.

    An unknown key is an error here: a run only warns, and a misspelt one is why most rows are wrong.
    """
    report = Report()
    description = arm.description
    report.say(f"engine: {description.name}, {description.mode}")
    for unknown in description.unknown:
        report.error(unknown)
    report.say(*(f"warning: {warning}" for warning in description.warnings))
    if description.names("Lang") and not arm.home.corpus(snapshot).language:
        report.say("warning: {{.Lang}} is empty here; only a corpus has one (--corpora, --corpus-name)")
    try:
        arm.prepare(snapshot)
        report.say(*_prepared(arm, snapshot))
        found = [one for query in queries for one in _ask(arm, query, report)]
    except ArmError as error:
        report.error(str(error))
        return report
    finally:
        arm.close()
    probes = [checks.Probe(one.reading, one.slots, one.outside) for one in found]
    for text in checks.errors(probes, description, snapshot):
        report.error(text)
    warnings = checks.warnings(probes, description, snapshot, arm.home.limit)
    report.say(*(f"warning: {text}" for text in warnings))
    if not report.failed:
        report.say("ok")
    return report


def _prepared(arm: EngineArm, snapshot: Snapshot) -> Iterator[str]:
    told = ", ".join(arm.contents_of)
    limits = f' (contents of {told}; what these call does not count, "version" may tell it)' if told else ""
    yield f"version: {arm.version}{limits}"
    yield f"tree: {arm.tree.root} ({len(snapshot.files)} files)"
    if arm.description.index is not None and arm.built is not None:
        yield f"index: {shown_command(arm.description.index, arm.values)}"
        yield f"  {', '.join(_built(arm.built))} in {arm.values['State']}"
    yield from (hidden(line, arm.description) for line in arm.about())


def _built(built: Built) -> Iterator[str]:
    yield f"{built.seconds:.3f} s"
    if built.peak is not None:
        tree = "" if built.tree is None else f" ({built.tree / _MIB:.0f} MiB its whole tree)"
        yield f"{built.peak / _MIB:.0f} MiB{tree}"
    if built.chunks is not None:
        yield f"{built.chunks:,} chunks"
    yield f"state {built.cache_state} of {built.size:,} bytes"


def _ask(arm: EngineArm, query: str, report: Report) -> Iterator[Found]:
    """What a query found; a query without an answer is an error, and the next one is asked."""
    description, files = arm.description, arm.home.limit
    values = {**arm.values, **query_values(query, files, 1, description)}
    report.say("", f"query: {query}")
    report.say(*arm.shown(values))
    started = time.perf_counter()
    try:
        found = arm.search(query, files, 1)
        seconds = time.perf_counter() - started
        report.say(*_output(arm, seconds), *_results(found, arm.snapshot))
        arm.inspect()
        again = arm.search(query, files, 1)
    except ArmError as error:
        if arm.last is None:
            report.say(*_output(arm, time.perf_counter() - started))
        report.error(str(error))
        return
    if [slot.path for slot in again.slots] != [slot.path for slot in found.slots]:
        report.say("warning: asked twice, it ranked differently")
    yield found


def _output(arm: EngineArm, seconds: float) -> Iterator[str]:
    yield f"output: {len(arm.output):,} bytes in {seconds:.3f} s"
    yield from _first_lines(hidden(arm.reply, arm.description), "|")
    if arm.diagnostics.strip():
        yield "on standard error, which is not read:"
        yield from _first_lines(hidden(arm.diagnostics.decode("utf-8", "replace"), arm.description), "!")


def _first_lines(text: str, mark: str) -> Iterator[str]:
    lines = text.splitlines()
    for line in lines[:_RAW_LINES]:
        yield f"  {mark} {_legible(line)}"
    if len(lines) > _RAW_LINES:
        yield f"  {mark} … and {len(lines) - _RAW_LINES} more lines"


def _results(found: Found, snapshot: Snapshot) -> Iterator[str]:
    reading = found.reading
    yield f"results: {len(reading.results)} read, {len(found.slots)} files"
    counts = {
        "lines that do not parse": reading.unparsed_lines,
        "results without a path": reading.unparsed_results,
        "bad spans": reading.bad_spans,
        "bytes that are no UTF-8": reading.undecodable,
        "paths outside the corpus": len(found.outside),
    }
    yield from (f"  dropped: {count} {what}" for what, count in counts.items() if count)
    yield from (f"    {_legible(line)}" for line in reading.dropped)
    for rank, slot in enumerate(found.slots[:_FILES], start=1):
        yield f"  {rank}. {_slot(slot)}{'' if slot.path in snapshot else '  (not in the corpus)'}"


def _slot(slot: Slot) -> str:
    spans = ",".join(f"{lines.start}-{lines.end}" for lines in slot.lines)
    score = "" if slot.score is None else f"  score {slot.score:g}"
    return f"{_legible(slot.path)}{':' if spans else ''}{spans}{score}"


def _legible(text: str) -> str:
    spaced = text[:_RAW_WIDTH].replace("\t", " ")
    shown = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in spaced)
    return shown + ("…" if len(text) > _RAW_WIDTH else "")
