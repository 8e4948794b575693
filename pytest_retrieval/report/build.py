"""Outcomes become the report: a head of summaries, and the details in the order of the samples.

The head is a plain mapping that tables and gates read. The details are kept as compressed bytes and leave
one by one, so that 20,000 samples never stand in memory as objects.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from pytest_retrieval import __version__
from pytest_retrieval.arms.pairs import default_pairs
from pytest_retrieval.errors import ReportError
from pytest_retrieval.report.canonical import PROFILE, encode
from pytest_retrieval.report.codesearch.searches import Searches
from pytest_retrieval.report.paired import Samples, compare_pairs
from pytest_retrieval.report.summaries import (
    POSITIVE,
    ArmColumns,
    Columns,
    Grouping,
    common_rows,
    summarise_group,
)

_REQUIRED = frozenset({"sources", "limit", "selection", "arms"})
_DEFAULTS: Mapping[str, Any] = {
    "kind": "bench",
    "protocol": "house",
    "version": __version__,
    "skipped": {},
    "snapshots": {},
    "gates": [],
    "environment": {},
}
_OPTIONAL = frozenset({"corvint", "measures", "pairs", "registration"})
_FASTEST = 1  # zlib level
_UNREACHED = ("gold_absent", "gold_cut")

Place = tuple[int, int, int, str]  # of a detail in the report: source, row, ordinal, id


@dataclass(frozen=True, slots=True)
class Report:
    """A built report: ``head`` is all of it but the details, which are packed in their order."""

    head: Mapping[str, Any]
    packed: Sequence[bytes]

    def with_gates(self, verdicts: Iterable[Mapping[str, Any]]) -> Report:
        """The same report with the verdicts of its gates."""
        return Report({**self.head, "gates": list(verdicts)}, self.packed)

    def details(self) -> Iterator[dict[str, Any]]:
        """The details in their order."""
        return (orjson.loads(zlib.decompress(packed)) for packed in self.packed)

    def chunks(self) -> Iterator[bytes]:
        """The canonical bytes of the whole report in pieces, without a line end."""
        separator = b"{"
        for key in sorted((*self.head, "details")):  # the keys are ASCII
            yield separator + encode(key) + b":"
            if key == "details":
                yield from self._detail_chunks()
            else:
                yield encode(self.head[key])
            separator = b","
        yield b"}"

    def _detail_chunks(self) -> Iterator[bytes]:
        yield b"["
        for number, packed in enumerate(self.packed):
            yield (b"," if number else b"") + zlib.decompress(packed)
        yield b"]"


def build(header: Mapping[str, Any], details: Iterable[Mapping[str, Any]]) -> Report:
    """The report of ``details``, whatever the order in which they come.

    ``header`` has ``sources`` (``{path, sha256, rows, kept}``, in the order of the report), ``limit``,
    ``selection`` (``{of, chosen, lost}``) and ``arms`` (label -> facts, in their order), and may have
    ``skipped``, ``snapshots`` (``repo@commit`` -> facts; may grow while ``details`` are drawn),
    ``environment``, ``gates``, ``pairs`` (``(A, B)`` of labels; by default those of ``default_pairs``),
    ``kind``, ``protocol``, ``registration``, ``measures`` (names of those that were asked for), ``corvint``
    (``{version, sha256}`` of the program that was asked) and ``version``. A detail is a sample's row as the
    grading loop describes it. Raises ReportError when the header lacks a key or has an unknown one, when a
    sample comes twice or names an arm or a source that the header does not have, and for a value that JSON
    does not hold.
    """
    if missing := _REQUIRED - set(header):
        raise ReportError(f"a report's header needs {', '.join(sorted(missing))}")
    if unknown := set(header) - _REQUIRED - set(_DEFAULTS) - _OPTIONAL:
        raise ReportError(f"a report's header has no {', '.join(sorted(unknown))}")
    gathered = _Gathered(header)
    for detail in details:
        gathered.add(detail)
    head = {**_DEFAULTS, **header, **gathered.sections(), "profile": PROFILE}
    head.pop("pairs", None)
    head["arm_order"] = list(header["arms"])
    return Report(head, gathered.packed())


class _Gathered:
    """Columns of everything that the summaries need, and the details as packed bytes."""

    def __init__(self, header: Mapping[str, Any]) -> None:
        self._header = header
        self._sources = {source["sha256"]: place for place, source in enumerate(header["sources"])}
        self._arms = {label: ArmColumns() for label in header["arms"]}
        self._grouping = Grouping()
        self._ceiling = Columns()
        self._unreached: dict[str, dict[str, int]] = {}
        self._packed: dict[Place, bytes] = {}
        self._judged: list[Mapping[str, Any]] = []
        self._crashed: list[Mapping[str, Any]] = []
        self._searches = Searches(header["arms"])
        self._searched = 0

    def add(self, detail: Mapping[str, Any]) -> None:
        """Take in one sample."""
        place = self._place(detail)
        self._packed[place] = zlib.compress(encode(detail), _FASTEST)
        sample = {name: detail[name] for name in ("source", "id", "ordinal")}
        if detail["status"] == "crashed":
            self._crashed.append({**sample, "why": "crashed"})
        else:
            self._judged.append(sample)
        self._searched += self._searches.add(place, detail)
        self._grouping.append(detail)
        self._ceiling.append(detail.get("ceiling", {}))
        for label, arm in self._arms.items():
            arm.append(detail["arms"].get(label), detail["metrics"].get(label, {}))
        counts = self._unreached.setdefault(
            f"{detail['repo']}@{detail['base_commit']}", dict.fromkeys(_UNREACHED, 0)
        )
        for name in _UNREACHED:
            counts[name] += len(detail[name])

    def packed(self) -> list[bytes]:
        """The packed details in the order of the report."""
        return [self._packed[place] for place in sorted(self._packed)]

    def sections(self) -> dict[str, Any]:
        """The parts of the report that come from the details."""
        groups = self._grouping.groups()
        common = common_rows(self._arms.values(), groups["all"])
        arms: dict[str, Any] = {}
        for label, arm in self._arms.items():
            summaries = {
                name: summarise_group(arm, rows, self._grouping, common) for name, rows in groups.items()
            }
            summaries["all"]["error_reasons"] = arm.error_reasons()
            arms[label] = {**self._header["arms"][label], "groups": summaries}
        pairs = self._header.get("pairs") or default_pairs(self._header["arms"])
        searches = self._searches.section(self._header.get("snapshots", {}), pairs)
        return {
            **({} if searches is None else {"codesearch": searches}),
            **({"kind": "codesearch"} if 0 < self._searched == len(self._packed) else {}),
            "arms": arms,
            "ceiling": {
                name: {"n": len(self._ceiling.values(POSITIVE, rows)), **self._ceiling.means(rows)}
                for name, rows in groups.items()
            },
            "latency": {label: arm.latency() for label, arm in self._arms.items()},
            "paired": self._paired(),
            "selection": self._selection(),
            "snapshots": self._snapshots(),
        }

    def _paired(self) -> dict[str, Any]:
        samples = Samples(
            lambda label, measure: self._arms[label].measures.column(measure),
            self._grouping.clusters,
            self._grouping.repositories,
        )
        pairs = self._header.get("pairs") or default_pairs(self._header["arms"])
        further = self._header.get("measures", ())
        return compare_pairs(pairs, self._grouping.paired_groups(), samples, further)

    def _snapshots(self) -> dict[str, Any]:
        """Facts and counts of every snapshot that a sample asked for."""
        facts = self._header.get("snapshots", {})
        return {name: {**facts.get(name, {}), **counts} for name, counts in self._unreached.items()}

    def _place(self, detail: Mapping[str, Any]) -> Place:
        sample = f"sample {detail['id']!r}"
        if detail["source"] not in self._sources:
            raise ReportError(f"{sample} comes from a samples file that the report does not list")
        if unknown := detail["arms"].keys() - self._arms.keys():
            raise ReportError(f"{sample} has the arm {min(unknown)!r}, which the report does not list")
        place = (self._sources[detail["source"]], detail["row"], detail["ordinal"], detail["id"])
        if place in self._packed:
            raise ReportError(f"{sample} (row {detail['row']}, ordinal {detail['ordinal']}) comes twice")
        return place

    def _selection(self) -> dict[str, Any]:
        """What was chosen, judged and lost; an answer beats a loss of the same sample."""
        judged = {self._identity(detail) for detail in self._judged}
        lost = {self._identity(item): item for item in self._header["selection"].get("lost", ())}
        for item in self._crashed:
            lost.setdefault(self._identity(item), item)
        return {
            **self._header["selection"],
            "judged": len(judged),
            "lost": [lost[identity] for identity in sorted(lost.keys() - judged)],
        }

    def _identity(self, item: Mapping[str, Any]) -> tuple[int, str, int]:
        return self._sources.get(item["source"], len(self._sources)), item["id"], item["ordinal"]
