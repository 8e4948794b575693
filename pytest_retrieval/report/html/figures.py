"""How numbers and names are written on the page, and which measure its charts are about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_retrieval.measures.names import recall_cuts
from pytest_retrieval.report.pieces import inflected

# Dash and minus as they are set in print, not look-alikes by mistake.
NOT_MEASURED = "–"  # noqa: RUF001  a dash in print

_SHORT = {
    "mrr@k": "MRR",
    "chunk_mrr@20": "line MRR",
    "chunk_zero_miss": "none@20",
    "selective_success": "selective success",
    "abstained": "abstained",
}


def primary_measure(head: Mapping[str, Any]) -> str:
    """The measure that charts of one measure show: that of lines for searches, recall, or silence."""
    limit = head["limit"]
    groups = [arm["groups"]["all"] for arm in head["arms"].values()]
    if head["kind"] == "codesearch":
        return "chunk_recall@10"
    if not any(group["positives"] for group in groups):
        return "selective_success"
    cuts = [cut for cut in recall_cuts(limit) if cut <= 10]
    return f"recall@{cuts[-1]}" if cuts else "hit@k"


def measure_name(measure: str, limit: int) -> str:
    """A measure as the page calls it: ``recall@10``, ``MRR``, ``hit@20``."""
    if measure in _SHORT:
        return _SHORT[measure]
    if measure.startswith("chunk_"):
        return measure.replace("chunk_recall", "line R")
    return measure.removesuffix("k") + str(limit) if measure.endswith("@k") else measure


def share(value: float | None) -> str:
    """A figure with three decimals."""
    return NOT_MEASURED if value is None else f"{value:.3f}"


def difference(value: float) -> str:
    """A difference with its sign; one of nothing has none."""
    text = f"{value:+.3f}"
    return text.replace("-", "−") if float(text) else "0.000"  # noqa: RUF001  a minus in print, as above


def milliseconds(value: float | None) -> str:
    """A time in the unit that suits it."""
    if value is None:
        return NOT_MEASURED
    if value >= 60_000:
        return f"{value / 60_000:.1f} min"
    if value >= 1_000:
        return f"{value / 1_000:.1f} s"
    return f"{value:.0f} ms" if value >= 100 else f"{value:.1f} ms" if value >= 0.1 else f"{value:.2f} ms"


def time_tick(value: float) -> str:
    """A round time."""
    return milliseconds(value).replace(".0 ", " ")


def shortened(text: str, letters: int) -> str:
    """``text`` where there is room for so many letters."""
    return text if len(text) <= letters else text[: letters - 1] + "…"


def plural(count: int, noun: str) -> str:
    """``1 sample``, ``2,000 samples``."""
    return f"{count:,} {inflected(count, noun)}"
