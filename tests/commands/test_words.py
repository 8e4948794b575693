"""The words that ``pytest-retrieval run`` hands to pytest."""

from __future__ import annotations

import pytest

from pytest_retrieval import cli


@pytest.mark.parametrize(
    ("words", "handed"),
    [
        (["--release", "/data/arb", "-q"], ["--release=/data/arb", "-q"]),
        (["--retrieval-top-k", "5", "--arms=grep"], ["--retrieval-top-k=5", "--arms=grep"]),
        (["--gate", "grep: errors == 0", "-k", "numpy"], ["--gate=grep: errors == 0", "-k", "numpy"]),
        (["--reindex", "-x"], ["--reindex", "-x"]),
        (["--samples"], ["--samples"]),
    ],
)
def test_values_of_our_options_are_joined(
    words: list[str], handed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[list[str]] = []

    def execute(program: str, argv: list[str]) -> None:
        called.append(argv)
        raise SystemExit

    monkeypatch.setattr("os.execv", execute)
    with pytest.raises(SystemExit):
        cli.main(["run", "code2test", *words])
    assert called[0][1:3] == ["-m", "pytest"]
    assert called[0][-len(handed) :] == handed
