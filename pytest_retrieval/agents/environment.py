"""What an agent sees of the environment: what it needs to work, nothing of the run that asks it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from pytest_retrieval.agents.description import AgentDescription
from pytest_retrieval.programs.process import allowed_environment

# They name the task, the caller's folder with the corpus, or another repository than the agent's.
_WITHHELD = ("PYTEST_*", "COV_CORE_*", "GIT_*", "OLDPWD")


def agent_environment(
    description: AgentDescription, directory: Path, values: Mapping[str, str]
) -> dict[str, str]:
    """All that the agent sees: what is inherited, or passed on by name, and then the description's own.

    A variable of its own whose value has an empty field is left out.
    """
    kept = {name: value for name, value in os.environ.items() if not _matches(name, _WITHHELD)}
    if description.env_pass is not None:
        passed = {name: value for name, value in kept.items() if _matches(name, description.env_pass)}
        kept = {**allowed_environment(), **passed}
    own = {
        name: template.render(values)
        for name, template in description.env
        if all(values[field] for field in template.fields)
    }
    return {**kept, "PWD": str(directory), **own}


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
