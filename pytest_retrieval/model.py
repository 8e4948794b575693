"""The nouns: frozen values that every floor of the house shares.

Nothing here reads a file or starts a program. The module is imported only once a bench item is
collected: creating slotted dataclasses takes milliseconds that an ordinary pytest run must not pay.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_retrieval.costs import Cost

NO_CACHE = "NOT_APPLICABLE"  # the cache state of an arm that has nothing to be cached
UNRECORDED = "UNRECORDED"  # one that was not looked at
NOT_OBSERVED = "NOT_OBSERVED"  # what nobody measured, never 0
NOT_APPLICABLE = "NOT_APPLICABLE"  # what has no meaning where it stands
CONTEXTBENCH, SWEBENCH, LOCBENCH = "contextbench", "swebench", "locbench"  # tasks with measures of their own
CODESEARCH = "codesearch"  # the task whose samples have ``searched``


@dataclass(frozen=True, slots=True)
class Span:
    """Lines ``start`` to ``end`` of a file, both counted from 1 and both included."""

    path: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Hit:
    """One row of an answer: a path, and what the arm says of it.

    ``score`` is informative; the order of the answer is the ranking. ``start`` and ``end`` are lines
    from 1, both included, and are only read of arms that declare ``spans``. ``text`` is what the arm would
    show for it, read only of arms that declare ``tokens``. A query for several spans per file may be answered
    with several hits of one path.
    """

    path: str
    score: float | None = None
    start: int | None = None
    end: int | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What an arm says to one query.

    ``hits`` is the ranking, best first. ``refusal`` is a declared "I do not serve this sample": it is
    counted under ``errors`` with its reason and scores zero, but fails nothing. ``state`` is free text
    of the arm, kept in the report. ``top_score`` is the arm's own confidence in its answer. ``cache_state``
    labels what the arm found cached just before it was asked; None where that does not apply.
    """

    hits: tuple[Hit, ...] = ()
    top_score: float | None = None
    state: str | None = None
    refusal: str | None = None
    abstained: bool = False
    packet_bytes: int | None = None
    cache_state: str | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """All that an arm may see of a sample: never gold, hard negatives or metadata.

    ``spans`` says that lines are judged, up to ``per_file`` spans of each file; else an arm may leave them
    out.
    """

    text: str
    object: Mapping[str, Any]
    changed_file: str | None = None
    given: tuple[str, ...] = ()
    limit: int = 20
    per_file: int = 1
    spans: bool = False


@dataclass(frozen=True, slots=True)
class Gold:
    """One expected answer of a code search: a file, or lines of it (from 1, both included)."""

    path: str
    start: int | None = None
    end: int | None = None
    symbol: str | None = None


@dataclass(frozen=True, slots=True)
class Searched:
    """What a query of a code-search corpus has beside what every sample has.

    ``golds`` are distinct. ``tree`` are the folders under test, ``.`` for the whole corpus.
    """

    corpus: str
    language: str
    difficulty: str
    subsystem: str
    golds: tuple[Gold, ...]
    tree: str = "."


@dataclass(frozen=True, slots=True)
class Slot:
    """A ranked file and the spans of it that the arm chose to show, in its order.

    ``tokens`` estimates what showing them costs, None where that is not known.
    """

    path: str
    spans: tuple[tuple[int, int], ...] = ()
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Sample:
    """One judged query of a benchmark.

    ``ordinal`` counts equal ids within one samples file from 0, ``row`` is the sample's place in that
    file and the order of the report, ``source`` is the SHA-256 of the file. ``gold``, ``given`` and
    ``negatives`` are distinct paths in the order of the file. ``gold_spans`` and ``gold_symbols``
    (``path:Class.function``) say more closely where in the gold the answer is, where that is known. ``skip``
    is why the sample is not judged, or None. ``searched`` is what only queries of code-search corpora have.
    """

    id: str
    task: str
    repo: str
    commit: str
    query_text: str
    query: Mapping[str, Any]
    gold: tuple[str, ...]
    given: tuple[str, ...] = ()
    negatives: tuple[str, ...] = ()
    changed_file: str | None = None
    stratum: str = "positive"
    fold: str = "unassigned"
    ordinal: int = 0
    row: int = 0
    line: int = 1
    source: str = ""
    title: str = ""
    cluster: str | None = None
    skip: str | None = None
    gold_spans: tuple[Span, ...] = ()
    gold_symbols: tuple[str, ...] = ()
    searched: Searched | None = None

    @property
    def snapshot(self) -> str:
        """The name ``repo@commit`` of the tree this sample is asked of."""
        return f"{self.repo}@{self.commit}"

    @property
    def gold_kind(self) -> str:
        """What the benchmark takes for gold, which decides on further measures.

        ``"spans"``: lines of the gold files. ``"patch"``: the files of one change, all of which are needed.
        ``"files"``: any file that answers.
        """
        if self.task == CONTEXTBENCH and self.gold_spans:
            return "spans"
        return "patch" if self.task in (SWEBENCH, LOCBENCH) else "files"


