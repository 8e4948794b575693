from collections.abc import Collection, Sequence

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_retrieval.errors import ArmError, UsageError
from pytest_retrieval.measures.chosen import Chosen, check_own, choose, stored
from pytest_retrieval.measures.grading import grade
from pytest_retrieval.measures.names import CUT, canonical
from pytest_retrieval.model import ArmRow, Gold, Sample, Searched, Slot

COMMIT = "0" * 40
ASKED = Sample("id", "code2test", "acme/ring", COMMIT, "{}", {}, ("a", "b"))
ROW = ArmRow(ranked=("x", "a", "y", "b"))


def names(*texts: str, limit: int = 20) -> list[str]:
    return [measure.name for measure in choose(texts, limit)]


def test_what_users_type() -> None:
    assert names("nDCG@10 RR Success@5") == ["ndcg@10", "hit@5"]  # every report has RR
    assert names("AP, MAP, Rprec", "P@5 R@7 F0.5@5") == ["ap@k", "rprec@k", "p@5", "recall@7", "f05@5"]
    assert names("F0.5 SetF SetP nDCG") == ["f05@k", "ndcg@k"]  # F1 and precision are there
    assert names("full full@5 RR@10 p@20 nDCG@20") == ["full@k", "full@5", "mrr@10", "p@20", "ndcg@20"]
    assert names("", " , ") == []


@pytest.mark.parametrize(
    "measure",
    [ir_measures.nDCG @ 10, ir_measures.AP, ir_measures.P @ 5, ir_measures.Rprec],
)
def test_ir_measures_prints_names_that_are_taken(measure: object) -> None:
    assert len(names(str(measure))) == 1


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("nDCG@50", "ndcg goes up to k = 20"),
        ("nDCG@ten", "ndcg must be cut at a whole number"),
        ("nDCG@0", "ndcg goes up to k = 20"),
        ("Rprec@5", "rprec has no cut but k = 20"),
        ("nDGC@10", "did you mean 'ndcg@10'?"),
        ("Judged@10", "unknown measure 'Judged@10'"),
        ("SetF(beta=0.5)", "unknown measure 'SetF(beta=0.5)'"),
        ("nDCG@10(x)", "must be cut at a whole number"),
    ],
)
def test_unknown_names_are_one_line(typed: str, says: str) -> None:
    with pytest.raises(UsageError) as refused:
        names(typed)
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


@given(st.sampled_from(sorted(CUT)), st.integers(1, 50), st.integers(1, 50))
def test_canonical_names_parse_back(family: str, cut: int, limit: int) -> None:
    try:
        name = canonical(f"{family}@{cut}", limit)
    except UsageError:
        assert cut > limit or family == "rprec"
    else:
        assert canonical(name, limit) == name
        assert cut <= limit or name == "ndcg@10"  # that of lines, in every report of a code search


def test_values_by_hand() -> None:
    chosen = choose(["P@3 full@3 full@4 hit@1 RR@1 R@2 f1@2"], 20)
    graded = grade(ASKED, ROW, 20, chosen=chosen)
    assert {measure.name: graded[measure.name] for measure in chosen} == {
        "p@3": 1 / 3,
        "full@3": 0.0,
        "full@4": 1.0,
        "hit@1": 0.0,
        "mrr@1": 0.0,
        "recall@2": 0.5,
        "f1@2": 0.5,
    }


def test_every_measure_is_zero_on_an_error_and_absent_without_gold() -> None:
    chosen = choose([" ".join(f"{family}@k" for family in sorted(CUT - {"recall"}))], 20)
    graded = grade(ASKED, ArmRow(ranked=("a",), fault="crashed"), 20, chosen=chosen)
    assert {graded[measure.name] for measure in chosen} == {0.0}
    no_gold = Sample("id", "abstention", "acme/ring", COMMIT, "{}", {}, ())
    assert set(grade(no_gold, ROW, 20, chosen=chosen)) == {"abstained", "selective_success"}


def test_ndcg_of_a_code_search_is_of_its_lines() -> None:
    searched = Searched("c", "python", "easy", "s", (Gold("a", 10, 20),))
    asked = Sample("id", "codesearch", "acme/ring", COMMIT, "q", {}, ("a",), searched=searched)
    slots = (Slot("a", ((1, 5),)), Slot("b", ((1, 5),)))
    row = ArmRow(ranked=("a", "b"), slots={0: slots})
    graded = grade(asked, row, 20, chosen=choose(["nDCG@10 nDCG@5 AP"], 20))
    assert (graded["ndcg@10"], graded["ndcg@5"], graded["ap@k"]) == (0.0, 0.0, 1.0)
    by_files = ArmRow(ranked=("a", "b"), slots={0: slots}, file_only=True)
    assert grade(asked, by_files, 20, chosen=choose(["nDCG@5"], 20))["ndcg@5"] == 1.0
    assert grade(asked, ArmRow(ranked=("a",)), 20, chosen=choose(["nDCG@5"], 20))["ndcg@5"] == 0.0


def wasted(ranked: Sequence[str], gold: Collection[str]) -> float:
    return sum(path not in gold for path in ranked)


def test_a_measure_of_ones_own() -> None:
    chosen = choose(["wasted nDCG@10"], 20, {"wasted": wasted})
    assert [measure.name for measure in chosen] == ["wasted@k", "ndcg@10"]
    assert grade(ASKED, ROW, 20, chosen=chosen)["wasted@k"] == 2.0
    assert grade(ASKED, ROW, 3, chosen=chosen)["wasted@k"] == 2.0
    assert grade(ASKED, ArmRow(fault="crashed"), 20, chosen=chosen)["wasted@k"] == 0.0
    assert names_of(stored(["wasted@k", "ndcg@10"], 20)) == ["ndcg@10"]


def names_of(chosen: Sequence[Chosen]) -> list[str]:
    return [measure.name for measure in chosen]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1, 51, None, "much"])
def test_what_is_no_number_of_0_to_50_is_refused(value: object) -> None:
    chosen = choose(["odd"], 20, {"odd": lambda ranked, gold: value})  # type: ignore[dict-item,return-value]
    with pytest.raises(ArmError, match="measure odd@k: must return a number of 0 to 50, not "):
        grade(ASKED, ROW, 20, chosen=chosen)


def test_what_a_measure_raises_is_one_line() -> None:
    chosen = choose(["odd"], 20, {"odd": lambda ranked, gold: 1 / 0})
    with pytest.raises(ArmError) as refused:
        grade(ASKED, ROW, 20, chosen=chosen)
    assert str(refused.value) == "measure odd@k: ZeroDivisionError: division by zero"


@pytest.mark.parametrize(
    ("offered", "says"),
    [
        ({"Own": wasted}, "'Own' is no name"),
        ({"a@k": wasted}, "'a@k' is no name"),
        ({1: wasted}, "1 is no name"),
        ({"ndcg": wasted}, "ndcg is a measure of this package"),
        ({"hit": wasted}, "hit is a measure of this package"),
        ({"abstained": wasted}, "abstained is a measure of this package"),
        ({"own": 3}, "own is not a function"),
    ],
)
def test_offers_that_cannot_be_taken(offered: dict[str, object], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        check_own(offered)
