"""Lines asked for at every width that an arm serves, and what its answers cost; engine.md, 12.3 and 12.4."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pytest_retrieval.arms.base import Arm
from pytest_retrieval.bench.costing import cost_of, with_named
from pytest_retrieval.bench.searching import diagnosed, search
from pytest_retrieval.costs import Cost
from pytest_retrieval.model import (
    ArmRow,
    Capabilities,
    Gold,
    Hit,
    Query,
    Sample,
    Searched,
    Slot,
    distinct,
)
from tests.arms.support import snapshot_of

SNAPSHOT = snapshot_of({"a.c": b"alpha\nbeta\ngamma\n", "b.c": b"x" * 10})
HITS = (Hit("a.c", start=2, end=3, text="be"), Hit("a.c", start=1, end=1, text="alpha"), Hit("b.c"))


class Asked:
    """What was asked, answered always alike; ``failing`` are the widths that fail."""

    def __init__(self, hits: Sequence[Hit] = HITS, failing: tuple[int, ...] = ()) -> None:
        self.widths: list[int] = []
        self._hits, self._failing = tuple(hits), failing

    def __call__(self, query: Query) -> ArmRow:
        assert query.spans
        self.widths.append(query.per_file)
        fault = "no" if query.per_file in self._failing and len(self.widths) > 1 else None
        return ArmRow(hits=self._hits, fault=fault, ranked=("a.c", "b.c"))


def searched(asked: Asked, **capabilities: Any) -> ArmRow:
    return search(asked, Query("q", {}), lambda: Capabilities(**capabilities), SNAPSHOT)


@pytest.mark.parametrize(
    ("per_file", "widths"),
    [((), [1]), ((1,), [1, 1]), ((1, 3), [1, 1, 3]), ((1, 7), [1, 1]), ((1, 2, 3), [1, 1, 2, 3])],
)
def test_25_only_what_is_served_is_asked_for(per_file: tuple[int, ...], widths: list[int]) -> None:
    asked = Asked()
    row = searched(asked, spans=True, per_file=per_file)
    assert asked.widths == widths
    assert row.slots is not None
    assert sorted(row.slots) == sorted({0, 1, *widths})
    assert row.slots[0] == row.slots[1] == (Slot("a.c", ((2, 3),)), Slot("b.c"))


def test_wider_slots_have_more_spans() -> None:
    row = searched(Asked(), spans=True, per_file=(1, 2))
    assert row.slots is not None
    assert row.slots[2][0].spans == ((2, 3), (1, 1))


def test_a_width_that_fails_is_a_fault() -> None:
    row = searched(Asked(failing=(3,)), spans=True, per_file=(1, 3))
    assert row.fault == "asked for 3 spans per file: no"


class Knowing(Arm):
    """Says what it was asked about."""

    def __init__(self, fault: Exception | None = None) -> None:
        self.asked: list[Gold] = []
        self._fault = fault

    def diagnose(self, query: Query, gold: Gold) -> str:
        self.asked.append(gold)
        if self._fault is not None:
            raise self._fault
        return f"nothing\nnear {gold.path}"


def missed(arm: Arm, *golds: Gold, **capabilities: Any) -> ArmRow:
    sample = Sample(
        "s", "codesearch", "corpus/kv", "0" * 40, "q", {}, gold=distinct(gold.path for gold in golds),
        searched=Searched("kv", "c", "hard", "", golds, "."),
    )  # fmt: skip
    return diagnosed(searched(Asked(), **capabilities), arm, Query("q", {}), sample)


def test_who_missed_is_asked_about_the_first_answer() -> None:
    arm = Knowing()
    first, second = Gold("a.c", 9, 10), Gold("z.c", 1, 2)
    assert missed(arm, first, second, spans=True).nearest == "nothing near a.c"
    assert arm.asked == [first]
    assert missed(Arm(), first, spans=True).nearest is None


def test_who_found_an_answer_is_not_asked() -> None:
    arm = Knowing()
    assert missed(arm, Gold("z.c"), Gold("a.c", 3, 9), spans=True).nearest is None
    assert missed(arm, Gold("a.c", 90, 99), spans=False).nearest is None  # graded by files, which it has
    assert not arm.asked


def test_a_diagnosis_that_fails_spoils_nothing() -> None:
    row = missed(Knowing(RuntimeError("no index")), Gold("z.c"), spans=True)
    assert (row.nearest, row.error) == ("the diagnosis failed: RuntimeError: no index", None)


def test_28_and_29_tokens_are_the_arms_own_or_those_of_the_corpus() -> None:
    """ "be" is 1 token; "beta" and "gamma" on two lines are 10 characters, 3 tokens."""
    own = searched(Asked(), spans=True, tokens=True).slots
    assert own is not None
    assert [slot.tokens for slot in own[0]] == [1, None]
    read = searched(Asked(), spans=True, tokens=True, tokens_from_corpus=True).slots
    assert read is not None
    assert [slot.tokens for slot in read[0]] == [3, None]
    beyond = (Hit("a.c", start=7, end=9), Hit("a.c", start=3, end=9))
    clamped = searched(Asked(beyond), spans=True, tokens=True, tokens_from_corpus=True, per_file=(1, 2)).slots
    assert clamped is not None
    assert [clamped[1][0].tokens, clamped[2][0].tokens] == [0, 2]


def test_the_files_that_are_named_are_priced_whole() -> None:
    """17 and 10 characters: 5 and 3 tokens; a file that is not there costs nothing."""
    row = searched(Asked((*HITS, Hit("no.c"))), spans=True)
    assert row.cost == Cost(named_tokens=8)
    assert with_named(Cost(reply_tokens=4), ["b.c"], SNAPSHOT) == Cost(reply_tokens=4, named_tokens=3)


class Told(Arm):
    name = "told"
    index_seconds = 4.0
    index_state = "WARM"
    tool_schema = "{}" * 10

    @property
    def reply(self) -> str:
        return "é" * 5


def test_what_an_arm_tells_of_its_costs() -> None:
    assert cost_of(Told()) == Cost(4.0, "WARM", reply_tokens=2, schema_tokens=5)
    assert cost_of(Arm()) == cost_of(object()) == Cost()
    assert Cost().record() == {}
    assert Cost(index_seconds=0.0).record() == {"index_seconds": 0.0}
