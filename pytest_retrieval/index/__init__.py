"""Counts that the lexical arms share, made once per distinct content."""

from pytest_retrieval.index.shared import index_of
from pytest_retrieval.index.snapshot_index import SnapshotIndex

__all__ = ["SnapshotIndex", "index_of"]
