"""Rows of a Parquet file, as ContextBench and SWE-bench ship; pyarrow reads it, an optional extra.

Only the columns that make a sample are read, a few rows at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from pytest_retrieval.datasets.problems import COLUMNS
from pytest_retrieval.datasets.rows import MAX_LINE, RowError
from pytest_retrieval.errors import SampleError

MAGIC = b"PAR1"  # the first bytes of every Parquet file
_ROWS = 64  # in memory at a time


def parquet_rows(stream: BinaryIO, shown: str) -> Iterator[tuple[int, Mapping[str, Any] | RowError]]:
    """The rows of an open file, numbered from 1, each with those of :data:`COLUMNS` that the file has.

    A row of more than 4 Mi characters is a RowError in its place. ``shown`` is how messages name the file.
    Raises :class:`SampleError` without pyarrow, without a column ``instance_id``, and for what is no Parquet.
    """
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise SampleError(shown, ["Parquet needs pyarrow: pip install 'pytest-retrieval[parquet]'"]) from None
    try:
        with parquet.ParquetFile(stream) as file:
            columns = _columns(file.schema_arrow.names, shown)
            rows = (row for batch in file.iter_batches(_ROWS, columns=columns) for row in batch.to_pylist())
            for number, row in enumerate(rows, 1):
                yield (
                    number,
                    row if _size(row) <= MAX_LINE else RowError("larger than 4 MiB; shorten the row"),
                )
    except (ArrowException, OSError) as error:
        reason = " ".join(str(error).split())[:200]
        raise SampleError(shown, [f"not readable as Parquet: {reason}"]) from error


def _columns(names: list[str], shown: str) -> list[str]:
    if COLUMNS[0] not in names:
        found = ", ".join(names[:20])
        raise SampleError(
            shown, [f"no column {COLUMNS[0]!r}; a Parquet file of problems has one (found {found})"]
        )
    return [name for name in COLUMNS if name in names]


def _size(row: Mapping[str, Any]) -> int:
    return sum(len(value) for value in row.values() if isinstance(value, str))
