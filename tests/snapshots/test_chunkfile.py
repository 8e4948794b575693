from __future__ import annotations

import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from pytest_retrieval.errors import SnapshotError
from pytest_retrieval.snapshots import chunkfile
from pytest_retrieval.snapshots.base import MemoryContents, Snapshot
from pytest_retrieval.snapshots.chunkfile import RowReader, copy_file_rows, may_be_file_row, read_chunk_file
from pytest_retrieval.snapshots.paths import is_safe


def row(path: str, text: str, kind: str = "file", **more: object) -> bytes:
    return json.dumps({"kind": kind, "path": path, "text": text, **more}).encode()


def write(folder: Path, lines: Iterable[bytes]) -> Path:
    path = folder / "c.chunks.jsonl"
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path


def texts(path: Path) -> dict[str, str]:
    snapshot = Snapshot("o/n", "c", "x", read_chunk_file(path))
    return {file.path: snapshot.text(file.path) for file in snapshot.files}


def test_file_rows_are_the_tree_and_a_later_row_of_a_path_wins(tmp_path: Path) -> None:
    lines = [row("a", "old"), row("f", "x", "symbol"), b"", row("b", ""), row("a", "new"), b"  "]
    assert texts(write(tmp_path, lines)) == {"a": "new", "b": ""}


def test_only_a_line_feed_ends_a_line(tmp_path: Path) -> None:
    text = "a\u2028b\u2029c\u0085d\x0b"
    line = json.dumps({"kind": "file", "path": "a", "text": text}, ensure_ascii=False).encode()
    path = tmp_path / "c.chunks.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + line + b"\r\n" + row("b", "no final line feed"))
    assert texts(path) == {"a": text, "b": "no final line feed"}


@pytest.mark.parametrize(
    ("line", "is_file"),
    [
        (b'{"kind":"file","path":"a","text":"t"}', True),
        (b'{ "text" : "t" , "path" : "a" , "kind" : "file" }', True),
        (b'{"kind":"\\u0066ile","path":"a","text":"t"}', True),
        (b'{"k\\u0069nd":"fil\\u0065","path":"a","text":"t"}', True),
        (b'{"kind":"symbol","kind":"file","path":"a","text":"t"}', True),
        (b'{"kind":"file","kind":"symbol","path":"a","text":"t"}', False),
        (b'{"kind":"symbol","symbol":"file","path":"a","text":"t"}', False),
        (b'{"kind":"symbol","path":"a","text":"\\"kind\\":\\"file\\""}', False),
        (b'{"kind":["file"],"path":"a","text":"t"}', False),
        (b'{"path":"a","text":"t"}', False),
    ],
)
def test_the_kind_of_a_row_is_what_a_json_parser_says(tmp_path: Path, line: bytes, is_file: bool) -> None:
    found = texts(write(tmp_path, [row("z", "z"), line]))
    assert ("a" in found) is is_file


def test_rows_of_symbols_are_not_even_parsed(tmp_path: Path) -> None:
    assert texts(write(tmp_path, [b'{"kind":"symbol", broken }', row("a", "t")])) == {"a": "t"}


_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=6)
    | st.sampled_from(["file", "kind", '"file"']),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["kind", "a"]), inner, max_size=2)
    ),
    max_leaves=4,
)


@given(
    st.dictionaries(st.sampled_from(["kind", "path", "text", "symbol"]), _values, max_size=4),
    st.booleans(),
    st.booleans(),
)
def test_skipping_agrees_with_a_parser(fields: dict[str, Any], ascii_only: bool, compact: bool) -> None:
    separators = (",", ":") if compact else (" , ", " : ")
    line = json.dumps(fields, ensure_ascii=ascii_only, separators=separators).encode("utf-8", "surrogatepass")
    if fields.get("kind") == "file":
        assert may_be_file_row(line)


@given(
    st.lists(
        st.tuples(st.sampled_from(["file", "symbol"]), st.text(max_size=5), st.text(max_size=9)), max_size=8
    )
)
def test_the_rows_are_those_of_the_standard_parser(rows: list[tuple[str, str, str]]) -> None:
    lines = [row(path, text, kind) for kind, path, text in rows]
    expected = [(path, text) if is_safe(path) else None for kind, path, text in rows if kind == "file"]
    data = b"".join(line + b"\n" for line in lines)
    assert taken(RowReader(), data) == expected
    copied = io.BytesIO()
    copy_file_rows(io.BytesIO(data), copied, "x")
    assert taken(RowReader(), copied.getvalue()) == expected


