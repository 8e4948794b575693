"""McNemar's exact test of two rates over the same tasks (Q. McNemar, Psychometrika 12, 1947)."""

from __future__ import annotations


def mcnemar(wins: int, losses: int) -> float:
    """Two-sided p of "neither arm is better", given the tasks that only one of the two has right.

    The exact binomial form: ``wins`` of ``wins + losses`` at a half each. Of tasks with several attempts each
    it is the sign test on those whose rates differ. 1 where none differs. Raises ValueError below 0.
    """
    if min(wins, losses) < 0:
        raise ValueError(f"no test of {wins} against {losses}")
    discordant, fewer = wins + losses, min(wins, losses)
    ways = tail = 1  # to choose `count` of the discordant tasks, and up to `count`
    for count in range(1, fewer + 1):
        ways = ways * (discordant - count + 1) // count
        tail += ways
    return min(1.0, 2 * tail / (1 << discordant))
