"""Run our bench and the evaluator of Agent Retrieval Bench on the same samples, and print the ratios.

    python tests/benchmarks/peer.py PEER RELEASE [--rounds N]

PEER is a checkout of that project beside this one (it has no dependencies), RELEASE an extracted release.
Both run in turn, as whole processes that write a report and details; ours also with an empty store each time
(cold) and with what the run before has kept (warm).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from pytest_retrieval.datasets.release import Release, find_releases

ROOT = Path(__file__).parents[2]
SUITES = ROOT / "suites"
MAIN = "from agent_retrieval_bench.cli import main; raise SystemExit(main())"

#: Rankers of the peer, which are run one after the other, and our arms that do the same job.
MATCHES = {("bm25",): "bm25:all", ("lexical",): "grep", ("bm25", "lexical"): "grep,grep-ident,bm25"}
RANKERS = ("bm25", "lexical")


def write_manifest(folder: Path, releases: Sequence[Release]) -> None:
    """List every chunk file, as the peer wants it."""
    chunk_files = [file for found in releases for corpus in found.corpora for file in _chunk_files(corpus)]
    with (folder / "corpus_manifest.jsonl").open("w", encoding="utf-8") as target:
        for file in chunk_files:
            row = {
                "repo": file.parent.name.replace("__", "/", 1),
                "base_commit": file.name.partition(".")[0],
                "status": "ok",
                "chunks_path": str(file.absolute()),
            }
            target.write(json.dumps(row) + "\n")


def _chunk_files(corpus: str | Path) -> Iterator[Path]:
    return Path(corpus).glob("*/*.chunks.jsonl")


class Race:
    """Seconds of whole processes, by contestant, in the order of their first run."""

    def __init__(self) -> None:
        self.seconds: dict[str, list[float]] = {}

    def run(self, name: str, command: Sequence[str], **variables: str) -> None:
        """Time ``command``; its output is shown if it fails."""
        started = time.perf_counter()
        done = subprocess.run(
            command,
            env={**os.environ, **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        self.seconds.setdefault(name, []).append(time.perf_counter() - started)
        if done.returncode not in (0, 1):  # 1: a sample could not be measured, and the report says so
            raise SystemExit(f"{name}: exit code {done.returncode}\n{done.stdout.decode(errors='replace')}")

    def median(self, name: str) -> float:
        return median(self.seconds[name])


def peer_command(ranker: str, samples: Sequence[Path], folder: Path) -> list[str]:
    options = ["--corpus", str(folder), "--ranker", ranker, "--no-keep-list", "--no-progress"]
    outputs = ["--out", str(folder / "peer.json"), "--details", str(folder / "peer.jsonl")]
    return [sys.executable, "-c", MAIN, "eval-baseline", *map(str, samples), *options, *outputs]


def our_command(arms: str, release: Path, store: Path, folder: Path, workers: int) -> list[str]:
    quiet = ["-q", "-p", "no:cacheprovider", "-n", str(workers)]
    outputs = [
        "--report",
        str(folder / "ours.json"),
        "--retrieval-overwrite",
        "--retrieval-store",
        str(store),
    ]
    chosen = ["--release", str(release), f"--arms={arms}"]
    return [sys.executable, "-m", "pytest", str(SUITES), "--rootdir", str(ROOT), *quiet, *chosen, *outputs]


def race(peer: Path, release: Path, rounds: int, folder: Path) -> Iterator[str]:
    """Run everything ``rounds`` times in turn; the lines of the outcome."""
    releases = find_releases(release, folder)
    write_manifest(folder, releases)
    samples = [path for found in releases for path in found.samples]
    compiled = our_command("grep", release, folder / "store", folder, 0)
    subprocess.run(
        [*compiled, "--collect-only"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    run = Race()
    for number in range(rounds):
        for ranker in RANKERS:
            run.run(ranker, peer_command(ranker, samples, folder), PYTHONPATH=str(peer / "src"))
        for arms in MATCHES.values():
            for workers in (0, 2):
                store = folder / f"store-{number}-{arms}-{workers}"
                for state in ("cold", "warm"):
                    command = our_command(arms, release, store, folder, workers)
                    run.run(f"{arms}, -n {workers}, {state}", command, PYTHONPATH=str(ROOT))
    for rankers, arms in MATCHES.items():
        theirs = sum(map(run.median, rankers))
        yield f"peer, {' and '.join(rankers)}: {theirs:.2f} s"
        for name in run.seconds:
            if name.startswith(f"{arms}, "):
                yield f"  {name}: {run.median(name):.2f} s, {theirs / run.median(name):.1f} times as fast"


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("peer", type=Path, help="a checkout of Agent Retrieval Bench")
    parser.add_argument("release", type=Path, help="an extracted release")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for line in race(options.peer, options.release, options.rounds, Path(folder)):
            sys.stdout.write(line + "\n")


if __name__ == "__main__":
    main()
