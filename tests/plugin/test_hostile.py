"""Hostile files, each in a real session: the stated line, the exit code, and nothing written elsewhere."""

from __future__ import annotations

import io
import json
import os
import tarfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import zstandard

from tests.plugin.survival_support import COMMIT, Finished, Project, listing
from tests.snapshots.repos import bare_repository

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks processes up in /proc")

SUITE = """
import pytest


@pytest.mark.retrieval
def test_sample(retrieval_judge):
    retrieval_judge()
"""


class Hostile(Project):
    """A project that is given its samples and snapshots by options, and notices what is written outside."""

    arms = "grep,bm25:ident,wild"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, count=0)
        (self.root / "test_suite.py").write_text(SUITE)
        self.folder = folder
        self.outside = folder / "outside"
        self.outside.mkdir()

    def try_out(self, *words: str) -> Finished:
        """Run pytest; whatever happens, only its own folders may change, and nothing may be left in them."""
        before = self.others()
        done = self.run(*words)
        assert self.others() == before
        assert "Traceback" not in done.output, done.output
        assert "INTERNALERROR" not in done.output, done.output
        self.assert_nothing_is_left()
        return done

    def others(self) -> list[str]:
        own = {self.temporary.name, self.report.parent.name, self.cache.name}
        return [path for path in listing(self.folder) if path.partition("/")[0] not in own]

    def write(self, name: str, content: bytes) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path


@pytest.fixture
def hostile(tmp_path: Path) -> Iterator[Hostile]:
    yield Hostile(tmp_path)


def row(repo: str = "acme/anvil", **fields: Any) -> dict[str, Any]:
    """A good row in short form, but for ``fields``."""
    good = {"query": "tree where is part1", "relevant": ["src/part1.c"], "repo": repo, "base_commit": COMMIT}
    return {**good, **fields}


def lines(*rows: Mapping[str, Any] | bytes) -> bytes:
    return b"".join((r if isinstance(r, bytes) else json.dumps(r).encode()) + b"\n" for r in rows)


def file(path: str, text: str = "int part1(void);\n") -> dict[str, str]:
    return {"kind": "file", "path": path, "text": text}


# --- samples ---------------------------------------------------------------------------------------------

BAD_ROWS = {
    b"not json": "not JSON",
    b'{"query": "a", "query": "b"}': "'query' is written twice",
    b'{"query": NaN}': "NaN is not JSON",
    b'{"query": 1e999}': "too large for a float",
    b'{"query": ' + b"9" * 5000 + b"}": "too many digits",
    b"[" * 100_000: "nested deeper than 200 levels",
    b'{"query": "\xff"}': "not UTF-8",
    b"[]": "a list, not a JSON object",
    json.dumps(row(query="x" * (4 << 20))).encode(): "larger than 4 MiB",
    json.dumps(row(query="\ud800 half", id="\ud800")).encode(): "field 'id': holds half a surrogate pair",
    json.dumps(row(repo="../../etc")).encode(): "field 'repo'",
    json.dumps(row(repo="a/..")).encode(): "field 'repo'",
    json.dumps(row(base_commit="../" + "5" * 37)).encode(): "field 'base_commit'",
    json.dumps(row(relevant=["\ud800"])).encode(): "field 'relevant[0]': holds half a surrogate pair",
    json.dumps(row(relevant=[{"path": 3}])).encode(): "field 'relevant[0].path'",
    json.dumps(row(relevent=["a"])).encode(): "did you mean 'relevant'",
}


def test_every_bad_row_is_one_line_and_no_item_runs(hostile: Hostile) -> None:
    hostile.write("bad.jsonl", lines(*BAD_ROWS))
    done = hostile.try_out("--samples=bad.jsonl")
    assert done.code == pytest.ExitCode.USAGE_ERROR
    for number, says in enumerate(BAD_ROWS.values(), 1):
        assert len(done.line(f"bad.jsonl: line {number}: ", says)) < 400
    assert not hostile.report.exists()


