"""The door to pytest. This module is loaded in every pytest run of an environment, so it imports nothing
but the table of options; everything else waits for a bench item or one of our options.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

import pytest

from pytest_retrieval.plugin import options

if TYPE_CHECKING:
    from pytest_retrieval.plugin.role import Role

ROLE: pytest.StashKey[Role] = pytest.StashKey()

MARKERS = (
    "retrieval(task=None, samples=None, corpus=None, snapshot=None, release=None): judge samples of a "
    "benchmark, one item each; paths are relative to the test file",
    "retrieval_trial(tasks=None, corpus=None, snapshot=None, history=None): ask an agent the tasks of a run "
    "manifest, one item each; paths are relative to the test file",
    "sample(repo, task, stratum, fold, language, id): what an item judges, to choose by: "
    "-m \"sample(language='go')\"",
    "fold_A: samples of fold A",
    "fold_B: samples of fold B",
    "fold_unassigned: samples of repositories outside the frozen folds",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Register the long options and their ini twins."""
    options.add_options(parser)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Register what a user's conftest may implement."""
    from pytest_retrieval import hookspecs

    pluginmanager.add_hookspecs(hookspecs)


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(
    early_config: pytest.Config, parser: pytest.Parser, args: list[str]
) -> Generator[None]:
    """Add the short forms last, when it is known which names others have taken.

    Their values, which pytest could not know for any, are kept from being taken for the paths of tests.
    """
    options.reclaim_values(early_config, parser, args)
    yield
    options.add_short_forms(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Declare the markers, offer the fixtures, and check the options that were given."""
    from pytest_retrieval.plugin import fixtures
    from pytest_retrieval.plugin.role import Role
    from pytest_retrieval.plugin.trial import fixtures as trial_fixtures

    for marker in MARKERS:
        config.addinivalue_line("markers", marker)
    config.stash[ROLE] = role = Role(config)
    if hasattr(config.hook, "pytest_configure_node") and not role.is_worker:  # xdist, by whatever name
        from pytest_retrieval.plugin.workers import Workers

        config.pluginmanager.register(Workers(role), "retrieval-workers")
    config.pluginmanager.register(fixtures, "retrieval-fixtures")
    config.pluginmanager.register(trial_fixtures, "retrieval-trial-fixtures")
    config.pluginmanager.register(role, "retrieval-role")
    role.check_options()


def pytest_unconfigure(config: pytest.Config) -> None:
    """Let go of everything that the run made."""
    if (role := config.stash.get(ROLE, None)) is not None:
        role.close()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make an item of every sample or task that a marker of ours names."""
    if metafunc.definition.get_closest_marker("retrieval") is not None:
        metafunc.config.stash[ROLE].parametrize(metafunc)
    elif metafunc.definition.get_closest_marker("retrieval_trial") is not None:
        metafunc.config.stash[ROLE].parametrize_trial(metafunc)
