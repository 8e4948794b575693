"""Counts that the lexical arms share, made once per distinct content."""

from pytest_retrieval.index.shared import forget_indexes, index_of
from pytest_retrieval.index.snapshot_index import SnapshotIndex

__all__ = ["SnapshotIndex", "forget_indexes", "index_of"]
