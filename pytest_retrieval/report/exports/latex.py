"""The table of arms for a paper: LaTeX with booktabs' rules, intervals, and the best of a column in bold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_retrieval.errors import UsageError, closest
from pytest_retrieval.measures.names import CUT
from pytest_retrieval.report.exports.markdown import measures_shown
from pytest_retrieval.report.html.figures import measure_name

_NOT_MEASURED = "--"
_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}
_CEILING = "perfect ranker"


def table(head: Mapping[str, Any], group: str = "all") -> Iterator[str]:
    """The lines of a ``tabular`` of every arm over one group of samples.

    Raises UsageError, one line, for a group that the report does not have.
    """
    arms = {label: arm["groups"].get(group) for label, arm in head["arms"].items()}
    if not any(arms.values()):
        known = sorted({name for arm in head["arms"].values() for name in arm["groups"]})
        raise UsageError(
            f"no group {group!r} in the report{closest(group, known)} (known: {', '.join(known)})"
        )
    names = measures_shown(head)
    rows = {label: found for label, found in arms.items() if found}
    yield "% needs \\usepackage{booktabs}"
    yield f"\\begin{{tabular}}{{l{'r' * (len(names) + 2)}l}}"
    yield "\\toprule"
    yield row(["arm", "$n$", *map(_title, names), f"hit@{head['limit']}", "95\\,\\% CI"])
    yield "\\midrule"
    best = {name: _best([found.get(name) for found in rows.values()], name) for name in (*names, "hit@k")}
    for label, found in rows.items():
        figures = [_figure(found.get(name), best[name]) for name in (*names, "hit@k")]
        yield row([escaped(label), str(found["n"]), *figures, _interval(found)])
    ceiling = head["ceiling"].get(group, {"n": 0})
    if ceiling["n"]:
        yield "\\midrule"
        figures = [_figure(ceiling.get(name), None) for name in (*names, "hit@k")]
        yield row([_CEILING, str(ceiling["n"]), *figures, ""])
    yield "\\bottomrule"
    yield "\\end{tabular}"


def escaped(text: str) -> str:
    """``text`` with what LaTeX would act on written so that it is printed."""
    return "".join(_SPECIAL.get(character, character) for character in text)


def _title(name: str) -> str:
    if name.startswith("chunk_"):
        return escaped(measure_name(name, 0))
    short = {"recall": "R", "mrr": "MRR", "ndcg": "nDCG", "p": "P", "ap": "MAP"}
    family, _, cut = name.partition("@")
    shown = short.get(family, family)
    return escaped(shown if cut == "k" else f"{shown}@{cut}")


def _best(values: Sequence[float | None], name: str) -> float | None:
    """The best of at least two different values of a measure of which more is better."""
    known = {value for value in values if value is not None}
    return max(known) if len(known) > 1 and name.removeprefix("chunk_").partition("@")[0] in CUT else None


def _figure(value: float | None, best: float | None) -> str:
    if value is None:
        return _NOT_MEASURED
    return f"\\textbf{{{value:.3f}}}" if value == best else f"{value:.3f}"


def _interval(found: Mapping[str, Any]) -> str:
    ends = found["intervals"]["hit@k"]
    return f"[{ends['low']:.3f}, {ends['high']:.3f}]" if "low" in ends else _NOT_MEASURED


def row(cells: Sequence[str]) -> str:
    """A row of a table."""
    return f"{' & '.join(cells)} \\\\"
