from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_retrieval.errors import UsageError
from pytest_retrieval.trial.prices import Prices, from_facts, load_prices, money_of, spent_on

TOML = """
currency = "USD"

[models."big-1"]
input_tokens = 2
cached_input_tokens = 0.5
output_tokens = 10.0

[models."big-1".within]
cached_input_tokens = "input_tokens"
"""


def loaded(folder: Path, text: str = TOML, name: str = "prices.toml") -> Prices:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return load_prices(path)


def test_what_tokens_cost(tmp_path: Path) -> None:
    prices = loaded(tmp_path).of("big-1")
    # 600 fresh at 2, 400 cached at 0.5, 100 out at 10, per million.
    tokens = {"input_tokens": 1000, "cached_input_tokens": 400, "output_tokens": 100, "turns": 3}
    assert prices.cost(tokens) == 0.0024
    assert prices.cost({"cached_input_tokens": 400}) == 0.0002
    assert prices.cost({}) == 0


def test_json_says_the_same(tmp_path: Path) -> None:
    body = {"currency": "EUR", "models": {"*": {"output_tokens": 1}}}
    prices = loaded(tmp_path, json.dumps(body), "prices.json").of("any model")
    assert (prices.currency, prices.cost({"output_tokens": 2_000_000})) == ("EUR", 2)


def test_what_nobody_saw_costs_nothing_that_is_known(tmp_path: Path) -> None:
    prices = loaded(tmp_path).of("big-1")
    assert money_of({"tokens": "NOT_OBSERVED"}, prices) == {}
    assert money_of({"tokens": {"output_tokens": 1}}, None) == {}
    assert money_of({"tokens": {"output_tokens": 100_000}}, prices) == {"money": 1}


def test_attempts_that_were_made_again_cost_money_too(tmp_path: Path) -> None:
    prices = loaded(tmp_path).of("big-1")
    failed = {"retried_tokens": {"output_tokens": 50_000}}
    assert money_of({"tokens": {"output_tokens": 100_000}, **failed}, prices) == {"money": 1.5}
    # Of what the last attempt took nobody knows: that is no price of the invocation, but it was spent.
    assert money_of({"tokens": "NOT_OBSERVED", **failed}, prices) == {}
    assert spent_on({"tokens": "NOT_OBSERVED", **failed}, prices) == 0.5
    assert spent_on({"tokens": "NOT_OBSERVED"}, prices) is None


def test_a_report_keeps_them(tmp_path: Path) -> None:
    prices = loaded(tmp_path).of("big-1")
    assert from_facts(json.loads(json.dumps(prices.facts()))) == prices
    assert from_facts(None) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("currency = \n", "line 1"),
        ("models = {}", "currency"),
        ('currency = "USD"\nmodels.m.input_tokens = -1', "models.m.input_tokens: must be a number"),
        ('currency = "USD"\nmodels.m.input_tokens = "1"', "must be a number"),
        ('currency = "USD"\n[models.m]\na = 1\nwithin.a = "b"', "'a' and 'b'"),
        ('currency = "USD"\nmodels = 3', "models: must be an object"),
    ],
)
def test_files_that_are_refused(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        loaded(tmp_path, text)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_model_without_prices_and_no_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="did you mean 'big-1'"):
        loaded(tmp_path).of("big1")
    with pytest.raises(UsageError, match="cannot read"):
        load_prices(tmp_path / "none.toml")


def test_the_example_of_the_readme(tmp_path: Path) -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    examples = [block.partition("```")[0] for block in readme.split("```toml\n")[1:]]
    (example,) = [block for block in examples if block.startswith("currency")]
    prices = loaded(tmp_path, example).of("big-1")
    # 60 fresh input tokens at 1.25, 40 cached at 0.125 and 10 of output at 10, a million times each.
    tokens = {"input_tokens": 100e6, "cached_input_tokens": 40e6, "output_tokens": 10e6}
    assert prices.cost(tokens) == 75 + 5 + 100
