"""``pytest-retrieval corpora``: set up code-search corpora, hold query sets against them, list them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_retrieval import resources
from pytest_retrieval.commands.parsers import add_command
from pytest_retrieval.errors import UsageError, closest

if TYPE_CHECKING:
    from pytest_retrieval.datasets.corpora import CodeCorpus, CorporaFile


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command and its actions."""
    corpora = add_command(commands, "corpora", "code-search corpora: setup, validate, list")
    actions = corpora.add_subparsers(required=True, metavar="ACTION")
    told = {
        "setup": (setup, "clone what is missing, check out the pinned commits"),
        "validate": (validate, "hold every path and span of the query sets against the pinned trees"),
        "list": (show, "name the corpora, their pins and their queries"),
    }
    for name, (command, about) in told.items():
        action = add_command(actions, name, about)
        add_corpora(action)
        action.add_argument("--corpus", metavar="NAME,...", help="these alone; default: all")
        action.set_defaults(command=command)
        if name == "setup":
            action.add_argument("--dry-run", action="store_true", help="only say what would be done")


def add_corpora(action: argparse.ArgumentParser) -> None:
    """Add the options that say which corpora there are, and where."""
    action.add_argument("--corpora", metavar="FILE", help="default: the embedded corpora")
    action.add_argument("--corpora-root", metavar="DIR", help="where the checkouts are; or BENCH_CORPORA")


def setup(options: argparse.Namespace, rest: Sequence[str]) -> int:
    """Say per corpus what was done, or what hinders it; 1 if anything does."""
    from pytest_retrieval.snapshots.setup import set_up

    failed = False
    for corpus in _chosen(options):
        status = set_up(corpus, dry_run=options.dry_run)
        failed |= status.failed
        sys.stdout.write(f"{corpus.name}: {corpus.path}: {status.state}\n")
        sys.stdout.flush()
    return int(failed)


def validate(options: argparse.Namespace, rest: Sequence[str]) -> int:
    """Print every fault and warning; 1 if there is a fault."""
    from pytest_retrieval.datasets.searchset import kinds
    from pytest_retrieval.report.pieces import plural
    from pytest_retrieval.snapshots.pinned import check_corpus

    failed = False
    for corpus in _chosen(options):
        checked = check_corpus(corpus)
        failed |= bool(checked.faults)
        counted = kinds([query.difficulty for query in corpus.query_set])
        split = ", ".join(f"{count} {name}" for name, count in counted.items())
        outcome = checked.skipped or (plural(len(checked.faults), "fault") if checked.faults else "sound")
        sys.stdout.writelines(f"{line}\n" for line in checked.faults)
        sys.stdout.writelines(f"warning: {line}\n" for line in checked.warnings)
        sys.stdout.write(f"{corpus.name}: {plural(len(corpus.query_set), 'query')} ({split}): {outcome}\n")
    return int(failed)


def show(options: argparse.Namespace, rest: Sequence[str]) -> int:
    """List the corpora."""
    for corpus in _chosen(options):
        tree = "" if corpus.tree == "." else f", only {corpus.tree}"
        pin = corpus.pin
        queries = f"{len(corpus.query_set)} queries"
        sys.stdout.write(f"{corpus.name}: {corpus.lang}, {pin}, {corpus.path}{tree}, {queries}\n")
    return 0


def chosen(options: argparse.Namespace, *names: str) -> Sequence[CodeCorpus]:
    """The corpora of these names, or all where none is named.

    Raises:
        UsageError: the file that lists them has faults, or a name is not in it.
    """
    listed = _listed(options)
    sys.stderr.writelines(f"{line}\n" for line in listed.warnings)
    known = {corpus.name: corpus for corpus in listed.corpora}
    for name in names:
        if name not in known:
            hint = f"{closest(name, list(known))} (known: {', '.join(known)})"
            raise UsageError(f"no corpus {name!r}{hint}")
    return [known[name] for name in names] if names else listed.corpora


def _chosen(options: argparse.Namespace) -> Sequence[CodeCorpus]:
    return chosen(options, *(name.strip() for name in (options.corpus or "").split(",") if name.strip()))


def _listed(options: argparse.Namespace) -> CorporaFile:
    from pytest_retrieval.datasets.corpora import corpora_root, load_corpora
    from pytest_retrieval.errors import SampleError

    path = resources.embedded_corpora() if options.corpora is None else Path(options.corpora)
    try:
        return load_corpora(path.absolute(), corpora_root(options.corpora_root))
    except SampleError as error:
        raise UsageError(str(error)) from error
