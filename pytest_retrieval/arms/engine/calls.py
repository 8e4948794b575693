"""The calls of an engine: words and environment from its templates, and what the end of a program means."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import signal
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from pytest_retrieval.arms.engine.identity import find_program
from pytest_retrieval.arms.program import diagnostics, inherited_environment
from pytest_retrieval.engines.description import Command, Description
from pytest_retrieval.engines.trees import Corpus, IndexedTree
from pytest_retrieval.errors import ArmError
from pytest_retrieval.programs.process import ALLOWED, Completed, ProgramError, allowed_environment, run

OUTPUT_LIMIT = 64 << 20
GRACE = 1.0
_SECRET = 4  # characters: what is shorter stands in half of all texts
# What would change a tool behind its description's back.
_WITHHELD = ("RIPGREP_CONFIG_PATH", "GREP_OPTIONS", "GREP_COLOR", "GREP_COLORS")
_SURROGATES = re.compile("[\ud800-\udfff]")


def fixed_values(description: Description) -> dict[str, str]:
    """The template fields that are the same for every tree: all are additions to the original's."""
    return {"Here": str(description.folder), "Python": sys.executable, "Port": "0"}


def tree_values(description: Description, tree: IndexedTree, corpus: Corpus, state: Path) -> dict[str, str]:
    """The template fields that are the same for every query of a tree."""
    return {
        **fixed_values(description),
        "Root": str(tree.root),
        "Name": corpus.name,
        "Lang": corpus.language,
        "State": str(state),
    }


def query_values(text: str, files: int, per_file: int, description: Description) -> dict[str, str]:
    """The template fields of a query for ``files`` files."""
    return {"Query": clean(text), **depth_values(files, description), "PerFile": str(per_file)}


def depth_values(files: int, description: Description) -> dict[str, str]:
    """The template fields that say how much is wanted."""
    return {"K": str(files), "N": str(files * description.candidates)}


def clean(text: str) -> str:
    """``text`` with U+FFFD where JSON smuggled in half a character."""
    return _SURROGATES.sub("\N{REPLACEMENT CHARACTER}", text)


def environment(description: Description, values: Mapping[str, str]) -> dict[str, str]:
    """All that the tool sees: what is inherited, or passed on by name, and then the description's own.

    Raises:
        ArmError: a variable that is to be passed on is not set.
    """
    own = {name: template.render(values) for name, template in description.env}
    if description.env_pass is None:
        return {**inherited_environment(without=_WITHHELD), **own}
    passed = allowed_environment(description.env_pass)
    for name in description.env_pass:
        if name not in passed:
            raise ArmError(f"the environment variable {name}, which env_pass names, is not set")
    return {**allowed_environment(), **passed, **own}


def hidden(text: str, description: Description) -> str:
    """``text`` with their names in place of the values of the variables that are for the tool alone."""
    for name in description.secrets:
        value = os.environ.get(name, "")
        if len(value) >= _SECRET and name not in ALLOWED:
            text = text.replace(value, f"${name}")
    return text


@contextlib.contextmanager
def discreet(description: Description) -> Iterator[None]:
    """Within the block an error shows no value of a variable that is for the tool alone."""
    try:
        yield
    except ArmError as error:
        text = hidden(str(error), description)
        if text == str(error):
            raise
        raise ArmError(text) from None


def words(command: Command, values: Mapping[str, str], variables: Mapping[str, str]) -> list[str]:
    """The argv of ``command``; its first word is the program's whole path.

    Raises:
        ArmError: the program is not there, or a word has a NUL in it.
    """
    argv = [template.render(values) for template in command.argv]
    if any("\0" in word for word in argv):
        raise ArmError("a word of the command has a NUL character in it, which no program can be given")
    return [str(find_program(argv[0], variables.get("PATH"))), *argv[1:]]


def shown_command(command: Command, values: Mapping[str, str]) -> str:
    """The words as a shell would take them, though none is asked."""
    where = "" if command.dir is None else f"  (in {command.dir.render(values)})"
    return shlex.join(template.render(values) for template in command.argv) + where


def folder(command: Command, values: Mapping[str, str]) -> Path | None:
    """Where the command runs; None for this process's own directory.

    Raises:
        ArmError: there is no such directory.
    """
    if command.dir is None:
        return None
    place = Path(command.dir.render(values)).absolute()
    if not place.is_dir():
        raise ArmError(f"cannot start {command.argv[0].text!r}: there is no directory {place} (dir)")
    return place


def call(
    description: Description, command: Command, values: Mapping[str, str], *, metered: bool = False
) -> Completed:
    """Run ``command`` to its end under its bounds; every process that it started is gone then.

    Of a ``metered`` call it is told how much memory it needed.

    Raises:
        ArmError: it cannot be started.
    """
    variables = environment(description, values)
    argv = words(command, values, variables)
    stdin = None if command.stdin is None else command.stdin.render(values).encode("utf-8", "surrogateescape")
    try:
        return run(
            argv,
            timeout=command.timeout,
            cwd=folder(command, values),
            stdin=stdin,
            environment=variables,
            stdout_limit=OUTPUT_LIMIT,
            grace=GRACE,
            traced=True,
            metered=metered,
        )
    except ProgramError as error:
        raise ArmError(str(error)) from error


def check_end(done: Completed, command: Command, *, may_find_nothing: bool) -> None:
    """Refuse a call that failed; ``may_find_nothing`` allows the silent exit status 1 of a search.

    Raises:
        ArmError: it timed out, said too much, left another exit status than it may, or left processes behind.
    """
    said = diagnostics(done)
    words = f": {said}" if said else ""
    if done.timed_out:
        raise ArmError(f"timed out after {command.timeout:g} s{words}")
    if done.stdout_truncated:
        raise ArmError(f"standard output exceeds {OUTPUT_LIMIT:,} bytes")
    if done.returncode < 0:
        raise ArmError(f"was ended by {_signal(-done.returncode)}{words}")
    allowed = {0} if command.ok_exit is None else command.ok_exit
    silent = not done.stdout.strip() and not done.stderr.strip()
    found_nothing = may_find_nothing and command.ok_exit is None and done.returncode == 1 and silent
    if done.returncode not in allowed and not found_nothing:
        why = words or (" and said nothing" if silent else f", after {len(done.stdout):,} bytes of output")
        hint = "" if silent or words else "; ok_exit lists the statuses that are answers"
        raise ArmError(f"ended with exit status {done.returncode}{why}{hint}")
    if done.left_behind:
        raise ArmError(f"ended and left {done.left_behind} of its processes running; they were ended")


def counted(expression: re.Pattern[str] | None, done: Completed) -> int | None:
    """The last number that ``expression`` finds in what a program said; None where there is none."""
    if expression is None:
        return None
    said = b"\n".join((done.stdout, done.stderr)).decode("utf-8", "replace")
    found = [match[1].replace(",", "") for match in expression.finditer(said) if match[1]]
    return int(found[-1]) if found and found[-1].isdecimal() else None


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
