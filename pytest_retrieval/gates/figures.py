"""The figure that a gate speaks of, as the summaries of a report have it.

Beside the figure stand its extremes: what it would be had every sample with a fault missed, or been hit. A
declared refusal is an arm's answer and no fault.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pytest_retrieval.arms.pairs import pair_name
from pytest_retrieval.gates.grammar import ALL, Gate
from pytest_retrieval.gates.names import COUNTED, ERRORS, is_share
from pytest_retrieval.measures.chosen import LARGEST
from pytest_retrieval.measures.names import IN_TOKENS, OF_SPANS, SELECTIVE, is_own
from pytest_retrieval.report import trialfigures
from pytest_retrieval.report.scores import TIMES
from pytest_retrieval.report.summaries import BUILD, RATES
from pytest_retrieval.stats.clusters import ENOUGH, PLURALS
from pytest_retrieval.stats.inferiority import unseen_share
from pytest_retrieval.stats.rounding import half_away
from pytest_retrieval.stats.wilson import wilson

_SHOWN = 6  # groups that are there, where one is not


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure over ``n`` samples, or why there is none.

    ``unit`` is what its statistics take for independent, ``units`` how many there are where that is told.
    ``extremes`` are other values that it may as well have: if the ``faults`` samples with a fault had missed
    or hit, and if what so few samples cannot show is there; ``doubt`` tells the latter. ``few`` is why there
    can be no verdict at all.
    """

    n: int
    value: float | None
    reason: str | None = None
    unit: str = "sample"
    units: int | None = None
    extremes: tuple[float, ...] = ()
    faults: int = 0
    doubt: str | None = None
    few: str | None = None


def all_errors(asked: int) -> str:
    """Why nothing can be said of an arm whose every sample is an error."""
    return f"all {asked} samples are errors"


def no_sample(group: str, known: Iterable[str]) -> str:
    """Why there is no figure of an empty ``group``, with those of its kind that are not."""
    kind = group.partition(":")[0]
    alike = sorted(name for name in known if name.startswith(f"{kind}:") and "/fold:" not in name)
    shown = ", ".join(alike[:_SHOWN]) + (f" and {len(alike) - _SHOWN} more" if len(alike) > _SHOWN else "")
    return f"no sample is in {group}" + (f"; known are {shown}" if alike else "")


def has_figure(head: Mapping[str, Any], gate: Gate) -> bool:
    """Whether the report's summaries hold the figure, or can say that there is none."""
    groups = head["arms"][gate.arm]["groups"]
    if gate.measure in TIMES and head["kind"] != "trial":
        return gate.group == ALL
    if gate.against:
        pairs = head["paired"].get(gate.group, {})
        known = gate.measure in pairs.get(pair_name((gate.arm, gate.against)), {})
        # How far an end of a count reaches is seen in its samples alone.
        shares = head["kind"] == "trial" or is_share(gate.measure)
        return known and (gate.end in ("", "n") or (shares and gate.end in ("low", "high")))
    group = groups.get(gate.group)
    if group is None:
        return not gate.group.startswith("repo:") and "/fold:" not in gate.group
    if gate.measure == ERRORS or gate.end == "n":
        return True
    if head["kind"] == "trial":
        return not gate.end or (gate.end in ("low", "high") and trialfigures.has_interval(gate.measure))
    known = gate.measure in group or not group["positives"]
    return known and (not gate.end or (gate.end in ("low", "high") and gate.measure in RATES))


def summary_figure(head: Mapping[str, Any], gate: Gate) -> Figure:
    """The figure as the report's summaries have it; see :func:`has_figure`."""
    if gate.against:
        return _difference(head, gate)
    if gate.measure in TIMES and head["kind"] != "trial":
        return time_figure(head, gate, _times(head, gate) if gate.group == ALL else {"n": 0})
    groups = head["arms"][gate.arm]["groups"]
    group = groups.get(gate.group)
    if group is None:
        return Figure(0, None, no_sample(gate.group, groups))
    if head["kind"] == "trial":
        return _of_trial(group, gate)
    return _of_group(group, gate, head["limit"])


def _of_group(group: Mapping[str, Any], gate: Gate, limit: int) -> Figure:
    counted = "n" if gate.measure in (*SELECTIVE, ERRORS) else "positives"
    costs = gate.measure in IN_TOKENS  # as of times, only of answers: an error has none, whatever it hit
    n = (group["answered"] if costs else group)[counted]
    ends = group["intervals"].get(gate.measure, {})
    found = ends.get(gate.end) if gate.end else group.get(gate.measure)
    if n == 0:
        return Figure(n, None, "no sample has this figure")
    if gate.end == "n":
        return Figure(n, float(n))
    if gate.measure == ERRORS:
        return Figure(n, found)
    if group["errors"] == group["n"]:
        return Figure(n, found, all_errors(group["n"]))
    if found is None:
        return Figure(n, None, f"the report has no {gate.measure} here")
    faults = 0 if costs else min(group["errors"] - group["refused"], n - group["answered"][counted])
    figure = Figure(n, found, faults=faults)
    return replace(figure, extremes=_imputed(group, gate, figure, limit)) if faults else figure


def _imputed(group: Mapping[str, Any], gate: Gate, figure: Figure, limit: int) -> tuple[float, ...]:
    """What the figure is if the samples with a fault count as misses, and if they count as hits."""
    n, faults, found = figure.n, figure.faults, figure.value or 0.0
    if gate.end:
        hits = group["intervals"][gate.measure]["successes"]
        place = ("low", "high").index(gate.end)
        return tuple(half_away(wilson(hits + more, n)[place]) for more in (0, faults))
    if gate.measure in OF_SPANS:  # absent on an error
        answered = n - faults
        return tuple(half_away((found * answered + more) / n) for more in (0, faults))
    share = faults / n * largest(gate.measure, limit)
    sign = -1 if gate.measure == "chunk_zero_miss" else 1  # an error is a miss there already
    return (found, half_away(found + sign * share))


