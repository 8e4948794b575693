"""Reports that are read and scored again: cases 46 to 49, checkpoints, and the original's profile."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_retrieval.errors import ReportError
from pytest_retrieval.report.write import write_report
from pytest_retrieval.trial import cwtrial
from pytest_retrieval.trial.reading import read_trial
from pytest_retrieval.trial.rescore import rescore
from tests.trial.support import GOOD, NOT_OBSERVED, RIGHT, WRONG, built, entry, fenced, run, task

GATE = {"gate": "grep: success >= 0.1", "status": "passed"}


def details() -> list[dict[str, Any]]:
    """Two tasks with everything that a record can hold."""
    noisy = run(
        fenced(WRONG),
        tokens={"input_tokens": 900, "output_tokens": 12},
        tool_calls=2,
        commands=["ls"],
        stdout_truncated=True,
        reused_from="sha256:1",
    )
    failing = run("boom", exit_code=3)
    late = run("", error="timed out", exit_code=NOT_OBSERVED)
    first = {"none": entry("", failing), "grep": entry("score=6 checks/quota_test.py", noisy)}
    second = {
        "none": entry("", late),
        "grep": entry("notice", run(), context_error="no <module> é", context_state="READY"),
    }
    return [
        task(0, first, kind="change", subject="lib/quota.py", gold_checked=True, history_commits=2),
        task(1, second, gold=None, control="already-fixed"),
        task(2, {"none": entry(""), "grep": entry("")}, gold={}),
    ]


FACTS = {"none": {"memorisation": True}, "grep": {"baseline": True}}


def written(folder: Path, rows: list[dict[str, Any]] | None = None, **fields: Any) -> Path:
    path = folder / "trial.json"
    write_report(path, built(rows or details(), **{"arms": FACTS, **fields}).chunks())
    return path


def as_original(path: Path) -> Path:
    """The report beside ``path``, in the profile of the original."""
    target = path.with_name("original.json")
    write_report(target, cwtrial.chunks(rescore(path)))
    return target


def changed(path: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """The report with something else in it."""
    report = json.loads(path.read_text(encoding="utf-8"))
    change(report)
    path.write_text(json.dumps(report), encoding="utf-8")
    return path


def output(path: Path, **options: Any) -> bytes:
    return b"".join(rescore(path, **options).chunks()) + b"\n"


def test_case_46_scored_again_it_is_the_same(tmp_path: Path) -> None:
    path = written(tmp_path, gates=[GATE], environment={"cpu": "x"})
    assert output(path) == path.read_bytes()


def test_case_46_in_the_originals_profile_too(tmp_path: Path) -> None:
    original = as_original(written(tmp_path))
    again = b"".join(cwtrial.chunks(rescore(original))) + b"\n"
    assert again == original.read_bytes()


def test_repetitions_and_prices_stay(tmp_path: Path) -> None:
    rows = [task(row, {"a": entry("", run(), run("")), "b": entry("", run(), run())}) for row in range(3)]
    prices = {"currency": "USD", "sha256": "ab" * 32, "per_million": {"a": 1.5}, "within": {}}
    path = written(tmp_path, rows, arms={}, repeats=2, prices=prices, pairs=[("b", "a")])
    assert output(path) == path.read_bytes()
    assert list(json.loads(path.read_bytes())["paired"]["all"]) == ["b - a"]


def test_case_47_another_profile_is_refused(tmp_path: Path) -> None:
    path = changed(written(tmp_path), lambda report: report.update(profile="x/1"))
    with pytest.raises(ReportError) as caught:
        rescore(path)
    assert all(name in str(caught.value) for name in ("x/1", "corvint-cw-trial/0", "pytest-retrieval/1"))


def test_case_47_a_report_of_another_kind_is_refused(tmp_path: Path) -> None:
    path = changed(written(tmp_path), lambda report: report.update(kind="bench"))
    with pytest.raises(ReportError, match="of kind 'bench'"):
        rescore(path)


def test_case_47_without_access_it_was_read_only(tmp_path: Path) -> None:
    path = written(tmp_path)
    for found in (as_original(path), path):
        changed(found, lambda report: report.pop("access"))
        assert rescore(found).head["access"] == "read-only"


def test_members_that_the_original_did_not_have_at_first(tmp_path: Path) -> None:
    def older(report: dict[str, Any]) -> None:
        for name in ("aider", "corvint", "model", "source"):
            del report[name]

    head = rescore(changed(as_original(written(tmp_path)), older)).head
    assert (head["aider"], head["corvint"]) == (NOT_OBSERVED, NOT_OBSERVED)
    assert (head["model"], head["source"]) == ("", "")


def test_case_47_repaired_a_large_report_is_read(tmp_path: Path) -> None:
    # As found, 8 388 609 bytes were refused, though a run may write more (section 25-5).
    path = written(tmp_path, [task(0, {"grep": entry("x" * 65_536, run(GOOD + "y" * 9_000_000))})], arms={})
    assert path.stat().st_size > 8_388_609
    assert output(path) == path.read_bytes()


def manifest(folder: Path, subject: str) -> Path:
    path = folder / "tasks.json"
    one = {"id": "q0", "kind": "change", "text": "x", "changed_file": subject}
    path.write_text(json.dumps({"partition": "pilot", "tasks": [one]}), encoding="utf-8")
    return path


def test_case_48_a_subject_from_the_manifest(tmp_path: Path) -> None:
    path = written(tmp_path)
    kept = rescore(path, tasks=manifest(tmp_path, "other.py"))
    assert next(kept.details())["subject"] == "lib/quota.py"

    changed(path, lambda report: report["details"][0].pop("subject"))
    (first, *_) = rescore(path).details()
    assert "hard_success" not in first["arms"]["grep"]["runs"][0]["metrics"]
    (first, *_) = rescore(path, tasks=manifest(tmp_path, "lib/quota.py")).details()
    assert first["subject"] == "lib/quota.py"
    assert first["arms"]["grep"]["runs"][0]["metrics"]["hard_success"] == 0


def test_case_49_a_mended_reply_changes_what_is_derived(tmp_path: Path) -> None:
    path = written(tmp_path, gates=[GATE])
    before = next(rescore(path).details())["arms"]["grep"]

    def mend(report: dict[str, Any]) -> None:
        found = report["details"][0]["arms"]["grep"]["runs"][0]
        found["reply"] = found["reply"].replace(WRONG["value"], RIGHT["value"])

    report = rescore(changed(path, mend))
    after = next(report.details())["arms"]["grep"]
    assert after["runs"][0]["metrics"]["success"] == 1
    assert report.head["arms"]["grep"]["groups"]["all"]["success"]["count"] == 1
    assert report.head["gates"] == []  # the stored verdicts spoke of other figures
    raw = ("wall_ms", "exit_code", "tokens", "tool_calls", "commands", "reused_from")
    assert {name: after["runs"][0][name] for name in raw} == {name: before["runs"][0][name] for name in raw}
    assert {name: after[name] for name in after if name != "runs"} == {
        name: before[name] for name in before if name != "runs"
    }


def test_an_error_that_scoring_found_is_found_anew(tmp_path: Path) -> None:
    # As found it stood among the raw errors for ever; repaired (section 25-15).
    original = as_original(written(tmp_path))
    stored = json.loads(original.read_bytes())["details"][0]["arms"]["none"]
    assert stored["error"] == "exit status 3 and no claims block in the reply"

    def mend(report: dict[str, Any]) -> None:
        report["details"][0]["arms"]["none"]["reply"] = GOOD

    found = next(rescore(changed(original, mend)).details())["arms"]["none"]["runs"][0]
    assert not {"error", "score_error"} & found.keys()
    assert found["metrics"]["success"] == 1


def test_unknown_members_are_dropped(tmp_path: Path) -> None:
    """Section 20. What the schema of a report does not know would make a report that it refuses."""
    path = tmp_path / "trial.json"
    write_report(path, built([task()]).chunks())
    whole = path.read_bytes()
    values = json.loads(whole)
    detail = values["details"][0]
    for place in (values, detail, detail["arms"]["grep"], detail["arms"]["grep"]["runs"][0]):
        place["mine"] = 1
    path.write_text(json.dumps(values))
    assert b"".join(rescore(path).chunks()) == whole.removesuffix(b"\n")


def test_what_happened_to_an_invocation_survives_the_originals_profile(tmp_path: Path) -> None:
    """A dirty copy is an error beside an exit status of 0, which there would mean that scoring found it."""
    dirty = run(error="work tree left dirty: ?? x")
    path = tmp_path / "original.json"
    path.write_bytes(b"".join(cwtrial.chunks(built([task(arms={"grep": entry("", dirty)})]))))
    found = json.loads(path.read_bytes())["details"][0]["arms"]["grep"]
    assert (found["exit_code"], found["error"]) == (NOT_OBSERVED, "work tree left dirty: ?? x")
    assert rescore(path).head["arms"]["grep"]["groups"]["all"]["errors"] == 1


def test_a_checkpoint_of_the_original_has_open_invocations(tmp_path: Path) -> None:
    # As found these were scored as abstentions (section 25-10).
    original = as_original(written(tmp_path))

    def reopen(report: dict[str, Any]) -> None:
        report["partial"] = True
        report["arms"] = {}
        report["details"][2]["arms"]["grep"].update(
            wall_ms=NOT_OBSERVED, exit_code=NOT_OBSERVED, reply="", block_state="", claims=None, metrics=None
        )

    report = rescore(changed(original, reopen))
    assert report.head["partial"] is True
    assert report.head["arms"]["grep"]["groups"]["all"]["not_run"] == 1
    assert report.head["arms"]["grep"]["groups"]["all"]["abstained"]["n"] == 1
    assert b'"partial":true,"pilot":true' in b"".join(cwtrial.chunks(report))


def test_the_originals_order_of_members(tmp_path: Path) -> None:
    report = json.loads(as_original(written(tmp_path)).read_bytes())
    first = report["details"][0]
    record = first["arms"]["grep"]
    assert " ".join(report) == (
        "profile pilot partition source tasks_sha256 tasks limit model access agent corvint aider"
        " skeleton_sha256 prologues arms details"
    )
    assert " ".join(first) == "id kind repo base_commit gold history_commits subject gold_checked arms"
    assert " ".join(record) == (
        "prompt_sha256 prompt_bytes context context_bytes context_truncated wall_ms exit_code tokens "
        "tool_calls commands reply reply_truncated stdout_truncated reused_from block_state claims metrics"
    )
    assert " ".join(record["claims"][0]) == "kind value confidence evidence verdict grounded"
    assert report["details"][1]["gold"] is None
    assert report["details"][2]["gold"] == {}
    assert {"repeated", "valid_claims", "wrong_unsure"}.isdisjoint(record["metrics"])
    assert report["arms"]["grep"]["already_fixed"].keys() == {
        "tasks",
        "control_failed",
        "packets",
        "packet_abstained",
    }


def test_the_original_knows_no_repetitions_and_no_other_arms() -> None:
    with pytest.raises(ReportError, match="repeats them"):
        list(cwtrial.chunks(built([task(0, {"grep": entry("", run(), run())})], repeats=2)))
    with pytest.raises(ReportError, match="no arm 'bm25'"):
        list(cwtrial.chunks(built([task(0, {"bm25": entry("")})])))
    with pytest.raises(ReportError, match="no access mode 'tools'"):
        list(cwtrial.chunks(built([task(0)], access="tools")))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda report: report.pop("details"), "details: must be a list"),
        (lambda report: report["details"][0].pop("repo"), "details[0]: must be an object with 'repo'"),
        (
            lambda report: report["details"][0]["arms"]["grep"]["runs"][0].update(tokens={"a": -1}),
            "details[0].arms.grep.runs[0].tokens.a: must be a number from 0 on",
        ),
        (lambda report: report.update(repeats=0), "repeats"),
        (lambda report: report["details"][0].update(gold={"doc-file": []}), "details[0].gold"),
        (lambda report: report["paired"]["all"].update({"x - y": {}}), "no two arms"),
        (lambda report: report["details"].append(report["details"][0]), "comes twice"),
    ],
)
def test_reports_that_are_refused(
    tmp_path: Path, change: Callable[[dict[str, Any]], None], words: str
) -> None:
    with pytest.raises(ReportError) as caught:
        rescore(changed(written(tmp_path), change))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_gold_is_looked_up_in_a_history(tmp_path: Path) -> None:
    history = tmp_path / "clone"
    (history / "checks").mkdir(parents=True)
    (history / "checks" / "quota_test.py").write_text("pass\n", encoding="utf-8")
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "base"]):
        identity = ["-c", "user.name=a", "-c", "user.email=a@localhost", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", "-C", str(history), *identity, *words], check=True)
    asked = ["git", "-C", str(history), "rev-parse", "HEAD"]
    commit = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()
    gold = {
        "test-file": ["./checks/quota_test.py", "checks/gone.py"],
        "source-file": ["checks"],
        "answer": ["x"],
    }
    rows = [
        task(0, base_commit=commit, gold=gold),
        task(1, base_commit="0" * 40),
        task(2, base_commit=commit, gold_checked=True),
    ]
    found = list(rescore(written(tmp_path, rows, arms={}), history=history).details())
    assert (found[0]["gold_at_base"], found[0]["gold_checked"]) == (["checks/quota_test.py"], True)
    assert "gold_checked" not in found[1]
    assert "gold_at_base" not in found[2]  # what a run recorded is never overwritten
    assert found[0]["arms"]["grep"]["runs"][0]["metrics"]["success_retrievable"] == 1


def test_prices_may_come_later(tmp_path: Path) -> None:
    path = written(tmp_path)
    prices = tmp_path / "prices.toml"
    prices.write_text('currency = "USD"\n[models."*"]\ninput_tokens = 10\n', encoding="utf-8")
    report = rescore(path, prices=prices)
    assert report.head["arms"]["grep"]["groups"]["all"]["money"] == 0.009  # 900 tokens at 10 a million
    write_report(path, report.chunks())
    assert output(path) == path.read_bytes()


def test_what_is_read_goes_straight_back(tmp_path: Path) -> None:
    stored = read_trial(written(tmp_path))
    assert stored.header["pairs"] == [("grep", "none")]
    assert [detail["id"] for detail in stored.details()] == ["q0", "q1", "q2"]
    assert [detail["id"] for detail in stored.details()] == ["q0", "q1", "q2"]


PLACES = st.lists(st.integers(0, 30), min_size=1, max_size=7)
VALUES = st.none() | st.booleans() | st.integers(-3, 3) | st.floats(allow_nan=False) | st.text(max_size=3)
ODD = VALUES | st.lists(VALUES, max_size=2) | st.dictionaries(st.text(max_size=3), VALUES, max_size=2)


def exchange(value: Any, places: list[int], odd: Any) -> Any:
    """``value`` with one of its parts, however deep, exchanged."""
    if not places or not isinstance(value, (dict, list)) or not value:
        return odd
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    key = keys[places[0] % len(keys)]
    value[key] = exchange(value[key], places[1:], odd)
    return value


@given(PLACES, ODD, st.booleans())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_part_may_be_odd(tmp_path: Path, places: list[int], odd: Any, original: bool) -> None:
    rows = [
        task(0, {"grep": entry("a", run(commands=["ls"], tool_calls=1), context_state="x")}, subject="a.py")
    ]
    path = written(tmp_path, rows, arms={})
    if original:
        path = as_original(path)
    changed(path, lambda report: exchange(report, places, odd))
    try:
        report = rescore(path)
    except ReportError as error:
        assert "\n" not in str(error)
    else:
        assert json.loads(b"".join(report.chunks()))
