"""The claims block: cases 1 to 12 of the specification, with section 25's repaired fences."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_retrieval.trial.claims import Block, Claim, extract
from tests.trial.support import claim, fenced, scored

BLOCK = fenced(claim("answer", "42"))
ONE = (Claim("answer", "42", "certain", "none"),)


@pytest.mark.parametrize(
    ("reply", "state", "count"),
    [
        pytest.param("", "EMPTY", 0, id="1"),
        pytest.param(" \n\t", "EMPTY", 0, id="1 blank"),
        pytest.param("I cannot tell.", "ABSENT", 0, id="2"),
        pytest.param('```json\n{"claims":[}\n```', "MALFORMED", 0, id="3"),
        pytest.param('```\n{"claims":"tests/a.py"}\n```', "MALFORMED", 0, id="4 text"),
        pytest.param('```json\n{"claims":null}\n```', "MALFORMED", 0, id="4 null"),
        pytest.param('{"claims":[]}', "PRESENT", 0, id="5"),
        pytest.param('{"claims":[]} thanks', "MALFORMED", 0, id="5 and more"),
        pytest.param(
            f'```json\n{{"claims":[]}}\n```\nrevised\n{BLOCK}\n```python\nprint(1)\n```', "PRESENT", 1, id="6"
        ),
        pytest.param('```\n{"claims":[]}\n```', "PRESENT", 0, id="7 no language"),
        pytest.param('```json\r\n{"claims":[]}\r\n```\r\n', "PRESENT", 0, id="7 CRLF"),
        pytest.param(
            fenced(claim("answer", "1"), {**claim("answer", "2"), "value": 7}), "MALFORMED", 0, id="8"
        ),
        pytest.param('```json\n{"claims":[null]}\n```', "PRESENT", 1, id="9"),
        pytest.param('```json\n{"claims":[[]]}\n```', "MALFORMED", 0, id="a list"),
        pytest.param('```json\n{"claims":[],"n":NaN}\n```', "MALFORMED", 0, id="no JSON number"),
        pytest.param('```json\n{"claims":[]}{}\n```', "MALFORMED", 0, id="two values"),
        pytest.param('{"claims":' + "[" * 100_000, "MALFORMED", 0, id="deep"),
        pytest.param('```json\n["claims"]\n```', "MALFORMED", 0, id="no object"),
        pytest.param('Say "claims" {"claims":[]}', "ABSENT", 0, id="not bare"),
    ],
)
def test_states(reply: str, state: str, count: int) -> None:
    found = extract(reply)
    assert (found.state, len(found.claims)) == (state, count)


def test_case_6_the_last_block_that_names_claims() -> None:
    reply = f'```json\n{{"claims":[]}}\n```\nrevised\n{BLOCK}\n```python\nprint(1)\n```'
    assert extract(reply).claims == ONE


def test_case_9_a_null_claim_is_invalid_and_abstains() -> None:
    found = scored('{"claims":[null]}')
    assert found["claims"][0] == {
        **dict.fromkeys(("kind", "value", "confidence", "evidence"), ""),
        "verdict": "INVALID",
        "grounded": False,
    }
    assert (found["metrics"]["invalid"], found["metrics"]["abstained"]) == (1, 1)


def test_case_12_members_that_are_missing_or_too_many() -> None:
    given_one = {"kind": "answer", "value": "x", "confidence": "likely", "note": "mine"}
    assert extract(fenced(given_one)).claims == (Claim("answer", "x", "likely", ""),)
    assert "note" not in scored(fenced(given_one))["claims"][0]


@pytest.mark.parametrize("language", ["c++", "json5", "{.py}", "objective-c", "text title=x", "1"])
def test_case_11_repaired_a_block_of_any_language_hides_nothing(language: str) -> None:
    # As found, such a block made the claims ABSENT (section 25-8).
    assert extract(f"```{language}\nint a;\n```\n\n{BLOCK}") == Block("PRESENT", ONE)


def test_case_10_repaired_backticks_inside_a_value_cut_nothing() -> None:
    # As found, the value's backticks ended the block: MALFORMED (section 25-8).
    assert extract(fenced(claim("answer", "use ```x``` here"))).claims[0].value == "use ```x``` here"


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(f"```\nnever closed\n{BLOCK}", id="an open block before"),
        pytest.param(f"````markdown\n```sh\nls\n```\n````\n{BLOCK}", id="a longer fence"),
        pytest.param(f"  1. so\n     {BLOCK}".replace("\n```", "\n     ```"), id="indented"),
        pytest.param(BLOCK.replace("\n```", "```"), id="closed at the line's end"),
        pytest.param(f"a ```stray``` word\n{BLOCK}", id="inline"),
        pytest.param(f"```inline``` at a line's start\n{BLOCK}", id="inline first"),
        pytest.param(BLOCK.replace("```", "````"), id="four backticks"),
    ],
)
def test_fences_count_at_line_starts_only(reply: str) -> None:
    assert extract(reply) == Block("PRESENT", ONE)


@pytest.mark.parametrize(
    ("after", "followed"),
    [("", False), ("\n\n \t", False), ("\nThat is all.", True), ("\n[TRUNCATED]", True)],
)
def test_a_block_that_is_not_the_end_is_marked(after: str, followed: bool) -> None:
    assert extract(BLOCK + after) == Block("PRESENT", ONE, followed)


def test_a_block_without_an_end_is_none() -> None:
    assert extract('```json\n{"claims":[]}').state == "ABSENT"


def test_half_a_surrogate_pair_becomes_a_character() -> None:
    assert extract('{"claims":[{"kind":"answer","value":"a\\ud800"}]}').claims[0].value == "a\ufffd"


@given(st.text(alphabet=st.sampled_from('`{}[]":,\n \tclaimsjson+0')) | st.text())
def test_any_text_has_a_state(reply: str) -> None:
    found = extract(reply)
    assert found.state in ("PRESENT", "ABSENT", "MALFORMED", "EMPTY")
    assert found.state == "PRESENT" or not found.claims


values = st.text(st.characters(codec="utf-8"))


@given(
    st.lists(st.builds(claim, values, values, values, values), max_size=4),
    st.text(st.characters(codec="utf-8", exclude_characters="`")),
    st.booleans(),
)
def test_what_is_written_comes_back(claims: list[dict[str, Any]], prose: str, escaped: bool) -> None:
    body = json.dumps({"claims": claims}, ensure_ascii=escaped)
    found = extract(f"{prose}\n```json\n{body}\n```\n")
    assert found == Block("PRESENT", tuple(Claim(**each) for each in claims))
