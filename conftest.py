"""Lets a plain ``pytest`` find the plugin in a checkout where the package is not installed.

Where it is installed, its entry point has loaded it already and nothing happens here: a plugin that is
registered twice ends the run.
"""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Register the plugin unless it is there or was declined with ``-p no:retrieval``."""
    from pytest_retrieval import plugin
    from pytest_retrieval.plugin import options

    if not pluginmanager.is_registered(plugin) and not pluginmanager.is_blocked("retrieval"):
        pluginmanager.register(plugin, "retrieval")
        # The hook that adds these runs before conftests are read, so it was missed.
        options.add_short_forms(parser)
