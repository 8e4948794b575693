"""The report's section ``paired``: what the differences of two arms on the same samples say.

Groups are all, each task, each fold and each task within a fold, over the samples with gold; and each stratum
without gold, where ``selective_success`` is compared. Formulas and streams are those of ``stats.paired``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_retrieval.arms.pairs import pair_name
from pytest_retrieval.stats.holm import holm
from pytest_retrieval.stats.paired import compare
from pytest_retrieval.stats.rounding import half_away

MEASURES = ("recall@5", "recall@10", "recall@20", "mrr@k", "hit@k")
SELECTIVE = "selective_success"
NO_GOLD = ("stratum:natural_no_gold", "stratum:counterfactual_no_gold")

Rows = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Samples:
    """All samples of a run, in one order.

    ``column(label, measure)`` gives an arm's values, NaN where a sample has none; ``clusters`` are their
    cluster fields and ``repositories`` their repositories.
    """

    column: Callable[[str, str], NDArray[np.float64]]
    clusters: Sequence[str | None]
    repositories: Sequence[str]


def compare_pairs(
    pairs: Iterable[tuple[str, str]],
    groups: Mapping[str, Rows],
    samples: Samples,
    further: Sequence[str] = (),
) -> dict[str, Any]:
    """``group -> "A - B" -> measure -> figures``, each with ``p_holm`` over the family of its group.

    ``groups`` gives the samples of each group as places in the columns, ``further`` are measures to compare
    beside those of every report where samples have gold. A pair's figures are over the samples
    that both arms have the measure of; a group or pair without such samples is left out.
    """
    section: dict[str, Any] = {}
    named = list(pairs)
    for group, rows in groups.items():
        compared = {pair_name(pair): dict(_figures(pair, group, rows, samples, further)) for pair in named}
        if kept := {name: figures for name, figures in compared.items() if figures}:
            _adjust([found for figures in kept.values() for found in figures.values()])
            section[group] = kept
    return section


def _figures(
    pair: tuple[str, str], group: str, rows: Rows, samples: Samples, further: Sequence[str]
) -> Iterator[tuple[str, dict[str, Any]]]:
    for measure in (SELECTIVE,) if group in NO_GOLD else dict.fromkeys((*MEASURES, *further)):
        a, b = (samples.column(label, measure)[rows] for label in pair)
        both = ~(np.isnan(a) | np.isnan(b))
        if not both.any():
            continue
        places = rows[both].tolist()
        clusters = [samples.clusters[place] for place in places]
        repositories = [samples.repositories[place] for place in places]
        # Named by the sorted labels, so that A - B and B - A mirror each other exactly.
        yield measure, compare(a[both], b[both], clusters, repositories, (group, *sorted(pair), measure))


def _adjust(family: list[dict[str, Any]]) -> None:
    """Add Holm's adjusted p to every comparison of one group."""
    for figures, adjusted in zip(family, holm([figures["p"] for figures in family]), strict=True):
        figures["p_holm"] = half_away(adjusted)
