"""Verdicts as lines of text, from their records alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pytest_retrieval.report.canonical import number_text

_LISTED = 20  # lost queries that a terminal names; the report has them all


def fails(gate: Mapping[str, Any]) -> bool:
    """Whether the verdict makes its run fail."""
    return bool(gate.get("fails", gate["status"] in ("failed", "undecidable")))


def verdict_line(record: Mapping[str, Any]) -> str:
    """One line: ``FAILED bm25:all: recall@10 >= 0.4: got 0.312 (n 83, unit sample, on 83 of 83)``."""
    label = f"{record['label']}: " if "label" in record else ""
    return f"{record['status'].upper()} {label}{record['gate']}: {_found(record)} ({_scope(record)})"


def further_lines(record: Mapping[str, Any]) -> Iterator[str]:
    """What belongs below the line: the exception, and the queries that were lost."""
    exception = record.get("exception")
    if exception is not None:
        until = f" (until {exception['until']})" if "until" in exception else ""
        if exception.get("expired"):
            yield f"the exception has run out: {exception['reason']}{until}"
        else:
            yield f"excepted, the run may pass: {exception['reason']}{until}"
    worst = record.get("worst")
    if worst is not None:
        told = f"{number_text(worst['baseline'])} -> {number_text(worst['got'])} (n {worst['n']})"
        alone = f"; {worst['gate']} judges it alone" if "gate" in worst else ""
        yield f"most was lost in {worst['repo']}: {told}{alone}"
    lost = record.get("lost", [])
    for item in lost[:_LISTED]:
        yield f"lost: {item['repo']} {item['id']}: {_ranks(item)}"
    if len(lost) > _LISTED:
        yield f"lost: {len(lost) - _LISTED} more, in the report"


def _ranks(item: Mapping[str, Any]) -> str:
    before = f"rank {item['before']}" if "before" in item else "found"
    now = "an error" if item.get("error") else f"rank {item['now']}" if "now" in item else "not found"
    return f"{before} before, now {now}"


def _found(record: Mapping[str, Any]) -> str:
    got, reason, baseline = record.get("got"), record.get("reason"), record.get("baseline", {})
    if got is None or (reason and record["status"] == "undecidable"):
        return reason or "nothing was measured"
    if "difference" in record:
        text = f"{number_text(baseline['got'])} -> {number_text(got)}, {_difference(record['difference'])}"
    else:
        text = f"got {number_text(got)}"
        if "got" in baseline:
            text += f", baseline {number_text(baseline['got'])}"
    return f"{text}: {reason}" if reason else text


def _difference(found: Mapping[str, Any]) -> str:
    counts = f"{found['wins']} higher, {found['losses']} lower"  # of some measures less is better
    ends = f" [{_signed(found['low'])}, {_signed(found['high'])}]" if "low" in found else ""
    return f"difference {_signed(found['mean'])}{ends}, {counts}"


def _signed(number: float) -> str:
    return f"{'+' if number > 0 else ''}{number_text(number)}"


def _scope(record: Mapping[str, Any]) -> str:
    """How many samples it speaks of, the unit of its statistics, and what it was compared with."""
    parts = [f"n {record['n']}"]
    if "unit" in record:
        parts.append(_unit(record))
    parts.append(f"on {record['chosen']} of {record['of']}")
    baseline = record.get("baseline")
    if baseline is not None:
        common = baseline["common"]
        parts.append(f"baseline {baseline['path']} {baseline['sha256'][:8]}")
        if common < baseline["samples"]:
            parts.append(f"{common} of its {baseline['samples']} samples")
        elif common < record["chosen"]:
            parts.append(f"{common} samples in common")
    return ", ".join(parts)


def _plural(unit: str) -> str:
    return "repositories" if unit == "repository" else f"{unit}s"


def _unit(record: Mapping[str, Any]) -> str:
    unit, units, repositories = record["unit"], record.get("units"), record.get("repositories")
    text = f"unit {unit}" if units is None or unit == "sample" else f"unit {unit}, {units} {_plural(unit)}"
    if units is None or unit == "repository" or repositories is None:
        return text
    alone = "this repository" if repositories == 1 else f"these {repositories} repositories"
    return f"{text}, speaks of {alone} alone"
