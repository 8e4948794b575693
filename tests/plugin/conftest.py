"""What the tests of this room share."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator

import pytest

from tests.plugin import support


@pytest.fixture
def bench(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Iterator[support.Bench]:
    """A folder with the small release, its suite and an arm; no session may leave a temporary."""
    temporary = pytester.mkdir("temporary")
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTHONPATH", str(support.ROOT))
    for name in ("XDG_CACHE_HOME", "GITHUB_STEP_SUMMARY", "GITHUB_ACTIONS"):
        monkeypatch.delenv(name, raising=False)
    made = support.Bench(pytester)
    support.write_release(made.path / "release")
    made.write("test_suite.py", support.SUITE)
    made.write("conftest.py", support.ALPHABET)
    yield made
    assert list(temporary.iterdir()) == []
