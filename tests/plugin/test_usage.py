"""What cannot be run is refused with one line, before anything is run."""

from __future__ import annotations

import json

import pytest

from tests.plugin.support import BOAT, COMMITS, MAIN, Bench

pytest_plugins = ["pytester"]

SAMPLES = "--samples=release/benchmark/mini/samples.jsonl"
KNOWN = "alphabet, bm25, bm25:all, bm25:ident, grep, grep-ident*package.module:Object*none, aider: *"
FORM = "(the form is: ARM [[]- ARM] [[]@ GROUP]: [[]GRANULARITY] MEASURE*)"

MISTAKES = {
    "an unknown arm": (
        ["--release=release", "--arms=alphabat"],
        f"unknown arm 'alphabat'; did you mean 'alphabet'?; known arms: {KNOWN}",
    ),
    "a gate that means a figure of trials": (
        [*MAIN, "--gate=alphabet: sucess >= 0"],
        "gate *: unknown measure 'sucess'*; of the figures of trials; did you mean 'success'?",
    ),
    "an unknown arm of ours": (
        ["--arms=bm25:idnt"],
        f"unknown arm 'bm25:idnt'; did you mean 'bm25:ident'? *; known arms: {KNOWN}",
    ),
    "a module that is not there": (
        ["--arms=nowhere.arms:Mine"],
        "unknown arm 'nowhere.arms:Mine' (and there is no module 'nowhere'*",
    ),
    "an object that is not there": (
        ["--arms=json:Nothing"],
        "arm json:Nothing: json has no Nothing*",
    ),
    "an object that is no arm": (["--arms=json:__name__"], "arm json:__name__: 'json' is no arm; *"),
    "two arms of one label": (
        ["--arms=grep,grep"],
        "two arms have the label 'grep'; name one of them: NAME=grep",
    ),
    "a label that is no label": (["--arms=a b=grep"], "arm 'a b=grep': the label 'a b' may hold only*"),
    "no arm": (["--arms=,"], "no arm is named in ','; known arms: *"),
    "a limit of nothing": ([*MAIN, "--limit=0"], "--retrieval-limit: '0' is not a whole number of 1 to 50"),
    "a limit too high": ([*MAIN, "--limit=51"], "--retrieval-limit: '51' is not a whole number of 1 to 50"),
    "a limit of letters": ([*MAIN, "--limit=x"], "--retrieval-limit: 'x' is not a whole number of 1 to 50"),
    "no samples": (
        [*MAIN, "--max-samples=0"],
        "--retrieval-max-samples: '0' is not a whole number of 1 or more",
    ),
    "fewer samples than none": (
        [*MAIN, "--max-samples=-1"],
        "--retrieval-max-samples: '-1' is not a whole number of 1 or more",
    ),
    "a word that is no path": ([*MAIN, "stray"], "file or directory not found: stray"),
    "max-samples of letters": (
        [*MAIN, "--max-samples=all"],
        "--retrieval-max-samples: 'all' is not a whole number of 1 or more",
    ),
    "max-errors below nothing": (
        [*MAIN, "--retrieval-max-errors=-1"],
        "--retrieval-max-errors: '-1' is neither a number of samples (3) nor a percentage (2%)",
    ),
    "max-errors of half a sample": ([*MAIN, "--retrieval-max-errors=1.5"], "--retrieval-max-errors: '1.5' *"),
    "max-errors of two percents": ([*MAIN, "--retrieval-max-errors=5%%"], "--retrieval-max-errors: '5%%' *"),
    "max-errors of no number": ([*MAIN, "--retrieval-max-errors=nan"], "--retrieval-max-errors: 'nan' *"),
    "a gate on no arm": (
        [*MAIN, "--gate=alphabt: mrr@k >= 0"],
        "gate 'alphabt: mrr@k >= 0': no arm 'alphabt' here; did you mean 'alphabet'?; known are alphabet",
    ),
    "a gate on no measure": (
        [*MAIN, "--gate=alphabet: mmr@k >= 0"],
        "gate 'alphabet: mmr@k >= 0': unknown measure 'mmr@k'; did you mean 'mrr@k'?; known are *",
    ),
    "a gate on no kind of group": (
        [*MAIN, "--gate=alphabet @ folds:A: mrr@k >= 0"],
        "gate 'alphabet @ folds:A: mrr@k >= 0': no kind of group 'folds' here; did you mean 'fold'?; *",
    ),
    "a gate on no interval": (
        [*MAIN, "--gate=alphabet: errors.low >= 0"],
        "gate 'alphabet: errors.low >= 0': errors is one number and has no interval",
    ),
    "a gate beyond the limit": (
        [*MAIN, "--limit=10", "--gate=alphabet: recall@20 >= 0"],
        "gate 'alphabet: recall@20 >= 0': measure 'recall@20': recall goes up to k = 10*",
    ),
    "a gate without a comparison": (
        [*MAIN, "--gate=alphabet mrr@k 0"],
        f"gate 'alphabet mrr@k 0': one of >= > <= < == != must stand between*{FORM}",
    ),
    "a gate without a number": (
        [*MAIN, "--gate=alphabet: mrr@k >= much"],
        f"gate*'much' is no plain number*{FORM}",
    ),
    "samples that are not there": (
        ["--samples=none.jsonl"],
        "none.jsonl: cannot be read: No such file or directory",
    ),
    "a folder of samples": (["--samples=release"], "release: cannot be read: Is a directory"),
    "a release that is not there": (
        ["--release=none"],
        "--release */none: no release there; looked for benchmark/<id>/*.jsonl, or a .tar.zst that holds it",
    ),
    "a folder without a release": (
        ["--release=release/corpus"],
        "--release */release/corpus: no release there; *",
    ),
    "a file that is no archive": (["--release=test_suite.py"], "*test_suite.py*"),
    "a corpus that is not there": (["--corpus=none"], "--corpus none: no such folder"),
    "a corpus that is not there, beside samples": (
        [SAMPLES, "--corpus=none"],
        "--corpus none: no such folder",
    ),
    "a snapshot that is not there": (
        [SAMPLES, "--snapshot=none"],
        "none: no such file or folder; a source is git:PATH, dist:NAME, a chunk file or a folder",
    ),
    "a named snapshot that is not there": (
        [*MAIN, f"--snapshot={BOAT}@{COMMITS[BOAT]}=none"],
        f"--snapshot {BOAT}@{COMMITS[BOAT]}=none: there is no file or folder none",
    ),
    "a repository that is not there": (
        [*MAIN, f"--snapshot={BOAT}@{COMMITS[BOAT]}=git:none?view=arb"],
        f"--snapshot {BOAT}@{COMMITS[BOAT]}=git:none?view=arb: there is no file or folder none",
    ),
    "a distribution that is not installed": (
        [*MAIN, f"--snapshot={BOAT}@{COMMITS[BOAT]}=dist:no-such-distribution"],
        "dist:no-such-distribution: not installed here; install it, or give another source",
    ),
    "a snapshot of no repository": (
        [*MAIN, "--snapshot=@=/p"],
        "@=/p: no such file or folder; a source is git:PATH, dist:NAME, a chunk file or a folder",
    ),
    "an empty snapshot": ([*MAIN, "--snapshot="], "--snapshot wants OWNER/NAME@COMMIT=SOURCE or SOURCE, *"),
    "a report over a folder": (
        [*MAIN, "--report=release"],
        "cannot write the report */release: it is a folder",
    ),
    "a report nowhere": (
        [*MAIN, "--report=no/where.json"],
        "cannot write the report */no/where.json: there is no folder */no; make it first",
    ),
    "a report below a file": (
        [*MAIN, "--report=test_suite.py/report.json"],
        "cannot write the report */test_suite.py/report.json: *",
    ),
}


