"""The section ``paired``: which samples, groups and measures it speaks of."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import jsonschema
import pytest

from pytest_retrieval.report import schema
from pytest_retrieval.report.build import build
from tests.report.samples import answer, detail, header, no_gold

# Differences of recall@10 as in the specification's case: 0.5, 0, 0, 1, -0.5, 0.5
ONE = (1.0, 0.5, 0.0, 1.0, 0.0, 1.0)
TWO = (0.5, 0.5, 0.0, 0.0, 0.5, 0.5)


def rows(**fields: Any) -> list[dict[str, Any]]:
    return [
        detail(
            place,
            {
                "one": (answer(), {"recall@10": one, "hit@k": 1.0, "mrr@k": 1.0}),
                "two": (answer(), {"recall@10": two, "hit@k": 1.0, "mrr@k": 1.0}),
            },
            **fields,
        )
        for place, (one, two) in enumerate(zip(ONE, TWO, strict=True))
    ]


def paired(details: list[dict[str, Any]], *labels: str, **fields: Any) -> Mapping[str, Any]:
    head = build(header(*labels, of=len(details), chosen=len(details), **fields), details).head
    section: Mapping[str, Any] = head["paired"]
    definitions = schema()
    bench = definitions["$defs"]["benchReport"]
    wanted = {**bench["properties"]["paired"], "$defs": definitions["$defs"]}
    jsonschema.Draft202012Validator(wanted).validate(json.loads(json.dumps(section)))
    return section


def test_the_specifications_case() -> None:
    figures = paired(rows(), "two", "one")["all"]["one - two"]["recall@10"]
    assert (figures["n"], figures["mean"]) == (6, 0.25)
    assert (figures["wins"], figures["losses"], figures["ties"]) == (3, 1, 2)
    assert figures["low"] <= 0.25 <= figures["high"]
    assert figures["repos"] == {"acme/ring": {"n": 6, "mean": 0.25}}


def test_swapping_the_arms_mirrors_the_interval() -> None:
    there = paired(rows(), "one", "two", pairs=[("one", "two")])["all"]["one - two"]["recall@10"]
    back = paired(rows(), "one", "two", pairs=[("two", "one")])["all"]["two - one"]["recall@10"]
    assert (back["low"], back["high"], back["mean"]) == (-there["high"], -there["low"], -there["mean"])
    assert back["p"] == there["p"]


def test_groups_are_all_tasks_folds_tasks_in_folds_and_strata_without_gold() -> None:
    silent = detail(
        9,
        {"one": (answer(), no_gold(1.0)), "two": (answer(), no_gold(0.0))},
        stratum="natural_no_gold",
        gold=[],
    )
    section = paired([*rows(), silent], "two", "one")
    assert set(section) == {
        "all", "task:code2test", "fold:unassigned", "task:code2test/fold:unassigned",
        "stratum:natural_no_gold",
    }  # fmt: skip
    assert set(section["stratum:natural_no_gold"]["one - two"]) == {"selective_success"}
    assert section["stratum:natural_no_gold"]["one - two"]["selective_success"]["mean"] == 1.0
    assert section["all"]["one - two"]["recall@10"]["n"] == 6


def test_only_samples_that_both_arms_scored_count() -> None:
    details = rows()
    del details[0]["arms"]["two"], details[0]["metrics"]["two"]
    figures = paired(details, "two", "one")["all"]["one - two"]["recall@10"]
    assert (figures["n"], figures["mean"]) == (5, 0.2)


def test_holm_is_over_the_group() -> None:
    family = paired(rows(), "two", "one")["all"]["one - two"]
    assert set(family) == {"recall@10", "mrr@k", "hit@k"}
    smallest = family["recall@10"]
    assert smallest["p_holm"] == pytest.approx(min(1.0, 3 * smallest["p"]))
    assert family["mrr@k"]["p_holm"] == 1.0


def test_one_arm_is_compared_with_nothing() -> None:
    assert paired(rows(), "one", "two", pairs=[]) != {}  # no pair asked for: the default ones
    single = [detail(0, {"one": (answer(), {"hit@k": 1.0})})]
    assert paired(single, "one") == {}
