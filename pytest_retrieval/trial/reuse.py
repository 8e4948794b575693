"""Invocations of an earlier report that need not be repeated: the same prompt to the same agent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_retrieval.errors import UsageError
from pytest_retrieval.trial.claims import extract
from pytest_retrieval.trial.reading import read_trial
from pytest_retrieval.trial.scoring import score_error, was_run
from pytest_retrieval.trial.stored import RUN_FURTHER, RUN_MEMBERS


@dataclass(frozen=True, slots=True)
class Reused:
    """The invocations of a report: ``digest`` is ``sha256:`` and that of its bytes."""

    digest: str
    entries: Mapping[tuple[str, str], Mapping[str, Any]]  # by task and arm

    def record(self, task: str, label: str, prompt_sha256: str, repeat: int = 0) -> dict[str, Any] | None:
        """The raw record of an invocation with exactly this prompt, marked as reused; None to run it anew.

        One that erred, was never run, or ended badly without claims is run anew.
        """
        entry = self.entries.get((task, label))
        if entry is None or entry["prompt_sha256"] != prompt_sha256 or repeat >= len(entry["runs"]):
            return None
        run = entry["runs"][repeat]
        if not is_reusable(run):
            return None
        raw = {name: value for name, value in run.items() if name in RUN_MEMBERS or name in RUN_FURTHER}
        return {**raw, "reused_from": self.digest}


def is_reusable(run: Mapping[str, Any]) -> bool:
    """Whether a raw record need not be made again: it was run without an error, and can be scored."""
    return "error" not in run and was_run(run) and not score_error(run, extract(run["reply"]))


def load_reuse(path: Path, *, model: str, access: str, agent: Mapping[str, Any]) -> Reused:
    """The invocations of the trial report in ``path``, for a run with this model, access and agent identity.

    Raises UsageError where the report says another one of these, and ReportError for what is no trial report.
    """
    stored = read_trial(path)
    wanted: Mapping[str, Any] = {"model": model, "access": access, "agent": dict(agent)}
    for name, value in wanted.items():
        found = stored.header[name]
        if found != value:
            said = f"its {name} is {_shown(found, value)}, and this run's {_shown(value, found)}"
            raise UsageError(f"{path}: cannot be reused: {said}")
    entries = {
        (detail["id"], label): _bare(entry)
        for detail in stored.details()
        for label, entry in detail["arms"].items()
    }
    return Reused(f"sha256:{stored.sha256}", entries)


def _bare(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {"prompt_sha256": entry["prompt_sha256"], "runs": entry["runs"]}


def _shown(value: Any, other: Any) -> str:
    """A value for a message; of two identities only what differs."""
    if isinstance(value, Mapping) and isinstance(other, Mapping):
        value = {name: said for name, said in sorted(value.items()) if other.get(name) != said}
    return f"{value!a:.120}"
