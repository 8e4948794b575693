"""Whether a claim is true, and whether its evidence stands in what the agent was given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_retrieval.model import NOT_APPLICABLE
from pytest_retrieval.trial.claims import Claim
from pytest_retrieval.trial.placement import Context
from pytest_retrieval.trial.values import CLAIM_KINDS, CONFIDENCES, normalise, trim

TRUE, FALSE, UNJUDGED, INVALID = "TRUE", "FALSE", "UNJUDGED", "INVALID"

Gold = Mapping[str, Sequence[str]]


def verdict(claim: Claim, gold: Gold) -> str:
    """``INVALID`` outside the grammar, ``UNJUDGED`` for a kind that ``gold`` lacks, else TRUE or FALSE.

    A kind with an empty list of true values makes every claim of it false.
    """
    if claim.kind not in CLAIM_KINDS or claim.confidence not in CONFIDENCES or not trim(claim.value):
        return INVALID
    if claim.kind not in gold:
        return UNJUDGED
    claimed = normalise(claim.kind, claim.value)
    return TRUE if any(claimed == normalise(claim.kind, true) for true in gold[claim.kind]) else FALSE


def grounded(evidence: str, context: Context) -> bool | str:
    """Whether the context holds the evidence as a whole, not as a part of another path; it scores nothing.

    ``NOT_APPLICABLE`` without a context; no evidence, and the word ``none``, are not grounded.
    """
    if not context.text:
        return NOT_APPLICABLE
    cited = trim(evidence)
    return bool(cited) and cited.lower() != "none" and context.holds(cited)


def judged(claim: Claim, gold: Gold, context: Context) -> dict[str, Any]:
    """A claim as a report has it."""
    return {
        "kind": claim.kind,
        "value": claim.value,
        "confidence": claim.confidence,
        "evidence": claim.evidence,
        "verdict": verdict(claim, gold),
        "grounded": grounded(claim.evidence, context),
    }
