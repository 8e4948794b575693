"""Gates as text: a condition on a figure, no regression against a baseline, no query lost.

==============================================================  ============================================
``ARM [- ARM] [@ GROUP]: [GRANULARITY] MEASURE[.STAT] OP TARGET``  a figure of a report is held to a number
``no_regression(ARM [@ GROUP], MEASURE, MARGIN)``                a loss beyond the margin is excluded
``lost(ARM [@ GROUP], MEASURE) OP NUMBER``                       so many queries were found and are not now
==============================================================  ============================================

``bm25:all: recall@10 >= 0.4``, ``grep @ task:code2test: hit@k.low >= 0.3``, ``grep: errors == 0``,
``bm25:all: mrr@k >= baseline - 0.02``, and of paired differences ``bm25:all - grep: mrr@k.low > 0``. Labels
and groups may hold colons: the last one before the measure ends them. Blanks are optional but around the
minus of two arms, for labels may hold one.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite
from types import MappingProxyType
from typing import Literal, NoReturn

from pytest_retrieval.arms.pairs import pair_name
from pytest_retrieval.errors import GateError
from pytest_retrieval.report.canonical import number_text

FORM = "ARM [- ARM] [@ GROUP]: [GRANULARITY] MEASURE[.STAT] OP TARGET"
NO_REGRESSION_FORM = "no_regression(ARM [@ GROUP], MEASURE, MARGIN)"
LOST_FORM = "lost(ARM [@ GROUP], MEASURE) OP NUMBER"
OPERATORS: Mapping[str, Callable[[float, float], bool]] = MappingProxyType(
    {
        ">=": operator.ge,
        ">": operator.gt,
        "<=": operator.le,
        "<": operator.lt,
        "==": operator.eq,
        "!=": operator.ne,
    }
)
GRANULARITIES = ("file", "chunk", "wide2", "wide3")
STATISTICS = ("mean", "low", "high", "p50", "p95", "n")
FUNCTIONS = ("no_regression", "lost")
ALL = "all"

_LABEL = re.compile(r"[A-Za-z0-9_.+:-]+", re.ASCII)
_PARTS = re.compile(r"(.*?)([<>=!]+)([^<>=!]*)", re.DOTALL)  # the last comparison counts
_MEASURE = re.compile(r"[A-Za-z0-9_@][A-Za-z0-9_.@=()]*", re.ASCII)  # F0.5, SetF(beta=0.5)
_DIGITS = r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_NUMBER = re.compile(rf"[+-]?{_DIGITS}", re.ASCII)
_RELATIVE = re.compile(rf"baseline(?:\s*([-+*])\s*({_DIGITS}))?", re.ASCII)
_FUNCTION = re.compile(rf"\s*({'|'.join(FUNCTIONS)})\s*\(", re.ASCII)

Relative = Literal["", "+", "*"]
Better = Literal["", "+", "-"]


@dataclass(frozen=True, slots=True)
class Gate:
    """A condition on one figure of a report; ``str()`` gives the text that parses back to it.

    ``against`` is the arm that ``arm`` is compared with, or ``""``. ``end`` is ``""`` for the mean, or one of
    ``STATISTICS``: the end of an interval (of a rate's, else of the mean's over its unit), a quantile over
    samples, or the number of samples. ``relative`` says what ``number`` is: the target itself, what is added
    to the baseline's figure (``+``), or what that is multiplied by (``*``).
    """

    arm: str
    measure: str
    comparison: str
    number: float
    group: str = ALL
    end: str = ""
    against: str = ""
    relative: Relative = ""
    granularity: str = ""

    def __str__(self) -> str:
        return f"{self.subject} {self.expected}"

    @property
    def subject(self) -> str:
        """What is judged: ``bm25:all @ fold:A: hit@k.low``."""
        arms = pair_name((self.arm, self.against)) if self.against else self.arm
        end = f".{self.end}" if self.end else ""
        return f"{_where(arms, self.group)}: {_graded(self.granularity, self.measure)}{end}"

    @property
    def expected(self) -> str:
        """What it is held to: ``>= 0.4``, ``>= baseline - 0.02``."""
        return f"{self.comparison} {self._target()}"

    @property
    def needs_baseline(self) -> bool:
        """Whether the target is taken from another report."""
        return bool(self.relative)

    def target(self, baseline: float | None = None) -> float:
        """The number that the figure is held to; ``baseline`` is the figure of the baseline, if needed."""
        if not self.relative or baseline is None:
            return self.number
        return baseline * self.number if self.relative == "*" else baseline + self.number

    def holds(self, value: float, baseline: float | None = None) -> bool:
        """Whether ``value`` meets the condition; sums are compared to six decimals, as reports have them."""
        return holds(self.comparison, value, self.target(baseline))

    def _target(self) -> str:
        if not self.relative:
            return number_text(self.number)
        if self.relative == "*":
            return f"baseline * {number_text(self.number)}"
        sign = "-" if self.number < 0 else "+"
        return f"baseline {sign} {number_text(abs(self.number))}" if self.number else "baseline"


@dataclass(frozen=True, slots=True)
class NoRegression:
    """That the arm lost no more than ``margin`` of a measure against the baseline, beyond chance.

    ``better`` says of a user's own measure whether more of it (``+``) or less (``-``) is better.
    """

    arm: str
    measure: str
    margin: float
    group: str = ALL
    granularity: str = ""
    against: str = ""
    better: Better = ""
    needs_baseline: Literal[True] = True

    def __str__(self) -> str:
        measure = f"{self.better}{_graded(self.granularity, self.measure)}"
        return f"no_regression({_where(self.arm, self.group)}, {measure}, {number_text(self.margin)})"

    @property
    def expected(self) -> str:
        """What the difference is held to."""
        return f"a loss of less than {number_text(self.margin)}" if self.margin else "no loss"


@dataclass(frozen=True, slots=True)
class Lost:
    """A condition on how many queries the baseline found and this run misses."""

    arm: str
    measure: str
    comparison: str
    number: float
    group: str = ALL
    granularity: str = ""
    against: str = ""
    needs_baseline: Literal[True] = True

    def __str__(self) -> str:
        measure = _graded(self.granularity, self.measure)
        return f"lost({_where(self.arm, self.group)}, {measure}) {self.expected}"

    @property
    def expected(self) -> str:
        """What the count is held to: ``<= 0``."""
        return f"{self.comparison} {number_text(self.number)}"

    def holds(self, count: int) -> bool:
        """Whether so many lost queries meet the condition."""
        return holds(self.comparison, count, self.number)


Condition = Gate | NoRegression | Lost


def holds(comparison: str, value: float, target: float) -> bool:
    """Whether ``value`` stands to ``target`` as ``comparison`` says, beyond the rounding of a sum."""
    return OPERATORS[comparison](round(value - target, 9), 0)


def parse(text: str) -> Condition:
    """The gate that a user wrote; raises GateError, one line, for anything that is of no form."""
    called = _FUNCTION.match(text)
    if called is not None:
        return _parse_call(text, called[1], text[called.end() :])
    where, comparison, target = _compared(text, text, FORM)
    where, _, what = where.rpartition(":")
    arm, group = _split_group(text, where, FORM)
    arm, minus, against = (part.strip() for part in arm.partition(" - "))
    if minus and (not _LABEL.fullmatch(against) or against == arm):
        _refuse(text, f"{against!r} is no label of another arm", FORM)
    _check_label(text, arm, FORM)
    measure, end = _split_end(what.strip())
    granularity, measure = _split_granularity(text, measure, FORM)
    relative, number = _target(text, target.strip(), FORM)
    return Gate(arm, measure, comparison, number, group, end, against, relative, granularity)


def _parse_call(text: str, name: str, rest: str) -> Condition:
    form = LOST_FORM if name == "lost" else NO_REGRESSION_FORM
    inside, closing, after = rest.rpartition(")")
    if not closing:
        _refuse(text, "the parenthesis is not closed", form)
    given = [part.strip() for part in inside.rsplit(",", 1 if name == "lost" else 2)]
    if len(given) != (2 if name == "lost" else 3):
        _refuse(text, f"{name} takes {'an arm and a measure' if name == 'lost' else 'three things'}", form)
    arm, group = _split_group(text, given[0], form)
    _check_label(text, arm, form)
    better, what = _split_sign(given[1]) if name == "no_regression" else ("", given[1])
    granularity, measure = _split_granularity(text, what, form)
    if name == "lost":
        before, comparison, number = _compared(text, after, form)
        if before.strip():
            _refuse(text, f"{before.strip()!r} stands before the comparison", form)
        return Lost(arm, measure, comparison, _number(text, number.strip(), form), group, granularity)
    if after.strip():
        _refuse(text, f"{after.strip()!r} follows it; nothing may", form)
    margin = _number(text, given[2], form)
    if margin < 0:
        _refuse(text, "the margin is how much may be lost, from 0 on", form)
    return NoRegression(arm, measure, margin, group, granularity, better=better)


def _compared(text: str, part: str, form: str) -> tuple[str, str, str]:
    parts = _PARTS.fullmatch(part)
    if parts is None or parts[2] not in OPERATORS:
        _refuse(text, f"one of {' '.join(OPERATORS)} must stand between the measure and the number", form)
    return parts[1], parts[2], parts[3]


def _split_group(text: str, where: str, form: str) -> tuple[str, str]:
    arm, at, group = (part.strip() for part in where.partition("@"))
    if at and not (group and group.isprintable()):
        _refuse(text, "a group must follow the @", form)
    return arm, group if at else ALL


def _check_label(text: str, arm: str, form: str) -> None:
    if not _LABEL.fullmatch(arm):
        why = f"{arm!r} is no label of an arm" if arm else "an arm and a colon must come first"
        if ": " in arm:
            why = f"{why}; a group stands before the colon, as in {arm.partition(':')[0]} @ GROUP: MEASURE"
        _refuse(text, why, form)


def _split_end(what: str) -> tuple[str, str]:
    measure, dot, end = what.rpartition(".")
    if not dot or end not in STATISTICS:
        return what, ""
    return measure, "" if end == "mean" else end


def _split_granularity(text: str, what: str, form: str) -> tuple[str, str]:
    first, *rest = what.split() or [""]
    granularity, measure = (first, rest[0]) if len(rest) == 1 and first in GRANULARITIES else ("", what)
    if not _MEASURE.fullmatch(measure):
        _refuse(text, f"{measure!r} is no measure", form)
    return granularity, measure


def _split_sign(what: str) -> tuple[Better, str]:
    if what.startswith("-"):
        return "-", what[1:].lstrip()
    return ("+", what[1:].lstrip()) if what.startswith("+") else ("", what)


def _target(text: str, target: str, form: str) -> tuple[Relative, float]:
    relative = _RELATIVE.fullmatch(target)
    if relative is None:
        return "", _number(text, target, form)
    number = _number(text, relative[2] or "0", form)
    return ("*", number) if relative[1] == "*" else ("+", -number + 0.0 if relative[1] == "-" else number)


def _number(text: str, number: str, form: str) -> float:
    if not _NUMBER.fullmatch(number):
        _refuse(text, f"{number!r} is no plain number such as 0.4", form)
    value = float(number) + 0.0  # turns -0 into 0
    if not isfinite(value):
        _refuse(text, f"{number!r} is too large", form)
    return value


def _where(arm: str, group: str) -> str:
    return arm if group == ALL else f"{arm} @ {group}"


def _graded(granularity: str, measure: str) -> str:
    return f"{granularity} {measure}" if granularity else measure


def _refuse(text: str, why: str, form: str) -> NoReturn:
    raise GateError(f"gate {text!r}: {why} (the form is: {form})")