@pytest.mark.parametrize(("workers", "code"), [("-n0", 2), ("-n2", 1)])
def test_a_bad_file_of_a_marker_is_an_error_of_its_suite(hostile: Hostile, workers: str, code: int) -> None:
    (hostile.root / "test_suite.py").write_text(
        SUITE.replace("retrieval\n", 'retrieval(samples="bad.jsonl")\n')
    )
    hostile.write("bad.jsonl", lines(row(), b"nonsense"))
    done = hostile.try_out(workers)
    assert done.code == code, done.output
    assert "bad.jsonl: line 2: not JSON" in done.output
    assert not hostile.report.exists()


@pytest.mark.parametrize("make", [Path.mkdir, lambda path: (path / "benchmark" / "v1").mkdir(parents=True)])
def test_an_empty_release(hostile: Hostile, make: Callable[[Path], None]) -> None:
    make(hostile.root / "release")
    done = hostile.try_out("--release=release")
    assert done.code == pytest.ExitCode.USAGE_ERROR, done.output
    done.line("ERROR: --release ", "no release there")


def make_fifo(path: Path) -> None:
    os.mkfifo(path)


def make_loop(path: Path) -> None:
    path.symlink_to(path)


def make_large(path: Path) -> None:
    with path.open("wb") as target:
        target.truncate((256 << 20) + 1)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        pytest.param(Path.mkdir, "Is a directory", id="folder"),
        pytest.param(make_fifo, "is a pipe", id="fifo"),
        pytest.param(make_loop, "Too many levels of symbolic links", id="loop"),
        pytest.param(make_large, "larger than 256 MiB", id="large"),
        pytest.param(lambda path: None, "No such file", id="missing"),
    ],
)
def test_what_is_no_samples_file(hostile: Hostile, make: Callable[[Path], None], says: str) -> None:
    make(hostile.root / "odd.jsonl")
    done = hostile.try_out("--samples=odd.jsonl")
    assert done.code == pytest.ExitCode.USAGE_ERROR, done.output
    done.line("ERROR: ", "odd.jsonl", says)


@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_odd_but_legal_rows_run(hostile: Hostile, workers: str) -> None:
    """Half a surrogate pair in a query must cross to the workers, and what a path says is never followed."""
    paths = ["../../outside/gold", str(hostile.outside / "gold"), "a\0b", ".git/config", "~", "src/part1.c"]
    rows = [
        row(query="tree \ud800 lone \udfff surrogates"),
        row(query={"title": "\u2028\u2029\x85 \x1b[31mred\x1b[0m \r bell \x07", "n": 10**30, "f": 1e300}),
        row(query="tree " + "x" * 1_000_000),
        row(query="tree " + "\u0301" * 5_000 + "\u202e" + "𐀀"),
        row(relevant=paths, given=paths[:2], negatives=paths, changed_file="../../../../etc/passwd"),
        row(id="../../outside/id\n::[x] -k \u00e9" + "y" * 5_000),
    ]
    hostile.write("odd.jsonl", b"\xef\xbb\xbf" + lines(*rows).replace(b"\n", b"\r\n"))
    done = hostile.try_out(workers, "--samples=odd.jsonl", "--corpus=corpus", "-v")
    assert done.code == 0, done.output
    details = hostile.read_report()["details"]
    assert [detail["status"] for detail in details] == ["measured"] * len(rows)
    assert details[4]["gold_absent"] == [path for path in paths if path != "src/part1.c"]
    assert "\x1b[31m" not in done.output
    assert "\x07" not in done.output


# --- chunk files -----------------------------------------------------------------------------------------

LINE = 64 << 20


def compressed(*rows: Mapping[str, Any] | bytes) -> bytes:
    return zstandard.compress(lines(*rows))


def wide_window() -> bytes:
    """Said to need 1 GiB for its window."""
    parameters = zstandard.ZstdCompressionParameters(window_log=30, enable_ldm=True, write_content_size=0)
    stream = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    return stream.compress(lines(file("a"))) + stream.flush()


