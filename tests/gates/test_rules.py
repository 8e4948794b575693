"""Gates with labels and exceptions, as files have them; and the sets of gates that ship."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from pytest_retrieval.errors import GateError
from pytest_retrieval.gates.grammar import parse
from pytest_retrieval.gates.rules import GateException, Rule, read_rules, typed_rules
from pytest_retrieval.gates.sets import expand


def written(folder: Path, text: str) -> Path:
    path = folder / "gates.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_labels_and_exceptions(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        """
        [[gate]]
        label = "nothing lost"
        gate = "lost(bm25:all, hit@5) <= 0"
        exception = { reason = "two queries were reworded", until = 2027-01-31 }

        [[gate]]
        gate = "kill-criterion(a, b)"
        """,
    )
    first, *others = read_rules(path)
    assert first == Rule(
        parse("lost(bm25:all, hit@5) <= 0"),
        "nothing lost",
        GateException("two queries were reworded", date(2027, 1, 31)),
    )
    assert (first.arm, first.against, first.measure, first.group) == ("bm25:all", "", "hit@5", "all")
    assert others == typed_rules(["kill-criterion(a, b)"])


def test_an_exception_holds_up_to_its_day() -> None:
    exception = GateException("why", date(2027, 1, 31))
    assert not exception.expired(date(2027, 1, 31))
    assert exception.expired(date(2027, 2, 1))
    assert exception.record(date(2027, 2, 1)) == {"reason": "why", "until": "2027-01-31", "expired": True}
    assert GateException("why").record(date(2999, 1, 1)) == {"reason": "why"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it has no table [[gate]]"),
        ("gate = 3", "it has no table [[gate]]"),
        ("[[gates]]", "unknown key 'gates'; did you mean 'gate'?"),
        ("[[gate]]\nlabel = 'a'", "gate 1: gate: must be the text of a gate"),
        ("[[gate]]\ngate = 'grep: errors'", "gate 1: gate 'grep: errors': one of"),
        ("[[gate]]\ngate = 'g: errors == 0'\nlable = 'a'", "unknown key 'lable'; did you mean 'label'?"),
        ("[[gate]]\ngate = 'g: errors == 0'\nlabel = ' '", "gate 1: label: must be one line of text"),
        ("[[gate]]\ngate = 'g: errors == 0'\nexception = true", "exception: must be a table with a reason"),
        (
            "[[gate]]\ngate = 'g: errors == 0'\nexception = {until = 2027-01-31}",
            "exception: reason: must say in one line why the gate may fail",
        ),
        (
            "[[gate]]\ngate = 'g: errors == 0'\nexception = {reason = 'a', until = '2027-01-31'}",
            "until: must be a date such as 2027-01-31, without quotes",
        ),
        (
            "[[gate]]\ngate = 'g: errors == 0'\nexception = {reason = 'a', til = 1}",
            "exception: unknown key 'til'",
        ),
        ("[[gate]\n", "not TOML: "),
    ],
)
def test_what_is_no_file_of_gates(tmp_path: Path, text: str, why: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(GateError) as caught:
        read_rules(path)
    assert why in str(caught.value)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(GateError, match=r"cannot read the gates .*: No such file"):
        read_rules(tmp_path / "none.toml")
    (tmp_path / "latin.toml").write_bytes(b"# \xe9")
    with pytest.raises(GateError, match="not UTF-8 at byte 2"):
        read_rules(tmp_path / "latin.toml")


def test_the_kill_criterion_is_less_confident_error_at_success_that_is_not_inferior() -> None:
    assert [str(gate) for gate in expand(" kill-criterion( context , bm25:all )")] == [
        "context - bm25:all @ stratum:natural_no_gold: selective_success.low > 0",
        "context - bm25:all: hit@k.low >= -0.05",
    ]
    assert expand("grep: errors == 0") == (parse("grep: errors == 0"),)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("kill-criterium(a, b)", "no gate 'kill-criterium'; did you mean 'kill-criterion'?"),
        ("kill-criterion(a)", "it takes two arms: kill-criterion(ARM, ARM)"),
        ("kill-criterion(a, a)", "it takes two arms: kill-criterion(ARM, ARM)"),
        ("no-regression(a, hit@5, 0)", "no gate 'no-regression'; did you mean 'no_regression'?"),
        ("losst(a, hit@5) <= 0", "did you mean 'lost'? (known: no_regression, lost, kill-criterion)"),
        ("lost(a, hit@5)", "one of >= > <= < == != must stand between"),
    ],
)
def test_calls_that_are_misspelt(text: str, why: str) -> None:
    with pytest.raises(GateError) as caught:
        expand(text)
    assert why in str(caught.value)
