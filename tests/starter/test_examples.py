from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_retrieval.starter.examples import COUNT, examples


def test_by_hand() -> None:
    paths = [
        "src/HTTPServer2.go",
        "src/util/parse_url.py",
        "docs/how-to.md",
        ".github/ci.yml",
        "src/__init__.py",
    ]
    assert examples(paths) == [
        {
            "id": "example-01",
            "query": "where is the code for http server?",
            "relevant": ["src/HTTPServer2.go"],
        },
        {
            "id": "example-02",
            "query": "where is the code for parse url?",
            "relevant": ["src/util/parse_url.py"],
        },
        {"id": "example-03", "query": "where is the code for how to?", "relevant": ["docs/how-to.md"]},
    ]


def test_words_in_any_script() -> None:
    paths = [
        "größe/ÜbergabePunkt.py",
        "naïveBayes.py",
        "ошибкаВвода.go",
        "データ読込.py",
        "cafe\u0301Menu2.py",
    ]
    asked = [row["query"].removeprefix("where is the code for ") for row in examples(paths)]
    assert sorted(asked) == sorted(
        ["übergabe punkt?", "naïve bayes?", "ошибка ввода?", "データ読込?", "cafe\u0301 menu?"]
    )


def test_names_that_are_not_their_own_ask_for_nothing() -> None:
    assert examples(["a/setup.py", "b/setup.py", "a/x.py", "a/1.py"]) == []


def test_folders_take_turns_and_code_comes_first() -> None:
    paths = [f"a/alpha{letter}.py" for letter in "xyz"] + ["b/beta.py", "c/notes.txt"]
    found = [row["relevant"][0] for row in examples(paths)]
    assert found == ["a/alphax.py", "b/beta.py", "a/alphay.py", "a/alphaz.py", "c/notes.txt"]


@given(st.lists(st.text(min_size=1).filter(lambda path: not path.startswith("/")), unique=True))
def test_any_paths(paths: list[str]) -> None:
    rows = examples(paths)
    assert len(rows) <= COUNT
    assert all(row["relevant"][0] in paths for row in rows)
    assert len({row["query"] for row in rows}) == len(rows)
