"""The measures by name: ours, and the spellings of ir_measures that mean the same.

``recall@5``, ``recall@10`` and ``recall@20`` carry their own cut; the measures that end in ``@k`` are
cut at the run's ``--limit``, whatever that is, so that reports of different limits keep their keys.
"""

from __future__ import annotations

from typing import NoReturn

from pytest_retrieval.errors import UsageError, closest

RECALL_CUTS = (5, 10, 20)
AT_LIMIT = ("mrr@k", "precision@k", "f1@k", "hit@k", "hard_negative_hits@k")
OF_PATCHES = ("full@k",)  # samples whose gold is a patch
SELECTIVE = ("abstained", "selective_success")
OF_SPANS = ("cb_file_coverage", "cb_file_precision", "cb_line_coverage", "cb_line_precision")  # ContextBench
OF_SEARCH = (  # lines that a code search shows; of chunk_zero_miss less is better
    *(f"chunk_recall@{cut}" for cut in RECALL_CUTS),
    "chunk_mrr@20",
    "chunk_zero_miss",
    "ndcg@10",
    "wide2_recall@10",
    "wide3_recall@10",
)

_ALIASES = {"r": "recall", "rr": "mrr", "p": "precision", "success": "hit"}


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


def recall_cuts(limit: int) -> tuple[int, ...]:
    """The cuts at which recall is measured when rankings are ``limit`` long."""
    return tuple(cut for cut in RECALL_CUTS if cut <= limit)


def canonical(text: str, limit: int) -> str:
    """The report's name of the measure that a user typed: ``R@10``, ``RR``, ``Success@20``, ``hit@k``.

    Case does not matter, and a cut at the limit may be written as ``k``, as its number, or for ``RR``
    and ``MRR`` not at all. Raises :class:`UsageError` with the closest name for anything else.
    """
    known = known_measures(limit)
    name, at, cut = text.strip().lower().partition("@")
    name = _ALIASES.get(name, name)
    if name == "recall" and cut == "k":
        cut = str(limit)
    elif f"{name}@k" in known and (cut == str(limit) or (name == "mrr" and not at)):
        at, cut = "@", "k"
    found = f"{name}{at}{cut}"
    return found if found in known else _refuse(text, found, limit)


def _refuse(text: str, found: str, limit: int) -> NoReturn:
    known = known_measures(limit)
    name = found.partition("@")[0]
    if f"{name}@k" in known:
        raise UsageError(f"measure {text!r}: {name} is measured at k = {limit} (--limit); write {name}@k")
    if name == "recall":
        cuts = ", ".join(map(str, RECALL_CUTS))
        raise UsageError(f"measure {text!r}: recall is measured at {cuts}, up to k = {limit} (--limit)")
    hint = closest(found, known) or closest(name, known)
    raise UsageError(f"unknown measure {text!r}{hint}; known are {', '.join(known)}")
