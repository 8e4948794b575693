"""``pytest-retrieval trial``: task sets for agents come in, and reports of trials are scored again."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from pytest_retrieval.commands.parsers import add_command
from pytest_retrieval.errors import RetrievalError, UsageError
from pytest_retrieval.programs.interrupts import interrupted_by_sigterm

INTERRUPTED = 130


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command and its actions."""
    trial = add_command(commands, "trial", "tasks and reports of trials: generate, import-heldout, score")
    actions = trial.add_subparsers(required=True, metavar="ACTION")
    _add_import(actions)
    _add_generate(actions)
    _add_score(actions)


def _add_import(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    about = "make a run manifest of a frozen held-out set, after checking its digests"
    importing = add_command(actions, "import-heldout", about, allow_abbrev=False)
    importing.add_argument("--tasks", required=True, metavar="FILE", help="the frozen tasks.jsonl")
    importing.add_argument("--manifest", required=True, metavar="FILE", help="its manifest.json")
    importing.add_argument("--chunk-root", metavar="DIR", help="check the chunk files in it, too")
    importing.add_argument("-o", "--output", metavar="FILE", help="default: standard output")
    importing.set_defaults(command=import_heldout)


def _add_generate(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    about = "make an unseen set of co-change tasks from a local Git history"
    making = add_command(actions, "generate", about, allow_abbrev=False)
    making.add_argument("--repo", required=True, metavar="DIR", help="a clone, bare or not; only read")
    making.add_argument("--name", required=True, metavar="OWNER/NAME", help="what tasks call it")
    making.add_argument(
        "--since", required=True, metavar="DATE", help="2026-09-01 (00:00 UTC), or with a time"
    )
    making.add_argument("-o", "--output", required=True, metavar="DIR", help="gets tasks.json and corpus/")
    making.add_argument("--limit", type=int, default=40, metavar="N", help="tasks at most; default 40")
    making.add_argument("--min-files", type=int, default=2, metavar="N", help="of a commit; default 2")
    making.add_argument("--max-files", type=int, default=6, metavar="N", help="of a commit; default 6")
    making.add_argument("--tip", default="HEAD", metavar="COMMIT", help="the last commit; default HEAD")
    making.set_defaults(command=generate)


def _add_score(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    about = "score a trial's report again from what it recorded"
    scoring = add_command(actions, "score", about, allow_abbrev=False)
    scoring.add_argument("--report", required=True, metavar="FILE", help="of this tool, or of cw-trial")
    scoring.add_argument("-o", "--output", metavar="FILE", help="default: standard output")
    scoring.add_argument("--tasks", metavar="FILE", help="the run manifest, for subjects that it lacks")
    scoring.add_argument("--history", metavar="DIR", help="a repository that tells which gold existed")
    scoring.add_argument("--prices", metavar="FILE", help="what tokens cost, TOML or JSON")
    scoring.add_argument(
        "--format",
        choices=("pytest-retrieval", "cw-trial"),
        default="pytest-retrieval",
        help="the profile that is written; cw-trial is that of the original tool",
    )
    scoring.set_defaults(command=score)


def import_heldout(options: argparse.Namespace, rest: Sequence[str]) -> int:
    """Write the run manifest of a frozen set to a file or the terminal."""
    from pytest_retrieval.report.canonical import encode
    from pytest_retrieval.trial.heldout import import_heldout as imported

    root = None if options.chunk_root is None else Path(options.chunk_root)
    inputs = [Path(options.tasks), Path(options.manifest)]
    with _refusing(), _interruptible("nothing was written"):
        output = _output(options.output, inputs)
        _write(output, [encode(imported(inputs[0], inputs[1], root))], "the run manifest")
    return 0


def score(options: argparse.Namespace, rest: Sequence[str]) -> int:
    """Write a report with everything derived built anew, to a file or the terminal."""
    from pytest_retrieval.trial import cwtrial
    from pytest_retrieval.trial.rescore import rescore

    report = Path(options.report)
    given = (options.tasks, options.history, options.prices)
    tasks, history, prices = (None if text is None else Path(text) for text in given)
    with _refusing(), _interruptible("nothing was written"):
        output = _output(options.output, [path for path in (report, tasks, prices) if path is not None])
        found = rescore(report, tasks=tasks, history=history, prices=prices)
        original = options.format == "cw-trial"
        chunks = list(cwtrial.chunks(found)) if original else found.chunks()  # refused before a byte goes out
        _write(output, chunks, "the report")
    return 0


def generate(options: argparse.Namespace, rest: Sequence[str]) -> int:
    """Write a task set; nothing but complete files is ever left."""
    from pytest_retrieval.history.generate import Wanted
    from pytest_retrieval.history.generate import generate as made

    output = Path(options.output)
    wanted = Wanted(
        Path(options.repo),
        options.name,
        _since(options.since),
        output,
        options.limit,
        options.min_files,
        options.max_files,
        options.tip,
    )
    with _refusing(), _interruptible(f"{output}/tasks.json was not written"):
        output.mkdir(parents=True, exist_ok=True)
        found = made(wanted, lambda line: sys.stderr.write(f"{line}\n"))
    tasks, population = len(found.manifest["tasks"]), found.manifest["population"]
    sys.stdout.write(f"{tasks} tasks of {population} qualifying commits: {found.path}\n")
    return 0


def _since(text: str) -> datetime:
    from pytest_retrieval.history.moments import parse_moment

    try:
        return parse_moment(text)
    except UsageError as error:
        raise UsageError(f"--since: {error}") from None


def _output(text: str | None, inputs: Sequence[Path]) -> Path | None:
    """Where a result goes, which is none of what it is made from; None for standard output."""
    from pytest_retrieval.report.distinct import same_file

    output = None if text is None else Path(text)
    if output is not None and any(same_file(output, path) for path in inputs):
        raise UsageError(f"--output {output}: this is one of the files that are read; name another")
    return output


def _write(output: Path | None, chunks: Iterable[bytes], what: str) -> None:
    from pytest_retrieval.report.write import write_report

    if output is not None:
        write_report(output, chunks, what, makes_folder=True)
        return
    for chunk in chunks:
        sys.stdout.buffer.write(chunk)
    sys.stdout.buffer.write(b"\n")
    sys.stdout.flush()


@contextmanager
def _refusing() -> Iterator[None]:
    """Whatever is refused ends these commands as a wrong option does, with exit code 2."""
    try:
        yield
    except RetrievalError as error:
        raise UsageError(str(error)) from error


@contextmanager
def _interruptible(left: str) -> Iterator[None]:
    """Ctrl-C and SIGTERM end the command with one line that says what was ``left``."""
    try:
        with interrupted_by_sigterm():
            yield
    except KeyboardInterrupt:
        sys.stderr.write(f"pytest-retrieval: interrupted: {left}\n")
        raise SystemExit(INTERRUPTED) from None
