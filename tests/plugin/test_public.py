"""What ``from pytest_retrieval import ...`` gives, and a user's conftest and suite that need no more."""

from __future__ import annotations

from pathlib import Path

import pytest

import pytest_retrieval
from tests.plugin.support import BOAT, TREES, Bench, lines

pytest_plugins = ["pytester"]


def test_every_public_name_is_there_and_no_other() -> None:
    assert all(getattr(pytest_retrieval, name) is not None for name in pytest_retrieval.__all__)
    with pytest.raises(ImportError, match="cannot import name 'Judge'"):
        exec("from pytest_retrieval import Judge")


def test_the_package_says_that_it_is_typed() -> None:
    assert (Path(pytest_retrieval.__file__).parent / "py.typed").is_file()


@pytest.mark.parametrize("workers", [[], ["-n1"]])
def test_a_users_conftest_and_suite(bench: Bench, workers: list[str]) -> None:
    here = Path(__file__).parent
    bench.write("conftest.py", (here / "user_conftest.py").read_text(encoding="utf-8"))
    bench.write("test_suite.py", (here / "user_suite.py").read_text(encoding="utf-8"))
    bench.write(
        "short.jsonl",
        lines(
            [
                {"query": "Where is the hull?", "relevant": ["boat/hull.go"]},
                {"query": "Where does it begin?", "relevant": ["main.go"]},
            ]
        ),
    )
    for path, text in TREES[BOAT].items():
        bench.write(f"tree/{path}", text)
    words = ("--arms=shortest,longest", "--retrieval-measures=wasted", *workers)
    bench.run(*words).assert_outcomes(passed=2)
    # By length: main.go, boat/hull.go, boat/sail.go, boat/hull_test.go; equals keep their order backwards.
    found = [detail["metrics"] for detail in bench.report()["details"]]
    assert [metrics["shortest"]["mrr@k"] for metrics in found] == [0.5, 1]
    assert [metrics["longest"]["mrr@k"] for metrics in found] == [0.5, 0.25]
