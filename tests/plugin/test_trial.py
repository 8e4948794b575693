"""Whole trials in pytest: the cases of the specification that run an agent, by their numbers."""

from __future__ import annotations

import json
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from pytest_retrieval.cli import main
from pytest_retrieval.report.journal import read_journal
from tests.plugin.support import ROOT, Bench, write
from tests.plugin.trial_support import CLAIM, EMPTY, GOOD, Q1, Trial, tasks

pytest_plugins = ["pytester"]

NOT_OBSERVED = "NOT_OBSERVED"
PLAIN = pytest.mark.parametrize("workers", [[], ["-n0"], ["-n2"]], ids=["plain", "n0", "n2"])
COUNT = "echo x >> {path}/asked\n"


@pytest.fixture
def trial(bench: Bench) -> Trial:
    return Trial(bench)


def asked(trial: Trial) -> int:
    """How often the agent was asked."""
    place = trial.path / "asked"
    return len(place.read_text().splitlines()) if place.exists() else 0


def counting(trial: Trial, script: str) -> None:
    trial.agent(COUNT.format(path=trial.path) + script)


@PLAIN
def test_case_42_two_arms_and_a_good_agent(trial: Trial, workers: list[str]) -> None:
    result = trial.run("--arms=none,grep", *workers)
    result.assert_outcomes(passed=1)
    assert result.ret == 0
    report = trial.report()
    assert (report["pilot"], report["tasks"], report["kind"]) == (True, 1, "trial")
    assert (report["corvint"], report["aider"]) == (NOT_OBSERVED, NOT_OBSERVED)
    entries = report["details"][0]["arms"]
    for entry in entries.values():
        [run] = entry["runs"]
        assert (run["exit_code"], run["tokens"], run["tool_calls"]) == (0, NOT_OBSERVED, NOT_OBSERVED)
        assert isinstance(run["wall_ms"], int)
        assert run["metrics"]["success"] == 1
    assert entries["none"]["context"] == ""
    assert entries["grep"]["context"] == (
        "score=6 tests/test_quota.py\nscore=3 lib/quota.py\nscore=1 NOTES.md"
    )
    grounded = {label: entry["runs"][0]["claims"][0]["grounded"] for label, entry in entries.items()}
    assert grounded == {"none": "NOT_APPLICABLE", "grep": True}
    assert entries["none"]["prompt_sha256"] != entries["grep"]["prompt_sha256"]
    summary = report["arms"]["none"]["groups"]["all"]
    assert summary["success"] == {"count": 1, "high": 1, "low": 0.206549, "n": 1, "rate": 1}
    assert summary["abstained"] == {"count": 0, "high": 0.793451, "low": 0, "n": 1, "rate": 0}
    assert "PILOT" in result.stdout.str()


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--arms=none,corvint"], "*corvint*give --corvint PATH*"),
        (
            ["--arms=none,bogus"],
            "*unknown arm 'bogus'*; corvint, *--corvint PATH; none, aider: for agents alone",
        ),
        (["--arms=none,corvin"], "*unknown arm 'corvin'; did you mean 'corvint'?; *"),
        (["--arms=none,adier"], "*unknown arm 'adier'; did you mean 'aider'?; *"),
        (["--arms=none,aider"], "*aider*--retrieval-aider-command*"),
        (["--arms=none,none"], "*two arms have the label 'none'*"),
        (["--limit=0"], "*--retrieval-limit: '0' is not a whole number of 1 to 50*"),
        (["--limit=51"], "*--retrieval-limit: '51' is not a whole number of 1 to 50*"),
        (["--access=open"], "*--retrieval-access: 'open' is not one of read-only, none, tools*"),
        (["--access=read-only", "-n2"], "*--access read-only: agents share one copy*"),
        (["--retrieval-resume"], "*--retrieval-resume: there is no *out.json.journal*"),
        (["--retrieval-resume", "--reuse=a.json"], "*--retrieval-resume*--reuse*give one of them*"),
        (["--reuse=absent.json"], "*absent.json*"),
        (["--repeats=0"], "*--retrieval-repeats: '0' is not a whole number of 1*"),
        (["--retrieval-timeout=0"], "*--retrieval-timeout: '0' leaves no time*"),
        (["--retrieval-timeout=5"], "*--retrieval-timeout: '5' is no duration*"),
        (["--retrieval-timeout=-5s"], "*--retrieval-timeout: '-5s' is no duration*"),
        (["--retrieval-max-cost=1"], "*--retrieval-max-cost*give --retrieval-prices*"),
        (["--retrieval-dry-run", "-n2"], "*--retrieval-dry-run*leave -n*"),
        (["--tasks=absent.json"], "*absent.json: cannot read the task manifest*"),
        (["--gate=grep: recall@10 >= 0"], "*no figure of a trial 'recall@10'*"),
        (
            ["--gate=grep: sucess >= 0"],
            "*: no figure of a trial 'sucess' here; did you mean 'success'?; known are success, *",
        ),
        (["--gate=grep: sucess >= 0", "-n2"], "*: no figure of a trial 'sucess' here; *known are success, *"),
        (["--gate=bm25: success >= 0"], "*no arm 'bm25'*"),
        (["--pair=grep - bm25"], "*pair 'grep - bm25'*"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_case_50_refused_before_anything_runs(trial: Trial, arguments: list[str], line: str) -> None:
    counting(trial, GOOD)
    arms = [] if any(word.startswith("--arms") for word in arguments) else ["--arms=none,grep"]
    result = trial.run(*arms, *arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {line}"])
    assert asked(trial) == 0
    assert not (trial.path / "out.json").exists()


@pytest.mark.parametrize(
    ("agent", "line"),
    [
        ("", "*agent codex: *no model was given: give --retrieval-model*"),
        ("script", "*agent script: which executable?*"),
        ("script:absent.sh", "*absent.sh*"),
        ("cortex", "*cortex*codex*"),
    ],
)
def test_case_50_agents_that_are_refused(trial: Trial, agent: str, line: str) -> None:
    result = trial.run(agent=agent)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {line}"])


def test_case_50_accepted(trial: Trial) -> None:
    result = trial.run("--arms= none , grep ", "--retrieval-agent-command=agent.sh", agent="script")
    assert result.ret == 0
    assert set(trial.report()["arms"]) == {"none", "grep"}


def test_case_52_a_choice_of_tasks(trial: Trial) -> None:
    path = trial.write_tasks(tasks(3))
    result = trial.run("--max-samples=2")
    result.assert_outcomes(passed=2)
    report = trial.report()
    assert report["tasks"] == 2
    assert report["tasks_sha256"] == sha256(path.read_bytes()).hexdigest()
    assert report["selection"] == {"of": 3, "chosen": 2, "judged": 2, "lost": []}
    trial.write_tasks([*tasks(2), {**Q1, "id": "q3", "kind": "fix"}])
    assert trial.run("--max-samples=2").ret == pytest.ExitCode.USAGE_ERROR


@pytest.mark.parametrize(
    ("choice", "chosen"),
    [
        (["-k", "q2"], ["q2"]),
        (["-k", "already-fixed"], ["fixed"]),
        (["-m", "sample(stratum='change')"], ["q3"]),
        (["-k", "lang:python and not lib"], ["q1", "q2"]),
        (["-k", "lib"], ["q3", "fixed"]),
        (["--task-type=change"], ["q3", "fixed"]),
    ],
)
def test_tasks_are_chosen_as_samples_are(trial: Trial, choice: list[str], chosen: list[str]) -> None:
    change = {"kind": "change", "changed_file": "lib/quota.py"}
    control = {**Q1, **change, "id": "fixed", "control": "already-fixed", "gold": {}}
    first, second, third = tasks(3)
    trial.write_tasks([first, second, {**third, **change}, control])
    assert trial.run(*choice).ret == 0
    assert [detail["id"] for detail in trial.report()["details"]] == chosen


def test_an_empty_task_set_runs_nothing(trial: Trial) -> None:
    trial.write_tasks([])
    assert trial.run().ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_case_62_the_source_is_never_written(trial: Trial) -> None:
    def digest() -> dict[str, str]:
        files = [path for path in (trial.path / "Q").rglob("*") if path.is_file()]
        return {path.as_posix(): sha256(path.read_bytes()).hexdigest() for path in files}

    before = digest()
    trial.agent(f"pwd >> {trial.path}/places; touch agent-was-here\n{GOOD}")
    result = trial.run("--access=read-only", "--arms=none,grep")
    assert result.ret == pytest.ExitCode.TESTS_FAILED  # it left something in the copy
    assert digest() == before
    assert not (trial.path / "Q" / ".git").exists()
    places = (trial.path / "places").read_text().splitlines()
    assert not any(Path(place).exists() for place in places)
    assert {"agent-was-here" in run["error"] for run in trial.runs().values()} == {True}


def test_case_64_a_missing_chunk_file(trial: Trial) -> None:
    counting(trial, GOOD)
    (trial.path / "corpus").mkdir()
    late = {name: value for name, value in Q1.items() if name != "snapshot"}
    trial.write_tasks([Q1, {**late, "id": "late"}])
    result = trial.run("--corpus=corpus")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    [line] = [line for line in result.errlines if line]
    assert line.startswith("ERROR: late: ")
    assert asked(trial) == 0  # nobody was asked in vain
    assert not (trial.path / "out.json").exists()


LOOK = """
find {path} -name test_quota.py -o -name 'worktree-*' -o -name 'history-*' -o -name .git \\
    | grep -v "^{path}/Q/" >> {path}/found
pwd >> {path}/places
ls -A | wc -l >> {path}/entries
sleep 0.3
"""


@pytest.mark.parametrize("workers", [[], ["-n2"]], ids=["plain", "n2"])
def test_case_65_an_agent_without_access_finds_no_copy(trial: Trial, workers: list[str]) -> None:
    """It looks wherever this session may write, its temporary folder included, while another one runs."""
    trial.agent(LOOK.format(path=trial.path) + GOOD)
    trial.write_tasks(tasks(4))
    result = trial.run("--access=none", "--arms=none,grep", *workers)
    assert result.ret == 0, result.stdout.str()
    assert (trial.path / "found").read_text() == ""
    assert (trial.path / "entries").read_text().split() == ["0"] * 8
    places = (trial.path / "places").read_text().splitlines()
    assert len(set(places)) == 8
    assert not any(Path(place).exists() for place in places)
    entry = trial.report()["details"][0]["arms"]["grep"]
    assert "tests/test_quota.py" in entry["context"]


SEARCH = """
grep -r -a -l -e 'covers blank input' -e 'tests/test_quota.py' "$(dirname "$PWD")" >> {path}/found
find "$(dirname "$PWD")" -type f >> {path}/files
"""


@pytest.mark.parametrize("workers", [[], ["-n2"]], ids=["plain", "n2"])
def test_an_agent_finds_no_other_prompt_beside_its_folder(trial: Trial, workers: list[str]) -> None:
    """The contexts of all tasks and arms wait in the run's folder, and the replies that were taken over."""
    trial.agent(GOOD)
    trial.write_tasks(tasks(2))
    words = ["--arms=none,grep", *workers]
    assert trial.run(*words, "--report=a.json").ret == 0
    trial.agent(SEARCH.format(path=trial.path) + GOOD)
    trial.write_tasks(tasks(4))
    assert trial.run(*words).ret == 0
    assert (trial.path / "found").read_text() == ""
    assert "/trial/0.sealed" in (trial.path / "files").read_text()
    assert "tests/test_quota.py" in trial.report()["details"][0]["arms"]["grep"]["context"]


def test_case_66_any_number_of_workers_gives_one_report(trial: Trial) -> None:
    trial.write_tasks(tasks(5))
    reports = []
    for workers in ([], ["-n4"], ["-n2", "--dist=worksteal"]):
        assert trial.run("--arms=none,grep,bm25:all", *workers).ret == 0
        reports.append(trial.same())
    assert len(set(reports)) == 1


def test_case_67_a_report_is_used_again(trial: Trial) -> None:
    assert trial.run("--arms=none,grep", "--report=a.json").ret == 0
    trial.agent(EMPTY)
    refused = trial.run("--arms=none,grep", "--reuse=a.json")
    assert refused.ret == pytest.ExitCode.USAGE_ERROR  # it is another agent by its content
    refused.stderr.fnmatch_lines(["ERROR: *a.json: cannot be reused: its agent is*sha256*"])
    assert trial.run("--arms=none,grep").ret == 0
    assert {run["metrics"]["abstained"] for run in trial.runs().values()} == {1}

    counting(trial, GOOD)
    assert trial.run("--arms=none", "--report=b.json").ret == 0
    assert trial.run("--arms=none,grep", "--reuse=b.json").ret == 0
    assert asked(trial) == 2  # grep alone was new
    digest = sha256((trial.path / "b.json").read_bytes()).hexdigest()
    runs = trial.runs()
    assert runs["none"]["reused_from"] == f"sha256:{digest}"
    assert runs["none"]["reply"] == trial.runs(name="b.json")["none"]["reply"]
    assert "reused_from" not in runs["grep"]
    arms = trial.report()["arms"]
    assert [arms[label]["groups"]["all"]["reused"] for label in ("none", "grep")] == [1, 0]


def test_case_68_another_prompt_is_asked_anew(trial: Trial) -> None:
    counting(trial, GOOD)
    first, second = tasks(2)
    trial.write_tasks([first, second])
    assert trial.run("--arms=none", "--report=a.json").ret == 0
    trial.write_tasks([first, {**second, "text": "Which one?"}])
    assert trial.run("--arms=none", "--reuse=a.json", "-n2").ret == 0
    assert asked(trial) == 3
    assert "reused_from" in trial.runs("q1")["none"]
    assert "reused_from" not in trial.runs("q2")["none"]
    for other in (["--retrieval-model=m2"], ["--access=tools"]):
        assert trial.run("--arms=none", "--reuse=a.json", *other).ret == pytest.ExitCode.USAGE_ERROR


@pytest.mark.parametrize("access", ["none", "read-only", "tools"])
def test_cases_69_to_71_an_interrupted_run_is_taken_up(trial: Trial, access: str) -> None:
    """Killed after three of six invocations; what had finished is not asked again, what erred is."""
    words = ["--arms=none,grep", f"--access={access}"]
    trial.write_tasks(tasks(3))
    place = trial.path / "asked"
    mended = f"[ -e {trial.path}/mended ]"
    broken = f"if ! {mended} && [ $(wc -l < {place}) -eq 2 ]; then echo refused; exit 1; fi\n"
    stop = f"if ! {mended} && [ $(wc -l < {place}) -eq 4 ]; then sleep 60; fi\n"
    trial.agent(COUNT.format(path=trial.path) + broken + stop + GOOD)
    trial.bench.write("conftest.py", INTERRUPTING)
    result = trial.bench.run_apart(
        "--tasks=tasks.json", "--report=out.json", "--agent=script:agent.sh", "-p", "no:cacheprovider", *words
    )
    assert result.ret == pytest.ExitCode.INTERRUPTED, result.stdout.str()
    told = "interrupted: * of 3 tasks have outcomes; no report was written; *journal"
    result.stdout.fnmatch_lines([f"{told}; --retrieval-resume takes them up"])
    header, payloads = read_journal(trial.path / "out.json.journal")
    assert header["access"] == access
    assert len(payloads) == 3
    assert all(isinstance(json.loads(payload)["run"]["wall_ms"], int) for payload in payloads.values())

    (trial.path / "mended").touch()
    (trial.path / "conftest.py").unlink()
    before = asked(trial)
    assert trial.run(*words, "--retrieval-resume").ret == 0
    assert asked(trial) == before + 4  # three that never finished, and the one that had erred
    assert not list(trial.path.glob("out.json.journal*"))
    resumed = trial.same()
    assert b"reused_from" not in resumed
    assert trial.run(*words, "--report=undisturbed.json").ret == 0
    assert resumed == trial.same("undisturbed.json")


INTERRUPTING = """
import os, signal, threading, time
from pathlib import Path
HERE = Path(__file__).parent

def watch():
    # The guard of the agent's group is its parent: the session is told by a file instead.
    while True:
        place = HERE / "asked"
        if place.exists() and len(place.read_text().splitlines()) >= 4:
            os.kill(os.getpid(), signal.SIGINT)
            return
        time.sleep(0.01)

def pytest_sessionstart():
    threading.Thread(target=watch, daemon=True).start()
"""


def test_a_trial_is_registered_once(trial: Trial) -> None:
    words = ["--tasks=tasks.json", "--agent=script:agent.sh", "--report=out.json", "-p", "no:cacheprovider"]
    assert trial.bench.run(*words).ret == 0
    sidecar = trial.path / "out.json.registration.json"
    registered = json.loads(sidecar.read_text())
    section = trial.report()["registration"]
    assert {**section, "machine": registered["machine"]} == registered
    assert section["sample_ids"] == ["q1"]
    assert section["trial"]["access"] == "none"
    refused = trial.bench.run(*words)
    assert refused.ret == pytest.ExitCode.USAGE_ERROR
    refused.stderr.fnmatch_lines(["ERROR: cannot write the registration *--retrieval-overwrite*"])

    header = {"profile": "pytest-retrieval/1", "kind": "trial", "model": "", "access": "none"}
    journal = json.dumps({**header, "agent": trial.report()["agent"]}, separators=(",", ":"))
    write(trial.path / "out.json.journal", journal + "\n")
    refused = trial.bench.run(*words, "--retrieval-resume", "--repeats=2")
    assert refused.ret == pytest.ExitCode.USAGE_ERROR
    refused.stderr.fnmatch_lines(
        ["ERROR: *registers a run whose trial is {'repeats': 1}, and this run's is {'repeats': 2}; *"]
    )
    write(trial.path / "out.json.journal", journal + "\n")
    assert trial.bench.run(*words, "--retrieval-resume").ret == 0
    assert json.loads(sidecar.read_text()) == registered


def test_a_run_of_another_version_says_which_and_what_to_do(trial: Trial) -> None:
    words = ["--tasks=tasks.json", "--agent=script:agent.sh", "--report=out.json", "-p", "no:cacheprovider"]
    assert trial.bench.run(*words).ret == 0
    sidecar = trial.path / "out.json.registration.json"
    registered = json.loads(sidecar.read_text())
    sidecar.write_text(json.dumps({**registered, "bench_sha256": "0" * 64}))
    header = {"profile": "pytest-retrieval/1", "kind": "trial", "model": "", "access": "none"}
    of_before = {**header, "agent": trial.report()["agent"], "version": "0.0.9"}
    write(trial.path / "out.json.journal", json.dumps(of_before, separators=(",", ":")) + "\n")
    refused = trial.bench.run(*words, "--retrieval-resume")
    assert refused.ret == pytest.ExitCode.USAGE_ERROR
    refused.stderr.fnmatch_lines(
        [
            "ERROR: --retrieval-resume: *out.json.registration.json registers a run of other code of this "
            "package (it was begun by version 0.0.9, this is *): take it up with the package as it was, or *"
        ]
    )
    assert (trial.path / "out.json.journal").exists()
    sidecar.unlink()
    assert trial.bench.run(*words, "--retrieval-resume").ret == 0


def test_a_journal_of_another_agent_is_not_taken_up(trial: Trial) -> None:
    header = {"profile": "pytest-retrieval/1", "kind": "trial", "model": "", "access": "none", "agent": {}}
    write(trial.path / "out.json.journal", json.dumps(header, separators=(",", ":")) + "\n")
    result = trial.run("--retrieval-resume")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --retrieval-resume: *is of a run whose agent is*start anew*"])
    assert (trial.path / "out.json.journal").exists()


@PLAIN
def test_a_fault_fails_its_item_and_a_wrong_claim_does_not(trial: Trial, workers: list[str]) -> None:
    wrong = GOOD.replace("test_quota", "no")
    trial.agent(f'case $1 in *"(2)"*) echo boom; exit 3;; *"(3)"*) {wrong};; *) {GOOD};; esac')
    trial.write_tasks(tasks(3))
    result = trial.run("--arms=none", *workers)
    result.assert_outcomes(passed=2, failed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert "none: exit status 3 and no claims block in the reply" in result.stdout.str()
    assert "Traceback" not in result.stdout.str()
    summary = trial.report()["arms"]["none"]["groups"]["all"]
    assert (summary["tasks"], summary["errors"]) == (3, 1)
    if not workers:
        assert trial.run("--arms=none", "--retrieval-max-errors=1").ret == 0
        assert trial.run("--arms=none", "--retrieval-max-errors=30%").ret == 1


@pytest.mark.parametrize("source", ["--corpus={}", "--history={}"], ids=["corpus", "history"])
def test_case_91_a_generated_set_runs(trial: Trial, source: str) -> None:
    frozen = ROOT / "testdata" / "trial" / "unseen-tidepool-gauge"
    place = frozen / "corpus"
    if source.startswith("--history"):
        place = trial.path / "Q" / "clone"  # where pytest looks for no tests
        command = [sys.executable, str(ROOT / "testdata" / "trial_sets.py"), "history", str(place)]
        subprocess.run(command, check=True, timeout=60)
    result = trial.run(f"--tasks={frozen / 'tasks.json'}", source.format(place), "--arms=grep")
    result.assert_outcomes(passed=4)
    report = trial.report()
    assert report["partition"] == "unseen"
    commits = [detail.get("history_commits") for detail in report["details"]]
    assert commits == ([1, 3, 4, 5] if source.startswith("--history") else [None] * 4)


def test_repeats_are_nested_in_the_task(trial: Trial) -> None:
    place = trial.path / "asked"
    counting(trial, f"if [ $(wc -l < {place}) -eq 2 ]; then {EMPTY}; else {GOOD}; fi")
    assert trial.run("--arms=none", "--repeats=3").ret == 0
    report = trial.report()
    assert (report["repeats"], report["tasks"]) == (3, 1)
    runs = report["details"][0]["arms"]["none"]["runs"]
    assert [run["metrics"]["success"] for run in runs] == [1, 0, 1]
    assert [item["id"] for item in report["arms"]["none"]["unstable"]] == ["q1"]


def test_a_page_for_people(trial: Trial) -> None:
    result = trial.run("--arms=none", "--retrieval-html=out.html")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["report: out.json", "html: out.html"])
    assert "<html" in (trial.path / "out.html").read_text()
    [detail] = trial.report()["details"]
    assert detail["explain"] == {"query": Q1["text"], "query_chars": len(Q1["text"])}
    trial.write_tasks([{**Q1, "text": "\N{SNOWMAN}" * 2_001}])
    assert trial.run("--arms=none", "--retrieval-explain").ret == 0
    explained = trial.report()["details"][0]["explain"]
    assert explained == {"query": "\N{SNOWMAN}" * 2_000, "query_chars": 2_001}
    assert (
        main(["trial", "score", "--report", str(trial.path / "out.json"), "-o", str(trial.path / "b.json")])
        == 0
    )
    assert (trial.path / "b.json").read_bytes() == (trial.path / "out.json").read_bytes()
    assert trial.run("--arms=none").ret == 0
    assert "explain" not in trial.report()["details"][0]
    assert trial.run("--arms=none", "--retrieval-html=tasks.json").ret == pytest.ExitCode.USAGE_ERROR


def test_a_jobs_page_shows_the_table_and_who_was_certain_and_wrong(
    trial: Trial, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(trial.path / "summary.md"))
    trial.agent(GOOD.replace("test_quota", "no"))
    assert trial.run("--arms=none", "--gate=none: success >= 0.5").ret == 1
    lines = (trial.path / "summary.md").read_text().splitlines()
    assert lines[0] == "### Trial: 1 task, 1 arm, 1 of 1 gates failed"
    assert "| <code>q1</code> | <code>acme/quota</code> | certain and wrong |" in lines


def test_a_dry_run_asks_nobody(trial: Trial) -> None:
    counting(trial, GOOD)
    trial.write_tasks(tasks(3))
    result = trial.run("--arms=none,grep", "--repeats=2", "--retrieval-dry-run")
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        ["none: 6 invocations, about * tokens of prompts", "all arms: 12 invocations*"]
    )
    assert asked(trial) == 0
    assert not (trial.path / "out.json").exists()


PAID: dict[str, Any] = {
    "name": "paid",
    "command": ["{{.Here}}/agent.sh", "{{.Prompt}}"],
    "reply": "events",
    "events": {
        "message": {"where": {"type": "said"}, "text": "text"},
        "usage": {"where": {"type": "used"}, "tokens": "tokens"},
    },
}


def paid(trial: Trial, count: int, before: str = "", **further: Any) -> None:
    """Tasks for an agent that says after 0.2 s that it has used a token, which costs 1 USD."""
    trial.bench.write("paid.json", json.dumps({**PAID, **further}))
    trial.bench.write("prices.toml", 'currency = "USD"\n[models."*"]\noutput_tokens = 1000000\n')
    used = '{"type":"used","tokens":{"output_tokens":1}}'
    said = json.dumps({"type": "said", "text": CLAIM})
    counting(trial, f"sleep 0.2; echo '{used}'\n{before}\necho '{said}'")
    trial.write_tasks(tasks(count))


PRICED = ("--arms=none", "--retrieval-prices=prices.toml")


@pytest.mark.parametrize(("amount", "made"), [("2.5", 2), ("3", 3), ("0.5", 1)])
@pytest.mark.parametrize("workers", [[], ["-n3"]], ids=["plain", "n3"])
def test_a_budget_stops_the_run(trial: Trial, workers: list[str], amount: str, made: int) -> None:
    """Each invocation costs 1 USD: of 2.5 two are made and no third, however many workers there are.

    What the first one costs is not known before: it is made in any case, and alone.
    """
    paid(trial, 6)
    words = [*PRICED, f"--retrieval-max-cost={amount}", "--gate=none: success >= 0"]
    result = trial.run(*words, *workers, agent="paid.json")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert asked(trial) == made
    report = trial.report()
    assert len(report["details"]) == made
    spent = f"not run: what was observed has cost {made} USD, "
    over = f"more than --retrieval-max-cost {amount}; "
    beyond = f"and one more as dear as the dearest (1) would go beyond --retrieval-max-cost {amount}; "
    said = spent + (over if amount == "0.5" else beyond)
    result.stdout.fnmatch_lines([f"{said}{6 - made} of 6 tasks were lost*"])
    assert {item["why"] for item in report["selection"]["lost"]} == {"over the budget"}
    assert report["arms"]["none"]["groups"]["all"]["money"] == made
    result.stdout.fnmatch_lines(["PILOT gate UNDECIDABLE none: success >= 0: *lost*"])


def test_a_budget_that_is_not_reached_disturbs_nothing(trial: Trial) -> None:
    paid(trial, 4)
    assert trial.run(*PRICED, "--retrieval-max-cost=4", "-n2", agent="paid.json").ret == 0
    assert trial.run(*PRICED, "--report=free.json", agent="paid.json").ret == 0
    assert trial.same() == trial.same("free.json")


def test_a_budget_counts_attempts_that_were_made_again(trial: Trial) -> None:
    """Every second start fails with a rate limit: an invocation takes two and costs 2 USD."""
    failing = f"[ $(($(wc -l < {trial.path}/asked) % 2)) = 1 ] && {{ echo 429 >&2; exit 1; }}"
    paid(trial, 4, failing, retry={"pattern": "429", "delay": "1ms"})
    result = trial.run(*PRICED, "--retrieval-max-cost=5", agent="paid.json")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert asked(trial) == 4
    details = trial.report()["details"]
    assert len(details) == 2
    run = details[0]["arms"]["none"]["runs"][0]
    assert (run["attempts"], run["tokens"]) == (2, {"output_tokens": 1})
    assert (run["retried_tokens"], run["money"]) == ({"output_tokens": 1}, 2)
    assert trial.report()["arms"]["none"]["groups"]["all"]["money"] == 4


def test_a_run_that_its_budget_stopped_goes_on(trial: Trial) -> None:
    """It has published a report, which --reuse takes up; no journal is left for --retrieval-resume."""
    paid(trial, 3)
    result = trial.run(*PRICED, "--retrieval-max-cost=1", agent="paid.json")
    result.stdout.fnmatch_lines(["*2 of 3 tasks were lost; --reuse out.json with another --report goes on"])
    refused = trial.run(*PRICED, "--retrieval-resume", agent="paid.json")
    assert refused.ret == pytest.ExitCode.USAGE_ERROR
    refused.stderr.fnmatch_lines(
        ["ERROR: --retrieval-resume: there is no *out.json.journal: *--reuse *out.json with another *"]
    )
    assert trial.run(*PRICED, "--reuse=out.json", "--report=rest.json", agent="paid.json").ret == 0
    assert asked(trial) == 3
    assert trial.report("rest.json")["selection"]["lost"] == []


def test_two_kinds_write_two_reports(trial: Trial, bench: Bench) -> None:
    bench.write("short.jsonl", '{"query": "where is the quota?", "relevant": ["lib/quota.py"]}\n')
    bench.write(
        "test_more.py",
        "import pytest\n@pytest.mark.retrieval(samples='short.jsonl', snapshot='Q')\n"
        "def test_files(retrieval_judge): retrieval_judge()\n",
    )
    gates = [
        "--gate=grep: errors == 0",
        "--gate=grep: mrr@k > 0",
        "--gate=none: confidently_wrong_tasks == 0",
    ]
    result = trial.run("--report=out", "--arms=none,grep", *gates)
    result.assert_outcomes(passed=2)
    assert result.ret == 0
    found = {kind: bench.report(f"out/{kind}.json") for kind in ("bench", "trial")}
    judged = {kind: [gate["gate"] for gate in report["gates"]] for kind, report in found.items()}
    assert judged == {
        "bench": ["grep: errors == 0", "grep: mrr@k > 0"],
        "trial": ["grep: errors == 0", "none: confidently_wrong_tasks == 0"],
    }
    assert (found["bench"]["kind"], found["trial"]["kind"]) == ("bench", "trial")
    refused = trial.run("--report=two.json", "--arms=none,grep")
    assert refused.ret == pytest.ExitCode.USAGE_ERROR
    refused.stderr.fnmatch_lines(["ERROR: --report *two.json: *writes a report for each; name a folder"])


def test_the_embedded_set_needs_no_model(bench: Bench) -> None:
    Trial(bench)
    result = bench.run("--arms=none,grep", "-n2", "--report=out.json", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=18)
    report = bench.report("out.json")
    assert report["partition"] == "embedded"
    runs = [run for d in report["details"] for entry in d["arms"].values() for run in entry["runs"]]
    assert {run["block_state"] for run in runs} == {"PRESENT", "ABSENT", "MALFORMED"}
    assert {run["exit_code"] for run in runs} == {0, 3}
    verdicts = {(claim["verdict"], claim["confidence"]) for run in runs for claim in run["claims"] or ()}
    assert verdicts >= {("TRUE", "certain"), ("FALSE", "certain"), ("FALSE", "unsure"), ("FALSE", "likely")}
    assert report["arms"]["grep"]["groups"]["all"]["already_fixed"]["control_failed"] > 0


@pytest.mark.parametrize("workers", [[], ["-n1"]], ids=["plain", "n1"])
def test_a_suite_of_ones_own(trial: Trial, workers: list[str]) -> None:
    trial.bench.write(
        "own/test_mine.py",
        "import pytest\n@pytest.mark.retrieval_trial(tasks='mine.json', snapshot='acme/quota@abc=../Q')\n"
        "def test_mine(retrieval_trial_judge, retrieval_trial_task):\n"
        "    detail = retrieval_trial_judge()\n"
        "    assert detail['arms']['grep']['runs'][0]['metrics']['success'] == 1\n"
        "    assert retrieval_trial_task.id == 'mine'\n",
    )
    bare = {name: value for name, value in Q1.items() if name != "snapshot"}
    task = {"partition": "own", "tasks": [{**bare, "id": "mine"}]}
    trial.bench.write("own/mine.json", json.dumps(task))
    words = ["own", "--agent=script:agent.sh", "--report=out.json", "--retrieval-overwrite", *workers]
    trial.bench.run(*words).assert_outcomes(passed=1)
    assert trial.report()["partition"] == "own"
    trial.bench.run(*words, "--tasks=own/mine.json").assert_outcomes(passed=1)


def test_arms_are_asked_in_the_order_in_which_they_are_named(trial: Trial) -> None:
    place = trial.path / "asked"
    trial.agent(f"echo \"$1\" | sed -n 's/^CONTEXT (arm: \\(.*\\))$/\\1/p' >> {place}\n{GOOD}")
    assert trial.run("--arms=none,grep,bm25:all", "--repeats=2").ret == 0
    assert place.read_text().split() == ["none", "grep", "bm25:all"] * 2


@pytest.mark.parametrize(
    ("marker", "said"),
    [
        ("task='a.json'", "marker retrieval_trial: no argument 'task'; did you mean 'tasks'?"),
        ("'a.json'", "marker retrieval_trial: takes named arguments only"),
        ("tasks=['a.json', 'b.json']", "marker retrieval_trial: tasks must be one path"),
        ("tasks='absent.json'", "absent.json: cannot read the task manifest"),
    ],
)
def test_mistakes_of_a_marker(bench: Bench, marker: str, said: str) -> None:
    test = f"import pytest\n@pytest.mark.retrieval_trial({marker})\ndef test_it(retrieval_trial_judge): ...\n"
    bench.write("test_suite.py", test)
    result = bench.run()
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert said in result.stdout.str()


def test_a_test_without_the_marker_is_told_so(bench: Bench) -> None:
    bench.write("test_suite.py", "def test_it(retrieval_trial_judge): ...\n")
    result = bench.run()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*this test asks for a task: give it the marker*"])


def test_invocations_on_their_way_disturb_no_other_plugin(trial: Trial) -> None:
    """They travel as reports of a set-up that went well: JUnit's XML counts the item once."""
    trial.write_tasks(tasks(2))
    result = trial.run("--arms=none,grep", "--junitxml=junit.xml", "--durations=3", "-v", "-n2")
    result.assert_outcomes(passed=2)
    xml = (trial.path / "junit.xml").read_text()
    assert xml.count("<testcase ") == 2
    assert 'tests="2"' in xml
