"""The registration and its file (cases 35, 36, 38, 39, 43)."""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_retrieval.errors import ReportError
from pytest_retrieval.report import registration as module
from pytest_retrieval.report.escaped import escaped_json
from pytest_retrieval.report.fingerprint import Fingerprint
from pytest_retrieval.report.registration import (
    registration,
    sidecar_path,
    stamped,
    timestamp,
    write_sidecar,
)

FOLDS = "8d439eb6f7cb2471e90ee905684a0054bce49462859d52db01031f7cabc8f004"  # section 7
LEXICAL = Fingerprint(("GOGC=50",), {}, "b" * 64)


def section(**changes: Any) -> dict[str, Any]:
    values: dict[str, Any] = {
        "samples": ["a" * 64],
        "arms": ["grep", "bm25:all"],
        "limit": 20,
        "max_samples": None,
        "sample_ids": ["s-1", "s-2"],
        "snapshot_latency": False,
        "fingerprint": LEXICAL,
    }
    return registration(**{**values, **changes})


# --- the section


def test_every_field_of_a_lexical_run() -> None:
    """Case 38: without an arm that asks a program, none is looked at."""
    assert section() == {
        "arms": ["grep", "bm25:all"],
        "bench_sha256": "b" * 64,
        "corpora": [],
        "corvint_sha256": "NOT_RUN",
        "corvint_version": "NOT_RUN",
        "environment": ["GOGC=50"],
        "fold_map_sha256": FOLDS,
        "further_environment": {},
        "limit": 20,
        "max_samples": 0,
        "sample_ids": ["s-1", "s-2"],
        "samples_sha256": "a" * 64,
        "snapshot_latency": False,
        "snapshots": {},
    }


def test_the_arms_of_the_original_come_in_its_order_before_others() -> None:
    arms = ["mine", "affected", "bm25:ident", "grep", "context", "a-first"]
    assert section(arms=arms)["arms"] == ["context", "grep", "bm25:ident", "affected", "mine", "a-first"]


def test_several_samples_files_give_several_digests() -> None:
    assert section(samples=["a" * 64, "c" * 64])["samples_sha256"] == ["a" * 64, "c" * 64]


def test_what_was_chosen_is_listed_and_the_files_are_whole() -> None:
    """Case 43: the digest is over the file, whatever was chosen of it."""
    found = section(max_samples=2)
    assert (found["max_samples"], found["sample_ids"], found["samples_sha256"]) == (
        2,
        ["s-1", "s-2"],
        "a" * 64,
    )


def test_a_program_is_named_with_its_version() -> None:
    found = section(fingerprint=Fingerprint((), {}, "b" * 64, "d" * 64, "corvint 1.0"))
    assert (found["corvint_sha256"], found["corvint_version"]) == ("d" * 64, "corvint 1.0")


def test_snapshots_and_corpora_are_taken_as_bound() -> None:
    found = section(
        corpora=[{"source": "corpus", "manifest_sha256": "e" * 64}],
        snapshots={"acme/ring@1": {"source": "git:ring"}},
    )
    assert found["corpora"] == [{"source": "corpus", "manifest_sha256": "e" * 64}]
    assert found["snapshots"] == {"acme/ring@1": {"source": "git:ring"}}


def test_a_stamp_adds_the_time_alone() -> None:
    found = stamped(section(), 1_500_000_000)
    assert found.pop("registered_at") == "1970-01-01T00:00:01.5Z"
    assert found == section()
    assert stamped(section())["registered_at"].endswith("Z")


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (1_500_000_000, "1970-01-01T00:00:01.5Z"),
        (1_000_000_001, "1970-01-01T00:00:01.000000001Z"),
        (10_120_000_000, "1970-01-01T00:00:10.12Z"),
        (951_827_696_000_100_000, "2000-02-29T12:34:56.0001Z"),
    ],
)
def test_a_time_has_no_trailing_zeros(nanoseconds: int, text: str) -> None:
    assert timestamp(nanoseconds) == text


# --- the file


