"""TREC run and qrels files, as trec_eval, ir_measures and ranx read them.

Their fields are separated by blanks, so ids, paths and labels are percent-encoded: everything but ASCII
letters, digits and a few signs, which :func:`decoded` takes back. Readers sort by score and break ties by
their own rules, so scores are whole numbers that fall by one, whatever the arm said.

Qrels are binary. Gold that a snapshot does not have, or that was given, stays in them: no run can find it,
and it counts in every denominator here as there. Samples without gold are in no file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, unquote

from pytest_retrieval.errors import ReportError

QRELS = "qrels.txt"
QUERIES = "queries.tsv"  # which sample a query is
HEADING = ("query", "id", "ordinal", "source", "task_type", "repo", "base_commit")
_KEPT = "/:+,=_.-"  # what is written as it is, beside letters and digits
_SOURCE_DIGITS = 12


@dataclass(slots=True)
class Exported:
    """The files by name, in lines, and what a reader must know of them."""

    files: dict[str, list[str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def encoded(text: str) -> str:
    """``text`` without blanks, and without anything that a reader could take for one."""
    return quote(text, safe=_KEPT, errors="surrogatepass")


def decoded(text: str) -> str:
    """What :func:`encoded` was given."""
    return unquote(text, errors="surrogatepass")


def export(details: Iterable[Mapping[str, Any]], labels: Iterable[str], limit: int) -> Exported:
    """A run file per arm, qrels, and a table of queries, over the samples with gold.

    Rankings are cut at ``limit``; an answer with an error ranks nothing. An arm that was not asked about
    every sample has qrels of its own, over those that it was asked about. Raises ReportError where no sample
    has gold.
    """
    judged = [detail for detail in details if detail["gold"]]
    if not judged:
        raise ReportError("no sample of the report has gold, so there is nothing to judge in a TREC run")
    names = _query_names(judged)
    done = Exported()
    done.files[QUERIES] = ["\t".join(HEADING), *map(_row, names, judged)]
    done.files[QRELS] = list(_qrels(names, judged))
    for label in labels:
        asked = [
            (name, detail) for name, detail in zip(names, judged, strict=True) if label in detail["arms"]
        ]
        done.files[f"{_file_name(label)}.run"] = list(_run(asked, label, limit))
        if 0 < len(asked) < len(judged):
            own = f"qrels.{_file_name(label)}.txt"
            done.files[own] = list(_qrels(*zip(*asked, strict=True)))
            done.notes.append(
                f"{label} was asked about {len(asked)} of {len(judged)} queries: judge it by {own}"
            )
    done.notes += _unreachable(judged)
    return done


def _unreachable(judged: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    absent = sum(
        len(set(detail["gold_absent"]).union(set(detail["gold"]) & set(detail["given"]))) for detail in judged
    )
    if absent:
        yield f"gold files that no run can find (absent or given) stay in the qrels: {absent}"


def _query_names(details: Iterable[Mapping[str, Any]]) -> list[str]:
    """The encoded ids; what tells equal ones apart follows a sign that encoding never leaves."""
    details = list(details)
    sources: dict[str, set[str]] = {}
    for detail in details:
        sources.setdefault(detail["id"], set()).add(detail["source"])
    return [_query_name(detail, shared=len(sources[detail["id"]]) > 1) for detail in details]


def _query_name(detail: Mapping[str, Any], *, shared: bool) -> str:
    source = f"@{detail['source'][:_SOURCE_DIGITS]}" if shared else ""
    ordinal = f"#{detail['ordinal']}" if detail["ordinal"] else ""
    return f"{encoded(detail['id'])}{source}{ordinal}"


def _row(name: str, detail: Mapping[str, Any]) -> str:
    texts = (encoded(str(detail[key])) for key in HEADING[1:])
    return "\t".join([name, *texts])


def _qrels(names: Iterable[str], details: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for name, detail in zip(names, details, strict=True):
        yield from (f"{name} 0 {encoded(path)} 1" for path in dict.fromkeys(detail["gold"]))


def _run(asked: Iterable[tuple[str, Mapping[str, Any]]], label: str, limit: int) -> Iterator[str]:
    tag = encoded(label)
    for name, detail in asked:
        answer = detail["arms"][label]
        ranked = [] if "error" in answer else answer["ranked"][:limit]
        for rank, path in enumerate(ranked, 1):
            yield f"{name} Q0 {encoded(path)} {rank} {limit + 1 - rank} {tag}"


def _file_name(label: str) -> str:
    """A label as part of a file's name, also where a colon may not stand in one."""
    return quote(label, safe="+")