WITH_WORKERS = ("an unknown arm", "a limit too high", "samples that are not there", "a report nowhere")


@pytest.mark.parametrize(
    ("mistake", "workers"),
    [*((mistake, []) for mistake in MISTAKES), *((mistake, ["-n2"]) for mistake in WITH_WORKERS)],
)
def test_mistakes_on_the_command_line(bench: Bench, mistake: str, workers: list[str]) -> None:
    arguments, line = MISTAKES[mistake]
    result = bench.run(*arguments, *workers)
    assert result.ret == 4
    [error] = [line for line in result.errlines if line]
    result.stderr.fnmatch_lines([f"ERROR: {line}"])
    assert error.startswith("ERROR: ")
    assert "Traceback" not in result.stdout.str()
    assert not (bench.path / ".retrieval").exists()


UNKNOWN = {
    "--task-type=code2tset": (
        "--retrieval-task-type: no sample has the task 'code2tset'; did you mean 'code2test'?; "
        "known are abstention, code2test, comment2context, trace2code"
    ),
    "--gate=alphabet @ task:code2tset: mrr@k >= 0": (
        "gate 'alphabet @ task:code2tset: mrr@k >= 0': no group 'task:code2tset' here; "
        "did you mean 'task:code2test'?; known are all, task:abstention, *"
    ),
    "--gate=alphabet @ fold:C: mrr@k >= 0": (
        "gate 'alphabet @ fold:C: mrr@k >= 0': no group 'fold:C' here; did you mean *"
    ),
    "--gate=alphabet @ stratum:natural: mrr@k >= 0": (
        "gate 'alphabet @ stratum:natural: mrr@k >= 0': no group 'stratum:natural' here; *"
    ),
}


