from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_retrieval.snapshots.scratch import RunFolder, ScratchError, private_base, sweep

EVERYBODYS = tempfile.gettempdir()  # root's own folders are closed to the user that one test becomes


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    yield tmp_path


def test_a_name_creates_nothing(temporary: Path) -> None:
    path = RunFolder.name_only()
    assert path.name.startswith(f"run-{os.getpid()}-")
    assert path != RunFolder.name_only()
    assert list(temporary.iterdir()) == []


def test_a_root_is_private_and_goes_with_its_lock() -> None:
    run = RunFolder.enter(RunFolder.name_only())
    assert run.path.stat().st_mode & 0o777 == 0o700
    (run.path / "deep" / "er").mkdir(parents=True)
    run.remove()
    assert not private_base().exists()
    run.remove()
    assert not private_base().exists()


def test_a_root_that_is_held_is_not_swept() -> None:
    run = RunFolder.enter(RunFolder.name_only())
    assert sweep() == 0
    assert run.path.is_dir()
    run.close()
    assert sweep() == 1
    assert not private_base().exists()


def test_a_root_stays_while_another_holder_needs_it() -> None:
    one = RunFolder.enter(RunFolder.name_only())
    two = RunFolder.enter(one.path)
    one.remove()
    assert two.path.is_dir()
    two.remove()
    assert not two.path.exists()


def test_what_a_killed_process_leaves_is_swept(temporary: Path) -> None:
    script = """
import os, signal
from pytest_retrieval.snapshots.scratch import RunFolder
run = RunFolder.enter(RunFolder.name_only())
(run.path / "file").write_text("x")
os.kill(os.getpid(), signal.SIGKILL)
"""
    variables = {**os.environ, "PYTHONPATH": ".", "TMPDIR": str(temporary)}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=Path(__file__).parents[2], env=variables, check=False
    )
    assert done.returncode == -9
    (left,) = (path for path in private_base().iterdir() if path.is_dir())
    assert (left / "file").is_file()
    assert sweep() == 1
    assert not private_base().exists()


def test_runs_that_come_and_go_together_share_the_base(temporary: Path) -> None:
    script = """
from pytest_retrieval.snapshots.scratch import RunFolder, sweep
for turn in range(100):
    run = RunFolder.enter(RunFolder.name_only())
    (run.path / "file").write_text("x")
    assert (run.path / "file").is_file()
    sweep()
    assert (run.path / "file").is_file()
    run.remove()
"""
    variables = {**os.environ, "PYTHONPATH": ".", "TMPDIR": str(temporary)}
    runs = [
        subprocess.Popen([sys.executable, "-c", script], cwd=Path(__file__).parents[2], env=variables)
        for _ in range(4)
    ]
    assert [run.wait() for run in runs] == [0, 0, 0, 0]
    assert list(temporary.iterdir()) == []


def test_folders_without_permissions_go_too(temporary: Path) -> None:
    script = """
import os, sys
from pytest_retrieval.snapshots.scratch import RunFolder
if os.getuid() == 0:
    os.setuid(65534)
run = RunFolder.enter(RunFolder.name_only())
(run.path / "a" / "b").mkdir(parents=True)
(run.path / "a" / "b" / "file").touch()
(run.path / "outside").symlink_to(sys.argv[1])
(run.path / "a" / "b").chmod(0o555)
(run.path / "a").chmod(0)
run.remove()
"""
    with tempfile.TemporaryDirectory(dir=EVERYBODYS) as name:
        folder, outside = Path(name), Path(name) / "outside"
        folder.chmod(0o777)
        outside.mkdir(mode=0o711)
        variables = {**os.environ, "PYTHONPATH": ".", "TMPDIR": name}
        subprocess.run(
            [sys.executable, "-c", script, str(outside)],
            cwd=Path(__file__).parents[2],
            env=variables,
            check=True,
        )
        assert list(folder.iterdir()) == [outside]
        assert outside.stat().st_mode & 0o777 == 0o711


def test_a_lock_whose_root_was_never_made_is_swept() -> None:
    run = RunFolder.enter(RunFolder.name_only())
    run.path.rmdir()
    run.close()
    assert sweep() == 1
    assert sweep() == 0


def test_a_base_that_is_a_link_or_open_to_others_is_refused(temporary: Path) -> None:
    (temporary / "elsewhere").mkdir(mode=0o700)
    (temporary / "elsewhere" / "run-1-a.lock").touch()
    private_base().symlink_to(temporary / "elsewhere")
    with pytest.raises(ScratchError, match="is no folder"):
        RunFolder.enter(RunFolder.name_only())
    assert sweep() == 0
    assert (temporary / "elsewhere" / "run-1-a.lock").exists()
    private_base().unlink()
    private_base().mkdir(mode=0o755)
    private_base().chmod(0o755)
    with pytest.raises(ScratchError, match="not private"):
        RunFolder.enter(RunFolder.name_only())


def test_a_place_that_cannot_be_written(monkeypatch: pytest.MonkeyPatch, temporary: Path) -> None:
    (temporary / "file").touch()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary / "file"))
    with pytest.raises(ScratchError, match="no temporary folder can be made there"):
        RunFolder.enter(RunFolder.name_only())


LOCKING = """
import os, sys, tempfile
from pathlib import Path
from pytest_retrieval.snapshots.scratch import passing_folder
top = tempfile.mkdtemp()
os.chmod(top, 0o777)
if os.geteuid() == 0:
    os.setuid(65534)  # to whom permissions mean something
with passing_folder(Path(top), "empty-") as folder:
    (folder / "locked" / "in").mkdir(parents=True)
    (folder / "locked" / "in" / "file").touch()
    (folder / "locked").chmod(0)
print(os.listdir(top))
"""


def test_a_passing_folder_goes_also_where_it_was_made_unreadable() -> None:
    """No agent that comes after finds what one has left beside its own folder."""
    said = subprocess.check_output([sys.executable, "-c", LOCKING], text=True, timeout=60)
    assert said == "[]\n"
