"""The console command ``pytest-retrieval``: what is not a test run of one's own."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Sequence
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

from pytest_retrieval import __version__, corpora_cli, engine_cli, resources, scoreboard_cli, store_cli
from pytest_retrieval.errors import ReportError, RetrievalError, UsageError, closest

USAGE = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code (2 for usage, else what the command says)."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    parser = _parser()
    options, rest = parser.parse_known_args(words)
    if rest and options.command is not run:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    try:
        return int(options.command(options, rest))
    except UsageError as error:
        sys.stderr.write(f"pytest-retrieval: {error}\n")
        return USAGE
    except (RetrievalError, OSError) as error:
        sys.stderr.write(f"pytest-retrieval: {error}\n")
        return 1


def run(options: argparse.Namespace, rest: Sequence[str]) -> NoReturn:
    """Run shipped suites with pytest; every further argument is pytest's.

    pytest takes this process over: imported into it, it could not rewrite the assertions of this package.
    """
    words = [word for name in options.suite for word in _suite(name)]
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-m", "pytest", *_plugin(), *words, *_joined(rest)])


def snapshot(options: argparse.Namespace, rest: Sequence[str]) -> int:
    """Say what a snapshot holds, or what one view of it hides."""
    from pytest_retrieval.snapshots.base import Snapshot
    from pytest_retrieval.snapshots.difference import difference
    from pytest_retrieval.snapshots.sources import parse_snapshot_option, read_source

    named = parse_snapshot_option(options.snapshot)
    if options.diff is not None:
        lines = list(difference(named, options.diff[0], options.diff[1], options.gold).lines())
    else:
        tree = read_source(named.source, named.commit)
        shown = Snapshot(named.repo, named.commit, named.source, tree)
        lines = [named.name, *(f"{key}: {value}" for key, value in shown.facts().items())]
        shown.close()
    sys.stdout.writelines(f"{line}\n" for line in lines)
    return 0


def summarize(options: argparse.Namespace, rest: Sequence[str]) -> int:
    """Merge reports into one table, one file, and verdicts."""
    from pytest_retrieval.gates import grammar, verdict
    from pytest_retrieval.report import corvint_writer, table, write
    from pytest_retrieval.report.merge import merge
    from pytest_retrieval.report.place import check_replaceable
    from pytest_retrieval.report.read import read_report

    gates = [grammar.parse(text) for text in options.gate]
    paths = [Path(text) for text in options.report]
    output = None if options.output is None else Path(options.output)
    if options.format == "corvint" and output is None:
        raise UsageError("--format corvint says how the file of -o is written; give one")
    if output is not None and any(same_file(output, path) for path in paths):
        raise UsageError(f"-o {output}: this is one of the reports to merge; name another file")
    if output is not None:
        check_replaceable(output)
    try:
        report = merge([read_report(path) for path in paths], union=options.union)
        report = report.with_gates(found.record() for found in verdict.judge(report.head, gates))
        if output is not None:
            written = corvint_writer.chunks(report) if options.format == "corvint" else report.chunks()
            write.write_report(output, written)
    except ReportError as error:
        raise UsageError(str(error)) from error
    width = shutil.get_terminal_size().columns
    lines = table.render(report.head, width, None if output is None else str(output))
    sys.stdout.writelines(f"{table.plain(line)}\n" for line in lines)
    return 0 if all(gate["status"] in ("passed", "undecided") for gate in report.head["gates"]) else 1


def export(options: argparse.Namespace, rest: Sequence[str]) -> int:
    """Write an arm's answers in the prediction format of another benchmark."""
    from pytest_retrieval.report.contextbench import predictions
    from pytest_retrieval.report.read import read_report

    report = read_report(Path(options.report))
    labels = list(report.arms)
    if options.arm is None and len(labels) != 1:
        raise UsageError(f"the report has {len(labels)} arms; name one with --arm: {', '.join(labels)}")
    label = labels[0] if options.arm is None else options.arm
    if label not in labels:
        raise UsageError(
            f"no arm {label!r} in the report{closest(label, labels)} (known: {', '.join(labels)})"
        )
    if options.output is not None and same_file(Path(options.output), Path(options.report)):
        raise UsageError(f"-o {options.output}: this is the report itself; name another file")
    lines = list(predictions(report.details(), label))  # all of them, or none is written
    if options.output is None:
        sys.stdout.buffer.writelines(lines)
    else:
        Path(options.output).write_bytes(b"".join(lines))
    return 0


def verify_capture(options: argparse.Namespace, rest: Sequence[str]) -> int:
    """Say what a context capture holds, and whether it is sound and complete."""
    from pytest_retrieval.report.capture_reader import verify

    found = verify(Path(options.file))
    sys.stderr.writelines(f"{options.file}: {fault}\n" for fault in found.faults)
    sys.stdout.writelines(f"{line}\n" for line in found.summary())
    return 0 if found.is_complete else 1


