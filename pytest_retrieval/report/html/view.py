"""What differs on the page from one kind of report to another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_retrieval.report.html.markup import Markup


@dataclass(frozen=True, slots=True)
class View:
    """``what`` was judged, what one ``noun`` of it is called; ``data`` packs the list beside some facts."""

    what: str
    noun: str
    board: Markup
    charts: Sequence[Markup | None]
    data: Callable[[Mapping[str, Any]], str]
