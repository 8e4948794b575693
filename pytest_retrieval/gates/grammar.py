"""Gates as text: ``ARM [- ARM] [@ GROUP]: MEASURE[.low|.high] OP NUMBER``.

``bm25:all: recall@10 >= 0.4``, ``grep @ task:code2test: hit@k.low >= 0.3``, ``grep: errors == 0``, and of
paired differences ``bm25:all - grep: mrr@k.low > 0``. Labels and groups may hold colons: the last one before
the measure ends them. Blanks are optional but around the minus, for labels may hold one.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from math import isfinite
from types import MappingProxyType
from typing import NoReturn

from pytest_retrieval.arms.pairs import pair_name
from pytest_retrieval.errors import GateError, UsageError, closest
from pytest_retrieval.measures.names import canonical
from pytest_retrieval.report.canonical import number_text
from pytest_retrieval.report.paired import MEASURES as COMPARED
from pytest_retrieval.report.paired import NO_GOLD, SELECTIVE
from pytest_retrieval.report.summaries import RATES

ERRORS = "errors"
FORM = "ARM [- ARM] [@ GROUP]: MEASURE[.low|.high] OP NUMBER"
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
_ENDS = ("low", "high")
COMPARED_WITHOUT_GOLD = (SELECTIVE,)
_KINDS = ("all", "task", "stratum", "fold", "corpus", "difficulty")
_LABEL = re.compile(r"[A-Za-z0-9_.+:-]+", re.ASCII)
_PARTS = re.compile(r"(.*?)([<>=!]+)([^<>=!]*)", re.DOTALL)  # the last comparison counts
_MEASURE = re.compile(r"[A-Za-z0-9_@]+", re.ASCII)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Gate:
    """A condition on one figure of a report; ``str()`` gives the text that parses back to it.

    ``against`` is the arm that ``arm`` is compared with, or ``""``. ``end`` is ``""`` for the mean, or the
    end ``low`` or ``high`` of a rate's interval, or of a difference's over its clusters.
    """

    arm: str
    measure: str
    comparison: str
    number: float
    group: str = "all"
    end: str = ""
    against: str = ""

    def __str__(self) -> str:
        return f"{self.subject} {self.expected}"

    @property
    def subject(self) -> str:
        """What is judged: ``bm25:all @ fold:A: hit@k.low``."""
        where = "" if self.group == "all" else f" @ {self.group}"
        arms = pair_name((self.arm, self.against)) if self.against else self.arm
        return f"{arms}{where}: {self.measure}{'.' if self.end else ''}{self.end}"

    @property
    def expected(self) -> str:
        """What it is held to: ``>= 0.4``."""
        return f"{self.comparison} {number_text(self.number)}"

    def holds(self, value: float) -> bool:
        """Whether ``value`` meets the condition."""
        return OPERATORS[self.comparison](value, self.number)


def parse(text: str) -> Gate:
    """The gate that a user wrote; raises GateError, one line, for anything that is not of the form."""
    parts = _PARTS.fullmatch(text)
    if parts is None or parts[2] not in OPERATORS:
        _refuse(text, f"one of {' '.join(OPERATORS)} must stand between the measure and the number")
    where, _, what = parts[1].rpartition(":")
    arm, at, group = (part.strip() for part in where.partition("@"))
    measure, end = _split_end(what.strip())
    arm, minus, against = (part.strip() for part in arm.partition(" - "))
    if minus and (not _LABEL.fullmatch(against) or against == arm):
        _refuse(text, f"{against!r} is no label of another arm")
    if not _LABEL.fullmatch(arm):
        _refuse(text, f"{arm!r} is no label of an arm" if arm else "an arm and a colon must come first")
    if at and not (group and group.isprintable()):
        _refuse(text, "a group must follow the @")
    if not _MEASURE.fullmatch(measure):
        _refuse(text, f"{measure!r} is no measure")
    return Gate(arm, measure, parts[2], _number(text, parts[3].strip()), group if at else "all", end, against)


def check(gate: Gate, *, arms: Iterable[str], groups: Iterable[str] | None, limit: int) -> Gate:
    """``gate`` with the report's name of its measure, if a run with these names can judge it.

    ``groups`` may be None while they are not known. Raises GateError, one line, with the closest name.
    """
    labels = list(arms)
    for arm in filter(None, (gate.arm, gate.against)):
        if arm not in labels:
            _unknown(gate, "arm", arm, labels)
    kind = gate.group.partition(":")[0]
    if groups is not None and gate.group not in (known := list(groups)):
        _unknown(gate, "group", gate.group, known)
    if kind not in _KINDS:
        _unknown(gate, "kind of group", kind, list(_KINDS))
    measure = _measure(gate, limit)
    if gate.against:
        if measure not in (compared := COMPARED_WITHOUT_GOLD if gate.group in NO_GOLD else COMPARED):
            _unknown(gate, "paired measure", measure, list(compared))
    elif gate.end and measure not in RATES:
        raise GateError(f"gate '{gate}': {measure} has no interval; {' and '.join(RATES)} have")
    return replace(gate, measure=measure)


def _measure(gate: Gate, limit: int) -> str:
    if gate.measure == ERRORS:
        return ERRORS
    try:
        return canonical(gate.measure, limit)
    except UsageError as error:
        raise GateError(f"gate '{gate}': {error}{closest(gate.measure, [ERRORS])}") from None


def _split_end(what: str) -> tuple[str, str]:
    measure, _, end = what.rpartition(".")
    return (measure, end) if end in _ENDS else (what, "")


def _number(text: str, number: str) -> float:
    if not _NUMBER.fullmatch(number):
        _refuse(text, f"{number!r} is no plain number such as 0.4")
    value = float(number) + 0.0  # turns -0 into 0
    if not isfinite(value):
        _refuse(text, f"{number!r} is too large")
    return value


def _refuse(text: str, why: str) -> NoReturn:
    raise GateError(f"gate {text!r}: {why} (the form is: {FORM})")


def _unknown(gate: Gate, what: str, name: str, known: list[str]) -> NoReturn:
    hint = closest(name, known)
    raise GateError(f"gate '{gate}': no {what} {name!r} here{hint}; known are {', '.join(known)}")
