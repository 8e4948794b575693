"""The arms of a trial as a table, in LaTeX and in Markdown, and where an agent was certain and wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import nsmallest
from typing import Any

from pytest_retrieval.errors import UsageError, closest
from pytest_retrieval.report import trialfigures
from pytest_retrieval.report.exports import latex, markdown

_RATES = ("success", "confidently_wrong_tasks")  # with their intervals
_FIGURES = ("abstained", "mean_f1", "gold_in_context")
_TITLES = (
    "success",
    "95 % CI",
    "confidently wrong",
    "95 % CI",
    "abstained",
    "F1",
    "gold in context",
    "errors",
)
_TASKS = 20  # that are listed
_PILOT = "pilot: these figures may not be presented as held-out"

Summary = Mapping[str, Any]


def latex_lines(head: Mapping[str, Any], group: str = "all") -> Iterator[str]:
    """The lines of a ``tabular`` of every arm over one group of tasks.

    Raises UsageError, one line, for a group that the report does not have.
    """
    found = {label: arm["groups"][group] for label, arm in head["arms"].items() if group in arm["groups"]}
    if not found:
        known = sorted({name for arm in head["arms"].values() for name in arm["groups"]})
        raise UsageError(
            f"no group {group!r} in the report{closest(group, known)} (known: {', '.join(known)})"
        )
    yield "% needs \\usepackage{booktabs}"
    if head["pilot"]:
        yield f"% {_PILOT}"
    yield f"\\begin{{tabular}}{{l{'r' * (len(_TITLES) + 1)}}}"
    yield "\\toprule"
    titles = (title.replace(" % ", "\\,\\% ") for title in _TITLES)
    yield latex.row(["arm", "tasks", *titles])
    yield "\\midrule"
    for label, summary in found.items():
        yield latex.row([latex.escaped(label), *_cells(summary, "--", "[{low:.3f}, {high:.3f}]")])
    yield "\\bottomrule"
    yield "\\end{tabular}"


def summary(
    head: Mapping[str, Any], details: Iterable[Mapping[str, Any]] = (), limit: int = markdown.MAX_BYTES
) -> str:
    """The Markdown of a trial's report, of at most ``limit`` bytes, with a line end."""
    title = markdown.title(head, "Trial", "task", _PILOT if head["pilot"] else None)
    blocks = [title, _arms(head), markdown.verdicts(head), _certain_and_wrong(head, details)]
    return markdown.cut([line for block in blocks for line in (*block, "")], limit)


def _arms(head: Mapping[str, Any]) -> Iterator[str]:
    yield markdown.row(["arm", "tasks", *_TITLES])
    yield markdown.row(["---", *["---:"] * (len(_TITLES) + 1)])
    for label, arm in head["arms"].items():
        cells = _cells(arm["groups"]["all"], "-", "{low:.3f} to {high:.3f}")
        yield markdown.row([markdown.code(label), *cells])


def _cells(summary: Summary, nothing: str, interval: str) -> Iterator[str]:
    """An arm's tasks, then what :data:`_TITLES` names."""
    yield str(summary["tasks"])
    for name in _RATES:
        found = trialfigures.figure(summary, name)
        yield nothing if found is None else f"{found.value:.3f}"
        yield nothing if found is None else interval.format(low=found.low, high=found.high)
    for name in _FIGURES:
        found = trialfigures.figure(summary, name)
        yield nothing if found is None else f"{found.value:.3f}"
    yield str(summary["errors"])


def _certain_and_wrong(head: Mapping[str, Any], details: Iterable[Mapping[str, Any]]) -> list[str]:
    """The tasks on which most arms were certain of what is false, with what became of them under each arm."""
    labels = list(head["arms"])
    judged = ((detail, [_wrong(detail["arms"].get(label)) for label in labels]) for detail in details)
    wrong = ((detail, sum(counts)) for detail, counts in judged if any(counts))
    found = nsmallest(_TASKS, wrong, key=lambda found: (-found[1], found[0]["row"], found[0]["id"]))
    if not found:
        return []
    rows = [
        markdown.row([markdown.code(detail["id"]), markdown.code(detail["repo"]), *_outcomes(detail, labels)])
        for detail, _ in found
    ]
    return [
        "<details><summary>Certain and wrong: what became of the task under each arm</summary>",
        "",
        markdown.row(["task", "repository", *map(markdown.code, labels)]),
        markdown.row(["---"] * (len(labels) + 2)),
        *rows,
        "",
        "</details>",
    ]


def _wrong(entry: Mapping[str, Any] | None) -> int:
    """In how many invocations the agent was certain and wrong."""
    runs = () if entry is None else entry["runs"]
    return sum(run["metrics"]["confidently_wrong_task"] for run in runs if run["metrics"] is not None)


def _outcomes(detail: Mapping[str, Any], labels: Sequence[str]) -> Iterator[str]:
    for label in labels:
        runs = detail["arms"].get(label, {"runs": []})["runs"]
        counts = Counter(map(_outcome, runs))
        many = len(runs) > 1
        yield ", ".join(f"{word} ({count})" if many else word for word, count in counts.items()) or "-"


def _outcome(run: Mapping[str, Any]) -> str:
    metrics = run["metrics"]
    if metrics is None:
        return "error" if "error" in run or "score_error" in run else "not run"
    if metrics["confidently_wrong_task"]:
        return "certain and wrong" if not metrics["success"] else "true, and certain and wrong"
    if metrics["success"]:
        return "true"
    return "silent" if metrics["abstained"] else "not true"
