"""The page as text: whole, bounded, the same each time, and without a way out for anybody's words."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256

import pytest

from pytest_retrieval.report.build import build
from tests.report.html.pages import HOSTILE, Page, hostile, large, page_of, small
from tests.report.samples import COMMIT, answer, detail, header, no_gold, positive


@pytest.fixture(scope="module")
def shown() -> Page:
    return page_of(small())


def test_it_is_well_formed(shown: Page) -> None:
    assert shown.source.startswith("<!doctype html>")
    assert not shown.faults
    ids = [attributes["id"] for _, attributes in shown.elements if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_only_its_own_script_and_style_may_run(shown: Page) -> None:
    (policy,) = [
        meta["content"] or ""
        for meta in shown.attributes("meta")
        if meta.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    style = re.findall("<style>(.*?)</style>", shown.source, re.DOTALL)
    scripts = re.findall("<script>(.*?)</script>", shown.source, re.DOTALL)
    assert [len(style), len(scripts)] == [1, 1]
    for kind, text in (("style", style[0]), ("script", scripts[0])):
        digest = b64encode(sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy


def test_it_asks_for_nothing_from_anywhere(shown: Page) -> None:
    assert not re.search(r"(?:src|href)=\"(?!#)|url\(|@import|https?://", shown.source)
    for name, attributes in shown.elements:
        assert not {key for key in attributes if key.startswith("on")}, name
        assert "style" not in attributes


def test_figures_are_told(shown: Page) -> None:
    # b: recall 1, 1 and 0 over three samples; a: one half, 0 and 0.
    assert "0.667" in shown.text
    assert "0.167" in shown.text
    assert "files by query · 3 samples · 2 arms · k = 20" in shown.text
    assert "1 gold file absent" in shown.text
    assert "Paired differences" in shown.text
    assert "Latency" in shown.text


def test_of_a_users_own_measure_none_is_the_best() -> None:
    def best(name: str) -> int:
        rows = [("a", 2.0), ("b", 3.0)]
        arms = {label: (answer(), positive(1.0, 1.0, **{name: value / 4})) for label, value in rows}
        found = page_of(build(header("a", "b", of=1, chosen=1, measures=[name]), [detail(0, arms)]))
        return sum(attributes.get("class") == "number best" for attributes in found.attributes("td"))

    assert (best("ndcg@10"), best("wasted@k")) == (1, 0)


def test_samples_are_there_with_paths_by_number(shown: Page) -> None:
    data = shown.data
    assert data["arms"] == ["a", "b"]
    assert data["limit"] == 20
    first, second, third = data["samples"]
    named = [[data["paths"][number] for number in sample["gold"]] for sample in (first, second, third)]
    assert named == [["a.c", "b.c"], ["a.c"], ["gone.c"]]
    assert [answer.get("rank") for answer in first["arms"]] == [2, 1]
    assert second["arms"][0]["abstained"] is True
    assert third["gold_absent"] == third["gold"]
    assert not data["explained"]


def test_hostile_words_are_text() -> None:
    page = page_of(hostile())
    assert not page.faults
    assert "window.hacked" not in "".join(page.texts["script"])
    assert len(page.attributes("script")) == 2
    assert not page.attributes("img")
    assert "onerror=window.hacked" in page.text
    assert "\u202e" not in page.source
    assert r"\u202e" in page.text
    assert HOSTILE in page.data["paths"]  # as it is: the browser sets it as text


def test_the_same_report_is_the_same_page() -> None:
    first, second = (page_of(large(20, 3)).source for _ in range(2))
    assert first == second


def test_500_samples_of_6_arms_are_under_2_megabytes() -> None:
    page = page_of(large(500, 6))
    assert len(page.source.encode()) < 2_000_000
    assert len(page.data["samples"]) == 500


def test_a_report_without_gold_is_about_silence() -> None:
    arms = {"a": (answer(abstained=True), no_gold(1.0)), "b": (answer(ranked=["x"]), no_gold(0.0))}
    fields = {"gold": [], "stratum": "natural_no_gold"}
    page = page_of(build(header("a", "b", of=2, chosen=2), [detail(row, arms, **fields) for row in range(2)]))
    assert not page.faults
    assert "selective success" in page.text
    assert "Recall at every k" not in page.text


@pytest.mark.parametrize("labels", [(), ("a",)])
def test_a_report_without_samples_is_a_page(labels: tuple[str, ...]) -> None:
    page = page_of(build(header(*labels), []))
    assert not page.faults
    assert page.data["samples"] == []


def test_what_is_counted_once_is_in_the_singular() -> None:
    arms = {"a": (answer(), positive(1.0, 1.0))}
    page = page_of(build(header("a", of=1, chosen=1), [detail(0, arms)]))
    assert "files by query · 1 sample · 1 arm · k = 20" in page.text


def test_a_fact_that_is_not_known_leaves_its_cell_empty() -> None:
    tree = "cd" * 32
    name = f"acme/ring@{COMMIT}"
    arms = {"a": (answer(ranked=["a.c"]), {"hit@k": 1.0})}
    head = header("a", of=1, chosen=1, snapshots={name: {"tree": tree}})
    page = page_of(build(head, [detail(0, arms)]))
    row = page.source.partition(f"{name}</th>")[2].partition("</tr>")[0]
    assert row == f"<td></td><td>{tree}</td>"


def test_lost_samples_and_errors_are_told_first() -> None:
    arms = {"a": (answer(error="timed out"), {"hit@k": 0.0}), "b": (answer(ranked=["a.c"]), {"hit@k": 1.0})}
    head = header("a", "b", of=2, chosen=2)
    head["selection"]["lost"] = [{"source": "ab" * 32, "id": "s1", "ordinal": 0, "why": "not run"}]
    page = page_of(build({**head, "environment": {"contended": True}}, [detail(0, arms)]))
    assert "1 of 2 chosen samples were lost" in page.text
    assert "a 1 (reasons under About)" in page.text
    assert "timed out" in page.text
    assert "times are contended" in page.text


@pytest.mark.parametrize("workers", [1, 2])
def test_no_arm_is_dominated_by_times_of_several_workers(workers: int) -> None:
    # b finds what a misses, and faster, 30 times over.
    details = [
        detail(
            row,
            {
                "a": (answer(ranked=["x.c"], wall_ms=9.0), positive(0.0, 0.0, **{"recall@10": 0.0})),
                "b": (answer(ranked=["a.c"], wall_ms=1.0), positive(1.0, 1.0, **{"recall@10": 1.0})),
            },
        )
        for row in range(30)
    ]
    head = header("a", "b", of=30, chosen=30, environment={"contended": True} if workers > 1 else {})
    page = page_of(build(head, details))
    assert "Quality against latency" in page.text
    assert ("(dominated)" in page.text, "by b" in page.text) == (workers == 1, workers == 1)
    assert ("so that no arm is called dominated" in page.text) is (workers > 1)
