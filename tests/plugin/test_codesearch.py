"""The suite codesearch in whole runs: a corpus of one's own, refusals, widths, and any number of workers."""

from __future__ import annotations

import json
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest

from pytest_retrieval.report.codesearch.rowfiles import read_rows
from pytest_retrieval.report.identity import strip_times
from tests.plugin.support import Bench
from tests.processes import wait_until_gone

pytest_plugins = ["pytester"]

SUITE = """
import pytest

@pytest.mark.retrieval(task="codesearch", corpora="corpora.json")
def test_codesearch(retrieval_judge):
    retrieval_judge()
"""

FILES = {
    "src/net.c": "// sockets\n" + "int pad;\n" * 40 + "int open_socket(void);\nint close_socket(void);\n",
    "src/key.c": "int pad;\n" * 9 + "void drop_expired(int key) {\n  forget(key);\n}\n",
    "docs/net.md": "open_socket opens a socket\n",
}

QUERIES: list[dict[str, Any]] = [
    {
        "query": "drop_expired key",
        "difficulty": "easy",
        "subsystem": "expiry",
        "relevant": [{"path": "src/key.c", "symbol": "drop_expired", "start": 10, "end": 12}],
    },
    {
        "query": "close_socket sockets",
        "difficulty": "medium",
        "subsystem": "network",
        "relevant": [{"path": "src/net.c", "start": 43, "end": 43}, {"path": "src/key.c"}],
    },
    {"query": "nowhere", "difficulty": "hard", "subsystem": "", "relevant": [{"path": "src/net.c"}]},
]

#: Prints the lines that hold a word of the query, in the order of files and lines.
TOOL = """
import json, os, sys
root, query, width = sys.argv[1:]
if "FAIL" in query: sys.exit("out of order")
for folder, _, names in sorted(os.walk(root)):
    for name in sorted(names):
        if ".git" in folder: continue
        path = os.path.join(folder, name)
        for number, line in enumerate(open(path), 1):
            if any(word in line for word in query.split()):
                print(json.dumps({"p": path, "l": number, "t": line.rstrip()}))
"""


