"""The run manifest: cases 51 and 52 of the specification, and what could lead a path elsewhere."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_retrieval.errors import SampleError
from pytest_retrieval.trial.manifest import Manifest, load_manifest, parse_manifest

TASK: dict[str, Any] = {
    "id": "q1",
    "kind": "retrieval",
    "repo": "acme/quota",
    "base_commit": "abc",
    "text": "Which test file covers it?",
    "gold": {"test-file": ["tests/test_quota.py"]},
}


def parsed(*tasks: Any, **fields: Any) -> Manifest:
    body = {"partition": "pilot", "source": "made up", "tasks": list(tasks), **fields}
    return parse_manifest(json.dumps(body).encode(), "tasks.json")


def refusal(*tasks: Any, **fields: Any) -> str:
    with pytest.raises(SampleError) as caught:
        parsed(*tasks, **fields)
    return str(caught.value)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"kind": "fix"}, "kind"),
        ({"kind": "change"}, "changed_file"),
        ({"gold": {"doc-file": []}}, "doc-file"),
        ({"text": ""}, "text"),
        ({"text": None}, "text"),
        ({"id": ""}, "id"),
        ({"control": "already-fixed"}, "control has none"),
        ({"control": "wontfix", "gold": {}}, "wontfix"),
        ({"gold": {"test-file": "a.py"}}, 'gold["test-file"]: must be a list'),
        ({"gold": {"test-file": [7]}}, "must be a string"),
        ({"gold": {"test-file": [" "]}}, "empty"),  # section 25-18: it would match everything
        ({"gold": {"test-file": ["../secret.py"]}}, "no path inside"),
        ({"gold": {"answer": [""]}}, "empty"),
        ({"repo": "../etc"}, "OWNER/NAME"),  # section 25-30
        ({"repo": "-a/b"}, "OWNER/NAME"),
        ({"base_commit": "--upload-pack=x"}, "base_commit"),
        ({"base_commit": "a/../../b"}, "base_commit"),
        ({"changed_file": "/etc/passwd"}, "changed_file"),
        ({"text": "\ud800"}, "valid characters"),
    ],
)
def test_case_51_refusals_name_file_and_task(change: dict[str, Any], words: str) -> None:
    said = refusal({**TASK, **change})
    assert said.startswith(f"tasks.json: {'tasks[0]' if change.get('id') == '' else 'task '}")
    assert words in said
    assert "\n" not in said


def test_case_51_no_partition_and_repeated_ids() -> None:
    assert "partition" in refusal(TASK, partition=None)
    assert "duplicate" in refusal(TASK, TASK)
    assert "task 'q1'" in refusal(TASK, {**TASK, "text": "another"})


def test_every_fault_of_a_file_is_told() -> None:
    said = refusal({**TASK, "text": ""}, 7, {**TASK, "id": "q2", "kind": "x"})
    assert [line.split(": ")[1] for line in said.splitlines()] == ["task 'q1'", "tasks[1]", "task 'q2'"]


def test_case_51_accepted() -> None:
    golds: list[dict[str, list[str]] | None] = [{}, None]
    for gold in golds:
        (control,) = parsed({**TASK, "control": "already-fixed", "gold": gold}).tasks
        assert (control.is_control, control.gold) == (True, gold)
    assert parsed({**TASK, "note": 1}, remark="x").tasks[0].id == "q1"
    assert parsed().tasks == ()
    assert parsed({name: value for name, value in TASK.items() if name != "gold"}).tasks[0].gold is None


def test_case_52_the_whole_file_counts(tmp_path: Path) -> None:
    path = tmp_path / "tasks.json"
    tasks = [{**TASK, "id": f"q{place}"} for place in range(3)]
    path.write_text(json.dumps({"partition": "pilot", "tasks": tasks}), encoding="utf-8")
    found = load_manifest(path)
    assert (len(found.tasks), found.sha256) == (3, hashlib.sha256(path.read_bytes()).hexdigest())
    assert "q2" in refusal(tasks[0], tasks[1], {**tasks[2], "kind": "x"})


def test_what_a_task_says() -> None:
    change = {**TASK, "kind": "change", "changed_file": "lib/quota.py", "snapshot": "trees/q"}
    (found,) = parsed({**change, "source": {"commit": "f00"}}).tasks
    assert (found.subject, found.snapshot, found.cluster) == ("lib/quota.py", "trees/q", "f00")
    assert parsed({**change, "source": {"commit": "f00"}, "cluster": "mine"}).tasks[0].cluster == "mine"
    assert parsed(TASK).tasks[0].cluster is None


def test_pilots_and_names() -> None:
    assert (parsed().pilot, parsed().name) == (True, "tasks")
    held = parsed(partition="held-out", name="unseen-acme")
    assert (held.pilot, held.name, held.source) == (False, "unseen-acme", "made up")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"[]", "no JSON object"),
        (b"{", "line 1, column 2"),
        (b'{"partition":"\xff"}', "UTF-8"),
        (b'{"partition":"a","partition":"b"}', "twice"),
        (b'{"partition":NaN}', "NaN"),
        (b'{"partition":1}', "partition: must be a string"),
        (b'{"a":' + b"[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_no_manifest(data: bytes, words: str) -> None:
    with pytest.raises(SampleError, match=words):
        parse_manifest(data, "tasks.json")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(SampleError, match="cannot read"):
        load_manifest(tmp_path / "none.json")
    (tmp_path / "big.json").write_bytes(b" " * (16 * 1024 * 1024 + 1))
    with pytest.raises(SampleError, match="16 MiB"):
        load_manifest(tmp_path / "big.json", shown="big.json")


@given(st.binary(max_size=40) | st.text().map(str.encode))
def test_any_bytes_are_a_manifest_or_refused_in_one_way(data: bytes) -> None:
    try:
        parse_manifest(data, "tasks.json")
    except SampleError as error:
        assert str(error).startswith("tasks.json: ")
