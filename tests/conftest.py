from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# A busy machine is not a fault.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")

CACHE = pytest.StashKey[str]()


def pytest_configure(config: pytest.Config) -> None:
    """Keep every test, and every run that a test starts, away from the user's own store.

    Where Python is told to keep no byte code, each of the hundreds of processes would compile all that it
    imports: they keep it in a folder of this run.
    """
    config.stash[CACHE] = os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp(prefix="retrieval-cache-")
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # in the background of a script
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", None):
        os.environ["PYTHONPYCACHEPREFIX"] = str(Path(config.stash[CACHE], "bytecode"))


def pytest_unconfigure(config: pytest.Config) -> None:
    shutil.rmtree(config.stash[CACHE], ignore_errors=True)


@pytest.fixture(scope="session", autouse=True)
def _own_runs() -> Iterator[None]:
    """What this run and its workers are told reaches no run that a test starts."""
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name == "PYTEST_ADDOPTS" or name.startswith("PYTEST_XDIST_"):
                patch.delenv(name)
        yield
