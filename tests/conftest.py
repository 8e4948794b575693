from __future__ import annotations

import os
import shutil
import tempfile

import pytest
from hypothesis import settings

# A busy machine is not a fault.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")

CACHE = pytest.StashKey[str]()


def pytest_configure(config: pytest.Config) -> None:
    """Keep every test, and every run that a test starts, away from the user's own store."""
    config.stash[CACHE] = os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp(prefix="retrieval-cache-")


def pytest_unconfigure(config: pytest.Config) -> None:
    shutil.rmtree(config.stash[CACHE], ignore_errors=True)
