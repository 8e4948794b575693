"""Engines side by side, a table per corpus: what they find, what that costs, every caveat on its row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import fsum
from typing import Any, NamedTuple

from pytest_retrieval.measures.spans import DEPTH

Row = Mapping[str, Any]
_GAP = "  "
_DIFFICULTIES = ("easy", "medium", "hard")

LEGEND = {
    "†": "graded by files: the engine knows no lines, its chunk figures are its file figures",
    "‡": "tokens are those of the corpus's lines at the spans, which the engine does not print",
    "≥": "some answers came without text: the tokens are a lower bound",
    "≠": "the engines of this corpus searched different trees",
    "s": f"some query had fewer than {DEPTH} files",
    "?": "results without lines from an engine that declares them",
    "u": "paths that the corpus does not hold",
    "E": "queries that failed; they score zero",
    "W": "the index outlived an earlier run: its seconds are no cold build's",
    "N": "the same question was answered in different ways",
    "C": "several workers ran at once: times are no measurement",
    "d": "another engine is no worse in chunk R@10, tokens, p50 and index seconds, and better in one",
}


class _Column(NamedTuple):
    """A column; one with a lower ``weight`` goes first where there is little room."""

    title: str
    cell: Callable[[Row], str]
    weight: int = 9


def render(rows: Sequence[Row], width: int | None = None) -> list[str]:
    """The scoreboard as lines of text, at most ``width`` wide as far as columns can go."""
    lines: list[str] = []
    used: set[str] = set()
    for corpus, members in _by_corpus(rows):
        columns, flags = _columns(members)
        used.update(*flags)
        grid = [[column.cell(row) for column in columns] for row in members]
        columns, grid = _fitted(columns, grid, width)
        lines += [_heading(corpus, members), *_aligned([c.title for c in columns], grid), ""]
        lines += [f"  {row['engine']}: failed: {_failure(row)}" for row in members if _is_failed(row)]
    lines += [*overall(rows), *(f"{flag} {meaning}" for flag, meaning in LEGEND.items() if flag in used)]
    return lines


def markdown(rows: Sequence[Row]) -> list[str]:
    """The scoreboard as Markdown, with every column."""
    lines: list[str] = []
    used: set[str] = set()
    for corpus, members in _by_corpus(rows):
        columns, flags = _columns(members)
        used.update(*flags)
        lines += [f"### {_heading(corpus, members)}", ""]
        lines.append("| " + " | ".join(column.title for column in columns) + " |")
        lines.append("|---" * len(columns) + "|")
        for row in members:
            cells = (column.cell(row).replace("|", "\\|") for column in columns)
            lines.append("| " + " | ".join(cells) + " |")
        lines += ["", *(f"{row['engine']}: failed: {_failure(row)}\n" for row in members if _is_failed(row))]
    lines += [*(f"{line}\n" for line in overall(rows))]
    lines += [f"- `{flag}` {meaning}" for flag, meaning in LEGEND.items() if flag in used]
    return lines


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
        if any(_is_failed(row) for row in found):
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
        "≠": row.get("unequal_trees") or len(trees) > 1,
        "s": row.get("slots_recorded") and row["slots_min"] < DEPTH,
        "?": row.get("spanless_hits"),
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

    Rows that are graded otherwise, or know no tokens where the other does, are not compared.
    """
    own = _price(row)
    if own is None:
        return False
    others = [(other, _price(other)) for other in rows if other is not row]
    return any(
        price is not None
        and _kind(other) == _kind(row)
        and price != own
        and all(theirs <= ours for theirs, ours in zip(price, own, strict=True))
        for other, price in others
    )


def _kind(row: Row) -> tuple[bool, bool, object]:
    estimator = row.get("ext", {}).get("token_estimator")
    return bool(row.get("file_granularity_only")), bool(row.get("wide_tokens")), estimator


def _price(row: Row) -> tuple[float, ...] | None:
    """What makes a row worse: less found, more tokens, more time; None for a row without figures."""
    if _is_failed(row) or not row.get("chunk"):
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
    tree = "" if first in ("", ".") else f" of {first}" + (f" and {len(more)} more folders" if more else "")
    return f"corpus {corpus}: {row.get('files', 0)} files{tree}, {queries} queries"


