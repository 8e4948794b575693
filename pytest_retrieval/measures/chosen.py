"""Measures that a run is asked for beside those that every report has: by name, or a user's own.

Names are those of ir_measures (``nDCG@10 RR Success@5 AP Rprec``) or of reports (``ndcg@10``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from pytest_retrieval.errors import ArmError, UsageError
from pytest_retrieval.measures import ranking, spans, trec
from pytest_retrieval.measures.names import CUT, OF_PATCHES, OF_SEARCH, canonical, cut_of, known_measures

OwnMeasure = Callable[[Sequence[str], Collection[str]], float]
LARGEST = 50  # a rate, or a count of at most as many paths as an answer has

_FAMILIES: Mapping[str, Callable[[Sequence[str], Collection[str], int], float]] = {
    "recall": ranking.recall,
    "mrr": ranking.reciprocal_rank,
    "precision": ranking.precision,
    "f1": ranking.f1,
    "f05": ranking.f_half,
    "hit": ranking.hit,
    "full": ranking.full,
    "p": trec.precision,
    "rprec": trec.r_precision,
    "ap": trec.average_precision,
    "ndcg": trec.ndcg,
}
_OWN = re.compile(r"[a-z][a-z0-9_]*", re.ASCII)
_WORD = re.compile(r"[^\s,]+")


@dataclass(frozen=True, slots=True)
class Chosen:
    """A measure by its name in reports; ``own`` is a user's function, None for one of this package."""

    name: str
    own: OwnMeasure | None = None

    def grade(self, ranked: Sequence[str], gold: Collection[str], limit: int) -> float:
        """Its value for a ranking of at most ``limit`` paths of a sample with gold.

        Raises ArmError, one line, where a user's function raises or returns no number of 0 to 50.
        """
        if self.own is None:
            family, cut = cut_of(self.name, limit)
            return _FAMILIES[family](ranked, gold, cut)
        try:
            value = self.own(tuple(ranked[:limit]), tuple(gold))
        except Exception as error:
            raise ArmError(f"measure {self.name}: {type(error).__name__}: {error}".rstrip(": ")) from error
        return _checked(self.name, value)

    def of_lines(self, ranks: Sequence[int], limit: int) -> float | None:
        """Its value for a code search by the ranks of its answers, or None: it is one of files there, too."""
        family, cut = cut_of(self.name, limit) if self.own is None else ("", 0)
        return spans.ndcg(ranks, cut) if family == "ndcg" else None


def choose(
    texts: Iterable[str], limit: int, own: Mapping[str, OwnMeasure] | None = None
) -> tuple[Chosen, ...]:
    """The measures that ``texts`` name, separated by blanks or commas, without repeats.

    Those that are measured anyway are left out. ``own`` are a user's by the names under which they are
    offered; a report has them as ``NAME@k``. Raises UsageError, one line, for an unknown name.
    """
    offered = {f"{name}@k": function for name, function in (own or {}).items()}
    words = (word for text in texts for word in _WORD.findall(text))
    names = dict.fromkeys(canonical(word, limit, tuple(offered)) for word in words)
    always = set(known_measures(limit)).difference(OF_PATCHES, OF_SEARCH)
    return tuple(
        Chosen(name, offered.get(name))
        for name in names
        if name in offered or (name not in always and cut_of(name, limit)[0] in _FAMILIES)
    )


def stored(names: Iterable[str], limit: int) -> tuple[Chosen, ...]:
    """Those of a stored report's measures that can be computed again: all but users' own."""
    return tuple(Chosen(name) for name in names if cut_of(name, limit)[0] in _FAMILIES)


def check_own(offered: Mapping[str, Any]) -> dict[str, OwnMeasure]:
    """What a conftest offers, if every name and function can be taken; raises UsageError, one line."""
    for name, function in offered.items():
        if not isinstance(name, str) or not _OWN.fullmatch(name):
            raise UsageError(
                f"pytest_retrieval_measures: {name!r} is no name of a measure; write a to z, digits and _"
            )
        if name in CUT or name in {known.partition("@")[0] for known in known_measures(LARGEST)}:
            raise UsageError(f"pytest_retrieval_measures: {name} is a measure of this package; rename it")
        if not callable(function):
            raise UsageError(f"pytest_retrieval_measures: {name} is not a function of ranking and gold")
    return dict(offered)


def _checked(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = -1.0
    if not isfinite(number) or not 0 <= number <= LARGEST:
        raise ArmError(f"measure {name}: must return a number of 0 to {LARGEST}, not {value!r:.60}")
    return number