@pytest.mark.parametrize(
    ("argument", "workers"),
    [
        *((argument, []) for argument in UNKNOWN),
        ("--task-type=code2tset", ["-n2"]),
        ("--gate=alphabet @ fold:C: mrr@k >= 0", ["-n1"]),
    ],
)
def test_names_that_only_the_samples_know(bench: Bench, argument: str, workers: list[str]) -> None:
    result = bench.run(*MAIN, argument, *workers)
    assert result.ret == 4
    result.stderr.fnmatch_lines([f"ERROR: {UNKNOWN[argument]}"])
    assert "Traceback" not in result.stdout.str()
    assert not (bench.path / ".retrieval").exists()


@pytest.mark.parametrize("workers", [[], ["-n2"]], ids=["alone", "workers"])
def test_all_faults_of_a_samples_file_are_shown_at_once(bench: Bench, workers: list[str]) -> None:
    good = {"query": "Where?", "relevant": ["main.go"]}
    rows = [good, {"query": "Where?"}, {"query": "", "relevant": ["main.go"]}, {**good, "relvant": []}]
    bench.write("bad.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows) + "{\n")
    result = bench.run("--samples=bad.jsonl", "--snapshot=release", *workers)
    assert result.ret == 4
    assert [line for line in result.errlines if line] == [
        "ERROR: bad.jsonl: line 2: field 'relevant': missing; write the paths that answer the query, or "
        '"no_gold": true if none do',
        "bad.jsonl: line 3: field 'query': empty; write the question as a string, or an object of its parts",
        "bad.jsonl: line 4: field 'relvant': not a field of the short form; did you mean 'relevant'?",
        "bad.jsonl: line 5: not JSON: Expecting property name enclosed in double quotes at column 2; "
        "write one JSON object a line",
    ]


INI_MISTAKES = {
    "retrieval_limit = 99": "--retrieval-limit: '99' is not a whole number of 1 to 50",
    "retrieval_limit = many": "ini option retrieval_limit: *'many'*",
    "retrieval_arms = grap": "unknown arm 'grap'; did you mean 'grep'?*",
    "retrieval_gates = grap: mrr@k >= 0": "gate 'grap: mrr@k >= 0': no arm 'grap' here; did you mean*",
}


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        *((text, ["--release=release"]) for text in INI_MISTAKES),
        *((text, []) for text in INI_MISTAKES),
        ("retrieval_limit = 99", ["-n1"]),
    ],
)
def test_mistakes_of_an_ini_file(bench: Bench, text: str, arguments: list[str]) -> None:
    bench.write("pytest.ini", f"[pytest]\n{text}\n")
    result = bench.run("test_suite.py", *arguments)
    assert result.ret == 4
    result.stderr.fnmatch_lines([f"ERROR: {INI_MISTAKES[text]}"])
    assert "Traceback" not in result.stdout.str()


def test_an_ini_file_is_not_read_for_ordinary_tests(bench: Bench) -> None:
    bench.write("pytest.ini", "[pytest]\nretrieval_limit = 99\n")
    bench.write("test_plain.py", "def test_plain(): pass\n")
    bench.run("test_plain.py").assert_outcomes(passed=1)


def test_a_wrong_type_in_native_toml(bench: Bench) -> None:
    if pytest.version_tuple < (9, 0):
        pytest.skip("native TOML came with pytest 9.0")
    bench.write("pyproject.toml", '[tool.pytest]\nretrieval_limit = "20"\n')
    result = bench.run("--release=release")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["ERROR: ini option retrieval_limit: *expects an int, got str: '20'"])


