"""Engines as arms: what they are called with, what counts as an answer; cases 40 to 53 of engine.md."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_retrieval.arms.engine.arm import EngineArm, engine_arm
from pytest_retrieval.arms.engine.home import EngineHome
from pytest_retrieval.arms.registry import parse_arms
from pytest_retrieval.engines.trees import Corpus
from pytest_retrieval.errors import ArmError, UsageError
from tests.arms.engine.support import (
    FILES,
    GREP,
    LINES,
    ask,
    engine,
    home,
    paths,
    printed,
    python,
    shell,
    spans,
)
from tests.engines.support import description, document, write
from tests.processes import wait_until_gone

ECHO_WORDS = 'import json, sys; print(json.dumps({"p": json.dumps(sys.argv[1:])}))'


def test_a_line_searcher_answers_with_spans(tmp_path: Path) -> None:
    search = {"command": ["grep", "-rn", "--exclude-dir=.git", "-e", "{{.Query}}", "."], "dir": "{{.Root}}"}
    with engine(home(tmp_path), search=search, parse=GREP) as arm:
        found = spans(ask(arm))
        assert sorted(found) == [("src/a.c", 2, 2), ("src/net.c", 1, 1), ("tests/t.c", 1, 1)]
        assert spans(ask(arm, "nowhere")) == []
        assert arm.capabilities.spans
        assert (arm.capabilities.timeout, arm.cache_state) == (60.0, "NOT_APPLICABLE")


def test_44_words_reach_the_program_as_they_are(tmp_path: Path) -> None:
    query = "a \"b\" $(rm x) 'c'\n"
    search = python(ECHO_WORDS, "t", "--k={{.K}}", "{{ .N }}", "{{.Query}}", "{{.PerFile}}")
    for candidates, depth in ((5, "100"), (1, "20")):
        with engine(home(tmp_path), search=search, candidates=candidates) as arm:
            assert json.loads(printed(arm, query)[0]) == ["t", "--k=20", depth, query, "1"]
    with engine(home(tmp_path), search=search) as arm:
        assert json.loads(printed(arm, limit=5, given=("a", "b"))[0])[1] == "--k=7"


def test_51_a_query_on_standard_input(tmp_path: Path) -> None:
    search = {"command": ["cat"], "stdin": "{{.Query}}"}
    with engine(home(tmp_path), search=search, parse={"format": "regex", "regex": "^(?P<path>.+)$"}) as arm:
        assert spans(ask(arm, "src/a.c")) == [("src/a.c", None, None)]


def test_names_state_and_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", "/x")
    monkeypatch.setenv("GIT_DIR", "/x")
    monkeypatch.setenv("INHERITED", "yes")
    names = "OWN INHERITED RIPGREP_CONFIG_PATH GIT_DIR"
    code = "import json, os, sys; n = sys.argv[1].split(); " + (
        'print(json.dumps({"p": json.dumps([*map(os.environ.get, n), *sys.argv[2:]])}))'
    )
    search = python(code, names, "{{.Name}}", "{{.Lang}}", "{{.Here}}")
    with engine(home(tmp_path), search=search, env=["OWN={{.State}}/home"]) as arm:
        own, inherited, *rest = json.loads(printed(arm)[0])
        assert own == str(tmp_path / "states" / Path(own).parts[-3] / "state" / "home")
        assert Path(own).parent.is_dir()
        assert (inherited, rest) == ("yes", [None, None, "name", "", "/here"])
    with engine(home(tmp_path), search=search, env_pass=["GIT_DIR"]) as arm:
        assert json.loads(printed(arm)[0])[:4] == [None, None, None, "/x"]
    monkeypatch.delenv("GIT_DIR")
    with (
        engine(home(tmp_path), search=search, env_pass=["GIT_DIR"]) as arm,
        pytest.raises(ArmError, match="the environment variable GIT_DIR, which env_pass names, is not set"),
    ):
        ask(arm)


FAULTS: list[tuple[str, dict[str, Any], str]] = [
    ("echo no such index >&2; exit 1", {}, "ended with exit status 1: no such index"),
    (
        'echo \'{"p":"src/a.c"}\'; exit 2',
        {},
        "ended with exit status 2, after 16 bytes of output; ok_exit lists the statuses that are answers",
    ),
    ("kill -9 $$", {}, "was ended by SIGKILL"),
    ("echo half; exit 1", {}, "ended with exit status 1, after 5 bytes of output"),
    ("echo loading", {}, "nothing parsed of 1 lines of output; the first is 'loading'"),
    ("sleep 300", {"timeout": "300ms"}, r"timed out after 0\.3 s"),
    ('echo \'{"p":"/etc/passwd"}\'', {}, "1 of 1 results lie outside the corpus, the first is '/etc/passwd'"),
    (
        'echo \'{"p":"a"}\'; echo \'{"p":"../x"}\'',
        {},
        "1 of 2 results lie outside the corpus, the first is '../x'",
    ),
]


@pytest.mark.parametrize(("script", "keys", "message"), FAULTS, ids=[message[:30] for *_, message in FAULTS])
def test_46_what_is_no_answer_is_one_line(
    tmp_path: Path, script: str, keys: dict[str, Any], message: str
) -> None:
    with engine(home(tmp_path), search=shell(script, **keys)) as arm:
        with pytest.raises(ArmError, match=f"^{message}"):
            ask(arm)
        assert arm.last is None or arm.last.outside


def test_46_silence_is_no_result_and_other_exits_may_be_allowed(tmp_path: Path) -> None:
    for script in ("exit 1", "exit 0", "echo; exit 1"):
        with engine(home(tmp_path), search=shell(script)) as arm:
            assert paths(ask(arm)) == []
    script = 'echo \'{"p":"src/a.c"}\'; exit 2'
    with engine(home(tmp_path), search=shell(script, ok_exit=[0, 1, 2])) as arm:
        assert paths(ask(arm)) == ["src/a.c"]
    with engine(home(tmp_path), search=shell("exit 1", ok_exit=[0])) as arm, pytest.raises(ArmError):
        ask(arm)


def test_output_beyond_the_bound_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_retrieval.arms.engine.calls.OUTPUT_LIMIT", 10_000)
    with (
        engine(home(tmp_path), search=shell("yes")) as arm,
        pytest.raises(ArmError, match="exceeds 10,000 bytes"),
    ):
        ask(arm)


@pytest.mark.parametrize("start", ["", "setsid "], ids=["in-the-group", "in-its-own-session"])
@pytest.mark.parametrize("end", ["", "sleep 300"], ids=["leaves", "hangs"])
def test_47_nothing_that_was_started_is_left(tmp_path: Path, start: str, end: str) -> None:
    note = tmp_path / "pid"
    child = f"{start}sh -c 'echo $$ > {note}; exec sleep 300' > /dev/null 2>&1 &"
    script = f"{child} while [ ! -s {note} ]; do :; done; {end}"
    message = "timed out after 3 s" if end else "ended and left 1 of its processes running"
    with (
        engine(home(tmp_path), search=shell(script, timeout="3s")) as arm,
        pytest.raises(ArmError, match=message),
    ):
        ask(arm)
    assert wait_until_gone(int(note.read_text()))


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("no-such-tool", "cannot start 'no-such-tool': it is not on PATH, or it is not executable"),
        ("./no/tool", "cannot start './no/tool': there is no such program, or it is not executable"),
    ],
)
def test_a_program_that_is_not_there_is_told_before_indexing(
    tmp_path: Path, program: str, message: str
) -> None:
    keys: dict[str, Any] = {"search": {"command": [program]}, "index": shell(f"touch {tmp_path}/indexed")}
    keys["index"]["command"].pop()
    with pytest.raises(ArmError) as caught, engine(home(tmp_path), **keys):
        pass
    assert str(caught.value) == message
    assert not (tmp_path / "indexed").exists()


@pytest.mark.parametrize("place", ["{{.Root}}/nowhere", "{{.Root}}/README.md"])
def test_a_directory_that_is_not_there_is_told(tmp_path: Path, place: str) -> None:
    with engine(home(tmp_path), search={"command": ["cat"], "dir": place}) as arm:
        folder = place.replace("{{.Root}}", str(arm.tree.root))
        with pytest.raises(ArmError, match=rf"^cannot start 'cat': there is no directory {folder} \(dir\)$"):
            ask(arm)


def test_a_query_with_a_nul_is_a_fault_of_that_query(tmp_path: Path) -> None:
    with engine(home(tmp_path), search=shell("exit 0")) as arm:
        with pytest.raises(ArmError, match="has a NUL character"):
            ask(arm, "a\0b")
        assert paths(ask(arm, "half \ud800 a character")) == []


def test_40_to_42_paths_of_a_part_of_the_tree(tmp_path: Path) -> None:
    rows = ["{{.Root}}/net.c", "a.c", "./gone.c", "kv::x.c", "{{.Root}}/../tests/t.c"]
    code = 'import json, sys\nfor p in sys.argv[1:]: print(json.dumps({"p": p}))'
    corpora = {f"owner/name@{'0' * 40}": Corpus("kv", "c", ("src",))}
    where = home(tmp_path, corpora=corpora)
    with engine(where, search=python(code, *rows), strip_prefix="{{.Name}}::") as arm:
        assert paths(ask(arm)) == ["src/net.c", "src/a.c", "src/gone.c", "src/x.c", "tests/t.c"]
        assert (arm.tree.shown, arm.tree.exact) == ("src", True)


def test_what_was_dropped_is_the_state_of_the_answer(tmp_path: Path) -> None:
    script = 'echo warming up; echo \'{"p":"src/a.c","a":9,"b":3}\'; echo \'{"type":"end"}\''
    with engine(home(tmp_path), search=shell(script)) as arm:
        assert ask(arm).state == "1 unparsed lines, 1 results without a path, 1 bad spans"


def test_a_search_that_writes_into_the_tree_errs_and_the_tree_is_restored(tmp_path: Path) -> None:
    script = 'if [ "$1" = bad ]; then echo x > "$2/ignored"; echo y >> "$2/README.md"; fi; exit 0'
    search = {"command": [*shell(script)["command"], "{{.Root}}"]}
    with engine(home(tmp_path), search=search) as arm:
        with pytest.raises(ArmError, match=r"^it wrote into the tree: .*README\.md; .*ignored$"):
            ask(arm, "bad")
        assert paths(ask(arm, "good")) == []
        assert (arm.tree.checkout / "README.md").read_bytes() == FILES["README.md"]


@pytest.mark.parametrize(
    ("script", "why"),
    [
        pytest.param("rm -rf ..?* .[!.]* *", "the tree's state cannot be told", id="emptied"),
        pytest.param('rm -rf "$2"', "the tree's state cannot be told", id="removed"),
        pytest.param(
            'rm -rf "$2"; mkdir "$2.else"; ln -s "$2.else" "$2"', "the tree's state cannot be told", id="link"
        ),
        pytest.param(
            "echo x > new; git add -A; git -c user.name=a -c user.email=b commit -qm x",
            "it wrote into the tree: a commit",
            id="committed",
        ),
        pytest.param(
            "git checkout -q --orphan other; git -c user.name=a -c user.email=b commit -qm x",
            "it wrote into the tree: a commit",
            id="another-branch",
        ),
    ],
)
def test_a_tree_that_is_broken_or_has_a_new_commit_is_made_anew(
    tmp_path: Path, script: str, why: str
) -> None:
    search = {"command": [*shell(f'[ "$1" = good ] || {{ {script}; }}')["command"], "{{.Root}}"]}
    with engine(home(tmp_path), search=search | {"dir": "{{.Root}}"}) as arm:
        for _ in range(2):
            with pytest.raises(ArmError, match=f"^{why}"):
                ask(arm, "bad")
            assert paths(ask(arm, "good")) == []
            found = arm.tree.checkout
            assert {path: (found / path).read_bytes() for path in FILES} == FILES
            assert not (found / "new").exists()
        beside = {path.name for path in found.parent.iterdir()} - {"tree.else"}
    assert beside == {"tree", "commit"}


def test_packed_references_are_no_change(tmp_path: Path) -> None:
    with engine(home(tmp_path), search=shell("git pack-refs --all", dir="{{.Root}}")) as arm:
        assert paths(ask(arm)) == []


def test_the_tree_goes_with_the_last_arm_that_uses_it(tmp_path: Path) -> None:
    with engine(home(tmp_path), search=shell("exit 0")) as one:
        with engine(home(tmp_path), search=shell("exit 0")) as other:
            assert one.tree == other.tree
        assert one.tree.checkout.is_dir()
        assert sorted(path.name for path in one.tree.checkout.iterdir()) == [
            ".git",
            ".gitignore",
            "README.md",
            "src",
            "tests",
        ]
    assert not one.tree.checkout.exists()
    assert not one.tree.checkout.parent.with_suffix(".lock").exists()


def test_arms_are_named_by_file_and_labelled_by_description(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, document(name="my tool", typo=1))
    where = EngineHome(tmp_path, "s")
    specs = parse_arms(
        ["grep,engine:tool.json,engine:grep,x=engine:tool.json"],
        {},
        {"engine": lambda text: engine_arm(text, where)},
    )
    assert [spec.label for spec in specs] == ["grep", "my-tool", "engine-grep", "x"]
    arm = specs[1].create()
    assert arm.notices == ("typo: unknown key",)
    assert arm.version == "unknown"
    with pytest.raises(UsageError, match=r"^no\.json|^engine:no\.json: there is no file"):
        parse_arms(["engine:no.json"], {}, {"engine": lambda text: engine_arm(text, where)})


def test_capabilities_are_those_of_the_description(tmp_path: Path) -> None:
    keys: dict[str, Any] = {"spans": True, "per_file": [1, 3], "text_from_corpus": True, "parse": LINES}
    found = EngineArm(description(**keys), home(tmp_path)).capabilities
    assert (found.spans, found.per_file, found.tokens, found.worktree) == (True, (1, 3), True, False)
    found = EngineArm(description(), home(tmp_path)).capabilities
    assert (found.spans, found.per_file, found.tokens) == (False, (1,), False)
