"""Engines side by side, a table per corpus: what they find, what that costs, every caveat on its row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import fsum
from typing import Any, NamedTuple

from pytest_retrieval.measures.spans import DEPTH, TOKEN_ESTIMATOR
from pytest_retrieval.report.codesearch import board_cells as cells
from pytest_retrieval.report.codesearch.board_cells import Row, failure, is_failed
from pytest_retrieval.report.codesearch.board_pairs import TITLES, Pairs, fitted, not_compared, pair_grid
from pytest_retrieval.report.codesearch.pairs import search_pairs
from pytest_retrieval.report.pieces import plural

_GAP = "  "

LEGEND = {
    "†": "graded by files: the engine knows no lines, its chunk figures are its file figures",
    "‡": "tokens are those of the corpus's lines at the spans, which the engine does not print",
    "≥": "some answers came without text: the tokens are a lower bound",
    "e": "spans without any text in the corpus, such as lines after a file's end: they cost no tokens",
    "≠": "the engines of this corpus searched different trees",
    "s": f"some query had fewer than {DEPTH} files",
    "?": "results without lines from an engine that declares them",
    "p": "parts of the output could not be read, and were left out or mended (ext.noticed counts them)",
    "u": "paths that the corpus does not hold",
    "E": "queries that failed; they score zero",
    "W": "no cold build: the index was made from what an earlier run left (incr), or not at all (warm)",
    "N": "the same question was answered in different ways",
    "C": "several workers ran at once: times are no measurement, and no engine is marked d by them",
    "d": "another engine is no worse in chunk R@10, tokens, p50 and index seconds, and better in one",
}

#: What the titles of columns mean, where the columns are shown.
COLUMNS = {
    f"files@{DEPTH}": f"the fewest, and the mean number of, files that an answer named, of {DEPTH}",
    "reply+schema": f"tokens ({TOKEN_ESTIMATOR}) of what the tool printed and is described by, measured",
    "+files": "the reply and all text of each file that it names, derived: an agent would have to read them",
    "index MB": "peak memory of the index command: its largest process (at least the launcher's 10)/its tree",
    "query MB": "peak memory of the process that searches",
}


class _Column(NamedTuple):
    """A column; one with a lower ``weight`` goes first where there is little room."""

    title: str
    cell: Callable[[Row], str]
    weight: int = 9


def of_report(head: Mapping[str, Any], width: int) -> list[str]:
    """The scoreboard in the head of a report that was just built, arms in their order; none without one."""
    section = head.get("codesearch")
    if section is None:
        return []
    places = {label: place for place, label in enumerate(head["arms"])}
    contended = {"contended": True} if head["environment"].get("contended") else {}
    rows = [{**row, "ext": {**row.get("ext", {}), **contended}} for row in section["rows"]]
    rows.sort(key=lambda row: places.get(row["engine"], len(places)))
    rows.sort(key=lambda row: str(row["corpus"]))
    return render(rows, width, section.get("paired", {}))


def render(
    rows: Sequence[Row], width: int | None = None, pairs: Mapping[str, Pairs] | None = None
) -> list[str]:
    """The scoreboard as lines of text, at most ``width`` wide as far as columns can go.

    ``pairs`` are the pairs of engines by corpus; all that can be compared by default.
    """
    paired = search_pairs(rows) if pairs is None else pairs
    lines: list[str] = []
    used: set[str] = set()
    titles: set[str] = set()
    for corpus, members in _by_corpus(rows):
        columns, flags = _columns(members)
        used.update(*flags)
        grid = [[column.cell(row) for column in columns] for row in members]
        columns, grid = _fitted(*_filled(columns, grid), width)
        titles.update(column.title for column in columns)
        lines += [_heading(corpus, members), *_aligned([c.title for c in columns], grid), ""]
        lines += [f"  {row['engine']}: failed: {failure(row)}" for row in members if is_failed(row)]
        found = paired.get(corpus, {})
        if compared := pair_grid(found):
            titles_of_pairs, *compared = fitted(compared, width)
            lines += [*_aligned(titles_of_pairs, compared), ""]
        lines += not_compared(found)
    lines += [*overall(rows), *(f"{flag} {meaning}" for flag, meaning in LEGEND.items() if flag in used)]
    return [*lines, *(f"{title}: {meaning}" for title, meaning in COLUMNS.items() if title in titles)]


def markdown(rows: Sequence[Row], pairs: Mapping[str, Pairs] | None = None) -> list[str]:
    """The scoreboard as Markdown, with every column."""
    paired = search_pairs(rows) if pairs is None else pairs
    lines: list[str] = []
    used: set[str] = set()
    for corpus, members in _by_corpus(rows):
        columns, flags = _columns(members)
        used.update(*flags)
        lines += [f"### {_heading(corpus, members)}", ""]
        grid = [[column.cell(row) for column in columns] for row in members]
        lines += [*_markdown_table([column.title for column in columns], grid), ""]
        lines += [f"{row['engine']}: failed: {failure(row)}\n" for row in members if is_failed(row)]
        found = paired.get(corpus, {})
        if compared := pair_grid(found):
            lines += [*_markdown_table(TITLES, compared), ""]
        lines += [f"{line}\n" for line in not_compared(found)]
    lines += [*(f"{line}\n" for line in overall(rows) if line)]
    lines += [f"- `{flag}` {meaning}" for flag, meaning in LEGEND.items() if flag in used]
    return [*lines, *(f"- {title}: {meaning}" for title, meaning in COLUMNS.items())]


def overall(rows: Sequence[Row]) -> list[str]:
    """Each engine over all corpora, where all engines ran the same ones: per query, and per corpus."""
    corpora = {row["corpus"] for row in rows}
    sets = {(row["corpus"], row.get("ext", {}).get("corpus_sha256")) for row in rows}
    by_engine: dict[str, list[Row]] = {}
    for row in rows:
        by_engine.setdefault(row["engine"], []).append(row)
    if not 2 <= len(corpora) == len(sets) or any(
        {row["corpus"] for row in found} != corpora for found in by_engine.values()
    ):
        return []
    lines = []
    for engine, found in by_engine.items():
        if any(is_failed(row) for row in found):
            lines.append(f"{engine}: incomplete")
            continue
        micro, macro = means([(row["chunk"]["queries"], row["chunk"]["recall"]["10"]) for row in found])
        gains = [
            (row["chunk"]["queries"], row["ext"]["ndcg@10"])
            for row in found
            if "ndcg@10" in row.get("ext", {})
        ]
        gain = f"; nDCG@10 {means(gains)[1]:.3f} over corpora" if len(gains) == len(found) else ""
        lines.append(f"{engine}: chunk R@10 {micro:.1%} over queries, {macro:.1%} over corpora{gain}")
    return [*lines, ""]


def means(values: Sequence[tuple[int, float]]) -> tuple[float, float]:
    """The mean over queries and the mean over corpora of ``(queries, figure)`` per corpus."""
    queries = sum(count for count, _ in values)
    micro = fsum(count * value for count, value in values) / queries if queries else 0.0
    return micro, fsum(value for _, value in values) / len(values)


def flags_of(row: Row, rows: Sequence[Row]) -> str:
    """The marks of ``row`` among the rows of its corpus."""
    ext, cost = row.get("ext", {}), row["cost"]
    trees = {other.get("indexed_tree", "") for other in rows}
    marks = {
        "†": row.get("file_granularity_only"),
        "‡": row.get("tokens_from_corpus") and row.get("wide_tokens"),
        "≥": ext.get("textless_slots"),
        "e": ext.get("empty_slots"),
        "≠": row.get("unequal_trees") or len(trees) > 1,
        "s": row.get("slots_recorded") and row["slots_min"] < DEPTH,
        "?": row.get("spanless_hits"),
        "p": ext.get("noticed"),
        "u": ext.get("unknown_paths"),
        "E": ext.get("query_errors"),
        "W": cost.get("cold", ext.get("cold")) is False,
        "N": ext.get("differing_queries"),
        "C": ext.get("contended"),
        "d": is_dominated(row, rows),
    }
    return "".join(mark for mark, applies in marks.items() if applies)


def is_dominated(row: Row, rows: Sequence[Row]) -> bool:
    """Whether another of ``rows`` is at least as good in everything and better in something.

    Rows that are graded otherwise, or know no tokens where the other does, are not compared; nor are any
    whose times are those of several workers at once.
    """
    own = None if row.get("ext", {}).get("contended") else _price(row)
    if own is None:
        return False
    rivals = (other for other in rows if other is not row and not other.get("ext", {}).get("contended"))
    others = [(other, _price(other)) for other in rivals]
    return any(
        price is not None
        and _kind(other) == _kind(row)
        and price != own
        and all(theirs <= ours for theirs, ours in zip(price, own, strict=True))
        for other, price in others
    )


def _kind(row: Row) -> tuple[object, ...]:
    """What rows must have in common to be compared; an engine without an index has nothing to build."""
    estimator = row.get("ext", {}).get("token_estimator")
    state = row["cost"].get("index_state", "cold")
    return bool(row.get("file_granularity_only")), bool(row.get("wide_tokens")), estimator, state


def _price(row: Row) -> tuple[float, ...] | None:
    """What makes a row worse: less found, more tokens, more time; None for a row without figures."""
    if is_failed(row) or not row.get("chunk"):
        return None
    cost = row["cost"]
    time = cost.get("query_p50_seconds", cost["query_seconds"])
    tokens = (row.get("wide_tokens") or {}).get("1", 0.0)
    return (-row["chunk"]["recall"]["10"], tokens, time, cost["index_seconds"])


def _by_corpus(rows: Sequence[Row]) -> Iterator[tuple[str, list[Row]]]:
    for corpus in dict.fromkeys(row["corpus"] for row in rows):
        yield corpus, [row for row in rows if row["corpus"] == corpus]


def _heading(corpus: str, rows: Sequence[Row]) -> str:
    row = rows[0]
    queries = max((row["file"]["queries"] for row in rows if "file" in row), default=0)
    first, *more = row.get("indexed_tree", ".").split(",")
    others = f" and {plural(len(more), 'more folder')}" if more else ""
    tree = "" if first in ("", ".") else f" of {first}{others}"
    files = plural(row.get("files", 0), "file")
    return f"corpus {corpus}: {files}{tree}, {plural(queries, 'query')}"


def _columns(rows: Sequence[Row]) -> tuple[list[_Column], list[str]]:
    flags = [flags_of(row, rows) for row in rows]
    marks = {id(row): mark for row, mark in zip(rows, flags, strict=True)}
    mixed = len({row.get("ext", {}).get("token_estimator") for row in rows if row.get("wide_tokens")}) > 1
    columns = [
        _Column("engine", lambda row: str(row["engine"])),
        _Column("file R@5", lambda row: cells.recall(row, "file", "5"), 1),
        _Column("file R@10", lambda row: cells.recall(row, "file", "10"), 5),
        _Column("file R@20", lambda row: cells.recall(row, "file", "20"), 1),
        _Column("file MRR", lambda row: cells.mrr(row, "file"), 1),
        _Column("R@5", lambda row: cells.recall(row, "chunk", "5"), 3),
        _Column("R@10", lambda row: cells.recall(row, "chunk", "10")),
        _Column("R@20", lambda row: cells.recall(row, "chunk", "20"), 3),
        _Column("MRR", lambda row: cells.mrr(row, "chunk")),
        _Column("none@20↓", lambda row: cells.percent(row.get("chunk", {}).get("zero_miss"))),
        _Column(f"R@10 {cells.initials(rows)}", cells.by_difficulty, 6),
        _Column("nDCG@10", lambda row: cells.percent(row.get("ext", {}).get("ndcg@10")), 4),
        _Column("wide R@10 2/3", cells.wide, 4),
        _Column(f"files@{DEPTH}", cells.slots, 2),
        *([] if mixed else [_Column("tok@10 1/2/3", cells.tokens)]),
        _Column("reply+schema", lambda row: cells.answer_tokens(row, "reply", "schema"), 7),
        _Column("+files", lambda row: cells.answer_tokens(row, "reading"), 6),
        _Column("index", cells.index),
        _Column("files/s", lambda row: cells.rate(row, "files_per_sec"), 2),
        _Column("chunks/s", lambda row: cells.rate(row, "chunks_per_sec"), 2),
        _Column("index MB", lambda row: cells.memory(row, "peak_rss_mb", "tree_peak_rss_mb"), 7),
        _Column("query MB", lambda row: cells.memory(row, "query_peak_rss_mb"), 6),
        _Column("p50", lambda row: cells.time(row, "query_p50_seconds", "query_seconds")),
        _Column("p95", lambda row: cells.time(row, "query_p95_seconds")),
        _Column("flags", lambda row: marks[id(row)]),
    ]
    return columns, flags


def _fitted(
    columns: list[_Column], grid: list[list[str]], width: int | None
) -> tuple[list[_Column], list[list[str]]]:
    """Without the lightest columns, as long as the others need more than ``width``."""
    while width is not None:
        widths = [max(len(c.title), *(len(row[n]) for row in grid)) for n, c in enumerate(columns)]
        lightest = min(columns, key=lambda column: column.weight)
        if sum(widths) + len(_GAP) * (len(widths) - 1) <= width or lightest.weight == 9:
            break
        place = max(n for n, column in enumerate(columns) if column.weight == lightest.weight)
        columns = columns[:place] + columns[place + 1 :]
        grid = [row[:place] + row[place + 1 :] for row in grid]
    return columns, grid


def _filled(columns: list[_Column], grid: list[list[str]]) -> tuple[list[_Column], list[list[str]]]:
    """Without the lighter columns that no row has anything in."""
    kept = [n for n, c in enumerate(columns) if c.weight == 9 or any(row[n] != "-" for row in grid)]
    return [columns[n] for n in kept], [[row[n] for n in kept] for row in grid]


def _markdown_table(titles: Sequence[str], grid: Sequence[Sequence[str]]) -> Iterator[str]:
    yield "| " + " | ".join(titles) + " |"
    yield "|---" * len(titles) + "|"
    for row in grid:
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"


def _aligned(titles: Sequence[str], grid: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(titles, *grid, strict=True)]
    for row in (titles, *grid):
        first, *rest = (
            cell.ljust(size) if place in (0, len(widths) - 1) else cell.rjust(size)
            for place, (cell, size) in enumerate(zip(row, widths, strict=True))
        )
        yield _GAP.join((first, *rest)).rstrip()
