"""Literal packets of the four verbs: ranking, state and abstention; and whatever else may come."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_retrieval.arms.answers import settle
from pytest_retrieval.arms.corvint_context import CorvintContext
from pytest_retrieval.arms.observed import Call
from pytest_retrieval.arms.packet import Packet
from pytest_retrieval.errors import ArmError
from pytest_retrieval.model import Query
from pytest_retrieval.programs.process import Completed
from tests.arms.corvint_support import paths, read, unasked_program, verb
from tests.arms.support import snapshot_of

VERBS = ("corvint", "context", "impact", "affected")


def result(*evidence: str) -> dict[str, Any]:
    return {"id": "r", "evidence": [{"path": path, "kind": "code"} for path in evidence]}


def of_context(state: str, *results: Any) -> dict[str, Any]:
    return {"tool": "x", "context": {"state": state, "results": list(results)}}


# --- corvint


def test_query_ranks_each_result_by_its_first_evidence() -> None:
    packet = of_context("READY", result("b.py", "z.py"), result("a.py"), result("b.py"), result("c.py"))
    answer = read("corvint", packet)
    assert paths(answer) == ["b.py", "a.py", "c.py"]
    assert (answer.state, answer.abstained, answer.top_score, answer.refusal) == ("READY", False, None, None)


def test_query_skips_results_without_a_path_of_their_own() -> None:
    empty_first = {"evidence": [{"path": ""}, {"path": "z.py"}]}
    packet = of_context("READY", {}, {"evidence": []}, {"evidence": [{}]}, empty_first, result("a.py"))
    assert paths(read("corvint", packet)) == ["a.py"]


@pytest.mark.parametrize(
    ("packet", "state", "ranking"),
    [
        (of_context("OUT_OF_SCOPE"), "OUT_OF_SCOPE", []),
        (of_context("OUT_OF_SCOPE", result("a.py")), "OUT_OF_SCOPE", ["a.py"]),
        (of_context("READY"), "READY", []),
        ({"context": {"state": "READY", "results": None}}, "READY", []),
        ({"context": {"state": "READY"}}, "READY", []),
        ({"context": {"results": []}}, None, []),
    ],
)
def test_query_abstains_out_of_scope_or_with_nothing(
    packet: Any, state: str | None, ranking: list[str]
) -> None:
    answer = read("corvint", packet)
    assert answer.abstained
    assert answer.state == state
    assert paths(answer) == ranking


# --- context


def test_context_ranks_by_result_id() -> None:
    packet = {"state": "READY", "results": [{"id": i} for i in ["b.go", "", "a.go", "b.go", "c.go"]]}
    answer = read("context", packet)
    assert paths(answer) == ["b.go", "a.go", "c.go"]
    assert (answer.state, answer.abstained) == ("READY", False)


@pytest.mark.parametrize(
    ("verdict", "state", "abstained"),
    [
        ("unsupported-conjunction", "READY/unsupported-conjunction", True),
        ("supported", "READY", False),
        ("not-withheld", "READY", False),
        ("no-specific-terms", "READY", False),
        ("relations-answer", "READY", False),
        ("", "READY", False),
    ],
)
def test_context_abstains_by_one_verdict_even_with_reserved_rows(
    verdict: str, state: str, abstained: bool
) -> None:
    packet = {
        "state": "READY",
        "results": [{"id": "AGENTS.md"}],
        "coverage": {"answerability": {"verdict": verdict}},
    }
    answer = read("context", packet)
    assert (answer.state, answer.abstained) == (state, abstained)
    assert paths(answer) == ["AGENTS.md"]


def test_context_abstains_without_candidates_or_results() -> None:
    assert read("context", {"state": "NO_CANDIDATES", "results": [{"id": "a"}]}).abstained
    assert read("context", {"state": "READY", "results": []}).abstained
    assert read("context", b' {"state":"READY","results":[]}\n').state == "READY"
    assert read("context", {"state": "READY", "results": [{"id": ""}]}).abstained
    assert read("context", {"state": "READY", "results": [{"id": "a"}], "coverage": None}).state == "READY"


@pytest.mark.parametrize(
    ("said", "observation"),
    [
        pytest.param(b"corvint-bench-snapshot: hit=true\n", "OBSERVED_HIT", id="case 1"),
        pytest.param(b"  corvint-bench-snapshot: hit=false \n\n", "OBSERVED_MISS", id="case 2"),
        pytest.param(b"", "UNKNOWN", id="case 3"),
        pytest.param(b"warning: slow disk\ncorvint-bench-snapshot: hit=true", "UNKNOWN", id="case 4"),
        pytest.param(b"corvint-bench-snapshot: hit=TRUE", "UNKNOWN", id="case 5"),
    ],
)
def test_cases_1_to_5_what_the_diagnostics_say_of_the_store(said: bytes, observation: str) -> None:
    arm = verb("context", unasked_program())
    assert isinstance(arm, CorvintContext)
    arm.last = Call(("context",), Completed(0, b"{}", said, False, False, False, 0.1), True)
    assert arm.observation == observation


# --- impact


def test_impact_ranks_all_evidence_without_the_changed_file() -> None:
    packet = of_context("READY", result("a.go", "b.go", "a.go"), result("c.go", "b.go", "", "d.go"))
    answer = read("impact", packet, changed_file="a.go")
    assert paths(answer) == ["b.go", "c.go", "d.go"]
    assert (answer.state, answer.abstained) == ("READY", False)


def test_impact_abstains_out_of_scope_or_with_only_the_changed_file() -> None:
    assert read("impact", of_context("READY", result("a.go")), changed_file="a.go").abstained
    assert read("impact", of_context("OUT_OF_SCOPE", result("b.go")), changed_file="a.go").abstained
    assert read("impact", of_context("READY"), changed_file="a.go").abstained


# --- affected


def test_affected_ranks_the_tests_of_the_plan() -> None:
    selected = [
        {"unit": "u", "tests": ["a_test.go", "b_test.go"]},
        {"tests": None},
        {"tests": ["", "a_test.go"]},
    ]
    packet = {"plan": {"scope": "UNKNOWN", "selected": [*selected, {"tests": ["x.go", "c_test.go"]}]}}
    answer = read("affected", packet, changed_file="x.go")
    assert paths(answer) == ["a_test.go", "b_test.go", "c_test.go"]
    assert (answer.state, answer.abstained) == ("UNKNOWN", False)


def test_affected_abstains_when_nothing_other_is_selected() -> None:
    unknown = {"path": "x.md", "reason": "UNOWNED_DIRTY_PATH"}
    for plan in (
        {"scope": "BOUNDED", "selected": []},
        {"scope": "UNKNOWN", "selected": None, "unknowns": [unknown]},
        {"scope": "BOUNDED", "selected": [{"tests": ["x_test.go"]}]},
    ):
        answer = read("affected", {"plan": plan}, changed_file="x_test.go")
        assert answer.abstained
        assert paths(answer) == []
        assert answer.state == plan["scope"]


# --- the border removes the given files and cuts, after the changed file went


def test_given_and_changed_files_go_before_the_cut() -> None:
    packet = of_context("READY", result("changed.go", "given.go", "b.go", "c.go", "d.go"))
    question = Query("t", {}, changed_file="changed.go", given=("given.go",), limit=2)
    answer = verb("impact", unasked_program()).read(Packet.parse(json.dumps(packet).encode()), question)
    row = settle(answer, question, snapshot_of(dict.fromkeys(["b.go", "c.go"], b"")))
    assert row.ranked == ("b.go", "c.go")
    assert (row.abstained, row.duplicates, row.unknown) == (False, 0, 0)


def test_nothing_left_after_given_files_is_an_abstention() -> None:
    answer = read("context", {"state": "READY", "results": [{"id": "given.go"}]})
    row = settle(answer, Query("t", {}, given=("given.go",)), snapshot_of({}))
    assert row.abstained
    assert row.ranked == ()


# --- hostile packets


@pytest.mark.parametrize("name", VERBS)
@pytest.mark.parametrize(
    "packet",
    [
        b"",
        b"oops",
        b"[]",
        b"null",
        b"{}",
        b'{"hello": "world"}',
        b'{"context": {}, "plan": {}}',
        b'{"context": 7, "results": 7, "plan": 7}',
        b'{"context": {"results": {}}, "results": {}, "plan": {"selected": {}}}',
        b'{"context": {"results": [1]}, "results": [1], "plan": {"selected": [1]}}',
        b'{"context": {"state": 1, "results": []}, "state": 1, "results": [], "plan": {"scope": 1}}',
        b'{"context": {"results": [{"evidence": [{"path": 1}]}]}, "results": [{"id": 1}], '
        b'"plan": {"selected": [{"tests": [1]}]}}',
        b"[" * 5_000,
        b'{"a":' * 5_000,
    ],
    ids=lambda value: value[:30].decode() if isinstance(value, bytes) else value,
)
def test_no_packet_is_a_fault_of_one_line(name: str, packet: bytes) -> None:
    with pytest.raises(ArmError) as caught:
        read(name, packet, changed_file="x")
    assert str(caught.value).startswith("unreadable packet: ")
    assert "\n" not in str(caught.value)


KEYS = [
    "context",
    "plan",
    "results",
    "evidence",
    "path",
    "id",
    "state",
    "scope",
    "selected",
    "tests",
    "coverage",
]
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.floats()
    | st.sampled_from(["", "a.py", "READY", "x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=30,
)


@settings(max_examples=300)
@given(st.sampled_from(VERBS), JSON.map(lambda value: json.dumps(value).encode()) | st.binary(max_size=60))
def test_whatever_comes_is_an_answer_or_a_fault(name: str, data: bytes) -> None:
    try:
        answer = read(name, data, changed_file="x")
    except ArmError as error:
        assert str(error).startswith("unreadable packet: ")
    else:
        ranking = paths(answer)
        assert len(set(ranking)) == len(ranking)
        assert "" not in ranking
        assert answer.abstained or ranking
