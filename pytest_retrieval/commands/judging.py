"""The options of console commands that judge a report, and what they come to."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_retrieval.gates.verdict import Verdict


def add_gate_options(parser: argparse.ArgumentParser) -> None:
    """Add ``--gate``, and what a report may be compared with."""
    parser.add_argument(
        "--gate",
        action="append",
        default=[],
        metavar="GATE",
        help="what must hold: 'grep: errors == 0'; may be given several times",
    )
    parser.add_argument(
        "--retrieval-gates", "--gates", dest="gates", metavar="FILE", help="a TOML file of further gates"
    )
    parser.add_argument(
        "--retrieval-undecided",
        "--undecided",
        dest="undecided",
        metavar="warn|fail",
        help="what becomes of a gate that the samples do not decide; default: warn",
    )
    parser.add_argument("--baseline", metavar="REPORT|NAME", help="the report that gates compare with")
    parser.add_argument(
        "--retrieval-baseline-missing",
        "--baseline-missing",
        dest="missing",
        metavar="fail|pass",
        help="what becomes of a baseline that is not there; default: fail",
    )
    parser.add_argument(
        "--retrieval-baseline-overlap",
        "--baseline-overlap",
        dest="overlap",
        metavar="SHARE",
        help="compare the samples that both have, if they are this share",
    )


def verdicts_of(
    options: argparse.Namespace,
    head: Mapping[str, Any],
    details: Callable[[], Iterator[Mapping[str, Any]]],
    own: Path | None = None,
    own_digest: str | None = None,
) -> list[Verdict]:
    """The verdicts of the gates that were asked for; raises UsageError, one line.

    ``own`` is where the judged report lies, ``own_digest`` its SHA-256: it is no baseline of itself.
    """
    from pytest_retrieval.gates.baseline import check_comparable
    from pytest_retrieval.gates.loading import Comparing, policy, read_overlap
    from pytest_retrieval.gates.rules import read_rules, typed_rules
    from pytest_retrieval.gates.verdict import judge

    rules = [*typed_rules(options.gate), *(read_rules(Path(options.gates)) if options.gates else [])]
    overlap = getattr(options, "overlap", None)
    comparing = Comparing(
        text=getattr(options, "baseline", None),
        overlap=None if overlap is None else read_overlap(overlap),
        missing_passes=policy("baseline-missing", getattr(options, "missing", None)) == "pass",
        undecided="fail" if policy("undecided", options.undecided) == "fail" else "warn",
        refuses=True,
    )
    baseline = comparing.load(rules, own, own_digest)
    if baseline is not None:
        check_comparable(baseline, head)
    return judge(head, rules, details=details, baseline=baseline, comparing=comparing)