class Search:
    """A bench with one corpus, its queries and a tool."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.root = bench.path / "corpora" / "kv"
        for path, text in FILES.items():
            bench.write(f"corpora/kv/{path}", text)
        self.git("init", "-q")
        self.git("add", "-A")
        self.git("commit", "-qm", "one")
        self.commit = self.git("rev-parse", "HEAD")
        bench.write("test_suite.py", SUITE)
        bench.write("tool.py", TOOL)
        self.describe()
        self.write(QUERIES)

    def git(self, *arguments: str) -> str:
        identity = ("-c", "user.name=t", "-c", "user.email=t@example.org")
        command = ["git", "-C", str(self.root), *identity, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def write(self, queries: Any, **corpus: Any) -> None:
        listed = {
            "name": "kv", "repo": "", "rev": "v1", "commit": self.commit, "lang": "c",
            "path": "corpora/kv", "queries": "queries.json", **corpus,
        }  # fmt: skip
        self.bench.write("queries.json", json.dumps(queries))
        self.bench.write("corpora.json", json.dumps({"corpora": [listed]}))

    def describe(self, **keys: Any) -> None:
        words = ["{{.Here}}/tool.py", "{{.Root}}", "{{.Query}}", "{{.PerFile}}"]
        described = {
            "name": "tool",
            "search": {"command": [sys.executable, "-IS", *words]},
            "parse": {"format": "jsonl", "path": "p", "start": "l", "text": "t"},
            "spans": True,
            "per_file": [1, 3],
            "tokens": True,
            **keys,
        }
        self.bench.write("tool.json", json.dumps(described))

    def row(self, engine: str) -> dict[str, Any]:
        rows = self.bench.report()["codesearch"]["rows"]
        return next(dict(row) for row in rows if row["engine"] == engine)


@pytest.fixture
def search(bench: Bench) -> Search:
    return Search(bench)


ARMS = "--arms=grep,engine:tool.json,alphabet"
RUN = (ARMS, "--retrieval-store=none")


def test_lines_are_judged_and_every_caveat_shown(search: Search) -> None:
    done = search.bench.run(*RUN)
    done.assert_outcomes(passed=3)
    report = search.bench.report()
    assert report["kind"] == "codesearch"
    tool = search.row("tool")
    # Of net.c the first line that holds a word is line 1, so one span per file misses line 43.
    assert [tool["chunk"]["recall"][k] for k in ("5", "10", "20")] == pytest.approx([1 / 3] * 3)
    assert [tool["wide"]["3"]["recall"][k] for k in ("5", "10", "20")] == pytest.approx([0.5] * 3)
    assert sorted(tool["wide"]) == ["1", "3"]
    assert tool["wide"]["1"] == tool["chunk"]
    assert (tool["slots_min"], tool["slots_recorded"], tool["files"], tool["indexed_tree"]) == (
        0,
        True,
        3,
        ".",
    )
    assert [miss["query"] for miss in tool["misses"]] == ["close_socket sockets", "nowhere"]
    assert tool["misses"][0]["nearest_returned"] == "src/net.c:1-1 (+42)"
    assert "nearest_chunk" not in tool["misses"][0]
    assert search.row("alphabet")["file_granularity_only"] is True
    assert search.row("grep")["tokens_from_corpus"] is True
    done.stdout.fnmatch_lines(
        ["corpus kv: 3 files, 3 queries", "tool * s", "tool - grep *separable*", "† graded by files*"]
    )
    assert report["codesearch"]["paired"]["kv"]["alphabet - grep"] == {
        "why": "one of them is graded by files alone"
    }


def test_difficulties_are_groups_and_keywords(search: Search) -> None:
    gate = "--gate=tool @ difficulty:easy: chunk_recall@5 >= 1"
    done = search.bench.run(*RUN, gate, "-k", "easy or medium")
    done.assert_outcomes(passed=2, deselected=1)
    done.stdout.fnmatch_lines(["samples: 2 of 3 chosen, 2 with gold", "gate PASSED*"])


def test_tokens_and_times_are_held_to_gates(search: Search) -> None:
    # For the first query the tool prints "void drop_expired(int key) {" (28 characters, 7 tokens), for the
    # second "// sockets" (3), for the third nothing; with three spans per file also "  forget(key);" (4) and
    # "int close_socket(void);" (6).
    gates = {
        "tool: tokens@10 <= 3.34": "PASSED tool: tokens@10 <= 3.34: got 3.333333",
        "tool: tokens@10 < 3.33": "FAILED tool: tokens@10 < 3.33: got 3.333333",
        "tool @ difficulty:easy: tokens@10 == 7": "PASSED *: got 7 *",
        "tool: tokens@10.p95 <= 7": "PASSED *: got 7 *",
        "tool: wide3 tokens@10 == 6.666667": "PASSED tool: wide3_tokens@10 == 6.666667: got 6.666667 *",
        "grep - tool: tokens@10 > 0": "PASSED *",
        "alphabet: tokens@10 >= 0": "UNDECIDABLE *: no sample has this figure *",
        "grep: tokens@10 >= 0": "PASSED *",
        "tool @ corpus:kv: wall_ms.p50 <= 9000": "UNDECIDABLE *: 3 times are too few for a quantile *",
    }
    done = search.bench.run(*RUN, *(f"--gate={gate}" for gate in gates))
    lines = [line for line in done.outlines if line.startswith("gate ")]
    assert len(lines) == len(gates)
    for line, expected in zip(lines, gates.values(), strict=True):
        assert fnmatch(line, f"gate {expected}*"), line


def test_of_queries_that_failed_nobody_knows_the_price(search: Search) -> None:
    search.write([{**QUERIES[0], "query": "FAIL"}, *QUERIES])
    done = search.bench.run(*RUN, "--gate=tool: tokens@10 <= 3.34")
    done.stdout.fnmatch_lines(["gate PASSED tool: tokens@10 <= 3.34: got 3.333333 (n 3,*"])


def test_times_of_one_corpus_are_held_to_a_gate(search: Search) -> None:
    search.write([{**QUERIES[0], "query": f"drop_expired {number}"} for number in range(30)])
    gates = ("--gate=tool @ corpus:kv: wall_ms.p50 <= 9000", "--gate=tool @ difficulty:easy: wall_ms.p95 > 0")
    done = search.bench.run("--arms=engine:tool.json", *gates)
    shares = [answer["arms"]["tool"]["wall_ms"] for answer in search.bench.report()["details"]]
    [record, _] = search.bench.report()["gates"]
    assert record["got"] == pytest.approx(sorted(shares)[14], abs=1e-6)  # the nearest rank of 30 times
    done.stdout.fnmatch_lines(
        ["gate PASSED tool @ corpus:kv*(n 30, unit query*", "gate PASSED *wall_ms.p95*"]
    )
    done = search.bench.run("--arms=engine:tool.json", *gates, "-n2")
    done.stdout.fnmatch_lines(
        ["gate UNDECIDABLE *times under more than one worker gate nothing; run with -n 0*"]
    )


def test_the_report_is_the_same_with_any_number_of_workers(search: Search) -> None:
    reports = []
    for number, workers in enumerate(((), ("-n0",), ("-n2",))):
        search.bench.run(*RUN, f"--report=r{number}.json", *workers).assert_outcomes(passed=3)
        reports.append(strip_times(search.bench.report(f"r{number}.json")))
    assert reports[0] == reports[1] == reports[2]


def test_rows_of_a_report_whose_times_are_contended_say_so(search: Search) -> None:
    search.bench.run("--arms=engine:tool.json", "--report=r.json")
    report = search.bench.report("r.json")
    for contended in (False, True):
        report["environment"]["contended"] = contended
        (row,) = read_rows(search.bench.write("r.json", json.dumps(report)))
        assert row["ext"].get("contended", False) is contended


def test_arms_of_two_runs_are_joined_as_one(search: Search) -> None:
    from pytest_retrieval.cli import main

    search.bench.run(*RUN, "--report=both.json")
    search.bench.run("--arms=engine:tool.json,alphabet", "--report=a.json", "--retrieval-store=none")
    search.bench.run("--arms=grep", "--report=b.json", "--retrieval-store=none")
    folder = search.bench.path
    assert (
        main(["summarize", *(str(folder / n) for n in ("a.json", "b.json")), "-o", str(folder / "c.json")])
        == 0
    )
    both, joined = (strip_times(search.bench.report(name)) for name in ("both.json", "c.json"))
    assert joined["codesearch"] == both["codesearch"]
    assert joined["details"] == both["details"]
    assert joined["kind"] == "codesearch"


def test_23_an_engine_without_lines_is_graded_by_files(search: Search) -> None:
    search.describe(spans=False, per_file=None, tokens=False)
    search.bench.run(*RUN)
    tool = search.row("tool")
    assert tool["file_granularity_only"] is True
    assert tool["chunk"] == tool["file"]
    assert "wide_tokens" not in tool


def test_29_text_of_the_corpus_replaces_a_preview(search: Search) -> None:
    search.describe(text_from_corpus=True, parse={"format": "jsonl", "path": "p", "start": "l", "text": "p"})
    search.bench.run(*RUN, "-k", "easy")
    tool = search.row("tool")
    assert tool["tokens_from_corpus"] is True
    assert tool["wide_tokens"]["1"] == 7  # "void drop_expired(int key) {" has 28 characters


def test_50_a_failing_query_scores_zero_and_fails_its_item(search: Search) -> None:
    search.write([{**QUERIES[0], "query": "FAIL"}, *QUERIES])
    done = search.bench.run(*RUN)
    done.assert_outcomes(passed=3, failed=1)
    assert done.ret == pytest.ExitCode.TESTS_FAILED
    tool = search.row("tool")
    assert (tool["ext"]["query_errors"], tool["chunk"]["queries"]) == (1, 4)
    assert tool["chunk"]["recall"]["5"] == pytest.approx(1 / 4)
    done.stdout.fnmatch_lines(["tool * sE"])
    (failed,) = (one for one in search.bench.report()["details"] if one["status"] == "fault")
    assert failed["arms"]["tool"]["cost"] == {"index_seconds": 0}


HOSTILE = {
    "hangs": ("import time; time.sleep(300)", "timed out after 0.3 s"),
    "floods": ("while True: print('x' * 65536)", "standard output exceeds 67,108,864 bytes"),
    "garbage": ("print('Traceback')", "the output is no JSON document"),
    "exits": ("import sys; sys.exit('broken')", "ended with exit status 1: broken"),
    "outside": ('print(\'[{"p":"/etc/passwd"}]\')', "1 of 1 results lie outside the corpus"),
    "forks": (
        "import subprocess, sys; own = dict(start_new_session=True, stdout=2)\n"
        "child = subprocess.Popen(['sleep', '300'], **own)\n"
        "open(sys.argv[1], 'a').write(f'{child.pid}\\n'); print('[]')",
        "ended and left 1 of its processes running",
    ),
    "writes": ("import sys; open(sys.argv[2] + '/x', 'w'); print('[]')", "it wrote into the tree: ?? x"),
}


def test_hostile_tools_have_faults_on_their_rows_and_the_rest_is_intact(
    search: Search, tmp_path: Path
) -> None:
    note = tmp_path / "children"
    for name, (code, _) in HOSTILE.items():
        words = [sys.executable, "-ISc", code, str(note), "{{.Root}}"]
        search.bench.write(f"{name}.json", json.dumps({
            "name": name, "search": {"command": words, "timeout": "0.3s" if name == "hangs" else "20s"},
            "parse": {"format": "json", "path": "p"},
        }))  # fmt: skip
    dies = (
        "import os, sys; sys.stdin.readline(); open(sys.argv[1], 'a').write(f'{os.getpid()}\\n'); sys.exit(3)"
    )
    search.bench.write("dies.json", json.dumps({
        "name": "dies", "mode": "persistent", "parse": {"format": "json", "path": "p"},
        "search": {"command": [sys.executable, "-ISc", dies, str(note)]},
    }))  # fmt: skip
    arms = ",".join(f"engine:{name}.json" for name in (*HOSTILE, "dies"))
    done = search.bench.run(f"--arms=grep,{arms},engine:tool.json", "--retrieval-store=none", "-k", "easy")
    done.assert_outcomes(failed=1, deselected=2)
    for name, (_, why) in {**HOSTILE, "dies": ("", "it ended with exit status 3")}.items():
        row = search.row(name)
        assert (row["ext"]["status"], row["ext"]["query_errors"], "chunk" in row) == ("failed", 1, False)
        assert row["ext"]["errors"][0].startswith(why)
    assert search.row("tool")["ext"]["query_errors"] == 0
    assert search.row("grep")["chunk"]["queries"] == 1
    children = [int(line) for line in note.read_text().split()]
    assert len(children) == 2
    assert all(wait_until_gone(pid) for pid in children)


def test_49_a_failed_index_has_no_figures_and_other_rows_are_there(search: Search) -> None:
    search.describe(index={"command": ["sh", "-c", "echo no disk >&2; exit 3"]})
    done = search.bench.run(*RUN)
    assert done.ret == pytest.ExitCode.TESTS_FAILED
    tool = search.row("tool")
    assert (tool["ext"]["status"], "chunk" in tool) == ("failed", False)
    assert search.row("grep")["chunk"]["queries"] == 3
    done.stdout.fnmatch_lines(["  tool: failed: index: ended with exit status 3: no disk"])


def test_40_a_subtree_is_all_that_any_arm_sees(search: Search) -> None:
    search.write(QUERIES, subdirs=["src"])
    search.bench.run(*RUN)
    report = search.bench.report()
    ranked = {path for d in report["details"] for answer in d["arms"].values() for path in answer["ranked"]}
    assert ranked == {"src/net.c", "src/key.c"}
    for engine in ("tool", "grep", "alphabet"):
        assert (search.row(engine)["indexed_tree"], search.row(engine)["files"]) == ("src", 2)


@pytest.mark.parametrize("workers", [(), ("-n2",)], ids=["plain", "n2"])
def test_58_every_answer_that_does_not_resolve_is_named_and_nothing_is_scored(
    search: Search, workers: tuple[str, ...]
) -> None:
    bad = [{**QUERIES[0], "relevant": [{"path": "src/key.c", "start": 12, "end": 13}, {"path": "gone.c"}]}]
    search.write(bad)
    done = search.bench.run(*RUN, *workers)
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    said = done.stdout.str() + done.stderr.str()
    assert "src/key.c: lines 12 to 13: the file has 12" in said
    assert "relevant[1] gone.c: no such file at v1" in said
    assert """to leave out what cannot be scored: -m "not (sample(repo='corpus/kv'))\"""" in said
    assert not (search.bench.path / ".retrieval").exists()


