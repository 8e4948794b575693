"""Which two arms are compared, and how a pair is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_retrieval.errors import UsageError


def pair_name(pair: tuple[str, str]) -> str:
    """``"A - B"``: the difference of A over B."""
    return f"{pair[0]} - {pair[1]}"


def default_pairs(arms: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Every arm that is no baseline against every baseline; of baselines alone, each against the first.

    ``arms`` maps labels to what the arms declare; without any baseline, too, each goes against the first.
    """
    baselines = [label for label, facts in arms.items() if facts.get("baseline")]
    others = [label for label in arms if label not in baselines]
    if baselines and others:
        return [(other, baseline) for other in others for baseline in baselines]
    first, *rest = arms or [""]
    return [(label, first) for label in rest]


def parse_pair(text: str, labels: Sequence[str]) -> tuple[str, str]:
    """The pair ``A - B`` of two of ``labels``; the blanks are needed, for labels may hold a minus.

    Raises:
        UsageError: it is none.
    """
    for label in labels:
        first, minus, second = text.partition(" - ")
        if minus and first.strip() == label and second.strip() in labels and second.strip() != label:
            return label, second.strip()
    known = ", ".join(labels)
    raise UsageError(f"pair {text!r}: write 'A - B' with blanks around the minus, A and B of: {known}")
