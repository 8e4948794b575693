"""The embedded rows of ContextBench, SWE-bench and Loc-Bench: right in themselves, and judged to the end."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from pytest_retrieval.arms.registry import parse_arms
from pytest_retrieval.bench.judge import Judge
from pytest_retrieval.datasets.samples import load_samples
from pytest_retrieval.measures.names import OF_SPANS
from pytest_retrieval.model import Sample, SampleFile
from pytest_retrieval.report import schema
from pytest_retrieval.report.build import build
from pytest_retrieval.report.contextbench import predictions
from pytest_retrieval.snapshots.base import Snapshot
from pytest_retrieval.snapshots.chunkfile import read_chunk_file

RELEASE = Path(__file__).parents[2] / "testdata" / "release"
NAMES = ("contextbench", "swebench", "locbench")
ARMS = ("grep", "bm25:ident")


def loaded(name: str) -> SampleFile:
    return load_samples(RELEASE / "benchmark" / f"embedded_{name}" / "samples.jsonl", shown=f"{name}.jsonl")


@pytest.fixture(scope="module")
def snapshots() -> Iterator[dict[str, Snapshot]]:
    opened = {}
    for path in (RELEASE / "corpus").glob("*/*/*.chunks.jsonl"):
        repo, commit = path.parent.name.replace("__", "/"), path.name.removesuffix(".chunks.jsonl")
        opened[f"{repo}@{commit}"] = Snapshot(repo, commit, str(path), read_chunk_file(path))
    yield opened
    for snapshot in opened.values():
        snapshot.close()


@pytest.mark.parametrize(("name", "rows"), [("contextbench", 7), ("swebench", 3), ("locbench", 3)])
def test_rows_are_of_their_task_and_their_gold_is_there(
    name: str, rows: int, snapshots: dict[str, Snapshot]
) -> None:
    file = loaded(name)
    assert (len(file.kept), file.warnings) == (rows, ())
    for sample in file.samples:
        assert sample.task == name
        assert all(path in snapshots[sample.snapshot] for path in sample.gold)


def test_spans_are_whole_lines_of_their_files(snapshots: dict[str, Snapshot]) -> None:
    for sample in loaded("contextbench").samples:
        for span in sample.gold_spans:
            lines = snapshots[sample.snapshot].text(span.path).splitlines()
            assert span.end <= len(lines)
            assert lines[span.start - 1].strip(), span
            assert lines[span.end - 1].strip(), span


def test_functions_are_in_the_files_that_the_patch_edits(snapshots: dict[str, Snapshot]) -> None:
    for sample in loaded("locbench").samples:
        for symbol in sample.gold_symbols:
            path, _, name = symbol.partition(":")
            assert path in sample.gold
            assert f"{name.rpartition('.')[2]}(" in snapshots[sample.snapshot].text(path)


def test_hand_read_gold() -> None:
    first = loaded("contextbench").samples[0]
    assert first.gold == (
        "internal/api/calls.go",
        "internal/api/pagination.go",
        "internal/auth/roles.go",
        "internal/store/memory.go",
    )
    assert loaded("contextbench").samples[1].gold[0] == "internal/notify/dispatcher.go"
    gold = [sample.gold for sample in loaded("swebench").samples]
    assert gold == [
        ("crates/sluice-cli/src/units.rs", "docs/configuration.md"),
        ("internal/tide/window.go",),
        ("packages/sync/src/presence.ts", "packages/ui/src/hooks/usePresence.ts"),
    ]


@pytest.fixture(scope="module")
def report(snapshots: dict[str, Snapshot]) -> dict[str, Any]:
    judge = Judge(parse_arms(ARMS, {}), 20)
    files = [loaded(name) for name in NAMES]
    samples: list[Sample] = [sample for file in files for sample in file.kept]
    details = []
    for sample in samples:
        outcome = judge.judge(sample, partial(snapshots.__getitem__, sample.snapshot))
        assert outcome.faults == ()
        details.append(outcome.detail)
    judge.close()
    header = {
        "sources": [
            {"path": file.path, "sha256": file.sha256, "rows": len(file.samples), "kept": len(file.kept)}
            for file in files
        ],
        "limit": 20,
        "selection": {"of": len(samples), "chosen": len(samples), "lost": []},
        "arms": {label: {"name": label, "version": "1", "capabilities": {}} for label in ARMS},
    }
    built: dict[str, Any] = json.loads(b"".join(build(header, details).chunks()))
    return built


def test_the_report_keeps_to_its_schema(report: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator(schema()).validate(report)


@pytest.mark.parametrize("label", ARMS)
def test_each_task_has_its_measures_and_no_other(report: dict[str, Any], label: str) -> None:
    groups = report["arms"][label]["groups"]
    assert set(OF_SPANS) <= groups["task:contextbench"].keys()
    assert "full@k" not in groups["task:contextbench"]
    for task in ("swebench", "locbench"):
        assert "full@k" in groups[f"task:{task}"]
        assert not set(OF_SPANS) & groups[f"task:{task}"].keys()


@pytest.mark.parametrize("label", ARMS)
def test_measures_against_a_count_of_files(report: dict[str, Any], label: str) -> None:
    for detail in report["details"]:
        ranked, gold = set(detail["arms"][label]["ranked"]), set(detail["gold"])
        measures = detail["metrics"][label]
        if detail["task_type"] == "contextbench":
            assert measures["cb_file_coverage"] == len(ranked & gold) / len(gold)
            assert measures["cb_file_precision"] == (len(ranked & gold) / len(ranked) if ranked else 1)
            assert measures["cb_line_coverage"] >= (gold <= ranked)
        else:
            assert measures["full@k"] == (gold <= ranked)


def test_predictions_name_every_instance_and_all_lines(
    report: dict[str, Any], snapshots: dict[str, Snapshot]
) -> None:
    lines = [json.loads(line) for line in predictions(report["details"], "grep")]
    samples = loaded("contextbench").samples
    assert [line["instance_id"] for line in lines] == [sample.id for sample in samples]
    for line, sample in zip(lines, samples, strict=True):
        spans = line["traj_data"]["pred_spans"]
        assert list(spans) == sorted(line["traj_data"]["pred_files"])
        for path, (span,) in spans.items():
            text = snapshots[sample.snapshot].read(path).decode()
            assert (span["start"], span["end"]) == (1, len(text.splitlines()))
