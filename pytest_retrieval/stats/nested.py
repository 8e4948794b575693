"""The interval of a rate over tasks that were each tried several times: repetitions nest in the task."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

from pytest_retrieval.stats.bootstrap import student_975
from pytest_retrieval.stats.wilson import Z, wilson


def nested_wilson(means: Sequence[float], trials: int) -> tuple[float, float]:
    """The 95 % interval of the mean of ``means``, one per task, over ``trials`` attempts in all.

    Wilson's interval at the effective size of a clustered sample (Korn and Graubard, Survey Methodology 24,
    1998; its coverage: Dean and Pagano, Survey Methodology 41, 2015): ``p (1 - p) / v``, times the square of
    the normal over Student's point, where ``v`` is the variance of the mean between tasks. The size lies
    between the number of tasks, for no mean of values within [0, 1] varies more than that, and ``trials``;
    with one attempt each it is Wilson's interval itself. Not rounded. Raises ValueError without tasks.
    """
    tasks = len(means)
    if tasks == 0:
        raise ValueError("no rate of nothing")
    rate = min(1.0, fsum(means) / tasks)
    size = _effective_size(means, rate, trials)
    return wilson(rate * size, size)


def _effective_size(means: Sequence[float], rate: float, trials: int) -> float:
    tasks = len(means)
    if tasks == 1 or not 0 < rate < 1:  # nothing is seen of how tasks vary
        return tasks
    variance = fsum((mean - rate) ** 2 for mean in means) / (tasks - 1) / tasks
    if variance == 0:
        return max(tasks, trials)
    shrunk = (Z / student_975(tasks - 1)) ** 2
    return min(max(tasks, trials), max(tasks, shrunk * rate * (1 - rate) / variance))