def test_a_corpus_that_nothing_was_chosen_of_may_be_missing(search: Search) -> None:
    listed = json.loads((search.bench.path / "corpora.json").read_text(encoding="utf-8"))["corpora"]
    both = [*listed, {**listed[0], "name": "other", "path": "corpora/other"}]
    search.bench.write("corpora.json", json.dumps({"corpora": both}))
    search.bench.run(*RUN, "-k", "kv").assert_outcomes(passed=3, deselected=3)
    done = search.bench.run(*RUN)
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    assert "corpora/other: no such folder; pytest-retrieval corpora setup clones it" in done.stderr.str()


def test_another_version_of_a_distribution_skips_the_set_with_one_line(search: Search) -> None:
    listed = json.loads((search.bench.path / "corpora.json").read_text(encoding="utf-8"))["corpora"]
    other = {**listed[0], "name": "old", "path": "dist:iniconfig", "rev": "0.0.1"}
    search.bench.write("corpora.json", json.dumps({"corpora": [*listed, other]}))
    done = search.bench.run(*RUN)
    done.assert_outcomes(passed=3)
    done.stdout.fnmatch_lines(["skipped: 3 (corpus old is written for iniconfig 0.0.1, and *"])


def test_a_typed_file_of_corpora_that_cannot_be_read_is_a_usage_error(search: Search) -> None:
    done = search.bench.run(*RUN, "--corpora=none.json")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    assert "none.json: the file: cannot be read: No such file or directory" in done.stderr.str()


