"""One pass over the details: sums for the charts, and the samples themselves, compressed for the browser."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any

from pytest_retrieval.report.html.packing import Packer
from pytest_retrieval.report.html.rows import Paths, row


class Gathered:
    """What the page needs of the details of a report about ``labels``; ``measure`` is that of the heat map.

    ``times`` are the milliseconds of each arm's answers without an error. ``repositories`` gives, by
    repository and arm, the sum of the measure and how many samples have it.
    """

    def __init__(self, labels: Sequence[str], limit: int, measure: str) -> None:
        self.labels = labels
        self.limit = limit
        self.explained = False
        self.times = {label: array("d") for label in labels}
        self.repositories: dict[str, dict[str, tuple[float, int]]] = {}
        self._measure = measure
        self._found = {label: [0.0] * limit for label in labels}
        self._with_gold = dict.fromkeys(labels, 0)
        self._reachable = [0.0] * limit
        self._reached = 0
        self._paths = Paths()
        self._packer = Packer()

    @classmethod
    def of(
        cls, details: Iterable[Mapping[str, Any]], labels: Sequence[str], limit: int, measure: str
    ) -> Gathered:
        """All of ``details``, gathered."""
        gathered = cls(labels, limit, measure)
        for detail in details:
            gathered.add(detail)
        return gathered

    def add(self, detail: Mapping[str, Any]) -> None:
        """Take in one sample."""
        self._packer.add(row(detail, self.labels, self._paths))
        self.explained = self.explained or "explain" in detail or "codesearch" in detail
        self._add_ceiling(detail)
        for label, answer in detail["arms"].items():
            self._add_curve(label, detail, answer)
            if "error" not in answer and answer.get("wall_ms"):
                self.times[label].append(answer["wall_ms"])
            value = detail["metrics"].get(label, {}).get(self._measure)
            if value is not None:
                arms = self.repositories.setdefault(detail["repo"], {})
                total, count = arms.get(label, (0.0, 0))
                arms[label] = total + value, count + 1

    def _add_ceiling(self, detail: Mapping[str, Any]) -> None:
        """A perfect ranker puts what can be ranked first; known where the snapshot was."""
        if "ceiling" not in detail:
            return
        gold = set(detail["gold"])
        self._reached += 1
        for place in range(min(self.limit, len(gold.difference(detail["gold_absent"], detail["given"])))):
            self._reachable[place] += 1 / len(gold)

    def _add_curve(self, label: str, detail: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
        """Recall at every k; an error found nothing, as in the report."""
        gold = set(detail["gold"])
        if not gold:
            return
        self._with_gold[label] += 1
        if "error" in answer:
            return
        found = self._found[label]
        for place, path in enumerate(dict.fromkeys(answer["ranked"][: self.limit])):
            if path in gold:
                found[place] += 1 / len(gold)

    def curve(self, label: str) -> list[float]:
        """Mean recall@k of an arm for k from 1 to the limit; empty without gold."""
        return _running(self._found[label], self._with_gold[label])

    def ceiling(self) -> list[float]:
        """The curve of a perfect ranker over the samples whose snapshot was opened; empty without any."""
        return _running(self._reachable, self._reached)

    def packed(self, facts: Mapping[str, Any]) -> str:
        """All samples with ``facts`` and the table of paths, for the page's script; once."""
        return self._packer.finished({**facts, "paths": self._paths.listed()})


def _running(found: Sequence[float], count: int) -> list[float]:
    """Means over ``count`` samples of what was found up to each place."""
    return [min(1.0, total / count) for total in accumulate(found)] if count else []
