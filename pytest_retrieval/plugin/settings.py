"""The options, checked and made into values: every mistake is one line naming the option."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from pytest_retrieval.errors import GateError, UsageError, closest
from pytest_retrieval.plugin import options

if TYPE_CHECKING:
    import pytest

    from pytest_retrieval.arms.base import Arm
    from pytest_retrieval.arms.engine.home import EngineHome
    from pytest_retrieval.arms.registry import ArmSpec, Prefix
    from pytest_retrieval.engines.trees import Corpus as SearchTree
    from pytest_retrieval.gates.loading import Comparing
    from pytest_retrieval.gates.rules import Rule
    from pytest_retrieval.measures.chosen import Chosen, OwnMeasure
    from pytest_retrieval.snapshots.sources import NamedSource

LIMITS = range(1, 51)
DEFAULT_LIMIT = 20


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How many samples with faults a run may have: a count, or a percentage of the judged samples."""

    amount: float
    percent: bool = False

    def allows(self, faulty: int, judged: int) -> bool:
        """Whether ``faulty`` of ``judged`` samples are within the tolerance."""
        return faulty <= (self.amount * judged / 100 if self.percent else self.amount)


class ProgramArms(TypedDict):
    """Arms by name that there are, and why others are not there."""

    provided: dict[str, Callable[[], Arm]]
    withheld: dict[str, str]


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
    from pytest_retrieval.arms.registry import CONTEXTS, parse_arms, without_contexts
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
    prefixes = {"engine": _engines(config, home)}
    typed = options.values(config, "arms")
    named, contexts = without_contexts(typed)
    arms: tuple[ArmSpec, ...] = ()
    if named or not contexts:
        arms = parse_arms(
            named if contexts else typed, offered_arms(config), prefixes, **program_arms(config)
        )
    labels = [arm.label for arm in arms]
    rules = _rules(config)
    beside = contexts if typed else list(CONTEXTS)
    gates = _gates(config, rules, labels, beside, limit)
    pairs = tuple(parse_pair(text, [*labels, *beside]) for text in options.values(config, "pair"))
    maximum = options.value(config, "max-samples")
    report = optional_path(config, "report")
    return Settings(
        arms=arms,
        prefixes=prefixes,
        samples=tuple(_path(config, "samples", text) for text in options.values(config, "samples")),
        corpora=tuple(rebase(text, _base(config, "corpus")) for text in options.values(config, "corpus")),
        snapshots=named_sources(options.values(config, "snapshot"), _base(config, "snapshot")),
        release=optional_path(config, "release"),
        search_corpora=optional_path(config, "corpora"),
        corpora_root=_corpora_root(config),
        search_trees=search_trees,
        limit=limit,
        max_samples=None if maximum is None else whole_number(config, "max-samples", 0, range(1, 10**9)),
        tasks=tuple(_split(options.values(config, "task-type"))),
        report=report,
        contexts=tuple(contexts),
        rules=rules,
        gates=gates,
        comparing=_comparing(config),
        pairs=tuple(pair for pair in pairs if set(pair) <= set(labels)),
        asked_pairs=pairs,
        tolerance=_tolerance(options.value(config, "max-errors")),
        store=store,
        store_limit=store_limit,
        snapshot_latency=options.flag(config, "snapshot-latency"),
        alternate=_alternate(config),
        registration=_registration(config, report),
        overwrite=options.flag(config, "overwrite"),
        capture=optional_path(config, "context-packets"),
        html=optional_path(config, "html"),
        explain=options.flag(config, "explain") or options.value(config, "html") is not None,
        measures=_measures(config, limit, gates),
    )


def _rules(config: pytest.Config) -> tuple[Rule, ...]:
    """Every gate that was given, whatever it speaks of."""
    texts, path = options.values(config, "gate"), optional_path(config, "gates")
    if not texts and path is None:  # what gates can be of opens half of the house
        return ()
    from pytest_retrieval.gates.rules import read_rules, typed_rules

    return (*typed_rules(texts), *(() if path is None else read_rules(path)))


