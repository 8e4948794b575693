"""``pytest-retrieval agent`` tries a description before a trial does."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from pytest_retrieval.cli import main
from tests.agents.support import PLAIN, executable

EMPTY = '```json\\n{"claims":[]}\\n```\\n'


@pytest.fixture(autouse=True)
def _apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing may be left of a probe."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.chdir(tmp_path)


def probe(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, list[str], str]:
    status = main(["agent", "probe", *words])
    said = capsys.readouterr()
    assert list(Path("temporary").iterdir()) == []
    return status, said.out.splitlines(), said.err


def test_a_script_that_answers_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    executable(tmp_path / "agent", f"ls; printf '{EMPTY}'")
    status, lines, _ = probe(capsys, "script:./agent")
    assert status == 0
    assert lines[:2] == ["kind: script", "command: ./agent"]
    assert lines[2].startswith("sha256: ")
    assert lines[3].endswith(" ms with exit status 0")
    assert lines[4:] == [
        "reply:",
        "  | ```json",
        '  | {"claims":[]}',
        "  | ```",
        "  | ",
        "claims: 0",
        "tokens: NOT_OBSERVED",
        "tool calls: NOT_OBSERVED",
        "ok",
    ]


def test_what_is_wrong_is_an_error_and_all_else_is_still_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [
        '{"type":"ran","what":"ls -l"}',
        '{"type":"said","text":"nothing"}',
        '{"type":"end","spent":{"a":"x"}}',
    ]
    executable(tmp_path / "agent", "".join(f"echo '{line}'\n" for line in lines) + "echo no >&2; exit 3")
    value: dict[str, Any] = {
        **PLAIN,
        "command": ["./agent", "{{.Prompt}}"],
        "reply": "events",
        "replies": "events",
        "events": {
            "message": {"where": {"type": "said"}, "text": "text"},
            "tool_call": {"where": {"type": "ran"}, "command": "what"},
            "usage": {"where": {"type": "end"}, "tokens": "spent"},
        },
    }
    (tmp_path / "mine.json").write_text(json.dumps(value))
    status, said, _ = probe(capsys, "mine.json", "--text", "Who?")
    assert status == 1
    assert "error: replies: unknown key; did you mean 'reply'?" in said
    assert "it says of its failure: no" in said
    assert "  | nothing" in said
    assert "error: the claims block of the reply is ABSENT; is `reply` right?" in said
    assert "tool calls: 1" in said
    assert "  ran: ls -l" in said
    assert any(line.startswith("warning: no event matched events.usage") for line in said)
    assert said[-1] != "ok"


def test_the_arm_grep_is_a_tool_over_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "test_a.py").write_text("test\n")
    ask = (
        "import json, os, subprocess\n"
        "server = json.load(open(os.environ['RETRIEVAL_MCP_CONFIG']))['mcpServers']['retrieval']\n"
        "params = {'name': 'search', 'arguments': {'query': 'test'}}\n"
        "call = {'id': 1, 'method': 'tools/call', 'params': params}\n"
        "argv = [server['command'], *server['args']]\n"
        "print(subprocess.run(argv, input=json.dumps(call), capture_output=True, text=True).stdout)\n"
        f"print('''{EMPTY}''')\n"
    )
    executable(tmp_path / "agent", ask, sys.executable)
    status, lines, _ = probe(capsys, "script:./agent", "--root", "tree")
    assert status == 0, lines
    assert any("score=2 test_a.py" in line for line in lines)
    assert "  asked: search 'test'" in lines
    executable(tmp_path / "agent", f"printf '{EMPTY}'")
    status, lines, _ = probe(capsys, "script:./agent", "--root", "tree")
    assert status == 1
    assert lines[-1].startswith("error: it asked no tool; is it told of the server ({{.McpConfig}})")


def test_an_invocation_that_fails_says_how(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    executable(tmp_path / "agent", "sleep 600")
    status, lines, _ = probe(capsys, "script:./agent", "--timeout", "300ms")
    assert (status, lines[-1]) == (1, "error: script agent: deadline exceeded after 0.3s")


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (("codx",), "did you mean 'codex'?"),
        (("codex",), "no model was given"),
        (("script:./gone",), "no such file"),
        (("script:/bin/cat", "--timeout", "soon"), "--timeout: 'soon' is no duration"),
        (("script:/bin/cat", "--root", "gone"), "--root: 'gone' is no folder"),
    ],
)
def test_what_cannot_be_tried_is_one_line(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], fault: str
) -> None:
    status, lines, error = probe(capsys, *words)
    assert (status, lines) == (2, [])
    assert fault in error
    assert error.count("\n") == 1


def test_the_shipped_descriptions_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["agent", "list"]) == 0
    assert [line.partition(":")[0] for line in capsys.readouterr().out.splitlines()] == [
        "claude",
        "codex",
        "script",
    ]
