"""The report as a table and a few lines for a terminal.

Text only: a piece of a line may have a role (``bold``, ``good``, ``bad``, ``dim``) that the terminal's owner
turns into colour, so that nothing is said by colour alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pytest_retrieval.measures.names import CUT, recall_cuts
from pytest_retrieval.report import footnotes
from pytest_retrieval.report.notes import notes
from pytest_retrieval.report.paired_table import measure_title, paired_lines
from pytest_retrieval.report.pieces import Line, Piece
from pytest_retrieval.report.summaries import BUILD

NOT_MEASURED = "-"
_GAP = "  "
_LABEL_FLOOR = 6
_ROOMY = 100  # characters from which intervals are written in full and extra columns shown


class Cell(NamedTuple):
    """A place of the table; ``value`` takes part in finding the best of a column."""

    text: str = NOT_MEASURED
    value: float | None = None
    role: str = ""


class Row(NamedTuple):
    """What the columns read: an arm's ``all`` group, or the ceiling's, and the arm's times."""

    label: str
    group: Mapping[str, Any]
    latency: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its heading and what it shows of a row.

    An ``extra`` one goes where there is little room, and where that does not do, those with the highest
    ``spare`` go; ``needs_gold`` is one without a figure in a run whose every sample has no gold.
    """

    title: str
    cell: Callable[[Row], Cell]
    extra: bool = False
    needs_gold: bool = False
    spare: int = 0


def render(report: Mapping[str, Any], width: int, path: str | None = None) -> list[Line]:
    """The lines that sum up ``report``; its table is at most ``width`` wide, its details are not read.

    ``path`` is where the report was written. Verdicts and the path are one line each, however long.
    """
    paired = list(paired_lines(report, width))
    return [
        *_table(report, width),
        (),
        *([*paired, ()] if paired else []),
        *footnotes.wrapped(notes(report), width),
        *footnotes.verdicts(report["gates"]),
        *footnotes.place(path),
    ]


def _table(report: Mapping[str, Any], width: int) -> Iterator[Line]:
    rows = [
        Row(label, arm["groups"]["all"], report["latency"].get(label, {}))
        for label, arm in report["arms"].items()
    ]
    limit_of = Row("(ceiling)", report["ceiling"]["all"], {})
    with_gold = any(row.group["positives"] for row in rows) or not any(row.group["n"] for row in rows)
    asked = _asked(report.get("measures", ()), report["limit"]) if with_gold else []
    columns = _columns(report["limit"], asked, width, with_gold=with_gold)
    needed = [column for column in columns if not column.extra]
    longest = max(len(row.label) for row in [*rows, limit_of])
    if _room(needed, [*rows, limit_of], width) >= longest:
        asked = []
    elif asked:
        columns = _columns(report["limit"], [], width, with_gold=with_gold)
    yield from _block(columns, rows, limit_of, width)
    while asked:  # what does not fit beside the others, in tables of its own
        sizes = range(len(asked), 1, -1)
        size = next((size for size in sizes if _room(asked[:size], rows, width) >= longest), 1)
        yield ()
        yield from _block(asked[:size], rows, limit_of, width)
        asked = asked[size:]


def _block(columns: list[Column], rows: Sequence[Row], limit_of: Row, width: int) -> Iterator[Line]:
    """The lines of one table: a heading, a row for each arm, and the ceiling's where it has a figure."""
    columns, label_width = _fit(columns, [*rows, limit_of], width)
    grid = [_best_bold([column.cell(row) for row in rows]) for column in columns]
    grid = [[*cells, column.cell(limit_of)] for column, cells in zip(columns, grid, strict=True)]
    widths = [_width(column, cells) for column, cells in zip(columns, grid, strict=True)]
    titles = [Cell(column.title) for column in columns]
    yield tuple(Piece(piece.text, "bold") for piece in _line("arm".ljust(label_width), titles, widths))
    labels = _shortened([row.label for row in [*rows, limit_of]], label_width)
    for row, label, cells in zip([*rows, limit_of], labels, zip(*grid, strict=True), strict=True):
        if row is not limit_of or any(cell.text != NOT_MEASURED for cell in cells):
            yield _line(label.ljust(label_width), cells, widths, role="dim" if row is limit_of else "")


def _line(label: str, cells: Sequence[Cell], widths: Sequence[int], role: str = "") -> Line:
    pieces = [Piece(label, role)]
    for cell, width in zip(cells, widths, strict=True):
        pieces.append(Piece(_GAP + " " * (width - len(cell.text)), role))
        pieces.append(Piece(cell.text, cell.role or role))
    return tuple(pieces)


def _asked(measures: Sequence[str], limit: int) -> list[Column]:
    """A column for each of the further measures of a run."""
    return [
        Column(measure_title(name, limit), _measure(name, best=name.partition("@")[0] in CUT))
        for name in measures
    ]


