"""Arguments of tools: JSON whose texts are templates, however deep."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pytest_retrieval.engines.arguments import Arguments, parse_arguments
from pytest_retrieval.engines.template import Template, parse_template

VALUES = {"Query": "{{.K}} 7", "K": "20", "N": "100", "Root": "/r", "PerFile": "1"}

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text().filter(lambda text: "{{" not in text),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=10,
)


def parse(value: dict[str, Any]) -> Arguments:
    def read(place: str, text: str) -> Template | None:
        return parse_template(text)

    return parse_arguments(value, "arguments", read)


def test_texts_are_filled_and_whole_placeholders_of_numbers_are_numbers() -> None:
    arguments = parse(
        {
            "pattern": "{{.Query}}",
            "paths": ["{{.Root}}/src", {"at": "{{.N}}"}],
            "limit": "{{.K}}",
            "text": "{{json .K}}",
            "shown": "{{.K}} files",
            "regex": True,
            "start": 0,
            "none": None,
        }
    )
    assert arguments.render(VALUES) == {
        "pattern": "{{.K}} 7",
        "paths": ["/r/src", {"at": 100}],
        "limit": 20,
        "text": '"20"',
        "shown": "20 files",
        "regex": True,
        "start": 0,
        "none": None,
    }
    named = {field for template in arguments.templates for field in template.fields}
    assert named == {"Query", "Root", "N", "K"}


@given(st.dictionaries(st.text(max_size=5), JSON, max_size=3))
def test_what_has_no_placeholder_is_as_written(value: dict[str, Any]) -> None:
    assert parse(value).render(VALUES) == value


def test_faults_name_their_place() -> None:
    places: list[str] = []
    parse_arguments({"a": [{"b": "x"}], "c": "y"}, "search.arguments", lambda place, _: places.append(place))
    assert places == ["search.arguments.a[0].b", "search.arguments.c"]
