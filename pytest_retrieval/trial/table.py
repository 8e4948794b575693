"""A trial's report as a table and a few lines for a terminal.

Pieces and their roles are those of the other reports (``report.table``). A pilot says that it is one on every
line with a figure; what nobody observed is a dash or a word, never a zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pytest_retrieval.model import NOT_OBSERVED
from pytest_retrieval.report import footnotes
from pytest_retrieval.report.canonical import number_text
from pytest_retrieval.report.pieces import Line, Piece
from pytest_retrieval.report.table import NOT_MEASURED, Cell
from pytest_retrieval.trial.pairs import MEMORISATION

PILOT = "PILOT "
_GAP = "  "
_LABEL_FLOOR = 6
_ROOMY = 100  # characters from which intervals are written in full
_SHOWN = 5  # tasks and reasons that are named
_COMPARED = ("success", "confidently_wrong_tasks")

Summary = Mapping[str, Any]


class _Column(NamedTuple):
    title: str
    cell: Callable[[Summary], Cell]
    extra: bool = False  # goes where there is little room


def render(report: Mapping[str, Any], width: int, path: str | None = None) -> list[Line]:
    """The lines that sum up ``report``; its table is at most ``width`` wide, its details are not read.

    ``path`` is where the report was written. Verdicts and the path are one line each, however long.
    """
    mark = PILOT if report["pilot"] else ""
    return [
        *_table(report, width, mark),
        (),
        *footnotes.wrapped(_notes(report, mark), width),
        *footnotes.verdicts(report["gates"], mark),
        *footnotes.place(path),
    ]


def _table(report: Mapping[str, Any], width: int, mark: str) -> Iterator[Line]:
    rows = [(label, arm["groups"]["all"]) for label, arm in report["arms"].items()]
    labels = [mark + label for label, _ in rows]
    columns, room = _fit(_columns(report, width), rows, max(map(len, [*labels, "arm"])), width, mark)
    widths = [_width(column, rows) for column in columns]
    titles = [Cell(column.title) for column in columns]
    yield tuple(Piece(piece.text, "bold") for piece in _line(f"{mark}arm", room, titles, widths))
    for label, (_, summary) in zip(labels, rows, strict=True):
        yield _line(label, room, [column.cell(summary) for column in columns], widths)


def _columns(report: Mapping[str, Any], width: int) -> list[_Column]:
    roomy = width >= _ROOMY
    repeats = report["repeats"]
    repeated = [_Column(f"pass@{repeats}", _rate(f"pass@{repeats}", None))] if repeats > 1 else []
    used = [_Column("tool used", _rate("tool_used", None))] if report["access"] == "tools" else []
    return [
        _Column("tasks", _count("tasks")),
        _Column("success (95% CI)", _rate("success", roomy)),
        _Column("conf. wrong (95% CI)", _rate("confidently_wrong_tasks", roomy)),
        _Column("abst", _rate("abstained", None)),
        *repeated,
        *used,
        _Column("err", _count("errors", bad=True)),
        _Column("in context", _rate("gold_in_context", None), extra=True),
        _Column("as result", _rate("gold_as_result", None), extra=True),
        _Column("gap", _count("utilisation_gap"), extra=True),
        _Column("f1", _mean("mean_f1"), extra=True),
        _Column("calls", _count("tool_calls"), extra=True),
    ]


def _fit(
    columns: list[_Column], rows: Sequence[tuple[str, Summary]], longest: int, width: int, mark: str
) -> tuple[list[_Column], int]:
    """The columns that fit beside the labels, the last extra ones going first, and the room for labels."""

    def room() -> int:
        return width - sum(len(_GAP) + _width(column, rows) for column in columns)

    while room() < longest and (extra := [column for column in columns if column.extra]):
        columns = [column for column in columns if column is not extra[-1]]
    while room() < min(longest, len(mark) + _LABEL_FLOOR) and len(columns) > 1:
        columns = columns[:-1]
    return columns, max(1, min(longest, room()))


def _width(column: _Column, rows: Iterable[tuple[str, Summary]]) -> int:
    return max(len(column.title), *(len(column.cell(summary).text) for _, summary in rows), 0)


def _line(label: str, room: int, cells: Iterable[Cell], widths: Iterable[int]) -> Line:
    shown = label if len(label) <= room else label[: room - 1] + "…"
    pieces = [Piece(shown.ljust(room))]
    for cell, width in zip(cells, widths, strict=True):
        pieces += [Piece(_GAP + " " * (width - len(cell.text))), Piece(cell.text, cell.role)]
    return tuple(pieces)


def _rate(name: str, roomy: bool | None) -> Callable[[Summary], Cell]:
    """A rate with its interval, in full or in short; without it where ``roomy`` is None."""

    def cell(summary: Summary) -> Cell:
        found = summary.get(name, {"n": 0})
        if not found["n"]:
            return Cell()
        return Cell(f"{found['rate']:.3f}" if roomy is None else _with_ends(found, roomy=roomy))

    return cell


def _with_ends(found: Mapping[str, Any], *, roomy: bool = True) -> str:
    low, high = (f"{found[end]:.3f}" for end in ("low", "high"))
    if roomy:
        return f"{found['rate']:.3f} [{low}, {high}]"
    return f"{found['rate']:.3f} {low.removeprefix('0')[:4]}-{high.removeprefix('0')[:4]}"


def _mean(name: str) -> Callable[[Summary], Cell]:
    return lambda summary: Cell(f"{summary[name]['mean']:.3f}" if summary[name]["n"] else NOT_MEASURED)


def _count(name: str, *, bad: bool = False) -> Callable[[Summary], Cell]:
    def cell(summary: Summary) -> Cell:
        value = summary[name]
        if value == NOT_OBSERVED:
            return Cell()
        return Cell(number_text(value), role="bad" if bad and value else "")

    return cell


def _notes(report: Mapping[str, Any], mark: str) -> Iterator[Piece]:
    notes = (
        *(_population, _memorised, _pairs, _controls, _contexts, _errors),
        *(_unstable, _tokens, _money),
    )
    for note in notes:
        yield from note(report, mark)
    yield from footnotes.lost(report["selection"], _SHOWN)


def _population(report: Mapping[str, Any], mark: str) -> Iterator[Piece]:
    selection = report["selection"]
    of = "" if selection["chosen"] == selection["of"] else f" of {selection['of']}"
    repeats = f", {report['repeats']} attempts each" if report["repeats"] > 1 else ""
    model = f", model {report['model']}" if report["model"] else ""
    agent = report["agent"].get("kind", "unknown")
    yield Piece(
        f"tasks: {selection['chosen']}{of} chosen{repeats}, partition {report['partition']}, access"
        f" {report['access']}, agent {agent}{model}"
    )
    if report["pilot"]:
        yield Piece("PILOT: these figures may not be presented as held-out", "bad")
    if report.get("partial"):
        yield Piece("partial: the run had not ended", "bad")


def _memorised(report: Mapping[str, Any], mark: str) -> Iterator[Piece]:
    for label, arm in report["arms"].items():
        success = arm["groups"]["all"]["success"]
        if arm.get(MEMORISATION):
            found = f"success {_with_ends(success)}" if success["n"] else "nothing was scored"
            yield Piece(f"{mark}memorisation check: {label}, which gets no context: {found}")


def _pairs(report: Mapping[str, Any], mark: str) -> Iterator[Piece]:
    for name, measured in report["paired"].get("all", {}).items():
        parts = [f"{figure} {_difference(measured[figure])}" for figure in _COMPARED if figure in measured]
        if parts:
            yield Piece(f"{mark}{name}: {'; '.join(parts)}")


def _difference(found: Mapping[str, Any]) -> str:
    cluster = found["cluster"]
    ends = f" [{cluster['low']:+.3f}, {cluster['high']:+.3f}]" if "low" in cluster else ""
    counts = f"{found['wins']} higher, {found['losses']} lower of {found['n']}"  # less may be better
    return (
        f"{found['mean']:+.3f}{ends} ({counts}, McNemar p {found['mcnemar_p']:.3f}, unit {cluster['unit']})"
    )


def _controls(report: Mapping[str, Any], mark: str) -> Iterator[Piece]:
    for label, arm in report["arms"].items():
        found = arm["groups"]["all"].get("already_fixed")
        if found:
            packets = f", {found['packet_abstained']} of {found['packets']} packets abstained"
            erred = f", {found['control_errors']} erred" if found["control_errors"] else ""
            failed, of = found["control_failed"], found.get("runs", found["tasks"])
            said = f"{failed} of {of} failed{packets if found['packets'] else ''}{erred}"
            yield Piece(f"{mark}controls: {label}: {said}", "bad" if failed else "")


def _contexts(report: Mapping[str, Any], mark: str) -> Iterator[Piece]:
    """Arms that had no context to give: what their figures say is what an agent does without."""
    for label, arm in report["arms"].items():
        if reasons := arm["groups"]["all"].get("context_reasons"):
            yield Piece(f"{mark}no context: {label}: {_counted(reasons)}", "bad")


def _errors(report: Mapping[str, Any], mark: str) -> Iterator[Piece]:
    for label, arm in report["arms"].items():
        if reasons := arm["groups"]["all"].get("error_reasons"):
            yield Piece(f"{mark}errors: {label}: {_counted(reasons)}", "bad")


def _counted(reasons: Mapping[str, int]) -> str:
    """How many there are, the most frequent ones by name."""
    return f"{sum(reasons.values())} ({footnotes.counted(reasons, _SHOWN)})"


def _unstable(report: Mapping[str, Any], mark: str) -> Iterator[Piece]:
    for label, arm in report["arms"].items():
        found = arm.get("unstable", [])
        if found:
            named = [f"{item['id']} {item['success']}/{item['runs']}" for item in found[:_SHOWN]]
            more = ["..."] if len(found) > _SHOWN else []
            yield Piece(f"{mark}unstable: {label}: {len(found)} tasks ({', '.join(named + more)})")


def _tokens(report: Mapping[str, Any], mark: str) -> Iterator[Piece]:
    unseen = []
    for label, arm in report["arms"].items():
        found = arm["groups"]["all"]["tokens_observed"]
        if found["records"]:
            sums = ", ".join(f"{key} {number_text(value)}" for key, value in found["sums"].items())
            yield Piece(f"{mark}tokens: {label}: {sums} (in {found['records']} of {found['of']} invocations)")
        elif found["of"]:
            unseen.append(label)
    if unseen:
        yield Piece(f"tokens: {', '.join(unseen)}: {NOT_OBSERVED}")


def _money(report: Mapping[str, Any], mark: str) -> Iterator[Piece]:
    currency = report.get("prices", {}).get("currency", "")
    attempt = "attempt at a task" if report["repeats"] > 1 else "task"
    for label, arm in report["arms"].items():
        found = arm["groups"]["all"]
        if "money" in found:
            success = found.get("money_per_success")
            each = "" if success is None else f", {number_text(success)} per success"
            seen = found["money_observed"]
            yield Piece(
                f"{mark}money: {label}: {number_text(found['money'])} {currency},"
                f" {number_text(found['money_per_task'])} per {attempt}{each}"
                f" (in {seen['records']} of {seen['of']} invocations)"
            )
