import hashlib
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_retrieval.datasets import samples as module
from pytest_retrieval.datasets.samples import load_samples, parse_samples
from pytest_retrieval.errors import SampleError
from tests.datasets.rows import benchmark_row, faults_of

ROW = json.dumps(benchmark_row()).encode()


def with_query(text: str) -> bytes:
    """The ordinary row with ``text`` standing as its query."""
    return ROW.replace(b'{"pr_title": "Grow the ring"}', text.encode())


def test_lines_places_and_digest() -> None:
    other = json.dumps(benchmark_row(id="b")).encode()
    data = ROW + b"\n\n  \t\n" + other + b"\n" + ROW
    loaded = parse_samples(data, "s.jsonl")
    assert [(s.line, s.row, s.ordinal) for s in loaded.samples] == [(1, 0, 0), (4, 1, 0), (5, 2, 1)]
    assert loaded.path == "s.jsonl"
    assert loaded.sha256 == hashlib.sha256(data).hexdigest()
    assert {sample.source for sample in loaded.samples} == {loaded.sha256}


def test_repeated_ids_are_legal_and_told() -> None:
    (warning,) = parse_samples(ROW + b"\n" + ROW, "s.jsonl").warnings
    assert warning.startswith("repeated ids: 1 (first '8e5f31c02cbb5bd1563ea5d1', lines 1 and 2)")


@pytest.mark.parametrize("path", ["/etc/passwd", "../up.c", "a//b.c", ".git/config"])
def test_gold_that_no_snapshot_can_hold_is_told(path: str) -> None:
    row = json.dumps(benchmark_row(gold={"files": ["ring_test.c", path]})).encode()
    (warning,) = parse_samples(row, "s.jsonl").warnings
    assert warning.startswith(f"gold that no snapshot can hold: 1 (first {path!r}, line 1)")


def test_crlf_mark_and_missing_final_newline() -> None:
    loaded = parse_samples(b"\xef\xbb\xbf" + ROW + b"\r\n\r\n" + ROW.replace(b"8e5f", b"9e5f"), "s.jsonl")
    assert [sample.line for sample in loaded.samples] == [1, 3]
    assert loaded.warnings == ("starts with a byte order mark, which was skipped",)


@pytest.mark.parametrize("char", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c"])
def test_only_a_line_feed_ends_a_line(char: str) -> None:
    row = json.dumps(benchmark_row(query={"t": char}), ensure_ascii=False)
    escaped = row if char > " " else row.replace(char, f"\\u{ord(char):04x}")
    (sample,) = parse_samples(escaped.encode(), "s.jsonl").samples
    assert sample.query == {"t": char}


def test_an_empty_file_has_no_samples() -> None:
    assert parse_samples(b"", "s.jsonl").samples == ()


def test_rows_of_both_shapes_may_share_a_file() -> None:
    short = b'{"query": "x", "relevant": ["a"]}'
    loaded = parse_samples(ROW + b"\n" + short, "s.jsonl", ("acme/ring", "v1"))
    assert [sample.task for sample in loaded.samples] == ["code2test", "queryset"]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b"{", "not JSON: "),
        (b"[]", "a list, not a JSON object"),
        (b'"x"', "a string, not a JSON object"),
        (b"null", "null, not a JSON object"),
        (b"3", "a number, not a JSON object"),
        (b"true", "a boolean, not a JSON object"),
        (ROW + ROW, "not JSON: Extra data at column"),
        (ROW[:-1] + b', "id": "x"}', "the key 'id' is written twice"),
        (with_query('{"a": {"k": 1, "k": 1}}'), "the key 'k' is written twice"),
        (with_query('{"a": NaN}'), "NaN is not JSON"),
        (with_query('{"a": -Infinity}'), "-Infinity is not JSON"),
        (with_query('{"a": -1e999}'), "the number -1e999 is too large for a float"),
        (with_query('{"a": ' + "9" * 5000 + "}"), "a number has too many digits"),
        (with_query('{"a": ' + "[" * 100_000 + "]" * 100_000 + "}"), "nested deeper than 200 levels"),
        (with_query('{"a": ' + "[" * 250 + "]" * 250 + "}"), "nested deeper than 200 levels"),
        (b"[" * 100_000, "nested deeper than 200 levels"),
        (b'{"id": "\xff"}', "not UTF-8 (byte 9)"),
        (b'{"id": "\xed\xa0\x80"}', "not UTF-8 (byte 9)"),
        (b'{"id": "a\x00"}', "not JSON: "),
        (ROW.ljust(4 * 1024 * 1024 + 1), "larger than 4 MiB"),
    ],
)
def test_lines_that_are_no_row(line: bytes, says: str) -> None:
    (fault,) = faults_of(ROW + b"\n" + line + b"\n")
    assert fault.startswith(f"line 2: {says}")