def test_checkouts_are_found_below_the_root(search: Search, monkeypatch: pytest.MonkeyPatch) -> None:
    search.write(QUERIES, path="/home/somebody/elsewhere/kv")
    search.bench.run(*RUN, "--corpora-root=corpora").assert_outcomes(passed=3)
    monkeypatch.setenv("BENCH_CORPORA", str(search.bench.path / "corpora"))
    search.bench.run(*RUN).assert_outcomes(passed=3)


def test_lines_are_judged_to_rank_twenty_whatever_the_limit(search: Search) -> None:
    search.bench.run(*RUN, "--report=k20.json")
    search.bench.run(*RUN, "--report=k1.json", "--limit=1")
    full, cut = (strip_times(search.bench.report(name)) for name in ("k20.json", "k1.json"))
    assert cut["codesearch"] == full["codesearch"]
    assert cut["limit"] == 1


def test_beside_a_release_no_embedded_corpus_is_run(search: Search) -> None:
    done = search.bench.run("--release=release", "--arms=alphabet", "test_suite.py")
    assert done.ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_a_lopsided_set_is_told(search: Search) -> None:
    search.write([{**QUERIES[0], "query": f"{number} drop_expired"} for number in range(6)])
    done = search.bench.run(*RUN)
    done.stdout.fnmatch_lines(["*queries.json: difficulty: far from a third each: 6 easy, 0 medium, 0 hard"])


