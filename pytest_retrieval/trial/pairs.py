"""Two contexts over the same tasks: the section ``paired`` of a trial report.

The figures of every pair are those of any report (``stats.paired``: an interval over clusters, a
randomisation test, the smallest detectable difference); a rate's also have ``mcnemar_p``. A task counts with
the mean over its attempts. Controls, errors and tasks that one of two arms was not scored on are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_retrieval.arms.pairs import default_pairs, pair_name
from pytest_retrieval.report.trialfigures import MEANS, PAIRED
from pytest_retrieval.stats.holm import holm
from pytest_retrieval.stats.mcnemar import mcnemar
from pytest_retrieval.stats.paired import compare
from pytest_retrieval.stats.rounding import half_away
from pytest_retrieval.trial import summary
from pytest_retrieval.trial.attempts import Attempts

MEMORISATION = "memorisation"  # what the arm without context declares: it shows what the agent knows by heart

_METRICS = {**summary.RATES, **summary.MEANS}


@dataclass(frozen=True, slots=True)
class Compared:
    """One task of a comparison: each arm's figures, NaN-free, by label and name."""

    repo: str
    cluster: str | None
    groups: tuple[str, ...]
    figures: Mapping[str, Mapping[str, float]]


def trial_pairs(arms: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Every arm against the one without context, and the others as in any report."""
    without = [label for label, facts in arms.items() if facts.get(MEMORISATION)]
    others = {label: facts for label, facts in arms.items() if label not in without}
    return [(label, none) for none in without for label in others] + default_pairs(others)


def compared(detail: Mapping[str, Any], attempts: Mapping[str, Attempts]) -> Compared:
    """What a comparison takes from a task: ``attempts`` are its invocations by arm."""
    figures = {
        label: {name: mean for name in PAIRED if (mean := tried.mean(_METRICS[name])) is not None}
        for label, tried in attempts.items()
        if not tried.is_control
    }
    groups = tuple(name for name in summary.groups_of(detail) if not name.startswith("repo:"))
    return Compared(detail["repo"], detail.get("cluster"), groups, figures)


def compare_arms(pairs: Iterable[tuple[str, str]], tasks: Sequence[Compared]) -> dict[str, Any]:
    """``group -> "A - B" -> figure -> differences``, each with ``p_holm`` over the family of its group.

    ``tasks`` are in the order of the report. What has no task is left out.
    """
    named = list(pairs)
    section: dict[str, Any] = {}
    for group in dict.fromkeys(group for task in tasks for group in task.groups):
        members = [task for task in tasks if group in task.groups]
        found = {pair_name(pair): dict(_figures(pair, group, members)) for pair in named}
        if kept := {name: figures for name, figures in found.items() if figures}:
            _adjust([figures for pair in kept.values() for figures in pair.values()])
            section[group] = kept
    return section


def _figures(
    pair: tuple[str, str], group: str, tasks: Sequence[Compared]
) -> Iterator[tuple[str, dict[str, Any]]]:
    a, b = pair
    for name in PAIRED:
        both = [task for task in tasks if name in task.figures.get(a, ()) and name in task.figures.get(b, ())]
        if not both:
            continue
        figures = compare(
            [task.figures[a][name] for task in both],
            [task.figures[b][name] for task in both],
            [task.cluster for task in both],
            [task.repo for task in both],
            (group, *sorted(pair), name),  # so that A - B and B - A mirror each other exactly
        )
        if name not in MEANS:
            figures["mcnemar_p"] = half_away(mcnemar(figures["wins"], figures["losses"]))
        yield name, figures


def _adjust(family: Sequence[dict[str, Any]]) -> None:
    """Add Holm's adjusted p to every comparison of one group."""
    for figures, adjusted in zip(family, holm([figures["p"] for figures in family]), strict=True):
        figures["p_holm"] = half_away(adjusted)