def bomb() -> bytes:
    """Some kilobytes that become one line of 4 GiB."""
    frame = zstandard.ZstdCompressor(level=1).compress(b" " * (128 << 20))
    return zstandard.compress(b"{") + frame * 32


DAMAGED = bytearray(compressed(file("a"), file("b")))
DAMAGED[-6] ^= 0xFF

BAD_CHUNKS = {
    "empty": (".jsonl", b"", "no row of kind 'file'"),
    "symbols": (".jsonl", lines({"kind": "symbol", "path": "a", "text": "b"}), "no row of kind 'file'"),
    "refused": (".jsonl", lines(file("../x"), file("/x")), "no row of kind 'file' (2 rows are refused)"),
    "no-json": (".jsonl", lines(file("a"), b'{"kind": "file", '), ":2: not JSON"),
    "list": (".jsonl", lines(b'["file"]'), ":1: the row is no JSON object"),
    "no-text": (".jsonl", lines({"kind": "file", "path": "a"}), ":1: field 'text'"),
    "path": (".jsonl", lines({"kind": "file", "path": ["a"], "text": ""}), ":1: field 'path'"),
    "deep": (".jsonl", lines(b'{"kind": "file", "x": ' + b"[" * 100_000 + b"}"), ":1: not JSON"),
    "digits": (".jsonl", lines(b'{"kind": "file", "x": ' + b"9" * 5000 + b"}"), ":1: not JSON"),
    "line": (".jsonl.zst", compressed(file("a"), b" " * (LINE + 1)), ":2: the line is over 64 MiB"),
    "bomb": (".jsonl.zst", bomb(), ":1: the line is over 64 MiB"),
    "truncated": (".jsonl.zst", compressed(file("a", "x" * 999))[:-9], "truncated"),
    "damaged": (".jsonl.zst", bytes(DAMAGED), "damaged"),
    "no-zstd": (".jsonl.zst", lines(file("a")), "damaged"),
    "window": (".jsonl.zst", wide_window(), "a window over 128 MiB"),
}


def test_every_bad_chunk_file_is_a_fault_of_its_sample(hostile: Hostile) -> None:
    """One session for all: a fault costs its own sample, and no other."""
    rows = []
    for name, (ending, content, _) in BAD_CHUNKS.items():
        rows.append(row(f"bad/{name}"))
        hostile.write(f"corpus/bad__{name}/{COMMIT}.chunks{ending}", content)
    hostile.write("bad.jsonl", lines(*rows, row()))
    done = hostile.try_out("-n2", "--samples=bad.jsonl", "--corpus=corpus")
    assert done.code == pytest.ExitCode.TESTS_FAILED
    *faulty, good = hostile.read_report()["details"]
    assert good["status"] == "measured"
    for detail, (_, _, says) in zip(faulty, BAD_CHUNKS.values(), strict=True):
        assert detail["status"] == "fault"
        for answer in detail["arms"].values():
            assert says in answer["error"], answer
            assert "\n" not in answer["error"]


def test_a_pipe_by_the_name_of_a_chunk_file_is_not_waited_for(hostile: Hostile) -> None:
    named = {"plain": ".chunks.jsonl", "packed": ".chunks.jsonl.zst"}
    for name, ending in named.items():
        folder = hostile.root / "corpus" / f"bad__{name}"
        folder.mkdir()
        os.mkfifo(folder / f"{COMMIT}{ending}")
    os.mkfifo(hostile.root / "named.chunks.jsonl")
    rows = [*(row(f"bad/{name}") for name in named), row("bad/named"), row()]
    hostile.write("samples.jsonl", lines(*rows))
    snapshot = f"--snapshot=bad/named@{COMMIT}=named.chunks.jsonl"
    done = hostile.try_out("--samples=samples.jsonl", "--corpus=corpus", snapshot)
    assert done.code == pytest.ExitCode.TESTS_FAILED
    *faulty, good = hostile.read_report()["details"]
    assert good["status"] == "measured"
    places = [f"bad__{name}/{COMMIT}{ending}" for name, ending in named.items()]
    for detail, place in zip(faulty, [*places, "named.chunks.jsonl"], strict=True):
        told = f"snapshot: {place}: cannot be read (it is a pipe; write what it gives to a file first)"
        assert detail["arms"]["grep"]["error"] == told


