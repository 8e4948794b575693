"""Placement and retrieval metrics: cases 28 to 39 of the specification, with section 25's repairs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_retrieval.trial.placement import Context
from pytest_retrieval.trial.scoring import f1
from tests.trial.support import claim, fenced, scored

FEED = {"source-file": ["core/feed.py", "core/store.py"], "test-file": ["checks/test_feed.py"]}


def placed(context: Any, **fields: Any) -> dict[str, float]:
    """The metrics of a silent reply, with gold source-file a/x.py."""
    text = context if isinstance(context, str) else json.dumps(context)
    found: dict[str, float] = scored(
        '{"claims":[]}', text, **{"gold": {"source-file": ["a/x.py"]}, **fields}
    )["metrics"]
    return found


def test_case_28_gold_that_is_only_mentioned() -> None:
    packet = {
        "context": {
            "results": [{"id": "a/b.py:Run", "evidence": [{"path": "a/b.py"}]}],
            "exclusions": {"samples": ["a/x.py"]},
        }
    }
    found = placed(packet)
    assert (found["gold_in_context"], found["gold_as_result"]) == (1, 0)
    assert "utilisation_gap" not in found


def test_cases_29_to_31_result_rows_of_a_packet() -> None:
    found = placed({"results": [{"id": "a/x.py:Run"}]})
    assert (found["gold_in_context"], found["gold_as_result"], found["packet_top_1"]) == (1, 1, 1)
    found = placed({"context": {"results": [{"id": "a/x.py"}]}})
    assert (found["gold_as_result"], found["packet_top_10"]) == (1, 0)
    found = placed({"results": [{"id": "rule-1", "evidence": [{"path": "./a/x.py"}]}]})
    assert (found["gold_as_result"], found["packet_top_10"]) == (1, 0)


def test_case_32_a_listing() -> None:
    found = placed("score=3 c.py\nscore=1 a/x.py\n")
    wanted = {"gold_in_context": 1, "gold_as_result": 1, "packet_top_1": 0, "packet_top_3": 1}
    assert found.items() >= wanted.items()


def test_case_33_repaired_paths_with_blanks_are_rows() -> None:
    listing = "Initial scan done.\nrank=1 a/b.py\nrank=2 dir with space/c.py\nk=v x/"
    # As found: ["a/b.py", "x"] (section 25-19).
    assert Context(listing).ranked(None) == ["a/b.py", "dir with space/c.py", "x"]
    assert Context(listing).results == {"done.", "a/b.py", "dir with space/c.py", "x"}


def test_case_34_hard_gold() -> None:
    context = "score=9 core/feed.py\nscore=8 core/misc.py\nscore=7 core/store.py\nscore=5 checks/test_feed.py"
    reply = fenced(
        claim("test-file", "checks/test_feed.py", "likely"), claim("source-file", "core/nope.py", "likely")
    )
    task = {"gold": FEED, "subject": "core/feed.py", "gold_at_base": ["core/store.py"], "gold_checked": True}
    wanted = {
        "packet_top_1": 0,
        "packet_top_3": 1,
        "hard_gold_in_context": 1,
        "hard_success": 0,
        "success_retrievable": 1,
        "f1": 0.4,
        "wrong_likely": 1,
    }
    assert scored(reply, context, **task)["metrics"].items() >= wanted.items()


def test_case_35_without_a_subject() -> None:
    packet = json.dumps({"results": [{"id": "core/store.py:Store"}, {"id": "core/misc.py"}]})
    found = scored(fenced(claim("source-file", "core/store.py")), packet, gold=FEED)["metrics"]
    assert (found["packet_top_1"], found["f1"]) == (1, 0.5)
    assert not {"hard_success", "hard_gold_in_context", "success_retrievable"} & found.keys()


def test_case_36_a_true_answer_is_no_path() -> None:
    reply = fenced(claim("answer", "42"), claim("test-file", "checks/test_feed.py"))
    gold = {"answer": ["42"], "test-file": ["checks/test_feed.py"]}
    assert scored(reply, "", gold=gold)["metrics"]["f1"] == 0.666667


def test_case_37_repaired_a_claim_is_a_kind_and_a_value() -> None:
    reply = fenced(claim("source-file", "checks/test_feed.py"), claim("test-file", "checks/test_feed.py"))
    gold = {"source-file": ["core/a.py"], "test-file": ["checks/test_feed.py"]}
    found = scored(reply, "", gold=gold)["metrics"]
    # As found 0: the false claim hid the true one of its path (section 25-21). Now 1 of 2, and 1 of 2 gold.
    assert (found["success"], found["f1"]) == (1, 0.5)


@pytest.mark.parametrize(
    ("counts", "expected"),
    [((1, 2, 3), 0.4), ((1, 1, 3), 0.5), ((2, 3, 4), 0.571429), ((1, 4, 2), 0.333333), ((0, 5, 5), 0)],
)
def test_case_39_f1(counts: tuple[int, int, int], expected: float) -> None:
    assert f1(*counts) == expected


@pytest.mark.parametrize(
    ("context", "value", "expected"),
    [
        ("score=1 data.py", "a.py", 0),  # section 25-18: as found, any substring
        ("score=1 a.py", "a.py", 1),
        ("see (a.py), or a.pyc", "a.py", 1),
        ("only a.pyc and a.py-old and a.py.orig", "a.py", 0),
        ("In lib/a.py.", "lib/a.py", 1),
        ("In x/lib/a.py", "lib/a.py", 0),
        ("In ./lib/a.py:12", "lib/a.py", 1),
        ("../lib/a.py", "lib/a.py", 0),
        ('{"state":"READY","note":"x\\nlib/a.py', "lib/a.py", 1),  # a packet that was cut
        ('{"note":"x\\nlib/\\u0061.py"}', "lib/a.py", 1),
    ],
)
def test_gold_in_context_is_a_whole_path(context: str, value: str, expected: int) -> None:
    assert placed(context, gold={"source-file": [value]})["gold_in_context"] == expected


@pytest.mark.parametrize(("context", "expected"), [("it says Yes.", 1), ("it was yesterday", 0), ("", 0)])
def test_an_answer_in_context_is_a_whole_word(context: str, expected: int) -> None:
    assert placed(context, gold={"answer": ["yes"]})["gold_in_context"] == expected


@pytest.mark.parametrize("rows", [7, [7], [{"id": 7}], [{"evidence": [{"path": 7}]}], {"id": "a/x.py"}])
def test_a_packet_of_another_form_is_a_listing(rows: Any) -> None:
    assert Context(json.dumps({"results": rows})).packet is None


def test_nulls_in_a_packet_are_absent() -> None:
    packet = {"results": [None, {"id": None, "evidence": None}, {"id": "a/x.py:F"}], "context": None}
    context = Context(json.dumps(packet))
    assert context.results == {"a/x.py"}
    assert context.ranked("./a/x.py") == ["", ""]


@given(
    st.text()
    | st.recursive(
        st.none() | st.text() | st.integers(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(["results", "context", "id", "evidence", "path", "state"]), inner
            )
        ),
    ).map(json.dumps)
)
def test_any_context_can_be_looked_at(body: str) -> None:
    context = Context(body)
    assert isinstance(context.abstained, bool)
    assert len(context.ranked("a")) <= body.count("\n") + 1 + body.count("{") + body.count("null")
    assert context.holds("") is False
    assert context.results is context.results
