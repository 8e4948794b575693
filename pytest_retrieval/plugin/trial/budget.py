"""What a run may cost, watched over by all its processes: no invocation is started that would go beyond it.

What an invocation will cost is not known before it ends: it is taken to be as dear as the dearest so far. So
a run goes beyond its budget only by what one costs more than that, whatever the number of workers; the first
one runs alone. What nobody observed, such as the tokens of an invocation that ran out of time, counts 0.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import secrets
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_retrieval.snapshots.locks import exclusive
from pytest_retrieval.stats.rounding import half_away
from pytest_retrieval.trial.prices import spent_on

if TYPE_CHECKING:
    from pytest_retrieval.plugin.trial.shelf import Shelf
    from pytest_retrieval.trial.prices import ModelPrices

_POLL = 0.05


@dataclass(frozen=True, slots=True)
class _Account:
    """What the invocations that ended have cost, in all and the dearest, and how many they are."""

    spent: float = 0.0
    dearest: float = 0.0
    ended: int = 0

    def after(self, cost: float) -> _Account:
        return _Account(self.spent + cost, max(self.dearest, cost), self.ended + 1)


class Budget:
    """The account of a run in the folder ``path``; ``shelf`` is told when nothing more may be started.

    An invocation on its way is a file with an OS lock, which a killed worker gives back.
    """

    def __init__(self, path: Path, amount: float, prices: ModelPrices, shelf: Shelf) -> None:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._path = path
        self._amount = amount
        self._prices = prices
        self._shelf = shelf
        self._flight: tuple[Path, int] | None = None

    def may_start(self) -> bool:
        """Whether a further invocation may be started, which is then on its way; waits for others to end."""
        while not self._shelf.stopped:
            with self._alone():
                account, others = self._read(), self._on_their_way()
                if account.ended or not others:
                    if half_away(account.spent + (others + 1) * account.dearest) <= self._amount:
                        self._take_off()
                        return True
                    if not others:
                        self._shelf.stop(self._said(account))
            time.sleep(_POLL)
        return False

    def settle(self, run: Mapping[str, Any]) -> None:
        """Count an invocation that has ended, and that is no longer on its way."""
        with self._alone():
            account = self._read().after(spent_on(run, self._prices) or 0.0)
            temporary = self._path / "account.new"  # a worker may be killed while it writes
            temporary.write_text(json.dumps(asdict(account)), encoding="utf-8")
            temporary.replace(self._path / "account")
            self._land()

    def give_up(self) -> None:
        """Whatever this process has on its way has come to nothing."""
        self._land()

    def _said(self, account: _Account) -> str:
        spent, currency = f"{account.spent:.6g}", self._prices.currency
        if account.spent > self._amount:
            return f"not run: what was observed has cost {spent} {currency}, more than {self._option}"
        return (
            f"not run: what was observed has cost {spent} {currency}, and one more as dear as the dearest "
            f"({account.dearest:.6g}) would go beyond {self._option}"
        )

    @property
    def _option(self) -> str:
        return f"--retrieval-max-cost {self._amount:g}"

    def _alone(self) -> contextlib.AbstractContextManager[None]:
        return exclusive(self._path / "lock")

    def _read(self) -> _Account:
        try:
            return _Account(**json.loads((self._path / "account").read_text(encoding="utf-8")))
        except FileNotFoundError:
            return _Account()

    def _on_their_way(self) -> int:
        """How many invocations other processes have on their way."""
        return sum(map(_is_held, self._path.glob("flight-*")))

    def _take_off(self) -> None:
        place = self._path / f"flight-{os.getpid()}-{secrets.token_hex(4)}"
        descriptor = os.open(place, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        self._flight = place, descriptor

    def _land(self) -> None:
        flight, self._flight = self._flight, None
        if flight is not None:
            flight[0].unlink(missing_ok=True)
            os.close(flight[1])


def _is_held(place: Path) -> bool:
    try:
        descriptor = os.open(place, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
