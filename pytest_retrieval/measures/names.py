"""The measures by name: ours, and the spellings of ir_measures that mean the same.

``recall@5``, ``recall@10`` and ``recall@20`` carry their own cut; the measures that end in ``@k`` are
cut at the run's ``--limit``, whatever that is, so that reports of different limits keep their keys. Further
ones are measured where a run is asked for them (:mod:`pytest_retrieval.measures.chosen`).
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NoReturn

from pytest_retrieval.errors import UsageError, closest

RECALL_CUTS = (5, 10, 20)
AT_LIMIT = ("mrr@k", "precision@k", "f1@k", "hit@k", "hard_negative_hits@k")
OF_PATCHES = ("full@k",)  # samples whose gold is a patch
SELECTIVE = ("abstained", "selective_success")
OF_SPANS = ("cb_file_coverage", "cb_file_precision", "cb_line_coverage", "cb_line_precision")  # ContextBench
IN_TOKENS = ("tokens@10", "wide2_tokens@10", "wide3_tokens@10")  # what an answer costs; an error has none
OF_SEARCH = (  # lines that a code search shows; of chunk_zero_miss and of tokens less is better
    *(f"chunk_recall@{cut}" for cut in RECALL_CUTS),
    "chunk_mrr@20",
    "chunk_zero_miss",
    "ndcg@10",
    "wide2_recall@10",
    "wide3_recall@10",
    *IN_TOKENS,
)

# What may be asked for, at any cut up to the limit. ``p`` is trec_eval's precision, which divides by the cut;
# ``precision`` divides by what was answered.
CUT = frozenset(("recall", "mrr", "precision", "f1", "f05", "hit", "full", "p", "rprec", "ap", "ndcg"))
WHOLE = frozenset(("rprec",))  # no cut but the limit

_ALIASES = {
    "r": "recall",
    "rr": "mrr",
    "success": "hit",
    "map": "ap",
    "f0.5": "f05",
    "setp": "precision",
    "setf": "f1",
}
_NUMBER = re.compile(r"[1-9][0-9]*")


def known_measures(limit: int) -> tuple[str, ...]:
    """Every measure that a sample can have in a run with this ``--limit``, in the order of tables."""
    return (
        *(f"recall@{cut}" for cut in recall_cuts(limit)),
        *AT_LIMIT,
        *OF_PATCHES,
        *SELECTIVE,
        *OF_SPANS,
        *OF_SEARCH,
    )


def is_own(name: str) -> bool:
    """Whether a report's measure is a user's own, of which nobody knows which way is better."""
    return "@" in name and name.partition("@")[0] not in CUT and name not in known_measures(1)


def recall_cuts(limit: int) -> tuple[int, ...]:
    """The cuts at which recall is measured when rankings are ``limit`` long."""
    return tuple(cut for cut in RECALL_CUTS if cut <= limit)


def cut_of(name: str, limit: int) -> tuple[str, int]:
    """Family and cut of a canonical name: ``ndcg@10`` is cut at 10, ``ap@k`` at the limit."""
    family, _, cut = name.partition("@")
    return family, limit if cut in ("", "k") else int(cut)


def canonical(text: str, limit: int, own: Collection[str] = ()) -> str:
    """The report's name of the measure that a user typed: ``R@10``, ``RR``, ``nDCG@10``, ``hit@k``.

    Case does not matter. A measure of every report that is cut at the limit may be written with ``k``, with
    the limit's number or, as all that may be asked for, without a cut. ``own`` are the names of a user's own
    measures, ``NAME@k``. Raises :class:`UsageError` with the closest name for anything else.
    """
    known = known_measures(limit)
    name, at, cut = text.strip().lower().partition("@")
    name = _ALIASES.get(name, name)
    if f"{name}@k" in own and cut in ("", "k"):
        return f"{name}@k"
    if name == "recall":
        cut = str(limit) if cut == "k" else cut
    elif name in CUT and (not at or (cut == str(limit) and (f"{name}@k" in known or name in WHOLE))):
        at, cut = "@", "k"
    found = f"{name}{at}{cut}"
    if found in known or (name in CUT and _is_cut(name, cut, limit)):
        return found
    return _refuse(text, found, limit, own)


def _is_cut(name: str, cut: str, limit: int) -> bool:
    if name in WHOLE or cut == "k":
        return cut == "k" and name != "recall"
    return _NUMBER.fullmatch(cut) is not None and int(cut) <= limit


def _refuse(text: str, found: str, limit: int, own: Collection[str]) -> NoReturn:
    name, at, cut = found.partition("@")
    if name in WHOLE:
        raise UsageError(f"measure {text!r}: {name} has no cut but k = {limit} (--limit); write {name}@k")
    if name in CUT and at:
        what = f"goes up to k = {limit} (--limit)" if cut.isdigit() else "must be cut at a whole number"
        raise UsageError(f"measure {text!r}: {name} {what}")
    if name == "recall":
        cuts = ", ".join(map(str, RECALL_CUTS))
        raise UsageError(f"measure {text!r}: recall is measured at {cuts}, up to k = {limit} (--limit)")
    further = [*own, *(f"{family}@k" for family in sorted(CUT - {"recall"}))]
    names = list(dict.fromkeys([*known_measures(limit), *further]))
    hint = closest(found, names) or closest(name, names)
    raise UsageError(f"unknown measure {text!r}{hint}; known are {', '.join(names)}")
