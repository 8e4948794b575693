"""The cases 85 and 86 of the trial's specification."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from pytest_retrieval.cli import main
from pytest_retrieval.errors import SampleError
from pytest_retrieval.trial.heldout import import_heldout
from pytest_retrieval.trial.manifest import parse_manifest

CHUNKS = b'{"kind":"file","path":"a.py","text":"a"}\n'
ROWS: list[dict[str, Any]] = [
    {
        "id": "t1",
        "mode": "retrieval",
        "repository": "acme/quota@abc123",
        "gold": ["lib/quota.py"],
        "gold_kind": "source-file",
        "task": "E assert 0 == 1",
        "query": {"command": "pytest -q"},
        "source": {"release": "v2_trace2code", "corpus_chunk_file": "q.jsonl"},
        "forbidden": ["x"],
        "language": "python",
        "partition": "held-out",
        "target_version": 1,
    },
    {
        "id": "e1",
        "mode": "change",
        "repository": "acme/quota@abc123",
        "changed_file": "lib/quota.py",
        "gold": ["lib/render.py"],
        "gold_kind": "source-file",
        "task": "Rename it",
        "query": {"anchor_diff": "@@ -1 +1 @@\n-a\n+b"},
        "source": {"release": "v2_edit2ripple", "corpus_chunk_file": "q.jsonl"},
    },
    {
        "id": "c1",
        "mode": "retrieval",
        "repository": "acme/quota@abc123",
        "gold": ["tests/test_quota.py"],
        "gold_kind": "test-file",
        "task": "Is blank handled?",
        "query": {"given_file": "lib/quota.py", "line": 42, "pr_title": " Quota ", "diff_hunk_context": "+x"},
        "source": {"release": "v2_comment2context", "corpus_chunk_file": "q.jsonl"},
    },
]
Change = Callable[[list[dict[str, Any]], dict[str, Any]], object]


class Frozen:
    """A frozen set of three rows, which ``change`` may spoil before it is frozen."""

    def __init__(self, folder: Path, change: Change = lambda rows, manifest: None) -> None:
        self.tasks, self.manifest, self.chunks = folder / "tasks.jsonl", folder / "manifest.json", folder
        (folder / "q.jsonl").write_bytes(CHUNKS)
        rows = json.loads(json.dumps(ROWS))
        for row in rows:
            row["source"]["corpus_sha256"] = sha256(CHUNKS).hexdigest()
        head: dict[str, Any] = {"name": "demo-set", "partition": "held-out", "task_count": 3}
        change(rows, head)
        data = "\n\n".join(json.dumps(row) for row in rows) + "\n"
        self.tasks.write_text(data)
        head.setdefault("tasks_sha256", sha256(data.encode()).hexdigest())
        self.manifest.write_text(json.dumps(head, indent=1))

    def read(self) -> dict[str, Any]:
        return import_heldout(self.tasks, self.manifest, self.chunks)


def test_three_rows(tmp_path: Path) -> None:
    found = Frozen(tmp_path).read()
    trace, edit, comment = found["tasks"]
    assert [task["kind"] for task in found["tasks"]] == ["retrieval", "change", "retrieval"]
    assert {(task["repo"], task["base_commit"]) for task in found["tasks"]} == {("acme/quota", "abc123")}
    assert edit["changed_file"] == "lib/quota.py"
    assert "changed_file" not in trace
    golds = [{"source-file": ["lib/quota.py"]}, {"source-file": ["lib/render.py"]}]
    assert [task["gold"] for task in found["tasks"]] == [*golds, {"test-file": ["tests/test_quota.py"]}]
    assert trace["source"] == {**ROWS[0]["source"], "corpus_sha256": sha256(CHUNKS).hexdigest()}
    assert "\n\nCommand: pytest -q\n\nE assert 0 == 1\n\n" in trace["text"]
    assert trace["text"].endswith("kind source-file.")
    assert "Changed file: lib/quota.py\n\nIntent:\nRename it\n\n" in edit["text"]
    assert "Diff of the changed file:\n@@ -1 +1 @@" in edit["text"]
    assert "line 42" in comment["text"]
    assert "'Quota'" in comment["text"]
    assert "Diff hunk:\n+x\n\nComment:\nIs blank handled?\n\n" in comment["text"]
    assert comment["text"].endswith("kind test-file.")
    digest = sha256((tmp_path / "tasks.jsonl").read_bytes()).hexdigest()
    assert found["source"] == f"demo-set: tasks.jsonl (tasks_sha256 {digest})"
    assert parse_manifest(json.dumps(found).encode(), "x").partition == "held-out"


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda rows, _: rows[1].update(id="t1"), "task 't1': duplicate id (2 times)"),
        (
            lambda rows, _: rows[0].update(gold=["../x"]),
            "task 't1': gold['source-file'][0]: '../x' is no path",
        ),
        (lambda rows, _: rows[2].update(repository="acme@abc"), "task 'c1': repo: 'acme' is not OWNER/NAME"),
    ],
    ids=["an id twice", "gold outside", "no owner"],
)
def test_what_a_run_would_refuse_is_not_imported(tmp_path: Path, change: Change, fault: str) -> None:
    with pytest.raises(SampleError) as caught:
        Frozen(tmp_path, change).read()
    assert fault in str(caught.value)
    assert str(caught.value).startswith(f"{tmp_path / 'tasks.jsonl'}: ")


def test_a_long_diff_is_cut_and_a_missing_line_is_0(tmp_path: Path) -> None:
    def change(rows: list[dict[str, Any]], manifest: dict[str, Any]) -> None:
        rows[1]["query"]["anchor_diff"] = "x" * 8_193
        del rows[2]["query"]["line"]

    found = Frozen(tmp_path, change).read()["tasks"]
    assert "x" * 8_192 + "\n[TRUNCATED]\n\n" in found[1]["text"]
    assert "at line 0" in found[2]["text"]


def put(row: int, name: str, value: object) -> Change:
    return lambda rows, manifest: rows[row].__setitem__(name, value)


def head(name: str, value: object) -> Change:
    return lambda rows, manifest: manifest.__setitem__(name, value)


def source(name: str, value: object) -> Change:
    return lambda rows, manifest: rows[0]["source"].__setitem__(name, value)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (put(0, "repository", "o/r"), "'t1': repository: 'o/r' is not OWNER/NAME@COMMIT"),
        (put(1, "changed_file", ""), "'e1': changed_file: empty"),
        (source("release", "v2_other"), "'t1': source.release: 'v2_other' is not one of"),
        (put(0, "gold_kind", "answer"), "'t1': gold_kind: 'answer' is not one of test-file, source-file"),
        (put(0, "gold", []), "'t1': gold: empty"),
        (put(0, "mode", "edit"), "'t1': mode: 'edit' is not one of retrieval, change"),
        (put(0, "id", ""), "'': id: empty"),
        (put(0, "task", ""), "'t1': task: missing or empty"),
        (put(1, "query", None), "'e1': query.anchor_diff: missing or empty"),
        (head("task_count", 4), "3 rows, task_count of"),
        (head("task_count", 0), "task_count: must be a whole number from 1"),
        (head("tasks_sha256", "0" * 64), "tasks_sha256 of"),
        (source("corpus_sha256", "0" * 64), "corpus_sha256 of the row is 0000"),
        (source("corpus_sha256", ""), "source.corpus_sha256: missing or empty"),
        (source("corpus_chunk_file", "../x"), "source.corpus_chunk_file: '../x' leaves"),
        (source("corpus_chunk_file", "absent"), "cannot be read: No such file"),
    ],
)
def test_what_cannot_be_mapped_is_refused(tmp_path: Path, change: Change, said: str) -> None:
    with pytest.raises(SampleError) as refusal:
        Frozen(tmp_path, change).read()
    assert said in str(refusal.value)


def test_one_byte_more_is_refused(tmp_path: Path) -> None:
    frozen = Frozen(tmp_path)
    with frozen.tasks.open("ab") as stream:
        stream.write(b"\n")
    with pytest.raises(SampleError, match="tasks_sha256"):
        frozen.read()


def test_the_command(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    frozen = Frozen(tmp_path)
    words = ["trial", "import-heldout", f"--tasks={frozen.tasks}", f"--manifest={frozen.manifest}"]
    assert main(words) == 0
    printed = capsysbinary.readouterr().out
    assert main([*words, f"--output={tmp_path / 'out.json'}", f"--chunk-root={tmp_path}"]) == 0
    assert (tmp_path / "out.json").read_bytes() == printed
    assert main([*words, f"--output={frozen.tasks}"]) == 2
    frozen.manifest.write_text("{}")
    assert main(words) == 2
    assert b"not the manifest of a frozen set" in capsysbinary.readouterr().err