MARKERS = {
    "tsk='code2test'": "marker retrieval: no argument 'tsk'; did you mean 'task'? (known: task, samples, *",
    "'code2test'": "marker retrieval: takes named arguments only (task, *), not 'code2test'",
    "task=5": "marker retrieval: task must be a text or a list of texts, not 5",
    "samples=[]": "marker retrieval: samples must be a text or a list of texts, not [[][]]",
    "corpus=['']": "marker retrieval: corpus must be a text or a list of texts, not [[]''[]]",
    "release=['a', 'b']": "marker retrieval: release must be one path, not [[]'a', 'b'[]]",
    "samples='none.jsonl'": "none.jsonl: cannot be read: No such file or directory",
    "release='none'": "--release */none: no release there; looked for *",
    "corpus='none'": "--corpus none: no such folder",
    "samples='bad.jsonl', snapshot='none'": "none: no such file or folder; *",
    "samples='bad.jsonl', snapshot='release'": "bad.jsonl: line 1: field 'relevant': missing; *",
}


@pytest.mark.parametrize(
    ("marker", "workers"),
    [
        *((marker, []) for marker in MARKERS),
        ("tsk='code2test'", ["-n1"]),
        ("samples='none.jsonl'", ["-n1"]),
    ],
)
def test_mistakes_of_a_marker_are_one_line_of_the_collection(
    bench: Bench, marker: str, workers: list[str]
) -> None:
    bench.write("bad.jsonl", '{"query": "Where?"}\n')
    bench.write(
        "test_suite.py",
        f"import pytest\n@pytest.mark.retrieval({marker})\ndef test_it(retrieval_judge): retrieval_judge()\n",
    )
    result = bench.run("--arms=alphabet", *workers)
    assert result.ret == (1 if workers else 2)
    head = "*_ ERROR collecting test_suite.py _*"
    result.stdout.fnmatch_lines([head, MARKERS[marker], "*= * =*"], consecutive=True)


def test_a_marker_is_checked_on_a_test_without_our_fixtures_too(bench: Bench) -> None:
    bench.write("test_suite.py", "import pytest\n@pytest.mark.retrieval(tsk=1)\ndef test_it(): pass\n")
    result = bench.run()
    assert result.ret == 2
    result.stdout.fnmatch_lines(["marker retrieval: no argument 'tsk'; did you mean 'task'? *"])


def test_a_file_that_an_ini_file_names_waits_for_its_suite(bench: Bench) -> None:
    bench.write("pytest.ini", "[pytest]\nretrieval_samples = none.jsonl\n")
    bench.write("test_plain.py", "def test_plain(): pass\n")
    bench.run("test_plain.py").assert_outcomes(passed=1)
    result = bench.run("test_suite.py")
    assert result.ret == 2
    result.stdout.fnmatch_lines(["none.jsonl: cannot be read: No such file or directory"])


@pytest.mark.parametrize(
    ("arms", "line"),
    [
        ("5", "pytest_retrieval_arms: return a list of Arm subclasses, *, not 5"),
        ("[Alphabet, 5]", "pytest_retrieval_arms: return a list of Arm subclasses, *"),
        ("{'grep': Alphabet}", "arm 'grep' of a conftest.py has a built-in arm's name; rename it"),
        ("{'a b': Alphabet}", "arm 'a b' of a conftest.py: the label 'a b' may hold only *"),
        ("[Alphabet, Alphabet]", "pytest_retrieval_arms: two * offer an arm named 'alphabet'; rename one"),
    ],
)
def test_mistakes_of_the_hook_for_arms(bench: Bench, arms: str, line: str) -> None:
    text = (bench.path / "conftest.py").read_text(encoding="utf-8")
    bench.write("conftest.py", text.replace("[Alphabet]", arms))
    result = bench.run("--release=release", "--arms=grep")
    assert result.ret == 4
    result.stderr.fnmatch_lines([f"ERROR: {line}"])


def test_a_place_that_the_default_report_cannot_have_is_said_before_the_first_item(bench: Bench) -> None:
    bench.write(".retrieval", "a file")
    result = bench.run(*MAIN)
    assert result.ret == 4
    result.stderr.fnmatch_lines(["ERROR: cannot write the report */.retrieval*: *"])
    assert "Traceback" not in result.stdout.str()
