"""What speaks against a description; engine.md 15.2."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_retrieval.engines.checks import Probe, errors, warnings
from pytest_retrieval.engines.collapse import collapse
from pytest_retrieval.engines.output import Lines, Reading, Result
from tests.arms.support import snapshot_of
from tests.engines.support import description

SNAPSHOT = snapshot_of({"a.c": b"one\ntwo\nthree\n", "b.c": b"x\n"})


def probe(*results: Result, outside: tuple[str, ...] = ()) -> Probe:
    return Probe(Reading(results=list(results)), tuple(collapse(results, 20, 1)), outside)


def hit(
    path: str, start: int = 0, end: int = 0, text: str | None = None, score: float | None = None
) -> Result:
    return Result(path, Lines(start, end, text) if start else None, text, score)


@pytest.mark.parametrize(
    ("found", "keys", "message"),
    [
        (probe(hit("a.c"), outside=("/etc/x",)), {}, "1 results lie outside the corpus: /etc/x"),
        (
            Probe(Reading(unparsed_results=1, dropped=["'{\"file\": 1}': has no path"]), (), ()),
            {},
            "nothing that was printed is a result: '{\"file\": 1}': has no path; is parse.path right, or is "
            "there none?",
        ),
        (
            probe(hit("z.c"), hit("y.c")),
            {},
            "the corpus has none of the paths (z.c, y.c); is strip_prefix right?",
        ),
        (
            probe(hit("a.c")),
            {"spans": True},
            "spans are declared, and no result has any; parse.start is missing",
        ),
        (
            probe(hit("a.c")),
            {"spans": True, "parse": {"format": "jsonl", "path": "p", "start": "l"}},
            "spans are declared, and no result has any; are parse.start and parse.end right?",
        ),
        (
            probe(hit("a.c")),
            {"spans": True, "parse": {"format": "regex", "regex": "(?P<path>.*):(?P<line>.*)"}},
            "spans are declared, and no result has any; parse.regex has no group named start (its groups: "
            "path, line)",
        ),
        (
            probe(hit("a.c", 1, 3), hit("b.c", 2, 2)),
            {"spans": True},
            "1 of 2 spans end after their file does; is line_base right?",
        ),
    ],
)
def test_errors(found: Probe, keys: dict[str, Any], message: str) -> None:
    assert list(errors([found], description(**keys), SNAPSHOT)) == [message]


def test_what_is_right_has_no_errors() -> None:
    found = probe(hit("a.c", 1, 3), hit("z.c"))
    assert list(errors([found, probe()], description(spans=True), SNAPSHOT)) == []


@pytest.mark.parametrize(
    ("found", "keys", "message"),
    [
        (
            probe(hit("a.c")),
            {"tokens": True},
            "tokens are declared, and no result has a text; is parse.text right?",
        ),
        (
            probe(hit("a.c", 1, 1, "two"), hit("b.c", 0, 0)),
            {"spans": True},
            "every text stands a line below its lines; try line_base 0",
        ),
        (
            probe(hit("a.c", 3, 3, "two")),
            {"spans": True},
            "every text stands a line above its lines; try line_base 2",
        ),
        (
            probe(hit("a.c", 1, 2, "one\ntw…")),
            {"spans": True},
            "1 of 1 texts are not what stands at their lines (first a.c:1); for a shortened preview, "
            "text_from_corpus prices the lines themselves",
        ),
        (
            probe(hit("a.c", 1, 2, "one")),
            {"spans": True},
            "1 of 1 texts are only a part of what stands at their lines (first a.c:1); for a shortened "
            "preview, text_from_corpus prices the lines themselves",
        ),
        (
            probe(hit("a.c", 1, 1, "tw"), hit("a.c", 2, 2, "thr")),
            {"spans": True},
            "every text stands a line below its lines; try line_base 0",
        ),
        (
            probe(hit("a.c", score=1), hit("b.c", score=3), hit("a.c", score=2)),
            {},
            "the scores are not in order; the order of output is what counts",
        ),
    ],
)
def test_warnings(found: Probe, keys: dict[str, Any], message: str) -> None:
    assert list(warnings([found], description(**keys), SNAPSHOT, 1)) == [message]


def test_too_few_files_are_told_with_what_may_help() -> None:
    few, told = probe(hit("a.c"), hit("a.c")), {"command": ["tool", "{{.Query}}", "{{.N}}"]}
    assert list(warnings([few, probe()], description(search=told), SNAPSHOT, 2)) == [
        "1 files at most where 2 are wanted; a larger candidates may give more"
    ]
    for one in (description(search=told, candidates=2), description()):  # had more, or is not told how much
        assert list(warnings([few], one, SNAPSHOT, 2)) == ["1 files at most where 2 are wanted"]


def test_what_is_right_has_no_warnings() -> None:
    found = probe(hit("a.c", 1, 2, "one\n two", 3.0), hit("b.c", 1, 1, "x", 1.0))
    assert list(warnings([found], description(spans=True, tokens=True), SNAPSHOT, 2)) == []
