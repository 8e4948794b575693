"""What a process holds of a run, from the first bench item or typed option to its end, whatever ends it."""

from __future__ import annotations

import atexit
import os
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_retrieval.plugin.fixtures import BENCH
from pytest_retrieval.plugin.session import BenchSession
from pytest_retrieval.plugin.trial.fixtures import TRIAL
from pytest_retrieval.programs.interrupts import Interrupts, postponed_interrupts
from pytest_retrieval.snapshots.scratch import RunFolder

if TYPE_CHECKING:
    import pytest

    from pytest_retrieval.plugin.trial.session import TrialSession


class Lifetime:
    """The states of all kinds of items; from its beginning SIGTERM ends the process as Ctrl-C does.

    ``run_path`` is the private folder of the run, which the process that ``owns`` the run removes, ``key``
    what seals files in it.
    """

    def __init__(self, config: pytest.Config, run_path: Path, key: str, *, owns: bool) -> None:
        self._config = config
        self._run_path = run_path
        self._key = key
        self._owns = owns
        self._exits = ExitStack()
        self.interrupts = Interrupts()
        self._exits.enter_context(self.interrupts.installed())
        # A worker whose controller is gone fails before it comes to unconfigure.
        atexit.register(self._leave, os.getpid())
        self._exits.callback(atexit.unregister, self._leave)
        config.stash[BENCH] = self.bench = BenchSession(config, run_path)

    @property
    def trial(self) -> TrialSession:
        """The state where agents are asked, made at first use."""
        if TRIAL not in self._config.stash:
            from pytest_retrieval.plugin.trial.session import TrialSession

            self._config.stash[TRIAL] = TrialSession(self.bench, self._key)
        return self._config.stash[TRIAL]

    def close(self) -> None:
        """Close arms and snapshots; harmless when repeated.

        The run is over: an interrupt ends an arm that will not close, and is nothing more.
        """
        with self._exits, suppress(KeyboardInterrupt):
            try:
                with closing(self.bench):
                    if TRIAL in self._config.stash:
                        self.trial.close()
            finally:
                if self._owns:
                    remove_folder(self._run_path)

    def _leave(self, process: int) -> None:
        """Close at the exit of the process that began, not at that of its forks."""
        if os.getpid() == process:
            self.close()


def remove_folder(run_path: Path) -> None:
    """Remove the private folder of a run, unless another process of it is still there."""
    with postponed_interrupts():
        if run_path.exists():
            RunFolder.enter(run_path).remove()
