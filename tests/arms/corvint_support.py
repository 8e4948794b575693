"""The reference program, small trees to ask it about, and packets without any program."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from pytest_retrieval.arms.corvint import corvint_arms
from pytest_retrieval.arms.corvint_verb import CorvintVerb
from pytest_retrieval.arms.observed import Observed
from pytest_retrieval.arms.packet import Packet
from pytest_retrieval.arms.program import Identity, Program
from pytest_retrieval.model import Answer, Capabilities, Query
from pytest_retrieval.snapshots.base import Snapshot

FAKE = Path(__file__).parents[2] / "testdata" / "fake_corvint.py"
RING = {
    "ring.c": b"int ring_wrap(void) { return head; }\n",
    "ring_test.c": b"#include ring\nassert wrap\n",
    "spare_test.c": b"nothing\n",
    "notes.md": b"the ring buffer\r\nhas no line feed at its end",
}


def unasked_program() -> Program:
    """A program that is never started: there is none."""
    program = Program(Path("/nonexistent/corvint"))
    program.identity = Identity("corvint 0", "0" * 64)
    return program


@cache
def reference_program() -> Program:
    """The reference program, with an identity for which no process was started."""
    program = Program.find(str(FAKE))
    program.identity = Identity("fake-corvint 1.0", "0" * 64)
    return program


def verb(name: str, program: Program | None = None) -> CorvintVerb:
    """The arm of that name, of the reference program unless another is given."""
    arm = corvint_arms(program or reference_program())[name]()
    assert isinstance(arm, CorvintVerb)
    return arm


def ready(name: str, snapshot: Snapshot, timeout: float = 60.0) -> CorvintVerb:
    """The arm of that name of the reference program, prepared for ``snapshot``."""
    arm = verb(name)
    arm.capabilities = Capabilities(worktree=True, timeout=timeout)
    arm.prepare(snapshot)
    return arm


def read(name: str, packet: Any, *, changed_file: str | None = None) -> Answer:
    """How the arm of that name reads ``packet``, a JSON value or bytes."""
    data = packet if isinstance(packet, bytes) else json.dumps(packet).encode()
    return verb(name, unasked_program()).read(Packet.parse(data), Query("t", {}, changed_file=changed_file))


def paths(answer: Answer) -> list[str]:
    return [hit.path for hit in answer.hits]


def query(text: str = "ring", *, limit: int = 20, changed_file: str | None = None) -> Query:
    return Query(text, {}, changed_file=changed_file, limit=limit)


def calls(log: Path) -> list[Mapping[str, Any]]:
    """What the reference program wrote to its log."""
    return [json.loads(line) for line in log.read_text().splitlines()]


def ask_index(arm: CorvintVerb) -> None:
    assert isinstance(arm, Observed)
    arm.index()


QUESTIONS: Mapping[str, Callable[[CorvintVerb], object]] = {
    "rank": lambda arm: arm.rank(query(changed_file="ring.c")),
    "index": ask_index,
}