@dataclass(frozen=True, slots=True)
class SampleFile:
    """A samples file as loaded: its samples in file order, and what was noticed on the way."""

    path: str
    sha256: str
    samples: tuple[Sample, ...]
    warnings: tuple[str, ...] = ()

    @property
    def kept(self) -> tuple[Sample, ...]:
        """The samples that are judged: all but the skipped ones."""
        return tuple(s for s in self.samples if s.skip is None)


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What an arm declares of itself; nothing is inferred for it.

    ``per_file`` are the numbers of spans per file that can be asked for, none meaning 1 alone. ``tokens``
    says that hits carry the text they would show, ``tokens_from_corpus`` that it is read out of the corpus.
    ``timeout`` is how many seconds a query may take, more being a fault.
    ``max_parallel`` bounds how many processes of this machine ask the arm at once. ``worktree`` says
    that the arm reads files from ``snapshot.worktree()``, so that only such arms pay for one.
    """

    spans: bool = False
    per_file: tuple[int, ...] = ()
    tokens: bool = False
    tokens_from_corpus: bool = False
    deterministic: bool = True
    worktree: bool = False
    timeout: float | None = None
    max_parallel: int | None = None

    def supports(self, count: int) -> bool:
        """Whether ``count`` spans per file can be asked for."""
        return count in (self.per_file or (1,))


@dataclass(frozen=True, slots=True)
class ArmRow:
    """One arm's answer to one sample after the border: distinct, given files gone, cut at k.

    ``fault`` is why the arm could not be measured, ``refusal`` why it declined; both are shown as the
    row's ``error``. ``unknown`` counts ranked paths that the snapshot does not hold, ``duplicates`` the
    repeats that were dropped. ``slots`` are the ranked files with their spans by how many spans were asked
    for, ``nearest`` what the arm says it holds nearest to a missed answer: both only of queries whose lines
    are judged. ``file_only`` says that the arm knows no lines and is judged by files, ``priced`` that the
    tokens of its slots are known. ``cost`` is what the arm tells of its costs, where lines are judged.
    ``place`` is where in its own code the arm raised what is its fault, for whoever looks at the run and no
    report. ``rest`` is the ranking beyond the limit, as far as the arm told it.
    """

    ranked: tuple[str, ...] = ()
    abstained: bool = False
    state: str | None = None
    top_score: float | None = None
    fault: str | None = None
    refusal: str | None = None
    duplicates: int = 0
    unknown: int = 0
    packet_bytes: int | None = None
    wall_ms: float | None = None
    build_ms: float | None = None
    cache_state: str = NO_CACHE
    hits: tuple[Hit, ...] = field(default=(), repr=False)
    slots: Mapping[int, tuple[Slot, ...]] | None = None
    file_only: bool = False
    priced: bool = False
    nearest: str | None = None
    cost: Cost | None = None
    place: str | None = None
    rest: tuple[str, ...] = field(default=(), repr=False)

    @property
    def error(self) -> str | None:
        """The reason this row answers nothing, or None."""
        return self.fault if self.fault is not None else self.refusal


def distinct(paths: Iterable[str]) -> tuple[str, ...]:
    """The paths without repeats, first occurrences in order."""
    return tuple(dict.fromkeys(paths))


def path_key(path: str) -> bytes:
    """The sort key of a path: its bytes, as the specifications order paths."""
    return path.encode("utf-8", "surrogateescape")
