"""How options reach pytest and are read: ``--retrieval-NAME``, its ini twin and its short form."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest

from pytest_retrieval.errors import UsageError
from pytest_retrieval.plugin.option_table import OPTIONS, Option

GROUP = "retrieval"
WORKER_INPUT = "retrieval_run"  # what workers are told beside the options: the path of the run's folder
WORKER_KEY = "retrieval_key"  # and what seals the files in it that agents are not to read


def add_options(parser: pytest.Parser) -> None:
    """Register every long option and its ini twin."""
    group = parser.getgroup(GROUP, "retrieval (benchmarks of code retrieval)")
    for option in OPTIONS:
        names = ["--retrieval-" + option.name]
        if option.alias:
            names.append("--retrieval-" + option.alias)
        _add(group, names, option)
        twin = f"The same as --retrieval-{option.name}."
        parser.addini(option.dest, twin, type=option.ini_type, default=None)


def add_short_forms(parser: pytest.Parser) -> None:
    """Register the short forms that no other plugin and no conftest has taken.

    Called once all of them had their say: a second owner of one name would end every pytest run of that
    user with an error, so the late comer is us.
    """
    taken = _taken(parser)
    group = parser.getgroup(GROUP)
    for option in OPTIONS:
        name = "--" + option.name
        if option.short and name not in taken:
            _add(group, [name], option._replace(help=f"Short for --retrieval-{option.name}."))


def reclaim_values(config: pytest.Config, parser: pytest.Parser, args: Sequence[str]) -> None:
    """Take the values after short forms out of what pytest, not knowing these yet, takes for tests' paths.

    Their conftests are then not read: a snapshot is code of somebody else. The root directory has been chosen
    by now; where a value misled that choice, one line says what to write.
    """
    shorts = {f"--{option.name}" for option in OPTIONS if option.short and not option.flag} - _taken(parser)
    named = config.known_args_namespace
    for name, text in pairwise(args):
        if name not in shorts or text not in named.file_or_dir:
            continue
        named.file_or_dir.remove(text)
        if named.rootdir is None and named.inifilename is None and _misleads(config, text):
            raise pytest.UsageError(
                f"pytest took {text!r} after {name} for a test's path, and so {config.rootpath} for its root "
                f"directory: write {name}={text}"
            )


def _misleads(config: pytest.Config, text: str) -> bool:
    """Whether pytest's root directory may come from the path ``text`` and not from where it was started."""
    here = config.invocation_params.dir
    path = (here / text).resolve()
    if not path.exists():
        return False
    if config.inipath is None:
        return not path.is_relative_to(here.resolve())
    found = config.inipath.parent.resolve()
    return found.is_relative_to(path) and not here.resolve().is_relative_to(found)


def _add(group: pytest.OptionGroup, names: list[str], option: Option) -> None:
    if option.flag:
        group.addoption(*names, dest=option.dest, action="store_true", default=None, help=option.help)
        return
    action = "append" if option.many else "store"
    group.addoption(
        *names, dest=option.dest, action=action, default=None, metavar=option.metavar, help=option.help
    )


def _taken(parser: pytest.Parser) -> set[str]:
    """Every option string registered so far; pytest publishes no list of them."""
    groups = [parser._anonymous, *parser._groups]
    return {name for group in groups for option in group.options for name in option.names()}


def names_with_values() -> set[str]:
    """Every name of an option that is followed by a value."""
    found: set[str] = set()
    for option in OPTIONS:
        if not option.flag:
            found.update({f"--{option.name}"} if option.short else ())
            found.update(f"--retrieval-{name}" for name in (option.name, option.alias) if name)
    return found


def values(config: pytest.Config, name: str) -> tuple[str, ...]:
    """All values of a repeatable option: the command line's, else the ini file's."""
    given = _given(config, name)
    if given is None:
        return ()
    return (given,) if isinstance(given, str) else tuple(given)


def value(config: pytest.Config, name: str) -> str | None:
    """The value of a single option: the command line's, else the ini file's, else None."""
    given = _given(config, name)
    return None if given is None or given == "" else str(given)


def flag(config: pytest.Config, name: str) -> bool:
    """Whether a flag was typed or is set in the ini file."""
    return _given(config, name) == "True"


def from_command_line(config: pytest.Config, name: str) -> bool:
    """Whether the option was typed, so that relative paths mean the invocation directory."""
    return getattr(config.option, _dest(name), None) is not None


def _given(config: pytest.Config, name: str) -> str | list[str] | None:
    found: str | int | list[str] | None = getattr(config.option, _dest(name), None)
    if found is None:
        try:
            found = config.getini(_dest(name))
        except (pytest.UsageError, TypeError, ValueError) as error:
            raise UsageError(f"ini option {_dest(name)}: {error}") from None
    return str(found) if isinstance(found, int) else found


def _dest(name: str) -> str:
    return next(option.dest for option in OPTIONS if option.name == name)