def largest(measure: str, limit: int, *, trial: bool = False) -> int:
    """The most that one sample can have of a measure; of a trial's figures only rates are told."""
    if trial:
        return 1
    if is_own(measure):
        return LARGEST
    return limit if measure in COUNTED else 1


def _of_trial(group: Mapping[str, Any], gate: Gate) -> Figure:
    found = trialfigures.figure(group, gate.measure)
    holder = group.get(gate.measure)
    tasks = int(group.get("tasks", 0))
    n = int(holder.get("n", 0)) if isinstance(holder, Mapping) else tasks
    if gate.end == "n":
        return Figure(n, float(n))
    value = None if found is None else getattr(found, gate.end or "value")
    if value is None:
        return Figure(n, None, "no task has this figure")
    faults = int(group.get("errors", 0)) if isinstance(holder, Mapping) else 0
    if not faults or gate.measure not in trialfigures.RATES or not isinstance(holder, Mapping):
        return Figure(n, value)
    runs = holder.get("runs", n) + faults  # of repeated tasks the counts are of invocations
    size = tasks if "runs" in holder else runs
    rates = [(holder["count"] + more) / runs for more in (0, faults)]
    place = ("low", "high").index(gate.end) if gate.end else None
    values = (rate if place is None else wilson(rate * size, size)[place] for rate in rates)
    return Figure(n, value, extremes=tuple(map(half_away, values)), faults=faults)


def _times(head: Mapping[str, Any], gate: Gate) -> Mapping[str, Any]:
    """The distribution of an arm's times under the cache label with the most of them."""
    told = head["latency"].get(gate.arm, {})
    if gate.measure == "build_ms":
        found: Mapping[str, Any] = told.get(BUILD, {"n": 0})
        return found
    queries = ((label, found) for label, found in told.items() if label != BUILD)
    return min(queries, key=lambda item: (-item[1]["n"], item[0]), default=("", {"n": 0}))[1]


def time_figure(head: Mapping[str, Any], gate: Gate, times: Mapping[str, Any]) -> Figure:
    """A quantile of the distribution ``times``; of those under more than one worker there is none."""
    n = times["n"]
    if gate.end == "n":
        return Figure(n, float(n), unit="query")
    value = times.get(f"{gate.end}_ms")
    if value is None:
        return Figure(n, None, f"{n} times are too few for a quantile", unit="query")
    if head["environment"].get("contended"):
        return Figure(n, value, "times under more than one worker gate nothing; run with -n 0", unit="query")
    return Figure(n, value, unit="query")


def _difference(head: Mapping[str, Any], gate: Gate) -> Figure:
    """Of two arms' differences; an end of the interval is the one over the unit that it names."""
    pairs = head["paired"].get(gate.group, {})
    figures = pairs.get(pair_name((gate.arm, gate.against)), {}).get(gate.measure)
    if figures is None:
        return Figure(0, None, f"no sample of {gate.group} was compared")
    cluster, n = figures["cluster"], figures["n"]
    named = {"unit": cluster["unit"], "units": cluster["count"]}
    if gate.end == "n":
        return Figure(n, float(n), **named)
    for label in (gate.arm, gate.against):
        group = head["arms"][label]["groups"].get(gate.group, {})
        if group.get("n") and group["n"] == group["errors"]:
            return Figure(n, figures["mean"], f"{label}: {all_errors(group['n'])}", **named)
    figure = Figure(n, figures["mean"], **named)
    most = largest(gate.measure, head["limit"], trial=head["kind"] == "trial")
    if gate.end:
        figure = interval_end(cluster, gate.end, figures["mean"], n, most)
    one, two = (min(n, _faults(head, label, gate.group)) for label in (gate.arm, gate.against))
    if figure.value is None or not one + two:
        return figure
    values = (figure.value, *figure.extremes)
    share = most / n
    extremes = [half_away(value + shift) for value in values for shift in (-two * share, one * share)]
    return replace(figure, extremes=(*figure.extremes, *extremes), faults=one + two)


def interval_end(cluster: Mapping[str, Any], end: str, mean: float, n: int, most: float) -> Figure:
    """An end of the interval of a mean over its unit, which is not believed where few samples differ.

    Resamples hold nothing that no sample shows. So the end may as well be as far from the mean as ``n``
    samples without an event allow (``stats.inferiority``), where one sample reaches ``most``. Under five
    units there is no verdict.
    """
    unit, units = cluster["unit"], cluster["count"]
    if end not in cluster:
        return Figure(n, None, f"one {unit} alone has no interval", unit, units)
    if units < ENOUGH:
        few = f"{units} {PLURALS[unit]} are too few for a verdict, which takes {ENOUGH}"
        return Figure(n, cluster[end], None, unit, units, few=few)
    reach = unseen_share(n)
    other = half_away(mean - most * reach if end == "low" else mean + most * reach)
    if cluster["low"] < other < cluster["high"]:
        return Figure(n, cluster[end], None, unit, units)
    what = (
        f"{n} samples may" if cluster["low"] < cluster["high"] else f"all {n} samples say the same, and may"
    )
    doubt = f"{what} hide others that differ ({reach:.3g} of all)"
    return Figure(n, cluster[end], None, unit, units, (other,), doubt=doubt)


def _faults(head: Mapping[str, Any], label: str, group: str) -> int:
    """How many samples of a group have a fault of the arm; of all, where the group has no figures."""
    groups = head["arms"][label]["groups"]
    found = groups.get(group, groups["all"])
    return int(found["errors"]) - int(found.get("refused", 0))
