"""Each sample becomes one parametrised item, with an id to read, keywords to choose by and one mark."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import chain
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import pytest

from pytest_retrieval.errors import RetrievalError
from pytest_retrieval.plugin.markers import check_marker
from pytest_retrieval.plugin.pool import Case

if TYPE_CHECKING:
    from pytest_retrieval.model import Sample
    from pytest_retrieval.plugin.plan import Plan
    from pytest_retrieval.plugin.session import BenchSession

FIXTURE = "retrieval_case"
DIGITS = 12
_SLUG_LENGTH = 40
_CASE = pytest.StashKey[Case]()

# Languages by file extension, as code hosts name them; what is not here has no `lang:` keyword.
LANGUAGES = {
    "c": "c", "h": "c", "cc": "cpp", "cpp": "cpp", "cxx": "cpp", "hpp": "cpp", "cs": "csharp", "css": "css",
    "dart": "dart", "ex": "elixir", "exs": "elixir", "go": "go", "hs": "haskell", "html": "html",
    "java": "java", "js": "javascript", "jsx": "javascript", "mjs": "javascript", "cjs": "javascript",
    "kt": "kotlin", "kts": "kotlin", "lua": "lua", "m": "objective-c", "md": "markdown", "php": "php",
    "pl": "perl", "py": "python", "pyi": "python", "pyx": "python", "r": "r", "rb": "ruby", "rs": "rust",
    "scala": "scala", "sh": "shell", "sql": "sql", "swift": "swift", "ts": "typescript",
    "tsx": "typescript", "vue": "vue", "zig": "zig",
}  # fmt: skip


def parametrize(metafunc: pytest.Metafunc, bench: BenchSession) -> None:
    """Make items of the samples that the function's ``retrieval`` marker names, if it has one."""
    marker = metafunc.definition.get_closest_marker("retrieval")
    if marker is None:
        return
    try:
        check_marker(marker.args, marker.kwargs)
        if FIXTURE not in metafunc.fixturenames:
            return
        cases = bench.pool.suite(marker.kwargs, metafunc.definition.path.parent)
        settings = bench.settings
    except RetrievalError as error:
        raise pytest.Collector.CollectError(str(error)) from None
    parameters = [
        pytest.param(case, id=name, marks=marks(case.sample))
        for case, name in zip(cases, item_ids([case.sample for case in cases]), strict=True)
        if not settings.tasks or case.sample.task in settings.tasks
    ]
    # A suite without a sample must not become the one skipped item that pytest makes of no parameters.
    nothing = [pytest.param(None, id="no-sample")]
    metafunc.parametrize(FIXTURE, parameters[: settings.max_samples] or nothing, indirect=True)


def item_ids(samples: Sequence[Sample]) -> list[str]:
    """Ids such as ``numpy/numpy-svd-2d-0f3a91c2d4e5``: readable, unique, and the sample's own.

    An id depends on its sample alone, so adding one renames no other. Where the first twelve digits of two
    samples meet, the later one is written with all of its digits.
    """
    taken: set[str] = set()
    repeats: Counter[str] = Counter()
    ids = []
    for sample in samples:
        digits = _digits(sample)
        if digits in taken:  # of an equal id in another file
            repeats[digits] += 1
            digits = _digest(f"{digits}#{repeats[digits]}")
        chosen = digits if digits[:DIGITS] in taken else digits[:DIGITS]
        taken.update((chosen, digits))
        ids.append(_name(sample, chosen))
    return ids


def marks(sample: Sample) -> tuple[pytest.MarkDecorator, ...]:
    """The mark ``sample(...)`` to choose by exactly, and the fold's."""
    chosen = {
        "repo": sample.repo,
        "task": sample.task,
        "stratum": sample.stratum,
        "fold": sample.fold,
        "language": language_of(sample) or "",
        "id": sample.id,
        "difficulty": "" if sample.searched is None else sample.searched.difficulty,
        "corpus": "" if sample.searched is None else sample.searched.corpus,
    }
    return (pytest.mark.sample(**chosen), getattr(pytest.mark, f"fold_{sample.fold}"))


def keywords(sample: Sample) -> Iterator[str]:
    """The words that ``-k`` finds a sample by, beside its id."""
    yield from (sample.repo, sample.task, sample.stratum, f"fold_{sample.fold}")
    if sample.changed_file:
        yield from PurePosixPath(sample.changed_file).parts[:-1]
    if language := language_of(sample):
        yield f"lang:{language}"
    if sample.searched is not None:
        yield from (sample.searched.corpus, sample.searched.difficulty, sample.searched.subsystem)


def language_of(sample: Sample) -> str | None:
    """The language of the changed file, else of the first gold file whose extension is known."""
    return language_of_paths(filter(None, (sample.changed_file, *sample.gold)))


def language_of_paths(paths: Iterable[str]) -> str | None:
    """The language of the first path whose extension is known."""
    for path in paths:
        if language := LANGUAGES.get(PurePosixPath(path).suffix[1:].lower()):
            return language
    return None


def case_of(item: pytest.Item) -> Case | None:
    """The case that an item runs, or None for any other item."""
    if _CASE in item.stash:
        return item.stash[_CASE]
    callspec = getattr(item, "callspec", None)
    case = callspec.params.get(FIXTURE) if callspec is not None else None
    if not isinstance(case, Case):
        return None
    item.stash[_CASE] = case
    return case


def arrange(items: list[pytest.Item]) -> None:
    """Give every bench item its keywords, and put equal snapshots side by side.

    Other items keep their places; bench items share theirs out among themselves.
    """
    found = [(item, case) for item in items if (case := case_of(item)) is not None]
    for item, case in found:
        item.extra_keyword_matches.update(keywords(case.sample))
    ranked = iter(sorted(found, key=_place))
    items[:] = [item if case_of(item) is None else next(ranked)[0] for item in items]


def enrol(items: Iterable[pytest.Item], plan: Plan) -> None:
    """Note every bench item that is to run, by the node id that it has in the end."""
    for item in items:
        if (case := case_of(item)) is not None:
            plan.add(item.nodeid, case.sample, case.catalog.size(case.sample.repo, case.sample.commit))


def is_placeholder(item: object) -> bool:
    """Whether ``item`` stands for a suite without a sample in this run."""
    callspec = getattr(item, "callspec", None)
    return callspec is not None and callspec.params.get(FIXTURE, callspec) is None


def _place(pair: tuple[pytest.Item, Case]) -> tuple[str, str, str, int]:
    sample = pair[1].sample
    return (sample.repo, sample.commit, sample.source, sample.row)


def _digits(sample: Sample) -> str:
    """The hex digits that tell the sample from others; a repeated id takes its ordinal in."""
    if sample.ordinal:
        return _digest(f"{sample.id}#{sample.ordinal}")
    return sample.id if re.fullmatch(r"[0-9a-f]{12,64}", sample.id) else _digest(sample.id)


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _name(sample: Sample, digits: str) -> str:
    words = re.findall(r"[A-Za-z0-9_]+", sample.title)
    slug = "-".join(_until(words, _SLUG_LENGTH)).lower()
    return "-".join(filter(None, (re.sub(r"[^A-Za-z0-9_./+-]", "_", sample.repo), slug, digits)))


def _until(words: Sequence[str], length: int) -> Iterator[str]:
    total = 0
    for word in chain(words):
        total += len(word) + 1
        if total > length:
            return
        yield word
