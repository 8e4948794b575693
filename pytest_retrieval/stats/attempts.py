"""Tasks that were tried several times: how likely one of some attempts succeeds."""

from __future__ import annotations

from math import comb


def pass_at(k: int, attempts: int, successes: int) -> float:
    """The probability that ``k`` of a task's ``attempts``, drawn without replacement, hold a success.

    The unbiased estimate ``1 - C(n - c, k) / C(n, k)`` of pass@k (Chen et al., Evaluating Large Language
    Models Trained on Code, 2021, equation 1). Raises ValueError unless ``1 <= k <= attempts`` and
    ``0 <= successes <= attempts``.
    """
    if not (1 <= k <= attempts and 0 <= successes <= attempts):
        raise ValueError(f"no pass@{k} of {successes} in {attempts}")
    return 1 - comb(attempts - successes, k) / comb(attempts, k)
