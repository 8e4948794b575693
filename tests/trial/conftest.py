from __future__ import annotations

from pathlib import Path

import pytest

from tests.trial.quota import Quota


@pytest.fixture
def quota(tmp_path: Path) -> Quota:
    return Quota(tmp_path)
