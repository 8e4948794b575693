from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_retrieval.measures.grading import ceiling, grade
from pytest_retrieval.measures.names import OF_PATCHES, OF_SEARCH, OF_SPANS, known_measures
from pytest_retrieval.model import ArmRow, Sample, Span

COMMIT = "0" * 40


def sample(gold: tuple[str, ...], given: tuple[str, ...] = (), negatives: tuple[str, ...] = ()) -> Sample:
    return Sample("id", "code2test", "acme/ring", COMMIT, "{}", {}, gold, given, negatives)


def test_a_positive_row_by_hand() -> None:
    row = ArmRow(ranked=("n", "a", "x", "y", "z", "b"))
    assert grade(sample(("a", "b", "c", "d"), negatives=("n", "m")), row, 20) == {
        "recall@5": 0.25,
        "recall@10": 0.5,
        "recall@20": 0.5,
        "mrr@k": 0.5,
        "precision@k": 2 / 6,
        "f1@k": pytest.approx(0.4),
        "hit@k": 1.0,
        "hard_negative_hits@k": 1.0,
        "abstained": 0.0,
        "selective_success": 1.0,
    }


def test_only_recall_within_the_limit() -> None:
    graded = grade(sample(("a",)), ArmRow(ranked=("a",)), 7)
    assert [name for name in graded if name.startswith("recall")] == ["recall@5"]


@pytest.mark.parametrize(("abstained", "success"), [(True, 1.0), (False, 0.0)])
def test_without_gold_there_is_no_positive_measure(abstained: bool, success: float) -> None:
    row = ArmRow(ranked=() if abstained else ("a",), abstained=abstained)
    assert grade(sample(()), row, 20) == {"abstained": float(abstained), "selective_success": success}


@pytest.mark.parametrize("row", [ArmRow(fault="crashed"), ArmRow(refusal="no changed_file in query")])
@pytest.mark.parametrize("gold", [("a",), ()])
def test_an_error_is_zero_and_no_abstention(row: ArmRow, gold: tuple[str, ...]) -> None:
    graded = grade(sample(gold), row, 20)
    assert set(graded.values()) == {0.0}
    assert len(graded) == (10 if gold else 2)


def test_what_an_erring_arm_still_said_does_not_count() -> None:
    row = ArmRow(ranked=("a",), abstained=True, fault="")
    assert set(grade(sample(("a",)), row, 20).values()) == {0.0}


@given(st.integers(1, 50))
def test_grades_are_the_known_measures_in_order(limit: int) -> None:
    further = {"code2test": (), "swebench": OF_PATCHES, "locbench": OF_PATCHES, "contextbench": OF_SPANS}
    for task, measures in further.items():
        asked = replace(sample(("a",)), task=task, gold_spans=(Span("a", 1, 2),))
        expected = [
            name
            for name in known_measures(limit)
            if name in measures or name not in (*OF_PATCHES, *OF_SPANS, *OF_SEARCH)
        ]
        assert list(grade(asked, ArmRow(ranked=("b",)), limit, {"b": 3})) == expected


def test_full_is_for_patches_alone_and_zero_on_an_error() -> None:
    asked = replace(sample(("a", "b")), task="swebench")
    assert grade(asked, ArmRow(ranked=("x", "b", "a")), 3)["full@k"] == 1.0
    assert grade(asked, ArmRow(ranked=("x", "b", "a")), 2)["full@k"] == 0.0
    assert grade(asked, ArmRow(fault="crashed"), 3)["full@k"] == 0.0


def test_context_is_graded_within_the_limit() -> None:
    asked = replace(sample(("a", "b")), task="contextbench", gold_spans=(Span("a", 1, 2), Span("b", 1, 2)))
    graded = grade(asked, ArmRow(ranked=("a", "b")), 1, {"a": 4, "b": 2})
    assert [graded[name] for name in OF_SPANS] == [0.5, 1.0, 0.5, 0.5]


@pytest.mark.parametrize("row", [ArmRow(fault="crashed"), ArmRow(refusal="too long")])
def test_context_is_absent_on_an_error(row: ArmRow) -> None:
    asked = replace(sample(("a",)), task="contextbench", gold_spans=(Span("a", 1, 2),))
    assert not set(OF_SPANS) & grade(asked, row, 20, {}).keys()


def test_spans_of_other_tasks_are_not_contextbench_s() -> None:
    asked = replace(sample(("a",)), gold_spans=(Span("a", 1, 2),))
    assert not set(OF_SPANS) & grade(asked, ArmRow(ranked=("a",)), 20, {"a": 2}).keys()


def test_ceiling_counts_what_can_be_ranked() -> None:
    gold = tuple(f"g{n}" for n in range(8))
    asked = sample((*gold, "absent", "given"), given=("given",))
    assert ceiling(asked, {*gold, "given"}, 20) == {
        "recall@5": 0.5,
        "recall@10": 0.8,
        "recall@20": 0.8,
        "hit@k": 1.0,
    }


def test_ceiling_of_unreachable_gold_is_zero() -> None:
    assert ceiling(sample(("absent",)), {"other"}, 10) == {"recall@5": 0.0, "recall@10": 0.0, "hit@k": 0.0}


def test_ceiling_of_a_sample_without_gold_is_absent() -> None:
    assert ceiling(sample(()), {"a"}, 20) == {}


@given(
    st.sets(st.sampled_from("abcdefghij"), min_size=1),
    st.sets(st.sampled_from("abcdefghij")),
    st.permutations("abcdefghij"),
)
def test_no_ranking_beats_the_ceiling(gold: set[str], present: set[str], order: list[str]) -> None:
    asked = sample(tuple(sorted(gold)))
    best = ceiling(asked, present, 10)
    graded = grade(asked, ArmRow(ranked=tuple(path for path in order if path in present)), 10)
    assert all(graded[name] <= bound for name, bound in best.items())
