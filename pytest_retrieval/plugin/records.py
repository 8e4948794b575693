"""What a run leaves beside its report: its registration, and the capture of its context packets.

Both are made after the collection and before the first arm is asked. Whatever they bind is looked at again
before the report is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_retrieval.arms.observed import is_observed
from pytest_retrieval.errors import ReportError, UsageError, VoidError
from pytest_retrieval.report.binding import bind_corpora, bind_snapshots, bound_places
from pytest_retrieval.report.capture import lines as capture_lines
from pytest_retrieval.report.capture.lines import Descriptor
from pytest_retrieval.report.capture.place import CapturePlace
from pytest_retrieval.report.capture.writer import Capture
from pytest_retrieval.report.distinct import check_distinct
from pytest_retrieval.report.fingerprint import Fingerprint, identity_changes, machine
from pytest_retrieval.report.place import Inputs, check_place, written
from pytest_retrieval.report.registration import discard_sidecar, registration, stamped, write_sidecar
from pytest_retrieval.report.write import check_writable
from pytest_retrieval.snapshots.sources import split_view

if TYPE_CHECKING:
    from pytest_retrieval.arms.base import Arm
    from pytest_retrieval.arms.program import Program
    from pytest_retrieval.model import ArmRow, Sample
    from pytest_retrieval.plugin.places import Place
    from pytest_retrieval.plugin.plan import Entry, Plan
    from pytest_retrieval.plugin.session import BenchSession


class Records:
    """The registration ``section`` of the run over ``plan``, and its capture if it has one."""

    def __init__(self, bench: BenchSession, plan: Plan, place: Place) -> None:
        self._bench = bench
        self._plan = plan
        self._report, self._sidecar = place.report, place.registration
        captured, page = bench.settings.capture, bench.settings.html
        self._captured = None if captured is None else place.beside(captured)
        self._page = None if page is None else place.beside(page)
        self._capture: Capture | None = None
        self._due: dict[tuple[str, int], Iterator[Descriptor]] = {}
        self.section: Mapping[str, Any] = {}

    def open(self) -> None:
        """Read what the run is, write its sidecar, and begin its capture.

        Raises:
            RetrievalError: one of them cannot be, or may not be, where it was told to.
        """
        settings = self._bench.settings
        self._check_report()
        place = self._place()
        self.section = self._registration(self._fingerprint)
        if self._sidecar is not None:
            self.section = stamped(self.section)
        planned = self._planned() if place is not None else ()
        if place is not None:
            place.check()
            capture_lines.header_line(self.section, planned)
        if self._sidecar is not None:
            if settings.overwrite:
                discard_sidecar(self._sidecar)
            # The report has the machine's state under `environment`: two equal runs differ in it.
            write_sidecar(self._sidecar, {**self.section, "machine": machine()})
        if place is not None:
            self._capture = Capture(place, self.section, planned)

    def _check_report(self) -> None:
        """Refuse places of report and registration where a run would lose what it reads, or another file."""
        settings, report = self._bench.settings, self._report
        sources = [source for source, _ in self._plan.explicit.values()]
        files, trees = bound_places(sources, self._plan.corpora.values())
        files += [("the samples file", Path(path)) for path, _ in self._plan.places.values()]
        files += [("the file of corpora", Path(path)) for path, _ in self._plan.searched.values()]
        if self._sidecar is not None:
            check_distinct(self._sidecar, report)
            files.append(("the registration", self._sidecar))
        check_place(report, Inputs(files, trees), explicit=settings.report is not None)
        if self._sidecar is not None:
            # A file that is there is refused or replaced by what it holds.
            Inputs(trees=trees).check("the registration", self._sidecar)
        if self._page is not None:
            check_page(self._page, Inputs([*files, *written(report)], trees))

    def witness(self, sample: Sample, label: str, arm: Arm | None, row: ArmRow) -> None:
        """Keep the packet of an answer, if it is one that is captured.

        Raises:
            VoidError: it cannot be kept as it was planned.
        """
        if self._capture is None or not is_observed(arm):
            return
        descriptor = next(self._due[sample.source, sample.row], None)
        if descriptor is None:
            raise VoidError(f"{sample.id}: {label} was asked more often than the capture had planned")
        try:
            self._capture.record(descriptor, arm.last, row.error)
        except ReportError as error:
            raise VoidError(f"{sample.id}: {error}") from error

    def confirm(self) -> None:
        """Look again at what was bound, and end the capture; called right before the report is written.

        Raises:
            ReportError: something is no longer what it was; the run may publish nothing.
        """
        report = self._report
        try:
            changes = self._changes()
            if self._sidecar is not None:
                check_distinct(self._sidecar, report)
        except UsageError as error:
            raise ReportError(str(error)) from error
        if changes:
            raise ReportError("; ".join(changes))
        if self._capture is not None:
            self._capture.finish()
            self._capture.check_report(report)

    def close(self) -> None:
        """Leave the capture as it is; harmless when repeated."""
        if self._capture is not None:
            self._capture.close()

    def _changes(self) -> list[str]:
        """What is no longer what it was; of a run that asks no program nothing outside of it is measured."""
        if self._program() is None:
            return []
        return identity_changes(self._fingerprint, Fingerprint.read(self._program()))

    @cached_property
    def _fingerprint(self) -> Fingerprint:
        return Fingerprint.read(self._program())

    def _program(self) -> Program | None:
        return next(iter(self._bench.roster.programs.values()), None)

    def _registration(self, fingerprint: Fingerprint) -> dict[str, Any]:
        plan, settings = self._plan, self._bench.settings
        explicit = {name: source for name, (source, _) in plan.explicit.items()}
        snapshots = bind_snapshots(plan.snapshots(), explicit, list(plan.corpora.values()))
        for name, (_, shown) in plan.explicit.items():
            if name in snapshots:
                snapshots[name]["source"] = shown
        return registration(
            samples=[source["sha256"] for source in plan.ordered_sources()],
            arms=[arm.label for arm in settings.arms],
            limit=settings.limit,
            max_samples=settings.max_samples,
            sample_ids=[entry.id for entry in self._in_file_order()],
            snapshot_latency=settings.snapshot_latency,
            alternate=settings.alternate,
            fingerprint=fingerprint,
            corpora=bind_corpora(plan.corpora),
            snapshots=snapshots,
        )

    def _in_file_order(self) -> list[Entry]:
        places = {source["sha256"]: place for place, source in enumerate(self._plan.ordered_sources())}
        return sorted(self._plan.entries.values(), key=lambda entry: (places[entry.source], entry.row))

    def _place(self) -> CapturePlace | None:
        if self._captured is None:
            return None
        files = [("the samples file", Path(path)) for path, _ in self._plan.places.values()]
        files += written(self._report)
        if self._sidecar is not None:
            files.append(("the registration", self._sidecar))
        sources = chain(self._plan.corpora.values(), (source for source, _ in self._plan.explicit.values()))
        trees = [Path(split_view(text.removeprefix("git:"))[0]) for text in sources if text[:5] != "dist:"]
        return CapturePlace.of(self._captured, files=files, trees=[tree.absolute() for tree in trees])

    def _planned(self) -> Sequence[Descriptor]:
        samples = [self._bench.pool.sample_of(self._plan, entry) for entry in self._plan.entries.values()]
        planned = capture_lines.plan(samples, snapshot_latency=self._bench.settings.snapshot_latency)
        calls = len(planned) // len(samples)
        for place, sample in enumerate(samples):
            self._due[sample.source, sample.row] = iter(planned[place * calls : (place + 1) * calls])
        return planned


def check_page(page: Path, inputs: Inputs) -> None:
    """Refuse a place of the page where writing it would harm another file, or where it cannot be written."""
    from pytest_retrieval.report.html.place import check_replaceable

    inputs.check("the HTML report", page, makes_folder=True)
    check_replaceable(page)
    check_writable(page, "the HTML report", makes_folder=True)