def same_file(one: Path, other: Path) -> bool:
    """Whether two paths name one file, by whatever links."""
    try:
        return one.samefile(other)
    except FileNotFoundError:
        return False


def _plugin() -> list[str]:
    """What makes pytest load the plugin where it does not by itself; loading it twice would be an error."""
    is_installed = bool(entry_points(group="pytest11", name="retrieval"))
    if is_installed and not os.environ.get("PYTEST_DISABLE_PLUGIN_AUTOLOAD"):
        return []
    return ["-p", "pytest_retrieval.plugin"]


def _joined(words: Sequence[str]) -> list[str]:
    """The words with ``--option value`` of ours as ``--option=value``.

    pytest looks for its root directory before it knows the options of plugins, and would take a value after a
    blank for the path of a test.
    """
    from pytest_retrieval.plugin.options import names_with_values

    known, joined, rest = names_with_values(), [], list(words)
    while rest:
        word = rest.pop(0)
        joined.append(f"{word}={rest.pop(0)}" if word in known and rest else word)
    return joined


def _suite(name: str) -> list[str]:
    folder = resources.suites()
    known = sorted(path.parent.name for path in folder.glob("*/test_*.py"))
    if name != "all" and name not in known:
        raise UsageError(f"no suite {name!r}{closest(name, known)} (known: {', '.join(known)}, all)")
    if (package := _package_of(folder)) is not None:
        # As a package name, the suite's place does not become pytest's root directory.
        return ["--pyargs", package + ("" if name == "all" else f".{name}")]
    return [str(folder if name == "all" else folder / name)]


def _package_of(suites: Path) -> str | None:
    """The name by which pytest can import the folder of suites; None inside the checkout that holds it.

    A checkout that is installed for development has its top folder on the path of imports.
    """
    if suites.parent.name == "pytest_retrieval":
        return "pytest_retrieval.suites"
    if Path.cwd().is_relative_to(suites.parent):
        return None
    found = find_spec(suites.name)
    is_ours = found is not None and found.origin == str(suites / "__init__.py")
    return suites.name if is_ours else None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="pytest-retrieval", description=__doc__, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"pytest-retrieval {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    running = commands.add_parser(
        "run", help="run shipped suites: run code2test --arms=grep,bm25", allow_abbrev=False
    )
    running.add_argument("suite", nargs="+", help="a suite's name, or all; further options are pytest's")
    running.set_defaults(command=run)

    looking = commands.add_parser("snapshot", help="what a snapshot holds, and what a view of it hides")
    looking.add_argument("snapshot", metavar="[OWNER/NAME@COMMIT=]SOURCE", help="as for --snapshot")
    looking.add_argument(
        "--diff", nargs=2, metavar=("VIEW", "VIEW"), help="compare two views: --diff arb full"
    )
    looking.add_argument(
        "--gold", action="append", default=[], metavar="PATH", help="with --diff: say what becomes of it"
    )
    looking.set_defaults(command=snapshot)

    merging = commands.add_parser(
        "summarize", help="merge reports into one: summarize a.json b.json -o all.json"
    )
    merging.add_argument("report", nargs="+", metavar="REPORT", help="ours, or corvint-retrieval-bench/0")
    merging.add_argument("-o", "--output", metavar="FILE", help="write the merged report to FILE")
    merging.add_argument(
        "--union", action="store_true", help="reports over different samples files, with different ids"
    )
    merging.add_argument(
        "--format",
        choices=("pytest-retrieval", "corvint"),
        default="pytest-retrieval",
        help="the profile of FILE; corvint is that of the original bench",
    )
    merging.add_argument(
        "--gate",
        action="append",
        default=[],
        metavar="GATE",
        help="judge the merged report: 'grep: errors == 0'",
    )
    merging.set_defaults(command=summarize)

    exporting = commands.add_parser("export", help="answers in another benchmark's prediction format")
    exporting.add_argument("report", metavar="REPORT")
    exporting.add_argument("--as", dest="format", choices=("contextbench",), required=True)
    exporting.add_argument(
        "--arm", metavar="LABEL", help="whose answers; may be left out if there is one arm"
    )
    exporting.add_argument("-o", "--output", metavar="FILE", help="default: standard output")
    exporting.set_defaults(command=export)
    store_cli.add_parser(commands)
    engine_cli.add_parser(commands)
    corpora_cli.add_parser(commands)
    scoreboard_cli.add_parser(commands)

    capturing = commands.add_parser("capture", help="look at a file of --retrieval-context-packets")
    actions = capturing.add_subparsers(required=True, metavar="ACTION")
    verifying = actions.add_parser("verify", help="check that a capture is sound and complete")
    verifying.add_argument("file", metavar="FILE", help="exit 0: sound, with the output of every call")
    verifying.set_defaults(command=verify_capture)
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
