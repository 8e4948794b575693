"""A comparison of two reports for a terminal, and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pytest_retrieval.report.compare import ArmChange, Comparison, Moved, Row
from pytest_retrieval.report.exports.markdown import code
from pytest_retrieval.report.paired import SELECTIVE
from pytest_retrieval.report.pieces import Line, Piece, plural, printable
from pytest_retrieval.stats.paired import leaves_out_zero

_OUTSIDE = "*"
_PILOT = "PILOT "
_ESCAPED = str.maketrans({"|": "\\|", "`": "'", "<": "&lt;", "*": "\\*", "_": "\\_", "\n": " ", "\r": " "})


def compare_lines(found: Comparison, width: int) -> Iterator[Line]:
    """Per arm a row for each group and measure, then the samples that moved most; ``width`` is kept."""
    yield from ((Piece(printable(text)),) for text in _preamble(found))
    mark = (Piece(_PILOT),) if found.pilot else ()
    for arm in found.arms:
        yield ()
        for line in _arm_lines(arm, width - len(_PILOT) * len(mark)):
            yield (*mark, *line)


def _arm_lines(arm: ArmChange, width: int) -> Iterator[Line]:
    yield (Piece(_shortened(_heading(arm), width), "bold"),)
    if not arm.same:
        yield from _table(arm, width)
        yield from ((Piece(_shortened(printable(f"  {text}"), width)),) for text in _moved(arm))


def markdown(found: Comparison) -> Iterator[str]:
    """The same as Markdown, for a pull request."""
    yield f"### {_PILOT if found.pilot else ''}Retrieval, compared"
    yield ""
    for text in _preamble(found):
        yield f"- {_escaped(text)}"
    for arm in found.arms:
        yield ""
        yield f"#### {_PILOT if found.pilot else ''}{_escaped(_heading(arm))}"
        if arm.same:
            continue
        yield ""
        yield "| group | measure | n | old | new | difference [95% CI] | higher / lower / same |"
        yield "|---|---|--:|--:|--:|---|---|"
        for row in arm.rows:
            cells = (
                row.group if row.group == "all" else code(row.group),
                _title(row.measure),
                *_figures(row, mark=f" \\{_OUTSIDE}"),
                _counts(row, " / "),
            )
            yield f"| {' | '.join(cells)} |"
        moved = list(_moved(arm))
        if moved:
            yield ""
            yield f"<details><summary>{_escaped(moved[0])}</summary>"
            yield ""
            yield from (f"- {code(f'{item.repo} {item.id}')}: {_ranks(item)}" for item in arm.moved)
            yield ""
            yield "</details>"
    yield ""
    yield f"\\{_OUTSIDE} zero is outside the interval"


def _preamble(found: Comparison) -> Iterator[str]:
    yield f"old: {found.old.path} ({found.old.sha256[:12]})"
    yield f"new: {found.new.path} ({found.new.sha256[:12]})"
    apart = [
        f"{count} only in the {name}"
        for count, name in ((found.only_old, "old"), (found.only_new, "new"))
        if count
    ]
    yield ", ".join([f"compared on {plural(found.common, 'common sample')}", *apart])
    if found.arms_only_old:
        yield f"only in the old: {', '.join(found.arms_only_old)}"
    if found.arms_only_new:
        yield f"only in the new: {', '.join(found.arms_only_new)}"


def _heading(arm: ArmChange) -> str:
    label = arm.new if arm.old == arm.new else f"{arm.old} -> {arm.new}"
    if arm.same:
        return f"{label}: no sample moved"
    units = {(row.difference["unit"], row.difference["units"]) for row in arm.rows if row.group == "all"}
    over = " or ".join(plural(count, unit) for unit, count in sorted(units))
    return f"{label}, intervals over {over}" if over else label


def _table(arm: ArmChange, width: int) -> Iterator[Line]:
    """Rows whose group is written once; groups give way where there is little room."""
    grid = [(row.group, _title(row.measure), *_figures(row), _counts(row, "/")) for row in arm.rows]
    titles = ("group", "measure", "n", "old", "new", "difference", "+/-/=")
    widths = [max(map(len, column)) for column in zip(titles, *grid, strict=True)]
    spare = width - sum(widths[1:]) - 2 * len(widths)
    widths[0] = max(5, min(widths[0], spare))
    yield (Piece(_joined(titles, widths), "bold"),)
    before = ""
    for row, cells in zip(arm.rows, grid, strict=True):
        shown = ("" if row.group == before else _shortened(cells[0], widths[0]), *cells[1:])
        before = row.group
        difference = row.difference
        role = "good" if difference["mean"] > 0 else "bad"
        told = leaves_out_zero(difference, difference["units"], difference["p"])
        yield (Piece(_joined(shown, widths), role if told else ""),)


def _joined(cells: tuple[str, ...], widths: list[int]) -> str:
    left = (0, 1, 5)
    parts = (
        f"{cell:<{width}}" if place in left else f"{cell:>{width}}"
        for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return "  ".join(parts).rstrip()


def _figures(row: Row, mark: str = _OUTSIDE) -> tuple[str, str, str, str]:
    return (
        str(row.difference["n"]),
        f"{row.old:.3f}",
        f"{row.new:.3f}",
        _difference(row.difference, mark),
    )


def _difference(found: Mapping[str, Any], mark: str) -> str:
    mean = _signed(found["mean"])
    if "low" not in found:
        return mean
    ends = f"[{_signed(found['low'])}, {_signed(found['high'])}]"
    text = f"{mean} {'all equal' if found['low'] == found['high'] else ends}"
    return text + (mark if leaves_out_zero(found, found["units"], found["p"]) else "")


def _signed(value: float) -> str:
    text = f"{value:+.3f}"
    return text if float(text) else f" {0:.3f}"


def _title(measure: str) -> str:
    return "selective" if measure == SELECTIVE else measure


def _counts(row: Row, between: str) -> str:
    return between.join(str(row.difference[name]) for name in ("wins", "losses", "ties"))


def _moved(arm: ArmChange) -> Iterator[str]:
    if not arm.changed:
        return
    shown = len(arm.moved)
    yield f"{plural(arm.changed, 'sample')} moved" + (
        f", the {shown} that moved most:" if shown < arm.changed else ":"
    )
    yield from (f"{sample.repo} {sample.id}: {_ranks(sample)}" for sample in arm.moved)


def _ranks(sample: Moved) -> str:
    if sample.measure != "rank":
        return f"{sample.measure} {sample.before:g} -> {sample.now:g}"
    return f"{_rank(sample.before)} -> {_rank(sample.now)}"


def _rank(rank: float) -> str:
    return "error" if rank < 0 else f"rank {rank:g}" if rank else "not found"


def _shortened(text: str, width: int) -> str:
    return text if len(text) <= width else text[: max(1, width - 1)] + "…"


def _escaped(text: str) -> str:
    return printable(text).translate(_ESCAPED)
