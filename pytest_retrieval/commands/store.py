"""``pytest-retrieval store``: look at what is kept between runs, check it, shrink it, fill it."""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_retrieval.commands.parsers import add_command
from pytest_retrieval.errors import UsageError

if TYPE_CHECKING:
    from pytest_retrieval.arms.engine.states import State
    from pytest_retrieval.bench.importer import Progress
    from pytest_retrieval.store.store import Store

_BAR = 24
_SECONDS_BETWEEN = 0.1


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command and its actions."""
    store = add_command(commands, "store", "what is kept between runs: info, verify, prune, import")
    actions = store.add_subparsers(required=True, metavar="ACTION")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--retrieval-store", metavar="DIR", help="default: in the cache directory")
    showing = add_command(actions, "info", "size, entries and how often they served", parents=[common])
    showing.set_defaults(command=info)
    verifying = add_command(
        actions,
        "verify",
        "read everything again, and name what is damaged",
        "The exit code is 1 if something is; a run would make that again.",
        parents=[common],
    )
    verifying.set_defaults(command=verify)
    pruning = add_command(actions, "prune", "remove what was longest unused", parents=[common])
    pruning.add_argument("--size", metavar="SIZE", help="keep at most so much, such as 500M; default: 4G")
    pruning.add_argument("--all", action="store_true", help="remove everything")
    pruning.set_defaults(command=prune)
    importing = add_command(
        actions,
        "import",
        "read a release once, so that judging it reads and extracts nothing",
        parents=[common],
    )
    importing.add_argument("release", metavar="RELEASE", type=Path, help="as for --release")
    importing.add_argument("--retrieval-store-size", metavar="SIZE", help="the store's limit; default: 4G")
    importing.set_defaults(command=import_)


def info(options: argparse.Namespace, rest: Sequence[str]) -> int:
    """Say where the store is, how big, and how often it served."""
    from pytest_retrieval.store import upkeep

    store = _store(options)
    found, engines = upkeep.info(store.folder), _engines(store)
    others = [entry.size for layout in upkeep.other_layouts(store.folder) for entry in upkeep.kept(layout)]
    size = found.size + sum(state.size for state in engines) + sum(others)
    lines = [f"store: {store.root}", f"size: {_shown(size)}"]
    lines += [
        f"{kind}: {found.files[kind]} files, {_shown(found.sizes[kind])}" for kind in sorted(found.files)
    ]
    lines += _engine_lines(engines)
    if others:
        lines.append(
            f"of other versions: {len(others)} files, {_shown(sum(others))}; prune --all takes them, too"
        )
    for noun in ("contents", "records"):
        asked, served = found.uses[f"{noun} asked"], found.uses[f"{noun} found"]
        share = f" ({served / asked:.0%})" if asked else ""
        lines.append(f"{noun}: {served} of {asked} served{share}")
    sys.stdout.writelines(f"{line}\n" for line in lines)
    return 0


def verify(options: argparse.Namespace, rest: Sequence[str]) -> int:
    """Name every damaged file; a run would drop it and make it again."""
    from pytest_retrieval.store import upkeep

    store = _store(options)
    damaged = list(upkeep.verify(store.folder))
    sys.stdout.writelines(f"{path.relative_to(store.root)}: {reason}\n" for path, reason in damaged)
    count = sum(1 for _ in upkeep.kept(store.folder))
    sys.stdout.write(f"{count} files, {len(damaged)} damaged\n")
    return 1 if damaged else 0


def prune(options: argparse.Namespace, rest: Sequence[str]) -> int:
    """Remove everything, or what was longest unused until the rest is small enough.

    Indexes of engines and all else share the limit: both give up what is older than what is kept.
    """
    from pytest_retrieval.arms.engine.states import ENGINES, trim
    from pytest_retrieval.store import upkeep
    from pytest_retrieval.store.location import DEFAULT_SIZE, parse_size

    if options.all and options.size is not None:
        raise UsageError("store prune: --all and --size exclude each other")
    store = _store(options)
    engines = _engines(store)
    if options.all:
        removed = trim(engines, -1) + upkeep.clear(store.folder)
        removed += sum(map(upkeep.clear, upkeep.other_layouts(store.folder)))
        _remove_if_empty(store.root / ENGINES)
    else:
        limit = parse_size(DEFAULT_SIZE if options.size is None else options.size, "--size")
        kept = [(entry.used, entry.size) for entry in upkeep.kept(store.folder)]
        share = _engine_share(kept, [(state.used, state.size) for state in engines], limit)
        removed = trim(engines, share) + upkeep.evict(store.folder, limit - share)
    left = upkeep.info(store.folder).size + sum(state.size for state in _engines(store))
    sys.stdout.write(f"removed {_shown(removed)}, {_shown(left)} left\n")
    return 0


def import_(options: argparse.Namespace, rest: Sequence[str]) -> int:
    """Fill the store from a release."""
    from pytest_retrieval.bench.importer import import_release
    from pytest_retrieval.store.location import DEFAULT_SIZE, parse_size

    size = DEFAULT_SIZE if options.retrieval_store_size is None else options.retrieval_store_size
    store = _store(options, parse_size(size, "--retrieval-store-size"))
    started = time.monotonic()
    with _Bar(started) as bar:
        done = import_release(options.release, store, bar.tell)
    seconds = time.monotonic() - started
    sys.stdout.write(
        f"imported {done.snapshots} snapshots with {done.files} files, {_shown(done.size)} read "
        f"in {seconds:.1f} s, into {store.root}\n"
    )
    return 0


def _engines(store: Store) -> list[State]:
    from pytest_retrieval.arms.engine.states import ENGINES, states

    return states(store.root / ENGINES)


def _engine_lines(engines: Sequence[State]) -> Iterator[str]:
    """One line for each engine that has indexes here."""
    for label in sorted({state.label for state in engines}):
        own = [state.size for state in engines if state.label == label]
        yield f"engine {label}: {len(own)} index{'' if len(own) == 1 else 'es'}, {_shown(sum(own))}"


def _engine_share(kept: Sequence[tuple[float, int]], engines: Sequence[tuple[float, int]], limit: int) -> int:
    """The part of ``limit`` for indexes: of all, given as (used, size), the newest ones stay."""
    told = [(used, size, 0) for used, size in kept] + [(used, size, size) for used, size in engines]
    total = share = 0
    for _, size, own in sorted(told, reverse=True):
        total += size
        if total > limit:
            break
        share += own
    return share


def _remove_if_empty(folder: Path) -> None:
    with contextlib.suppress(OSError):
        folder.rmdir()


def _store(options: argparse.Namespace, limit: int | None = None) -> Store:
    from pytest_retrieval.store.location import existing_root
    from pytest_retrieval.store.store import DEFAULT_LIMIT, Store

    return Store(existing_root(options.retrieval_store), DEFAULT_LIMIT if limit is None else limit)


class _Bar:
    """Draws on a terminal how far an import is; elsewhere nothing is said before the end."""

    def __init__(self, started: float) -> None:
        self._started = started
        self._drawn = 0.0
        self._latest: Progress | None = None

    def __enter__(self) -> _Bar:
        return self

    def __exit__(self, *_: object) -> None:
        """End the line, however the import ended: what is said next begins a line of its own."""
        if self._latest is not None:
            self._draw(self._latest, time.monotonic())
            sys.stderr.write("\n")

    def tell(self, progress: Progress) -> None:
        """Draw ``progress``, unless it was drawn a moment ago."""
        now = time.monotonic()
        if not sys.stderr.isatty() or now - self._drawn < _SECONDS_BETWEEN:
            return
        self._drawn, self._latest = now, progress
        self._draw(progress, now)

    def _draw(self, progress: Progress, now: float) -> None:
        share = progress.read / progress.size if progress.size else 1.0
        bar = ("#" * round(share * _BAR)).ljust(_BAR, ".")
        done = f"{progress.snapshots} snapshots, {progress.files} files, {now - self._started:.0f} s"
        sys.stderr.write(f"\r[{bar}] {share:4.0%}  {done}")
        sys.stderr.flush()


def _shown(size: int) -> str:
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return f"{size} bytes"