def test_the_file_is_beside_the_report() -> None:
    """Case 36, the name."""
    assert sidecar_path(Path("out/r.json")) == Path("out/r.json.registration.json")


def test_the_bytes_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "reg.json"
    before = os.umask(0o022)
    try:
        write_sidecar(path, {"b": [], "a": {"<k>": 'v & "w"'}, "c": [1, True, "\u00e9\u2028"]})
    finally:
        os.umask(before)
    assert path.read_bytes() == (
        b'{\n  "a": {\n    "\\u003ck\\u003e": "v \\u0026 \\"w\\""\n  },\n  "b": [],\n  "c": [\n'
        b'    1,\n    true,\n    "\xc3\xa9\\u2028"\n  ]\n}\n'
    )
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert json.loads(path.read_bytes())["a"] == {"<k>": 'v & "w"'}


def test_the_section_is_read_back_as_it_was(tmp_path: Path) -> None:
    found = stamped(section(sample_ids=["<s>\u2029", "\x01\t\x7f"]))
    write_sidecar(tmp_path / "reg.json", found)
    assert json.loads((tmp_path / "reg.json").read_bytes()) == found


def a_file(path: Path) -> None:
    path.write_bytes(b"old")


def a_dangling_link(path: Path) -> None:
    path.symlink_to("nowhere")


@pytest.mark.parametrize("make", [a_file, a_dangling_link, Path.mkdir])
def test_what_exists_is_never_replaced(make: Callable[[Path], None], tmp_path: Path) -> None:
    """Case 35."""
    path = tmp_path / "reg.json"
    make(path)
    with pytest.raises(ReportError, match=r"cannot write the registration .*reg\.json: it exists"):
        write_sidecar(path, section())
    assert not path.is_file() or path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["reg.json"]


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="No such file or directory"):
        write_sidecar(tmp_path / "absent" / "reg.json", section())


@pytest.mark.parametrize("failing", [1, 2])
def test_a_failed_write_does_not_block_the_path(
    failing: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """12.7: the file and its folder are synced, and when one of that fails the path is free again."""
    path, calls = tmp_path / "reg.json", []

    def sync(descriptor: int) -> None:
        calls.append(stat.S_ISDIR(os.fstat(descriptor).st_mode))
        if len(calls) == failing:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", sync)
        with pytest.raises(ReportError, match="Input/output error"):
            write_sidecar(path, section())
    assert calls == [False, True][:failing]
    assert not path.exists()
    write_sidecar(path, section())
    assert json.loads(path.read_bytes()) == section()


def test_a_disk_that_is_full_does_not_block_the_path(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    signal = pytest.importorskip("signal")
    path = tmp_path / "reg.json"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, hard))
    try:
        with pytest.raises(ReportError, match="cannot write the registration"):
            write_sidecar(path, section(sample_ids=["s" * 60_000]))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)
    assert not path.exists()


def test_an_interrupt_does_not_block_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(folder: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "sync_folder", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_sidecar(tmp_path / "reg.json", section())
    assert not (tmp_path / "reg.json").exists()


# --- its encoding


@pytest.mark.parametrize(
    ("value", "data"),
    [
        ("a<b>&c", rb'"a\u003cb\u003e\u0026c"'),
        ("\u2028\u2029/\x7f", b'"\\u2028\\u2029/\x7f"'),
        ('\x01\t\n\r\b\f"\\', rb'"\u0001\t\n\r\b\f\"\\"'),
        ("\\u2028", rb'"\\u2028"'),
        ("half \ud800", rb'"half \ufffd"'),
        ("\u00e9\U0001f600", '"\u00e9\U0001f600"'.encode()),
        ({"b": 1, "a": [None, True, 0.25]}, b'{"b":1,"a":[null,true,0.25]}'),
    ],
)
def test_escapes(value: Any, data: bytes) -> None:
    assert escaped_json(value) == data


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}, b"x"])
def test_what_json_does_not_hold(value: Any) -> None:
    with pytest.raises(ReportError, match="cannot encode"):
        escaped_json({"a": value})
