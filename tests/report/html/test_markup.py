"""Nothing becomes markup that is not markup already."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_retrieval.report.html.markup import join, tag, visible
from tests.report.html.pages import HOSTILE, Page


def test_elements_are_written_as_html_has_them() -> None:
    assert tag("p", "a & b", class_="x", aria_label='"') == '<p class="x" aria-label="&quot;">a &amp; b</p>'
    assert tag("circle", cx=1.5, cy=2.0) == '<circle cx="1.5" cy="2"/>'
    assert tag("select", hidden=True, disabled=False, id=None) == "<select hidden></select>"
    assert join(["<", tag("b", 1), None, ["x", [">"]]]) == "&lt;<b>1</b>x&gt;"


def test_what_cannot_be_seen_or_reorders_text_is_written_out() -> None:
    assert visible("a\u202eb\x00\u200bc") == r"a\u202eb\x00\u200bc"
    assert visible("naïve 文\n") == "naïve 文\n"


@given(st.text())
def test_any_text_stays_text(text: str) -> None:
    for shown in (tag("p", text), tag("p", title=text), tag("p", text + HOSTILE)):
        page = Page(shown)
        assert [name for name, _ in page.elements] == ["p"]
        assert not page.faults
