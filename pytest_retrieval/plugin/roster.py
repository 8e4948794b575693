"""What the chosen arms say of themselves: each is made once to be asked, before the first sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pytest_retrieval.arms.base import Arm
from pytest_retrieval.arms.observed import is_observed
from pytest_retrieval.arms.program import Program, is_asking
from pytest_retrieval.arms.registry import ArmSpec
from pytest_retrieval.errors import UsageError
from pytest_retrieval.model import Capabilities

if TYPE_CHECKING:
    import argparse

    from pytest_retrieval.plugin.settings import Settings


class Roster:
    """The arms of a run by label; what is made here is never prepared, nor asked a question."""

    def __init__(self, specs: Sequence[ArmSpec]) -> None:
        self._specs = specs

    @cached_property
    def arms(self) -> Mapping[str, Arm | None]:
        """Each arm, or None for one that cannot be made.

        Raises:
            UsageError: an arm says that what the run was given is wrong, such as a program that is not there.
        """
        return {spec.label: _made(spec) for spec in self._specs}

    @cached_property
    def facts(self) -> dict[str, dict[str, Any]]:
        """What each arm declares; one that cannot be made declares nothing."""
        return {label: declared(label, arm) for label, arm in self.arms.items()}

    @property
    def notices(self) -> list[str]:
        """What the arms have to say at the end of the run."""
        return [
            f"arm {label}: {line}" for label, arm in self.arms.items() for line in getattr(arm, "notices", ())
        ]

    @property
    def programs(self) -> dict[str, Program]:
        """The programs that arms ask, by the section of the report that identifies them."""
        return {arm.section: arm.program for arm in self.arms.values() if is_asking(arm)}

    @property
    def observed(self) -> str:
        """The label of the one arm that tells whether its store was hit.

        Raises:
            UsageError: there is none, or there are several.
        """
        labels = [label for label, arm in self.arms.items() if is_observed(arm)]
        if len(labels) != 1:
            found = f"{' and '.join(labels)} do" if labels else "none does"
            raise UsageError(
                "exactly one arm must tell whether its store was hit, as context of --corvint does, and "
                f"{found}"
            )
        return labels[0]

    def check(self, settings: Settings, option: argparse.Namespace) -> None:
        """See that the programs of the arms are there, and that the arms can do what a mode asks of them.

        Raises:
            UsageError: they are not, or cannot; or the mode does not go with other options.
        """
        _ = self.arms
        modes = {
            "snapshot-latency": settings.snapshot_latency,
            "context-packets": settings.capture is not None,
        }
        if settings.alternate and settings.capture is not None:
            raise UsageError(
                "--retrieval-context-packets: a capture holds matched calls in the order cold, hit; leave"
                " --retrieval-latency-order out"
            )
        for name in (name for name, wanted in modes.items() if wanted):
            try:
                _ = self.observed
            except UsageError as error:
                raise UsageError(f"--retrieval-{name}: {error}") from None
            if getattr(option, "dist", "no") != "no" or getattr(option, "tx", None):
                raise UsageError(f"--retrieval-{name} measures in one process: leave -n and --dist out")
            if settings.registration is None:
                raise UsageError(f"--retrieval-{name} needs --report FILE or --retrieval-registration FILE")


def declared(label: str, arm: Arm | None) -> dict[str, Any]:
    """Name, version and capabilities of an arm."""
    try:
        return {
            "name": str(getattr(arm, "name", "") or label),
            "version": str(getattr(arm, "version", "unknown")),
            "capabilities": asdict(Capabilities() if arm is None else arm.capabilities),
            **({"baseline": True} if getattr(arm, "baseline", False) else {}),
        }
    # An arm that cannot be asked is a fault on each of its rows, with its reason; here it is mute.
    except (Exception, SystemExit):  # noqa: BLE001
        return {"name": label, "version": "unknown", "capabilities": asdict(Capabilities())}


def _made(spec: ArmSpec) -> Arm | None:
    try:
        return spec.create()
    except UsageError:
        raise
    # As above: what it raises is told on each of its rows.
    except (Exception, SystemExit):  # noqa: BLE001
        return None