def _columns(limit: int, asked: Sequence[Column], width: int, *, with_gold: bool) -> list[Column]:
    """Every column in order, the further measures that were ``asked`` for among them.

    Where no sample has gold, what is left to judge is whether an arm knew to be silent.
    """
    roomy = width >= _ROOMY
    columns = [
        Column("n", lambda row: _count(row.group.get("n"))),
        *_recalls(limit, asked=bool(asked)),
        Column("MRR", _measure("mrr@k"), needs_gold=True),
        *asked,
        Column(f"hit@{limit} (95% CI)", lambda row: _rate(row, "hit@k", roomy=roomy), needs_gold=True),
        Column("answered", _measure("hit@k", "answered"), extra=True, needs_gold=True),
        Column(
            "selective (95% CI)", lambda row: _rate(row, "selective_success", roomy=roomy), extra=with_gold
        ),
        Column("abst", _measure("abstained", best=False), spare=1),
        Column("err", lambda row: _count(row.group.get("errors"), bad=True)),
        Column("p50", lambda row: _time(row, "p50_ms"), spare=2),
        Column("p95", lambda row: _time(row, "p95_ms"), extra=True),
        Column("macro hit", _measure("hit@k", "macro"), extra=True, needs_gold=True),
        Column("P@k", _measure("precision@k"), extra=True, needs_gold=True),
        Column("hard neg", _measure("hard_negative_hits@k", best=False), extra=True, needs_gold=True),
    ]
    return [column for column in columns if with_gold or not column.needs_gold]


def _recalls(limit: int, *, asked: bool) -> Iterator[Column]:
    """Recall at each cut; where measures are asked for, these come first, and one of it will do."""
    cuts = recall_cuts(limit)
    for cut in cuts:
        other = cut != (10 if 10 in cuts else cuts[-1])
        extra = asked and other
        yield Column(
            f"R@{cut}", _measure(f"recall@{cut}"), extra=extra, needs_gold=True, spare=3 if other else 0
        )


def _fit(columns: list[Column], rows: Sequence[Row], width: int) -> tuple[list[Column], int]:
    """The columns that fit beside the labels, and the width that is left for those.

    Extra columns need room, and give way to whole labels; the others only to labels too short to tell apart.
    """
    labels = [row.label for row in rows]
    longest = max(map(len, labels))
    apart = next(size for size in range(_LABEL_FLOOR, 2 * longest + _LABEL_FLOOR) if _differ(labels, size))
    if width < _ROOMY:
        columns = [column for column in columns if not column.extra]
    while _room(columns, rows, width) < longest and any(column.extra for column in columns):
        columns = _without_last(columns, [column for column in columns if column.extra])
    while _room(columns, rows, width) < min(longest, apart) and len(columns) > 1:
        most = max(column.spare for column in columns)
        columns = _without_last(columns, [column for column in columns if column.spare == most])
    return columns, max(1, min(longest, _room(columns, rows, width)))


def _room(columns: Sequence[Column], rows: Sequence[Row], width: int) -> int:
    """What the columns leave of ``width`` for labels."""
    return width - sum(len(_GAP) + _width(column, map(column.cell, rows)) for column in columns)


def _without_last(columns: list[Column], candidates: list[Column]) -> list[Column]:
    return [column for column in columns if column is not candidates[-1]]


def _width(column: Column, cells: Iterable[Cell]) -> int:
    return max(len(column.title), *(len(cell.text) for cell in cells))


def _best_bold(cells: list[Cell]) -> list[Cell]:
    """The cells with the best of at least two different values in bold."""
    values = {cell.value for cell in cells if cell.value is not None}
    if len(values) < 2:
        return cells
    return [cell._replace(role="bold") if cell.value == max(values) else cell for cell in cells]


def _count(value: int | None, *, bad: bool = False) -> Cell:
    if value is None:
        return Cell()
    return Cell(str(value), role="bad" if bad and value else "")


def _measure(name: str, part: str | None = None, *, best: bool = True) -> Callable[[Row], Cell]:
    def cell(row: Row) -> Cell:
        value = (row.group.get(part, {}) if part else row.group).get(name)
        return Cell() if value is None else Cell(f"{value:.3f}", value if best else None)

    return cell


def _rate(row: Row, name: str, *, roomy: bool) -> Cell:
    """A rate with its interval: ``0.545 .438-.648``, or ``0.545 [0.438, 0.648]`` with room for it."""
    value = row.group.get(name)
    if value is None:
        return Cell()
    ends = row.group.get("intervals", {}).get(name, {})
    if "low" not in ends:  # the ceiling is no estimate; padded, its figure stands under the others
        return Cell(f"{value:.3f}".ljust(20 if roomy else 15), value)
    low, high = ends["low"], ends["high"]
    text = f"[{low:.3f}, {high:.3f}]" if roomy else f"{_brief(low)}-{_brief(high)}"
    return Cell(f"{value:.3f} {text}", value)


def _brief(end: float) -> str:
    """An end of an interval in four characters: ``.438``, ``1.00``."""
    return f"{end:.3f}".removeprefix("0")[:4]


def _time(row: Row, quantile: str) -> Cell:
    """A quantile of the arm's times under the cache label with the most of them."""
    queries = ((label, times) for label, times in row.latency.items() if label != BUILD)
    labels = sorted(queries, key=lambda item: (-item[1]["n"], item[0]))
    milliseconds = labels[0][1].get(quantile) if labels else None
    if milliseconds is None:
        return Cell()
    if milliseconds < 1_000:
        return Cell(f"{milliseconds:.{0 if milliseconds >= 100 else 1}f}ms")
    return Cell(f"{milliseconds / 1_000:.1f}s")


def _shortened(labels: Sequence[str], width: int) -> list[str]:
    """Labels of at most ``width``: cut at their ends, or in the middle where two would then be alike."""
    ends = [label if len(label) <= width else label[: width - 1] + "…" for label in labels]
    if len(set(ends)) == len(labels) or width < 3:
        return ends
    tail = width // 2
    return [
        label if len(label) <= width else f"{label[: width - tail - 1]}…{label[-tail:]}" for label in labels
    ]


def _differ(labels: Sequence[str], width: int) -> bool:
    """Whether labels that are cut to ``width`` can be told apart."""
    return len(set(_shortened(labels, width))) == len(set(labels))
