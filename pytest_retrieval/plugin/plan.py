"""What was collected and what was chosen: the controller's only knowledge of items that workers run.

A worker writes its plan into the run's folder before it reports its collection, for the controller of a
distributed run collects nothing itself.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pytest_retrieval.model import Sample, SampleFile

PLAN_FILE = "plan.json"
BENCH, SEARCHES = "bench", "codesearch"  # the kinds of samples: each has a report of its own
_AGENT_WEIGHT = 1 << 30  # of an agent, which works for seconds or minutes
_QUERY_WEIGHT = 500_000  # bytes of a chunk file that are read while one query is answered


@dataclass(slots=True)
class Entry:
    """One bench item: its sample by source (SHA-256) and row, and the keys of order and locality.

    ``size`` is that of its snapshot in bytes as far as a glance tells, else 0.
    """

    source: str
    row: int
    id: str
    ordinal: int
    repo: str
    commit: str
    size: int


class Load(NamedTuple):
    """What a scheduler knows of an item: the repository whose texts it shares, and how much work it is."""

    key: str
    weight: int


@dataclass(slots=True)
class Plan:
    """The bench items that are to run, by node id and in order, and the files they come from.

    ``of`` counts the samples of all suites before anything chose among them, ``skipped`` rows that are not
    judged by reason, both by kind; ``tasks`` are the tasks of all rows of all files. ``places`` says by
    digest where a file can be read again: its absolute path, and the repository and commit of its
    short-form rows, if any. ``corpora`` maps each corpus as it is shown to its place, ``explicit`` each
    snapshot that was named to its source and how that is shown. ``fault`` is why the options cannot be
    taken. ``searched`` says by digest which corpus of which file a code-search corpus is, ``refused`` by
    repository why one cannot be scored; ``notices`` are for the end of the run.
    """

    entries: dict[str, Entry] = field(default_factory=dict)
    sources: dict[str, dict[str, Any]] = field(default_factory=dict)
    tasks: set[str] = field(default_factory=set)
    skipped: dict[str, Counter[str]] = field(default_factory=dict)
    of: Counter[str] = field(default_factory=Counter)
    places: dict[str, tuple[str, tuple[str, str] | None]] = field(default_factory=dict)
    corpora: dict[str, str] = field(default_factory=dict)
    explicit: dict[str, tuple[str, str]] = field(default_factory=dict)
    fault: str | None = None
    searched: dict[str, tuple[str, str]] = field(default_factory=dict)
    refused: dict[str, list[str]] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)

    @property
    def chosen(self) -> list[str]:
        """The node ids of the items that are to run."""
        return list(self.entries)

    def add(self, nodeid: str, sample: Sample, size: int = 0) -> None:
        """Note an item that is to run, and the size of its snapshot."""
        self.entries[nodeid] = Entry(
            sample.source,
            sample.row,
            sample.id,
            sample.ordinal,
            sample.repo,
            sample.commit,
            size,
        )

    def add_source(self, sample_file: SampleFile) -> None:
        """Note a samples file."""
        self.sources[sample_file.sha256] = {
            "path": sample_file.path,
            "sha256": sample_file.sha256,
            "rows": len(sample_file.samples),
            "kept": len(sample_file.kept),
            **({"warnings": list(sample_file.warnings)} if sample_file.warnings else {}),
        }
        self.tasks.update(sample.task for sample in sample_file.samples)

    def count_skipped(self, reasons: Iterable[str], kind: str) -> None:
        """Note rows of a kind that are not judged, by reason."""
        if counted := Counter(reasons):
            self.skipped.setdefault(kind, Counter()).update(counted)

    def kinds(self) -> list[str]:
        """The kinds of the samples that are to run."""
        found = {self._kind(entry.source) for entry in self.entries.values()}
        return [kind for kind in (BENCH, SEARCHES) if kind in found]

    def part(self, kind: str) -> Plan:
        """The plan of the samples of one kind, which have a report of their own."""
        return replace(
            self,
            entries={
                nodeid: entry for nodeid, entry in self.entries.items() if self._kind(entry.source) == kind
            },
            sources={digest: told for digest, told in self.sources.items() if self._kind(digest) == kind},
            tasks={task for task in self.tasks if (task == SEARCHES) == (kind == SEARCHES)},
            skipped={kind: self.skipped.get(kind, Counter())},
            of=Counter({kind: self.of[kind]}),
        )

    def _kind(self, source: str) -> str:
        return SEARCHES if source in self.searched else BENCH

    def ordered_sources(self) -> list[dict[str, Any]]:
        """The files in the order of the report: by path, then digest, whatever was collected first."""
        return sorted(self.sources.values(), key=lambda source: (source["path"], source["sha256"]))

    def warnings(self) -> list[str]:
        """What was noticed in the samples files, and the notices of the collection."""
        noticed = [f"{s['path']}: {line}" for s in self.ordered_sources() for line in s.get("warnings", ())]
        return [*noticed, *self.notices]

    def nothing(self) -> str | None:
        """Why no suite has a sample, where its files were read: one line, or None where one has."""
        if self.of.total() or not (self.sources or self.skipped):
            return None
        reasons = sum(self.skipped.values(), Counter[str]())
        skipped = reasons.total()
        rows = max(skipped, sum(source["rows"] for source in self.sources.values()))
        if not skipped:
            return f"retrieval: no sample to judge: none of {rows} rows has the task of a suite that is run"
        listed = ", ".join(f"{reason}: {count}" for reason, count in sorted(reasons.items()))
        return f"retrieval: no sample to judge: {skipped} of {rows} rows skipped ({listed})"

    def snapshots(self) -> set[tuple[str, str]]:
        """The repository and commit of each snapshot that the items ask for."""
        return {(entry.repo, entry.commit) for entry in self.entries.values()}

    def loads(self, nodeids: Sequence[str], alone: Collection[str] = ()) -> list[Load] | None:
        """The load of each item, or None when there is no item of ours.

        The first item of a snapshot carries the work of reading it. Those ``alone`` share nothing, and take
        their time.
        """
        if not self.entries and not alone:
            return None
        seen: set[tuple[str, str]] = set()
        loads = []
        for nodeid in nodeids:
            entry = self.entries.get(nodeid)
            if nodeid in alone:
                loads.append(Load(nodeid, _AGENT_WEIGHT))
                continue
            if entry is None:
                loads.append(Load(nodeid.partition("::")[0], _QUERY_WEIGHT))
                continue
            snapshot = (entry.repo, entry.commit)
            loads.append(Load(entry.repo, _QUERY_WEIGHT + (0 if snapshot in seen else entry.size)))
            seen.add(snapshot)
        return loads

    def write(self, folder: Path) -> None:
        """Leave the plan in ``folder``, unless another worker of the run has done so."""
        target = folder / PLAN_FILE
        if target.exists():
            return
        record = {
            "entries": {
                nodeid: [getattr(entry, name) for name in Entry.__slots__]
                for nodeid, entry in self.entries.items()
            },
            "sources": self.sources,
            "tasks": sorted(self.tasks),
            "skipped": self.skipped,
            "of": self.of,
            "places": self.places,
            "corpora": self.corpora,
            "explicit": self.explicit,
            "searched": self.searched,
            "refused": self.refused,
            "notices": self.notices,
            "fault": self.fault,
        }
        temporary = folder / f"{PLAN_FILE}.{os.getpid()}"
        temporary.write_text(json.dumps(record), encoding="utf-8")
        temporary.replace(target)

    @classmethod
    def read(cls, folder: Path) -> Plan | None:
        """The plan that a worker left in ``folder``, or None when no worker met a suite."""
        try:
            record = json.loads((folder / PLAN_FILE).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        entries = {nodeid: Entry(*values) for nodeid, values in record["entries"].items()}
        places = {
            digest: (path, None if default is None else (default[0], default[1]))
            for digest, (path, default) in record["places"].items()
        }
        return cls(
            entries=entries,
            sources=record["sources"],
            tasks=set(record["tasks"]),
            skipped={kind: Counter(counts) for kind, counts in record["skipped"].items()},
            of=Counter(record["of"]),
            places=places,
            corpora=record["corpora"],
            explicit={name: (source, shown) for name, (source, shown) in record["explicit"].items()},
            searched={digest: (path, name) for digest, (path, name) in record["searched"].items()},
            refused=record["refused"],
            notices=record["notices"],
            fault=record["fault"],
        )
