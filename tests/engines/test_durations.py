"""Durations as Go writes them; cases 48 of engine.md."""

from __future__ import annotations

import pytest

from pytest_retrieval.engines.durations import parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1m30s", 90.0),
        ("1.5h", 5400.0),
        ("250ms", 0.25),
        ("2h45m", 9900.0),
        ("3us", 3e-6),
        ("3µs", 3e-6),
        ("7ns", 7e-9),
        (".5s", 0.5),
        ("0", 0.0),
        (" 20m ", 1200.0),
    ],
)
def test_numbers_with_units_add_up(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["30", "", "s", "1d", "-3s", "1m 30s", "10 s", "1e3s", "٣s"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no duration; write a number and a unit"):
        parse_duration(text)
