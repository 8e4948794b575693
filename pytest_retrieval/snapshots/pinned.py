"""Code-search corpora against what is there: the pin, every path, every span, before anything is scored."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pytest_retrieval.datasets.corpora import CodeCorpus, is_inside
from pytest_retrieval.errors import SnapshotError
from pytest_retrieval.model import Gold
from pytest_retrieval.snapshots.base import Snapshot, Tree, TreeFile
from pytest_retrieval.snapshots.checkout import changes, head_commit, is_checkout
from pytest_retrieval.snapshots.distribution import distribution_version
from pytest_retrieval.snapshots.kept import UNKEPT, Keeper
from pytest_retrieval.snapshots.paths import is_walked
from pytest_retrieval.snapshots.sources import read_source

Reader = Callable[[str], bytes | None]  # of a file of the corpus; None where there is none


@dataclass(frozen=True, slots=True)
class Checked:
    """What became of a corpus: the whole ``commit`` it is at, and what makes it unfit, each a line.

    ``skipped`` is why it is left out without a fault: another version is installed than it was written for.
    """

    commit: str
    faults: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    skipped: str | None = None


def narrowed(tree: Tree, subdirs: tuple[str, ...], *, texts_only: bool) -> Tree:
    """The part of ``tree`` under test, so that every arm is shown the same files."""
    if not subdirs and not texts_only:
        return tree
    files = tuple(file for file in tree.files if _is_kept(file, subdirs, texts_only=texts_only))
    return Tree(files, tree.contents, tree.view, tree.cut, tree.dropped, tree.version)


def read_corpus(corpus: CodeCorpus, commit: str, keeper: Keeper = UNKEPT) -> Tree:
    """The tree of ``corpus`` under test, of a distribution its texts alone.

    Raises:
        SnapshotError: it cannot be read.
    """
    tree = read_source(corpus.source, commit, keeper=keeper)
    return narrowed(tree, corpus.subdirs, texts_only=corpus.distribution is not None)


def check_corpus(corpus: CodeCorpus, keeper: Keeper = UNKEPT) -> Checked:
    """Hold the pin and the query set of ``corpus`` against what is on this machine."""
    try:
        if corpus.distribution is not None:
            return _check_distribution(corpus, corpus.distribution, keeper)
        return _check_checkout(corpus)
    except SnapshotError as error:
        return Checked(corpus.commit, (f"corpus {corpus.name!r}: {error}",))


def _is_kept(file: TreeFile, subdirs: tuple[str, ...], *, texts_only: bool) -> bool:
    walked = not texts_only or (file.text and is_walked(file.path))
    return walked and is_inside(file.path, subdirs)


def _check_distribution(corpus: CodeCorpus, name: str, keeper: Keeper) -> Checked:
    try:
        version = distribution_version(name)
    except SnapshotError:
        version = "none"
    if version != corpus.rev:
        skipped = f"corpus {corpus.name} is written for {name} {corpus.rev}, and {version} is installed"
        return Checked(corpus.commit, skipped=skipped)
    tree = read_corpus(corpus, corpus.commit, keeper)
    snapshot = Snapshot(corpus.repository, corpus.commit, corpus.path, tree)
    if not snapshot.tree_digest.startswith(corpus.commit):
        found = snapshot.tree_digest[: len(corpus.commit)]
        skipped = (
            f"corpus {corpus.name} is written for other files of {name} {version}: their digest is {found}"
        )
        return Checked(corpus.commit, skipped=skipped)

    def read(path: str) -> bytes | None:
        return snapshot.read(path) if path in snapshot else None

    return _judged(corpus, corpus.commit, read)


def _check_checkout(corpus: CodeCorpus) -> Checked:
    root = Path(corpus.path)
    if not root.is_dir():
        why = f"{root}: no such folder; pytest-retrieval corpora setup clones it"
        return Checked(corpus.commit, (f"corpus {corpus.name!r}: {why}",))
    if not is_checkout(root):
        return Checked(corpus.commit, (f"corpus {corpus.name!r}: {root}: not a Git checkout",))
    head = head_commit(root)
    faults = []
    if not head.startswith(corpus.commit):
        remedy = "pytest-retrieval corpora setup checks it out"
        faults.append(f"corpus {corpus.name!r}: {root} is at {head}, pinned is {corpus.commit}; {remedy}")
    elif changed := changes(root, untracked="no"):
        more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        faults.append(f"corpus {corpus.name!r}: {root}: modified: {changed[0]}{more}; commit or stash")
    if faults:
        return Checked(head, tuple(faults))

    def read(path: str) -> bytes | None:
        place = root / path
        return place.read_bytes() if place.is_file() and not place.is_symlink() else None

    return _judged(corpus, head, read)


def _judged(corpus: CodeCorpus, commit: str, read: Reader) -> Checked:
    faults, warnings = [], []
    known: dict[str, bytes | None] = {}
    for number, query in enumerate(corpus.query_set):
        for place, gold in enumerate(query.golds):
            where = (
                f"corpus {corpus.name!r}: queries[{number}] {query.text!r:.60}: relevant[{place}] {gold.path}"
            )
            if gold.path not in known:
                known[gold.path] = read(gold.path)
            data = known[gold.path]
            faults += [f"{where}: {fault}" for fault in _faults(corpus, gold, data)]
            if data is not None and gold.symbol and not _names(data, gold):
                warnings.append(f"{where}: its lines do not hold {gold.symbol!r}")
    return Checked(commit, tuple(faults), tuple(warnings))


def _faults(corpus: CodeCorpus, gold: Gold, data: bytes | None) -> Iterator[str]:
    if not is_inside(gold.path, corpus.subdirs):
        yield f"lies outside of the subdirs {', '.join(corpus.subdirs)}, where nobody could find it"
    elif data is None:
        yield f"no such file at {corpus.pin}"
    elif gold.end is not None and gold.end > (count := line_count(data)):
        yield f"lines {gold.start} to {gold.end}: the file has {count}"


def line_count(data: bytes) -> int:
    """The line feeds of ``data``, and one more for a last line without one."""
    return data.count(b"\n") + (data[-1:] not in (b"", b"\n"))


def _names(data: bytes, gold: Gold) -> bool:
    """Whether the lines of ``gold`` hold its symbol, or the last part of a dotted one."""
    lines = data.split(b"\n")[(gold.start or 1) - 1 : gold.end]
    return (gold.symbol or "").rpartition(".")[2].encode() in b"\n".join(lines)
