"""Verdicts and grounding: cases 13 to 18 of the specification."""

from __future__ import annotations

import pytest

from pytest_retrieval.trial.claims import Claim
from pytest_retrieval.trial.placement import Context
from pytest_retrieval.trial.values import normalise
from pytest_retrieval.trial.verdicts import grounded, verdict
from tests.trial.support import CONTEXT, GOLD


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("./checks/quota_test.py", "TRUE"),  # 13
        (" checks/quota_test.py/ ", "TRUE"),  # 14
        ("Checks/quota_test.py", "FALSE"),
        ("checks\\quota_test.py", "FALSE"),
        ("checks/../checks/quota_test.py", "FALSE"),
    ],
)
def test_cases_13_and_14_paths(value: str, expected: str) -> None:
    assert verdict(Claim("test-file", value, "certain", ""), GOLD) == expected


def test_case_15_answers_have_no_case() -> None:
    assert verdict(Claim("answer", " YES ", "unsure", ""), {"answer": ["yes"]}) == "TRUE"


@pytest.mark.parametrize(
    ("kind", "value", "confidence"),
    [
        ("file", "a.py", "certain"),
        ("test-file", "a.py", "sure"),
        ("test-file", "a.py", "Certain"),
        ("test-file", "  ", "certain"),
    ],
)
def test_case_17_what_is_outside_the_grammar(kind: str, value: str, confidence: str) -> None:
    assert verdict(Claim(kind, value, confidence, ""), GOLD) == "INVALID"


def test_case_18_kinds_without_gold() -> None:
    one = Claim("test-file", "a.py", "certain", "")
    assert verdict(one, {}) == "UNJUDGED"
    assert verdict(one, {"test-file": []}) == "FALSE"


@pytest.mark.parametrize(
    ("evidence", "context", "expected"),
    [
        ("checks/quota_test.py", CONTEXT, True),  # 13
        ("None", CONTEXT, False),  # 16
        ("", CONTEXT, False),
        ("  ", CONTEXT, False),
        ("/", CONTEXT, False),
        ("anything", "", "NOT_APPLICABLE"),  # 16
        ("score=3 lib/quota.py", CONTEXT, True),
        ("./lib/quota.py", CONTEXT, True),
        ("None", "None of these: a.py", False),  # no evidence, though the word stands there
        # As found, any piece of the context was evidence (section 25-18): now whole paths alone.
        ("quota.py", CONTEXT, False),
        ("a_test.py", CONTEXT, False),
        ("lib/quota.p", CONTEXT, False),
        ("a/b.py:Run", '{"results":[{"id":"a/b.py:Run"}]}', True),
        ("a/b.py", '{"results":[{"id":"a/b.py:Run"}]}', True),
        ("b.py", '{"results":[{"id":"a/b.py:Run"}]}', False),
        ("a/b.py", '{"results":[{"id":"x","summary":"see\\na/b.py"}]}', True),
    ],
)
def test_grounded_evidence_is_whole(evidence: str, context: str, expected: object) -> None:
    assert grounded(evidence, Context(context)) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (" ./a/ ", "a"),
        ("././a", "./a"),
        ("a//", "a/"),
        ("A\\b", "A\\b"),
        ("\u00a0a\u2003", "a"),
        ("\x1fa", "\x1fa"),
    ],
)
def test_normal_paths(value: str, expected: str) -> None:
    assert normalise("source-file", value) == expected