def test_validate_marks_what_is_no_fault(search: Search, capsys: pytest.CaptureFixture[str]) -> None:
    from pytest_retrieval.cli import main

    (gold,) = QUERIES[0]["relevant"]
    search.write([{**QUERIES[0], "relevant": [{**gold, "symbol": "no_such_name"}]}])
    assert main(["corpora", "validate", f"--corpora={search.bench.path / 'corpora.json'}"]) == 0
    first, last = capsys.readouterr().out.splitlines()
    assert first.startswith("warning: corpus 'kv': queries[0]")
    assert first.endswith("do not hold 'no_such_name'")
    assert last.endswith(": sound")


def test_the_shape_of_semble_in_a_run(search: Search, capsys: pytest.CaptureFixture[str]) -> None:
    """Ranks 1 and 3 of two answers: nDCG@10 is (1 + 1/2) / (1 + 1/log2(3)) = 0.919721."""
    from pytest_retrieval.cli import main

    repo = {"name": "kv", "language": "c", "url": "", "revision": search.commit}
    task = {"query": "open_socket forget", "relevant": ["docs/net.md"], "secondary": ["src/net.c"]}
    search.bench.write("repos.json", json.dumps([repo]))
    search.bench.write("annotations/kv.json", json.dumps([{**task, "category": "api"}]))
    file, root = f"--corpora={search.bench.path / 'repos.json'}", f"--corpora-root={search.root.parent}"
    assert main(["corpora", "validate", file, root]) == 0
    assert capsys.readouterr().out == "kv: 1 query (1 api): sound\n"
    asked = ("--arms=engine:tool.json", "--retrieval-store=none", file, root)
    done = search.bench.run(*asked, "--gate=tool @ difficulty:api: ndcg@10 >= 0.9197")
    done.stdout.fnmatch_lines(["gate PASSED*"])
    assert search.row("tool")["ext"]["ndcg@10"] == pytest.approx(0.919721, abs=1e-6)
    done = search.bench.run(*asked, "--gate=tool @ difficulty:apis: ndcg@10 >= 0.9")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    assert "did you mean 'difficulty:api'?" in done.stderr.str()


