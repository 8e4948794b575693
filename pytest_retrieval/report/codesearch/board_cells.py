"""The cells of a scoreboard: figures of a row as text, ``-`` where there is none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]
_DIFFICULTIES = ("easy", "medium", "hard")
_STATES = {"incremental": " incr", "warm": " warm"}


def is_failed(row: Row) -> bool:
    """Whether the engine did not work on the corpus: the row has no figure of quality."""
    return bool(row.get("ext", {}).get("status") == "failed")


def failure(row: Row) -> str:
    """Why it did not."""
    return "; ".join(row["ext"].get("errors", ())) or "no reason was kept"


def recall(row: Row, view: str, k: str) -> str:
    """Recall at ``k`` in a view, in percent."""
    return percent(row.get(view, {}).get("recall", {}).get(k))


def mrr(row: Row, view: str) -> str:
    """The mean reciprocal rank in a view."""
    value = row.get(view, {}).get("mrr")
    return "-" if value is None else f"{value:.3f}"


def percent(value: float | None) -> str:
    """A share in percent."""
    return "-" if value is None else f"{100 * value:.1f}"


def initials(rows: Sequence[Row]) -> str:
    """What the figures by difficulty are of: ``E/M/H``."""
    return "/".join(name[:1].upper() for name in max(map(_names, rows), key=len)) or "E/M/H"


def by_difficulty(row: Row) -> str:
    """Chunk R@10 of each difficulty, or of another set's own kinds."""
    found, names = row.get("by_difficulty") or {}, _names(row)
    return "/".join(f"{100 * found[name]['recall']['10']:.0f}" for name in names) or "-"


def wide(row: Row) -> str:
    """Chunk R@10 with two and three spans per file."""
    found = row.get("wide") or {}
    return _by_width({n: percent(metrics["recall"]["10"]) for n, metrics in found.items()}, ("2", "3"))


def tokens(row: Row) -> str:
    """The tokens of the first ten files with one to three spans each."""
    found = row.get("wide_tokens") or {}
    return _by_width({n: f"{count:.0f}" for n, count in found.items()}, ("1", "2", "3"))


def slots(row: Row) -> str:
    """The fewest and the mean number of files of an answer."""
    return f"{row['slots_min']}/{row['slots_mean']:.1f}" if row.get("slots_recorded") else "-"


def answer_tokens(row: Row, *names: str) -> str:
    """Tokens of an answer as an agent meets it, of each of ``names`` that is known."""
    found = row["cost"].get("answer_tokens", {})
    return "+".join(f"{found[name]:.0f}" for name in names if name in found) or "-"


def index(row: Row) -> str:
    """The seconds of the index, and what it was built from unless that was nothing."""
    cost = row["cost"]
    return seconds(cost["index_seconds"]) + _STATES.get(cost.get("index_state", ""), "")


def rate(row: Row, name: str) -> str:
    """Something per second of the build; a zero says that it is not known."""
    value = row["cost"].get(name, 0)
    return f"{value:.0f}" if value else "-"


def memory(row: Row, *names: str) -> str:
    """Peaks of memory in MiB, largest process and whole tree; ``-`` where nothing was measured."""
    found = [row["cost"].get(name) for name in names]
    return "/".join("-" if value is None else f"{value:.0f}" for value in found) if any(found) else "-"


def time(row: Row, *names: str) -> str:
    """The first known of some times."""
    value = next((row["cost"][name] for name in names if name in row["cost"]), None)
    return "-" if value is None or is_failed(row) else seconds(value)


def seconds(value: float) -> str:
    """Seconds, or milliseconds where those are more legible."""
    if value < 1:
        return f"{1_000 * value:.0f}ms" if value >= 0.01 else f"{1_000 * value:.1f}ms"
    return f"{value:.1f}s"


def _names(row: Row) -> list[str]:
    """The difficulties of a row, or another set's own categories."""
    found = row.get("by_difficulty") or {}
    return [name for name in _DIFFICULTIES if name in found] or sorted(found)


def _by_width(found: Mapping[str, str], widths: Sequence[str]) -> str:
    """The cells up to the last width that was served."""
    last = max((place for place, width in enumerate(widths, 1) if width in found), default=0)
    return "/".join(found.get(width, "-") for width in widths[:last]) or "-"
