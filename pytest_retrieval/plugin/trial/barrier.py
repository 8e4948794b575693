"""What happens between the collection and the first agent: every context of every task, then no copy left."""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from pytest_retrieval import __version__
from pytest_retrieval.plugin.trial.runs import Earlier, each_run, identity_of
from pytest_retrieval.report.canonical import encode

if TYPE_CHECKING:
    from pytest_retrieval.plugin.trial.session import TrialSession

_FASTEST = 1  # zlib level
_BYTES_PER_TOKEN = 4  # the usual estimate for English text and code


class Known(Protocol):
    """Invocations that were made before."""

    def record(self, task: str, label: str, prompt_sha256: str, repeat: int) -> dict[str, Any] | None:
        """The record of an invocation that need not be made again."""


@dataclass(slots=True)
class Barrier:
    """What the controller keeps of prepared tasks: by row of the manifest their details, packed, no runs.

    ``header`` is what the report says of agent, access and arms. ``known`` holds the invocations that are not
    made again, by task, arm and repeat. ``invocations`` counts those to be made by arm, ``prompt_bytes`` what
    they are told.
    """

    header: dict[str, Any]
    packed: dict[int, bytes] = field(default_factory=dict)
    known: dict[tuple[str, str, int], tuple[str, dict[str, Any]]] = field(default_factory=dict)
    invocations: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    prompt_bytes: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))

    def estimate(self) -> list[str]:
        """A line for each arm on what is about to be asked."""
        total = sum(self.invocations.values())
        lines = [
            f"{label}: {count} invocations, about {size // _BYTES_PER_TOKEN:,} tokens of prompts"
            for (label, count), size in zip(self.invocations.items(), self.prompt_bytes.values(), strict=True)
        ]
        tokens = sum(self.prompt_bytes.values()) // _BYTES_PER_TOKEN
        again = f", {len(self.known)} are known already" if self.known else ""
        return [*lines, f"all arms: {total} invocations, about {tokens:,} tokens of prompts{again}"]


def prepare_all(trial: TrialSession, report: Path) -> Barrier:
    """Build every prompt of the chosen tasks and leave it on the shelf; ``report`` is where the report goes.

    One copy of a repository lives at a time, and none afterwards.

    Raises:
        RetrievalError: the agent does not tell who it is, a repository cannot be had, or what is to be taken
            up again does not fit.
    """
    from pytest_retrieval.trial.prepare import explanation, prepare
    from pytest_retrieval.trial.run_task import check_tools

    settings = trial.settings
    check_tools(settings.access, trial.agent, trial.contexts)
    barrier = Barrier(_header(trial))
    earlier = _earlier(trial, report, barrier.header)
    tasks = [(row, trial.manifest.tasks[row]) for row in sorted(set(trial.plan.entries.values()))]
    found = prepare(
        tasks, trial.contexts, trial.workspaces, access=settings.access, source=trial.manifest.sha256
    )
    with closing(found):
        for prepared in found:
            explained = {"explain": explanation(prepared.task)} if trial.bench.settings.explain else {}
            _keep(trial, barrier, {**prepared.detail, **explained}, earlier)
    return barrier


def _header(trial: TrialSession) -> dict[str, Any]:
    """What the report's head says of the run, but for what became of it."""
    from pytest_retrieval.trial.prompt import skeleton_sha256

    settings, manifest = trial.settings, trial.manifest
    prices = {} if settings.prices is None else {"prices": settings.prices.facts()}
    return {
        "version": __version__,
        "partition": manifest.partition,
        "source": manifest.source,
        "tasks_sha256": manifest.sha256,
        "limit": trial.bench.settings.limit,
        "model": settings.model,
        "access": settings.access,
        "agent": trial.agent.identity(),
        "skeleton_sha256": skeleton_sha256(settings.access),
        "repeats": settings.repeats,
        **trial.contexts.facts(settings.access),
        **prices,
    }


def _earlier(trial: TrialSession, report: Path, header: Mapping[str, Any]) -> Known | None:
    settings = trial.settings
    if settings.resume:
        return Earlier(report, identity_of(header))
    if settings.reuse is None:
        return None
    from pytest_retrieval.trial.reuse import load_reuse

    return load_reuse(settings.reuse, model=settings.model, access=settings.access, agent=header["agent"])


def _keep(trial: TrialSession, barrier: Barrier, detail: dict[str, Any], earlier: Known | None) -> None:
    """Take in one prepared task."""
    known: dict[str, dict[int, Any]] = {}
    for label, repeat in each_run(detail["arms"], trial.settings.repeats):
        entry = detail["arms"][label]
        digest = entry["prompt_sha256"]
        run = None if earlier is None else earlier.record(detail["id"], label, digest, repeat)
        if run is not None:
            known.setdefault(label, {})[repeat] = run
            barrier.known[detail["id"], label, repeat] = (digest, run)
        else:
            barrier.invocations[label] += 1
            barrier.prompt_bytes[label] += entry["prompt_bytes"]
    trial.shelf.put(detail["row"], detail["arms"], known)
    barrier.packed[detail["row"]] = zlib.compress(encode(detail), _FASTEST)
