"""One slot per file; cases 8 to 14 of engine.md."""

from __future__ import annotations

import pytest

from pytest_retrieval.engines.collapse import collapse
from pytest_retrieval.engines.output import Lines, Result

Slots = list[tuple[str, list[tuple[int, int]]]]


def raw(text: str) -> list[Result]:
    """``a[10-20] b[]`` as results."""
    results = []
    for word in text.split():
        path, _, rest = word.removesuffix("]").partition("[")
        start, _, end = rest.partition("-")
        results.append(Result(path, Lines(int(start), int(end)) if rest else None))
    return results


R = raw("a[10-20] b[5-9] a[40-50] c[1-3] b[30-33] a[70-80]")


def slots(results: list[Result], top_k: int, per_file: int) -> Slots:
    found = collapse(results, top_k, per_file)
    return [(slot.path, [(lines.start, lines.end) for lines in slot.lines]) for slot in found]


@pytest.mark.parametrize(
    ("results", "top_k", "per_file", "expected"),
    [
        pytest.param(R, 2, 1, [("a", [(10, 20)]), ("b", [(5, 9)])], id="9"),
        pytest.param(R, 2, 2, [("a", [(10, 20), (40, 50)]), ("b", [(5, 9), (30, 33)])], id="10"),
        pytest.param(R, 2, 3, [("a", [(10, 20), (40, 50), (70, 80)]), ("b", [(5, 9), (30, 33)])], id="11"),
        pytest.param(R, 20, 1, [("a", [(10, 20)]), ("b", [(5, 9)]), ("c", [(1, 3)])], id="12"),
        pytest.param(raw("a[10-20] a[10-20] a[30-40]"), 20, 2, [("a", [(10, 20), (30, 40)])], id="13"),
        pytest.param(raw("a[] a[10-20]"), 20, 1, [("a", [(10, 20)])], id="14-filled-later"),
        pytest.param(raw("a[] b[3-4]"), 20, 1, [("a", []), ("b", [(3, 4)])], id="14-spanless"),
        pytest.param(raw("a[1-10] a[60-61]"), 20, 1, [("a", [(1, 10)])], id="8"),
        pytest.param([], 20, 1, [], id="nothing"),
    ],
)
def test_results_become_slots(results: list[Result], top_k: int, per_file: int, expected: Slots) -> None:
    assert slots(results, top_k, per_file) == expected
