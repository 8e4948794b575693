"""``pytest-retrieval engine probe`` says what is called, read, dropped and wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_retrieval.cli import main
from tests.engines.support import document, write

ROWS = 'echo warming; echo \'{"p":"a.c","a":2,"s":0.5}\'; echo \'{"p":"gone.c","a":1,"s":0.25}\''


def probe(tmp_path: Path, capsys: pytest.CaptureFixture[str], *words: str, **keys: Any) -> tuple[int, str]:
    tree = tmp_path / "tree"
    tree.mkdir(exist_ok=True)
    (tree / "a.c").write_text("one\ntwo\n")
    search = {"command": ["sh", "-c", ROWS, "sh", "{{.Query}}"]}
    parse = {"format": "jsonl", "path": "p", "start": "a", "score": "s"}
    path = write(tmp_path, document(**{"search": search, "parse": parse, "spans": True} | keys))
    status = main(["engine", "probe", str(path), "--root", str(tree), "--query", "two words", *words])
    return status, capsys.readouterr().out


def test_calls_output_and_results_are_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, said = probe(tmp_path, capsys, "--query", "again")
    lines = said.splitlines()
    assert status == 0
    assert lines[0] == "engine: tool, oneshot"
    assert lines[1].startswith("version: sha256:")
    assert lines[2].endswith("/tree (1 files)")
    assert lines[4] == "query: two words"
    assert lines[5].startswith("search: sh -c ")
    assert lines[5].endswith(" sh 'two words'")
    assert lines[7:14] == [
        "  | warming",
        '  | {"p":"a.c","a":2,"s":0.5}',
        '  | {"p":"gone.c","a":1,"s":0.25}',
        "results: 2 read, 2 files",
        "  dropped: 1 lines that do not parse",
        "    'warming': is no JSON object",
        "  1. a.c:2-2  score 0.5",
    ]
    assert lines[14] == "  2. gone.c:1-1  score 0.25  (not in the corpus)"
    assert said.count("query: ") == 2
    assert lines[-2:] == ["warning: 2 files at most where 20 are wanted", "ok"]


def test_whose_contents_tell_the_version_is_said_where_the_tool_does_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrapper = tmp_path / "wrapper.sh"
    wrapper.write_text(f"#!/bin/sh\n{ROWS}\n")
    search = {"command": ["sh", str(wrapper), "{{.Query}}"]}
    _, said = probe(tmp_path, capsys, search=search)
    told = [line for line in said.splitlines() if line.startswith("version: ")]
    assert [line.partition(" (")[2] for line in told] == [
        'contents of sh, wrapper.sh; what these call does not count, "version" may tell it)'
    ]
    _, said = probe(tmp_path, capsys, search=search, version={"command": ["echo", "tool 1.2"]})
    assert "\nversion: tool 1.2 sha256:" in said
    assert "contents of" not in said


def test_what_a_tool_says_beside_its_output_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    complaint = 'for n in $(seq 14); do echo complaint $n >&2; done; echo \'{"p":"a.c","a":1}\''
    status, said = probe(tmp_path, capsys, search={"command": ["sh", "-c", complaint]})
    lines = said.splitlines()
    place = lines.index("on standard error, which is not read:")
    assert lines[place + 1 : place + 14] == [
        *(f"  ! complaint {number}" for number in range(1, 13)),
        "  ! … and 2 more lines",
    ]
    assert lines[place + 14] == "results: 1 read, 1 files"
    assert status == 0


def test_tabs_of_the_output_are_legible(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, said = probe(tmp_path, capsys, search={"command": ["printf", '{"p":"a.c",\\t"a":2}\\n']})
    assert '  | {"p":"a.c", "a":2}\n' in said


def test_unknown_keys_are_errors_and_all_else_is_still_tried(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, said = probe(tmp_path, capsys, line_bas=0)
    assert status == 1
    assert "error: line_bas: unknown key; did you mean 'line_base'?\n" in said
    assert "results: 2 read" in said
    assert not said.endswith("ok\n")


@pytest.mark.parametrize(
    ("script", "error"),
    [
        ("echo broken >&2; exit 3", "error: ended with exit status 3: broken"),
        ("echo text", "error: nothing parsed of 1 lines of output; the first is 'text': is no JSON object"),
        (
            'echo \'{"p":"x.c"}\'',
            "error: the corpus has none of the paths (x.c, x.c); is strip_prefix right?",
        ),
        ('echo \'{"p":"/x.c"}\'', "error: 2 results lie outside the corpus: /x.c, /x.c"),
    ],
)
def test_faults_are_errors(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], script: str, error: str
) -> None:
    status, said = probe(
        tmp_path, capsys, "--query", "b", search={"command": ["sh", "-c", script]}, spans=False
    )
    assert status == 1
    assert error in said.splitlines()


def test_the_index_is_shown_and_its_failure_ends_the_probe(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, said = probe(tmp_path, capsys, index={"command": ["sh", "-c", 'echo x > "$0/i"', "{{.State}}"]})
    assert status == 0
    assert "state COLD of 2 bytes in " in said
    status, said = probe(tmp_path, capsys, index={"command": ["sh", "-c", "echo no disk >&2; exit 4"]})
    assert (status, said.splitlines()[-1]) == (1, "error: index: ended with exit status 4: no disk")


def test_another_order_at_the_second_call_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    count = tmp_path / "count"
    script = f'echo >> {count}; if [ $(wc -l < {count}) = 1 ]; then echo \'{{"p":"a.c"}}\'; fi'
    _, said = probe(tmp_path, capsys, search={"command": ["sh", "-c", script]}, spans=False)
    assert "warning: asked twice, it ranked differently" in said.splitlines()


def test_a_description_with_faults_is_a_usage_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "broken.json"
    path.write_text(json.dumps({"name": "x", "serach": {}}))
    assert main(["engine", "probe", str(path), "--query", "x"]) == 2
    assert capsys.readouterr().err.splitlines() == [
        f"pytest-retrieval: {path}: search: missing; search.command is how a query is asked",
        f"{path}: parse: missing; it says how the output of a search is read",
        f"{path}: serach: unknown key; did you mean 'search'?",
    ]
    assert main(["engine", "probe", "ripgrap", "--query", "x"]) == 2
    assert "did you mean 'ripgrep'" in capsys.readouterr().err
    assert main(["engine", "probe", "grep", "--query", " "]) == 2


def test_shipped_descriptions_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["engine", "list"]) == 0
    names = [line.partition(": ")[0] for line in capsys.readouterr().out.splitlines()]
    assert names == [
        f"engine:{name}" for name in ("git-grep", "grep", "grep-literal", "ripgrep", "sqlite-fts5")
    ]