def _gates(
    config: pytest.Config, rules: Sequence[Rule], labels: list[str], contexts: Sequence[str], limit: int
) -> tuple[Rule, ...]:
    """The gates that speak of rankings; of those that speak of agents a trial knows more."""
    if not rules:
        return ()
    from pytest_retrieval.gates.names import check
    from pytest_retrieval.report.trialfigures import NAMES, is_figure

    own = tuple(f"{name}@k" for name in offered_measures(config))
    found = []
    for rule in rules:
        try:
            check(rule.gate, arms=labels, groups=None, limit=limit, own=own)
        except GateError as error:
            of_agents = is_figure(rule.measure) or not {rule.arm, rule.against}.isdisjoint(contexts)
            if not (of_agents or _is_trial(config)):
                meant = closest(rule.measure, NAMES)
                raise GateError(f"{error}; of the figures of trials{meant}") if meant else error from None
        else:
            found.append(rule)
    return tuple(found)


def _is_trial(config: pytest.Config) -> bool:
    """Whether what was typed speaks of agents: then a trial says what is wrong with a gate."""
    from pytest_retrieval.arms.registry import without_contexts
    from pytest_retrieval.plugin.trial.settings import NAMES

    typed = any(options.from_command_line(config, name) for name in NAMES)
    return typed or bool(without_contexts(options.values(config, "arms"))[1])


def _comparing(config: pytest.Config) -> Comparing:
    """The baseline as it was named, and what is done where gates cannot say yes or no."""
    from pytest_retrieval.gates.loading import Comparing, policy, read_overlap

    overlap = options.value(config, "baseline-overlap")
    return Comparing(
        text=options.value(config, "baseline"),
        root=report_root(config),
        base=_base(config, "baseline"),
        overlap=None if overlap is None else read_overlap(overlap),
        missing_passes=policy("baseline-missing", options.value(config, "baseline-missing")) == "pass",
        undecided="fail" if policy("undecided", options.value(config, "undecided")) == "fail" else "warn",
    )


def _engines(config: pytest.Config, home: EngineHome) -> Prefix:
    """What ``engine:FILE`` means; FILE is relative to where the arm was named."""

    def prefix(text: str) -> tuple[str | None, Callable[[], Arm]]:
        from pytest_retrieval.arms.engine.arm import engine_arm

        return engine_arm(text, home, _base(config, "arms"))

    return prefix


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


def optional_path(config: pytest.Config, name: str) -> Path | None:
    """The path that an option names, absolute; None where it was not given."""
    text = options.value(config, name)
    return None if text is None else _path(config, name, text)


def _store(config: pytest.Config) -> Path | None:
    """The store's folder; None to go without, as where the user has no home to keep it in."""
    from pytest_retrieval.store.location import default_root

    text = options.value(config, "store")
    if text is None:
        return default_root()
    return None if text == "none" else _path(config, "store", text)


def offered_arms(config: pytest.Config) -> dict[str, Callable[[], Arm]]:
    """The arms of every conftest, by name."""
    offered: dict[str, Callable[[], Arm]] = {}
    for arms in config.hook.pytest_retrieval_arms(config=config):
        for name, factory in _named(arms):
            if name in offered:
                raise UsageError(
                    f"pytest_retrieval_arms: two conftests offer an arm named {name!r}; rename one"
                )
            offered[name] = factory
    return offered


def offered_measures(config: pytest.Config) -> dict[str, OwnMeasure]:
    """The measures of every conftest, by name."""
    from pytest_retrieval.measures.chosen import check_own

    offered: dict[str, OwnMeasure] = {}
    for measures in config.hook.pytest_retrieval_measures(config=config):
        if not isinstance(measures, Mapping):
            raise UsageError(
                "pytest_retrieval_measures: return a mapping from name to a function of ranking and gold, "
                f"not {measures!r:.80}"
            )
        for name, function in check_own(measures).items():
            if name in offered:
                raise UsageError(
                    f"pytest_retrieval_measures: two conftests offer a measure named {name!r}; rename one"
                )
            offered[name] = function
    return offered


