"""What one must know of a run before believing its table: what was judged, skipped, out of reach or lost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pytest_retrieval.report import footnotes
from pytest_retrieval.report.pieces import Piece

_SHOWN = 3  # lost samples and error reasons that are named


def notes(report: Mapping[str, Any]) -> Iterator[Piece]:
    """The notes on ``report``, whose details are not read: a piece each, however long."""
    for note in (_samples, _skipped, _gold, _errors):
        yield from note(report)
    yield from footnotes.lost(report["selection"], _SHOWN)


def _samples(report: Mapping[str, Any]) -> Iterator[Piece]:
    selection = report["selection"]
    # Arms of a merged report need not have been asked the same, and without a snapshot there is no ceiling.
    counts = [arm["groups"]["all"]["positives"] for arm in report["arms"].values()]
    with_gold = max(report["ceiling"]["all"]["n"], *counts, 0)
    of = "" if selection["chosen"] == selection["of"] else f" of {selection['of']}"
    yield Piece(f"samples: {selection['chosen']}{of} chosen, {with_gold} with gold")


def _skipped(report: Mapping[str, Any]) -> Iterator[Piece]:
    skipped = {reason: count for reason, count in report["skipped"].items() if count}  # the original's has 0
    if skipped:
        yield Piece(f"skipped: {sum(skipped.values())} ({footnotes.counted(skipped, _SHOWN)})")


def _gold(report: Mapping[str, Any]) -> Iterator[Piece]:
    absent, cut = (
        sum(facts[name] for facts in report["snapshots"].values()) for name in ("gold_absent", "gold_cut")
    )
    parts = [f"{absent} absent from the snapshot (see the ceiling)"] if absent else []
    parts += [f"{cut} cut by the view"] if cut else []
    if parts:
        yield Piece(f"gold files: {', '.join(parts)}")


def _errors(report: Mapping[str, Any]) -> Iterator[Piece]:
    same: dict[str, list[str]] = {}  # a snapshot that cannot be read is every arm's error
    for label, arm in report["arms"].items():
        group = arm["groups"]["all"]
        if group["errors"]:
            refused = f", {group['refused']} of them refusals" if group["refused"] else ""
            said = f"{group['errors']}{refused} ({footnotes.counted(group['error_reasons'], _SHOWN)})"
            same.setdefault(said, []).append(label)
    for said, labels in same.items():
        yield Piece(f"errors: {', '.join(labels)}: {said}", "bad")
