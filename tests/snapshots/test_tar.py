"""The member reader against archives that the standard library writes."""

from __future__ import annotations

import io
import tarfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_retrieval.errors import SnapshotError
from pytest_retrieval.snapshots.tar import TarReader

FORMATS = [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT]


def archive(members: list[tuple[str, bytes]], form: int = tarfile.PAX_FORMAT) -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w", format=form) as writer:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            writer.addfile(info, io.BytesIO(content))
    return target.getvalue()


def special(name: str, kind: bytes, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info


def read(data: bytes) -> list[tuple[str, bytes]]:
    return [(member.name, member.data.read()) for member in TarReader(io.BytesIO(data), "shown")]


_part = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="/\0"), min_size=1, max_size=80
).filter(lambda part: part not in {".", ".."} and part.lower() != ".git" and len(part.encode()) < 250)
_name = st.lists(_part, min_size=1, max_size=4).map("/".join).filter(lambda name: name[0] != "\\")


@given(
    st.lists(st.tuples(_name, st.binary(max_size=1500)), max_size=5),
    st.sampled_from([tarfile.GNU_FORMAT, tarfile.PAX_FORMAT]),
)
def test_what_tarfile_writes_is_read(members: list[tuple[str, bytes]], form: int) -> None:
    assert read(archive(members, form)) == members


@pytest.mark.parametrize("form", FORMATS)
def test_long_names_in_every_format(form: int) -> None:
    members = [("a/" * 60 + "b" * 60, b"x"), ("short", b"y" * 513)]
    assert read(archive(members, form)) == members


def test_members_need_not_be_read() -> None:
    data = archive([("a", b"x" * 3000), ("b", b"y" * 3000)])
    assert [member.name for member in TarReader(io.BytesIO(data), "shown")] == ["a", "b"]
    names = []
    for member in TarReader(io.BytesIO(data), "shown"):
        names.append((member.name, member.data.read(10)))
    assert names == [("a", b"x" * 10), ("b", b"y" * 10)]


def test_only_regular_files_with_safe_names_are_members() -> None:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as writer:
        writer.addfile(special("folder", tarfile.DIRTYPE))
        writer.addfile(special("soft", tarfile.SYMTYPE, "/etc/passwd"))
        writer.addfile(special("hard", tarfile.LNKTYPE, "ok"))
        writer.addfile(special("device", tarfile.CHRTYPE))
        writer.addfile(special("pipe", tarfile.FIFOTYPE))
        for name in ("/etc/cron.d/x", "../up", "a/../../b", "./ok", "a/.git/hooks/x"):
            writer.addfile(special(name, tarfile.REGTYPE))
    reader = TarReader(io.BytesIO(target.getvalue()), "shown")
    assert [member.name for member in reader] == ["ok"]
    assert reader.ignored == {"folder": 1, "link or device": 4, "refused path": 4}


def test_every_truncation_is_noticed() -> None:
    data = archive([("a", b"x" * 700), ("b" * 150, b"y")])
    end = data.rindex(b"y") + 1
    end += -end % 512
    assert len(read(data[: end + 512])) == 2
    for length in range(0, end + 511, 97):
        with pytest.raises(SnapshotError, match=r"^shown: the archive ends too early; it is truncated$"):
            read(data[:length])


@given(st.integers(0, 511), st.integers(1, 255))
def test_a_damaged_header_is_one_line_or_harmless(position: int, change: int) -> None:
    data = bytearray(archive([("a", b"x" * 10), ("b", b"y")], tarfile.USTAR_FORMAT))
    data[position] ^= change
    try:
        found = read(bytes(data))
    except SnapshotError as error:
        assert str(error).startswith("shown: ")
        assert "\n" not in str(error)
    else:
        # Only the padding of the checksum's own field is outside the checksum.
        assert 148 <= position < 156
        assert [name for name, _ in found] == ["a", "b"]


def header(size: bytes) -> bytes:
    block = bytearray(archive([("a", b"")], tarfile.USTAR_FORMAT)[:512])
    block[124:136] = size
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


def test_a_size_in_base_256() -> None:
    data = header(b"\x80" + (3).to_bytes(11)) + b"abc" + b"\0" * 509 + b"\0" * 1024
    assert read(data) == [("a", b"abc")]


@pytest.mark.parametrize(
    "size", [b"\x80" + b"\xff" * 11, b"\xff" * 12, b"77777777777\0"[:12], b"-0000000001\0", b"zz"]
)
def test_a_size_that_cannot_be(size: bytes) -> None:
    with pytest.raises(SnapshotError, match=r"out of range|ends too early"):
        read(header(size.ljust(12, b"\0")) + b"\0" * 1024)


@pytest.mark.parametrize(
    "record", [b"999 path=x\n", b"0 path=x\n", b"path=x\n", b"-5 path=x\n", b"99999999999 a=b\n"]
)
def test_a_pax_record_whose_length_is_wrong(record: bytes) -> None:
    info = tarfile.TarInfo("x")
    info.type, info.size = tarfile.XHDTYPE, len(record)
    data = info.tobuf(tarfile.USTAR_FORMAT) + record.ljust(512, b"\0")
    with pytest.raises(SnapshotError, match="extended header is damaged"):
        read(data + archive([("a", b"")]))


def test_an_extended_header_is_at_most_1_mib() -> None:
    info = tarfile.TarInfo("x")
    info.type, info.size = tarfile.XHDTYPE, (1 << 20) + 1
    with pytest.raises(SnapshotError, match="over 1 MiB"):
        read(info.tobuf(tarfile.USTAR_FORMAT) + b"\0" * (2 << 20))
