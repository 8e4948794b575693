"""The report of a trial: outcomes become one document, the same bytes whatever their order."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from typing import Any

from pytest_retrieval import __version__
from pytest_retrieval.errors import ReportError
from pytest_retrieval.model import NOT_OBSERVED
from pytest_retrieval.report.build import Place, Report
from pytest_retrieval.report.canonical import PROFILE, encode
from pytest_retrieval.trial.attempts import Attempts, attempts_of, context_reasons, error_reasons
from pytest_retrieval.trial.manifest import PILOT
from pytest_retrieval.trial.pairs import Compared, compare_arms, compared, trial_pairs
from pytest_retrieval.trial.prices import from_facts
from pytest_retrieval.trial.scoring import score_detail
from pytest_retrieval.trial.summary import groups_of, summarise, unstable

KIND = "trial"
REQUIRED = frozenset(
    {"partition", "tasks_sha256", "tasks", "limit", "access", "agent", "skeleton_sha256", "prologues"}
    | {"sources", "selection"}
)
DEFAULTS: Mapping[str, Any] = {
    "version": __version__,
    "source": "",
    "model": "",
    "repeats": 1,
    "arms": {},
    "corvint": NOT_OBSERVED,
    "aider": NOT_OBSERVED,
    "gates": [],
    "environment": {},
}
OPTIONAL = frozenset({"pairs", "partial", "prices", "registration"})
ARM_SECTIONS = ("groups", "unstable")  # of an arm, beside what it declares

_FASTEST = 1  # zlib level


def build(header: Mapping[str, Any], details: Iterable[Mapping[str, Any]]) -> Report:
    """The report of ``details``, which are scored on the way, whatever the order in which they come.

    ``header`` has the manifest's ``partition``, ``tasks_sha256`` and ``source``; ``tasks``, how many were
    chosen; ``limit``, ``access``, ``model``, ``agent`` (its identity), ``skeleton_sha256``, ``prologues``
    (label -> ``{sha256, text}``), ``sources`` (``{path, sha256, rows, kept}``) and ``selection`` (``{of,
    chosen, lost}``). It may have ``arms`` (label -> facts, among them ``baseline`` and ``memorisation``),
    ``corvint``, ``aider``, ``repeats``, ``pairs`` (``(A, B)`` of labels), ``prices``
    (``ModelPrices.facts()``), ``partial``, ``registration``, ``environment``, ``gates`` and ``version``.
    A detail is a task's row with its arms and their runs. Raises ReportError for a header that lacks a key
    or has an unknown one, for a task that comes twice or from no listed source, and for what JSON
    does not hold.
    """
    if missing := REQUIRED - header.keys():
        raise ReportError(f"a trial report's header needs {', '.join(sorted(missing))}")
    if unknown := header.keys() - REQUIRED - DEFAULTS.keys() - OPTIONAL:
        raise ReportError(f"a trial report's header has no {', '.join(sorted(unknown))}")
    gathered = _Gathered({**DEFAULTS, **header})
    for detail in details:
        gathered.add(detail)
    return gathered.report()


class _Gathered:
    """What the summaries need of every task, and the scored details as packed bytes."""

    def __init__(self, header: Mapping[str, Any]) -> None:
        self._header = header
        self._prices = from_facts(header.get("prices"))
        self._sources = {source["sha256"]: place for place, source in enumerate(header["sources"])}
        self._packed: dict[Place, bytes] = {}
        self._tasks: dict[Place, Compared] = {}
        self._attempts: dict[Place, dict[str, Attempts]] = {}
        self._groups: dict[Place, tuple[str, ...]] = {}
        self._judged: set[Place] = set()

    def add(self, detail: Mapping[str, Any]) -> None:
        """Take in one task."""
        place = self._place(detail)
        scored = score_detail(detail, self._prices)
        attempts = {label: attempts_of(scored, entry) for label, entry in scored["arms"].items()}
        self._packed[place] = zlib.compress(encode(scored), _FASTEST)
        self._tasks[place] = compared(scored, attempts)
        self._attempts[place] = attempts
        self._groups[place] = groups_of(scored)
        if not any(tried.missing for tried in attempts.values()):
            self._judged.add(place)

    def report(self) -> Report:
        """The report of what was taken in."""
        places = sorted(self._packed)
        head = {name: value for name, value in self._header.items() if name != "pairs"}
        arms = {
            label: {**self._header["arms"].get(label, {}), **self._arm(label, places)}
            for label in self._labels()
        }
        pairs = self._header.get("pairs") or trial_pairs(arms)
        head |= {
            "kind": KIND,
            "profile": PROFILE,
            "pilot": self._header["partition"] == PILOT,
            "arms": arms,
            "paired": compare_arms(pairs, [self._tasks[place] for place in places]),
            "selection": self._selection(places),
        }
        return Report(head, [self._packed[place] for place in places])

    def _labels(self) -> list[str]:
        """The arms that the header names, then those that tasks have beside them."""
        found = sorted({label for attempts in self._attempts.values() for label in attempts})
        return list(dict.fromkeys([*self._header["arms"], *found]))

    def _arm(self, label: str, places: Iterable[Place]) -> dict[str, Any]:
        """An arm's groups, and the tasks that it solves in some attempts only."""
        groups: dict[str, list[Attempts]] = {"all": []}
        for place in places:
            if label in self._attempts[place]:
                for name in self._groups[place]:
                    groups.setdefault(name, []).append(self._attempts[place][label])
        repeats = self._header["repeats"]
        summaries = {name: summarise(attempts, repeats) for name, attempts in groups.items()}
        summaries["all"]["error_reasons"] = error_reasons(groups["all"])
        if reasons := context_reasons(groups["all"]):
            summaries["all"]["context_reasons"] = reasons
        return {"groups": summaries, **({"unstable": unstable(groups["all"])} if repeats > 1 else {})}

    def _place(self, detail: Mapping[str, Any]) -> Place:
        task = f"task {detail['id']!a:.80}"
        if detail["source"] not in self._sources:
            raise ReportError(f"{task} comes from a manifest that the report does not list")
        place = (self._sources[detail["source"]], detail["row"], detail["ordinal"], detail["id"])
        if place in self._packed:
            raise ReportError(f"{task} (row {detail['row']}) comes twice")
        return place

    def _selection(self, places: Iterable[Place]) -> dict[str, Any]:
        """What was chosen, judged and lost: a task with an invocation that was never run is lost, too."""
        digests = [source["sha256"] for source in self._header["sources"]]
        known = {(digests[place[0]], place[3], place[2]) for place in self._judged}
        lost = {_identity(item): item for item in self._header["selection"].get("lost", ())}
        for place in places:
            if place not in self._judged:
                item = {
                    "source": digests[place[0]],
                    "id": place[3],
                    "ordinal": place[2],
                    "why": "not finished",
                }
                lost.setdefault(_identity(item), item)
        return {
            **self._header["selection"],
            "judged": len(known),
            "lost": [lost[identity] for identity in sorted(lost.keys() - known)],
        }


def _identity(item: Mapping[str, Any]) -> tuple[str, str, int]:
    return item["source"], item["id"], item["ordinal"]
