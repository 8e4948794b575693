"""The state of one process of a trial: task set, agent, contexts and repositories, each made when needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_retrieval import resources
from pytest_retrieval.errors import GateError, ReportError
from pytest_retrieval.plugin import options
from pytest_retrieval.plugin.arm_choice import program_path
from pytest_retrieval.plugin.markers import texts_of
from pytest_retrieval.plugin.offers import offered_arms
from pytest_retrieval.plugin.option_values import named_sources
from pytest_retrieval.plugin.trial.plan import KIND, TrialInputs, TrialPlan
from pytest_retrieval.plugin.trial.settings import CODEX, NAMES, TrialSettings, read_trial_settings
from pytest_retrieval.plugin.trial.shelf import Shelf
from pytest_retrieval.snapshots.sources import NamedSource, rebase

if TYPE_CHECKING:
    import pytest

    from pytest_retrieval.agents.agent import Agent
    from pytest_retrieval.gates.baseline import Baseline
    from pytest_retrieval.gates.rules import Rule
    from pytest_retrieval.plugin.session import BenchSession
    from pytest_retrieval.plugin.trial.budget import Budget
    from pytest_retrieval.trial.contexts import Contexts
    from pytest_retrieval.trial.manifest import Manifest, Task
    from pytest_retrieval.trial.run_task import Finished
    from pytest_retrieval.trial.workspace import Workspaces


@dataclass(frozen=True, slots=True)
class TrialCase:
    """A task as an item runs it: ``row`` is its place in the manifest."""

    task: Task
    row: int
    partition: str


class TrialSession:
    """See the module's text; ``bench`` has the settings and folders that all kinds of items share.

    ``key`` seals what processes of the run leave for each other.
    """

    def __init__(self, bench: BenchSession, key: str) -> None:
        self.bench = bench
        self._key = key
        self.config: pytest.Config = bench.config
        self.plan = TrialPlan()
        self.baseline: Baseline | None = None
        self._taken: set[int] = set()

    @cached_property
    def settings(self) -> TrialSettings:
        """The checked options that speak of trials alone."""
        return read_trial_settings(self.config)

    @cached_property
    def manifest(self) -> Manifest:
        """The task set of the session."""
        from pytest_retrieval.trial.manifest import load_manifest

        path = Path(self.inputs.tasks)
        return load_manifest(path, shown=self.bench.catalogs.shown(path))

    @cached_property
    def agent(self) -> Agent:
        """Who is asked; its program is there."""
        from pytest_retrieval.agents.agent import load_agent

        settings = self.settings
        named, base = settings.agent, settings.base
        if named is None and self.inputs.embedded:
            shipped = resources.embedded_agent()
            named, base = f"script:./{shipped.name}", shipped.parent
        return load_agent(
            named or CODEX,
            base,
            model=settings.model,
            effort=settings.effort,
            command=settings.agent_command,
        )

    @cached_property
    def contexts(self) -> Contexts:
        """What the arms supply."""
        from pytest_retrieval.trial.contexts import make_contexts

        return make_contexts(
            options.values(self.config, "arms"),
            limit=self.bench.settings.limit,
            timeout=self.settings.timeout,
            base=self.settings.base,
            corvint=program_path(self.config),
            aider_command=self.settings.aider_command,
            extra=offered_arms(self.config),
            prefixes=self.bench.settings.prefixes,
        )

    @cached_property
    def workspaces(self) -> Workspaces:
        """Where the repositories of tasks are found."""
        from pytest_retrieval.snapshots.catalog import Catalog
        from pytest_retrieval.trial.workspace import Workspaces

        inputs, scratch, store = self.inputs, self.bench.scratch, self.bench.store
        explicit = {f"{repo}@{commit}": source for repo, commit, source in inputs.snapshots}
        catalog = Catalog(explicit, inputs.corpora, scratch, store) if explicit or inputs.corpora else None
        history = None if inputs.history is None else Path(inputs.history)
        return Workspaces(scratch, catalog=catalog, history=history, store=store, base=self.settings.base)

    @cached_property
    def shelf(self) -> Shelf:
        """Prepared tasks, where all processes of the run find them."""
        return Shelf(self.bench.scratch / "trial", self._key)

    @cached_property
    def budget(self) -> Budget | None:
        """What the run may cost, if that was said."""
        settings = self.settings
        if settings.budget is None or settings.prices is None:
            return None
        from pytest_retrieval.plugin.trial.budget import Budget

        return Budget(self.bench.scratch / "budget", settings.budget, settings.prices, self.shelf)

    def check(self) -> None:
        """Check the options that were typed, and load what they name, before anything is collected."""
        if not any(options.from_command_line(self.config, name) for name in NAMES):
            return
        settings = self.settings
        if settings.tasks is not None:
            self.plan.inputs = self._named(settings.tasks, (), (), None, embedded=False)
            _ = self.manifest, self.agent, self.contexts
            self.plan.inputs = None  # suites may know more places of repositories

    def suite(self, arguments: Mapping[str, Any], folder: Path) -> list[TrialCase]:
        """The cases of a marker ``retrieval_trial(...)`` on a test function whose file lies in ``folder``.

        A task is run once in a session, by the first suite that has it.
        """
        inputs = self._chosen(arguments, folder)
        if inputs is None:
            return []
        self.plan.take(inputs)
        rows = [row for row in range(len(self.manifest.tasks)) if row not in self._taken]
        self._taken.update(rows)
        self.plan.of += len(rows)
        partition = self.manifest.partition
        return [TrialCase(self.manifest.tasks[row], row, partition) for row in rows]

    def adopt(self, plan: TrialPlan) -> None:
        """Take on the plan that was collected, here or by a worker."""
        self.plan = plan
        if len(self.manifest.tasks) <= max(plan.entries.values()):
            raise ReportError(f"{self.manifest.path}: changed while it was collected")

    def pairs(self) -> list[tuple[str, str]]:
        """The pairs of arms that were asked for."""
        labels = set(self.contexts.labels)
        return [pair for pair in self.bench.settings.asked_pairs if set(pair) <= labels]

    def gates(self) -> list[Rule]:
        """The gates that speak of what agents claim."""
        found = []
        for rule in self.bench.settings.rules:
            try:
                self.check_gate(rule)
            except GateError:
                continue
            found.append(rule)
        return found

    def check_gate(self, rule: Rule) -> None:
        """Raise GateError for a gate that does not speak of this trial."""
        from pytest_retrieval.gates.names import check

        groups = ["all", *sorted({f"kind:{task.kind}" for task in self.manifest.tasks})]
        limit = self.bench.settings.limit
        check(rule.gate, arms=self.contexts.labels, groups=groups, limit=limit, trial=True)

    def check_baseline(self, report: Path, header: Mapping[str, Any]) -> None:
        """Read the baseline; refuse one that a trial with this ``header`` cannot be compared with."""
        if not (rules := self.gates()):
            return
        from pytest_retrieval.gates.baseline import check_comparable

        self.baseline = self.bench.settings.comparing.load(rules, report)
        if self.baseline is not None and self.baseline.head["kind"] == KIND:
            check_comparable(self.baseline, {**header, "kind": KIND, "sources": self.sources})

    @property
    def sources(self) -> list[dict[str, Any]]:
        """The task set as a report lists it."""
        manifest, kept = self.manifest, len(set(self.plan.entries.values()))
        told = {"path": manifest.path, "sha256": manifest.sha256}
        return [{**told, "rows": len(manifest.tasks), "kept": kept}]

    def measure(self, case: TrialCase, finished: Finished) -> dict[str, Any]:
        """Run the agent for every arm of a task, and give back its row of the report, scored.

        ``finished`` is told of every invocation that was made.
        """
        from pytest_retrieval.trial.prepare import describe, restore
        from pytest_retrieval.trial.run_task import run_task
        from pytest_retrieval.trial.scoring import score_detail

        settings = self.settings
        prepared = self.shelf.prepared(case.row)
        arms = {label: prepared.arms[label] for label in self.contexts.labels}  # asked in this order
        detail = describe(case.row, case.task, self.manifest.sha256) | {"arms": arms}
        with self._watched(finished) as (may_start, ended):
            done = run_task(
                restore(case.task, detail, self.contexts, settings.access),
                self.agent,
                access=settings.access,
                timeout=settings.timeout,
                scratch=self.bench.scratch,
                repeats=settings.repeats,
                workspaces=self.workspaces,
                contexts=self.contexts,
                known=prepared.known_or(may_start),
                finished=ended,
            )
        return score_detail(done)

    @contextmanager
    def _watched(self, finished: Finished) -> Iterator[tuple[Callable[[], bool], Finished]]:
        """Whether an invocation may be started, and whom to tell of its end: the budget, too, if any."""
        budget = self.budget
        if budget is None:
            yield (lambda: True), finished
            return

        def ended(label: str, repeat: int, record: dict[str, Any]) -> None:
            budget.settle(record)
            finished(label, repeat, record)

        try:
            yield budget.may_start, ended
        finally:
            budget.give_up()

    def close(self) -> None:
        """Close what contexts hold."""
        if "contexts" in self.__dict__:
            self.contexts.close()

    @property
    def inputs(self) -> TrialInputs:
        """Where the tasks of the session come from."""
        assert self.plan.inputs is not None
        return self.plan.inputs

    def _chosen(self, arguments: Mapping[str, Any], folder: Path) -> TrialInputs | None:
        """What a suite draws from: the option's task set before the marker's before the embedded one.

        The embedded one is not run beside samples of other kinds that were asked for.
        """
        settings, shared = self.settings, self.bench.settings
        corpora = tuple(rebase(text, folder) for text in texts_of(arguments, "corpus"))
        named = named_sources(texts_of(arguments, "snapshot"), folder)
        history = next((folder / text for text in texts_of(arguments, "history")), None)
        tasks = settings.tasks or next((folder / text for text in texts_of(arguments, "tasks")), None)
        if tasks is not None:
            return self._named(tasks, corpora, named, history, embedded=False)
        if shared.samples or shared.release or shared.search_corpora:
            return None
        embedded = resources.embedded_release() / "corpus"
        found = tuple(sorted(str(place) for place in embedded.iterdir()))
        return self._named(resources.embedded_tasks(), found, (), None, embedded=True)

    def _named(
        self,
        tasks: Path,
        corpora: tuple[str, ...],
        named: tuple[NamedSource, ...],
        history: Path | None,
        *,
        embedded: bool,
    ) -> TrialInputs:
        """The inputs of these and of the options, which come first."""
        shared = self.bench.settings
        sources = (*shared.snapshots, *named)
        clone = self.settings.history or history
        return TrialInputs(
            tasks=str(tasks.absolute()),
            corpora=tuple(dict.fromkeys((*shared.corpora, *corpora))),
            snapshots=tuple((source.repo, source.commit, source.source) for source in sources),
            history=None if clone is None else str(clone.absolute()),
            embedded=embedded,
        )
