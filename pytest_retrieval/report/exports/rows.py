"""One row per sample and arm, for data frames and spreadsheets: CSV and Parquet."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pytest_retrieval.errors import UsageError
from pytest_retrieval.measures.names import known_measures

TEXT, COUNT, NUMBER, FLAG, _LIST = "string", "int64", "double", "bool", "list"

# What a row tells beside its measures, and as what. ``first_gold`` is the rank of the first gold file.
COLUMNS: Mapping[str, str] = {
    "id": TEXT,
    "ordinal": COUNT,
    "source": TEXT,
    "task_type": TEXT,
    "repo": TEXT,
    "base_commit": TEXT,
    "stratum": TEXT,
    "fold": TEXT,
    "cluster": TEXT,
    "query_chars": COUNT,
    "status": TEXT,
    "attempts": COUNT,
    "arm": TEXT,
    "error": TEXT,
    "refused": FLAG,
    "state": TEXT,
    "top_score": NUMBER,
    "cache_state": TEXT,
    "wall_ms": NUMBER,
    "build_ms": NUMBER,
    "unknown": COUNT,
    "duplicates": COUNT,
    "answered": COUNT,
    "first_gold": COUNT,
    "gold_files": COUNT,
    "gold_absent": COUNT,
}
LISTS = ("gold", "given", "ranked")  # in Parquet alone, whose cells may be lists
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "'")
_ROWS = 2_000  # of a Parquet file that are in memory at a time

Row = dict[str, Any]


def rows(details: Iterable[Mapping[str, Any]], labels: Sequence[str]) -> Iterator[Row]:
    """A row for each answer of the arms ``labels``, in the report's order; None is what is not there."""
    for detail in details:
        for label in labels:
            if label in detail["arms"]:
                yield _row(detail, label)


def measures(
    details: Iterable[Mapping[str, Any]], labels: Sequence[str], limit: int, further: Iterable[str]
) -> list[str]:
    """The measures that an answer of ``labels`` has, in the order of tables, ``further`` ones last."""
    found = {name for detail in details for label in labels for name in detail["metrics"].get(label, {})}
    return [name for name in dict.fromkeys([*known_measures(limit), *further]) if name in found]


def as_csv(
    found: Iterable[Row], names: Sequence[str], columns: Iterable[str] = tuple(COLUMNS)
) -> Iterator[bytes]:
    """RFC 4180 in UTF-8 with a heading: ``columns``, and the measures ``names``. No value, an empty cell.

    Samples and tools may be a stranger's, and spreadsheets take text for formulas: one that begins like a
    formula, or with an apostrophe, gets an apostrophe in front.
    """
    shown = [*columns, *names]
    yield _line(shown)
    for row in found:
        yield _line(["" if (value := row.get(name)) is None else _cell(value) for name in shown])


def as_parquet(
    found: Iterable[Row],
    names: Sequence[str],
    columns: Mapping[str, str] = COLUMNS,
    lists: Sequence[str] = LISTS,
) -> bytes:
    """A Parquet file with the same columns, and ``lists`` of texts.

    Raises UsageError without pyarrow, an optional extra.
    """
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise UsageError("Parquet needs pyarrow: pip install 'pytest-retrieval[parquet]'") from None
    kinds = {**columns, **dict.fromkeys(names, NUMBER), **dict.fromkeys(lists, _LIST)}
    plain = {
        TEXT: pyarrow.string(),
        COUNT: pyarrow.int64(),
        NUMBER: pyarrow.float64(),
        FLAG: pyarrow.bool_(),
    }
    types = {**plain, _LIST: pyarrow.list_(pyarrow.string())}
    schema = pyarrow.schema([(name, types[kind]) for name, kind in kinds.items()])
    target = io.BytesIO()
    with parquet.ParquetWriter(target, schema) as writer:
        for batch in _batches(found):
            writer.write_table(pyarrow.Table.from_pylist(batch, schema=schema))
    return target.getvalue()


def _batches(found: Iterable[Row]) -> Iterator[list[Row]]:
    batch: list[Row] = []
    for row in found:
        batch.append(row)
        if len(batch) == _ROWS:
            yield batch
            batch = []
    yield batch


def _row(detail: Mapping[str, Any], label: str) -> Row:
    answer = detail["arms"][label]
    ranked = [] if "error" in answer else answer["ranked"]
    gold = set(detail["gold"])
    return {
        **{name: detail.get(name) for name in COLUMNS},
        **{name: answer.get(name) for name in COLUMNS if name in answer},
        "arm": label,
        "fold": detail["partition"],
        "refused": bool(answer.get("refused")),
        "unknown": answer.get("unknown", 0),
        "duplicates": answer.get("duplicates", 0),
        "attempts": detail.get("attempts", 1),
        "answered": len(ranked),
        "first_gold": next((rank for rank, path in enumerate(ranked, 1) if path in gold), None),
        "gold_files": len(gold),
        "gold_absent": len(detail["gold_absent"]),
        "gold": detail["gold"],
        "given": detail["given"],
        "ranked": ranked,
        **detail["metrics"].get(label, {}),
    }


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return f"'{value}" if value.startswith(_FORMULA) else value
    return str(value).lower() if isinstance(value, bool) else str(value)


def _line(cells: Sequence[str]) -> bytes:
    text = io.StringIO()
    csv.writer(text).writerow(cells)  # quotes what holds a part of its own line end
    return text.getvalue().removesuffix("\r\n").encode() + b"\n"
