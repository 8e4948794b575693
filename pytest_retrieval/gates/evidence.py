"""What a report and its baseline hold for gates; samples are drawn once, and only where a gate needs them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from pytest_retrieval.errors import UsageError
from pytest_retrieval.gates.baseline import Alignment, Baseline, align, check_comparable
from pytest_retrieval.gates.figures import Figure, has_figure, summary_figure, time_figure
from pytest_retrieval.gates.grammar import Condition, Gate
from pytest_retrieval.gates.loading import Comparing
from pytest_retrieval.gates.names import ERRORS
from pytest_retrieval.gates.samples import sample_figure
from pytest_retrieval.report.scores import TIMES, Floats, Scores, read_scores
from pytest_retrieval.stats.latency import distribution


class Evidence:
    """The figures of the report ``head``, and of the baseline on the samples that both have."""

    def __init__(
        self,
        head: Mapping[str, Any],
        details: Callable[[], Iterator[Mapping[str, Any]]] | None,
        baseline: Baseline | None,
        gates: Sequence[Condition],
        comparing: Comparing,
    ) -> None:
        self.head = head
        self.trial = head.get("kind") == "trial"
        self.baseline = baseline
        self._comparing = comparing
        self._details = details
        self._gates = [gate for gate in gates if self.needs_samples(gate)]

    def needs_samples(self, gate: Condition) -> bool:
        """Whether the summaries are not enough."""
        return gate.needs_baseline or (isinstance(gate, Gate) and not has_figure(self.head, gate))

    @cached_property
    def scores(self) -> Scores:
        """The samples of the report, as far as its gates need them."""
        labels = {label for gate in self._gates for label in (gate.arm, gate.against) if label}
        measures = {gate.measure for gate in self._gates}
        details = iter(()) if self._details is None else self._details()
        return read_scores(details, labels, measures, limit=self.head["limit"], trial=self.trial)

    @cached_property
    def _aligned(self) -> Alignment | str:
        """The common samples, or why the two reports are not comparable."""
        assert self.baseline is not None
        selection = self.head["selection"]
        try:
            check_comparable(self.baseline, self.head)
            return align(
                self.baseline, self.scores.samples, chosen_of_more=selection["chosen"] < selection["of"]
            )
        except UsageError as error:
            if self._comparing.refuses:
                raise
            return str(error)

    def no_baseline(self, gate: Condition) -> str | None:
        """Why the baseline says nothing of a gate, or None if it does."""
        if self.baseline is None:
            named = self._comparing.text
            return "no baseline was given (--baseline)" if named is None else f"there is no baseline {named}"
        labels = [label for label in (gate.arm, gate.against) if label]
        known = self.baseline.head["arms"]
        if absent := [label for label in labels if label not in known]:
            return f"baseline {self.baseline.shown} has no arm {absent[0]}"
        return self._aligned if isinstance(self._aligned, str) else None

    def may_be_missing(self, gate: Condition) -> bool:
        """Whether nothing is there to compare a gate with, and the run may pass without."""
        known = {} if self.baseline is None else self.baseline.head["arms"]
        missing = any(label not in known for label in (gate.arm, gate.against) if label)
        return missing and self._comparing.missing_passes

    def common(self, gate: Condition) -> Alignment:
        """The common samples of a gate's group."""
        assert isinstance(self._aligned, Alignment)
        return self._aligned.within(self.scores.rows(gate.group))

    def figures(self, gate: Gate) -> tuple[Figure, Figure | None]:
        """The figure of ``gate``, and the baseline's if it needs one."""
        if gate.needs_baseline:
            assert self.baseline is not None
            common = self.common(gate)
            new, old = self._beside(gate, common)
            ours = sample_figure(self.scores, gate, common.new, trial=self.trial, beside=old)
            return ours, sample_figure(self.baseline.scores, gate, common.old, trial=self.trial, beside=new)
        if self._details is None or has_figure(self.head, gate):
            return summary_figure(self.head, gate), None
        rows = self.scores.rows(gate.group)
        if gate.measure in TIMES and not self.trial:
            times = self.scores.values(gate.arm, gate.measure)[rows]
            return time_figure(self.head, gate, distribution(times[~np.isnan(times)].tolist())), None
        return sample_figure(self.scores, gate, rows, trial=self.trial), None

    def _beside(self, gate: Gate, common: Alignment) -> tuple[Floats | None, Floats | None]:
        """The values now and in the baseline, of an arm by itself."""
        assert self.baseline is not None
        if gate.against or gate.measure == ERRORS:
            return None, None
        sides = ((self.scores, common.new), (self.baseline.scores, common.old))
        new, old = (scores.values(gate.arm, gate.measure)[rows] for scores, rows in sides)
        return new, old

    def repositories(self, gate: Condition) -> int | None:
        """How many repositories the figure speaks of, as far as that is known without the samples."""
        if self._details is not None and self.needs_samples(gate):
            return len(set(self.scores.repositories(self.scores.rows(gate.group))))
        group = self.head["arms"][gate.arm]["groups"].get(gate.group, {})
        found: int | None = group.get("macro", {}).get("repositories")
        return found

    def baseline_record(self, gate: Condition, figure: float | None = None) -> dict[str, Any]:
        """What a verdict says of the baseline."""
        assert self.baseline is not None
        assert isinstance(self._aligned, Alignment)
        record = self.baseline.record(len(self._aligned.new))
        return record if figure is None else {**record, "got": figure}
