"""A query set of a code-search corpus: what is asked, how hard it is, and which files or lines answer it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_retrieval.errors import closest
from pytest_retrieval.model import Gold
from pytest_retrieval.snapshots.paths import is_safe

EASY, MEDIUM, HARD = "easy", "medium", "hard"
DIFFICULTIES = (EASY, MEDIUM, HARD)
SYMBOL, SEMANTIC, ARCHITECTURE = "symbol", "semantic", "architecture"  # semble's
_QUERY_KEYS = ("query", "difficulty", "subsystem", "relevant")
_GOLD_KEYS = ("path", "symbol", "start", "end")
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """One labelled query and its distinct answers."""

    text: str
    difficulty: str
    subsystem: str
    golds: tuple[Gold, ...]


class Findings:
    """Every fault and every warning of a file, each a line that says where."""

    def __init__(self) -> None:
        self.faults: list[str] = []
        self.warnings: list[str] = []

    def fault(self, where: str, what: str) -> None:
        """Note what makes the file unusable."""
        self.faults.append(f"{where}: {what}")

    def warn(self, where: str, what: str) -> None:
        """Note what is odd."""
        self.warnings.append(f"{where}: {what}")

    def unknown_keys(self, where: str, value: Mapping[str, Any], known: Sequence[str]) -> None:
        """Warn of keys that mean nothing here, with the nearest one that does."""
        for key in value:
            if key not in known:
                self.warn(where, f"unknown key {key!r:.80}, ignored{closest(key[:80], known)}")


def read_json(data: bytes) -> Any:
    """A JSON document; raises ValueError with one line."""
    try:
        return json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not JSON ({error})") from None


def parse_queries(data: bytes, findings: Findings) -> tuple[SearchQuery, ...]:
    """The queries in ``data``: a JSON array, or an object with the array ``queries``."""
    try:
        document = read_json(data)
    except ValueError as error:
        findings.fault("the file", str(error))
        return ()
    rows = document.get("queries") if isinstance(document, dict) else document
    if not isinstance(rows, list):
        findings.fault("the file", 'must be a list of queries, or an object with the list "queries"')
        return ()
    queries = tuple(_query(place_of(number, row), row, findings) for number, row in enumerate(rows))
    for text, count in Counter(query.text for query in queries).items():
        if count > 1 and text:
            findings.warn(f"query {text!r:.{_SHOWN}}", f"asked {count} times")
    warn_of_strata([query.difficulty for query in queries], findings)
    return queries


def place_of(number: int, row: object) -> str:
    """How messages name a query: by its place and its text."""
    text = row.get("query") if isinstance(row, dict) else None
    return f"queries[{number}] {text!r:.{_SHOWN}}" if isinstance(text, str) else f"queries[{number}]"


def strata(difficulties: Sequence[str]) -> dict[str, int]:
    """How many queries each difficulty has, zeros included."""
    return {name: difficulties.count(name) for name in DIFFICULTIES}


def kinds(difficulties: Sequence[str]) -> dict[str, int]:
    """How many queries there are of each kind: of each difficulty, or in another set of each of its own."""
    if set(difficulties) <= set(DIFFICULTIES):
        return strata(difficulties)
    return dict(sorted(Counter(difficulties).items()))


def is_balanced(difficulties: Sequence[str]) -> bool:
    """Whether each difficulty has about a third: within one query, or ten points of a hundred."""
    total = len(difficulties)
    return all(
        abs(count - total / 3) <= 1 or abs(count / total - 1 / 3) <= 0.10
        for count in strata(difficulties).values()
    )


def category_of(text: str) -> str:
    """The category of a task of semble's that names none, by semble's own rule."""
    if " " not in text.strip():
        return SYMBOL
    return ARCHITECTURE if text.lower().startswith("how ") else SEMANTIC


def warn_of_strata(difficulties: Sequence[str], findings: Findings) -> None:
    """Warn where the split is far from thirds, for such a set tells rankings apart less well."""
    if not is_balanced(difficulties):
        counted = ", ".join(f"{count} {name}" for name, count in strata(difficulties).items())
        findings.warn("difficulty", f"far from a third each: {counted}")


def query_text_of(where: str, row: Mapping[str, Any], findings: Findings) -> str:
    """The text that is asked for; empty, and a fault at ``where``, if there is none."""
    text = row.get("query")
    if isinstance(text, str) and text.strip():
        return text
    findings.fault(where, "query: must be a text that is not blank")
    return ""


def _query(where: str, row: object, findings: Findings) -> SearchQuery:
    if not isinstance(row, dict):
        findings.fault(where, "must be an object")
        return SearchQuery("", EASY, "", ())
    findings.unknown_keys(where, row, _QUERY_KEYS)
    text, difficulty = query_text_of(where, row, findings), row.get("difficulty")
    if difficulty not in DIFFICULTIES:
        findings.fault(where, f"difficulty: must be one of {', '.join(DIFFICULTIES)}, not {difficulty!r:.40}")
    subsystem = row.get("subsystem", "")
    if not isinstance(subsystem, str):
        findings.fault(where, "subsystem: must be a text")
        subsystem = ""
    return SearchQuery(text, str(difficulty), subsystem, golds_of(where, row.get("relevant"), findings))


def golds_of(where: str, value: object, findings: Findings, field: str = "relevant") -> tuple[Gold, ...]:
    """The distinct golds of a list of objects (or plain paths)."""
    if not isinstance(value, list) or not value:
        findings.fault(where, f"{field}: must be a list of at least one answer, each with a path")
        return ()
    found = tuple(_golds(where, field, value, findings))
    distinct = tuple(dict.fromkeys(found))
    if len(distinct) < len(found):
        findings.warn(where, f"{field}: names an answer twice; it counts once")
    return distinct


def _golds(where: str, field: str, entries: Sequence[object], findings: Findings) -> Iterator[Gold]:
    for number, entry in enumerate(entries):
        place = f"{where}: {field}[{number}]"
        if isinstance(entry, str):
            entry = {"path": entry}  # noqa: PLW2901
        if not isinstance(entry, dict):
            findings.fault(place, "must be an object with a path")
            continue
        findings.unknown_keys(place, entry, _GOLD_KEYS)
        path, symbol = entry.get("path"), entry.get("symbol")
        if not isinstance(path, str) or not is_safe(path) or "\\" in path:
            findings.fault(place, f"path: must be relative to the corpus, without .. or \\, not {path!r:.80}")
            continue
        start, end = _lines(place, entry, findings)
        yield Gold(path, start, end, symbol if isinstance(symbol, str) and symbol else None)


def _lines(place: str, entry: Mapping[str, Any], findings: Findings) -> tuple[int | None, int | None]:
    """The lines that an entry names; an absent, a null and, as Go writes absence, a zero are none."""
    start, end = (entry.get(name) or None for name in ("start", "end"))
    if start is None and end is None:
        return None, None
    if start is None or end is None:
        findings.fault(
            place, f"{'end' if start is None else 'start'} without the other; write both or neither"
        )
    elif type(start) is not int or type(end) is not int or not 1 <= start <= end:
        findings.fault(place, f"lines {start!r:.20} to {end!r:.20}: line numbers from 1, in rising order")
    else:
        return start, end
    return None, None
