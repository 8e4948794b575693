"""Where people already look: a job's summary and annotations on GitHub, and properties in JUnit's XML.

All of it is said by the controller once the reports are written, but for an item's own properties, which
travel with its test report. What cannot be written is a line at the end, and fails nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_retrieval.gates.lines import fails, verdict_line
from pytest_retrieval.plugin import options
from pytest_retrieval.report.pieces import printable

if TYPE_CHECKING:
    from pytest_retrieval.plugin.harvest import Harvest

SUMMARY = "GITHUB_STEP_SUMMARY"
ACTIONS = "GITHUB_ACTIONS"
MAX_SUMMARY = 1 << 20  # of one step; a larger one is dropped whole
_ANNOTATIONS = 10  # of a kind that a step may have
_WIDTH = 100  # of a summary that is no Markdown
_LONGEST = 200  # characters of an error in a property
_PROPERTIES = ("recall@10", "mrr@k")
_TOTALS = ("success", "errors")  # of all samples; the former of a trial, a rate with its interval


class Publishing:
    """The hooks of the controller, for the reports of ``harvests``."""

    def __init__(self, config: pytest.Config, harvests: Sequence[Harvest]) -> None:
        self._config = config
        self._harvests = harvests

    @pytest.hookimpl(tryfirst=True)  # before the XML is written
    def pytest_sessionfinish(self) -> None:
        """Give the XML's suite a property per arm and measure."""
        for plugin in self._config.pluginmanager.get_plugins():
            add = getattr(plugin, "add_global_property", None)
            if add is not None:
                for name, text in self._suite_properties():
                    add(name, text)

    @pytest.hookimpl(trylast=True)  # after the table
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Append to the job's summary, and annotate what failed."""
        if options.flag(self._config, "no-github"):
            return
        if path := os.environ.get(SUMMARY):
            for harvest in self._harvests:
                if (trouble := _append(Path(path), harvest)) is not None:
                    terminalreporter.write_line(f"{SUMMARY}: {trouble}", yellow=True)
        if os.environ.get(ACTIONS) == "true":
            gates = [gate for harvest in self._harvests for gate in (harvest.summary or {}).get("gates", ())]
            for line in workflow_commands(gates):
                terminalreporter.write_line(line)

    def _suite_properties(self) -> Iterator[tuple[str, str]]:
        for harvest in self._harvests:
            if harvest.summary is None:
                continue
            yield "retrieval.report", printable(os.path.relpath(harvest.place.report, self._config.rootpath))
            for label, arm in harvest.summary["arms"].items():
                group = arm.get("groups", {}).get("all", {})
                for name in (*_PROPERTIES, *_TOTALS, *harvest.summary.get("measures", ())):
                    found = group.get(name)
                    value = found.get("rate") if isinstance(found, Mapping) else found
                    if value is not None:
                        yield f"retrieval.{label}.{name}", str(value)


def item_properties(detail: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What an item's element in JUnit's XML tells of its sample: plain text, for it crosses processes."""
    found = [("retrieval.sample", printable(detail["id"]))]
    for label, measures in detail["metrics"].items():
        answer = detail["arms"][label]
        if "error" in answer:
            found.append((f"retrieval.{label}.error", printable(answer["error"])[:_LONGEST]))
        names = _PROPERTIES if detail["gold"] else ("selective_success",)
        found += [(f"retrieval.{label}.{name}", str(measures[name])) for name in names if name in measures]
    return found


def workflow_commands(gates: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Workflow commands for gates that failed, as errors, and for undecided ones, as warnings."""
    failed = [gate for gate in gates if fails(gate)]
    undecided = [gate for gate in gates if gate["status"] == "undecided" and not fails(gate)]
    yield from _commands("error", failed)
    yield from _commands("warning", undecided)


def _commands(kind: str, gates: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    messages = [verdict_line(gate) for gate in gates]
    if len(messages) > _ANNOTATIONS:
        rest = len(messages) - _ANNOTATIONS + 1
        messages = [*messages[: _ANNOTATIONS - 1], f"{rest} more gates; the report has them all"]
    for message in messages:
        yield f"::{kind} title={_property('Retrieval gate')}::{_data(printable(message))}"


def _data(text: str) -> str:
    """``text`` as the message of a workflow command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """``text`` as a property of a workflow command."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _append(path: Path, harvest: Harvest) -> str | None:
    """Add one report to the job's summary; what went wrong, or None."""
    if harvest.summary is None or harvest.report is None:
        return None
    from pytest_retrieval.report.exports import markdown, trialtables

    try:
        with path.open("ab") as target:
            room = MAX_SUMMARY - target.tell()
            bound = min(room - 1, markdown.MAX_BYTES)
            if bound < markdown.LEAST_BYTES:
                return f"{room} bytes are left of its MiB; the report is in {harvest.place.report}"
            if "ceiling" in harvest.summary:
                text = markdown.summary(harvest.summary, harvest.report.details(), bound)
            elif harvest.summary["kind"] == "trial":
                text = trialtables.summary(harvest.summary, harvest.report.details(), bound)
            else:
                lines = ("".join(text for text, _ in line) for line in harvest.lines(_WIDTH, None))
                text = markdown.preformatted(lines, bound)
            target.write(text.encode() + b"\n")
    except OSError as error:
        return f"cannot be written: {error.strerror or error}"
    return None
