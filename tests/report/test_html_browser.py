"""The page in a real browser: it shows, filters, sorts and opens samples, and asks for nothing from anywhere.

Needs Playwright and a Chromium (Debian's will do, Playwright's own is not fetched); else it is skipped.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_retrieval.report.build import Report, build
from pytest_retrieval.report.html.page import write_page
from tests.report.html.pages import HOSTILE, hostile, large, small
from tests.report.html.test_tasks import trial
from tests.report.samples import answer, detail, header, positive

playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
BROWSER = next(filter(None, map(shutil.which, BROWSERS)), None)
pytestmark = pytest.mark.skipif(BROWSER is None, reason=f"no browser: none of {', '.join(BROWSERS)} on PATH")

Show = Callable[..., Any]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as started:
        launched = started.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture
def show(browser: Any, tmp_path: Path) -> Iterator[Show]:
    """Opens the page of a report; in the end it must have said and asked for nothing."""
    said: list[str] = []
    asked: list[str] = []
    pages = []

    def opened(report: Report, *, fragment: str = "", **options: Any) -> Any:
        path = tmp_path / "report.html"
        write_page(path, report)
        page = browser.new_page(**options)
        pages.append(page)
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(path.as_uri() + fragment)
        page.wait_for_selector("html[data-ready]", timeout=20_000)
        return page

    yield opened
    urls = {page.url.partition("#")[0] for page in pages}
    for page in pages:
        page.close()
    assert said == []
    assert {url.partition("#")[0] for url in asked} == urls


def texts(page: Any, selector: str) -> list[str]:
    found: list[str] = page.locator(selector).all_inner_texts()
    return found


def test_it_filters_sorts_and_opens_samples(show: Show) -> None:
    page = show(small())
    assert texts(page, "[role=status]") == ["3 of 3 samples"]
    assert texts(page, "#list .opener") == ["s0", "s1", "s2"]
    assert texts(page, "#list .sample .outcome") == ["#2", "#1", "silent", "#2", "miss", "miss"]

    page.fill("#search", "S1")
    assert texts(page, "#list .opener") == ["s1"]
    page.get_by_role("button", name="Clear filters").click()
    page.locator("#arm-0-outcome").select_option("miss")
    page.locator("#arm-1-outcome").select_option("hit")
    assert texts(page, "#list .opener") == ["s1"]
    page.get_by_role("button", name="Clear filters").click()
    assert texts(page, "[role=status]") == ["3 of 3 samples"]

    heads = page.locator("#list thead th")
    heads.nth(2).get_by_role("button").click()
    assert heads.nth(2).get_attribute("aria-sort") == "ascending"
    assert texts(page, "#list .opener") == ["s0", "s1", "s2"]
    heads.nth(2).get_by_role("button").click()
    assert heads.nth(2).get_attribute("aria-sort") == "descending"
    assert texts(page, "#list .opener") == ["s2", "s1", "s0"]

    opener = page.locator("#list .opener").first
    opener.focus()
    page.keyboard.press("Enter")
    assert opener.get_attribute("aria-expanded") == "true"
    panel = page.locator("#list .panel").inner_text()
    assert "absent from the snapshot: nobody can find it" in panel
    assert "gone.c: absent from the snapshot" in panel
    page.keyboard.press("Enter")
    assert page.locator("#list .panel").count() == 0


def test_the_leaderboard_sorts(show: Show) -> None:
    page = show(small())
    rows = ".leaderboard tbody th"
    assert texts(page, rows) == ["b", "a"]
    page.locator(".leaderboard").get_by_role("button", name="arm").click()
    assert texts(page, rows) == ["a", "b"]
    assert page.locator(".leaderboard th[aria-sort]").count() == 1


def test_the_forest_shows_one_measure_at_a_time(show: Show) -> None:
    page = show(small())
    shown = page.locator("#forest > .panel:visible")
    assert shown.get_attribute("data-measure") == "recall@10"
    page.locator("#forest-measure").select_option("hit@20")
    assert shown.get_attribute("data-measure") == "hit@20"
    assert shown.count() == 1


def test_an_address_leads_to_a_sample(show: Show) -> None:
    page = show(small(), fragment="#sample-2")
    assert page.locator("#open-2").get_attribute("aria-expanded") == "true"
    assert page.evaluate("document.activeElement.id") == "open-2"


def test_hostile_words_are_shown_as_text(show: Show) -> None:
    page = show(hostile())
    page.locator("#list .opener").first.click()
    assert page.evaluate("window.hacked") is None
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 2
    shown = HOSTILE.replace("\u202e", r"\u202e").replace("\x07", r"\u0007")
    panel = page.locator("#list .panel").inner_text()
    assert panel.count(shown) >= 5  # query, gold, negative, ranking, error
    assert "</style>" in panel
    page.fill("#search", "<IMG SRC")
    assert texts(page, "[role=status]") == ["2 of 2 samples"]


def test_it_shows_what_agents_claimed(show: Show) -> None:
    page = show(trial())
    assert texts(page, "[role=status]") == ["4 of 4 tasks"]
    page.locator("#list .opener").first.click()
    panel = page.locator("#list .panel").inner_text()
    assert "FALSE test-file checks/other_test.py certain" in panel
    assert "TRUE test-file checks/quota_test.py certain" in panel
    page.locator("#arm-1-outcome").select_option("error")
    assert texts(page, "#list .opener") == ["q2"]


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wider_than_the_window(show: Show, width: int, scheme: str) -> None:
    page = show(large(60, 6), viewport={"width": width, "height": 800}, color_scheme=scheme)
    assert texts(page, "[role=status]") == ["60 of 60 samples; the first 50 are shown"]
    page.locator("#list .opener").nth(3).click()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    page.get_by_role("button", name="Show 50 more").click()
    assert page.locator("#list .sample").count() == 60
    back = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (back == "rgb(255, 255, 255)") is (scheme == "light")


def test_long_names_are_broken(show: Show) -> None:
    arms = {"a" * 40: (answer(ranked=["a.c"], wall_ms=1.0), positive(1.0, 1.0, **{"recall@10": 1.0}))}
    details = [detail(row, arms, repo=f"{'o' * 200}/{row}", id="i" * 10_000 + str(row)) for row in range(3)]
    report = build(header("a" * 40, of=3, chosen=3), details)
    page = show(report, viewport={"width": 390, "height": 800})
    assert page.locator(".heat tbody tr").count() == 3
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    box = page.locator(".heat").bounding_box()
    assert box is not None
    assert box["width"] <= 390  # numbers are not pushed away by names


# The contrast of WCAG 2.2 (1.4.3), with colours as a canvas paints them.
CONTRAST = """
(element) => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const luminance = (colour) => {
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const parts = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map((value) => value / 255)
      .map((value) => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  const style = getComputedStyle(element);
  const [dark, light] = [luminance(style.color), luminance(style.backgroundColor)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_shade_of_the_map_is_read_with_its_number(show: Show, scheme: str) -> None:
    page = show(large(60, 1), color_scheme=scheme)
    cell = page.locator(".heat td[class*=heat-]").first
    for shade in range(10):
        cell.evaluate("(element, shade) => { element.className = `number heat-${shade}`; }", shade)
        assert cell.evaluate(CONTRAST) >= 4.5, shade


def test_paper_loses_no_column(show: Show) -> None:
    page = show(large(60, 3), viewport={"width": 672, "height": 1000})  # A4 within its margins
    page.emulate_media(media="print")
    for table in page.locator(".scroll > table, .strips").all():
        if table.is_visible():
            box = table.bounding_box()
            assert box is not None
            assert box["x"] + box["width"] <= 672


def test_it_is_worked_by_keyboard(show: Show) -> None:
    page = show(large(60, 2))
    page.locator("#search").focus()
    page.keyboard.type("acme/r3")
    assert texts(page, "[role=status]") == ["5 of 60 samples"]
    page.locator("#list .opener").first.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Query"  # scrolls by arrows
    page.locator(".opener").first.focus()
    page.keyboard.press("Enter")
    assert page.locator("#list .panel").count() == 0


def test_without_a_script_every_measure_is_shown(browser: Any, tmp_path: Path) -> None:
    write_page(tmp_path / "report.html", small(pairs=[("b", "a")]))
    page = browser.new_page(java_script_enabled=False)
    page.goto((tmp_path / "report.html").as_uri())
    panels = page.locator("#forest > .panel")
    assert panels.count() > 1
    assert all(panel.is_visible() for panel in panels.all())
    assert not page.locator(".choice").is_visible()
    page.close()


def test_a_code_search_is_about_lines(show: Show) -> None:
    measures = {"recall@10": 1.0, "mrr@k": 1.0, "chunk_mrr@20": 0.0, "chunk_recall@10": 0.0}
    searched = {
        "query": "where", "corpus": "kv", "lang": "c", "difficulty": "easy", "subsystem": "", "tree": ".",
        "gold": [{"path": "a.c", "start": 10, "end": 20}],
    }  # fmt: skip
    found = detail(0, {"grep": (answer(ranked=["a.c"]), positive(1.0, 1.0, **measures))}, codesearch=searched)
    page = show(build(header("grep", of=1, chosen=1), [found]))
    page.locator("#list .opener").first.click()
    panel = page.locator("#list .panel").inner_text()
    assert "no right lines within 20" in panel
    assert "recall@10 of files 1" in panel
