"""The options of trials, checked and made into values: every mistake is one line naming the option."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_retrieval.errors import UsageError, closest
from pytest_retrieval.plugin import options
from pytest_retrieval.plugin.option_values import optional_path, whole_number

if TYPE_CHECKING:
    import pytest

    from pytest_retrieval.trial.prices import ModelPrices

DEFAULT_TIMEOUT = "5m"
CODEX = "codex"
#: Options that speak of trials alone; one of them on the command line is checked before anything runs.
NAMES = (
    "tasks", "agent", "agent-command", "model", "effort", "access", "history", "reuse", "repeats",
    "aider-command", "timeout", "prices", "max-cost", "dry-run", "resume",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class TrialSettings:
    """What a trial was asked to do. Paths are absolute; ``agent`` is None for the default.

    ``base`` is the folder that an agent's path is relative to. ``budget`` is what invocations may cost, as
    far as that can be foreseen.
    """

    tasks: Path | None
    agent: str | None
    base: Path
    agent_command: str | None
    model: str
    effort: str
    access: str
    history: Path | None
    reuse: Path | None
    repeats: int
    aider_command: str | None
    timeout: float
    prices: ModelPrices | None
    budget: float | None
    dry_run: bool
    resume: bool


def read_trial_settings(config: pytest.Config) -> TrialSettings:
    """Check every option that speaks of trials alone; raises :class:`UsageError` with one line."""
    model = options.value(config, "model") or ""
    access = _access(config)
    prices = _prices(config, model)
    found = TrialSettings(
        tasks=optional_path(config, "tasks"),
        agent=options.value(config, "agent"),
        base=config.invocation_params.dir,
        agent_command=options.value(config, "agent-command"),
        model=model,
        effort=options.value(config, "effort") or "",
        access=access,
        history=optional_path(config, "history"),
        reuse=optional_path(config, "reuse"),
        repeats=whole_number(config, "repeats", 1, range(1, 1001)),
        aider_command=options.value(config, "aider-command"),
        timeout=_timeout(config),
        prices=prices,
        budget=_budget(config, prices),
        dry_run=options.flag(config, "dry-run"),
        resume=options.flag(config, "resume"),
    )
    _check_modes(config, found)
    return found


def is_distributed(config: pytest.Config) -> bool:
    """Whether items run in workers."""
    return getattr(config.option, "dist", "no") != "no" or bool(getattr(config.option, "tx", None))


def _check_modes(config: pytest.Config, found: TrialSettings) -> None:
    """Refuse what does not go together."""
    from pytest_retrieval.trial.prompt import READ_ONLY

    if is_distributed(config) and found.access == READ_ONLY:
        raise UsageError(
            "--access read-only: agents share one copy and run one after the other; leave -n and --dist out, "
            "or give --access none"
        )
    if is_distributed(config) and found.dry_run:
        raise UsageError("--retrieval-dry-run runs nothing, in one process: leave -n and --dist out")
    if found.resume and found.reuse is not None:
        raise UsageError(
            "--retrieval-resume takes up this run's own journal, --reuse another report: give one of them"
        )


def _access(config: pytest.Config) -> str:
    from pytest_retrieval.trial.prompt import ACCESS, NO_ACCESS

    found = options.value(config, "access") or NO_ACCESS
    if found not in ACCESS:
        near = closest(found, ACCESS)
        raise UsageError(f"--retrieval-access: {found!r} is not one of {', '.join(ACCESS)}{near}")
    return found


def _timeout(config: pytest.Config) -> float:
    from pytest_retrieval.engines.durations import parse_duration

    text = options.value(config, "timeout") or DEFAULT_TIMEOUT
    try:
        seconds = parse_duration(text)
    except ValueError as error:
        raise UsageError(f"--retrieval-timeout: {error}") from None
    if not 0 < seconds < 10 * 365 * 86_400:
        raise UsageError(f"--retrieval-timeout: {text!r} leaves no time to run, or far too much")
    return seconds


def _prices(config: pytest.Config, model: str) -> ModelPrices | None:
    path = optional_path(config, "prices")
    if path is None:
        return None
    from pytest_retrieval.trial.prices import load_prices

    return load_prices(path).of(model)


def _budget(config: pytest.Config, prices: ModelPrices | None) -> float | None:
    text = options.value(config, "max-cost")
    if text is None:
        return None
    try:
        amount = float(text)
    except ValueError:
        amount = math.nan
    if not 0 <= amount < math.inf:
        raise UsageError(f"--retrieval-max-cost: {text!r} is no amount of money such as 2.50")
    if prices is None:
        raise UsageError("--retrieval-max-cost: nobody knows what tokens cost: give --retrieval-prices FILE")
    return amount
