"""Indexes of engines: built once per session, kept by what was measured, never scored when stale."""

from __future__ import annotations

import json
import multiprocessing
from pathlib import Path
from typing import Any

import pytest

from pytest_retrieval.arms.engine.arm import EngineArm
from pytest_retrieval.arms.engine.place import Built
from pytest_retrieval.errors import ArmError
from tests.arms.engine.support import FILES, ask, engine, home, paths, shell, snapshot
from tests.engines.support import description

BUILD = 'echo built >> "$1/log"; echo x >> "$1/marker"'


def index(script: str = BUILD, **keys: Any) -> dict[str, Any]:
    return {"command": ["sh", "-c", script, "sh", "{{.State}}", "{{.Root}}"]} | keys


SEARCH = {"command": ["sh", "-c", 'test -s "$1/marker" && echo \'{"p":"src/a.c"}\'', "sh", "{{.State}}"]}


def built(where: Any, **keys: Any) -> tuple[Built, int]:
    """What preparing cost, and how often this state was built into."""
    with engine(where, **{"index": index(), "search": SEARCH} | keys) as arm:
        assert paths(ask(arm)) == ["src/a.c"]
        assert arm.built is not None
        assert arm.cache_state == arm.built.cache_state
        return arm.built, len((Path(arm.values["State"]) / "log").read_text().splitlines())


def test_52_a_state_survives_until_it_is_asked_to_go(tmp_path: Path) -> None:
    one, log = built(home(tmp_path, "one"))
    assert (one.cache_state, log) == ("COLD", 1)
    assert built(home(tmp_path, "one")) == (one, 1)  # once per session
    two, log = built(home(tmp_path, "two"))
    assert (two.cache_state, log) == ("WARM", 2)
    three, log = built(home(tmp_path, "three", reindex=True))
    assert (three.cache_state, log) == ("COLD", 1)
    assert built(home(tmp_path, "three", reindex=True)) == (three, 1)


def test_another_tree_description_or_tool_finds_no_state(tmp_path: Path) -> None:
    tool = tmp_path / "tool"

    def make(version: int) -> None:
        tool.write_text(f"#!/bin/sh\n# version {version}\n{BUILD}\n")
        tool.chmod(0o755)

    def label(session: str, **keys: Any) -> str:
        made = {"index": {"command": [str(tool), "{{.State}}"]}} | keys
        return built(home(tmp_path, session), **made)[0].cache_state

    make(1)
    assert [label("a"), label("b")] == ["COLD", "WARM"]
    make(2)
    assert [label("c"), label("d")] == ["COLD", "WARM"]
    assert label("e", candidates=2) == "COLD"
    assert label("f", tree=snapshot(FILES | {"new.c": b""})) == "COLD"
    assert label("g") == "WARM"


def test_a_declared_version_is_part_of_the_name(tmp_path: Path) -> None:
    note = tmp_path / "version"
    labels = []
    for session, version in enumerate(["1.0", "1.0", "1.1"]):
        note.write_text(f"tool {version}\nCopyright\n")
        keys: dict[str, Any] = {"version": {"command": ["sh", "-c", f"cat {note}"]}}
        labels.append(built(home(tmp_path, str(session)), **keys)[0].cache_state)
        arm = EngineArm(description(**keys, search={"command": ["true"]}), home(tmp_path))
        assert arm.version.startswith(f"tool {version} sha256:")
    assert labels == ["COLD", "WARM", "COLD"]


@pytest.mark.parametrize("folder", ["{{.Here}}/bin", "{{.State}}/bin:{{.Here}}/bin"])
def test_a_tool_is_looked_for_on_its_own_path(tmp_path: Path, folder: str) -> None:
    tool = tmp_path / "bin" / "mytool"
    tool.parent.mkdir()
    versions = []
    for number in (1, 1, 2):
        tool.write_text(f"#!/bin/sh\n# {number}\necho src/a.c\n")
        tool.chmod(0o755)
        keys: dict[str, Any] = {
            "search": {"command": ["mytool"]},
            "parse": {"format": "regex", "regex": "(?P<path>.+)"},
        }
        whole = description(tmp_path, spans=True, env=[f"PATH={folder}:/usr/bin:/bin"], **keys)
        arm = EngineArm(whole, home(tmp_path))
        arm.prepare(snapshot())
        assert paths(ask(arm)) == ["src/a.c"]
        arm.close()
        versions.append(arm.version)
    # Where the path names a state there is no telling which program it will be.
    assert (versions[0] == versions[1], versions[1] != versions[2]) == (True, "State" not in folder)


def test_packages_beside_a_script_are_part_of_its_version(tmp_path: Path) -> None:
    packages = tmp_path / "venv" / "lib" / "python3.11" / "site-packages"
    (packages / "tool-1.0.dist-info").mkdir(parents=True)
    script = tmp_path / "venv" / "bin" / "tool"
    script.parent.mkdir()
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    versions = []
    for name in ("tool-1.0.dist-info", "tool-1.0.dist-info", "tool-2.0.dist-info"):
        next(packages.iterdir()).rename(packages / name)
        versions.append(EngineArm(description(search={"command": [str(script)]}), home(tmp_path)).version)
    assert versions[0] == versions[1] != versions[2]


