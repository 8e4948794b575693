"""How the plugin comes into a run, and how little it brings along."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from typing import Any

import pytest

from tests.plugin.support import MAIN, ROOT, Bench, write

pytest_plugins = ["pytester"]

HEAVY = {"numpy", "orjson", "zstandard"}
# All that an ordinary run loads of the package.
LIGHT = {
    "pytest_retrieval",
    "pytest_retrieval.errors",
    "pytest_retrieval.hookspecs",
    "pytest_retrieval.plugin",
    "pytest_retrieval.plugin.fixtures",
    "pytest_retrieval.plugin.option_table",
    "pytest_retrieval.plugin.options",
    "pytest_retrieval.plugin.role",
    "pytest_retrieval.plugin.trial",
    "pytest_retrieval.plugin.trial.fixtures",
}
WITH_XDIST = {
    "pytest_retrieval.programs",
    "pytest_retrieval.programs.interrupts",
    "pytest_retrieval.plugin.scheduler",
    "pytest_retrieval.plugin.workers",
    "pytest_retrieval.snapshots",
    "pytest_retrieval.snapshots.scratch",
}

# Writes down at the end of every process of a run which modules it had loaded.
WITNESS = """
import json
import os
import sys
from pathlib import Path

import pytest

@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config):
    name = getattr(config, "workerinput", {}).get("workerid", "controller")
    Path(os.environ["WITNESS"], f"{name}.json").write_text(json.dumps(sorted(sys.modules)))
"""


def loaded(bench: Bench, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> dict[str, set[str]]:
    """The modules that each process of a run had loaded."""
    folder = bench.pytester.mkdir("witness")
    monkeypatch.setenv("WITNESS", str(folder))
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}:{bench.path}")
    bench.write("witness.py", WITNESS)
    bench.run_apart("-p", "witness", *arguments)
    return {path.stem: set(json.loads(path.read_text(encoding="utf-8"))) for path in folder.iterdir()}


@pytest.mark.parametrize(
    "arguments",
    [[], ["-p", "xdist"], ["-p", "xdist", "-n1"], ["--help"]],
    ids=" ".join,
)
def test_ordinary_tests_pay_for_nothing(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, arguments: Sequence[str]
) -> None:
    bench.write("conftest.py", "")
    bench.write("test_suite.py", "def test_plain(): pass\n")
    processes = loaded(bench, monkeypatch, "test_suite.py", *arguments)
    assert set(processes) == ({"controller", "gw0"} if "-n1" in arguments else {"controller"})
    for modules in processes.values():
        ours = {name for name in modules if name.startswith("pytest_retrieval")}
        assert modules & HEAVY == set()
        assert ours - WITH_XDIST == LIGHT
        assert "-p" in arguments or ours == LIGHT


def test_a_conftest_with_arms_costs_an_ordinary_test_no_numpy(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.write("test_suite.py", "def test_plain(): pass\n")
    assert loaded(bench, monkeypatch, "test_suite.py")["controller"] & HEAVY == set()


@pytest.mark.parametrize("arguments", [[], ["-p", "xdist", "-n1"]])
def test_options_of_an_ini_file_cost_an_ordinary_test_nothing(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, arguments: Sequence[str]
) -> None:
    bench.write("conftest.py", "")
    bench.write("pytest.ini", "[pytest]\nretrieval_arms = nowhere\nretrieval_gates = grep: errors == 0\n")
    bench.write("test_suite.py", "def test_plain(): pass\n")
    for modules in loaded(bench, monkeypatch, "test_suite.py", *arguments).values():
        assert {name for name in modules if name.startswith("pytest_retrieval")} - WITH_XDIST == LIGHT


def test_a_bench_item_loads_what_it_needs(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    assert loaded(bench, monkeypatch, "--release=release", "--arms=bm25")["controller"] >= HEAVY


def test_a_run_where_xdist_cannot_be_imported(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.write("hidden.py", "import sys\nsys.modules['xdist'] = None\n")
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}:{bench.path}")
    bench.run_apart("-p", "hidden", *MAIN).assert_outcomes(passed=7)
    assert len(bench.report()["details"]) == 7


@pytest.mark.parametrize("name", ["xdist", "xdist.plugin"])
def test_xdist_under_each_of_its_names(bench: Bench, name: str) -> None:
    bench.run_apart("-p", name, "-n1", *MAIN).assert_outcomes(passed=7)
    assert bench.report()["environment"]["workers"] == 1


def test_xdist_from_the_environment(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_PLUGINS", "xdist.plugin,pytest_retrieval.plugin")
    bench.pytester.runpytest_subprocess("-n1", *MAIN).assert_outcomes(passed=7)


def test_xdist_that_is_loaded_and_not_used(bench: Bench) -> None:
    bench.run_apart("-p", "xdist", *MAIN).assert_outcomes(passed=7)
    assert bench.report()["environment"]["workers"] == 0


def test_a_scheduler_of_ones_own_comes_first(bench: Bench) -> None:
    bench.write(
        "conftest.py",
        f"{(bench.path / 'conftest.py').read_text(encoding='utf-8')}\n"
        "def pytest_xdist_make_scheduler(config, log):\n"
        "    from xdist.scheduler import LoadScheduling\n"
        "    print('mine')\n"
        "    return LoadScheduling(config, log)\n",
    )
    result = bench.run(*MAIN, "-n1", "-s")
    result.assert_outcomes(passed=7)
    assert "mine" in result.outlines


@pytest.fixture
def installed(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """The benchmark in an environment where the package's entry point is installed."""
    site = bench.pytester.mkdir("site")
    entry = "[pytest11]\nretrieval = pytest_retrieval.plugin\n"
    write(site / "entry-0.dist-info" / "entry_points.txt", entry)
    write(site / "entry-0.dist-info" / "METADATA", "Metadata-Version: 2.1\nName: entry\nVersion: 0\n")
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}:{site}")
    return bench


def apart(bench: Bench, *arguments: Any) -> pytest.RunResult:
    return bench.pytester.runpytest_subprocess(*arguments)


def test_the_entry_point_by_its_name(installed: Bench) -> None:
    result = apart(installed, "-p", "retrieval", *MAIN, "-W", "error")
    result.assert_outcomes(passed=7)


def test_the_entry_point_beside_the_conftest_of_a_checkout(installed: Bench) -> None:
    installed.write("checkout/test_suite.py", (installed.path / "test_suite.py").read_text(encoding="utf-8"))
    shutil.copy(ROOT / "conftest.py", installed.path / "checkout" / "conftest.py")
    arguments = ["checkout", "--release=release", "--arms=grep"]
    apart(installed, "-p", "retrieval", *arguments).assert_outcomes(passed=7)
    apart(installed, *arguments).assert_outcomes(passed=7)  # where the entry point is not asked for


@pytest.mark.parametrize("with_conftest", [False, True])
def test_the_plugin_can_be_declined(
    installed: Bench, monkeypatch: pytest.MonkeyPatch, with_conftest: bool
) -> None:
    monkeypatch.delenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD")
    installed.write("test_suite.py", "def test_plain(retrieval_judge): pass\n")
    installed.write("conftest.py", "")  # a hook that nobody knows would be an error of pytest's own
    if with_conftest:
        shutil.copy(ROOT / "conftest.py", installed.path / "conftest.py")
    result = apart(installed, "test_suite.py", "-p", "no:retrieval")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["E       fixture 'retrieval_judge' not found"])


def test_the_entry_point_with_every_other_plugin(installed: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD")
    result = apart(installed, *MAIN)
    result.assert_outcomes(passed=7)
    result.stdout.fnmatch_lines(["plugins: *entry-0*"])