def test_a_row_tells_what_indexing_and_answers_cost(search: Search) -> None:
    index = {"command": [sys.executable, "-ISc", "print('made 1,234 pieces')"], "chunks": r"([\d,]+) pieces"}
    search.describe(index=index)
    search.bench.run(*RUN, "-k", "easy").assert_outcomes(passed=1, deselected=2)
    tool, cost = search.row("tool"), search.row("tool")["cost"]
    assert tool["chunks"] == 1234
    assert cost["chunks_per_sec"] == pytest.approx(1234 / cost["index_seconds"])
    assert cost["files_per_sec"] == pytest.approx(3 / cost["index_seconds"])
    assert (cost["index_state"], cost["cold"]) == ("cold", True)
    assert 5 < cost["peak_rss_mb"] < 200
    assert cost["tree_peak_rss_mb"] >= cost["peak_rss_mb"]
    assert cost["query_peak_rss_mb"] > 5
    (detail,) = search.bench.report()["details"]
    reply = detail["arms"]["tool"]["cost"]["reply_tokens"]
    assert cost["answer_tokens"]["reply"] == reply > 20
    # Named is key.c alone: 9 * 9 + 29 + 15 + 2 = 127 characters.
    assert cost["answer_tokens"]["reading"] == reply + 32
    assert search.row("grep")["cost"]["index_state"] in ("cold", "warm")  # the same process counted before
    assert "peak_rss_mb" not in search.row("grep")["cost"]


