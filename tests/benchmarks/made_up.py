"""What the benchmarks work on: numpy's installed source, and samples and outcomes that are made up."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import zstandard

from pytest_retrieval.measures.grading import ceiling, grade
from pytest_retrieval.model import ArmRow, Sample
from pytest_retrieval.snapshots.base import MemoryContents, Snapshot, Tree, TreeFile
from pytest_retrieval.snapshots.distribution import read_distribution
from pytest_retrieval.store.store import Store
from tests.report.samples import SOURCE

REPO = "numpy/numpy"
COMMIT = "0" * 40
ARMS = tuple(f"arm{number}" for number in range(6))
CHANGED_ONE_IN = 20
TEXT_CAP = 8_000
SYMBOLS = 6  # rows of kind symbol for each file, as many as releases have


def numpy_snapshot() -> Snapshot:
    tree = read_distribution("numpy")
    texts = [file for file in tree.files if file.text]
    held = {file.digest: tree.contents.read(file) for file in texts}
    return in_memory({file.path: held[file.digest] for file in texts})


def neighbour(snapshot: Snapshot, number: int = 1) -> Snapshot:
    """A later commit: every twentieth file has a new line."""
    files = dict(snapshot.read_each(snapshot.paths))
    for path in snapshot.paths[number % CHANGED_ONE_IN :: CHANGED_ONE_IN]:
        files[path] += b"\nchanged_%d = 1\n" % number
    return in_memory(files)


def in_memory(files: Mapping[str, bytes], store: Store | None = None) -> Snapshot:
    held = {hashlib.sha256(content).hexdigest(): content for content in files.values()}
    rows = tuple(
        TreeFile(path, len(content), hashlib.sha256(content).hexdigest(), text=True)
        for path, content in files.items()
    )
    return Snapshot(REPO, COMMIT, "made up", Tree(rows, MemoryContents(held), "full"), store=store)


def megabytes(snapshot: Snapshot) -> float:
    """How much text a snapshot has."""
    return sum(file.size for file in snapshot.texts) / 1e6


def write_samples(path: Path, count: int) -> None:
    """Samples of 50 repositories, none of which is there: collecting must not need them."""
    with path.open("w", encoding="utf-8") as target:
        for number in range(count):
            row = {
                "id": f"made-up-{number}",
                "query": f"find part {number} of something that is described in a few words",
                "relevant": [f"src/part{number % 6}.c"],
                "repo": f"acme/repo{number % 50}",
                "base_commit": COMMIT,
            }
            target.write(json.dumps(row) + "\n")


def details(count: int) -> Iterator[dict[str, Any]]:
    """Outcomes of ``count`` samples of 25 repositories under six arms that rank at random."""
    random = Random(0)
    pool = [f"package{number % 40}/module{number}.py" for number in range(2_000)]
    for row in range(count):
        sample = Sample(
            id=f"made-up-{row}",
            task=("code2test", "comment2context", "trace2code")[row % 3],
            repo=f"acme/repo{row % 25}",
            commit=COMMIT,
            query_text="",
            query={},
            gold=tuple(random.sample(pool[:60], 3)),
            negatives=tuple(random.sample(pool[60:], 2)),
        )
        yield _detail(sample, row, [random.sample(pool[:200], 20) for _ in ARMS], random)


def _detail(sample: Sample, row: int, rankings: Sequence[Sequence[str]], random: Random) -> dict[str, Any]:
    rows = {
        label: ArmRow(ranked=tuple(ranked), wall_ms=round(random.expovariate(0.2), 6))
        for label, ranked in zip(ARMS, rankings, strict=True)
    }
    return {
        "source": SOURCE,
        "id": sample.id,
        "ordinal": 0,
        "row": row,
        "task_type": sample.task,
        "repo": sample.repo,
        "base_commit": sample.commit,
        "stratum": "positive",
        "partition": "AB"[row % 2],
        "gold": list(sample.gold),
        "gold_absent": [],
        "gold_cut": [],
        "given": [],
        "query_chars": 1_000,
        "query_truncated": False,
        "status": "measured",
        "arms": {
            label: {
                "ranked": list(found.ranked),
                "abstained": False,
                "cache_state": "NOT_APPLICABLE",
                "wall_ms": found.wall_ms,
            }
            for label, found in rows.items()
        },
        "metrics": {label: grade(sample, found, 20) for label, found in rows.items()},
        "ceiling": ceiling(sample, sample.gold, 20),
    }


def chunk_rows(snapshot: Snapshot, repo: str, commit: str) -> Iterator[bytes]:
    """The rows of a release's chunk file: each file, and pieces of it as its symbols."""
    for path, content in snapshot.read_each(snapshot.paths):
        text = content.decode("utf-8", "replace")[:TEXT_CAP]
        step = len(text) // SYMBOLS + 1
        pieces = [text, *(text[start : start + step] for start in range(0, len(text), step))]
        for number, piece in enumerate(pieces):
            row = {
                "base_commit": commit,
                "chunk_id": hashlib.sha256(f"{commit}{path}{number}".encode()).hexdigest()[:24],
                "end_line": 1,
                "kind": "symbol" if number else "file",
                "path": path,
                "repo": repo,
                "start_line": 1,
                "symbol": "",
                "text": piece,
            }
            yield json.dumps(row, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def write_release(path: Path, snapshot: Snapshot, commits: int) -> int:
    """Write an archive of two repositories with so many neighbouring commits each; its size extracted."""
    sample = {"id": "1", "task_type": "code2test", "repo": "acme/one", "base_commit": COMMIT, "query": {}}
    members = {"benchmark/made_up/samples.jsonl": json.dumps(sample).encode() + b"\n"}
    for number in range(commits):
        tree = neighbour(snapshot, number)
        for repo in ("acme/one", "acme/two"):
            commit = f"{number:040x}"
            name = f"corpus/made_up/{repo.replace('/', '__')}/{commit}.chunks.jsonl"
            members[name] = b"".join(chunk_rows(tree, repo, commit))
    with (
        path.open("wb") as target,
        zstandard.ZstdCompressor(level=3).stream_writer(target) as packed,
        tarfile.open(fileobj=packed, mode="w|") as writer,
    ):
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            writer.addfile(info, io.BytesIO(content))
    return sum(map(len, members.values()))
