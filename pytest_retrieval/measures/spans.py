"""Did the right lines come back? Ranks of expected answers among slots, and what follows from ranks.

A slot is a ranked file with the spans that the arm chose to show; an answer that is lines is had where one of
the spans shares a line with it, an answer that is a file where the path is the same (codesearch-bench's
protocol). Depth is 20 always: an answer that is not among 20 files counts as not found.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, log2

from pytest_retrieval.model import Gold, Slot

KS = (5, 10, 20)
DEPTH = 20
PER_FILE = (1, 2, 3)
TOKEN_SLOTS = 10  # the slots whose text is priced
CHARACTERS_PER_TOKEN = 4
TOKEN_ESTIMATOR = f"chars/{CHARACTERS_PER_TOKEN}"


@dataclass(frozen=True, slots=True)
class Quality:
    """Metrics over queries. ``zero_miss`` is the share with no answer among 20 files: lower is better."""

    queries: int
    recall: Mapping[int, float]
    mrr: float
    zero_miss: float


def answers(slot: Slot, gold: Gold) -> bool:
    """Whether ``slot`` has ``gold``: the same path, and where gold is lines, one line in common."""
    if slot.path != gold.path:
        return False
    if gold.start is None or gold.end is None:
        return True
    return any(max(start, gold.start) <= min(end, gold.end) for start, end in slot.spans)


def chunk_ranks(slots: Sequence[Slot], golds: Sequence[Gold]) -> tuple[int, ...]:
    """For each of ``golds`` the rank of the first slot that has it, from 1; 0 for one not among 20."""
    return tuple(_rank(answers(slot, gold) for slot in slots[:DEPTH]) for gold in golds)


def file_ranks(ranked: Sequence[str], paths: Collection[str]) -> tuple[int, ...]:
    """For each of ``paths`` its rank in ``ranked``, from 1; 0 for one not among 20."""
    return tuple(_rank(path == wanted for path in ranked[:DEPTH]) for wanted in paths)


def recall(ranks: Sequence[int], k: int) -> float:
    """The share of answers with a rank of at most ``k``."""
    return sum(0 < rank <= k for rank in ranks) / len(ranks)


def reciprocal_rank(ranks: Sequence[int]) -> float:
    """1 / the best rank, 0 where there is none."""
    best = min(filter(None, ranks), default=0)
    return 1 / best if best else 0.0


def zero_miss(ranks: Sequence[int]) -> float:
    """1 where no answer was found, else 0."""
    return float(not any(ranks))


def quality(queries: Sequence[Sequence[int]]) -> Quality:
    """The metrics over queries, each given by the ranks of its answers; zeros where there is no query."""
    return Quality(
        len(queries),
        {k: _mean([recall(ranks, k) for ranks in queries]) for k in KS},
        _mean([reciprocal_rank(ranks) for ranks in queries]),
        _mean([zero_miss(ranks) for ranks in queries]),
    )


def ndcg(ranks: Sequence[int], k: int = 10) -> float:
    """Normalised discounted cumulative gain at ``k`` by the ranks of the answers, as semble computes it.

    Binary; a place counts once, however many answers are there, and the ideal has one place per answer.
    """
    gain = fsum(1 / log2(rank + 1) for rank in sorted({rank for rank in ranks if 0 < rank <= k}))
    ideal = fsum(1 / log2(rank + 1) for rank in range(1, min(k, len(ranks)) + 1))
    return gain / ideal if ideal else 0.0


def graded(ranks: Sequence[int], wide: Mapping[int, Sequence[int]]) -> dict[str, float]:
    """The measures of one query by their names in reports; ``wide`` are the ranks by spans per file."""
    return {
        **{f"chunk_recall@{k}": recall(ranks, k) for k in KS},
        "chunk_mrr@20": reciprocal_rank(ranks),
        "chunk_zero_miss": zero_miss(ranks),
        "ndcg@10": ndcg(ranks),
        **{f"wide{count}_recall@10": recall(found, 10) for count, found in wide.items() if count > 1},
    }


def priced(slots: Mapping[int, Sequence[Slot]]) -> dict[str, float]:
    """What an answer of an arm that tells tokens costs, by spans per file, under its names in reports."""
    shown = {count: tokens_shown(found) or 0 for count, found in slots.items() if count in PER_FILE}
    return {"tokens@10" if count == 1 else f"wide{count}_tokens@10": shown[count] for count in shown}


def tokens_of(text: str) -> int:
    """The estimated tokens of ``text``: a quarter of its code points, rounded up."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def tokens_shown(slots: Sequence[Slot]) -> int | None:
    """The estimated tokens of what the first ten slots show; None where none of them tells."""
    known = [slot.tokens for slot in slots[:TOKEN_SLOTS]]
    told = [tokens for tokens in known if tokens is not None]
    return sum(told) if told or not known else None


def lines_text(text: str, start: int, end: int) -> str:
    """Lines ``start`` to ``end`` of ``text``, as far as there are such, without a final line feed."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return "\n".join(lines[start - 1 : end])


def spanless(slots: Sequence[Slot]) -> int:
    """How many slots have no span."""
    return sum(not slot.spans for slot in slots[:DEPTH])


def nearest_returned(slots: Sequence[Slot], gold: Gold) -> str | None:
    """The span nearest to ``gold`` that came back of its file, with its distance in lines, or None."""
    if gold.start is None or gold.end is None:
        return None
    found = [
        (max(start - gold.end, gold.start - end, 0), start, end)
        for slot in slots[:DEPTH]
        if slot.path == gold.path
        for start, end in slot.spans
    ]
    if not found:
        return None
    distance, start, end = min(found)
    return f"{gold.path}:{start}-{end} (+{distance})"


def _rank(hits: Iterator[bool]) -> int:
    return next((place for place, hit in enumerate(hits, 1) if hit), 0)


def _mean(values: Sequence[float]) -> float:
    return fsum(values) / len(values) if values else 0.0
