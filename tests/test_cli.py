"""What the console command does whatever the command is."""

from __future__ import annotations

import re
from io import BytesIO, TextIOWrapper

import pytest

from pytest_retrieval import cli


def help_of(*words: str, capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as ended:
        cli.main([*words, "--help"])
    assert ended.value.code == 0
    return capsys.readouterr().out


def test_every_command_and_action_says_what_it_does(capsys: pytest.CaptureFixture[str]) -> None:
    listed = re.compile(r"^    ([a-z-]+)(?: |$)", re.MULTILINE)
    names = listed.findall(help_of(capsys=capsys))
    assert {"init", "run", "snapshot", "trial"} <= set(names)
    actions = {name: listed.findall(help_of(name, capsys=capsys)) for name in names}
    assert actions["baseline"] == ["accept", "list"]
    for words in [[name] for name in names] + [[name, of] for name, them in actions.items() for of in them]:
        _, about, *_ = help_of(*words, capsys=capsys).split("\n\n")
        assert re.match(r"[A-Z][^:]", about), words
        assert about.endswith("."), words


def test_what_the_locale_cannot_show_is_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    written = BytesIO()
    monkeypatch.setattr("sys.stderr", TextIOWrapper(written, encoding="ascii", write_through=True))
    assert cli.main(["run", "nowhere↓"]) == 2
    assert written.getvalue().startswith(b"pytest-retrieval: no suite 'nowhere\\u2193'")


def test_the_help_of_run_names_the_suites(capsys: pytest.CaptureFixture[str]) -> None:
    assert "abstention, code2test, codesearch," in help_of("run", capsys=capsys)


def test_an_interrupt_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("pytest_retrieval.snapshots.setup.set_up", interrupted)
    assert cli.main(["corpora", "setup"]) == 130
    assert capsys.readouterr().err == "pytest-retrieval: interrupted\n"
