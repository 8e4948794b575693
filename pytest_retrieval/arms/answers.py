"""The border of an arm: what it answered becomes a row of the report, or one line that says why not.

An arm is anybody's code. What passes here is a ranking of distinct paths without the given ones, at most k
long, with finite numbers of Python's own types; whatever came in, what follows need not check again.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import replace
from itertools import islice
from numbers import Integral, Real
from typing import Any

from pytest_retrieval.arms.base import Arm, Ranking
from pytest_retrieval.errors import ArmError
from pytest_retrieval.model import Answer, ArmRow, Hit, Query
from pytest_retrieval.snapshots.base import Snapshot

MAX_ROWS = 1_000_000  # of one answer: nobody ranks more, and an endless generator must end
EXACT = 2**53  # whole numbers up to here are the same in every JSON reader

_WANTED = "an Answer, or an ordered iterable of paths, Hits or (path, score) pairs"


def settle(
    ranking: Ranking, query: Query, snapshot: Snapshot, *, unlabelled: str = Arm.cache_state
) -> ArmRow:
    """The row of ``ranking``: distinct, then without ``query.given``, then cut at ``query.limit``.

    The arm abstained when it says so or nothing is left. A refusal answers nothing and abstains from nothing.
    ``unknown`` counts the ranked paths that ``snapshot`` does not hold. ``unlabelled`` is the cache state of
    an answer that tells none.

    Raises:
        ArmError: the answer is no ranking: of the wrong type, unordered, endless, or with a row whose path,
            score or lines cannot be.
    """
    answer = ranking if isinstance(ranking, Answer) else Answer(hits=_listed(ranking))
    row = ArmRow(
        state=_text(answer.state, "state"),
        packet_bytes=_size(answer.packet_bytes, "packet_bytes"),
        cache_state=_text(answer.cache_state, "cache_state") or unlabelled,
    )
    refusal = _text(answer.refusal, "refusal")
    if refusal is not None:
        if not refusal:
            raise ArmError("the refusal is blank; it says why this sample is not served")
        return replace(row, refusal=refusal)
    every = _listed(answer.hits)
    first = {hit.path: hit for hit in reversed(every)}
    distinct = [first[path] for path in dict.fromkeys(hit.path for hit in every)]
    given = set(query.given)
    askable = tuple(hit for hit in distinct if hit.path not in given)
    hits = askable[: query.limit]
    kept = {hit.path for hit in hits}
    return replace(
        row,
        ranked=tuple(hit.path for hit in hits),
        hits=tuple(hit for hit in every if hit.path in kept) if query.spans else hits,
        abstained=bool(answer.abstained) or not hits,
        top_score=_number(answer.top_score, "top_score"),
        duplicates=0 if query.spans and query.per_file > 1 else len(every) - len(distinct),
        unknown=sum(hit.path not in snapshot for hit in hits),
        rest=tuple(hit.path for hit in askable[query.limit :]),
    )


def _listed(rows: object) -> tuple[Hit, ...]:
    """The checked rows of an iterable that has an order."""
    if isinstance(rows, str | bytes | Mapping | Set) or not isinstance(rows, Iterable):
        raise ArmError(f"answered {_shown(rows)}; an arm returns {_WANTED}")
    hits = tuple(islice(_checked(rows), MAX_ROWS + 1))
    if len(hits) > MAX_ROWS:
        raise ArmError(f"answered more than {MAX_ROWS:,} rows; end the ranking after the best few")
    return hits


def _checked(rows: Iterable[Any]) -> Iterator[Hit]:
    for number, row in enumerate(rows, start=1):
        try:
            yield _hit(row)
        except ArmError as fault:
            raise ArmError(f"row {number} of the answer: {fault}") from None


def _hit(row: object) -> Hit:
    match row:
        case str():
            return Hit(_path(row))
        case Hit(path, score, start, end, text):
            return Hit(_path(path), _number(score, "score"), *_lines(start, end), _shown_text(text))
        case (path, score) if isinstance(row, tuple):
            return Hit(_path(path), _number(score, "score"))
    raise ArmError(f"is {_shown(row)}; a row is a path, a Hit or a (path, score) pair")


def _path(path: object) -> str:
    if not isinstance(path, str) or not path:
        raise ArmError(f"the path is {_shown(path)}; a path is a non-empty str")
    return str(path)


def _lines(start: object, end: object) -> tuple[int | None, int | None]:
    if start is None and end is None:
        return None, None
    first, last = _whole(start), _whole(end)
    if first is None or last is None or not 1 <= first <= last:
        raise ArmError(
            f"the lines are {_shown(start)} to {_shown(end)}; both are integers, from 1, in rising order"
        )
    return first, last


def _shown_text(value: object) -> str | None:
    if value is not None and not isinstance(value, str):
        raise ArmError(f"the text is {_shown(value)}; it is a text or None")
    return value


def _number(value: object, name: str) -> float | None:
    """``value`` as a finite int or float of Python's own, for numpy's cannot travel between processes."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ArmError(f"the {name} is {_shown(value)}; a {name} is a number or None")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ArmError(f"the {name} is {number}; a {name} is finite")
    return int(value) if isinstance(value, Integral) and abs(number) <= EXACT else number


def _size(value: object, name: str) -> int | None:
    size = _whole(value)
    if value is not None and (size is None or size < 0):
        raise ArmError(f"the {name} is {_shown(value)}; it counts bytes")
    return size


def _text(value: object, name: str) -> str | None:
    """One line of text, or None."""
    if value is not None and not isinstance(value, str):
        raise ArmError(f"the {name} is {_shown(value)}; it is a text or None")
    return None if value is None else " ".join(value.split())


def _whole(value: object) -> int | None:
    """``value`` as an int if it is one, of any library."""
    return int(value) if isinstance(value, Integral) and not isinstance(value, bool) else None


def _shown(value: object) -> str:
    return f"a {type(value).__name__}: {value!r:.60}"
