"""Made-up runs and reports of the original bench that the tests of reading and merging share."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pytest_retrieval.measures.grading import ceiling, grade
from pytest_retrieval.model import ArmRow, Sample
from pytest_retrieval.report.build import Report, build
from pytest_retrieval.report.canonical import encode
from pytest_retrieval.report.write import write_report
from tests.report.samples import COMMIT, SOURCE, answer, header

LABELS = ("context", "grep", "bm25:all")
REPOSITORIES = ("pallets/click", "numpy/numpy", "acme/ring")
POOL = tuple(f"src/{name}.c" for name in "abcdefgh")


def made_up(row: int, labels: Iterable[str] = LABELS, **fields: Any) -> dict[str, Any]:
    """Sample ``row`` of a run: every third without gold, every fifth refused or faulty for one arm."""
    positive = row % 3 != 2
    repo = REPOSITORIES[row % len(REPOSITORIES)]
    sample = Sample(
        id=f"s{row}",
        task="code2test" if row % 2 else "trace2code",
        repo=repo,
        commit=COMMIT,
        query_text="",
        query={},
        gold=(POOL[row % 8], "gone.c") if positive else (),
        given=(POOL[(row + 5) % 8],) if row % 4 == 0 else (),
        negatives=(POOL[(row + 1) % 8],),
    )
    rows = {label: _answered(row, place, sample) for place, label in enumerate(LABELS) if label in labels}
    detail = {
        "source": SOURCE,
        "id": sample.id,
        "ordinal": 0,
        "row": row,
        "task_type": sample.task,
        "repo": repo,
        "base_commit": COMMIT,
        "stratum": "positive" if positive else "natural_no_gold",
        "partition": ("B", "A", "unassigned")[row % 3],
        "gold": list(sample.gold),
        "gold_absent": ["gone.c"] if positive else [],
        "gold_cut": [],
        "given": list(sample.given),
        "query_chars": 100 + row,
        "query_truncated": False,
        "status": "fault" if any(found.fault for found in rows.values()) else "measured",
        "arms": {label: _stored(found) for label, found in rows.items()},
        "metrics": {label: grade(sample, found, 20) for label, found in rows.items()},
        **({"ceiling": ceiling(sample, POOL, 20)} if positive else {}),
        **({"anchor_bearing": True, "anchors": {"url": 1}} if row % 7 == 0 else {}),
    }
    return {**detail, **fields}


def _answered(row: int, place: int, sample: Sample) -> ArmRow:
    if (row + place) % 5 == 4:
        return (
            ArmRow(fault="timed out", wall_ms=120.0)
            if row % 2
            else ArmRow(refusal="no changed_file in query")
        )
    start = (row * (place + 2)) % 8
    ranked = tuple(POOL[(start + step) % 8] for step in range((row + place) % 4 + 1))
    ranked = tuple(path for path in ranked if path not in sample.given)
    return ArmRow(ranked=ranked, abstained=not ranked, top_score=0.5 + row / 7, wall_ms=row + 0.25)


def _stored(found: ArmRow) -> dict[str, Any]:
    fields = {"error": found.error, "top_score": found.top_score, "wall_ms": found.wall_ms}
    fields["refused"] = True if found.refusal else None
    known = {name: value for name, value in fields.items() if value is not None}
    return answer(ranked=list(found.ranked), abstained=found.abstained, **known)


def made_up_run(
    rows: Iterable[int],
    labels: Iterable[str] = LABELS,
    *,
    of: int,
    lost: Iterable[int] = (),
    **fields: Any,
) -> Report:
    """A run over ``rows`` in which ``lost`` were chosen but not run; of ``of`` samples."""
    rows, labels, lost = list(rows), list(labels), list(lost)
    details = [made_up(row, labels) for row in rows]
    snapshots = {
        f"{detail['repo']}@{COMMIT}": {"source": "chunks", "view": "arb", "tree": tree_of(detail["repo"])}
        for detail in details
    }
    head = header(*labels, of=of, chosen=len(rows) + len(lost))
    head["sources"].reverse()  # as the plugin has them: by path
    head["selection"]["lost"] = [
        {"source": SOURCE, "id": f"s{row}", "ordinal": 0, "why": "not run"} for row in lost
    ]
    for label, facts in head["arms"].items():
        if label != "context":
            facts["baseline"] = True
    head |= {"snapshots": snapshots, "skipped": {"no_gold_unlabeled": 2}, **fields}
    return build(head, details)


def tree_of(repo: str) -> str:
    return encode(repo).hex().ljust(64, "0")[:64]


def written(path: Path, report: Report) -> Path:
    write_report(path, report.chunks())
    return path


def whole(report: Report) -> dict[str, Any]:
    """A report as it is read."""
    found: dict[str, Any] = json.loads(b"".join(report.chunks()))
    return found


def unsourced(report: Report) -> dict[str, Any]:
    """All of a merged report but the digests of the reports it came from."""
    found = whole(report)
    del found["registration"]["source_reports_sha256"]
    return found


def original(*details: Mapping[str, Any], **fields: Any) -> dict[str, Any]:
    """A report of the original bench without its later sections."""
    return {
        "profile": "corvint-retrieval-bench/0",
        "samples_sha256": SOURCE,
        "samples": len(details),
        "skipped": {"no_gold_unlabeled": 0},
        "limit": 5,
        "corvint": {"version": "corvint 0.4.0a3", "sha256": "aa" * 32},
        "details": list(details),
        **fields,
    }


def original_detail(name: str, arms: Mapping[str, Any] | None, **fields: Any) -> dict[str, Any]:
    """A positive sample of the original; ``arms`` gives each label its ranking."""
    return {
        "id": name,
        "task_type": "code2test",
        "repo": "acme/ring",
        "base_commit": "1" * 40,
        "stratum": "positive",
        "gold": ["ring_test.c"],
        "given": [],
        "query_chars": 23,
        "query_truncated": False,
        "arms": arms and {label: {"ranked": ranked, "abstained": False} for label, ranked in arms.items()},
        "metrics": arms and {label: {"hard_negative_hits@k": 0} for label in arms},
        **fields,
    }


def dumped(path: Path, document: Any) -> Path:
    path.write_text(json.dumps(document), encoding="utf-8")
    return path