def taken(reader: RowReader, data: bytes) -> list[tuple[str, str] | None]:
    rows = reader.rows(io.BytesIO(data), "x")
    return [None if row is None else (row.file.path, row.content.decode()) for row in rows]


@given(
    st.lists(
        st.lists(
            st.tuples(
                st.sampled_from(["a", "b"]),
                st.sampled_from(["file", "symbol"]),
                st.sampled_from(["p", "../p", "q"]),
                st.sampled_from(["one", "two", '"file"']),
            ),
            max_size=6,
        ),
        max_size=4,
    )
)
def test_rows_known_from_the_last_tree_are_read_as_new_ones(
    trees: list[list[tuple[str, str, str, str]]],
) -> None:
    reader = RowReader()
    for tree in trees:
        keys = ("base_commit", "chunk_id", "end_line", "kind", "path", "text")
        rows = [dict(zip(keys, (own, own, 1, *rest), strict=True)) for own, *rest in tree]
        data = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
        expected = [
            None if path == "../p" else (path, text) for _, kind, path, text in tree if kind == "file"
        ]
        assert taken(reader, data) == taken(RowReader(), data) == expected


def test_what_follows_the_own_keys_of_a_known_row_is_no_row_by_itself() -> None:
    reader = RowReader()
    own, rest = b'{"base_commit": "1", "chunk_id": "2", ', b'"kind": "file", "path": "p", "text": "t"}'
    assert taken(reader, own + rest + b"\n") == [("p", "t")]
    with pytest.raises(SnapshotError, match="not JSON"):
        taken(reader, rest + b"\n")


def test_long_paths_with_one_start_are_told_apart() -> None:
    reader = RowReader()
    keys = ("base_commit", "chunk_id", "kind", "path", "text")
    paths = ["x/" * 150 + end for end in "ab"]
    rows = [dict(zip(keys, ("1", "2", "file", path, "t"), strict=True)) for path in paths]
    data = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    for _ in range(2):
        assert taken(reader, data) == [(path, "t") for path in paths]


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (b"[1]", "the row is no JSON object"),
        (b"null", "the row is no JSON object"),
        (b"nonsense", "not JSON"),
        (b'{"kind":"file"', "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b'{"kind":"file","text":"t"}', "field 'path' of a file row must be a string"),
        (b'{"kind":"file","path":"a"}', "field 'text' of a file row must be a string"),
        (b'{"kind":"file","path":1,"text":"t"}', "field 'path' of a file row must be a string"),
        (b'{"kind":"file","path":"a","text":null}', "field 'text' of a file row must be a string"),
    ],
)
def test_a_bad_row_is_one_line_with_file_and_line(tmp_path: Path, line: bytes, fault: str) -> None:
    path = write(tmp_path, [row("a", "t"), line])
    with pytest.raises(SnapshotError) as caught:
        read_chunk_file(path)
    assert str(caught.value).startswith(f"{path}:2: {fault}")
    assert "\n" not in str(caught.value)


def test_a_line_is_at_most_64_mib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert chunkfile.LINE_LIMIT == 67_108_864
    line = row("a", "t" * 100)
    monkeypatch.setattr("pytest_retrieval.snapshots.chunkfile.LINE_LIMIT", len(line))
    assert texts(write(tmp_path, [line])) == {"a": "t" * 100}
    with pytest.raises(SnapshotError, match=r":2: the line is over"):
        read_chunk_file(write(tmp_path, [line, line + b" "]))


def test_all_rows_of_a_file_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some kilobytes of zstd can become any number of rows."""
    rows = [row("a", "t" * 100), row("s", "t" * 1000, "symbol"), row("b", "u" * 100)]
    monkeypatch.setattr("pytest_retrieval.snapshots.chunkfile.ROWS_LIMIT", len(rows[0]) + len(rows[2]))
    assert list(texts(write(tmp_path, rows))) == ["a", "b"]
    with pytest.raises(SnapshotError, match=r":4: the rows of kind 'file' are over"):
        read_chunk_file(write(tmp_path, [*rows, row("c", "")]))


def test_all_lines_of_a_file_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blank ones and symbols too, for reading them takes its time."""
    rows = [row("a", "t"), b"", row("s", "t", "symbol"), row("b", "u")]
    size = sum(map(len, rows)) + len(rows)
    monkeypatch.setattr("pytest_retrieval.snapshots.chunkfile.LINES_LIMIT", len(rows))
    monkeypatch.setattr("pytest_retrieval.snapshots.chunkfile.SIZE_LIMIT", size)
    assert list(texts(write(tmp_path, rows))) == ["a", "b"]
    monkeypatch.setattr("pytest_retrieval.snapshots.chunkfile.SIZE_LIMIT", size - 1)
    with pytest.raises(SnapshotError, match=r":4: unpacked, a chunk file has at most 4 lines or 0 MiB$"):
        read_chunk_file(write(tmp_path, rows))


