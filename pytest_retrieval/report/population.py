"""Of how many samples the merged ones are a choice, and what the samples files held beside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_retrieval.errors import ReportError
from pytest_retrieval.report.canonical import encode
from pytest_retrieval.report.stored import Key, StoredReport


@dataclass(frozen=True, slots=True)
class Totals:
    """The sums over all reports: ``sources`` in the order of a report, the rest as in ``selection``."""

    sources: Sequence[Mapping[str, Any]]
    of: int
    chosen: int
    skipped: Mapping[str, int]


@dataclass(slots=True)
class _Population:
    """What reports over one set of samples files say."""

    of: int
    skipped: Mapping[str, int]


class Populations:
    """The populations of the reports by their samples files."""

    def __init__(self) -> None:
        self._sources: dict[str, dict[str, Any]] = {}
        self._by_files: dict[frozenset[str], _Population] = {}
        self._chosen: set[Key] = set()

    def add(self, report: StoredReport, chosen: Iterable[Key]) -> None:
        """Note a report and the samples that were chosen for it."""
        for source in report.sources:
            known = self._sources.setdefault(source["sha256"], dict(source))
            self._sources[source["sha256"]] = _agreed(known, source, report)
        population = self._by_files.setdefault(report.digests, _Population(report.of, report.skipped))
        population.skipped = max(population.skipped, report.skipped, key=_most)
        population.of = max(population.of, report.of)
        self._chosen.update(chosen)

    def totals(self) -> Totals:
        """The sums over the reports so far.

        Reports over the same files chose from one population, the largest that one of them saw, and its
        skipped rows are those of the report that skipped most. Sets of files must be equal, nested or
        disjoint, else it cannot be told what was skipped, and ReportError is raised.
        """
        largest = [files for files in self._by_files if not any(files < other for other in self._by_files)]
        if sum(map(len, largest)) > len(self._sources):
            raise ReportError("cannot unite reports that share some samples files and not others")
        skipped: Counter[str] = Counter()
        of = 0
        for files in largest:
            skipped.update(self._by_files[files].skipped)
            chosen = sum(source in files for source, _, _ in self._chosen)
            inner = (population.of for other, population in self._by_files.items() if other <= files)
            of += max(chosen, *inner)
        sources = sorted(self._sources.values(), key=lambda source: (source["path"], source["sha256"]))
        return Totals(sources, of, len(self._chosen), dict(skipped))


def _most(skipped: Mapping[str, int]) -> tuple[int, list[tuple[str, int]]]:
    return sum(skipped.values()), sorted(skipped.items())


def _agreed(known: dict[str, Any], source: Mapping[str, Any], report: StoredReport) -> dict[str, Any]:
    """One samples file as two reports tell of it; one without a path only counts what it saw."""
    if not source["path"] or not known["path"]:
        told = known if known["path"] else source
        if told["path"]:
            return dict(told)
        return {**known, **{name: max(known[name], source[name]) for name in ("rows", "kept")}}
    for name in ("rows", "kept"):
        if known[name] != source[name]:
            raise ReportError(
                f"{report.path}: sources: {source['path']!a} has {source[name]} {name}, in the reports before"
                f" it {known[name]}"
            )
    return min(known, dict(source), key=encode)