@pytest.mark.parametrize(
    "option", ["--release=pipe.tar.zst", "--retrieval-gates=pipe.tar.zst", "--arms=engine:pipe.tar.zst"]
)
def test_other_pipes_by_the_name_of_files_are_not_waited_for(hostile: Hostile, option: str) -> None:
    os.mkfifo(hostile.root / "pipe.tar.zst")
    done = hostile.try_out(option)
    assert done.code == pytest.ExitCode.USAGE_ERROR, done.output
    done.line("ERROR: ", "pipe.tar.zst", "it is a pipe")


@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_hostile_paths_are_refused_and_counted_and_the_rest_is_searched(
    hostile: Hostile, workers: str
) -> None:
    """An arm asks for a work tree of it, so that every path that is taken is written."""
    refused = [
        "../../../../outside/a",
        str(hostile.outside / "b"),
        "a/../../../../../outside/c",
        ".git/config",
        "sub/.GIT/hooks/post-checkout",
        "nul\0byte",
        "\\\\host\\share",
        "\ud800",
        "./here",
        "two//slashes",
        "",
        "trailing/",
        "n" * 256,
        "/".join(["deep"] * 1000),
    ]
    taken = [
        "~/home",
        "-rf",
        "a b\nc",
        "é\u0301",
        "CON",
        "a\\b",
        ".gitattributes",
        ".gitmodules",
        "src/part1.c",
    ]
    clash = ["both", "both/below"]
    rows = [file(path, f"part1 {number}\n") for number, path in enumerate([*refused, *taken, *clash])]
    more = [
        b'{"kind": "file", "path": "dup", "path": "src/part2.c", "text": "\xff part1 \\ud800 \xe2\x80\xa8"}'
    ]
    hostile.write(f"corpus/acme__hostile/{COMMIT}.chunks.jsonl", lines(*rows, *more))
    hostile.write("samples.jsonl", lines(row("acme/hostile"), row()))
    done = hostile.try_out(workers, "--samples=samples.jsonl", "--corpus=corpus")
    assert done.code == 0, done.output
    report = hostile.read_report()
    facts = report["snapshots"][f"acme/hostile@{COMMIT}"]
    assert facts["dropped"] == {"both file and folder": 1, "refused path": len(refused)}
    assert facts["files"] == len(taken) + 2
    ranked = report["details"][0]["arms"]["wild"]["ranked"]
    assert set(ranked) == {*taken, "both/below", "src/part2.c"}


@pytest.mark.parametrize("place", ["../../outside", "/etc/passwd", "corpus\0x", 7, "."])
def test_a_manifest_leads_nowhere_else(hostile: Hostile, place: object) -> None:
    manifest = {"repo": "acme/lost", "base_commit": COMMIT, "chunks_path": place}
    hostile.write("corpus/corpus_manifest.jsonl", lines(manifest))
    (hostile.outside / f"{COMMIT}.chunks.jsonl").write_bytes(lines(file("a")))
    hostile.write("samples.jsonl", lines(row("acme/lost"), row()))
    done = hostile.try_out("-n0", "--samples=samples.jsonl", "--corpus=corpus")
    assert done.code == pytest.ExitCode.TESTS_FAILED
    lost, good = hostile.read_report()["details"]
    assert "no snapshot for acme/lost@" in lost["arms"]["grep"]["error"]
    assert good["status"] == "measured"


# --- archives --------------------------------------------------------------------------------------------

Members = list[tuple[tarfile.TarInfo, bytes]]


def member(name: str, content: bytes = b"", **fields: Any) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.size = len(content)
    for field, value in fields.items():
        setattr(info, field, value)
    return info, content


def archive(members: Members) -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as writer:
        for info, content in members:
            writer.addfile(info, io.BytesIO(content))
    return target.getvalue()