def test_the_console_sets_up_validates_lists_and_prints(
    search: Search, capsys: pytest.CaptureFixture[str]
) -> None:
    from pytest_retrieval.cli import main

    file = f"--corpora={search.bench.path / 'corpora.json'}"
    assert main(["corpora", "setup", file]) == 0
    assert main(["corpora", "validate", file]) == 0
    assert main(["corpora", "list", file]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said == [
        f"kv: {search.root}: ok",
        "kv: 3 queries (1 easy, 1 medium, 1 hard): sound",
        f"kv: c, v1 ({search.commit[:12]}), {search.root}, 3 queries",
    ]
    assert main(["corpora", "list", file, "--corpus=kw"]) == 2
    assert "no corpus 'kw'; did you mean 'kv'? (known: kv)" in capsys.readouterr().err
    tool = str(search.bench.path / "tool.json")
    assert main(["engine", "probe", tool, file, "--corpus-name=kv", "--query=drop_expired"]) == 0
    assert "1. src/key.c:10-10" in capsys.readouterr().out
    search.bench.run(*RUN)
    capsys.readouterr()
    report = str(search.bench.path / ".retrieval" / "report.json")
    rows = search.bench.path / "rows"
    assert main(["scoreboard", report, "-o", str(rows)]) == 0
    first = capsys.readouterr().out
    assert "tool - grep" in first
    assert main(["scoreboard", str(rows)]) == 0
    assert capsys.readouterr().out == first
    told = json.loads((rows / "tool__kv.json").read_text(encoding="utf-8"))["ext"]
    assert (told["host"]["platform"], told["engine_version"][:7]) == (sys.platform, "sha256:")
    kept = told["per_query"]
    assert [(one["query"], one["ranks"]) for one in kept] == [
        ("drop_expired key", [1]), ("close_socket sockets", [0, 0]), ("nowhere", [0]),
    ]  # fmt: skip
    assert main(["scoreboard", report, "--baseline", str(rows)]) == 0
    assert "baseline: tool on kv: unchanged" in capsys.readouterr().out
    (rows / "tool__kv.json").unlink()
    assert main(["scoreboard", str(rows), "--baseline", report]) == 1
    assert "baseline: tool on kv: GONE" in capsys.readouterr().out
    assert main(["scoreboard", report, "-o", str(rows)]) == 0
    capsys.readouterr()
    assert [path.name for path in sorted(rows.iterdir())] == [
        "alphabet__kv.json", "grep__kv.json", "tool__kv.json",
    ]  # fmt: skip
    assert main(["scoreboard", report, str(rows)]) == 2


def test_the_embedded_corpora_are_sound(capsys: pytest.CaptureFixture[str]) -> None:
    from pytest_retrieval import resources
    from pytest_retrieval.cli import main
    from pytest_retrieval.datasets.corpora import load_corpora

    listed = load_corpora(resources.embedded_corpora())
    assert listed.warnings == ()
    assert [len(corpus.query_set) for corpus in listed.corpora] == [18, 18]
    assert main(["corpora", "validate"]) == 0
    assert "does not hold" not in capsys.readouterr().out


def test_files_alone_cost_an_arm_nothing(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    from pytest_retrieval.arms import lexical

    def fail(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(lexical, "passages", fail)
    bench.run("--release=release", "--arms=grep,bm25").assert_outcomes(passed=7)
    assert all("slots" not in answer for d in bench.report()["details"] for answer in d["arms"].values())


def test_own_corpora_stay_untouched(search: Search) -> None:
    search.bench.run(*RUN)
    assert search.git("status", "--porcelain", "--ignored") == ""
    assert Path(search.root, ".git").is_dir()
