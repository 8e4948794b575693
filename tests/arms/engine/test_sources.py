"""Which code counts as a tool's own."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from pytest_retrieval.arms.engine.sources import code_below


def test_what_a_run_or_a_cache_leaves_below_a_script_is_none_of_its_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    for path in ("tool.py", "lib/words.py", "temporary/tree/a.py", "store/b.py", "env/c.py", ".hidden/d.py"):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("pass\n")
    (tmp_path / "store" / "CACHEDIR.TAG").touch()
    (tmp_path / "env" / "pyvenv.cfg").touch()
    found = [path.relative_to(tmp_path.resolve()).as_posix() for path in code_below(tmp_path)]
    assert found == ["tool.py", "lib/words.py"]
