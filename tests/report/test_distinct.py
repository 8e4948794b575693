"""Registration and report are two files (cases 25 to 34 and 42)."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_retrieval.errors import UsageError
from pytest_retrieval.report.distinct import check_distinct, resolve_target

Paths = tuple[Path, Path]


def same_text(folder: Path) -> Paths:
    return folder / "reg.json", folder / "reg.json"


def dot_noise(folder: Path) -> Paths:
    return folder / "reg.json", Path(f"{folder}/./reg.json")


def parent_noise(folder: Path) -> Paths:
    (folder / "sub").mkdir()
    return folder / "reg.json", Path(f"{folder}/sub/../reg.json")


def relative(folder: Path) -> Paths:
    return folder / "reg.json", Path("reg.json")


def hard_link(folder: Path) -> Paths:
    (folder / "reg.json").write_bytes(b"old")
    (folder / "r.json").hardlink_to(folder / "reg.json")
    return folder / "reg.json", folder / "r.json"


def symbolic_link(folder: Path) -> Paths:
    (folder / "reg.json").write_bytes(b"old")
    (folder / "r.json").symlink_to("reg.json")
    return folder / "reg.json", folder / "r.json"


def linked_parent(folder: Path) -> Paths:
    (folder / "real").mkdir()
    (folder / "link").symlink_to("real")
    return folder / "real" / "reg.json", folder / "link" / "reg.json"


def dangling_link(folder: Path) -> Paths:
    (folder / "r.json").symlink_to("reg.json")
    return folder / "reg.json", folder / "r.json"


def dangling_chain_through_folders(folder: Path) -> Paths:
    (folder / "real").mkdir()
    (folder / "link").symlink_to(folder / "real")
    (folder / "real" / "b.json").symlink_to("reg.json")
    (folder / "a.json").symlink_to("link/b.json")
    return folder / "real" / "reg.json", folder / "a.json"


ALIASES = (
    same_text,
    dot_noise,
    parent_noise,
    relative,
    hard_link,
    symbolic_link,
    linked_parent,
    dangling_link,
    dangling_chain_through_folders,
)


def state(folder: Path) -> list[tuple[str, str]]:
    """Every name below ``folder`` with what it is or holds."""
    return sorted(
        (str(path), str(path.readlink()) if path.is_symlink() else path.read_text() if path.is_file() else "")
        for path in folder.rglob("*")
    )


@pytest.mark.parametrize("alias", ALIASES)
@pytest.mark.parametrize("reverse", [False, True])
def test_aliases_are_refused_and_nothing_changes(
    alias: Callable[[Path], Paths], reverse: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    one, other = alias(tmp_path)
    before = state(tmp_path)
    with pytest.raises(UsageError, match="distinct files"):
        check_distinct(*((other, one) if reverse else (one, other)))
    assert state(tmp_path) == before


def test_two_files_are_accepted_before_and_after_they_exist(tmp_path: Path) -> None:
    one, other = tmp_path / "reg.json", tmp_path / "report.json"
    check_distinct(one, other)
    one.write_bytes(b"{}\n")
    other.write_bytes(b"{}\n")
    check_distinct(one, other)


def test_a_link_planted_meanwhile_is_found_by_the_second_check(tmp_path: Path) -> None:
    one, other = tmp_path / "reg.json", tmp_path / "report.json"
    check_distinct(one, other)
    one.write_bytes(b"registered\n")
    other.hardlink_to(one)
    with pytest.raises(UsageError, match="distinct files"):
        check_distinct(one, other)
    assert one.read_bytes() == b"registered\n"


def test_names_that_a_file_system_takes_for_one_are_found_once_they_exist(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file system that ignores case, as seen through the one call that asks it."""
    one, other = tmp_path / "reg.json", tmp_path / "REG.json"
    check_distinct(one, other)
    one.write_bytes(b"{}\n")
    seen = Path.stat

    def ignoring_case(path: Path, **options: bool) -> os.stat_result:
        return seen(path.with_name(path.name.lower()), **options)

    monkeypatch.setattr(Path, "stat", ignoring_case)
    with pytest.raises(UsageError, match="distinct files"):
        check_distinct(one, other)


@pytest.mark.parametrize("name", ["absent/r.json", "file/r.json", "absent/../r.json", "to-nowhere"])
def test_a_folder_that_is_not_there_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "to-nowhere").symlink_to("absent/r.json")
    with pytest.raises(UsageError, match=r"cannot be written: .*(No such file|Not a dir)"):
        check_distinct(tmp_path / "reg.json", tmp_path / name)


def chain(folder: Path, length: int) -> Path:
    """The first of ``length`` links, the last of which dangles."""
    for number in range(length):
        (folder / f"link{number}").symlink_to(f"link{number + 1}")
    return folder / "link0"


def test_forty_dangling_links_are_followed(tmp_path: Path) -> None:
    assert resolve_target(chain(tmp_path, 40)) == tmp_path / "link40"


def test_forty_one_are_not(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="more than 40 symbolic links"):
        resolve_target(chain(tmp_path, 41))


def test_a_loop_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(UsageError, match="cannot be written"):
        resolve_target(tmp_path / "a")
