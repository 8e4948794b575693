"""Output read into results; cases 31 to 39 of engine.md."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_retrieval.engines.documents import json_within, look_up
from pytest_retrieval.engines.output import OutputError, Reading, read_output
from tests.engines.support import description

Spanned = tuple[str, tuple[int, int] | None]


def read(data: str | bytes, parse: dict[str, Any], **keys: Any) -> Reading:
    data = data.encode() if isinstance(data, str) else data
    return read_output(data, description(parse=parse, **{"spans": True} | keys))


def spanned(reading: Reading) -> list[Spanned]:
    return [
        (one.path, None if one.lines is None else (one.lines.start, one.lines.end)) for one in reading.results
    ]


NESTED = {
    "format": "json",
    "results": "hits",
    "path": "chunk.file",
    "start": "chunk.ln.from",
    "end": "chunk.ln.to",
    "score": "s",
}
FLAT = {"format": "json", "path": "p", "start": "l"}
LINES = {"format": "jsonl", "path": "p", "start": "a", "end": "b", "score": "s"}
GREP = {"format": "regex", "regex": r"^(?P<path>[^:]+):(?P<start>\d+):(?P<text>.*)$"}


def test_31_nested_output_with_lines_from_zero() -> None:
    data = '{"hits":[{"chunk":{"file":"s/a.c","ln":{"from":3,"to":9}},"s":0.8}]}'
    reading = read(data, NESTED, line_base=0)
    assert spanned(reading) == [("s/a.c", (4, 10))]
    assert reading.results[0].score == 0.8


def test_32_the_document_is_the_list_and_digits_are_numbers() -> None:
    assert spanned(read('[{"p":"x","l":"12"}]', FLAT)) == [("x", (12, 12))]


@pytest.mark.parametrize("data", ['{"hits":null}', '{"hits":[]}', "", " \n\n"])
def test_33_no_results_are_no_fault(data: str) -> None:
    assert read(data, NESTED).results == []


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ('{"other":[]}', "the output has nothing at parse.results 'hits'; its keys: other"),
        ("Traceback (most recent call last):", "the output is no JSON document .*: 'Traceback"),
        ('{"hits":{"a":1}}', "parse.results 'hits' is no list but {'a': 1}"),
        (
            "[1]",
            "the output has nothing at parse.results 'hits'; it is a list itself, which an empty parse.res",
        ),
        ("1", "the output has nothing at parse.results 'hits'; it is no object"),
        ('{"p":"x"}\n{"p":"y"}', "no JSON document .*; parse.format jsonl reads a JSON object per line"),
        ("[" * 100_000, "the output is no JSON document"),
        ('{"hits":[{"file":"x"}]}', "none of 1 results has a path at parse.path 'chunk.file'; the first is"),
    ],
)
def test_33_what_answers_nothing_is_a_fault(data: str, message: str) -> None:
    with pytest.raises(OutputError, match=message):
        read(data, NESTED)


def test_34_lines_that_are_no_objects_are_counted() -> None:
    reading = read('loading model…\n{"p":"x","a":1,"b":2}\n\n', LINES)
    assert (spanned(reading), reading.unparsed_lines) == ([("x", (1, 2))], 1)
    assert reading.dropped == ["'loading model…': is no JSON object"]
    for data in ("loading model…", "3\n[]\n"):
        with pytest.raises(OutputError, match="nothing parsed of"):
            read(data, LINES)


def test_35_lines_of_grep() -> None:
    reading = read("src/x.go:17:func Foo() {\r\nBinary file y matches\n", GREP)
    assert spanned(reading) == [("src/x.go", (17, 17))]
    assert reading.results[0].text == "func Foo() {"
    assert reading.results[0].lines is not None
    assert reading.results[0].lines.text == "func Foo() {"
    assert reading.unparsed_lines == 1


@pytest.mark.parametrize(
    ("data", "parse"), [('{"p":"x","a":1}\n', LINES), ("x:1:y\n", GREP), ('[{"p":"x","l":1}]', FLAT)]
)
def test_a_byte_order_mark_costs_no_result(data: str, parse: dict[str, Any]) -> None:
    assert spanned(read("\ufeff" + data, parse)) == [("x", (1, 1))]


def test_36_short_group_names() -> None:
    assert spanned(read("a.c:3:x", GREP | {"regex": r"^(?<path>[^:]+):(?<start>\d+)"})) == [("a.c", (3, 3))]


@pytest.mark.parametrize(
    ("row", "bad"),
    [
        ('"a":30,"b":12', 1),
        ('"a":"12-30"', 0),
        ('"a":0', 0),
        ('"b":7', 0),
        ('"a":true', 0),
        ('"a":1.5', 0),
        ('"a":null,"b":null', 0),
        ('"a":1e400', 0),
    ],
)
def test_37_lines_that_cannot_be_are_no_span(row: str, bad: int) -> None:
    reading = read('{"p":"x",' + row + "}", LINES)
    assert (spanned(reading), reading.bad_spans) == ([("x", None)], bad)


@pytest.mark.parametrize("row", ['"a":4,"b":6', '"a":4.0,"b":" 6 "', '"a":"+4","b":6.0'])
def test_lines_in_any_writing(row: str) -> None:
    assert spanned(read('{"p":"x",' + row + "}", LINES)) == [("x", (4, 6))]


def test_38_scores_never_sort() -> None:
    reading = read('{"p":"x","s":0.1}\n{"p":"y","s":"0.9"}\n{"p":"z","s":"best"}', LINES)
    assert [(one.path, one.score) for one in reading.results] == [("x", 0.1), ("y", 0.9), ("z", None)]


def test_39_numbers_in_a_path_are_places_in_lists() -> None:
    assert look_up({"loc": [{"line": 4}]}, "loc.0.line") == 4
    assert look_up({"loc.0.line": 5, "loc": []}, "loc.0.line") == 5
    assert look_up({"loc": []}, "loc.0.line") is None
    assert look_up({"0": {"1": 6}}, "0.1") == 6
    assert look_up("text", "a.b") is None


def test_without_declared_spans_lines_are_ignored() -> None:
    assert spanned(read('[{"p":"x","l":12}]', FLAT, spans=False)) == [("x", None)]


def test_results_without_a_path_are_counted_beside_those_with_one() -> None:
    reading = read('{"type":"begin"}\n{"p":"x"}\n{"p":""}\n{"p":7}', LINES)
    assert (spanned(reading), reading.unparsed_results) == ([("x", None)], 3)
    assert read('{"type":"summary"}', LINES).results == []


def test_colours_are_taken_off_paths_and_counted() -> None:
    reading = read("\x1b[35m\x1b[Ksrc/x.go\x1b[m\x1b[K:17:x", GREP)
    assert (spanned(reading), reading.coloured) == ([("src/x.go", (17, 17))], 1)


def test_texts_are_strings_or_lists_of_lines() -> None:
    parse = LINES | {"text": "t"}
    rows = '{"p":"x","t":"a"}\n{"p":"x","t":["a","b"]}\n{"p":"x","t":[1]}\n{"p":"x"}'
    assert [one.text for one in read(rows, parse).results] == ["a", "a\nb", None, None]


def test_bytes_that_are_no_utf8_keep_the_path_and_are_counted() -> None:
    reading = read(b"caf\xe9.c:3:\xff!", GREP)
    assert reading.results[0].path == "caf\udce9.c"
    assert reading.results[0].text == "\N{REPLACEMENT CHARACTER}!"
    assert reading.undecodable == 2


def test_only_a_line_feed_ends_a_line() -> None:
    assert len(read('{"p":"x\N{LINE SEPARATOR}\N{NEXT LINE}y"}\r\n', LINES).results) == 1


@given(st.binary() | st.text().map(str.encode), st.sampled_from([NESTED, FLAT, LINES, GREP]))
def test_any_output_is_read_or_refused(data: bytes, parse: dict[str, Any]) -> None:
    try:
        reading = read(data, parse)
    except OutputError as error:
        assert "\n" not in str(error)
    else:
        assert all(one.path.strip() for one in reading.results)


def test_a_path_that_no_file_can_have_is_no_result() -> None:
    listed = ",".join(f'{{"p":"{letter * length}"}}' for letter, length in (("x", 4097), ("y", 4096)))
    reading = read(f'{{"hits":[{listed}]}}', {"format": "json", "results": "hits", "path": "p"})
    assert [result.path for result in reading.results] == ["y" * 4096]
    assert reading.unparsed_results == 1
    assert reading.dropped[0].endswith("xxx: its path has 4,097 characters")


@pytest.mark.parametrize(
    ("data", "results"),
    [
        pytest.param('{"out":"[{\\"p\\":\\"a\\"}]"}', "out", id="a text that is the list"),
        pytest.param('{"out":"{\\"hits\\":[{\\"p\\":\\"a\\"}]}"}', "out.hits", id="on the way"),
        pytest.param('{"out":"2 found:\\n [{\\"p\\":\\"a\\"}] end"}', "out", id="after other words"),
    ],
)
def test_json_within_a_text_is_read_on(data: str, results: str) -> None:
    assert spanned(read(data, FLAT | {"results": results})) == [("a", None)]


def test_a_result_may_be_the_path_itself() -> None:
    assert spanned(read('["a","b"]', {"format": "json", "path": "."}, spans=False)) == [
        ("a", None),
        ("b", None),
    ]


@pytest.mark.parametrize(
    "parse", [FLAT, FLAT | {"results": "out"}, LINES, GREP], ids=["json", "at", "jsonl", "regex"]
)
def test_words_that_say_nothing_was_found_are_no_results(parse: dict[str, Any]) -> None:
    data = '{"out": "No matches here"}' if parse.get("results") else "No matches here"
    assert read(data, parse | {"empty": "^No matches|: .No matches"}).results == []
    with pytest.raises(OutputError):
        read(data, parse | {"empty": "nothing"})


@given(st.text(max_size=200))
def test_any_text_holds_a_document_or_is_itself(text: str) -> None:
    found = json_within(text)
    assert found == text or not isinstance(found, str) or text.lstrip("\ufeff").strip().startswith('"')
