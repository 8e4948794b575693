"""What is gathered of tasks that agents were asked, and the report that it becomes."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from pytest_retrieval import __version__
from pytest_retrieval.plugin.harvest import Harvest
from pytest_retrieval.plugin.settings import Settings
from pytest_retrieval.plugin.trial.barrier import Barrier
from pytest_retrieval.plugin.trial.runs import (
    DONE_PAYLOAD,
    RESUMED,
    each_run,
    faults_of,
    identity_of,
    key_of,
    payload_of,
)
from pytest_retrieval.report.journal import previous_path
from pytest_retrieval.report.pieces import plural

if TYPE_CHECKING:
    from pytest_retrieval.gates.rules import Rule
    from pytest_retrieval.plugin.places import Place
    from pytest_retrieval.plugin.trial.session import TrialSession
    from pytest_retrieval.report.build import Report


class TrialGathering(Harvest):
    """The invocations of the tasks of a trial, which the ``barrier`` has prepared."""

    noun = "task"

    def __init__(self, trial: TrialSession, place: Place, barrier: Barrier) -> None:
        super().__init__(trial.config, place, trial.plan.entries)
        self.trial = trial
        self._barrier = barrier
        self.opened()  # a run that is ended within its first invocation can be taken up, too
        for (task, label, repeat), (digest, run) in barrier.known.items():
            self.opened().append(key_of(task, label, repeat), payload_of(task, label, repeat, digest, run))
            if trial.budget is not None and "reused_from" not in run:
                trial.budget.settle(run)

    def take(self, report: pytest.TestReport, payload: bytes | None) -> None:
        """Note what became of a task, or one invocation of it."""
        if payload is None:
            super().take(report, None)
            return
        if payload == DONE_PAYLOAD:
            self.attempts.note_answer(report)
            return
        self.attempts.note_worker(report)
        record = orjson.loads(payload)
        self.opened().append(key_of(record["task"], record["arm"], record["repeat"]), payload)

    def interrupt(self) -> None:
        """Say where the invocations of a run are that was interrupted, and how it is taken up."""
        super().interrupt()
        if self._journal is not None:
            self.interrupted = f"{self.interrupted}; --retrieval-resume takes them up"

    def prepare(self, settings: Settings) -> None:
        """Build the report; a run that was stopped by its budget does not pass."""
        super().prepare(settings)
        if (stopped := self.trial.shelf.stopped) is not None:
            lost = f"{len(list(self.attempts.lost()))} of {plural(len(self.nodeids), 'task')} were lost"
            report = os.path.relpath(self.place.report, self.config.invocation_params.dir)
            self.troubles.append(f"{stopped}; {lost}; --reuse {report} with another --report goes on")

    def journal_header(self) -> Mapping[str, Any]:
        """Who is asked, and how: what a run that takes it up must have in common."""
        resumed = {RESUMED: True} if self.trial.settings.resume else {}
        return {"version": __version__, **identity_of(self._barrier.header), **resumed}

    def own_notices(self) -> list[str]:
        """What the agent's description has to say."""
        return [f"agent {self.trial.agent.kind}: {line}" for line in self.trial.agent.warnings]

    def opening_lines(self) -> list[str]:
        """How many tasks, arms and invocations."""
        chosen, of = len(self.nodeids), self.trial.plan.of
        tasks = plural(chosen, "task") if chosen == of else f"{chosen} of {of} tasks"
        made, known = sum(self._barrier.invocations.values()), len(self._barrier.known)
        again = f" ({known} more are known)" if known else ""
        labels = ", ".join(self.trial.contexts.labels)
        return [f"retrieval: {tasks} of partition {self.trial.manifest.partition}, arms: {labels}, "
                f"{plural(made, 'invocation')} of {self.trial.agent.kind}{again}"]  # fmt: skip

    def gates(self) -> Sequence[Rule]:
        """All that speak of what agents claim."""
        return self.trial.gates()

    def judged(self, report: Report, gates: Sequence[Rule]) -> Report:
        """The report with the verdicts of ``gates``, against the baseline if there is one."""
        from pytest_retrieval.gates.verdict import judge

        trial = self.trial
        comparing = trial.bench.settings.comparing
        found = judge(
            report.head, gates, details=report.details, baseline=trial.baseline, comparing=comparing
        )
        return report.with_gates(verdict.record() for verdict in found)

    def also_write(self, report: Report) -> None:
        """Write the page, and take away the journal that this run has taken up to the end."""
        if self.trial.settings.resume and self._journal is not None:
            previous_path(self._journal.path).unlink(missing_ok=True)
        self.write_page(self.trial.bench.settings.html, report)

    def built(self) -> Report:
        """The report without gates, the tasks in the order of the manifest."""
        from pytest_retrieval.trial.document import build

        report = build(self._header(), self._details())
        self._faulty = sum(bool(faults_of(detail)) for detail in report.details())
        return report

    def confirm(self) -> None:
        """Nothing is looked at again: agent and programs are known by their content from the start."""

    def lines(self, width: int, path: str | None) -> Iterator[Sequence[tuple[str, str]]]:
        """The table."""
        from pytest_retrieval.trial.table import render

        if self.summary is not None:
            yield from render(self.summary, width, path)
        yield from self.page_lines()

    def close(self) -> None:
        """Nothing is held open."""

    def _details(self) -> Iterator[dict[str, Any]]:
        """The row of every task that an invocation was made for; those that were not made are marked so."""
        from pytest_retrieval.agents.observe import unobserved

        for row in sorted(self._barrier.packed):
            detail = orjson.loads(zlib.decompress(self._barrier.packed[row]))
            runs: dict[str, list[Any]] = {label: [] for label in detail["arms"]}
            found = 0
            for label, repeat in each_run(detail["arms"], self.trial.settings.repeats):
                payload = self.opened().latest(key_of(detail["id"], label, repeat))
                found += payload is not None
                runs[label].append(unobserved() if payload is None else orjson.loads(payload)["run"])
            if found:
                arms = {label: {**entry, "runs": runs[label]} for label, entry in detail["arms"].items()}
                yield {**detail, "arms": arms}

    def _header(self) -> dict[str, Any]:
        from pytest_retrieval.trial.pairs import trial_pairs

        trial = self.trial
        asked = trial.pairs() or trial_pairs(self._barrier.header["arms"])
        needed = [(rule.arm, rule.against) for rule in self.gates() if rule.against]
        return {
            **self._barrier.header,
            "tasks": len(self._barrier.packed),
            "sources": trial.sources,
            "selection": {"of": trial.plan.of, "chosen": len(self.nodeids), "lost": self._lost()},
            "pairs": list(dict.fromkeys([*asked, *needed])),
            "environment": self.environment(),
        }

    def _lost(self) -> list[dict[str, Any]]:
        manifest, stopped = self.trial.manifest, self.trial.shelf.stopped
        return [
            {
                "source": manifest.sha256,
                "id": manifest.tasks[self.trial.plan.entries[nodeid]].id,
                "ordinal": 0,
                "why": "over the budget" if stopped and why.startswith("skipped") else why,
            }
            for nodeid, why in self.attempts.lost()
        ]
