"""What tokens cost: a file of prices per million, by model and by the keys of an agent's usage events.

.. code-block:: toml

    currency = "USD"

    [models."gpt-5"]
    input_tokens = 1.25
    cached_input_tokens = 0.125
    output_tokens = 10

    [models."gpt-5".within]
    cached_input_tokens = "input_tokens"

``within`` says that the tokens of one key are counted under another one, too: they are paid once, at their
own price. A key without a price costs nothing. ``models."*"`` serves any model.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from pytest_retrieval.errors import UsageError, closest
from pytest_retrieval.model import NOT_OBSERVED
from pytest_retrieval.regular import read_regular
from pytest_retrieval.report.shapes import MisfitError, map_of, number, record, text
from pytest_retrieval.stats.rounding import half_away
from pytest_retrieval.trial.values import decode

MAX_BYTES = 1 << 20
ANY_MODEL = "*"
_MILLION = 1_000_000

_file = record({"currency": text, "models": map_of(record({}, {"within": map_of(text)}))})


@dataclass(frozen=True, slots=True)
class ModelPrices:
    """The prices of one model: ``per_million`` and ``within`` by usage key, ``sha256`` of the file."""

    currency: str
    sha256: str
    per_million: Mapping[str, float]
    within: Mapping[str, str]

    def facts(self) -> dict[str, Any]:
        """As a report's head keeps it, and :func:`from_facts` reads it."""
        return {
            "currency": self.currency,
            "sha256": self.sha256,
            "per_million": dict(self.per_million),
            "within": dict(self.within),
        }

    def cost(self, tokens: Mapping[str, float]) -> float:
        """What ``tokens`` cost, in ``currency``, with six decimals."""
        billed = {key: Fraction(count) for key, count in tokens.items()}
        for part, whole in self.within.items():
            if part in billed and whole in billed:
                billed[whole] = max(Fraction(0), billed[whole] - Fraction(tokens[part]))
        total = sum(billed[key] * Fraction(self.per_million.get(key, 0)) for key in billed)
        return half_away(float(total / _MILLION))


@dataclass(frozen=True, slots=True)
class Prices:
    """A file of prices."""

    path: str
    currency: str
    sha256: str
    models: Mapping[str, Mapping[str, Any]]

    def of(self, model: str) -> ModelPrices:
        """The prices of ``model``; raises UsageError where the file has none for it."""
        found = self.models.get(model, self.models.get(ANY_MODEL))
        if found is None:
            near = closest(model, list(self.models))
            raise UsageError(f'{self.path}: no prices of the model {model!r}{near}; add [models."{model}"]')
        priced = {key: value for key, value in found.items() if key != "within"}
        return ModelPrices(self.currency, self.sha256, priced, found.get("within", {}))


def load_prices(path: Path) -> Prices:
    """Read a file of prices, TOML or (with the ending ``.json``) JSON of the same form.

    Raises UsageError, one line with file and place.
    """
    try:
        data = read_regular(path)
    except OSError as error:
        raise UsageError(f"cannot read the prices {path}: {error.strerror or error}") from error
    try:
        written = data.decode("utf-8")
        values = decode(written) if path.suffix == ".json" else tomllib.loads(written)
        _check(values)
    except ValueError as error:
        raise UsageError(f"{path}: {error}") from None
    except MisfitError as fault:
        raise UsageError(f"{path}: {str(fault).replace('the report', 'the file of prices')}") from None
    return Prices(str(path), values["currency"], hashlib.sha256(data).hexdigest(), values["models"])


def from_facts(facts: Mapping[str, Any] | None) -> ModelPrices | None:
    """The prices that a report's head keeps, if it does."""
    return None if facts is None else ModelPrices(**facts)


def spent_on(run: Mapping[str, Any], prices: ModelPrices) -> float | None:
    """What an invocation has cost as far as it was seen, failed attempts included; None where nothing was."""
    seen = [run["tokens"], run.get("retried_tokens", NOT_OBSERVED)]
    costs = [prices.cost(tokens) for tokens in seen if tokens != NOT_OBSERVED]
    return half_away(sum(costs)) if costs else None


def money_of(run: Mapping[str, Any], prices: ModelPrices | None) -> dict[str, float]:
    """``{"money": amount}`` of a run; empty without prices and where nobody saw the tokens of its reply."""
    if prices is None or run["tokens"] == NOT_OBSERVED:
        return {}
    return {"money": spent_on(run, prices) or 0.0}


def _check(values: Any) -> None:
    """Raises MisfitError for what is no file of prices, and ValueError for a part within nothing."""
    _file(values)
    for model, prices in values["models"].items():
        within = prices.get("within", {})
        for key, value in prices.items():
            if key != "within":
                _priced(value, model, key)
        for part, whole in within.items():
            if part not in prices or whole not in prices or part == whole:
                raise ValueError(f"models.{model!r}.within: {part!r} and {whole!r} are not two priced keys")


def _priced(value: Any, model: str, key: str) -> None:
    try:
        number(value)
    except MisfitError as fault:
        raise fault.inside(key).inside(model).inside("models") from None