def _measures(config: pytest.Config, limit: int, gates: Sequence[Rule]) -> tuple[Chosen, ...]:
    """The measures that were asked for, and those that gates need."""
    texts = options.values(config, "measures")
    if not texts and not gates:
        return ()
    from pytest_retrieval.measures.chosen import choose

    own = offered_measures(config)
    try:
        asked = choose(texts, limit, own)
    except UsageError as error:
        raise UsageError(f"--retrieval-measures: {error}") from None
    needed: list[Chosen] = []
    for gate in gates:
        with suppress(UsageError):  # errors, say, is no measure
            needed += choose([gate.measure], limit, own)
    return tuple(dict.fromkeys([*asked, *needed]))


def program_arms(config: pytest.Config) -> ProgramArms:
    """The arms of the program that an option names, or what is said to who names one of them without it."""
    from pytest_retrieval.arms.corvint import NAMES, named_arms

    program = program_path(config)
    if program is None:
        return {"provided": {}, "withheld": dict.fromkeys(NAMES, "it asks a program: give --corvint PATH")}
    return {"provided": named_arms(program), "withheld": {}}


def program_path(config: pytest.Config) -> str | None:
    """The program of ``--corvint``: a path relative to where the option stands, or a name on PATH."""
    text = options.value(config, "corvint")
    return text if text is None or os.sep not in text else str(_path(config, "corvint", text))


def report_root(config: pytest.Config) -> Path:
    """The folder of the default report: the root directory, or where pytest was started if that is ``/``."""
    root = config.rootpath
    return config.invocation_params.dir if root == Path(root.anchor) else root


def _named(arms: object) -> list[tuple[str, Callable[[], Arm]]]:
    if isinstance(arms, Mapping):
        return list(arms.items())
    if isinstance(arms, list | tuple):
        named = [(getattr(arm, "name", ""), arm) for arm in arms]
        if all(isinstance(name, str) and name for name, _ in named):
            return named
    raise UsageError(
        "pytest_retrieval_arms: return a list of Arm subclasses, each with a name, or a mapping from name "
        f"to a function that makes the arm, not {arms!r:.80}"
    )


def named_sources(texts: Iterable[str], base: Path) -> tuple[NamedSource, ...]:
    """Snapshots as users name them, their paths relative to ``base``."""
    from pytest_retrieval.snapshots.sources import parse_snapshot_option

    return tuple(parse_snapshot_option(text, base) for text in texts)


def _path(config: pytest.Config, name: str, text: str) -> Path:
    try:
        return _base(config, name) / Path(text).expanduser()
    except RuntimeError as error:
        raise UsageError(f"--retrieval-{name} {text!r}: no such user, or one without a home") from error


def _base(config: pytest.Config, name: str) -> Path:
    """A path typed on the command line is relative to where pytest was started, one of an ini file to it."""
    if options.from_command_line(config, name) or config.inipath is None:
        return config.invocation_params.dir
    return config.inipath.parent


def _split(texts: tuple[str, ...]) -> list[str]:
    return [word.strip() for text in texts for word in text.split(",") if word.strip()]


def _alternate(config: pytest.Config) -> bool:
    """Whether every other sample's matched calls begin with the store; without such calls it is no matter."""
    orders = ("cold-first", "alternate")
    order = options.value(config, "latency-order") or orders[0]
    if order not in orders:
        near = closest(order, orders)
        raise UsageError(f"--retrieval-latency-order: {order!r} is neither {' nor '.join(orders)}{near}")
    return order == "alternate" and options.flag(config, "snapshot-latency")


def whole_number(config: pytest.Config, name: str, default: int, allowed: range) -> int:
    """The number that an option gives; raises UsageError for one that is not ``allowed``."""
    text = options.value(config, name)
    if text is None:
        return default
    try:
        number = int(text)
    except ValueError:
        number = allowed.start - 1
    if number not in allowed:
        upper = f" to {allowed.stop - 1}" if allowed.stop < 10**9 else " or more"
        raise UsageError(f"--retrieval-{name}: {text!r} is not a whole number of {allowed.start}{upper}")
    return number


def _tolerance(text: str | None) -> Tolerance | None:
    if text is None:
        return None
    found = re.fullmatch(r"(\d+)|(\d+(?:\.\d+)?)%", text.strip(), re.ASCII)
    if found is None:
        raise UsageError(
            f"--retrieval-max-errors: {text!r} is neither a number of samples (3) nor a percentage (2%)"
        )
    return Tolerance(float(found[1] or found[2]), percent=found[1] is None)
