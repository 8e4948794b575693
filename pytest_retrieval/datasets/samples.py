"""Read a samples file: JSON Lines of benchmark rows, of hand-written rows, or of both; or Parquet."""

from __future__ import annotations

import hashlib
import io
import stat
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_retrieval.datasets.arb import arb_sample
from pytest_retrieval.datasets.contextbench import contextbench_sample
from pytest_retrieval.datasets.parquet import MAGIC, parquet_rows
from pytest_retrieval.datasets.queryset import queryset_sample
from pytest_retrieval.datasets.rows import Row, RowError, Slips, parse_row
from pytest_retrieval.datasets.swebench import swebench_sample
from pytest_retrieval.errors import SampleError
from pytest_retrieval.model import Sample, SampleFile
from pytest_retrieval.snapshots.paths import is_safe

MAX_FILE = 256 * 1024 * 1024
MAX_LINES = 4_000_000  # blank ones too, of which a kilobyte in an archive can hold any number
MAX_FAULTS = 1000  # a file of another kind has a fault on each of its millions of lines
_BOM = b"\xef\xbb\xbf"


def load_samples(
    path: Path,
    *,
    default: tuple[str, str] | None = None,
    shown: str | None = None,
    allow_labels: Collection[str] | bool = False,
) -> SampleFile:
    """Load the samples of ``path``; see :func:`parse_samples` for the other arguments.

    ``shown`` is how messages and the result name the file. Raises :class:`SampleError` where the file
    cannot be read, is larger than 256 MiB, or holds faults. A file that is named ``*.parquet`` or begins as
    such files do is read as Parquet: then the lines of messages are its rows.
    """
    shown = str(path) if shown is None else shown
    try:
        found = path.stat()
        if stat.S_ISFIFO(found.st_mode):  # its reader may wait for ever, and each worker reads anew
            raise SampleError(shown, ["is a pipe; write the rows to a file first"])
        if found.st_size > MAX_FILE:
            raise SampleError(shown, [_TOO_LARGE])
        with path.open("rb") as stream:
            if path.suffix.lower() == ".parquet" or stream.peek(len(MAGIC)).startswith(MAGIC):
                return _of_parquet(stream, shown, default, allow_labels)
            data = stream.read(MAX_FILE + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise SampleError(shown, [f"cannot be read: {reason}"]) from error
    return parse_samples(data, shown, default, allow_labels=allow_labels)


def parse_samples(
    data: bytes,
    shown: str,
    default: tuple[str, str] | None = None,
    *,
    allow_labels: Collection[str] | bool = False,
) -> SampleFile:
    """Read the bytes of a samples file, one JSON object a line, blank lines skipped.

    ``default`` is the (repository, commit) of short-form rows that name none. ``allow_labels`` holds the
    commits that need not be hexadecimal, because their snapshots are named explicitly; True allows any.
    Raises :class:`SampleError` with every fault of the file, each with its line and field.
    """
    if len(data) > MAX_FILE:
        raise SampleError(shown, [_TOO_LARGE])
    if data.count(b"\n") > MAX_LINES:
        raise SampleError(shown, [f"more than {MAX_LINES:,} lines; split the file"])
    mark = ["starts with a byte order mark, which was skipped"] if data.startswith(_BOM) else []
    samples, warnings = _samples(_json_rows(data), shown, default, allow_labels)
    digest = hashlib.sha256(data).hexdigest()
    return SampleFile(shown, digest, _numbered(samples, digest), (*mark, *warnings))


def _of_parquet(
    stream: io.BufferedReader, shown: str, default: tuple[str, str] | None, labels: Collection[str] | bool
) -> SampleFile:
    digest = hashlib.file_digest(stream, "sha256").hexdigest()
    samples, warnings = _samples(parquet_rows(stream, shown), shown, default, labels)
    return SampleFile(shown, digest, _numbered(samples, digest), tuple(warnings))


_TOO_LARGE = "larger than 256 MiB; split the file"


def _lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, numbered from 1; only LF ends a line (U+2028 may stand in a string)."""
    start = len(_BOM) if data.startswith(_BOM) else 0
    stream = io.BytesIO(data)
    stream.seek(start)
    for number, line in enumerate(stream, 1):
        if line.strip():
            yield number, line.rstrip(b"\r\n")


def _json_rows(data: bytes) -> Iterator[tuple[int, Mapping[str, Any] | RowError]]:
    for number, line in _lines(data):
        try:
            yield number, parse_row(line)
        except RowError as error:
            yield number, error


def _samples(
    rows: Iterable[tuple[int, Mapping[str, Any] | RowError]],
    shown: str,
    default: tuple[str, str] | None,
    labels: Collection[str] | bool,
) -> tuple[list[Sample], list[str]]:
    """The samples of numbered rows, and what was noticed of them.

    Raises SampleError with the faults of all rows where there are any.
    """
    samples: list[Sample] = []
    faults: list[str] = []
    slips = Slips()
    for number, values in rows:
        if isinstance(values, RowError):
            faults.append(f"line {number}: {values}")
        else:
            sample = _of_shape(Row(values, number, faults, labels, slips), default)
            samples.append(replace(sample, line=number))
        if len(faults) > MAX_FAULTS:
            raise SampleError(
                shown, [*faults[:MAX_FAULTS], f"line {number}: too many faults; reading stopped"]
            )
    if faults:
        raise SampleError(shown, faults)
    return samples, [*slips.lines(), *_repeats(samples), *_out_of_reach(samples)]


def _of_shape(row: Row, default: tuple[str, str] | None) -> Sample:
    """Read a row by its shape: each kind of benchmark is known by a field that only it has."""
    if "instance_id" in row.values:
        has_patch_alone = row.values.get("patch") is not None and row.values.get("gold_context") is None
        return swebench_sample(row) if has_patch_alone else contextbench_sample(row)
    if "gold" not in row.values and (
        "relevant" in row.values or "no_gold" in row.values or isinstance(row.values.get("query"), str)
    ):
        return queryset_sample(row, default)
    return arb_sample(row)


def _numbered(samples: Sequence[Sample], digest: str) -> tuple[Sample, ...]:
    """The samples with their place in the file and their count among equal ids."""
    seen: Counter[str] = Counter()
    numbered = []
    for place, sample in enumerate(samples):
        numbered.append(replace(sample, row=place, ordinal=seen[sample.id], source=digest))
        seen[sample.id] += 1
    return tuple(numbered)


def _repeats(samples: Sequence[Sample]) -> Iterator[str]:
    lines: defaultdict[str, list[int]] = defaultdict(list)
    for sample in samples:
        lines[sample.id].append(sample.line)
    repeated = {name: places for name, places in lines.items() if len(places) > 1}
    if repeated:
        name, places = next(iter(repeated.items()))
        yield (
            f"repeated ids: {len(repeated)} (first {name[:80]!a}, lines {places[0]} and {places[1]});"
            " they stay distinct by their order"
        )


def _out_of_reach(samples: Sequence[Sample]) -> Iterator[str]:
    found = [(path, sample.line) for sample in samples for path in sample.gold if not is_safe(path)]
    if found:
        path, line = found[0]
        yield (
            f"gold that no snapshot can hold: {len(found)} (first {path[:80]!a}, line {line}); paths are "
            "relative to the repository's root, without '..'"
        )
