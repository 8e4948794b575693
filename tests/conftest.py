"""What all tests share: no property has a deadline, for a busy machine is not a fault."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