def release(*extra: tuple[tarfile.TarInfo, bytes]) -> Members:
    """A good release with ``extra`` members before its samples and its corpus."""
    chunks = lines(file("src/part1.c"), file("src/part2.c", "int other;\n"))
    return [
        *extra,
        member("benchmark/v1/samples.jsonl", lines(row(task_type="code2test"))),
        *extra,
        member(f"corpus/v1/acme__anvil/{COMMIT}.chunks.jsonl", chunks),
    ]


def test_hostile_members_are_passed_over(hostile: Hostile) -> None:
    link, hard, device, pipe = tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE
    content = lines(row(id="evil"))
    extra = [
        member("benchmark/v1/link.jsonl", type=link, linkname=str(hostile.outside)),
        member("benchmark/v1/hard.jsonl", type=hard, linkname="../../../outside/x"),
        member("benchmark/v1/device.jsonl", type=device, devmajor=1, devminor=5),
        member("benchmark/v1/pipe.jsonl", type=pipe),
        member("benchmark", type=link, linkname=str(hostile.outside)),
        member("benchmark/../../../../outside/up.jsonl", content),
        member(f"{hostile.outside}/absolute.jsonl", content),
        member("benchmark/v1/../../../../outside/up.jsonl", content),
        member("benchmark/.git/x.jsonl", content),
        member(f"corpus/v1/../../../outside/{COMMIT}.chunks.jsonl", lines(file("evil"))),
        member("benchmark/v1/name\nwith\x1bodd.txt", b"x"),
    ]
    hostile.write("v1.tar.zst", zstandard.compress(archive(release(*extra))))
    done = hostile.try_out("-n2", "--release=v1.tar.zst")
    assert done.code == 0, done.output
    (detail,) = hostile.read_report()["details"]
    assert detail["arms"]["grep"]["ranked"] == ["src/part1.c"]


def bad_checksum() -> bytes:
    data = bytearray(archive(release()))
    data[150] ^= 1
    return zstandard.compress(bytes(data))


def bad_size() -> bytes:
    data = bytearray(archive(release()))
    data[124:136] = b"\x80" + b"\x7f" * 11
    data[148:156] = b" " * 8
    data[148:156] = b"%06o\0 " % sum(data[:512])
    return zstandard.compress(bytes(data))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        pytest.param(b"", "ends too early", id="empty-file"),
        pytest.param(zstandard.compress(b""), "ends too early", id="empty-tar"),
        pytest.param(zstandard.compress(archive([])), "no benchmark/<id>/*.jsonl", id="no-member"),
        pytest.param(zstandard.compress(archive([member("x", b"x")])), "no benchmark/", id="no-release"),
        pytest.param(archive(release()), "damaged", id="not-compressed"),
        pytest.param(zstandard.compress(archive(release()))[:-20], "truncated", id="truncated-zstd"),
        pytest.param(zstandard.compress(archive(release())[:700]), "truncated", id="truncated-tar"),
        pytest.param(bad_checksum(), "checksum", id="checksum"),
        pytest.param(bad_size(), "out of range", id="size"),
        pytest.param(
            zstandard.compress(archive([member("benchmark/v1/samples.jsonl", b"nonsense\n")])),
            "samples.jsonl: line 1: not JSON",
            id="samples",
        ),
    ],
)
def test_an_archive_that_cannot_serve(hostile: Hostile, content: bytes, says: str) -> None:
    hostile.write("v1.tar.zst", content)
    done = hostile.try_out("--release=v1.tar.zst")
    assert done.code == pytest.ExitCode.USAGE_ERROR, done.output
    done.line("ERROR: ", says)


