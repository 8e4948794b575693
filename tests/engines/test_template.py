"""Templates: plain fields of text/template, replaced within one word; cases 44 and 45 of engine.md."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_retrieval.engines.template import FIELDS, parse_template

VALUES = {name: f"<{name}>" for name in FIELDS} | {"Query": "a \"b\" $(rm x) 'c'", "K": "20", "N": "100"}


@pytest.mark.parametrize(
    ("text", "rendered"),
    [
        ("t", "t"),
        ("--k={{.K}}", "--k=20"),
        ("{{ .N }}", "100"),
        ("{{.Query}}", "a \"b\" $(rm x) 'c'"),
        ("{{.State}}/{{.Name}}.db", "<State>/<Name>.db"),
        ("{ {.K} } }}", "{ {.K} } }}"),
        ("{{json .Query}}", '"a \\"b\\" $(rm x) \'c\'"'),
    ],
)
def test_fields_are_replaced_and_nothing_else(text: str, rendered: str) -> None:
    assert parse_template(text).render(VALUES) == rendered


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{{.Foo}}", r"unknown template field \{\{\.Foo\}\}.* \(known: \.Root, "),
        ("{{.Qury}}", r"unknown template field \{\{\.Qury\}\}; did you mean 'Query'\?"),
        ("{{.root}}", "did you mean 'Root'"),
        ("{{if .K}}x{{end}}", r"unsupported template action '\{\{if \.K\}\}'"),
        ("{{Root}}", r"did you mean \{\{\.Root\}\}\?"),
        ("{{.Root.Name}}", "unsupported template action"),
        ("{{.Query | js}}", "unsupported template action"),
        ("{{- .Root -}}", "unsupported template action"),
        ("{{}}", "unsupported template action"),
        ("x {{.Root", r"a \{\{ is not closed"),
    ],
)
def test_what_is_no_plain_field_is_named(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_template(text)


@given(st.text())
def test_a_value_is_never_read_as_a_template(query: str) -> None:
    template = parse_template("-{{.Query}}-{{json .Query}}")
    values = {**VALUES, "Query": query + "{{.Root}}"}
    plain, quoted = f"-{query}{{{{.Root}}}}-", json.dumps(query + "{{.Root}}")
    assert template.render(values) == plain + quoted


@pytest.mark.parametrize(
    ("query", "expression"),
    [
        ("Where are the idle connections of the pool reused?", "idle|connections|pool|reused"),
        ("a->b (x)", r"a->b \(x\)"),  # no word is left: all of it, and nothing in it means anything
        ("  ", ""),
    ],
)
def test_the_telling_words_of_a_query_are_one_expression(query: str, expression: str) -> None:
    assert parse_template("{{words .Query}}").render({**VALUES, "Query": query}) == expression
