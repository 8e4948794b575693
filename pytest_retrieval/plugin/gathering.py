"""What is gathered of samples that arms have ranked files for, and the report that it becomes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from importlib import import_module
from typing import TYPE_CHECKING, Any

import orjson

from pytest_retrieval import __version__
from pytest_retrieval.arms.pairs import default_pairs
from pytest_retrieval.errors import RetrievalError
from pytest_retrieval.plugin.harvest import ATTRIBUTE, Harvest
from pytest_retrieval.plugin.plan import Plan
from pytest_retrieval.report import canonical, journal, write
from pytest_retrieval.report.pieces import plural
from pytest_retrieval.report.place import partial_path

if TYPE_CHECKING:
    import pytest

    from pytest_retrieval.bench.judge import Outcome
    from pytest_retrieval.gates.rules import Rule
    from pytest_retrieval.plugin.places import Place
    from pytest_retrieval.plugin.records import Records
    from pytest_retrieval.plugin.session import BenchSession
    from pytest_retrieval.report.build import Report


def encode(outcome: Outcome) -> bytes:
    """The one encoding of an outcome: what travels, what is journalled, and what the report is made of."""
    snapshot = None if outcome.snapshot is None else dict(outcome.snapshot)
    return canonical.encode({"detail": dict(outcome.detail), "snapshot": snapshot})


class Gathering(Harvest):
    """The outcomes of the samples of ``plan``, which are of one kind."""

    def __init__(self, bench: BenchSession, plan: Plan, records: Records, place: Place) -> None:
        super().__init__(bench.config, place, plan.entries)
        self.bench = bench
        self.plan = plan
        self.records = records

    def own_notices(self) -> list[str]:
        """What the samples files and the arms had to say."""
        return [*self.plan.warnings(), *self.bench.notices()]

    def opening_lines(self) -> list[str]:
        """How many samples, snapshots and which arms."""
        plan, of = self.plan, self.plan.of.total()
        chosen = len(plan.chosen)
        samples = plural(chosen, "sample") if chosen == of else f"{chosen} of {of} samples"
        labels = ", ".join(arm.label for arm in self.bench.settings.arms)
        snapshots = plural(len(plan.snapshots()), "snapshot")
        return [f"retrieval: {samples}, {snapshots} to build, arms: {labels}"]

    def gates(self) -> Sequence[Rule]:
        """All that samples of this kind can be judged by."""
        from pytest_retrieval.plugin.comparing import fitting_gates

        return fitting_gates(self.bench, self.plan)

    def judged(self, report: Report, gates: Sequence[Rule]) -> Report:
        """The report with the verdicts of ``gates``, against the baseline if there is one."""
        if not gates:
            return report.with_gates(())
        from pytest_retrieval.gates.verdict import judge

        baseline = self.bench.baseline
        comparing = self.bench.settings.comparing
        found = judge(report.head, gates, details=report.details, baseline=baseline, comparing=comparing)
        return report.with_gates(verdict.record() for verdict in found)

    def also_write(self, report: Report) -> None:
        """Write the page, if one was asked for."""
        self.write_page(self.bench.settings.html, report)

    @property
    def void(self) -> str | None:
        """Why the answers of an arm may not be published."""
        return self.bench.void

    def journal_header(self) -> Mapping[str, Any]:
        """Which version wrote it."""
        return {"version": __version__}

    def opened(self) -> journal.Journal:
        """The journal, begun at the first outcome."""
        if self._journal is None:
            super().opened()
            # Early, while the workers are busy: what makes the report takes a tenth of a second to import.
            import_module("pytest_retrieval.report.build")
        return super().opened()

    def salvage(self) -> str:
        """Where the outcomes of a run without a report are; matched calls have a file of their own."""
        if not self.bench.settings.snapshot_latency or not self.attempts.answered:
            return self.whereabouts()
        partial = partial_path(self.place.report)
        write.write_report(partial, self.judged(self.built(), self.gates()).chunks())
        self.opened().publish()
        return f"; the {plural(len(self.attempts.answered), 'good pair')} before it in {partial}"

    def built(self) -> Report:
        """The report without gates."""
        from pytest_retrieval.report.build import build

        facts: dict[str, Any] = {}
        self._faulty = 0
        return build(self._header(facts), self._details(facts))

    def confirm(self) -> None:
        """Look again at what the registration binds."""
        self.records.confirm()

    def lines(self, width: int, path: str | None) -> Iterator[Sequence[tuple[str, str]]]:
        """The table, and engines side by side if code was searched."""
        from pytest_retrieval.report import table
        from pytest_retrieval.report.codesearch import scoreboard

        if self.summary is None:
            return
        yield from table.render(self.summary, width, path)
        if searched := scoreboard.of_report(self.summary, width):
            yield from ([(line, "")] for line in ("", *searched))
        yield from self.page_lines()

    def close(self) -> None:
        """Leave the capture as it is."""
        self.records.close()

    def _details(self, facts: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Every detail; facts of snapshots are collected on the way, samples of dead workers are faults."""
        for nodeid, payload in zip(self.attempts.answered, self.opened().outcomes(), strict=True):
            outcome = orjson.loads(payload)
            detail: dict[str, Any] = outcome["detail"]
            if outcome["snapshot"] is not None:
                facts[f"{detail['repo']}@{detail['base_commit']}"] = outcome["snapshot"]
            if (tries := self.attempts.tries(nodeid)) > 1:
                detail["attempts"] = tries
            self._faulty += detail["status"] != "measured"
            yield detail
        yield from self._crashed()

    def _crashed(self) -> Iterator[dict[str, Any]]:
        """The details of the samples whose worker died."""
        for nodeid in self.attempts.died():
            self._faulty += 1
            entry = self.plan.entries[nodeid]
            try:
                sample = self.bench.pool.sample_of(self.plan, entry)
            except RetrievalError as error:
                self.troubles.append(f"sample {entry.id} was lost with its worker, and has no row: {error}")
                continue
            lost = self.bench.judge.lost(sample, "the worker died while it ran this sample", status="crashed")
            again = {"attempts": tries} if (tries := self.attempts.tries(nodeid)) > 1 else {}
            yield {**lost.detail, **again}

    def _header(self, facts: Mapping[str, Any]) -> dict[str, Any]:
        plan = self.plan
        measures = [measure.name for measure in self.bench.settings.measures]
        return {
            "version": __version__,
            "limit": self.bench.settings.limit,
            "sources": plan.ordered_sources(),
            "skipped": dict(plan.skipped[self.place.kind]),
            "selection": {"of": plan.of.total(), "chosen": len(plan.chosen), "lost": self._lost()},
            "arms": self.bench.roster.facts,
            "pairs": self._pairs(),
            **({"measures": measures} if measures else {}),
            "snapshots": facts,
            "environment": self.environment(),
            "registration": self.records.section,
            **{name: asdict(program.identity) for name, program in self.bench.roster.programs.items()},
        }

    def _pairs(self) -> list[tuple[str, str]]:
        """The pairs that were asked for, else the default ones, and those that gates need."""
        settings = self.bench.settings
        asked = settings.pairs or default_pairs(self.bench.roster.facts)
        needed = [(gate.arm, gate.against) for gate in settings.gates if gate.against]
        return list(dict.fromkeys([*asked, *needed]))

    def _lost(self) -> list[dict[str, Any]]:
        """The chosen samples without an answer, each with why."""
        return [
            {"source": entry.source, "id": entry.id, "ordinal": entry.ordinal, "why": why}
            for nodeid, why in self.attempts.lost()
            for entry in [self.plan.entries[nodeid]]
        ]


def attach(report: pytest.TestReport, outcome: Outcome) -> None:
    """Put an outcome on its item's call report, as bytes: the one form that every transport takes."""
    setattr(report, ATTRIBUTE, encode(outcome))
