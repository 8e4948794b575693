"""Samples as items: their ids, what ``-k`` and ``-m`` choose, and what collecting does not do."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_retrieval.model import Sample
from pytest_retrieval.plugin.collection import item_ids, keywords, language_of
from tests.plugin.support import (
    BOAT,
    COMMITS,
    CORE,
    ECHO,
    FFT,
    HULL,
    IDS,
    ITEMS,
    LEAK,
    MAIN,
    NUMPY,
    SAIL,
    SVD,
    TREES,
    Bench,
)

pytest_plugins = ["pytester"]

ALL = [HULL, LEAK, SAIL, SVD, FFT, ECHO, CORE]
ALPHABET = re.compile(r"[A-Za-z0-9_./:+-]+", re.ASCII)


def sample(name: str, **fields: object) -> Sample:
    values: dict[str, object] = {
        "id": name,
        "task": "code2test",
        "repo": NUMPY,
        "commit": "a" * 40,
        "query_text": "",
        "query": {},
        "gold": (),
        **fields,
    }
    return Sample(**values)  # type: ignore[arg-type]


def digits(ids: Sequence[str]) -> list[str]:
    """The last words of item ids."""
    return [name.rpartition("-")[2] for name in ids]


def test_ids_can_be_read_and_every_run_has_the_same_order(bench: Bench) -> None:
    result = bench.run("--collect-only", "-q", *MAIN)
    assert result.outlines == [
        *(f"test_suite.py::{ITEMS[name]}" for name in ALL),
        "",
        result.outlines[-1],
    ]
    assert result.outlines[-1].startswith("7 tests collected in ")


@given(
    st.lists(
        st.builds(
            sample,
            st.text(st.characters(codec="utf-8"), min_size=1, max_size=30)
            | st.text("0123456789abcdef", min_size=12, max_size=64),
            title=st.text(max_size=60),
            repo=st.sampled_from([NUMPY, "a/b", "O.W_ner-/.git.hub"]),
        ),
        max_size=8,
    )
)
def test_ids_are_plain_words_that_end_in_hexadecimal_digits_and_never_meet(samples: list[Sample]) -> None:
    ids = item_ids(samples)
    assert len(set(digits(ids))) == len(samples)
    for name in ids:
        assert ALPHABET.fullmatch(name)
        assert re.search(r"[0-9a-f]{12}$", name)
        assert len(name) <= 160


def test_an_id_holds_the_repository_words_of_the_title_and_twelve_digits() -> None:
    assert item_ids([sample("0f3a91c2d4e5f60718293a4b", title="SVD: of 2-d (é)")]) == [
        "numpy/numpy-svd-of-2-d-0f3a91c2d4e5"
    ]
    assert item_ids([sample("0f3a91c2d4e5", title="")]) == ["numpy/numpy-0f3a91c2d4e5"]


@pytest.mark.parametrize(
    ("name", "expected"),  # the first digits that sha256sum prints
    [
        ("0F3A91C2D4E5F60718293A4B", "66f1de18d216"),  # upper case
        ("0f3a91c2d4e", "125e08ebc464"),  # eleven digits
        ("fft-length", "f2b76f63dd20"),
    ],
)
def test_an_id_that_is_not_hexadecimal_gives_its_digest(name: str, expected: str) -> None:
    assert digits(item_ids([sample(name)])) == [expected]


def test_a_repeated_id_takes_in_its_place() -> None:
    # printf 'fft-length#1' | sha256sum
    twice = [sample("fft-length"), sample("fft-length", ordinal=1)]
    assert digits(item_ids(twice)) == ["f2b76f63dd20", "01135f4eda2a"]


def test_equal_ids_of_two_files_are_two_items() -> None:
    found = digits(item_ids([sample("fft-length", source="1"), sample("fft-length", source="2")]))
    assert found[0] == "f2b76f63dd20"
    assert len(set(found)) == 2


def test_ids_that_begin_alike_are_written_in_full_from_the_second_on() -> None:
    first, second = "000000000001" + "a" * 12, "000000000001" + "b" * 12
    assert digits(item_ids([sample(first)])) == ["000000000001"]
    assert digits(item_ids([sample(first), sample(second)])) == ["000000000001", second]


@given(st.lists(st.sampled_from("0123456789"), min_size=1, max_size=6, unique=True), st.integers(0, 6))
def test_adding_a_sample_renames_no_other(names: list[str], place: int) -> None:
    before = [sample(name) for name in names]
    after = [*before[:place], sample("new"), *before[place:]]
    assert set(item_ids(before)) <= set(item_ids(after))


@pytest.mark.parametrize(
    ("expression", "chosen"),
    [
        ("numpy", [SVD, FFT]),
        ("numpy and not linalg", [FFT]),
        ("linalg or src", [SVD, ECHO]),
        ("not numpy", [HULL, LEAK, SAIL, ECHO, CORE]),
        ("pallets/click", [ECHO, CORE]),
        ("natural_no_gold", [SAIL]),
        ("counterfactual_no_gold", [CORE]),
        ("positive and click", [ECHO]),
        ("lang:go", [HULL, LEAK]),
        ("lang:python", [SVD, FFT, ECHO]),
        ("fold_B", [ECHO, CORE]),
        ("trace2code or comment2context", [HULL, LEAK]),
        ("1c2d3e4f5a6b", [ECHO]),
        ("numpy/numpy-svd-of-2-d-0f3a91c2d4e5", [SVD]),
        ("edit2ripple", []),
    ],
)
def test_keywords(bench: Bench, expression: str, chosen: list[str]) -> None:
    assert bench.collected("-k", expression) == chosen


@pytest.mark.parametrize(
    ("expression", "chosen"),
    [
        ("fold_A", [SVD, FFT]),
        ("fold_unassigned", [HULL, LEAK, SAIL]),
        ("not fold_A and not fold_unassigned", [ECHO, CORE]),
        ("sample(language='go')", [HULL, LEAK]),
        ("sample(repo='numpy/numpy')", [SVD, FFT]),
        ("sample(stratum='natural_no_gold')", [SAIL]),
        ("sample(task='abstention', fold='B')", [CORE]),
        ("sample(id='fft-length')", [FFT]),
        ("sample(language='')", [SAIL, CORE]),
        ("sample(language='g')", []),
        ("retrieval", ALL),
    ],
)
def test_marks(bench: Bench, expression: str, chosen: list[str]) -> None:
    assert bench.collected("--strict-markers", "-m", expression) == chosen


def test_keywords_of_one_sample() -> None:
    one = sample("x", changed_file="numpy/linalg/umath/svd.pyx", gold=("a.go",), stratum="positive", fold="A")
    assert set(keywords(one)) == {
        NUMPY,
        "code2test",
        "positive",
        "fold_A",
        "numpy",
        "linalg",
        "umath",
        "lang:python",
    }


@pytest.mark.parametrize(
    ("changed", "gold", "language"),
    [
        ("a/b.RS", ("c.go",), "rust"),
        (None, ("LICENSE", "c.tsx"), "typescript"),
        ("Makefile", ("c.c",), "c"),
        ("Makefile", (), None),
        (None, (".go",), None),
    ],
)
def test_languages(changed: str | None, gold: tuple[str, ...], language: str | None) -> None:
    assert language_of(sample("x", changed_file=changed, gold=gold)) == language


def test_an_item_is_chosen_by_its_node_id(bench: Bench) -> None:
    result = bench.run(*MAIN, f"test_suite.py::{ITEMS[SVD]}", f"test_suite.py::{ITEMS[SAIL]}")
    result.assert_outcomes(passed=2)
    assert set(bench.judged()) == {SVD, SAIL}
    assert bench.report()["selection"] == {"of": 7, "chosen": 2, "judged": 2, "lost": []}


def test_strictness_of_pytest_finds_nothing_to_complain_of(bench: Bench) -> None:
    strict = ["strict_config", "strict_markers", "strict_parametrization_ids", "strict_xfail"]
    result = bench.run(*MAIN, "-W", "error", *(part for name in strict for part in ("-o", f"{name}=true")))
    result.assert_outcomes(passed=7)


@pytest.mark.parametrize("policy", ["skip", "xfail", "fail_at_collect"])
def test_a_suite_without_samples_is_no_item_whatever_pytest_makes_of_empty_sets(
    bench: Bench, policy: str
) -> None:
    result = bench.run(*MAIN, "-o", f"empty_parameter_set_mark={policy}", "-k", "not nothing")
    result.stdout.fnmatch_lines(["collected 7 items"])
    result.assert_outcomes(passed=7)


@pytest.mark.parametrize("workers", [[], ["-n2"]])
def test_collecting_opens_no_snapshot_and_leaves_nothing(bench: Bench, workers: list[str]) -> None:
    for repo in TREES:
        folder = f"release/corpus/mini/{repo.replace('/', '__')}"
        bench.write(f"{folder}/{COMMITS[repo]}.chunks.jsonl", "this is no chunk file")
    before = sorted(bench.path.rglob("*"))
    result = bench.run("--collect-only", "-q", *MAIN, "--gate", "alphabet: hit@k >= 1", *workers)
    assert result.ret == 0
    assert f"test_suite.py::{ITEMS[SVD]}" in result.outlines
    left = set(bench.path.rglob("*")) - set(before)
    assert {path for path in left if "__pycache__" not in path.parts} == set()


def test_other_tests_keep_their_places_among_samples(bench: Bench) -> None:
    bench.write(
        "test_mixed.py",
        "import pytest\n"
        "def test_before(): pass\n"
        "@pytest.mark.retrieval(task='code2test', release='release')\n"
        "def test_judged(retrieval_judge): retrieval_judge()\n"
        "def test_after(): pass\n",
    )
    result = bench.run("test_mixed.py", "--arms=alphabet", "-v")
    result.assert_outcomes(passed=5)
    found = re.findall(r"::(\w+)", result.stdout.str())
    assert found == ["test_before", "test_judged", "test_judged", "test_judged", "test_after"]


def test_samples_of_a_class_and_of_a_marked_module(bench: Bench) -> None:
    bench.write(
        "test_class.py",
        "import pytest\n"
        "pytestmark = pytest.mark.retrieval(task='trace2code', release='release')\n"
        "class TestJudged:\n"
        "    def test_it(self, retrieval_judge, retrieval_sample, retrieval_snapshot):\n"
        "        assert retrieval_snapshot.repo == retrieval_sample.repo\n"
        "        assert retrieval_judge().detail['metrics']['alphabet']['mrr@k'] == 0.25\n"
        "def test_plain(): pass\n",
    )
    bench.run("test_class.py", "--arms=alphabet").assert_outcomes(passed=2)
    assert set(bench.judged()) == {LEAK}
    assert IDS[LEAK] in {detail["id"] for detail in bench.report()["details"]}
    assert bench.report()["details"][0]["repo"] == BOAT


def test_a_fixture_without_the_marker_says_what_to_write(bench: Bench) -> None:
    bench.write("test_bare.py", "def test_bare(retrieval_judge): retrieval_judge()\n")
    result = bench.run("test_bare.py")
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["this test asks for a sample: give it the marker @pytest.mark.retrieval(...)"]
    )
