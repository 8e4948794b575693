"""``pytest-retrieval engine``: try a description of a code-search tool before a run does."""

from __future__ import annotations

import argparse
import secrets
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_retrieval.commands import corpora as corpora_command
from pytest_retrieval.commands.parsers import add_command
from pytest_retrieval.errors import UsageError

if TYPE_CHECKING:
    from pytest_retrieval.engines.trees import Corpus
    from pytest_retrieval.snapshots.base import Snapshot


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command and its actions."""
    engine = add_command(commands, "engine", "code-search tools by description: probe, list")
    actions = engine.add_subparsers(required=True, metavar="ACTION")
    probing = add_command(
        actions,
        "probe",
        "call a tool once, and say what is read and what is wrong",
        "The exit code is 1 if something is wrong.",
        example="mytool.json --root . --query 'a question'",
    )
    probing.add_argument("file", metavar="FILE", help="a description, or the name of a shipped one")
    probing.add_argument(
        "--root", default=".", metavar="DIR", help="the tree: a folder, or as for --snapshot; default: here"
    )
    probing.add_argument("--corpus-name", metavar="NAME", help="a corpus of --corpora instead of --root")
    corpora_command.add_corpora(probing)
    probing.add_argument("--query", action="append", required=True, metavar="TEXT", help="may be repeated")
    probing.set_defaults(command=probe)
    add_command(actions, "list", "name the shipped descriptions").set_defaults(command=list_shipped)


def probe(options: argparse.Namespace, rest: Sequence[str]) -> int:
    """Show calls, output, results and faults of a description; 1 if there is an error among them."""
    from pytest_retrieval.arms.engine.arm import EngineArm
    from pytest_retrieval.arms.engine.home import EngineHome
    from pytest_retrieval.bench.probing import probe as probe_arm
    from pytest_retrieval.engines.loading import find_description, load_description

    description = load_description(find_description(options.file), options.file)
    if not all(query.strip() for query in options.query):
        raise UsageError("--query: it is blank")
    snapshot, corpora = _tree(options)
    with tempfile.TemporaryDirectory(prefix="retrieval-probe-") as states:
        arm = EngineArm(description, EngineHome(Path(states), secrets.token_hex(8), corpora=corpora))
        report = probe_arm(arm, snapshot, options.query)
    snapshot.close()
    sys.stdout.writelines(f"{line}\n" for line in report.lines)
    return 1 if report.failed else 0


def list_shipped(options: argparse.Namespace, rest: Sequence[str]) -> int:
    """Name the shipped descriptions and what each is."""
    import json

    from pytest_retrieval.engines.loading import SHIPPED

    for path in sorted(SHIPPED.glob("*.json"), key=lambda path: path.stem):
        about = json.loads(path.read_bytes())["about"]
        sys.stdout.write(f"engine:{path.stem}: {about}\n")
    return 0


def _tree(options: argparse.Namespace) -> tuple[Snapshot, dict[str, Corpus]]:
    """The tree to search, and what it is called where it is a corpus.

    Raises:
        UsageError: there is no such corpus, or it cannot be scored.
    """
    from pytest_retrieval.engines.trees import Corpus
    from pytest_retrieval.snapshots.base import Snapshot
    from pytest_retrieval.snapshots.pinned import check_corpus, read_corpus

    if options.corpus_name is None:
        return _snapshot(options.root), {}
    (corpus,) = corpora_command.chosen(options, options.corpus_name)
    checked = check_corpus(corpus)
    if checked.faults or checked.skipped:
        raise UsageError("\n".join(checked.faults) or str(checked.skipped))
    snapshot = Snapshot(corpus.repository, checked.commit, corpus.source, read_corpus(corpus, checked.commit))
    name = f"{corpus.repository}@{checked.commit}"
    return snapshot, {name: Corpus(corpus.name, corpus.lang, corpus.subdirs)}


def _snapshot(text: str) -> Snapshot:
    """The tree to search: a folder as it is, or whatever --snapshot can name."""
    from pytest_retrieval.snapshots.base import Snapshot
    from pytest_retrieval.snapshots.directory import read_directory
    from pytest_retrieval.snapshots.sources import parse_snapshot_option, read_source

    folder = Path(text).expanduser()
    if folder.is_dir():
        name = folder.resolve().name or "root"
        return Snapshot(f"local/{name}", "0" * 40, str(folder), read_directory(folder))
    named = parse_snapshot_option(text)
    return Snapshot(named.repo, named.commit, named.source, read_source(named.source, named.commit))
