"""The registration and the capture of real runs; their pure parts are tested in tests/report."""

from __future__ import annotations

import hashlib
import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_retrieval.report.identity import strip_times
from tests.plugin.corvint_support import COMMITS, REPO, Ring, package, sample

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks processes up in /proc")


@pytest.fixture(scope="session")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return package(tmp_path_factory.mktemp("package"))


@pytest.fixture
def ring(tmp_path: Path, python: Path) -> Ring:
    return Ring(tmp_path, python)


def same(out: Path) -> tuple[str, str]:
    return f"{out}/one.json", f"{out}/one.json"


def dotted(out: Path) -> tuple[str, str]:
    return f"{out}/one.json", f"{out}/./one.json"


def relative(out: Path) -> tuple[str, str]:
    return f"{out}/one.json", "../out/one.json"


def hard_link(out: Path) -> tuple[str, str]:
    (out / "one.json").write_text("before")
    os.link(out / "one.json", out / "two.json")
    return f"{out}/one.json", f"{out}/two.json"


def link(out: Path) -> tuple[str, str]:
    (out / "one.json").write_text("before")
    (out / "two.json").symlink_to("one.json")
    return f"{out}/two.json", f"{out}/one.json"


def linked_parent(out: Path) -> tuple[str, str]:
    (out.parent / "alias").symlink_to("out")
    return f"{out}/one.json", f"{out.parent}/alias/one.json"


def dangling(out: Path) -> tuple[str, str]:
    (out / "two.json").symlink_to("one.json")
    return f"{out}/two.json", f"{out}/one.json"


ALIASES = [same, dotted, relative, hard_link, link, linked_parent, dangling]


@pytest.mark.parametrize("alias", ALIASES, ids=lambda make: make.__name__)
def test_cases_25_to_31_report_and_registration_are_distinct_files(
    alias: Callable[[Path], tuple[str, str]], ring: Ring
) -> None:
    report, registration = alias(ring.report.parent)
    before = {path: path.is_file() and path.read_bytes() for path in ring.report.parent.iterdir()}
    done = ring.run(f"--report={report}", f"--retrieval-registration={registration}")
    assert done.code == pytest.ExitCode.USAGE_ERROR, done.output
    done.line("ERROR", "distinct files")
    assert ring.questions() == []
    assert {path: path.is_file() and path.read_bytes() for path in ring.report.parent.iterdir()} == before


def test_cases_36_39_and_43_what_the_registration_says(ring: Ring) -> None:
    ring.write_samples(*map(sample, range(5)))
    done = ring.run("--max-samples=2", CORVINT_CONTEXT_ANCHORS="on", GOGC="50", HOME="/x")
    assert done.code == 0, done.output
    section = ring.read(ring.registration)
    assert set(section.pop("machine")) == {"git", "load_average", "os"}
    assert section == ring.read()["registration"]
    assert section["registered_at"].endswith("Z")
    assert section["environment"] == ["CORVINT_CONTEXT_ANCHORS=on", "GOGC=50"]
    assert (section["sample_ids"], section["max_samples"]) == (["ring-0", "ring-1"], 2)
    whole = (ring.root / "samples.jsonl").read_bytes()
    assert whole.count(b"\n") == 5
    assert section["samples_sha256"] == hashlib.sha256(whole).hexdigest()
    assert section["samples_sha256"] == ring.read()["sources"][0]["sha256"]
    assert section["corpora"] == [{"source": "corpus"}]
    chunks = ring.root / "corpus" / "acme__ring" / f"{COMMITS[0]}.chunks.jsonl"
    assert section["snapshots"] == {
        f"{REPO}@{COMMITS[0]}": {
            "source": f"acme__ring/{COMMITS[0]}.chunks.jsonl",
            "size": chunks.stat().st_size,
        }
    }
    assert set(ring.read()["environment"]["load_average"]) == {"start", "end"}


def test_case_37_without_an_explicit_report_nothing_lies_beside_it(ring: Ring) -> None:
    done = ring.run("--report=")
    assert done.code == 0, done.output
    folder = ring.root / ".retrieval"
    assert sorted(path.name for path in folder.iterdir()) == [".gitignore", "report.json"]
    assert "registered_at" not in ring.read(folder / "report.json")["registration"]


def test_case_42_a_report_that_becomes_the_registration_is_not_written(ring: Ring) -> None:
    ring.wrap(f'if [ "$VERB" = context ]; then ln "{ring.registration}" "{ring.report}"; fi')
    done = ring.run()
    assert done.code == pytest.ExitCode.TESTS_FAILED
    done.line("must be distinct files")
    assert ring.read(ring.registration)["arms"] == ["context"]
    assert ring.report.samefile(ring.registration)


def test_only_a_registration_is_overwritten(ring: Ring) -> None:
    samples = ring.root / "samples.jsonl"
    before = samples.read_bytes()
    done = ring.run(f"--retrieval-registration={samples}", "--retrieval-overwrite")
    assert done.code == pytest.ExitCode.USAGE_ERROR
    done.line("ERROR", "it is no registration")
    assert samples.read_bytes() == before


