"""Gates as a run is given them: typed, or in a TOML file with labels and reasoned exceptions.

.. code-block:: toml

    [[gate]]
    label = "nothing that was found is lost"
    gate = "lost(bm25:all, hit@5) <= 0"
    exception = { reason = "two queries were reworded, see the change", until = 2027-01-31 }
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, NoReturn

from pytest_retrieval.errors import GateError, closest
from pytest_retrieval.gates import sets
from pytest_retrieval.gates.grammar import Condition
from pytest_retrieval.regular import read_regular

MAX_BYTES = 1 << 20
_KEYS = ("gate", "label", "exception")
_EXCEPTION_KEYS = ("reason", "until")


@dataclass(frozen=True, slots=True)
class GateException:
    """Why a gate that does not hold lets the run pass all the same, up to the day ``until`` (UTC)."""

    reason: str
    until: date | None = None

    def expired(self, today: date) -> bool:
        """Whether it no longer counts."""
        return self.until is not None and today > self.until

    def record(self, today: date) -> dict[str, Any]:
        """As a verdict keeps it."""
        until = {} if self.until is None else {"until": self.until.isoformat()}
        return {"reason": self.reason, **until, **({"expired": True} if self.expired(today) else {})}


@dataclass(frozen=True, slots=True)
class Rule:
    """A gate, what people call it, and its exception, if it has them."""

    gate: Condition
    label: str | None = None
    exception: GateException | None = None

    @property
    def arm(self) -> str:
        """The arm that is judged."""
        return self.gate.arm

    @property
    def against(self) -> str:
        """The arm that it is compared with in the same run, or ``""``."""
        return self.gate.against

    @property
    def group(self) -> str:
        """The group whose samples are judged."""
        return self.gate.group

    @property
    def measure(self) -> str:
        """The measure that is judged."""
        return self.gate.measure


def today() -> date:
    """The day by which exceptions are judged."""
    return datetime.now(UTC).date()


def typed_rules(texts: Iterable[str]) -> list[Rule]:
    """The rules of gates as typed on a command line or in an ini file; raises GateError."""
    return [Rule(gate) for text in texts for gate in sets.expand(text)]


def read_rules(path: Path) -> list[Rule]:
    """The rules of the TOML file ``path``: tables ``[[gate]]`` with ``gate``, ``label`` and ``exception``.

    Raises GateError, one line with file, table and key, for anything else.
    """
    document = _load(path)
    if unknown := next((key for key in document if key != "gate"), None):
        _refuse(path, f"unknown key {unknown!r}{closest(unknown, ['gate'])}; gates are tables [[gate]]")
    tables = document.get("gate", [])
    if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
        _refuse(path, "it has no table [[gate]]")
    rules: list[Rule] = []
    for number, table in enumerate(tables, 1):
        rules += _rules(path, f"gate {number}", table)
    return rules


def _load(path: Path) -> dict[str, Any]:
    try:
        data = read_regular(path)
        if len(data) > MAX_BYTES:
            _refuse(path, f"larger than {MAX_BYTES:,} bytes")
        return tomllib.loads(data.decode("utf-8"))
    except OSError as error:
        raise GateError(f"cannot read the gates {path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        _refuse(path, f"not UTF-8 at byte {error.start}")
    except tomllib.TOMLDecodeError as error:
        _refuse(path, f"not TOML: {error}")


def _rules(path: Path, place: str, table: Mapping[str, Any]) -> list[Rule]:
    _check_keys(path, place, table, _KEYS)
    text, label = table.get("gate"), table.get("label")
    if not isinstance(text, str):
        _refuse(path, f"{place}: gate: must be the text of a gate")
    if label is not None and not (isinstance(label, str) and label.strip() and label.isprintable()):
        _refuse(path, f"{place}: label: must be one line of text")
    exception = _exception(path, f"{place}: exception", table.get("exception"))
    try:
        return [Rule(gate, label, exception) for gate in sets.expand(text)]
    except GateError as error:
        raise GateError(f"{path}: {place}: {error}") from None


def _exception(path: Path, place: str, table: Any) -> GateException | None:
    if table is None:
        return None
    if not isinstance(table, dict):
        _refuse(path, f"{place}: must be a table with a reason, and until if it ends")
    _check_keys(path, place, table, _EXCEPTION_KEYS)
    reason, until = table.get("reason"), table.get("until")
    if not (isinstance(reason, str) and reason.strip() and reason.isprintable()):
        _refuse(path, f"{place}: reason: must say in one line why the gate may fail")
    if until is not None and (isinstance(until, datetime) or not isinstance(until, date)):
        _refuse(path, f"{place}: until: must be a date such as 2027-01-31, without quotes")
    return GateException(reason, until)


def _check_keys(path: Path, place: str, table: Mapping[str, Any], known: tuple[str, ...]) -> None:
    if unknown := next((key for key in table if key not in known), None):
        hint = closest(unknown, known)
        _refuse(path, f"{place}: unknown key {unknown!r}{hint}; known are {', '.join(known)}")


def _refuse(path: Path, why: str) -> NoReturn:
    raise GateError(f"{path}: {why}")
