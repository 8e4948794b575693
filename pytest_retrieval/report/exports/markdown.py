"""The report as Markdown for a pull request or a job's summary: arms, verdicts, and what was found last.

Texts of others stand in ``<code>`` with all that Markdown and HTML would act on as entities: no markup, no
mention, no broken table. What does not fit into the bound is left out at the end of a line, and counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import nsmallest
from html import escape
from typing import Any

from pytest_retrieval.gates.lines import fails, further_lines, verdict_line
from pytest_retrieval.measures.names import recall_cuts
from pytest_retrieval.report.html.figures import measure_name, plural
from pytest_retrieval.report.pieces import inflected, printable

MAX_BYTES = (
    60_000  # a job's summary of over 1 MiB is dropped whole, a comment of over 65,536 characters refused
)
LEAST_BYTES = 300  # under which nothing is worth saying
_MARKS = {"passed": "✅", "failed": "❌", "undecidable": "❌", "undecided": "⚠️"}
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 /.-:,;=()+%'")
_LONGEST, _VERDICT = 120, 400  # characters of a text that are shown, and of a verdict
_SAMPLES = 20  # those that were found last
_NOT_MEASURED = "-"
_OF_LINES = ("chunk_recall@5", "chunk_recall@10", "chunk_recall@20", "chunk_mrr@20", "chunk_zero_miss")


def summary(
    head: Mapping[str, Any], details: Iterable[Mapping[str, Any]] = (), limit: int = MAX_BYTES
) -> str:
    """The Markdown of a report, of at most ``limit`` bytes, with a line end.

    ``details`` are drawn once, for the samples with gold that the arms ranked last.
    """
    blocks = [title(head, "Retrieval", "sample"), _arms(head), verdicts(head), _worst(head, details)]
    lines = [line for block in blocks for line in (*block, "")]
    return cut(lines, limit)


def preformatted(lines: Iterable[str], limit: int = MAX_BYTES) -> str:
    """Lines for a terminal as Markdown that leaves them as they are, of at most ``limit`` bytes."""
    return cut(["<pre>", *(escape(line) or "&nbsp;" for line in lines), "</pre>"], limit)


def code(text: str, longest: int = _LONGEST) -> str:
    """``text`` as it is, on one line, whatever it holds."""
    shown = printable(text)
    shown = shown if len(shown) <= longest else f"{shown[: longest - 1]}…"
    safe = (character if character in _PLAIN else f"&#{ord(character)};" for character in shown)
    return f"<code>{''.join(safe)}</code>"


def title(head: Mapping[str, Any], kind: str, noun: str, note: str | None = None) -> Iterator[str]:
    """The heading of a report whose items are each a ``noun``; ``note`` below it; what was lost."""
    selection = head["selection"]
    of = "" if selection["chosen"] == selection["of"] else f" of {selection['of']}"
    failed = sum(map(fails, head["gates"]))
    verdict = f", {failed} of {len(head['gates'])} gates failed" if failed else ""
    items = f"{selection['chosen']:,}{of} {inflected(selection['of'], noun)}"
    yield f"### {kind}: {items}, {plural(len(head['arms']), 'arm')}{verdict}"
    if note is not None:
        yield from ("", f"**{note}**")
    if lost := max(len(selection["lost"]), selection["chosen"] - selection["judged"]):
        yield from ("", f"**{lost} of {selection['chosen']} {noun}s were lost**: gates cannot be decided.")


def measures_shown(head: Mapping[str, Any]) -> list[str]:
    """The measures of a table of arms but for ``hit@k``: of a code search those of lines come first."""
    if head["kind"] == "codesearch":
        return [*_OF_LINES, "recall@10", *head.get("measures", ())]
    return [*(f"recall@{cut}" for cut in recall_cuts(head["limit"])), "mrr@k", *head.get("measures", ())]


def _heading(name: str, limit: int) -> str:
    if name in _OF_LINES:
        return measure_name(name, limit)
    return name.replace("recall", "R").replace("@k", f"@{limit}")


def _arms(head: Mapping[str, Any]) -> Iterator[str]:
    names = [*measures_shown(head), "hit@k"]
    titles = [_heading(name, head["limit"]) for name in names]
    yield row(["arm", "n", *titles, "95 % CI", "abstained", "errors", "p50"])
    yield row(["---", *["---:"] * (len(names) + 5)])
    for label, arm in head["arms"].items():
        found = arm["groups"]["all"]
        ends = found["intervals"]["hit@k"]
        interval = f"{ends['low']:.3f} to {ends['high']:.3f}" if "low" in ends else _NOT_MEASURED
        figures = [figure(found.get(name)) for name in names]
        silent, time = figure(found.get("abstained")), _median(head["latency"].get(label, {}))
        yield row([code(label), str(found["n"]), *figures, interval, silent, str(found["errors"]), time])
    ceiling = head["ceiling"]["all"]
    if ceiling["n"]:
        figures = [figure(ceiling.get(name)) for name in names]
        yield row(["*(ceiling)*", str(ceiling["n"]), *figures, *[""] * 4])


def verdicts(head: Mapping[str, Any]) -> Iterator[str]:
    """The verdicts of gates, a line each."""
    for gate in head["gates"]:
        status, _, rest = verdict_line(gate).partition(" ")
        yield f"- {_MARKS.get(gate['status'], '')} {status.lower()} {code(rest, _VERDICT)}"
        yield from (f"  - {code(line)}" for line in further_lines(gate))


def _worst(head: Mapping[str, Any], details: Iterable[Mapping[str, Any]]) -> list[str]:
    """The samples whose gold the arms found last, with the rank of the first gold file in each."""
    labels = list(head["arms"])
    judged = ((detail, _ranks(detail, labels)) for detail in details if detail["gold"])
    worst = nsmallest(_SAMPLES, judged, key=lambda found: (_share(found[1]), found[0]["id"]))
    missed = [(detail, ranks) for detail, ranks in worst if _share(ranks) < len(ranks)]
    if not missed:
        return []
    rows = [
        row([code(detail["id"]), code(detail["repo"]), *(str(rank or _NOT_MEASURED) for rank in ranks)])
        for detail, ranks in missed
    ]
    return [
        "<details><summary>Found last: the rank of the first gold file</summary>",
        "",
        row(["sample", "repository", *map(code, labels)]),
        row(["---", "---", *["---:"] * len(labels)]),
        *rows,
        "",
        "</details>",
    ]


def _ranks(detail: Mapping[str, Any], labels: Sequence[str]) -> list[int | None]:
    return [_first(detail["arms"].get(label, {}), set(detail["gold"])) for label in labels]


def _first(answer: Mapping[str, Any], gold: set[str]) -> int | None:
    if "error" in answer:
        return None
    return next((rank for rank, path in enumerate(answer.get("ranked", ()), 1) if path in gold), None)


def _share(ranks: Iterable[int | None]) -> float:
    """The sum of reciprocal ranks: the number of arms where all of them put gold first."""
    return sum(1 / rank if rank else 0.0 for rank in ranks)


def _median(latency: Mapping[str, Any]) -> str:
    """The median time of a query, under the cache label with the most of them."""
    known = [times for label, times in latency.items() if label != "BUILD" and "p50_ms" in times]
    most = max(known, key=lambda times: times["n"], default=None)
    return _NOT_MEASURED if most is None else f"{most['p50_ms']:.1f} ms"


def figure(value: float | None) -> str:
    """A figure with three decimals, a dash where there is none."""
    return _NOT_MEASURED if value is None else f"{value:.3f}"


def row(cells: Iterable[str]) -> str:
    """A row of a table."""
    return f"| {' | '.join(cells)} |"


def cut(lines: Sequence[str], limit: int) -> str:
    """As many whole lines as fit, with a line that says how many do not."""
    sizes = [len(line.encode()) + 1 for line in lines]
    if sum(sizes) <= limit:
        return "".join(f"{line}\n" for line in lines)
    room, kept = limit - 100, 0  # for the last lines
    while kept < len(lines) and sizes[kept] <= room:
        room -= sizes[kept]
        kept += 1
    said = "".join(lines[:kept])
    closing = [
        f"</{name}>" for name in ("details", "pre") if f"<{name}>" in said and f"</{name}>" not in said
    ]
    rest = [*closing, "", f"{len(lines) - kept} more lines; the report has everything."]
    return "".join(f"{line}\n" for line in (*lines[:kept], *rest))
