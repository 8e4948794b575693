from __future__ import annotations

from importlib import metadata
from pathlib import Path

import pytest

from pytest_retrieval.errors import SnapshotError
from pytest_retrieval.snapshots.base import Snapshot
from pytest_retrieval.snapshots.distribution import read_distribution


def install(site: Path, record: str | None, **files: str) -> None:
    info = site / "made_up-1.2.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: made-up\nVersion: 1.2\n")
    if record is not None:
        (info / "RECORD").write_text(record)
    for name, text in files.items():
        (info / name).write_text(text)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def test_the_files_of_its_record_without_what_an_installer_adds(site: Path) -> None:
    (site / "made_up" / "__pycache__").mkdir(parents=True)
    for path in ("made_up/a.py", "made_up/__pycache__/a.cpython-311.pyc", "made_up/unrecorded.py"):
        (site / path).write_bytes(b"x")
    record = ["made_up/a.py,,", "made_up/__pycache__/a.cpython-311.pyc,,", "../../bin/made-up,,"]
    install(site, "\n".join([*record, "made_up-1.2.dist-info/RECORD,,", "made_up-1.2.dist-info/INSTALLER,,"]))
    snapshot = Snapshot("dist/made-up", "1.2", "dist:made-up", read_distribution("made-up"))
    assert [file.path for file in snapshot.files] == ["made_up/a.py"]
    assert snapshot.facts()["version"] == "1.2"
    assert snapshot.dropped == {"byte code": 1, "metadata": 2, "outside the site": 1}


def test_a_real_wheel() -> None:
    snapshot = Snapshot("dist/numpy", "x", "dist:numpy", read_distribution("numpy"))
    assert snapshot.version == metadata.version("numpy")
    assert "numpy/__init__.py" in snapshot
    assert not any(".dist-info" in file.path or file.path.endswith(".pyc") for file in snapshot.files)
    assert snapshot.read("numpy/__init__.py").startswith(b'"""')


@pytest.mark.parametrize("name", ["no-such-distribution-here", ""])
def test_a_distribution_that_is_not_installed(name: str) -> None:
    with pytest.raises(SnapshotError, match=f"dist:{name}: not installed here"):
        read_distribution(name)


def test_installs_that_cannot_serve(site: Path) -> None:
    install(site, None)
    with pytest.raises(SnapshotError, match="has no RECORD"):
        read_distribution("made-up")


def test_an_editable_install(site: Path) -> None:
    install(
        site, "_made_up.pth,,\n", **{"direct_url.json": '{"url":"file:///x","dir_info":{"editable":true}}'}
    )
    with pytest.raises(SnapshotError, match="an editable install cannot serve"):
        read_distribution("made-up")


def test_a_recorded_file_that_is_gone(site: Path) -> None:
    install(site, "made_up/a.py,,\n")
    with pytest.raises(SnapshotError, match=r"'made_up/a\.py' cannot be read"):
        read_distribution("made-up")
