"""Which tasks were collected and chosen, and where they come from: what a controller knows of a trial."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path

from pytest_retrieval.errors import UsageError

PLAN_FILE = "trial-plan.json"
KIND = "trial"


@dataclass(frozen=True, slots=True)
class TrialInputs:
    """Where the tasks of a session come from, as absolute paths.

    ``tasks`` is the run manifest, ``corpora`` and ``snapshots`` (``(repo, commit, source)``) are where
    their repositories are, ``history`` a clone that has their commits. ``embedded`` says that nobody named a
    manifest.
    """

    tasks: str
    corpora: tuple[str, ...] = ()
    snapshots: tuple[tuple[str, str, str], ...] = ()
    history: str | None = None
    embedded: bool = False


@dataclass(slots=True)
class TrialPlan:
    """The items of a trial: the task's row in the manifest by node id, in the order in which they run.

    ``of`` counts the tasks before anything chose among them. ``inputs`` is None where no trial was collected.
    """

    inputs: TrialInputs | None = None
    entries: dict[str, int] = field(default_factory=dict)
    of: int = 0

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of tasks, which choose among them."""
        from pytest_retrieval.trial.manifest import KINDS

        return () if self.inputs is None else KINDS

    def take(self, inputs: TrialInputs) -> None:
        """Note what a suite draws from; raises UsageError where another one draws from elsewhere."""
        if self.inputs is not None and self.inputs != inputs:
            raise UsageError(
                f"one session runs one task set: {self.inputs.tasks} and {inputs.tasks} are two, or are "
                "about different repositories; run them one after the other"
            )
        self.inputs = inputs

    def write(self, folder: Path) -> None:
        """Leave the plan in ``folder``, unless another worker of the run has done so."""
        target = folder / PLAN_FILE
        if target.exists():
            return
        temporary = folder / f"{PLAN_FILE}.{os.getpid()}"
        temporary.write_text(json.dumps(asdict(self)), encoding="utf-8")
        temporary.replace(target)

    @classmethod
    def read(cls, folder: Path) -> TrialPlan:
        """The plan that a worker left in ``folder``; an empty one when no worker met a trial."""
        try:
            record = json.loads((folder / PLAN_FILE).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return cls()
        told = record["inputs"]
        inputs = None
        if told is not None:
            lists = {"corpora": tuple(told["corpora"]), "snapshots": tuple(map(tuple, told["snapshots"]))}
            inputs = TrialInputs(**{**told, **lists})
        return cls(inputs, record["entries"], record["of"])
