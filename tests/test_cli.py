"""What the console command does whatever the command is."""

from __future__ import annotations

import pytest

from pytest_retrieval import cli


def test_an_interrupt_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("pytest_retrieval.snapshots.setup.set_up", interrupted)
    assert cli.main(["corpora", "setup"]) == 130
    assert capsys.readouterr().err == "pytest-retrieval: interrupted\n"
