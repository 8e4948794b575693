"""Several reports over the same samples become one, as if it had been one run.

Samples are the same when the digest of their file, their id and their ordinal among equal ids are. A later
report's answer replaces an earlier one's of the same arm, and what the first report says of a sample stands
where another says otherwise; but for that, the order of the reports does not matter. (Reports of the
original's profile do not know the rows of their samples, which stand as they come.) Every measure is computed
again from the rankings, and every section is built anew; verdicts of gates are dropped, for they speak of a
part.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import orjson

from pytest_retrieval import __version__
from pytest_retrieval.datasets.folds import FOLD_MAP_SHA256, fold_of
from pytest_retrieval.errors import ReportError
from pytest_retrieval.report.agreement import Agreement
from pytest_retrieval.report.build import Report, build
from pytest_retrieval.report.canonical import encode
from pytest_retrieval.report.population import Populations
from pytest_retrieval.report.regrade import regrade
from pytest_retrieval.report.stored import Detail, Key, StoredReport, key_of, status_of

_FACTS = ("task_type", "repo", "base_commit", "stratum", "gold", "given")
_REACHED = ("ceiling", "gold_absent", "gold_cut")  # known only to a report that opened the snapshot
_FASTEST = 1  # zlib level


def merge(reports: Sequence[StoredReport], *, union: bool = False, measures: Sequence[str] = ()) -> Report:
    """One report of all samples and arms of ``reports``; ``measures`` are further ones to compute.

    ``union`` allows different samples files, as long as no id is in two of them. Raises ReportError, one line
    that names the file, when the reports differ in samples, limit, protocol, measured binary, version of an
    arm, tree of a snapshot or the facts of a sample, or when one report has a sample twice.
    """
    agreement = Agreement(reports[0], union=union)
    populations = Populations()
    samples = _Samples(union=union)
    for report in reports:
        agreement.take(report)
        populations.add(report, samples.take(report))
    header = _header(reports, agreement, populations, samples)
    longest_first = sorted((report.measures for report in reports), key=lambda asked: (-len(asked), *asked))
    if names := list(dict.fromkeys([*chain(*longest_first), *measures])):
        header["measures"] = names
    return build(header, samples.details(agreement.limit, names))


def _header(
    reports: Sequence[StoredReport], agreement: Agreement, populations: Populations, samples: _Samples
) -> dict[str, Any]:
    totals = populations.totals()
    environments = [environment for report in reports for environment in report.environments]
    contended = any(environment.get("contended") for environment in environments)
    return {
        "version": __version__,
        "protocol": agreement.protocol,
        "limit": agreement.limit,
        "sources": totals.sources,
        "skipped": totals.skipped,
        "selection": {"of": totals.of, "chosen": totals.chosen, "lost": samples.lost()},
        "arms": agreement.arms,
        "pairs": agreement.pairs(),
        "snapshots": agreement.snapshots,
        **({} if agreement.program is None else {"corvint": dict(agreement.program)}),
        "environment": {"contended": contended, "reports": environments},
        "registration": {
            "arms": sorted(agreement.arms),
            "corvint_sha256": agreement.binary,
            "fold_map_sha256": FOLD_MAP_SHA256,
            "samples_sha256": [source["sha256"] for source in totals.sources],
            "source_reports_sha256": [report.sha256 for report in reports],
        },
    }


class _Samples:
    """The samples of the reports taken so far by their keys, packed; and those that were lost."""

    def __init__(self, *, union: bool) -> None:
        self._union = union
        self._packed: dict[Key, bytes] = {}
        self._origin: dict[Key, str] = {}
        self._files_of: dict[str, set[str]] = {}
        self._last_row: dict[str, int] = {}
        self._lost: dict[Key, Mapping[str, Any]] = {}
        self._losers: dict[Key, set[str]] = {}

    def take(self, report: StoredReport) -> set[Key]:
        """Take in one more report; returns the samples that were chosen for it."""
        keys: set[Key] = set()
        for detail in report.details():
            key = key_of(detail)
            if key in keys:
                raise ReportError(f"{report.path}: sample {key[1]!a} (ordinal {key[2]}) comes twice")
            keys.add(key)
            self._check_union(key, report)
            self._take_detail(key, detail, report)
        for source, name, _ in keys:
            self._files_of.setdefault(name, set()).add(source)
        for item in report.lost:
            known = self._lost.get(key_of(item), item)
            self._lost[key_of(item)] = min(known, item, key=lambda lost: str(lost["why"]))
            self._losers.setdefault(key_of(item), set()).update(report.arms)
        chosen = keys.union(map(key_of, report.lost))
        if len(chosen) != report.chosen:
            raise ReportError(
                f"{report.path}: selection.chosen: {report.chosen} samples are said to be chosen, and"
                f" {len(chosen)} are judged or lost"
            )
        return chosen

    def lost(self) -> list[Mapping[str, Any]]:
        """What the reports lost; what was answered elsewhere is still among it."""
        return list(self._lost.values())

    def details(self, limit: int, measures: Sequence[str] = ()) -> Iterator[Detail]:
        """The merged details; samples of an unknown row follow the others of their file as they came."""
        last_row = dict(self._last_row)
        for key, packed in self._packed.items():
            detail = _unpack(packed)
            if detail["row"] is None:
                detail["row"] = last_row[key[0]] = last_row.get(key[0], -1) + 1
            if key in self._lost:
                _charge(detail, self._losers[key], self._lost[key]["why"])
            if detail.get("anchors"):
                detail["anchor_bearing"] = True
            yield regrade({**detail, "partition": fold_of(detail["repo"])}, limit, measures)

    def _check_union(self, key: Key, report: StoredReport) -> None:
        source, name, _ = key
        if self._union and source not in self._files_of.get(name, {source}):
            raise ReportError(
                f"{report.path}: the id {name!a} is also in another samples file; a union needs different ids"
            )

    def _take_detail(self, key: Key, detail: Detail, report: StoredReport) -> None:
        if key in self._packed:
            before = _unpack(self._packed[key])
            if differing := [name for name in _FACTS if before[name] != detail[name]]:
                raise ReportError(
                    f"{report.path}: sample {key[1]!a} (ordinal {key[2]}) has another {differing[0]} than in"
                    f" {self._origin[key]}"
                )
            detail = _joined(before, detail)
        else:
            self._origin[key] = str(report.path)
        if detail["row"] is not None:
            self._last_row[key[0]] = max(detail["row"], self._last_row.get(key[0], -1))
        self._packed[key] = zlib.compress(encode(detail), _FASTEST)


def _joined(before: Detail, after: Detail) -> Detail:
    """One sample of two reports: the first one's facts, all answers, the later one's of the same arm.

    An answer beats a crash whichever came first, and what a snapshot holds is known from who opened it.
    """
    crashed = {label for side in (before, after) for label in _crashes(side)}
    answered = {label for side in (before, after) for label in side["arms"].keys() - _crashes(side)}
    joined = {**after, **before, "arms": dict(before["arms"]), "metrics": dict(before["metrics"])}
    for label in after["arms"].keys() - (_crashes(after) & before["arms"].keys()):
        joined["arms"][label] = after["arms"][label]
        joined["metrics"][label] = after["metrics"].get(label, {})
    if "ceiling" not in before:
        joined.update((name, after[name]) for name in _REACHED if name in after)
    if "explain" in after and "gold" not in before.get("explain", {}):
        joined["explain"] = after["explain"]
    if "lines" in after:
        joined["lines"] = {**before.get("lines", {}), **after["lines"]}
    if "attempts" in joined:
        joined["attempts"] = max(side.get("attempts", 1) for side in (before, after))
    if before["row"] is None:
        joined["row"] = after["row"]
    joined["status"] = "crashed" if crashed - answered else status_of(joined["arms"])
    return joined


def _crashes(detail: Detail) -> set[str]:
    """The arms that have no answer because the sample was lost: errors without a time in a crashed sample."""
    if detail["status"] != "crashed":
        return set()
    return {
        label for label, answer in detail["arms"].items() if "error" in answer and "wall_ms" not in answer
    }


def _charge(detail: Detail, losers: set[str], why: str) -> None:
    """Give each arm that lost a sample, which other arms answered in another report, an error for it.

    The sample stays lost then, so that no gate passes on the strength of the other arms' answers.
    """
    for label in sorted(losers - detail["arms"].keys()):
        detail["arms"][label] = {
            "ranked": [],
            "abstained": False,
            "cache_state": "NOT_APPLICABLE",
            "error": why,
        }
        detail["status"] = "crashed"


def _unpack(packed: bytes) -> Detail:
    detail: Detail = orjson.loads(zlib.decompress(packed))
    return detail