def _columns(rows: Sequence[Row]) -> tuple[list[_Column], list[str]]:
    flags = [flags_of(row, rows) for row in rows]
    marks = {id(row): mark for row, mark in zip(rows, flags, strict=True)}
    mixed = len({row.get("ext", {}).get("token_estimator") for row in rows if row.get("wide_tokens")}) > 1
    columns = [
        _Column("engine", lambda row: str(row["engine"])),
        _Column("file R@5", lambda row: _recall(row, "file", "5"), 1),
        _Column("file R@10", lambda row: _recall(row, "file", "10"), 5),
        _Column("file R@20", lambda row: _recall(row, "file", "20"), 1),
        _Column("file MRR", lambda row: _mrr(row, "file"), 1),
        _Column("R@5", lambda row: _recall(row, "chunk", "5"), 3),
        _Column("R@10", lambda row: _recall(row, "chunk", "10")),
        _Column("R@20", lambda row: _recall(row, "chunk", "20"), 3),
        _Column("MRR", lambda row: _mrr(row, "chunk")),
        _Column("none@20↓", lambda row: _percent(row.get("chunk", {}).get("zero_miss"))),
        _Column(f"R@10 {_initials(rows)}", _by_difficulty, 6),
        _Column("nDCG@10", lambda row: _percent(row.get("ext", {}).get("ndcg@10")), 4),
        _Column("wide R@10 2/3", _wide, 4),
        *([] if mixed else [_Column("tok@10 1/2/3", _tokens)]),
        _Column("index", lambda row: _seconds(row["cost"]["index_seconds"])),
        _Column("files/s", lambda row: f"{row['cost'].get('files_per_sec', 0):.0f}", 2),
        _Column("p50", lambda row: _time(row, "query_p50_seconds", "query_seconds")),
        _Column("p95", lambda row: _time(row, "query_p95_seconds")),
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


def _aligned(titles: Sequence[str], grid: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(titles, *grid, strict=True)]
    for cells in (titles, *grid):
        first, *rest = (
            cell.ljust(size) if place in (0, len(widths) - 1) else cell.rjust(size)
            for place, (cell, size) in enumerate(zip(cells, widths, strict=True))
        )
        yield _GAP.join((first, *rest)).rstrip()


def _is_failed(row: Row) -> bool:
    return bool(row.get("ext", {}).get("status") == "failed")


def _failure(row: Row) -> str:
    return "; ".join(row["ext"].get("errors", ())) or "no reason was kept"


def _recall(row: Row, view: str, k: str) -> str:
    return _percent(row.get(view, {}).get("recall", {}).get(k))


def _mrr(row: Row, view: str) -> str:
    value = row.get(view, {}).get("mrr")
    return "-" if value is None else f"{value:.3f}"


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}"


def _names(row: Row) -> list[str]:
    """The difficulties of a row, or another set's own categories."""
    found = row.get("by_difficulty") or {}
    return [name for name in _DIFFICULTIES if name in found] or sorted(found)


def _initials(rows: Sequence[Row]) -> str:
    """What the figures by difficulty are of: ``E/M/H``."""
    return "/".join(name[:1].upper() for name in max(map(_names, rows), key=len)) or "E/M/H"


def _by_difficulty(row: Row) -> str:
    found, names = row.get("by_difficulty") or {}, _names(row)
    return "/".join(f"{100 * found[name]['recall']['10']:.0f}" for name in names) or "-"


def _wide(row: Row) -> str:
    found = row.get("wide") or {}
    return _by_width({n: _percent(metrics["recall"]["10"]) for n, metrics in found.items()}, ("2", "3"))


def _tokens(row: Row) -> str:
    found = row.get("wide_tokens") or {}
    return _by_width({n: f"{tokens:.0f}" for n, tokens in found.items()}, ("1", "2", "3"))


def _by_width(cells: Mapping[str, str], widths: Sequence[str]) -> str:
    """The cells up to the last width that was served."""
    last = max((place for place, width in enumerate(widths, 1) if width in cells), default=0)
    return "/".join(cells.get(width, "-") for width in widths[:last]) or "-"


def _time(row: Row, *names: str) -> str:
    value = next((row["cost"][name] for name in names if name in row["cost"]), None)
    return "-" if value is None or _is_failed(row) else _seconds(value)


def _seconds(value: float) -> str:
    if value < 1:
        return f"{1_000 * value:.0f}ms" if value >= 0.01 else f"{1_000 * value:.1f}ms"
    return f"{value:.1f}s"
