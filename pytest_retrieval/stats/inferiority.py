"""Whether paired differences exclude a loss: what a no-regression gate is decided on.

The interval is that of ``stats.paired`` over the unit that it names, and the test is its randomisation test.
Two things keep small and sparse data from being believed:

- A loss that nobody saw may still be there. ``n`` samples of which none shows it leave room for a share of
  ``1 - 0.025 ** (1 / n)``: the Clopper-Pearson bound at zero events, about ``3.7 / n``, the rule of three at
  97.5 % (Hanley and Lippman-Hand, JAMA 249, 1983). The lower end lies at least so far below the mean, so a
  bootstrap whose resamples hold no loss, and the interval of equal differences, prove nothing by themselves.
  What one sample can lose is 1, as of every rate; of a count it is the largest value that either run has.
  The bound takes samples for independent, also where repositories are the unit: what a loss that falls on
  single repositories would do in others, no figure of these few can tell.
- Percentile intervals of few units are too narrow to fail a build alone: the randomisation test must agree,
  at 5 % of one side, that there is a loss at all, and under five units there is no verdict.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from pytest_retrieval.stats import paired
from pytest_retrieval.stats.clusters import ENOUGH, PLURALS
from pytest_retrieval.stats.rounding import half_away

Status = Literal["passed", "failed", "undecided"]

TWO_SIDED = 0.1  # the largest p of the two-sided test that agrees with a loss: 5 % of one side


def difference(
    new: ArrayLike,
    old: ArrayLike,
    clusters: Sequence[str | None],
    repositories: Sequence[str],
    stream_name: tuple[str, ...],
) -> dict[str, Any]:
    """What paired values of one measure say of ``new`` minus ``old``, over the unit that it names.

    ``n``, ``mean``, ``unit``, ``units`` (how many), ``low`` and ``high`` (absent for one unit), ``p``,
    ``wins``, ``losses``, ``ties``, and ``unseen``, the mean loss that so many samples may hide. All
    but the last are those of :func:`pytest_retrieval.stats.paired.compare` under the same stream name.
    """
    found = paired.over_units(new, old, clusters, repositories, stream_name)
    largest = max(1.0, *(float(np.max(np.abs(side))) for side in (new, old)))
    cluster = found.pop("cluster")
    ends = {name: cluster[name] for name in ("low", "high") if name in cluster}
    return {
        **found,
        "unit": cluster["unit"],
        "units": cluster["count"],
        **ends,
        "unseen": half_away(largest * unseen_share(found["n"])),
    }


def unseen_share(n: int) -> float:
    """The largest share of losses that ``n`` samples without one leave possible, at 97.5 %."""
    return 1.0 if n < 1 else float(1 - np.power(0.025, 1 / n))


def decide(found: Mapping[str, Any], margin: float) -> tuple[Status, str]:
    """Whether the difference ``found`` excludes a loss of more than ``margin``, and why.

    Passed: the lower end, at least ``unseen`` below the mean, is above minus the margin. Failed: the upper
    end is below it, and the randomisation test's two-sided p is at most 0.1. All else is undecided.
    """
    if "low" not in found or found["units"] < ENOUGH:
        units = f"{found['units']} {PLURALS[found['unit']]}"
        return "undecided", f"{units} are too few for a verdict, which takes {ENOUGH}"
    edge = -margin
    if min(found["low"], found["mean"] - found["unseen"]) > edge:
        return "passed", "the lower end is above minus the margin"
    if found["high"] < edge and found["p"] <= TWO_SIDED:
        return "failed", "the upper end is below minus the margin"
    return "undecided", _doubt(found, edge)


def _doubt(found: Mapping[str, Any], edge: float) -> str:
    tells = "more samples would tell"
    if found["high"] < edge:
        return f"the upper end is below minus the margin, but the randomisation test allows chance; {tells}"
    hidden = (
        f"{found['n']} may hide a loss of {found['unseen']:.3g}; more samples or a larger margin would tell"
    )
    if not found["wins"] + found["losses"]:
        return f"no sample differs, yet {hidden}"
    if found["low"] > edge:
        return f"the interval is above minus the margin, yet {hidden}"
    return f"minus the margin is inside the interval; {tells}"
