"""Measures that a run is asked for: in its report, its table, its gates, and after a merge."""

import json

import pytest

from tests.plugin.support import ECHO, FFT, HULL, LEAK, MAIN, RANKS, SVD, Bench

pytest_plugins = ["pytester"]

OWN = """
def wasted(ranked, gold):
    return sum(path not in gold for path in ranked)

def broken(ranked, gold):
    if len(gold) > 0 and ranked[0] == "README.md":
        raise LookupError("no readme wanted")
    return 1

def pytest_retrieval_measures(config):
    return {"wasted": wasted, "broken": broken}
"""
ASKED = "--retrieval-measures=RR@3 Success@3 full@3 P@4"
BY_HAND = {  # of the ranks that ALPHABET gives each gold file
    name: {"mrr@3": 1 / rank if rank <= 3 else 0, "hit@3": float(rank <= 3), "p@4": 0.25 if rank <= 4 else 0}
    for name, rank in RANKS.items()
}


def test_measures_that_are_asked_for(bench: Bench) -> None:
    result = bench.run(*MAIN, ASKED)
    assert result.ret == 0
    report = bench.report()
    assert report["measures"] == ["mrr@3", "hit@3", "full@3", "p@4"]
    for name, detail in bench.judged().items():
        graded = detail["metrics"]["alphabet"]
        if name in BY_HAND:
            assert {key: graded[key] for key in BY_HAND[name]} == pytest.approx(BY_HAND[name])
            assert graded["full@3"] == graded["hit@3"]
        else:
            assert "mrr@3" not in graded
    group = report["arms"]["alphabet"]["groups"]["all"]
    found = [name for name in (SVD, FFT, ECHO, HULL, LEAK) if RANKS[name] <= 3]
    assert group["hit@3"] == pytest.approx(len(found) / 5)
    assert group["macro"]["hit@3"] is not None
    result.stdout.re_match_lines([r"arm +n .* MRR ", r"arm +mrr@3 +hit@3 +full@3 +p@4"])


def test_without_the_option_nothing_is_said_of_it(bench: Bench) -> None:
    bench.run(*MAIN)
    assert "measures" not in bench.report()


def test_the_ini_twin(bench: Bench) -> None:
    bench.write("pytest.ini", "[pytest]\nretrieval_measures =\n    nDCG@10 RR\n    AP\n")
    bench.run(*MAIN)
    assert bench.report()["measures"] == ["ndcg@10", "ap@k"]


def test_a_gate_selects_what_it_names(bench: Bench) -> None:
    result = bench.run(*MAIN, "--gate=alphabet: Success@3 >= 0.4", "--gate=alphabet: nDCG@3 >= 0.99")
    assert result.ret == 1
    report = bench.report()
    assert report["measures"] == ["hit@3", "ndcg@3"]
    assert [gate["status"] for gate in report["gates"]] == ["passed", "failed"]


def test_a_pair_is_compared_in_them(bench: Bench) -> None:
    bench.run("--release=release", "--arms=alphabet,grep", ASKED, "--pair=grep - alphabet")
    pair = bench.report()["paired"]["all"]["grep - alphabet"]
    assert {"mrr@3", "hit@3", "full@3", "p@4", "mrr@k"} <= pair.keys()


def test_a_measure_of_ones_own(bench: Bench) -> None:
    with (bench.path / "conftest.py").open("a", encoding="utf-8") as conftest:
        conftest.write(OWN)
    assert bench.run(*MAIN, "--gate=alphabet: wasted <= 10").ret == 0  # a gate asks for what it names
    assert bench.report()["measures"] == ["wasted@k"]
    judged = bench.judged()
    assert judged[LEAK]["metrics"]["alphabet"]["wasted@k"] == 3.0
    assert (
        judged[SVD]["metrics"]["alphabet"]["wasted@k"] == len(judged[SVD]["arms"]["alphabet"]["ranked"]) - 1
    )


@pytest.mark.parametrize("how", [(), ("-n2",)])
def test_what_a_measure_raises_is_a_fault_of_the_answer(bench: Bench, how: tuple[str, ...]) -> None:
    with (bench.path / "conftest.py").open("a", encoding="utf-8") as conftest:
        conftest.write(OWN)
    result = bench.run(*MAIN, "--retrieval-measures=broken nDCG@10", *how)
    assert result.ret == 1
    said = "alphabet: measure broken@k: LookupError: no readme wanted"
    result.stdout.fnmatch_lines([f"*{said}*"])
    judged = bench.judged()
    assert judged[SVD]["status"] == "fault"
    assert judged[SVD]["metrics"]["alphabet"]["broken@k"] == 0.0
    assert judged[SVD]["metrics"]["alphabet"]["ndcg@10"] == 0.0
    assert judged[HULL]["metrics"]["alphabet"]["broken@k"] == 1.0


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ("nDCG@50", "--retrieval-measures: measure 'nDCG@50': ndcg goes up to k = 20*"),
        ("nDGC@5", "--retrieval-measures: unknown measure 'nDGC@5'; did you mean 'ndcg@k'*"),
        ("wasted", "--retrieval-measures: unknown measure 'wasted'*"),
    ],
)
def test_unknown_measures_are_one_line(bench: Bench, option: str, says: str) -> None:
    result = bench.run(*MAIN, f"--retrieval-measures={option}")
    assert result.ret == 4
    result.stderr.fnmatch_lines([f"ERROR: {says}"])


def test_offers_that_cannot_be_taken_are_one_line(bench: Bench) -> None:
    with (bench.path / "conftest.py").open("a", encoding="utf-8") as conftest:
        conftest.write("def pytest_retrieval_measures(config):\n    return [len]\n")
    result = bench.run(*MAIN, "--retrieval-measures=AP")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["ERROR: pytest_retrieval_measures: return a mapping from name*"])


def test_a_merge_computes_them_again_and_keeps_ones_own(bench: Bench) -> None:
    with (bench.path / "conftest.py").open("a", encoding="utf-8") as conftest:
        conftest.write(OWN)
    bench.run(*MAIN, "--retrieval-measures=wasted RR@3", "--report=a.json")
    bench.run("--release=release", "--arms=grep", "--retrieval-measures=AP", "--report=b.json")
    whole = bench.path / "whole.json"
    from pytest_retrieval.cli import main

    paths = [str(bench.path / name) for name in ("a.json", "b.json")]
    stored = json.loads((bench.path / "a.json").read_text(encoding="utf-8"))
    stored["details"][0]["metrics"]["alphabet"]["mrr@3"] = 0.77  # a file is not asked for it
    (bench.path / "a.json").write_text(json.dumps(stored), encoding="utf-8")
    assert main(["summarize", *paths, "-o", str(whole)]) == 0
    report = bench.report("whole.json")
    assert report["measures"] == ["wasted@k", "mrr@3", "ap@k"]
    first = report["details"][0]
    assert first["metrics"]["alphabet"]["mrr@3"] != 0.77
    assert first["metrics"]["alphabet"]["wasted@k"] == stored["details"][0]["metrics"]["alphabet"]["wasted@k"]
    assert {"mrr@3", "ap@k"} <= first["metrics"]["grep"].keys()
    assert "wasted@k" not in first["metrics"]["grep"]
    assert main(["summarize", paths[1], "--measures", "nDCG@3", "-o", str(whole)]) == 0
    assert bench.report("whole.json")["measures"] == ["ap@k", "ndcg@3"]
