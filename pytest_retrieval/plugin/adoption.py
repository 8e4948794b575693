"""The controller takes on what was collected: checked as a whole, then begun, one gathering for each kind."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_retrieval.plugin.comparing import check_baseline
from pytest_retrieval.plugin.harvest import Harvest
from pytest_retrieval.plugin.kinds import check_kinds
from pytest_retrieval.plugin.places import Place, find_places
from pytest_retrieval.plugin.trial.plan import KIND
from pytest_retrieval.snapshots.scratch import sweep

if TYPE_CHECKING:
    from pytest_retrieval.plugin.plan import Plan
    from pytest_retrieval.plugin.session import BenchSession
    from pytest_retrieval.plugin.trial.plan import TrialPlan
    from pytest_retrieval.plugin.trial.session import TrialSession


def adopted(
    bench: BenchSession, trial: TrialSession | None, plan: Plan, trial_plan: TrialPlan
) -> list[Harvest] | str:
    """What gathers the items of each kind; or, where nothing is to be run, lines on what would be.

    Contexts are prepared here, behind one barrier: no agent starts before all of them are.

    Raises:
        RetrievalError: the run cannot begin.
    """
    if trial is not None:
        trial.adopt(trial_plan)
    check_kinds(bench, trial, plan)
    if plan.entries:
        check_baseline(bench, plan)
    _ = bench.scratch
    if plan.entries:
        bench.open()
    kinds = [*plan.kinds(), *([] if trial is None else [KIND])]
    places = {place.kind: place for place in find_places(bench.settings, bench.config, kinds)}
    sweep()
    dry = trial is not None and trial.settings.dry_run
    harvests: list[Harvest] = (
        [] if dry else [_of_samples(bench, plan.part(k), places[k]) for k in plan.kinds()]
    )
    if trial is None:
        return harvests
    return _with_trial(trial, places[KIND], harvests)


def _of_samples(bench: BenchSession, plan: Plan, place: Place) -> Harvest:
    """What gathers the samples of ``plan``, which are of one kind; its registration is written."""
    from pytest_retrieval.plugin.gathering import Gathering
    from pytest_retrieval.plugin.records import Records

    records = Records(bench, plan, place)
    records.open()
    bench.witnesses[place.kind] = records.witness
    return Gathering(bench, plan, records, place)


def _with_trial(trial: TrialSession, place: Place, harvests: list[Harvest]) -> list[Harvest] | str:
    from pytest_retrieval.plugin.trial.barrier import prepare_all
    from pytest_retrieval.plugin.trial.gathering import TrialGathering
    from pytest_retrieval.plugin.trial.records import register

    check_report(trial, place)
    barrier = prepare_all(trial, place.report)
    trial.check_baseline(place.report, barrier.header)
    if trial.settings.dry_run:
        return "\n".join(barrier.estimate())
    barrier.header["registration"] = register(trial, place, barrier.header)
    return [*harvests, TrialGathering(trial, place, barrier)]


def check_report(trial: TrialSession, place: Place) -> None:
    """Refuse a place of the report where it would go over what the trial reads."""
    from pytest_retrieval.report.binding import bound_places
    from pytest_retrieval.report.place import Inputs, check_place, written

    inputs, settings = trial.inputs, trial.settings
    files, trees = bound_places([source for _, _, source in inputs.snapshots], inputs.corpora)
    files.append(("the run manifest", Path(inputs.tasks)))
    files.append(("the agent's program", trial.agent.program))
    if settings.reuse is not None:
        files.append(("the report whose invocations are used again", settings.reuse))
    if inputs.history is not None:
        trees = [*trees, Path(inputs.history)]
    check_place(place.report, Inputs(files, trees), explicit=trial.bench.settings.report is not None)
    if (html := trial.bench.settings.html) is not None:
        from pytest_retrieval.plugin.records import check_page

        check_page(place.beside(html), Inputs([*files, *written(place.report)], trees))
