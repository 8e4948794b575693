"""The Corvint arms in real runs of the reference program."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from pytest_retrieval.report import schema
from pytest_retrieval.report.identity import strip_times
from tests.plugin.corvint_support import COMMITS, FAKE, IMPATIENT, Ring, package, sample
from tests.plugin.survival_support import OLDER_REPORT

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks processes up in /proc")

VERBS = ("corvint", "context", "impact", "affected")
PAIR = ["context", "index", "context"]
LEXICAL = ("grep", "grep-ident", "bm25:all", "bm25:ident")


@pytest.fixture(scope="session")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return package(tmp_path_factory.mktemp("package"))


@pytest.fixture
def ring(tmp_path: Path, python: Path) -> Ring:
    return Ring(tmp_path, python)


# --- the arms of a program


def test_with_a_program_its_arms_run_beside_the_lexical_ones(ring: Ring) -> None:
    done = ring.run("-o", "retrieval_arms=")
    assert done.code == 0, done.output
    report = ring.read()
    Draft202012Validator(schema()).validate(report)
    assert set(report["arms"]) == {*LEXICAL, *VERBS}
    assert report["corvint"]["version"] == "fake-corvint 1.0"
    assert report["registration"]["corvint_sha256"] == report["corvint"]["sha256"]
    assert report["registration"]["arms"] == [
        "corvint", "context", "grep", "grep-ident", "bm25:all", "bm25:ident", "impact", "affected",
    ]  # fmt: skip
    answers = report["details"][0]["arms"]
    assert answers["context"]["ranked"] == ["notes.md", "ring.c", "ring_test.c"]
    assert answers["impact"]["ranked"] == ["notes.md", "ring_test.c"]
    assert answers["affected"]["ranked"] == ["ring_test.c"]
    assert {answers[verb]["cache_state"] for verb in VERBS} == {"COLD_UNIQUE"}
    assert set(report["paired"]["all"]) == {f"{verb} - {lexical}" for verb in VERBS for lexical in LEXICAL}
    ring.assert_nothing_is_left()


@pytest.mark.parametrize("verb", VERBS)
def test_without_a_program_its_arms_cannot_be_named(verb: str, ring: Ring) -> None:
    done = ring.run(f"--arms={verb}", program=False)
    assert done.code == pytest.ExitCode.USAGE_ERROR
    assert done.line("ERROR") == f"ERROR: arm {verb!r}: it asks a program: give --corvint PATH"


@pytest.mark.parametrize(
    ("program", "message"),
    [("/nonexistent/corvint", "is no program"), ("/bin/false", "ended with exit status 1")],
)
def test_a_bad_program_ends_the_run_before_it_starts(program: str, message: str, ring: Ring) -> None:
    ring.program = Path(program)
    done = ring.run()
    assert done.code == pytest.ExitCode.USAGE_ERROR, done.output
    assert message in done.line("ERROR", program)
    assert not ring.registration.exists()


def test_case_38_a_program_that_nobody_asks_is_not_looked_for(ring: Ring) -> None:
    ring.program = Path("/nonexistent")
    done = ring.run("--arms=grep")
    assert done.code == 0, done.output
    report = ring.read()
    assert report["registration"]["corvint_sha256"] == "NOT_RUN"
    assert "corvint" not in report


def test_the_ini_file_may_name_the_program(ring: Ring) -> None:
    (ring.root / "pytest.ini").write_text(f"[pytest]\nretrieval_corvint = {FAKE}\n")
    assert ring.run(program=False).code == 0
    assert ring.read()["corvint"]["version"] == "fake-corvint 1.0"


def test_case_40_a_program_that_changes_during_the_run_voids_it(ring: Ring) -> None:
    """The original leaves with 2; a run that must publish no report leaves with 1 here."""
    ring.wrap('if [ "$VERB" = context ]; then echo "# changed" >> "$0"; fi')
    done = ring.run()
    assert done.code == pytest.ExitCode.TESTS_FAILED, done.output
    line = done.line("the Corvint program changed while the benchmark ran")
    assert str(ring.report) + ".journal" in line
    assert not ring.report.exists()
    assert ring.registration.exists()
    ring.assert_nothing_is_left()


def test_case_41_a_variable_that_changes_during_the_run_voids_it(ring: Ring) -> None:
    (ring.root / "conftest.py").write_text(
        "import os\ndef pytest_runtest_teardown():\n    os.environ['CORVINT_CONTEXT_X'] = '1'\n"
    )
    done = ring.run()
    assert done.code == pytest.ExitCode.TESTS_FAILED
    done.line("environment variables changed while the benchmark ran: CORVINT_CONTEXT_X")
    assert not ring.report.exists()


def test_workers_ask_the_program_too_and_give_the_same_report(ring: Ring) -> None:
    ring.write_samples(*(sample(number, base_commit=COMMITS[number]) for number in range(2)))
    assert ring.run("--arms=context,affected").code == 0
    alone = strip_times(ring.read())
    workers = ring.run("--arms=context,affected", "-p", "xdist", "-n2", "--retrieval-overwrite")
    assert workers.code == 0, workers.output
    assert strip_times(ring.read()) == alone
    ring.assert_nothing_is_left()


def test_case_20_repaired_a_dirty_copy_errs_the_arm_that_left_it(ring: Ring) -> None:
    """The original ends the run at the first sample (weakness 28)."""
    ring.write_samples(sample(1), sample(2))
    done = ring.run("--arms=corvint,context", FAKE_CORVINT="query:dirty")
    assert done.code == pytest.ExitCode.TESTS_FAILED
    details = ring.read()["details"]
    assert [detail["arms"]["corvint"]["error"] for detail in details] == [
        "work tree left dirty: ?? junk.txt"
    ] * 2
    assert all("error" not in detail["arms"]["context"] for detail in details)
    ring.assert_nothing_is_left()


# --- matched snapshot latency


def test_case_6_three_samples_on_one_tree(ring: Ring) -> None:
    ring.write_samples(*map(sample, range(3)))
    done = ring.latency("--arms=context,grep")
    assert done.code == 0, done.output
    assert ring.questions() == ["context", "index", "context", *["context"] * 4]
    assert len(ring.copies()) == 1
    for answer in ring.answers():
        assert answer["cache_state"] == "OBSERVED_HIT"
        assert answer["cold_wall_ms"] > 0
    report = ring.read()
    Draft202012Validator(schema()).validate(report)
    none = {"n": 3, "state": "NOT_RUN"}
    latency = report["latency"]["context"]
    assert (latency["OBSERVED_HIT"], latency["OBSERVED_MISS"]) == (none, none)
    assert latency["BUILD"] == {"n": 1, "state": "NOT_RUN"}
    assert report["registration"]["snapshot_latency"] is True
    assert "latency_order" not in report["registration"]
    assert all("matched_order" not in answer for answer in ring.answers())
    assert not ring.partial.exists()
    ring.assert_nothing_is_left()


def test_matched_calls_in_alternating_order(ring: Ring) -> None:
    ring.write_samples(*map(sample, range(3)))
    done = ring.latency("--retrieval-latency-order=alternate")
    assert done.code == 0, done.output
    assert ring.questions() == ["context", "index", "context", *["context"] * 4]
    assert [answer["matched_order"] for answer in ring.answers()] == ["cold-first", "hit-first", "cold-first"]
    report = ring.read()
    Draft202012Validator(schema()).validate(report)
    assert report["registration"]["latency_order"] == "alternate"
    latency = report["latency"]["context"]
    assert {label: times["n"] for label, times in latency.items()} == {
        "BUILD": 1, "OBSERVED_HIT": 3, "OBSERVED_HIT:first": 1, "OBSERVED_HIT:second": 2,
        "OBSERVED_MISS": 3, "OBSERVED_MISS:first": 2, "OBSERVED_MISS:second": 1,
    }  # fmt: skip
    ring.assert_nothing_is_left()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--retrieval-latency-order=alternat"], "'alternat' is neither cold-first nor alternate"),
        (
            ["-o", "retrieval_latency_order=alternate", "--retrieval-context-packets=kept.jsonl"],
            "a capture holds matched calls in the order cold, hit",
        ),
    ],
)
def test_orders_that_cannot_be(words: list[str], told: str, ring: Ring) -> None:
    done = ring.latency(*words)
    assert done.code == pytest.ExitCode.USAGE_ERROR, done.output
    done.line("ERROR", told)
    assert ring.questions() == []


def test_case_7_four_samples_on_two_trees(ring: Ring) -> None:
    ring.write_samples(*(sample(number, base_commit=COMMITS[number % 2]) for number in range(4)))
    assert ring.latency().code == 0
    verbs = ring.questions()
    assert (verbs.count("context"), verbs.count("index")) == (8, 2)
    assert len(ring.copies()) == 2


def test_cases_8_and_9_the_registration_comes_first_and_is_never_replaced(ring: Ring) -> None:
    ring.write_samples(*map(sample, range(3)))
    seen = ring.folder / "seen"
    ring.wrap(f'if [ "$VERB" ]; then ls "{ring.registration}" >> "{seen}" 2>&1; fi')
    assert ring.latency().code == 0
    assert seen.read_text().splitlines()[0] == str(ring.registration)
    before, asked = ring.registration.read_bytes(), ring.questions()
    again = ring.latency()
    assert again.code == pytest.ExitCode.USAGE_ERROR
    again.line("ERROR", str(ring.registration), "never replaced")
    assert (ring.registration.read_bytes(), ring.questions()) == (before, asked)
    assert asked.count("context") == 6
    assert ring.latency("--retrieval-overwrite").code == 0
    assert ring.registration.read_bytes() != before


@pytest.mark.parametrize(
    ("switches", "questions", "told"),
    [
        pytest.param("context:trace=true", ["context"], "without the store is OBSERVED_HIT", id="11"),
        pytest.param("unequal", PAIR, "the two calls answer differently", id="13"),
        pytest.param("context:trace=false", PAIR, "the call with the store is OBSERVED_MISS", id="14"),
        pytest.param("no-trace", ["context"], "without the store is UNKNOWN", id="3"),
        pytest.param("index:exit=3", ["context", "index"], "priming the store failed: ended", id="18"),
        pytest.param("index-dirty", ["context", "index"], "work tree left dirty: ?? junk.txt", id="19"),
        pytest.param("context:exit=4", ["context"], "ended with exit status 4", id="17"),
    ],
)  # fmt: skip
def test_one_bad_pair_voids_the_run(switches: str, questions: list[str], told: str, ring: Ring) -> None:
    ring.write_samples(sample(1), sample(2))
    ring.report.write_text(OLDER_REPORT)
    done = ring.latency(FAKE_CORVINT=switches)
    assert done.code == pytest.ExitCode.TESTS_FAILED, done.output
    assert ring.questions() == questions
    assert done.line("no report was written").startswith("ring-1: ")
    assert told in done.line("no report was written")
    assert ring.report.read_text() == OLDER_REPORT
    assert ring.registration.exists()
    assert not ring.partial.exists()
    assert "Traceback" not in done.output
    ring.assert_nothing_is_left()


def test_weakness_1_the_good_pairs_before_a_bad_one_are_kept(ring: Ring) -> None:
    """The original throws them away; case 12 is what ends this run: the third cold call makes a store."""
    ring.write_samples(*map(sample, range(1, 6)))
    ring.wrap(
        f'echo "$VERB" >> "{ring.folder}/asked"\n'
        f'if [ $(grep -c context "{ring.folder}/asked") -ge 5 ]; then export FAKE_CORVINT=recreate-store; fi'
    )
    done = ring.latency("--gate=context: errors == 0")
    assert done.code == pytest.ExitCode.TESTS_FAILED, done.output
    line = done.line("ring-3: ", "the store was to be moved back", "no report was written")
    assert f"the 2 good pairs before it in {ring.partial}" in line
    assert not ring.report.exists()
    partial = ring.read(ring.partial)
    Draft202012Validator(schema()).validate(partial)
    assert [detail["id"] for detail in partial["details"]] == ["ring-1", "ring-2"]
    assert [lost["id"] for lost in partial["selection"]["lost"]] == ["ring-3", "ring-4", "ring-5"]
    assert [gate["status"] for gate in partial["gates"]] == ["undecidable"]
    assert len(ring.questions()) == 6
    ring.assert_nothing_is_left()


def test_case_24_a_given_file_is_in_no_pair(ring: Ring) -> None:
    ring.write_samples(sample(1, given=["ring.c"]))
    assert ring.latency().code == 0
    assert ring.answers()[0]["ranked"] == ["notes.md", "ring_test.c"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        pytest.param(["--arms=grep"], "exactly one arm must tell whether its store was hit", id="21"),
        pytest.param(["--report="], "needs --report FILE or --retrieval-registration FILE", id="22"),
        pytest.param(["-p", "xdist", "-n1"], "leave -n and --dist out", id="workers"),
        pytest.param(["--arms=context,again=context"], "and context and again do", id="two"),
    ],
)
def test_what_latency_needs(words: list[str], told: str, ring: Ring) -> None:
    done = ring.latency(*words)
    assert done.code == pytest.ExitCode.USAGE_ERROR, done.output
    assert done.line("ERROR", told).startswith("ERROR: --retrieval-snapshot-latency")
    assert ring.questions() == []
    assert not ring.registration.exists()


def test_case_22_a_registration_of_its_own_will_do(ring: Ring) -> None:
    assert ring.latency("--report=", f"--retrieval-registration={ring.registration}").code == 0
    assert ring.registration.exists()


# --- interrupts and timeouts in the middle of a call


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    ("words", "switches"),
    [
        pytest.param(["--retrieval-snapshot-latency"], "context:hang,context:grandchild", id="cold"),
        pytest.param(["--retrieval-snapshot-latency"], "index:hang,index:grandchild,index:stubborn", id="23"),
        pytest.param(["--arms=affected"], "affected:hang,affected:grandchild", id="affected"),
    ],
)
def test_an_interrupt_in_a_call_leaves_nothing(
    words: list[str], switches: str, number: signal.Signals, ring: Ring
) -> None:
    done = ring.interrupt(ring.start(*words, FAKE_CORVINT=switches), number)
    assert done.code == pytest.ExitCode.INTERRUPTED, done.output
    assert "Traceback" not in done.output
    assert not ring.report.exists()
    assert not ring.partial.exists()
    ring.assert_nothing_is_left()


@pytest.mark.parametrize("words", [["--retrieval-snapshot-latency"], []])
def test_a_timeout_in_a_call_leaves_nothing(words: list[str], ring: Ring) -> None:
    (ring.root / "conftest.py").write_text(IMPATIENT)
    done = ring.run(*words, FAKE_CORVINT="context:hang,context:grandchild")
    assert done.code == pytest.ExitCode.TESTS_FAILED
    assert "did not end within 0.5 s" in done.output
    assert ring.report.exists() == (not words)
    ring.assert_nothing_is_left()