def test_some_kilobytes_of_zstd_do_not_become_an_endless_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_retrieval.snapshots.chunkfile.LINES_LIMIT", 100_000)
    path = tmp_path / "c.chunks.jsonl.zst"
    path.write_bytes(zstandard.compress(b"\n" * (256 << 20)))
    assert path.stat().st_size < 32 << 10
    with pytest.raises(SnapshotError, match=r":100001: unpacked, a chunk file has at most 100,000 lines"):
        read_chunk_file(path)


@pytest.mark.parametrize("lines", [[], [b""], [row("a", "t", "symbol")]])
def test_a_chunk_file_without_a_file_row(tmp_path: Path, lines: list[bytes]) -> None:
    with pytest.raises(SnapshotError, match="no row of kind 'file'"):
        read_chunk_file(write(tmp_path, lines))


def test_hostile_paths_are_refused_and_counted(tmp_path: Path) -> None:
    hostile = ["", "/etc/passwd", "../x", "a/../../x", "\\x", ".git/hooks/post-commit", "a//b", "a\0b", "./a"]
    lines = [row(path, "t") for path in [*hostile, "ok"]]
    lines.append(b'{"kind":"file","path":"\\ud800","text":"t"}')
    tree = read_chunk_file(write(tmp_path, lines))
    assert [file.path for file in tree.files] == ["ok"]
    assert tree.dropped == {"refused path": len(hostile) + 1}
    with pytest.raises(SnapshotError, match=r"2 rows are refused"):
        read_chunk_file(write(tmp_path, [row("/a", "t"), row("../b", "t")]))


def test_a_row_that_is_both_file_and_folder_is_refused_and_counted(tmp_path: Path) -> None:
    tree = read_chunk_file(write(tmp_path, [row("a", "t"), row("a/b/c", "t"), row("a/b", "t")]))
    assert [file.path for file in tree.files] == ["a/b/c"]
    assert tree.dropped == {"both file and folder": 2}


def test_lone_surrogates_and_invalid_utf8_become_replacement_characters(tmp_path: Path) -> None:
    lines = [
        b'{"kind":"file","path":"a","text":"x\\ud800y"}',
        b'{"kind":"file","path":"b","text":"x\xffy"}',
        b'{"kind":"file","path":"c","text":"\\ud83d\\ude00","n":NaN}',
    ]
    assert texts(write(tmp_path, lines)) == {"a": "x\ufffdy", "b": "x\ufffdy", "c": "\U0001f600"}


def test_folders_that_are_not_walked_are_in_the_tree_but_not_in_n(tmp_path: Path) -> None:
    path = write(
        tmp_path, [row(".corvint/x", "t"), row("a/.context-corvint/y", "t"), row("b", "t"), row("n", "\0")]
    )
    snapshot = Snapshot("o/n", "c", "x", read_chunk_file(path))
    assert snapshot.paths == ("b",)
    assert ".corvint/x" in snapshot
    assert len(snapshot.files) == 4


def test_cut_rows_are_recognised_by_mark_and_length(tmp_path: Path) -> None:
    mark = "\n...[truncated]"
    rows = {"cut": "x" * 8000 + mark, "stripped": "x" * 7990 + mark, "short": "x" + mark}
    rows |= {"long": "x" * 8001 + mark, "whole": "x" * 8000}
    tree = read_chunk_file(write(tmp_path, [row(path, text) for path, text in rows.items()]))
    assert tree.cut == {"cut", "stripped"}


def test_a_compressed_chunk_file_of_several_frames(tmp_path: Path) -> None:
    path = tmp_path / "c.chunks.jsonl.zst"
    data = row("a", "one") + b"\n" + row("b", "two") + b"\n"
    frames = [zstandard.compress(data[:20]), b"\x50\x2a\x4d\x18\x04\0\0\0skip", zstandard.compress(data[20:])]
    path.write_bytes(b"".join(frames))
    assert texts(path) == {"a": "one", "b": "two"}


def test_equal_texts_are_held_once(tmp_path: Path) -> None:
    tree = read_chunk_file(write(tmp_path, [row("a", "t"), row("b", "t"), row("c", "gone"), row("c", "t")]))
    assert isinstance(tree.contents, MemoryContents)
    assert len(tree.contents.held) == 1