def test_ordinary_nesting_passes() -> None:
    query = '{"a": ' + "[" * 190 + "]" * 190 + ', "b": [' + "[]," * 300 + "1]}"
    assert len(parse_samples(with_query(query), "s.jsonl").samples) == 1


def test_a_row_of_exactly_four_mebibytes_passes() -> None:
    assert len(parse_samples(ROW.ljust(4 * 1024 * 1024) + b"\r\n" + ROW, "s.jsonl").samples) == 2


def test_all_faults_of_a_file_come_at_once() -> None:
    data = b"\n".join(
        [
            json.dumps(benchmark_row(repo="x", base_commit="y")).encode(),
            ROW,
            b"{",
            json.dumps(benchmark_row(id=None)).encode(),
        ]
    )
    with pytest.raises(SampleError) as refused:
        parse_samples(data, "dir/s.jsonl")
    faults = refused.value.faults
    assert [fault.split(":")[0] for fault in faults] == ["line 1", "line 1", "line 3", "line 4"]
    assert str(refused.value).splitlines()[0].startswith("dir/s.jsonl: line 1: field 'repo': 'x' is not")


def test_a_file_of_another_kind_is_not_read_to_its_end() -> None:
    faults = faults_of(b"no json\n" * 5000)
    assert len(faults) == 1001
    assert faults[-1] == "line 1001: too many faults; reading stopped"


def test_messages_stay_short_whatever_the_row_holds() -> None:
    long = "k" * 100_000
    rows = [benchmark_row(repo=long, base_commit=long), {"query": "x", long: 1}]
    data = b"\n".join([*(json.dumps(row).encode() for row in rows), f'{{"{long}":1,"{long}":2}}'.encode()])
    assert max(map(len, faults_of(data))) < 400


def test_load_names_the_file_as_shown(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(ROW)
    assert load_samples(path).path == str(path)
    assert load_samples(path, shown="data/s.jsonl").path == "data/s.jsonl"
    path.write_bytes(b"{")
    with pytest.raises(SampleError, match=r"^data/s\.jsonl: line 1: not JSON"):
        load_samples(path, shown="data/s.jsonl")


def test_load_passes_its_options_on(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b'{"query": "x", "relevant": ["a"], "base_commit": "v1"}')
    (sample,) = load_samples(path, default=("acme/ring", "v2"), allow_labels={"v1"}).samples
    assert sample.snapshot == "acme/ring@v1"


@pytest.mark.parametrize("name", ["missing.jsonl", ".", "nul\x00"])
def test_a_file_that_cannot_be_read(tmp_path: Path, name: str) -> None:
    with pytest.raises(SampleError, match=r": cannot be read: .+") as refused:
        load_samples(tmp_path / name)
    assert "\n" not in str(refused.value)


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.touch()
    os.truncate(path, 256 * 1024 * 1024 + 1)  # sparse: it takes no room
    with pytest.raises(SampleError, match="larger than 256 MiB; split the file"):
        load_samples(path)


def test_a_stream_that_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_FILE", 10)
    with pytest.raises(SampleError, match="larger than"):
        parse_samples(b"x" * 11, "s.jsonl")


def test_too_many_lines_are_refused_though_they_are_blank(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_LINES", 3)
    assert len(parse_samples(b"\n\n" + ROW + b"\n", "s.jsonl").samples) == 1
    with pytest.raises(SampleError, match="more than 3 lines; split the file"):
        parse_samples(b"\n\n\n" + ROW + b"\n", "s.jsonl")


@given(
    st.binary(max_size=200)
    | st.lists(st.sampled_from([ROW, b"{", b"{}", b"[1]", b"\xff", b""])).map(b"\n".join)
)
def test_any_bytes_load_or_are_refused(data: bytes) -> None:
    try:
        loaded = parse_samples(data, "s.jsonl")
    except SampleError as refused:
        assert refused.faults
    else:
        keys = [(sample.id, sample.ordinal) for sample in loaded.samples]
        assert len(set(keys)) == len(keys)
