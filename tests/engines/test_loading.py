"""Descriptions: what loads, and the one line for each thing that does not; cases 25, 36, 45 and 48."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_retrieval.engines.files import DescriptionError
from pytest_retrieval.engines.loading import (
    SHIPPED,
    find_description,
    load_description,
    parse_description,
)
from pytest_retrieval.errors import UsageError
from tests.engines.support import description, document, write

FULL = """
{ "name": "mytool", "mode": "oneshot",
  "index":  { "command": ["mytool","index","--db","{{.State}}/db","{{.Root}}"], "timeout": "20m" },
  "search": { "command": ["mytool","query","--db","{{.State}}/db","-n","{{.N}}","--json","{{.Query}}"],
              "timeout": "30s" },
  "parse":  { "format": "json", "results": "hits", "path": "chunk.file", "start": "chunk.from",
              "end": "chunk.to", "text": "chunk.body", "score": "score" },
  "candidates": 5, "spans": true, "per_file": [1,2,3], "tokens": true, "line_base": 1,
  "strip_prefix": "", "env": ["MYTOOL_HOME={{.State}}/home"] }
"""


def test_the_example_of_the_specification_loads_whole() -> None:
    found = parse_description(FULL.encode(), "f.json", Path("/x"))
    assert (found.name, found.label, found.mode) == ("mytool", "mytool", "oneshot")
    assert found.index is not None
    assert (found.index.timeout, found.search.timeout) == (1200.0, 30.0)
    assert [template.text for template in found.search.argv][-1] == "{{.Query}}"
    assert (found.candidates, found.spans, found.per_file, found.tokens) == (5, True, (1, 2, 3), True)
    assert (found.line_base, found.strip_prefix, found.env_pass) == (1, None, None)
    assert [(name, value.text) for name, value in found.env] == [("MYTOOL_HOME", "{{.State}}/home")]
    assert (found.unknown, found.warnings) == ((), ())
    assert found.keeps_state


def test_defaults() -> None:
    found = description()
    assert found.index is None
    assert not found.keeps_state
    assert (found.search.timeout, found.candidates, found.per_file) == (60.0, 1, (1,))
    assert (found.spans, found.tokens, found.has_tokens, found.line_base) == (False, False, False, 1)
    assert found.supports(1)
    assert not found.supports(2)


@pytest.mark.parametrize(
    "index", [None, {}, {"command": []}, {"command": None}], ids=["absent", "empty", "no-words", "null"]
)
def test_an_empty_index_command_is_nothing_to_index(index: object) -> None:
    assert description(index=index).index is None


def test_go_reads_null_as_absent_and_any_letter_case() -> None:
    found = description(Candidates=3, env=[], per_file=[], line_base=0)
    assert (found.candidates, found.per_file, found.line_base, found.unknown) == (3, (1,), 0, ())
    assert description(search={"command": ["x"], "dir": None, "stdin": None}).search.dir is None


def test_a_timeout_of_nothing_is_the_default() -> None:
    for text in ("", "0"):
        assert description(search={"command": ["t"], "timeout": text}).search.timeout == 60.0
        assert description(index={"command": ["t"], "timeout": text}).index.timeout == 1800.0  # type: ignore[union-attr]


FAULTS: list[tuple[dict[str, Any], str]] = [
    ({"name": None}, "name: missing; it is the label of the tool's row"),
    ({"name": " "}, "name: missing; it is the label of the tool's row"),
    ({"name": 7}, "name: must be a text, not a whole number (7)"),
    (
        {"mode": "oneshoot"},
        "mode: 'oneshoot' is unknown; did you mean 'oneshot'? (known: oneshot, persistent, mcp)",
    ),
    ({"search": None}, "search: missing; search.command is how a query is asked"),
    ({"search": {}}, "search.command: is empty"),
    ({"search": {"command": ["", "x"]}}, "search.command[0]: is blank; it names the program"),
    ({"search": {"command": ["x", 3]}}, "search.command[1]: must be a text, not a whole number (3)"),
    ({"search": ["x"]}, "search: must be an object, not a list"),
    (
        {"search": {"command": ["x"], "ok_exit": []}},
        "search.ok_exit: is empty, so that no exit status would do; leave it out for 0 alone",
    ),
    (
        {"search": {"command": "rg {{.Query}}"}},
        'search.command: must be a list of words, ["tool", "--flag", "{{.Query}}"]; no shell reads it',
    ),
    ({"parse": None}, "parse: missing; it says how the output of a search is read"),
    ({"parse": {"path": "p"}}, "parse.format: missing; it is one of json, jsonl, regex"),
    (
        {"parse": {"format": "jsonlines", "path": "p"}},
        "parse.format: 'jsonlines' is unknown; did you mean 'jsonl'? (known: json, jsonl, regex)",
    ),
    ({"parse": {"format": "jsonl"}}, "parse.path: missing; it is the dotted path to a result's file"),
    (
        {"parse": {"format": "regex"}},
        "parse.regex: missing; the format regex needs one, with a group (?P<path>…)",
    ),
    (
        {"parse": {"format": "regex", "regex": r"^(?P<file>.*)$"}},
        "parse.regex: has no group named path; write (?P<path>…) (named groups: file)",
    ),
    (
        {"parse": {"format": "regex", "regex": "(?P<path>"}},
        "parse.regex: does not compile: missing ), unterminated subpattern at position 0",
    ),
    (
        {"search": {"command": ["x"], "timeout": 30}},
        'search.timeout: a bare number is no duration; write "30s"',
    ),
    (
        {"search": {"command": ["x"], "timeout": "30"}},
        "search.timeout: '30' is no duration; write a number and a unit (ms, s, m, h), such as 90s or 1m30s",
    ),
    (
        {"index": {"command": ["x", "{{.Query}}"]}},
        "index.command[1]: {{.Query}} is not known here: there is no query yet",
    ),
    (
        {"index": {"command": ["x"], "dir": "{{.K}}"}},
        "index.dir: {{.K}} is not known here: there is no query yet",
    ),
    ({"env": ["A={{.N}}"]}, "env[0]: {{.N}} is not known here: there is no query yet"),
    ({"env": ["A"]}, "env[0]: 'A' is not of the form KEY=value"),
    ({"env_pass": ["A=b"]}, "env_pass[0]: 'A=b' is no variable's name"),
    ({"per_file": [2, 3]}, "per_file: must contain 1, the protocol's own setting"),
    ({"per_file": [0, 1]}, "per_file: a value is below 1"),
    ({"candidates": -1}, "candidates: must be 1 or more, not -1"),
    ({"candidates": 2.5}, "candidates: must be a whole number, not a number (2.5)"),
    ({"spans": "yes"}, "spans: must be true or false, not a text ('yes')"),
    (
        {"text_from_corpus": True},
        "text_from_corpus: needs spans: true, for the text is read at the tool's lines",
    ),
    (
        {"mode": "persistent", "search": {"command": ["x", "{{.PerFile}}"]}},
        "search.command[1]: {{.PerFile}} is not known here: there is no query yet",
    ),
    (
        {"mode": "persistent", "search": {"command": ["x"]}, "parse": {"format": "jsonl", "path": "p"}},
        "parse.format: must be json in persistent mode, where a reply is one JSON line, not 'jsonl'",
    ),
]


@pytest.mark.parametrize(("keys", "line"), FAULTS, ids=[line[:40] for _, line in FAULTS])
def test_a_fault_is_one_line_with_file_and_place(keys: dict[str, Any], line: str) -> None:
    with pytest.raises(DescriptionError) as caught:
        description(**keys)
    assert str(caught.value) == f"tool.json: {line}"


def test_all_faults_come_at_once_and_unknown_keys_with_them() -> None:
    with pytest.raises(DescriptionError) as caught:
        description(search=None, serach={"command": ["x"]}, candidates=-2)
    assert str(caught.value).splitlines() == [
        "tool.json: search: missing; search.command is how a query is asked",
        "tool.json: candidates: must be 1 or more, not -2",
        "tool.json: serach: unknown key; did you mean 'search'?",
    ]


def test_unknown_keys_of_what_loads_are_kept_with_the_nearest() -> None:
    search = {"command": ["x"], "time_out": "3s"}
    assert description(search=search, linebase=0).unknown == (
        "linebase: unknown key; did you mean 'line_base'?",
        "search.time_out: unknown key; did you mean 'timeout'?",
    )


def test_a_misspelt_field_is_named_at_its_place() -> None:
    with pytest.raises(
        DescriptionError, match=r"search\.command\[1\]: unknown template field \{\{\.Quer\}\}; did"
    ):
        description(search={"command": ["x", "{{.Quer}}"]})


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b'{"name": "x",\n "mode" "y"}', "line 2, column 9: no JSON: Expecting ':' delimiter"),
        (
            rb'{"regex": "\d"}',
            r"line 1, column 12: no JSON: Invalid \escape; in JSON a backslash is written \\",
        ),
        (b"[]", "is no JSON object"),
        (b'{"a": "\xff"}', "is not UTF-8 at byte 7"),
        (b"[" * 100_000, "no JSON that can be read: "),
        (b" " * (1 << 21), "has more than 1,048,576 bytes; this is no engine description"),
    ],
    ids=["colon", "escape", "list", "encoding", "depth", "size"],
)
def test_what_is_no_json_object_is_one_line(data: bytes, line: str) -> None:
    with pytest.raises(DescriptionError) as caught:
        parse_description(data, "f.json", Path())
    assert str(caught.value).startswith(f"f.json: {line}")
    assert "\n" not in str(caught.value)


def test_a_byte_order_mark_is_skipped() -> None:
    data = b"\xef\xbb\xbf" + json.dumps(document()).encode()
    assert parse_description(data, "f", Path()).name == "tool"


def test_persistent_commands_may_name_depth_and_their_stdin_everything() -> None:
    search = {"command": ["x", "{{.K}}", "{{.N}}"], "stdin": "{{json .Query}} {{.PerFile}}"}
    assert description(mode="persistent", search=search).search.stdin is not None


def test_expressions_of_re2_are_read() -> None:
    for text in (r"^(?<path>[^:]+):(?<start>\d+)", r"^(?P<path>[[:alnum:]_/.]+):\z"):
        assert description(parse={"format": "regex", "regex": text}).parse.regex is not None
    found = description(parse={"format": "regex", "regex": r"(?P<path>\w+)(?!x)"})
    assert found.warnings == ("parse.regex: (?! is read here, but not by RE2 in the original",)
    found = description(parse={"format": "regex", "regex": r"(?P<path>[[:alpha:]]+)\z"})
    assert found.parse.regex is not None
    assert found.parse.regex.search("1abc") is not None
    assert found.parse.regex.search("abc1") is None


def test_labels_have_the_characters_of_labels() -> None:
    assert description(name="ColGREP (17M)").label == "ColGREP-17M"
    assert description(name="rg --json").label == "rg-json"
    assert description(name="€").label == "engine"


def test_shipped_descriptions_load_clean_and_are_found_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    labels = {}
    for path in SHIPPED.glob("*.json"):
        assert find_description(path.stem) == path
        found = load_description(path)
        assert (found.unknown, found.warnings) == ((), ())
        labels[path.stem] = found.label
    assert labels == {
        "grep": "engine-grep",
        "git-grep": "git-grep",
        "grep-literal": "grep-literal",
        "ripgrep": "ripgrep",
        "sqlite-fts5": "sqlite-fts5",
    }
    mine = write(tmp_path, document())
    assert find_description("tool.json") == mine
    with pytest.raises(
        UsageError, match=r"^engine:ripgrap: there is no file 'ripgrap'.*did you mean 'ripgrep'\?"
    ):
        find_description("ripgrap")
    for text in ("tool", "toll.json"):
        with pytest.raises(UsageError, match=r"did you mean 'tool\.json'\?"):
            find_description(text)


def test_no_code_knows_a_shipped_engine() -> None:
    package = SHIPPED.parents[1]
    sources = [
        *package.glob("arms/engine/*.py"),
        *package.glob("engines/*.py"),
        package / "bench" / "probing.py",
    ]
    assert len(sources) > 10
    text = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    assert [word for word in ("ripgrep.json", "git-grep", "fts5", '"rg"', '"grep"') if word in text] == []


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(
        st.sampled_from([*document(), "index", "env", "per_file", "mode", "version"]), JSON_VALUES
    )
)
def test_any_json_object_loads_or_is_refused(whole: dict[str, Any]) -> None:
    try:
        parse_description(json.dumps(whole).encode(), "f", Path())
    except DescriptionError as error:
        assert error.faults
