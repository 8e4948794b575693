"""The section codesearch, by the cases of engine.md, section 18: Q1 to Q4 as one engine's answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest import approx

from pytest_retrieval.report.codesearch.searches import Searches

Slots = Sequence[tuple[str, Sequence[Sequence[int]]]]
FULL = {"spans": True, "tokens": True}

QUERIES: Sequence[tuple[str, list[dict[str, Any]], Slots]] = [
    (
        "easy",
        [{"path": "a", "start": 10, "end": 20}],
        [("a", [[12, 14]]), ("f2", [[1, 1]]), ("f3", [[1, 1]])],
    ),
    (
        "medium",
        [{"path": "b", "start": 5, "end": 9}],
        [("f1", [[1, 1]]), ("f2", [[1, 1]]), ("b", [[50, 60]])],
    ),
    (
        "hard",
        [{"path": "c", "start": 1, "end": 3}, {"path": "d", "start": 100, "end": 120}],
        [
            ("f1", [[1, 1]]), ("c", [[2, 2]]), ("f3", [[1, 1]]), ("f4", [[1, 1]]), ("f5", [[1, 1]]),
            ("f6", [[1, 1]]), ("d", [[90, 100]]),
        ],
    ),
    ("hard", [{"path": "e", "start": 1, "end": 10}], [(f"o{n}", [[1, 1]]) for n in range(20)]),
]  # fmt: skip


def answer(slots: Slots, **more: Any) -> dict[str, Any]:
    shown = [{"path": path, "spans": [list(span) for span in spans]} for path, spans in slots]
    return {"ranked": [path for path, _ in slots], "slots": {"0": shown}, "cache_state": "COLD", **more}


def row(
    answers: Sequence[Mapping[str, Any]],
    capabilities: Mapping[str, Any] = FULL,
    queries: Sequence[tuple[str, list[dict[str, Any]], Slots]] = QUERIES,
) -> dict[str, Any]:
    searches = Searches({"tool": {"capabilities": capabilities}})
    for number in reversed(range(len(answers))):
        difficulty, gold, _ = queries[number % len(queries)]
        kept = {
            "query": f"Q{number + 1}", "corpus": "kv", "lang": "c", "difficulty": difficulty, "subsystem": "",
            "tree": ".", "gold": gold,
        }  # fmt: skip
        detail = {
            "repo": "corpus/kv", "base_commit": "0c4f", "source": "s", "codesearch": kept,
            "arms": {"tool": answers[number]},
        }  # fmt: skip
        assert searches.add((0, number, 0, str(number)), detail)
    section = searches.section({"corpus/kv@0c4f": {"files": 600}})
    assert section is not None
    (found,) = section["rows"]
    return dict(found)


ANSWERS = [answer(slots) for _, _, slots in QUERIES]


def recalls(metrics: Mapping[str, Any]) -> list[float]:
    return [metrics["recall"][k] for k in ("5", "10", "20")]


def test_15_to_17_both_views() -> None:
    found = row(ANSWERS)
    assert recalls(found["chunk"]) == [0.375, 0.5, 0.5]
    assert recalls(found["file"]) == [0.625, 0.75, 0.75]
    assert (found["chunk"]["zero_miss"], found["file"]["zero_miss"]) == (0.5, 0.25)
    assert recalls(found["by_difficulty"]["hard"]) == [0.25, 0.5, 0.5]
    assert found["ext"]["hit"] == {"5": 0.5, "10": 0.5, "20": 0.5}


def test_21_answers_of_one_file_are_one_file() -> None:
    two = [{"path": "m", "start": 5, "end": 6}, {"path": "m", "start": 80, "end": 90}]
    gold = [*two, {"path": "n", "start": 1, "end": 2}]
    found = row([answer([("m", [[1, 10]])])], FULL, [("easy", gold, [])])
    assert recalls(found["file"]) == [0.5] * 3  # one of two files; of the answers one of three
    assert recalls(found["chunk"]) == [approx(1 / 3)] * 3


def test_18_misses() -> None:
    found = row(ANSWERS)
    shown = [(miss["query"], miss["file_rank"], miss["chunk_rank"]) for miss in found["misses"]]
    assert shown == [("Q2", 3, 0), ("Q4", 0, 0)]
    assert round(found["chunk"]["zero_miss"] * found["chunk"]["queries"]) == len(found["misses"])
    assert found["misses"][0]["nearest_returned"] == "b:50-60 (+41)"


def test_what_the_arm_says_it_holds_stands_on_its_miss() -> None:
    said = {**ANSWERS[1], "nearest": "b:50-60 of another function"}
    assert row([ANSWERS[0], said])["misses"][0]["nearest_chunk"] == "b:50-60 of another function"
    assert "nearest_chunk" not in row(ANSWERS)["misses"][0]


def test_18_the_first_file_of_several_is_the_rank_of_a_miss() -> None:
    gold = [{"path": path, "start": 5, "end": 6} for path in ("m", "n", "gone")]
    slots = [("f", [[1, 1]]), ("n", [[1, 1]]), ("g", [[1, 1]]), ("m", [[9, 9]])]
    (miss,) = row([answer(slots)], FULL, [("easy", gold, [])])["misses"]
    assert (miss["file_rank"], miss["chunk_rank"], miss["gold"]) == (2, 0, gold)


def test_19_slots() -> None:
    found = row(ANSWERS)
    assert (found["slots_min"], found["slots_mean"], found["slots_recorded"]) == (3, 8.25, True)
    failed = [answer([]), {"error": "boom", "ranked": [], "cache_state": "COLD"}, *ANSWERS[2:]]
    found = row(failed)
    assert (found["slots_min"], found["slots_mean"]) == (0, 6.75)  # 0, 0, 7 and 20


def test_23_without_lines_both_views_are_the_file_view() -> None:
    found = row([answer([(path, []) for path, _ in slots]) for _, _, slots in QUERIES], {"spans": False})
    assert found["file_granularity_only"] is True
    assert found["chunk"] == found["file"]
    assert recalls(found["chunk"]) == [0.625, 0.75, 0.75]
    assert found["chunk"]["mrr"] == approx(0.458333, abs=1e-6)
    assert [miss["query"] for miss in found["misses"]] == ["Q4"]
    assert "spanless_hits" not in found


def test_14_spanless_hits_are_counted() -> None:
    assert row([answer([("a", []), ("b", [[3, 4]])])])["spanless_hits"] == 1


def test_24_no_result_at_all_is_a_row() -> None:
    found = row([answer([])] * 4)
    assert (found["slots_min"], found["slots_mean"], found["slots_recorded"]) == (0, 0, True)
    assert (found["chunk"]["zero_miss"], recalls(found["chunk"])) == (1, [0, 0, 0])


def test_22_and_25_wide() -> None:
    found = row(ANSWERS)
    assert found["wide"] == {"1": found["chunk"]}
    wide = [{"path": "b", "spans": [[50, 60], [6, 6]]}]
    answers = [{**one, "slots": {**one["slots"], "3": wide}} for one in ANSWERS]
    found = row(answers)
    assert sorted(found["wide"]) == ["1", "3"]
    assert found["wide"]["1"] == found["chunk"]
    assert recalls(found["wide"]["3"]) == [0.25, 0.25, 0.25]


def test_an_engine_that_answers_differently_is_told() -> None:
    again = [{"path": "a", "spans": [[1, 2]]}]
    answers = [{**ANSWERS[0], "slots": {**ANSWERS[0]["slots"], "1": again}}, *ANSWERS[1:]]
    found = row(answers)
    assert found["ext"]["differing_queries"] == 1
    assert found["wide"]["1"] != found["chunk"]


def test_26_tokens_of_a_query_without_results_are_none() -> None:
    priced = [{"path": "a", "spans": [[1, 1]], "tokens": 25}, {"path": "b", "spans": [[1, 1]], "tokens": 3}]
    found = row([{**ANSWERS[0], "slots": {"0": priced}}, answer([])])
    assert found["wide_tokens"] == {"1": 14.0}


def test_26_tokens_are_a_mean_over_the_queries_that_were_answered() -> None:
    priced = [{"path": "a", "spans": [[1, 1]], "tokens": 28}]
    error = {"ranked": [], "cache_state": "COLD", "error": "boom"}
    found = row([error, {**ANSWERS[1], "slots": {"0": priced}}, answer([])])
    assert found["wide_tokens"] == {"1": 14.0}


def test_slots_without_text_make_the_tokens_a_lower_bound() -> None:
    slots = [{"path": f"f{n}", "spans": [[1, 1]], **({"tokens": 3} if n % 2 else {})} for n in range(12)]
    answers = [{**ANSWERS[0], "slots": {"0": slots}}, ANSWERS[1]]
    # Five of the first ten slots, and three of the second answer.
    assert row(answers)["ext"]["textless_slots"] == 8
    assert row(answers, {"spans": True})["ext"]["textless_slots"] == 0


def test_30_no_tokens_no_key() -> None:
    assert "wide_tokens" not in row(ANSWERS, {"spans": True, "tokens": False})


def test_29_tokens_of_the_corpus_are_flagged() -> None:
    assert row(ANSWERS, {**FULL, "tokens_from_corpus": True})["tokens_from_corpus"] is True


def test_28_lines_beyond_their_file_cost_nothing_and_are_told() -> None:
    beyond = [{"path": "a", "spans": [[70, 90]], "tokens": 0}, {"path": "b", "spans": [], "tokens": 0}]
    answers = [{**ANSWERS[0], "slots": {"0": beyond}}]
    assert row(answers, {**FULL, "tokens_from_corpus": True})["ext"]["empty_slots"] == 1
    assert row(answers)["ext"]["empty_slots"] == 0


def test_what_was_dropped_in_reading_is_counted_on_the_row() -> None:
    states = ["2 unparsed lines, 1 bad spans", "3 unparsed lines", "INDEX_NEWER", None]
    answers = [
        {**one, **({} if state is None else {"state": state})}
        for one, state in zip(ANSWERS, states, strict=True)
    ]
    assert row(answers)["ext"]["noticed"] == {"bad spans": 1, "unparsed lines": 5}
    assert row(ANSWERS)["ext"]["noticed"] == {}


def test_56_costs() -> None:
    cost = row([{**one, "cost": {"index_seconds": 4.0}} for one in ANSWERS])["cost"]
    assert (cost["index_seconds"], cost["files_per_sec"], cost["chunks_per_sec"]) == (4.0, 150, 0)
    cost = row([{**one, "cost": {"index_seconds": 0.0}} for one in ANSWERS])["cost"]
    assert (cost["files_per_sec"], cost["chunks_per_sec"]) == (0, 0)


def test_query_times_are_those_of_answers() -> None:
    times = [1000, 3000, 2000]
    answers = [answer([("a", [[1, 99]])], wall_ms=time) for time in times]
    slow = {"ranked": [], "cache_state": "WARM", "error": "timed out", "wall_ms": 60_000}
    cost = row([*answers, slow])["cost"]
    assert (cost["query_seconds"], cost["query_p50_seconds"], cost["query_p95_seconds"]) == (2, 2, 3)


def test_50_one_error_of_ten_scores_zero_and_all_are_a_failure() -> None:
    hit = [answer([(gold[0]["path"], [[1, 200]])]) for _, gold, _ in QUERIES]
    error = {"ranked": [], "cache_state": "COLD", "error": "timed out after 1 s"}
    answers = [hit[number % 4] for number in range(10)]
    answers[4] = error  # of one gold
    found = row(answers)
    expected = (9 - 2 * 0.5) / 10  # the hard query with two golds is half answered, twice
    assert found["chunk"]["recall"]["5"] == approx(expected)
    assert (found["ext"]["query_errors"], found["ext"]["errors"]) == (1, ["timed out after 1 s"])
    failed = row([error] * 10)
    assert (failed["ext"]["status"], "chunk" in failed, "file" in failed) == ("failed", False, False)
    assert not {"hit", "ndcg@10"} & failed["ext"].keys()
    assert row([*[error] * 5, *hit])["ext"]["status"] == "failed"
    assert row([*[error] * 4, *hit])["ext"]["status"] == "ok"
    told = [{**error, "error": f"fault {number}"} for number in (1, 1, 2, 3, 4)]
    assert row([*hit, *told])["ext"]["errors"] == ["fault 1", "fault 2", "fault 3"]


def test_what_became_of_each_query() -> None:
    error = {"ranked": [], "cache_state": "COLD", "error": "timed out", "wall_ms": 9.0}
    searches = Searches({"tool": {"capabilities": FULL}})
    for number, one in enumerate([answer([("a", [[12, 14]])], wall_ms=250.0), error]):
        difficulty, gold, _ = QUERIES[0]
        kept = {
            "query": f"Q{number}", "corpus": "kv", "lang": "c", "difficulty": difficulty, "subsystem": "",
            "tree": ".", "gold": gold,
        }  # fmt: skip
        detail = {"repo": "r", "base_commit": "c", "source": "s", "codesearch": kept, "arms": {"tool": one}}
        searches.add((0, number, 0, ""), detail)
    (found,) = searches.rows({})
    assert found["ext"]["per_query"] == [
        {"query": "Q0", "ranks": [1], "slots": 1, "seconds": 0.25, "tokens": 0},
        {"query": "Q1", "ranks": [0], "slots": 0, "error": "timed out"},
    ]
    section = searches.section({})
    assert section is not None
    assert "per_query" not in section["rows"][0]["ext"]


def test_other_samples_are_none_of_it() -> None:
    searches = Searches({})
    assert not searches.add((0, 0, 0, "x"), {"arms": {}})
    assert searches.section({}) is None
