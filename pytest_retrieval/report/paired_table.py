"""The section ``paired`` for a terminal: differences on the same samples, marked where zero is outside."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pytest_retrieval.report.paired import NO_GOLD, SELECTIVE
from pytest_retrieval.report.pieces import Line, Piece, plural
from pytest_retrieval.stats.paired import leaves_out_zero

_GAP = "  "
_ROOMY = 100  # characters from which figures are written in full
_ROWS = 12
_OUTSIDE = "*"
# In the order in which they give way where there is little room.
_FIRST_TO_STAY = ("mrr@k", "recall@10", "hit@k", "recall@5", "recall@20")
_ORDER = ("recall@5", "recall@10", "recall@20", "mrr@k", "hit@k")
_TITLES = {"mrr@k": "MRR", SELECTIVE: "selective"}


class Cell(NamedTuple):
    """A difference with its interval; ``role`` tells an improvement from a loss where zero is outside."""

    text: str = "-"
    role: str = ""


def paired_lines(report: Mapping[str, Any], width: int) -> Iterator[Line]:
    """The differences over all samples with gold, and over those without; at most ``width`` wide.

    Nothing where no two arms were compared.
    """
    roomy = width >= _ROOMY
    for group, measures in (("all", None), *((stratum, (SELECTIVE,)) for stratum in NO_GOLD)):
        pairs = report["paired"].get(group, {})
        if pairs:
            found = dict.fromkeys(name for figures in pairs.values() for name in figures)
            known = sorted(found, key=lambda name: _ORDER.index(name) if name in _ORDER else len(_ORDER))
            yield from _group(report, group, pairs, measures or known, width=width, roomy=roomy)


def _group(
    report: Mapping[str, Any],
    group: str,
    pairs: Mapping[str, Mapping[str, Any]],
    measures: Sequence[str],
    *,
    width: int,
    roomy: bool,
) -> Iterator[Line]:
    shown = dict(list(pairs.items())[:_ROWS])
    columns = {
        name: [_cell(figures.get(name), roomy=roomy) for figures in shown.values()] for name in measures
    }
    counts = [str(max(found["n"] for found in figures.values())) for figures in shown.values()]
    label_width = max(map(len, (*shown, "pair")))
    count_width = max(map(len, counts))
    titles = {name: measure_title(name, report["limit"]) for name in columns}
    widths = {name: max(len(titles[name]), *(len(cell.text) for cell in columns[name])) for name in columns}
    room = width - len(_GAP) - count_width
    kept = _fitting(widths, room - label_width) or _fitting(widths, room - len("pair"))[:1]
    label_width = min(label_width, max(4, room - sum(len(_GAP) + widths[name] for name in kept)))
    yield (Piece(_heading(group, shown, kept, width)),)
    header = "".join(_GAP + titles[name].ljust(widths[name]) for name in kept)
    yield (Piece(f"{'pair':<{label_width}}{_GAP}{'n':>{count_width}}{header}".rstrip(), "bold"),)
    for place, (name, count) in enumerate(zip(shown, counts, strict=True)):
        pieces = [Piece(f"{_shortened(name, label_width):<{label_width}}{_GAP}{count:>{count_width}}")]
        for measure in kept:
            cell = columns[measure][place]
            pieces += [
                Piece(_GAP),
                Piece(cell.text, cell.role),
                Piece(" " * (widths[measure] - len(cell.text))),
            ]
        yield tuple(pieces[:-1] if kept else pieces)
    if len(pairs) > len(shown):
        yield (Piece(f"{len(pairs) - len(shown)} more pairs in the report", "dim"),)


def _heading(group: str, pairs: Mapping[str, Mapping[str, Any]], measures: Sequence[str], width: int) -> str:
    """What the intervals are over; a line that is short enough, whatever it leaves out."""
    where = "" if group == "all" else f" ({group.removeprefix('stratum:')})"
    clusters = [found[name]["cluster"] for found in pairs.values() for name in measures if name in found]
    units = {(found["count"], found["unit"]) for found in clusters if "low" in found}
    over = " or ".join(plural(count, unit) for count, unit in sorted(units))
    says = f"differences{where}, 95% intervals over {over}; {_OUTSIDE} zero is outside"
    return says if over and len(says) <= width else f"differences{where}; {_OUTSIDE} zero is outside"


def _cell(figures: Mapping[str, Any] | None, *, roomy: bool) -> Cell:
    if figures is None:
        return Cell()
    cluster = figures["cluster"]
    mean = _signed(figures["mean"], roomy=roomy)
    if "low" not in cluster:
        return Cell(f"{mean} -")
    low, high = cluster["low"], cluster["high"]
    ends = f"[{_signed(low, roomy=roomy)},{' ' if roomy else ''}{_signed(high, roomy=roomy)}]"
    text = f"{mean} {'all equal' if cluster.get('degenerate') else ends}"
    if not leaves_out_zero(cluster, cluster["count"], figures["p"]):
        return Cell(text)
    return Cell(text + _OUTSIDE, "good" if low > 0 else "bad")


def _signed(value: float, *, roomy: bool) -> str:
    """``+0.123``, or ``+.123`` where there is little room; a difference of nothing has no sign."""
    text = f"{value:+.3f}"
    if float(text) == 0:
        text = f" {0:.3f}"
    return text if roomy else text[0] + text[1:].removeprefix("0") if abs(value) < 1 else text[:5]


def measure_title(measure: str, limit: int) -> str:
    """What a measure is called in a table: ``R@10``, ``MRR``, and ``ap@20`` for ``ap@k``."""
    if measure in _TITLES:
        return _TITLES[measure]
    family, _, cut = measure.partition("@")
    return f"{'R' if family == 'recall' else family}@{limit if cut == 'k' else cut}"


def _fitting(widths: Mapping[str, int], room: int) -> list[str]:
    """The measures that fit, in their own order; the more telling ones first to stay."""
    order = sorted(
        widths, key=lambda name: _FIRST_TO_STAY.index(name) if name in _FIRST_TO_STAY else len(_FIRST_TO_STAY)
    )
    kept: set[str] = set()
    for name in order:
        if sum(len(_GAP) + widths[other] for other in (*kept, name)) <= room:
            kept.add(name)
    return [name for name in widths if name in kept]


def _shortened(label: str, width: int) -> str:
    return label if len(label) <= width else label[: width - 1] + "…"