def test_a_corpus_that_is_truncated_is_a_fault_of_its_samples(hostile: Hostile) -> None:
    """The samples come first and are whole, so that only reading on shows it."""
    samples, chunks = release()
    whole = archive([samples, member("corpus/v1/padding", os.urandom(1 << 20)), chunks])
    hostile.write("v1.tar.zst", zstandard.compress(whole)[: -(1 << 19)])
    done = hostile.try_out("-n2", "--release=v1.tar.zst")
    assert done.code == pytest.ExitCode.TESTS_FAILED, done.output
    (detail,) = hostile.read_report()["details"]
    assert "v1.tar.zst: the zstd data end too early" in detail["arms"]["grep"]["error"]


# --- folders and repositories ------------------------------------------------------------------------------


ODD_NAMES = ["caf\udce9.c", "\udcff\udcfe", "new\nline.c", "-rf", "é.c", "plain.c"]


def make_odd_folder(root: Path) -> None:
    """Names that are no UTF-8, and what is no regular file."""
    root.mkdir()
    for name in ODD_NAMES:
        (root / name).write_text("int part1(void);\n")
    os.mkfifo(root / "pipe")
    (root / "link").symlink_to("/etc/passwd")
    (root / "loop").symlink_to(".")
    (root / "sub\udcff").mkdir()
    (root / "sub\udcff" / "binary").write_bytes(b"part1\0\n")


@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_names_that_are_no_utf_8_in_a_folder(hostile: Hostile, workers: str) -> None:
    make_odd_folder(hostile.root / "odd")
    hostile.write("samples.jsonl", lines(row("acme/odd", relevant=["plain.c"])))
    done = hostile.try_out(workers, "--samples=samples.jsonl", f"--snapshot=acme/odd@{COMMIT}=odd")
    assert done.code == 0, done.output
    check_odd(hostile, ODD_NAMES, {"special file": 1, "symbolic link": 2}, files=7)


@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_a_repository_with_odd_names_that_would_run_programs(hostile: Hostile, workers: str) -> None:
    """Its configuration, attributes and hooks name a program that would leave a file outside."""
    root = hostile.root / "repository"
    entries = [("100644", os.fsencode(name), b"int part1(void);\n") for name in ODD_NAMES]
    entries += [("120000", b"link", b"/etc/passwd"), ("160000", b"module", COMMIT.encode())]
    entries += [("100644", b".gitattributes", b"* filter=evil diff=evil merge=evil\n")]
    commit = bare_repository(root, entries)
    program = hostile.write("evil", f"#!/bin/sh\ntouch {hostile.outside}/ran\n".encode())
    program.chmod(0o755)
    for hook in ("post-checkout", "pre-commit", "post-index-change", "reference-transaction"):
        (root / "hooks").mkdir(exist_ok=True)
        (root / "hooks" / hook).symlink_to(program)
    with (root / "config").open("a") as config:
        config.write(f"[core]\nfsmonitor = {program}\nsshCommand = {program}\npager = {program}\n")
        config.write(f'[filter "evil"]\nclean = {program}\nsmudge = {program}\nrequired = true\n')
        config.write(f'[diff "evil"]\ntextconv = {program}\n[uploadpack]\npackObjectsHook = {program}\n')
    hostile.write("samples.jsonl", lines(row("acme/odd", base_commit=commit, relevant=["plain.c"])))
    done = hostile.try_out(workers, "--samples=samples.jsonl", f"--snapshot=acme/odd@{commit}=git:repository")
    assert done.code == 0, done.output
    check_odd(hostile, [*ODD_NAMES, ".gitattributes"], {"submodule": 1, "symbolic link": 1}, files=7)


def check_odd(hostile: Hostile, names: list[str], dropped: dict[str, int], files: int) -> None:
    """The report is UTF-8, in which half a character is shown as a replacement."""
    report = json.loads(hostile.report.read_bytes().decode("utf-8"))
    (facts,) = report["snapshots"].values()
    assert (facts["dropped"], facts["files"]) == (dropped, files)
    (detail,) = report["details"]
    ranked = detail["arms"]["wild"]["ranked"]
    assert len(ranked) == len(names)
    assert {"plain.c", "é.c", "-rf", "new\nline.c", "caf\ufffd.c"} <= set(ranked)
    assert detail["metrics"]["wild"]["hit@k"] == 1
