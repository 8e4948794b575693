"""The options of a run, checked and made into values: every mistake is one line naming the option."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_retrieval.errors import UsageError, closest
from pytest_retrieval.plugin import options
from pytest_retrieval.plugin.arm_choice import choose_arms
from pytest_retrieval.plugin.criteria import (
    Tolerance,
    all_gates,
    chosen_measures,
    ranking_gates,
    read_comparing,
    read_tolerance,
)
from pytest_retrieval.plugin.option_values import (
    absolute_path,
    base_of,
    named_sources,
    optional_path,
    whole_number,
    words,
)

if TYPE_CHECKING:
    import pytest

    from pytest_retrieval.arms.registry import ArmSpec, Prefix
    from pytest_retrieval.engines.trees import Corpus as SearchTree
    from pytest_retrieval.gates.loading import Comparing
    from pytest_retrieval.gates.rules import Rule
    from pytest_retrieval.measures.chosen import Chosen
    from pytest_retrieval.snapshots.sources import NamedSource

LIMITS = range(1, 51)
DEFAULT_LIMIT = 20


@dataclass(frozen=True, slots=True)
class Settings:
    """What a run was asked to do. Paths are absolute; ``report`` is None for the default place.

    ``registration`` and ``capture`` are None for none; a registration goes beside an explicit report unless
    it was given a place. ``search_trees`` says by ``repo@commit`` what the trees of code-search corpora are
    called, once they are read. ``overwrite`` allows to replace the one of an earlier run. ``prefixes`` say
    what ``PREFIX:REST`` means as an arm. ``contexts`` are the labels of what was named beside the arms and
    only an agent can be given. ``gates`` are those of ``rules``, and ``pairs`` those of ``asked_pairs``, that
    speak of rankings.
    """

    arms: tuple[ArmSpec, ...]
    prefixes: Mapping[str, Prefix]
    samples: tuple[Path, ...]
    corpora: tuple[str, ...]
    snapshots: tuple[NamedSource, ...]
    release: Path | None
    search_corpora: Path | None
    corpora_root: str | None
    search_trees: dict[str, SearchTree]
    limit: int
    max_samples: int | None
    tasks: tuple[str, ...]
    report: Path | None
    contexts: tuple[str, ...]
    rules: tuple[Rule, ...]
    gates: tuple[Rule, ...]
    comparing: Comparing
    pairs: tuple[tuple[str, str], ...]
    asked_pairs: tuple[tuple[str, str], ...]
    tolerance: Tolerance | None
    store: Path | None
    store_limit: int
    snapshot_latency: bool
    alternate: bool
    registration: Path | None
    overwrite: bool
    capture: Path | None
    html: Path | None
    explain: bool
    measures: tuple[Chosen, ...]


def read_settings(config: pytest.Config, run_path: Path) -> Settings:
    """Check every option of ``config``; raises :class:`UsageError` with one line.

    ``run_path`` is the private folder of the run, which also names it.
    """
    from pytest_retrieval.arms.engine.home import EngineHome
    from pytest_retrieval.arms.pairs import parse_pair
    from pytest_retrieval.snapshots.sources import rebase
    from pytest_retrieval.store.location import DEFAULT_SIZE, parse_size

    limit = whole_number(config, "limit", DEFAULT_LIMIT, LIMITS)
    store = _store(config)
    store_limit = parse_size(options.value(config, "store-size") or DEFAULT_SIZE, "--retrieval-store-size")
    search_trees: dict[str, SearchTree] = {}
    home = EngineHome(
        (store or run_path) / "engines",
        run_path.name,
        options.flag(config, "reindex"),
        limit,
        store_limit,
        search_trees,
    )
    chosen = choose_arms(config, home)
    rules = all_gates(config)
    gates = ranking_gates(config, rules, chosen, limit)
    known = [*chosen.labels, *chosen.possible_contexts]
    pairs = tuple(parse_pair(text, known) for text in options.values(config, "pair"))
    report = optional_path(config, "report")
    return Settings(
        arms=chosen.arms,
        prefixes=chosen.prefixes,
        samples=tuple(absolute_path(config, "samples", text) for text in options.values(config, "samples")),
        corpora=tuple(rebase(text, base_of(config, "corpus")) for text in options.values(config, "corpus")),
        snapshots=named_sources(options.values(config, "snapshot"), base_of(config, "snapshot")),
        release=optional_path(config, "release"),
        search_corpora=optional_path(config, "corpora"),
        corpora_root=_corpora_root(config),
        search_trees=search_trees,
        limit=limit,
        max_samples=whole_number(config, "max-samples", 0, range(1, 10**9)) or None,
        tasks=words(config, "task-type"),
        report=report,
        contexts=chosen.contexts,
        rules=rules,
        gates=gates,
        comparing=read_comparing(config, report_root(config)),
        pairs=tuple(pair for pair in pairs if set(pair) <= set(chosen.labels)),
        asked_pairs=pairs,
        tolerance=read_tolerance(config),
        store=store,
        store_limit=store_limit,
        snapshot_latency=options.flag(config, "snapshot-latency"),
        alternate=_alternate(config),
        registration=_registration(config, report),
        overwrite=options.flag(config, "overwrite"),
        capture=optional_path(config, "context-packets"),
        html=optional_path(config, "html"),
        explain=options.flag(config, "explain") or options.value(config, "html") is not None,
        measures=chosen_measures(config, limit, gates),
    )


def report_root(config: pytest.Config) -> Path:
    """The folder of the default report: the root directory, or where pytest was started if that is ``/``."""
    root = config.rootpath
    return config.invocation_params.dir if root == Path(root.anchor) else root


def _corpora_root(config: pytest.Config) -> str | None:
    """Where the checkouts of code-search corpora are looked up, if not where their file says."""
    from pytest_retrieval.datasets.corpora import corpora_root

    typed = optional_path(config, "corpora-root")
    return corpora_root(None if typed is None else str(typed))


def _registration(config: pytest.Config, report: Path | None) -> Path | None:
    """Where the registration goes: where it was told to, else beside an explicit report."""
    from pytest_retrieval.report.registration import sidecar_path

    told = optional_path(config, "registration")
    return sidecar_path(report) if told is None and report is not None else told


def _store(config: pytest.Config) -> Path | None:
    """The store's folder; None to go without, as where the user has no home to keep it in."""
    from pytest_retrieval.store.location import default_root

    text = options.value(config, "store")
    if text is None:
        return default_root()
    return None if text == "none" else absolute_path(config, "store", text)


def _alternate(config: pytest.Config) -> bool:
    """Whether every other sample's matched calls begin with the store; without such calls it is no matter."""
    orders = ("cold-first", "alternate")
    order = options.value(config, "latency-order") or orders[0]
    if order not in orders:
        near = closest(order, orders)
        raise UsageError(f"--retrieval-latency-order: {order!r} is neither {' nor '.join(orders)}{near}")
    return order == "alternate" and options.flag(config, "snapshot-latency")
