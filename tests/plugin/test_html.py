"""``--retrieval-html``: the page of a run, and what the report then keeps."""

from __future__ import annotations

import json
import zlib
from base64 import b64decode
from typing import Any

import pytest

from pytest_retrieval.cli import main
from tests.plugin.support import BOAT, COMMITS, FFT, HULL, MAIN, NUMPY, SAIL, SVD, TREES, Bench

pytest_plugins = ["pytester"]

# Answers with every file, whatever the limit, so that what is beyond it is known.
EAGER = """
from pytest_retrieval import Arm

class Eager(Arm):
    name = "eager"

    def rank(self, query):
        return self.snapshot.paths

def pytest_retrieval_arms():
    return [Eager]
"""

# Makes a folder where the page would go.
SPITEFUL = f"from pathlib import Path\n{EAGER}".replace(
    "        return self", "        Path('out.html').mkdir(exist_ok=True)\n        return self"
)


def data_of(page: str) -> dict[str, Any]:
    block = page.partition('<script type="text/plain" id="data">')[2].partition("</script>")[0]
    found: dict[str, Any] = json.loads(zlib.decompress(b64decode(block)))
    return found


def test_the_folder_of_the_page_is_made_unless_the_run_is_refused(bench: Bench) -> None:
    refused = bench.run(*MAIN, "--retrieval-html=new/of/page.html", "--report=no/report.json")
    assert refused.ret == 4
    assert bench.run(*MAIN, "--retrieval-html=new/of/page.html", "--gate=nobody: errors == 0").ret == 4
    assert not (bench.path / "new").exists()
    result = bench.run(*MAIN, "--retrieval-html=new/of/page.html")
    assert "html: new/of/page.html" in result.outlines
    assert len(data_of((bench.path / "new/of/page.html").read_text(encoding="utf-8"))["samples"]) == 7


def test_a_folder_that_a_run_searches_gets_no_page(bench: Bench) -> None:
    bench.write("src/a.go", "package a\n")
    result = bench.run(*MAIN, f"--snapshot={BOAT}@{COMMITS[BOAT]}=src", "--retrieval-html=src/new/page.html")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["ERROR: the HTML report */src/new/page.html lies in */src, which *"])
    assert not (bench.path / "src" / "new").exists()


def test_a_run_writes_its_page(bench: Bench) -> None:
    result = bench.run(*MAIN, "--retrieval-html=out.html")
    assert "html: out.html" in result.outlines
    page = (bench.path / "out.html").read_text(encoding="utf-8")
    samples = data_of(page)["samples"]
    assert len(samples) == 7
    assert json.loads(samples[0]["query"])["pr_title"] == "SVD of 2-d"
    judged = bench.judged()
    # The query of SAIL is {"title": "Anchors"}: two terms.
    assert judged[SAIL]["explain"] == {
        "query": '{"title": "Anchors"}',
        "title": "Anchors",
        "terms": 2,
        "gold": {},
    }
    gold = "numpy/linalg/tests/test_svd.py"
    assert judged[SVD]["explain"]["gold"][gold]["bytes"] == len(TREES[NUMPY][gold])
    assert judged[SVD]["explain"]["gold"][gold]["held"] == ["svd"]


def test_the_page_is_the_same_whoever_writes_it(bench: Bench) -> None:
    bench.run(*MAIN, "--retrieval-html=out.html")

    report, again = bench.path / ".retrieval/report.json", bench.path / "again.html"
    assert main(["html", str(report), "-o", str(again)]) == 0
    first = (bench.path / "out.html").read_text(encoding="utf-8")
    assert data_of(first) == data_of(again.read_text(encoding="utf-8"))


def test_explaining_alone_keeps_it_for_later(bench: Bench) -> None:
    bench.write("conftest.py", EAGER)
    bench.run("--release=release", "--arms=eager", "--limit=2", "--retrieval-explain")
    judged = bench.judged()
    # Both rank 3 of 4 in the alphabet, without the given or changed file where one is given.
    assert judged[FFT]["arms"]["eager"]["beyond"]["ranks"] == {"numpy/fft/tests/test_helper.py": 3}
    assert "beyond" not in judged[HULL]["arms"]["eager"]  # it was found
    bench.run("--release=release", "--arms=eager", "--limit=2")
    assert "explain" not in bench.judged()[FFT]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("suite.py", "would replace a file that no run wrote"),
        ("release/benchmark/mini/samples.jsonl", "must not be the samples file"),
        ("suite.py/new/out.html", "suite.py/new/out.html: Not a directory"),
        (".retrieval/report.json", "must not be the report"),
    ],
)
def test_a_page_goes_over_no_file_of_others(bench: Bench, name: str, words: str) -> None:
    bench.write("suite.py", "mine")
    result = bench.run(*MAIN, f"--retrieval-html={name}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert words in "\n".join([*result.outlines, *result.errlines])
    assert (bench.path / "suite.py").read_text(encoding="utf-8") == "mine"


def test_a_page_that_cannot_be_written_loses_no_report(bench: Bench) -> None:
    bench.write("conftest.py", SPITEFUL)
    result = bench.run("--release=release", "--arms=eager", "--retrieval-html=out.html")
    said = "\n".join(result.outlines)
    assert "cannot write the HTML report" in said
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert len(bench.report()["details"]) == 7
    assert "outcomes are in" not in said
    assert not (bench.path / ".retrieval/report.json.journal").exists()