def test_code_around_a_script_is_part_of_its_version(tmp_path: Path) -> None:
    script, code = tmp_path / "tool" / "run.py", tmp_path / "tool" / "lib" / "rank.py"
    code.parent.mkdir(parents=True)
    script.write_text("import lib.rank\n")
    code.write_text("K = 1\n")

    def label(session: str) -> str:
        made = {"command": ["sh", "-c", BUILD, "sh", "{{.State}}", str(script)]}
        return built(home(tmp_path, session), index=made)[0].cache_state

    assert [label("a"), label("b")] == ["COLD", "WARM"]
    code.write_text("K = 2\n")
    assert [label("c"), label("d")] == ["COLD", "WARM"]
    (tmp_path / "tool" / ".cache").mkdir()
    (tmp_path / "tool" / ".cache" / "notes.py").write_text("")
    (tmp_path / "tool" / "result.json").write_text("{}")
    assert label("e") == "WARM"


def test_the_version_of_an_npm_package_is_part_of_its_script(tmp_path: Path) -> None:
    package = tmp_path / "node_modules" / "tool"
    (package / "dist").mkdir(parents=True)
    script = package / "dist" / "cli.js"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    link = tmp_path / "node_modules" / ".bin" / "tool"
    link.parent.mkdir()
    link.symlink_to(script)
    versions = []
    for version in ("1.0.0", "1.0.0", "1.0.1"):
        (package / "package.json").write_text(json.dumps({"version": version}))
        versions.append(EngineArm(description(search={"command": [str(link)]}), home(tmp_path)).version)
    assert versions[0] == versions[1] != versions[2]


def test_code_that_is_installed_in_place_is_part_of_the_version(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    note = (
        tmp_path / "venv" / "lib" / "python3.11" / "site-packages" / "tool-1.0.dist-info" / "direct_url.json"
    )
    note.parent.mkdir(parents=True)
    note.write_text(json.dumps({"url": source.as_uri(), "dir_info": {"editable": True}}))
    script = tmp_path / "venv" / "bin" / "tool"
    script.parent.mkdir()
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    versions = []
    for code in ("K = 1\n", "K = 1\n", "K = 2\n"):
        (source / "tool.py").write_text(code)
        versions.append(EngineArm(description(search={"command": [str(script)]}), home(tmp_path)).version)
    assert versions[0] == versions[1] != versions[2]


@pytest.mark.parametrize(
    ("script", "message"),
    [
        pytest.param("echo broken >&2; exit 3", "^index: ended with exit status 3: broken$", id="49"),
        pytest.param('touch "$2/x"', r"^index: it wrote into the tree: \?\? x$", id="53"),
        pytest.param('touch "$2/ignored"', r"^index: it wrote into the tree: !! ignored$", id="53-ignored"),
        pytest.param("exit 1", "^index: ended with exit status 1 and said nothing$", id="silent"),
        pytest.param("sleep 300 & exit 0", "^index: ended and left 1 of its processes running", id="daemon"),
        pytest.param("sleep 300", r"^index: timed out after 0\.5 s$", id="hangs"),
    ],
)
def test_a_failed_index_fails_every_query_and_is_tried_once_per_session(
    tmp_path: Path, script: str, message: str
) -> None:
    note = tmp_path / "tries"
    keys: dict[str, Any] = {"index": index(f"echo >> {note}; {script}", timeout="500ms"), "search": SEARCH}
    for session, tries in (("one", 1), ("one", 1), ("two", 2)):
        with pytest.raises(ArmError, match=message), engine(home(tmp_path, session), **keys):
            pass
        assert len(note.read_text().splitlines()) == tries


def test_what_a_killed_build_left_is_never_scored(tmp_path: Path) -> None:
    keys: dict[str, Any] = {
        "index": index('test ! -e "$1/half" && echo x > "$1/half" && echo x > "$1/marker"'),
        "search": SEARCH,
    }
    with engine(home(tmp_path, "one"), **keys) as arm:
        stamp = Path(arm.values["State"]).parent / "built.json"
    for damage in (stamp.unlink, lambda: stamp.write_text("{"), lambda: stamp.write_text('{"x": 1}')):
        damage()
        with engine(home(tmp_path, "two"), **keys) as arm:
            assert arm.cache_state == "COLD"


def _prepare(folder: str) -> str:
    slow = index(f"sleep 0.3; {BUILD}")
    with engine(home(Path(folder), "shared"), index=slow, search=SEARCH) as arm:
        assert arm.built is not None
        return f"{arm.cache_state} {(Path(arm.values['State']) / 'log').read_text()!r} {paths(ask(arm))}"


def test_processes_of_one_session_build_once(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        said = pool.map(_prepare, [str(tmp_path)] * 3, chunksize=1)
    assert said == ["COLD 'built\\n' ['src/a.c']"] * 3


def test_states_beyond_the_limit_go_oldest_first(tmp_path: Path) -> None:
    big = index(BUILD + '; head -c 1000 /dev/zero > "$1/fill"')
    kept = []
    for number in range(3):
        tree = snapshot(FILES | {"n.c": str(number).encode()})
        with engine(home(tmp_path, "s", state_limit=2500), tree, index=big, search=SEARCH) as arm:
            kept.append(Path(arm.values["State"]).parent)
    assert [folder.exists() for folder in kept] == [False, True, True]


def test_an_engine_without_index_or_state_keeps_nothing(tmp_path: Path) -> None:
    with engine(home(tmp_path), search=shell("exit 0")) as arm:
        assert arm.built is None
    assert not (tmp_path / "states").exists()