# --- captures


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    return tmp_path.resolve() / "capture.jsonl"


def test_case_50_equal_ids_in_latency_mode(ring: Ring, capture: Path) -> None:
    ring.write_samples(sample(1), {**sample(1), "query": "the buffer"})
    done = ring.latency(f"--retrieval-context-packets={capture}")
    assert done.code == 0, done.output
    header, *records, footer = lines(capture)
    assert header["registration"] == ring.read()["registration"]
    invocations = [record["invocation"] for record in records]
    assert header["invocations"] == invocations
    assert [call["sample_ordinal"] for call in invocations] == [0, 0, 1, 1]
    assert [call["invocation_ordinal"] for call in invocations] == [0, 1, 2, 3]
    assert [call["phase"] for call in invocations] == ["cold", "hit", "cold", "hit"]
    assert (footer["status"], footer["invocations"]) == ("COMPLETE", 4)
    assert capture.stat().st_mode & 0o777 == 0o600


def test_case_51_a_capture_changes_no_report(ring: Ring, capture: Path) -> None:
    ring.write_samples(sample(1), sample(2))
    assert ring.run("--arms=context,affected").code == 0
    without = strip_times(ring.read())
    words = ["--arms=context,affected", "--retrieval-overwrite", f"--retrieval-context-packets={capture}"]
    assert ring.run(*words).code == 0
    assert strip_times(ring.read()) == without
    assert lines(capture)[-1]["status"] == "COMPLETE"


@pytest.mark.parametrize(
    ("switches", "status", "code"),
    [("garbage", "COMPLETE", 1), ("exit=4,partial,said=why", "PARTIAL", 1), ("refuse", "PARTIAL", 0)],
)
def test_cases_46_and_47_failed_calls_are_captured_too(
    switches: str, status: str, code: int, ring: Ring, capture: Path
) -> None:
    done = ring.run(f"--retrieval-context-packets={capture}", FAKE_CORVINT=scoped(switches))
    assert done.code == code, done.output
    _, record, footer = lines(capture)
    assert footer["status"] == status
    assert record["error"] == ring.answers()[0]["error"]


def scoped(switches: str) -> str:
    """Each switch for ``context`` alone: ``--version`` must work."""
    return ",".join(f"context:{switch}" for switch in switches.split(","))


def existing(ring: Ring) -> Path:
    (ring.folder / "capture.jsonl").write_text("before")
    return ring.folder / "capture.jsonl"


def inside_a_snapshot(ring: Ring) -> Path:
    (ring.root / "tree").mkdir()
    (ring.root / "tree" / "ring_test.c").write_text("assert wrap\n")
    (ring.root / "pytest.ini").write_text(f"[pytest]\nretrieval_snapshot = {REPO}@{COMMITS[0]}=tree\n")
    return ring.root / "tree" / "capture.jsonl"


def to_a_link(ring: Ring) -> Path:
    (ring.folder / "capture.jsonl").symlink_to("elsewhere")
    return ring.folder / "capture.jsonl"


def below_a_link(ring: Ring) -> Path:
    (ring.folder / "link").symlink_to("out")
    return ring.folder / "link" / "capture.jsonl"


CASE_52: dict[str, tuple[Callable[[Ring], Path], str]] = {
    "existing": (existing, "it exists"),
    "samples": (lambda ring: ring.root / "samples.jsonl", "it exists"),
    "registration": (lambda ring: ring.registration, "it is the registration"),
    "report": (lambda ring: ring.report, "it is the report"),
    "corpus": (lambda ring: ring.root / "corpus" / "capture.jsonl", "it lies in "),
    "snapshot": (inside_a_snapshot, "it lies in "),
    "link": (to_a_link, "it is a symbolic link"),
    "below a link": (below_a_link, "link is a symbolic link"),
    "case 53": (lambda ring: ring.folder / "nowhere" / "capture.jsonl", "No such file"),
}


@pytest.mark.parametrize("name", CASE_52)
def test_cases_52_and_53_places_that_are_refused(name: str, ring: Ring) -> None:
    make, told = CASE_52[name]
    place = make(ring)
    before = place.read_bytes() if place.exists() else None
    done = ring.run(f"--retrieval-context-packets={place}")
    assert done.code == pytest.ExitCode.USAGE_ERROR, done.output
    done.line("ERROR", "--retrieval-context-packets", told)
    assert not ring.registration.exists()
    assert ring.questions() == []
    assert (place.read_bytes() if place.exists() else None) == before


@pytest.mark.parametrize(("count", "words"), [(1025, []), (513, ["--retrieval-snapshot-latency"])])
def test_case_54_more_calls_than_a_capture_holds(
    count: int, words: list[str], ring: Ring, capture: Path
) -> None:
    ring.write_samples(*map(sample, range(count)))
    done = ring.run(*words, f"--retrieval-context-packets={capture}")
    assert done.code == pytest.ExitCode.USAGE_ERROR, done.output[-2000:]
    done.line("ERROR", "calls of the context arm are planned")
    assert not ring.registration.exists()
    assert not capture.exists()


