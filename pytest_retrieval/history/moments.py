"""Moments as a history's options name them: a bare date is midnight UTC, whatever the clock says."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from pytest_retrieval.errors import UsageError

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def parse_moment(text: str) -> datetime:
    """The moment that ``YYYY-MM-DD`` or an ISO 8601 date with a time names; UTC where no zone is given.

    Git would complete a bare date with the time of day, and take what it cannot read for now.

    Raises:
        UsageError: it names no moment.
    """
    try:
        found = datetime.fromisoformat(text.strip() if _DATE.match(text.strip()) else "")
    except ValueError:
        raise UsageError(
            f"{text!r} names no moment: write a date such as 2026-09-01, which is 00:00 UTC, or one with a "
            "time, such as 2026-09-01T12:30:00+02:00"
        ) from None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


def shown_moment(moment: datetime) -> str:
    """``2026-09-01T00:00:00Z``."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
