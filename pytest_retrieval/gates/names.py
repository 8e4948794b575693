"""Whether a run or a report has what a gate names, and the report's own name of its measure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import NoReturn

from pytest_retrieval.errors import GateError, UsageError, closest
from pytest_retrieval.gates.grammar import STATISTICS, Condition, Gate, Lost, NoRegression
from pytest_retrieval.measures.names import IN_TOKENS, OF_SEARCH, canonical, is_own
from pytest_retrieval.report import trialfigures
from pytest_retrieval.report.paired import NO_GOLD, SELECTIVE
from pytest_retrieval.report.scores import TIMES

ERRORS = "errors"
_KINDS = ("all", "task", "stratum", "fold", "repo", "corpus", "difficulty", "kind")
_WITHOUT_GOLD = (SELECTIVE, "abstained")
_TELLS_NOTHING = ("abstained",)  # more of it is neither better nor worse
LESS_IS_BETTER = frozenset(("hard_negative_hits@k", "chunk_zero_miss", "confidently_wrong_tasks", *IN_TOKENS))
COUNTED = ("hard_negative_hits@k",)  # a measure that goes up to the limit
_TIMELIKE = re.compile(r"latenc|time|second|wall|build|_ms|p50|p95", re.IGNORECASE)
_OF_TIMES = f"; times are {', '.join(f'{name}.{end}' for name in TIMES for end in ('p50', 'p95'))}"
_ONE_OR_NONE = re.compile(r"(hit|full)@(k|[1-9][0-9]*)|selective_success|pass@[1-9][0-9]*", re.ASCII)


def check(
    gate: Condition,
    *,
    arms: Iterable[str],
    groups: Iterable[str] | None,
    limit: int,
    own: Collection[str] = (),
    trial: bool = False,
) -> Condition:
    """``gate`` with the report's name of its measure, if a run with these names can judge it.

    ``groups`` may be None while they are not known; repositories are not looked up. ``own`` are the measures
    that were asked for beside those of every report, under their canonical names. ``trial`` says that the
    measures are the figures of a trial. Raises GateError, one line, with the closest name.
    """
    _check_arms(gate, list(arms))
    _check_group(gate, None if groups is None else list(groups))
    measure = _trial_measure(gate) if trial else _measure(gate, limit, own)
    found = replace(gate, measure=measure, granularity="")
    if isinstance(found, Gate):
        _check_figure(str(gate), found, trial=trial)
    else:
        _check_call(str(gate), found, trial=trial)
    return found


def is_share(measure: str) -> bool:
    """Whether no sample of a report of rankings has more than 1 of the measure."""
    return not is_own(measure) and measure not in (*COUNTED, *IN_TOKENS)


def _check_arms(gate: Condition, known: list[str]) -> None:
    for arm in filter(None, (gate.arm, gate.against)):
        if arm in known:
            continue
        for one in known:
            two = arm.removeprefix(f"{one}-")
            if two != arm and two in known:
                raise GateError(
                    f"gate '{gate}': no arm {arm!r} here; for the difference write '{one} - {two}'"
                )
        _unknown(gate, "arm", arm, known)


def _check_group(gate: Condition, known: list[str] | None) -> None:
    kind = gate.group.partition(":")[0]
    if kind not in _KINDS:
        _unknown(gate, "kind of group", kind, list(_KINDS))
    if known is None or gate.group in known or kind == "repo":
        return
    task, combined, fold = gate.group.partition("/fold:")
    if not (combined and task in known and f"fold:{fold}" in known):
        _unknown(gate, "group", gate.group, known)


def _measure(gate: Condition, limit: int, own: Collection[str]) -> str:
    typed = gate.measure
    if not gate.granularity and typed in (ERRORS, *TIMES):
        return typed
    try:
        if gate.granularity in ("", "file"):
            return typed if typed in own else canonical(typed, limit, own)
        return _searched(gate, limit)
    except UsageError as error:
        name, dot, end = typed.rpartition(".")
        if dot and not end[:1].isdigit():
            known = f"{closest(end, STATISTICS)}; known are {', '.join(STATISTICS)}"
            raise GateError(f"gate '{gate}': {name} has no {end!r}{known}") from None
        if _TIMELIKE.search(typed) and not closest(typed, list(own)):
            raise GateError(f"gate '{gate}': unknown measure {typed!r}{_OF_TIMES}") from None
        raise GateError(f"gate '{gate}': {error}{closest(typed, [ERRORS, *TIMES])}") from None


def _searched(gate: Condition, limit: int) -> str:
    """The measure of lines under the name that reports have: ``chunk recall@10`` is ``chunk_recall@10``."""
    plain = canonical(gate.measure, limit) if "_" not in gate.measure else gate.measure
    plain = plain.replace("@k", f"@{limit}")
    name = f"{gate.granularity}_{plain}"
    if name in OF_SEARCH:
        return name
    if gate.granularity == "chunk" and plain in OF_SEARCH:
        return plain
    known = [f"{kind} {rest}" for kind, _, rest in (found.partition("_") for found in OF_SEARCH) if rest]
    shown = f"{gate.granularity} {gate.measure}"
    raise UsageError(f"no measure {shown!r}{closest(shown, known)}; known are {', '.join(known)}")


def _trial_measure(gate: Condition) -> str:
    if gate.granularity:
        raise GateError(f"gate '{gate}': a trial has no {gate.granularity}")
    if not trialfigures.is_figure(gate.measure):
        _unknown(gate, "figure of a trial", gate.measure, list(trialfigures.NAMES))
    return gate.measure


def _check_figure(typed: str, gate: Gate, *, trial: bool) -> None:
    if gate.against:
        _check_pair(typed, gate)
    elif gate.measure in TIMES and not trial:
        _check_time(typed, gate)
    elif gate.end not in ("", "n") and _is_count(gate.measure, trial=trial):
        what = "interval" if gate.end in ("low", "high") else "quantiles"
        raise GateError(f"gate '{typed}': {gate.measure} is one number and has no {what}")


def _check_pair(typed: str, gate: Gate) -> None:
    if gate.measure in (ERRORS, *TIMES) or (gate.group in NO_GOLD and gate.measure not in _WITHOUT_GOLD):
        known = f"; known are {', '.join(_WITHOUT_GOLD)}" if gate.group in NO_GOLD else ""
        raise GateError(f"gate '{typed}': no paired measure {gate.measure!r} here{known}")


def _check_time(typed: str, gate: Gate) -> None:
    if gate.end not in ("p50", "p95", "n"):
        raise GateError(f"gate '{typed}': of times only {gate.measure}.p50 and .p95 say something")
    if gate.relative:
        raise GateError(f"gate '{typed}': times of two runs tell of two machines; give a number")


def _check_call(typed: str, gate: NoRegression | Lost, *, trial: bool) -> None:
    if gate.measure in TIMES or _is_count(gate.measure, trial=trial):
        raise GateError(f"gate '{typed}': no sample by itself has {gate.measure}")
    if isinstance(gate, NoRegression) and gate.measure in _TELLS_NOTHING:
        raise GateError(f"gate '{typed}': more {gate.measure} is neither better nor worse; see {SELECTIVE}")
    if isinstance(gate, NoRegression):
        own = not trial and is_own(gate.measure)
        _check_sign(typed, gate, own=own)
        if (gate.measure in trialfigures.RATES if trial else is_share(gate.measure)) and gate.margin >= 1:
            raise GateError(
                f"gate '{typed}': nobody can lose 1 or more of {gate.measure}; write 0.02 for 2 %"
            )
    single = gate.measure in trialfigures.RATES if trial else _ONE_OR_NONE.fullmatch(gate.measure)
    if isinstance(gate, Lost) and not single:
        raise GateError(f"gate '{typed}': lost() counts queries; it takes hit@5, full@k, selective_success")


def _check_sign(typed: str, gate: NoRegression, *, own: bool) -> None:
    """Of a user's own measure nobody but the user knows which way is better, of others everybody does."""
    name = gate.measure
    if own and not gate.better:
        raise GateError(
            f"gate '{typed}': whether more or less {name} is better is not known: write +{name} or -{name}"
        )
    if gate.better and not own:
        raise GateError(f"gate '{typed}': it is known which way {name} is better; leave out {gate.better!r}")


def _is_count(measure: str, *, trial: bool) -> bool:
    """Whether the figure is of the whole group, and no sample has one."""
    figures = (*trialfigures.COUNTS, *trialfigures.CONTROLS, *trialfigures.MONEY)
    return measure == ERRORS or (trial and measure in figures)


def _unknown(gate: Condition, what: str, name: str, known: list[str]) -> NoReturn:
    hint = closest(name, known)
    raise GateError(f"gate '{gate}': no {what} {name!r} here{hint}; known are {', '.join(known)}")