def test_case_59_cancelled(ring: Ring, capture: Path) -> None:
    process = ring.start(f"--retrieval-context-packets={capture}", FAKE_CORVINT="context:hang")
    done = ring.interrupt(process, signal.SIGINT)
    assert done.code == pytest.ExitCode.INTERRUPTED
    assert lines(capture)[-1]["type"] == "header"
    assert not ring.report.exists()
    ring.assert_nothing_is_left()


def test_case_59_a_changed_program(ring: Ring, capture: Path) -> None:
    ring.wrap('if [ "$VERB" = context ]; then echo "# changed" >> "$0"; fi')
    assert ring.run(f"--retrieval-context-packets={capture}").code == pytest.ExitCode.TESTS_FAILED
    assert lines(capture)[-1]["type"] == "invocation"
    assert not ring.report.exists()


def test_case_59_a_cold_call_that_fails(ring: Ring, capture: Path) -> None:
    done = ring.latency(f"--retrieval-context-packets={capture}", FAKE_CORVINT="context:exit=4")
    assert done.code == pytest.ExitCode.TESTS_FAILED
    assert lines(capture)[-1]["type"] == "invocation"
    assert not ring.report.exists()


CLOSING = """
from pytest_retrieval.report.capture.writer import Capture

record = Capture.record


def closed(self, *arguments):
    self.close()
    record(self, *arguments)


Capture.record = closed
"""


def test_case_59_a_recorder_that_was_closed(ring: Ring, capture: Path) -> None:
    (ring.root / "conftest.py").write_text(CLOSING)
    done = ring.run(f"--retrieval-context-packets={capture}")
    assert done.code == pytest.ExitCode.TESTS_FAILED
    assert done.line("no report was written").startswith(f"ring-1: the capture {capture} is closed")
    assert lines(capture)[-1]["type"] == "header"
    assert not ring.report.exists()


def test_case_60_nothing_is_written_while_a_call_lasts(ring: Ring, capture: Path) -> None:
    """The program looks at the capture when it starts and when it ends."""
    ring.write_samples(sample(1), sample(2))
    ring.wrap(
        f'look() {{ cat "{capture}" >> "{ring.folder}/$1"; }}\n'
        'if [ "$VERB" = context ]; then look before; "$FAKE" "$@"; look after; exit 0; fi'
    )
    assert ring.run(f"--retrieval-context-packets={capture}").code == 0
    header, first, _, _ = capture.read_bytes().splitlines(keepends=True)
    for seen in ("before", "after"):
        assert (ring.folder / seen).read_bytes() == header + header + first


def test_a_capture_that_cannot_be_gone_on_with_voids_the_run(ring: Ring, capture: Path) -> None:
    """A suite that judges its sample twice asks more often than was planned."""
    (ring.root / "test_suite.py").write_text(
        (ring.root / "test_suite.py")
        .read_text()
        .replace("    retrieval_judge()", "    retrieval_judge()\n" * 2)
    )
    done = ring.run(f"--retrieval-context-packets={capture}")
    assert done.code == pytest.ExitCode.TESTS_FAILED
    line = done.line("no report was written")
    assert line.startswith("ring-1: context was asked more often than the capture had planned")
    assert not ring.report.exists()
    assert not ring.partial.exists()


def test_case_61_repaired_a_report_that_is_a_folder_is_refused_before_the_run(
    ring: Ring, capture: Path
) -> None:
    """The original asks everything first, and then cannot write."""
    ring.report.mkdir()
    done = ring.run(f"--retrieval-context-packets={capture}")
    assert done.code == pytest.ExitCode.USAGE_ERROR
    done.line("ERROR", "cannot write the report")
    assert not capture.exists()


def test_case_62_a_capture_that_is_linked_to_the_report_stays_whole(ring: Ring, capture: Path) -> None:
    ring.wrap(f'if [ "$VERB" = context ]; then ln "{capture}" "{ring.report}"; fi')
    done = ring.run(f"--retrieval-context-packets={capture}")
    assert done.code == pytest.ExitCode.TESTS_FAILED
    done.line("cannot write the report", "it has become the capture")
    assert lines(capture)[-1]["status"] == "COMPLETE"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--arms=grep"], "exactly one arm must tell whether its store was hit"),
        (["--report="], "needs --report FILE or --retrieval-registration FILE"),
        (["-p", "xdist", "-n2"], "leave -n and --dist out"),
    ],
)
def test_case_64_what_a_capture_needs(words: list[str], told: str, ring: Ring, capture: Path) -> None:
    done = ring.run(f"--retrieval-context-packets={capture}", *words)
    assert done.code == pytest.ExitCode.USAGE_ERROR, done.output
    done.line("ERROR: --retrieval-context-packets", told)
    assert ring.questions() == []
    assert not capture.exists()
