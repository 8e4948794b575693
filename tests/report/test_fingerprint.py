"""What must not change while a run lasts (cases 39 to 41)."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

from pytest_retrieval.arms.program import Program
from pytest_retrieval.errors import UsageError
from pytest_retrieval.programs.process import ProgramError
from pytest_retrieval.report import fingerprint
from pytest_retrieval.report.fingerprint import (
    DEPENDENCIES,
    Fingerprint,
    bench_digest,
    identity_changes,
    load_average,
    machine,
)

# --- the environment


def test_the_listed_variables() -> None:
    """Case 39, and one of each other name of the list."""
    found = {"CORVINT_CONTEXT_ANCHORS": "on", "GOGC": "50", "HOME": "/x"}
    assert Fingerprint.read(None, found).environment == ("CORVINT_CONTEXT_ANCHORS=on", "GOGC=50")
    found = {"GOMAXPROCS": "2", "CORVINT_INDEX_SHARDS": "", "CORVINT_SNAPSHOT_FORMAT": "a=b", "GOGCX": "1"}
    assert Fingerprint.read(None, found).environment == (
        "CORVINT_INDEX_SHARDS=",
        "CORVINT_SNAPSHOT_FORMAT=a=b",
        "GOMAXPROCS=2",
    )


def test_no_listed_variable() -> None:
    assert Fingerprint.read(None, {"HOME": "/x"}).environment == ()


def test_other_variables_of_the_program_are_told_by_digest_alone() -> None:
    """12.5: a program may read more than the list has; one of the values may be a secret."""
    found = {
        "CORVINT_TOKEN": "secret",
        "GODEBUG": "x=1",
        "PATH": "/bin",
        "CORVINT_CONTEXT_X": "1",
        "CORVINT_BENCH_SNAPSHOT_TRACE": "1",
    }
    assert Fingerprint.read(None, found).further_environment == {
        "CORVINT_TOKEN": hashlib.sha256(b"secret").hexdigest(),
        "GODEBUG": hashlib.sha256(b"x=1").hexdigest(),
    }


# --- the bench


def package(folder: Path) -> Path:
    files = {
        "__init__.py": b"",
        "arms/grep.py": b"x = 1\n",
        "arms/suites/deep.py": b"kept\n",
        "schema.json": b"{}",
        "arms/__pycache__/grep.cpython-311.pyc": b"code",
        "old.pyc": b"code",
        "suites/test_x.py": b"suite",
        "release/x.jsonl": b"release",
    }
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def test_the_digest_of_the_bench_by_hand(tmp_path: Path) -> None:
    files = [
        ("__init__.py", b""),
        ("arms/grep.py", b"x = 1\n"),
        ("arms/suites/deep.py", b"kept\n"),
        ("schema.json", b"{}"),
    ]
    lines = [f"{name}\0{hashlib.sha256(data).hexdigest()}\n" for name, data in files]
    lines.append(f"{platform.python_implementation()}\0{platform.python_version()}\n")
    lines += [f"{name}\0{version(name)}\n" for name in ("numpy", "orjson", "pytest", "zstandard")]
    expected = hashlib.sha256("".join(lines).encode()).hexdigest()
    assert bench_digest(package(tmp_path)) == expected


def test_the_digest_of_the_bench_changes_with_a_file_a_name_and_a_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = package(tmp_path)
    found = [bench_digest(folder)]
    (folder / "schema.json").write_bytes(b"[]")
    found.append(bench_digest(folder))
    (folder / "schema.json").rename(folder / "scheme.json")
    found.append(bench_digest(folder))
    with monkeypatch.context() as patch:
        patch.setattr(fingerprint, "version", lambda name: "0")
        found.append(bench_digest(folder))
    with monkeypatch.context() as patch:
        patch.setattr(platform, "python_version", lambda: "3.99.0")
        found.append(bench_digest(folder))
    assert len(set(found)) == 5


def test_the_hard_dependencies_are_those_of_the_project() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    names = [re.split("[>=<~ ]", text)[0] for text in project["dependencies"]]
    assert sorted(names) == sorted(DEPENDENCIES)


def test_a_dependency_without_metadata_is_absent(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(fingerprint, "DEPENDENCIES", ("no-such-distribution",))
    digest = hashlib.sha256(
        f"{platform.python_implementation()}\0{platform.python_version()}\nno-such-distribution\0absent\n".encode()
    )
    assert bench_digest(tmp_path) == digest.hexdigest()


def test_the_digest_of_this_bench_is_stable() -> None:
    assert Fingerprint.read(None, {}) == Fingerprint.read(None, {})
    assert re.fullmatch("[0-9a-f]{64}", bench_digest())


# --- the program


def script(path: Path, text: str) -> Program:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return Program.find(str(path))


def test_a_program_is_read_again_each_time(tmp_path: Path) -> None:
    """Case 40: rewritten while the run lasts."""
    program = script(tmp_path / "corvint", "echo corvint 1")
    before = Fingerprint.read(program, {})
    assert before.program == hashlib.sha256(b"#!/bin/sh\necho corvint 1\n").hexdigest()
    assert before.program_version == "corvint 1"
    assert identity_changes(before, Fingerprint.read(program, {})) == []
    script(tmp_path / "corvint", "echo corvint 1 # another")
    after = Fingerprint.read(program, {})
    assert identity_changes(before, after) == [
        "the Corvint program changed while the benchmark ran: "
        f"it was corvint 1 sha256:{before.program[:12]} and is corvint 1 sha256:{after.program[:12]}"
    ]


def test_a_version_that_changes_alone_is_a_change(tmp_path: Path) -> None:
    program = script(tmp_path / "corvint", f"cat {tmp_path}/version")
    (tmp_path / "version").write_text("corvint 1")
    before = Fingerprint.read(program, {})
    (tmp_path / "version").write_text("corvint 2")
    assert len(identity_changes(before, Fingerprint.read(program, {}))) == 1


def test_a_program_that_is_gone_is_no_fingerprint(tmp_path: Path) -> None:
    program = script(tmp_path / "corvint", "echo corvint 1")
    program.path.unlink()
    with pytest.raises(UsageError):
        Fingerprint.read(program, {})


def test_a_variable_that_is_set_changed_or_removed_is_a_change() -> None:
    """Case 41; the values stay out of the message."""
    before = Fingerprint.read(None, {"GOGC": "1", "CORVINT_TOKEN": "one", "CORVINT_CONTEXT_Y": "1"})
    after = Fingerprint.read(None, {"GOGC": "2", "CORVINT_TOKEN": "two", "CORVINT_CONTEXT_X": "1"})
    assert identity_changes(before, after) == [
        "environment variables changed while the benchmark ran: "
        "CORVINT_CONTEXT_X, CORVINT_CONTEXT_Y, CORVINT_TOKEN, GOGC"
    ]


def test_a_bench_that_changes_is_a_change() -> None:
    changes = identity_changes(Fingerprint((), {}, "a"), Fingerprint((), {}, "b"))
    assert len(changes) == 1
    assert "pytest-retrieval" in changes[0]


# --- the machine


def test_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (0.123, 1.0, 2.345678))
    found = machine()
    assert found["load_average"] == [0.12, 1.0, 2.35]
    assert found["os"] == f"{platform.system()} {platform.release()} {platform.machine()}"
    assert re.match(r"\d+\.\d+", found["git"])


def test_what_the_machine_does_not_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails() -> tuple[float, float, float]:
        raise OSError

    def missing(*arguments: object, **options: object) -> None:
        raise ProgramError("git: not found")

    monkeypatch.setattr(os, "getloadavg", fails)
    monkeypatch.setattr(fingerprint, "run", missing)
    assert load_average() is None
    assert machine()["git"] == "absent"
