"""What arms noticed while they read answers, counted over the queries of a corpus."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

_COUNTS = re.compile(r"\d+ [a-z][a-zA-Z -]*(, \d+ [a-z][a-zA-Z -]*)*", re.ASCII)


def notices(states: Iterable[str | None]) -> dict[str, int]:
    """The sums of states that are counts, such as ``2 unparsed lines, 1 bad spans``; others count nothing."""
    total: Counter[str] = Counter()
    for state in states:
        if state is not None and _COUNTS.fullmatch(state):
            for part in state.split(", "):
                count, _, what = part.partition(" ")
                total[what] += int(count)
    return dict(sorted(total.items()))
