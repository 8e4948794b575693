"""The file that lists code-search corpora: where each is, what pins it, and which queries grade it."""

from __future__ import annotations

import hashlib
import json
import os
import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from pytest_retrieval.datasets.queryset import derived_id
from pytest_retrieval.datasets.searchset import Findings, SearchQuery, parse_queries, read_json
from pytest_retrieval.datasets.semble import corpus_rows, parse_tasks
from pytest_retrieval.errors import SampleError
from pytest_retrieval.model import CODESEARCH, Sample, SampleFile, Searched, distinct
from pytest_retrieval.regular import read_regular
from pytest_retrieval.snapshots.paths import is_safe

Parser = Callable[[bytes, Findings], tuple[SearchQuery, ...]]

CORPORA_ENV = "BENCH_CORPORA"
DIST = "dist:"
MAX_BYTES = 64 << 20
_KEYS = ("name", "repo", "rev", "commit", "lang", "path", "queries", "subdirs")
_COMMIT = re.compile(r"[0-9a-f]{7,40}")
_ALL = 10**6  # a query set that cannot be trusted names every reason


@dataclass(frozen=True, slots=True)
class CodeCorpus:
    """One corpus. ``path`` is its checkout, or ``dist:NAME`` for an installed distribution.

    A checkout is pinned by ``commit``; a distribution by its version, ``rev``, and by ``commit``, the
    beginning of the digest of its tree. ``subdirs`` are the folders under test, none meaning all of it.
    """

    name: str
    repo: str
    rev: str
    commit: str
    lang: str
    path: str
    queries: Path
    subdirs: tuple[str, ...] = ()
    query_set: tuple[SearchQuery, ...] = ()
    queries_sha256: str = ""

    @property
    def distribution(self) -> str | None:
        """The installed distribution that this corpus is, if it is one."""
        return self.path.removeprefix(DIST) if self.path.startswith(DIST) else None

    @property
    def source(self) -> str:
        """Where the tree is read from, as for ``--snapshot``."""
        return self.path if self.distribution is not None else f"git:{self.path}"

    @property
    def pin(self) -> str:
        """The pin as messages name it: what it is called, and the commit where that says more."""
        known = self.commit[:12]
        return known if self.rev.startswith(known) else f"{self.rev} ({known})"

    @property
    def repository(self) -> str:
        """The repository part of the names of its samples and snapshot."""
        return f"corpus/{re.sub(r'[^A-Za-z0-9_.-]', '-', self.name)}"

    @property
    def tree(self) -> str:
        """The folders under test as rows name them: ``.`` for all of it."""
        return ",".join(self.subdirs) or "."

    @property
    def digest(self) -> str:
        """SHA-256 of what is judged, wherever it lies: name, language, pin, folders and queries."""
        bound = [self.name, self.lang, self.rev, self.commit, list(self.subdirs), self.queries_sha256]
        return hashlib.sha256(json.dumps(bound).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class CorporaFile:
    """The corpora that a file lists, in its order, and what is odd about them."""

    path: Path
    corpora: tuple[CodeCorpus, ...]
    warnings: tuple[str, ...] = ()


def load_corpora(path: Path, root: str | Path | None = None) -> CorporaFile:
    """The corpora that the file ``path`` lists, with their query sets, moved below ``root`` if that is given.

    The ``repos.json`` of semble's benchmark is such a file, too.

    Raises:
        SampleError: the file or a query set that it names cannot be read; with every fault.
    """
    findings = Findings()
    document = _document(path, findings)
    rows, parse = _rows(document, path.parent, findings)
    found = [_corpus(f"corpora[{n}]", row, path.parent, parse, findings) for n, row in enumerate(rows)]
    corpora = [corpus for corpus in found if corpus is not None]
    names = [corpus.name for corpus in corpora]
    for name in sorted({name for name in names if names.count(name) > 1}):
        findings.fault(f"corpus {name!r}", "is listed twice; give one another name")
    if not corpora and not findings.faults:
        findings.fault("the file", "lists no corpus")
    if findings.faults:
        raise SampleError(str(path), findings.faults, _ALL)
    moved = corpora if root is None else [rebased(corpus, root) for corpus in corpora]
    return CorporaFile(path, tuple(moved), tuple(f"{path.name}: {line}" for line in findings.warnings))


def corpora_root(option: str | None, environment: Mapping[str, str] = os.environ) -> str | None:
    """The folder that corpora are looked up in: the option's, else the environment's; empty is none."""
    return option or environment.get(CORPORA_ENV) or None


def rebased(corpus: CodeCorpus, root: str | Path) -> CodeCorpus:
    """The corpus with its checkout below ``root``, in a folder of the same name; nothing else changes."""
    if corpus.distribution is not None:
        return corpus
    return replace(corpus, path=str(Path(root).expanduser() / PurePosixPath(corpus.path).name))


def samples_of(corpus: CodeCorpus, shown: str, commit: str) -> SampleFile:
    """The queries of ``corpus`` as samples of its tree at ``commit``; ``shown`` is the path in reports."""
    ordinals: dict[str, int] = {}
    samples = []
    for row, query in enumerate(corpus.query_set):
        name = derived_id(query.text, [repr(gold) for gold in query.golds])
        ordinal = ordinals[name] = ordinals.get(name, -1) + 1
        samples.append(
            Sample(
                id=name,
                task=CODESEARCH,
                repo=corpus.repository,
                commit=commit,
                query_text=query.text,
                query={"text": query.text},
                gold=distinct(gold.path for gold in query.golds),
                ordinal=ordinal,
                row=row,
                line=row + 1,
                source=corpus.digest,
                title=query.text,
                searched=Searched(
                    corpus=corpus.name,
                    language=corpus.lang,
                    difficulty=query.difficulty,
                    subsystem=query.subsystem,
                    golds=query.golds,
                    tree=corpus.tree,
                ),
            )
        )
    return SampleFile(shown, corpus.digest, tuple(samples))


def is_inside(path: str, subdirs: Sequence[str]) -> bool:
    """Whether ``path`` lies in one of ``subdirs``; in any case where there are none."""
    return not subdirs or any(folder == "." or path.startswith(f"{folder}/") for folder in subdirs)


def _rows(document: Any, folder: Path, findings: Findings) -> tuple[list[Any], Parser]:
    """The rows of corpora, ours or those of a list of semble's, and the reader of their query sets."""
    if isinstance(document, list):
        return list(corpus_rows(document, folder, findings)), parse_tasks
    listed = document.get("corpora") if isinstance(document, dict) else None
    if not findings.faults and not isinstance(listed, list):
        findings.fault("corpora", "must be a list of corpora")
    if isinstance(document, dict):
        findings.unknown_keys("the file", document, ("corpora",))
    return listed if isinstance(listed, list) else [], parse_queries


def _document(path: Path, findings: Findings) -> Any:
    try:
        return read_json(_bytes(path))
    except OSError as error:
        findings.fault("the file", f"cannot be read: {error.strerror}")
    except ValueError as error:
        findings.fault("the file", str(error))
    return None


def _bytes(path: Path) -> bytes:
    if path.stat().st_size > MAX_BYTES:
        raise ValueError(f"over {MAX_BYTES >> 20} MiB, that is no list of corpora or queries")
    return read_regular(path)


def _corpus(where: str, row: object, base: Path, parse: Parser, findings: Findings) -> CodeCorpus | None:
    if not isinstance(row, dict):
        findings.fault(where, "must be an object")
        return None
    where = f"corpus {row['name']!r:.60}" if isinstance(row.get("name"), str) else where
    findings.unknown_keys(where, row, _KEYS)
    before = len(findings.faults)
    texts = {name: _text(where, row, name, findings) for name in _KEYS[:-1]}
    if not _COMMIT.fullmatch(texts["commit"]):
        fault = "must be 7 to 40 lower-case hex digits; a tag is no pin, for tags move"
        findings.fault(where, f"commit: {fault}")
    subdirs = _subdirs(where, row.get("subdirs"), findings)
    if len(findings.faults) > before:
        return None
    path, queries = texts["path"], base / texts["queries"]
    corpus = CodeCorpus(
        name=texts["name"],
        repo=texts["repo"],
        rev=texts["rev"],
        commit=texts["commit"],
        lang=texts["lang"],
        path=path if path.startswith(DIST) else str(base / Path(path).expanduser()),
        queries=queries,
        subdirs=subdirs,
    )
    return _with_queries(corpus, parse, findings)


def _with_queries(corpus: CodeCorpus, parse: Parser, findings: Findings) -> CodeCorpus | None:
    own = Findings()
    try:
        data = _bytes(corpus.queries)
    except (OSError, ValueError) as error:
        own.fault("the file", getattr(error, "strerror", None) or str(error))
        data = b"[]"
    queries = parse(data, own) if not own.faults else ()
    where = f"corpus {corpus.name!r}: {corpus.queries.name}"
    findings.faults += [f"{where}: {fault}" for fault in own.faults]
    findings.warnings += [f"{where}: {warning}" for warning in own.warnings]
    return replace(corpus, query_set=queries, queries_sha256=hashlib.sha256(data).hexdigest())


def _text(where: str, row: Mapping[str, Any], name: str, findings: Findings) -> str:
    value = row.get(name, "")
    needed = name in ("name", "rev", "commit", "path", "queries")
    if not isinstance(value, str) or "\0" in value or (needed and not value.strip()):
        findings.fault(where, f"{name}: must be a text{' that is not blank' if needed else ''}")
        return ""
    return value


def _subdirs(where: str, value: object, findings: Findings) -> tuple[str, ...]:
    """The folders under test; as Go writes it, null is none."""
    listed = [] if value is None else value
    if not isinstance(listed, list) or not all(isinstance(item, str) and item for item in listed):
        findings.fault(where, "subdirs: must be a list of folders")
        return ()
    folders = tuple(posixpath.normpath(item.replace("\\", "/")) for item in listed)
    for folder in folders:
        if folder != "." and not is_safe(folder):
            findings.fault(where, f"subdirs: {folder!r:.80} leads out of the corpus")
    return () if "." in folders else folders
