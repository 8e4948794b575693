from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import pytest_retrieval
from pytest_retrieval.arms.base import Arm, Ranking
from pytest_retrieval.arms.bm25 import BM25All, BM25Ident
from pytest_retrieval.arms.grep import Grep
from pytest_retrieval.arms.grep_ident import GrepIdent
from pytest_retrieval.arms.registry import parse_arms
from pytest_retrieval.errors import ArmError, UsageError
from pytest_retrieval.model import Query
from pytest_retrieval.snapshots.base import Snapshot
from tests.arms.support import snapshot_of

MODULE = """
from pytest_retrieval.arms.base import Arm

class Mine(Arm):
    def rank(self, query):
        return ["mine"]

class Named(Mine):
    name = "a-name.1"

class Tuned(Mine):
    def __init__(self, model):
        self.model = model

class Nameless(Mine):
    name = "not a label"

class Idle(Arm):
    pass

class Foreign:
    def rank(self, query):
        return []

class Holder:
    inner = Tuned("small")

def make():
    return Tuned("large")

def make_nothing():
    return None

def rank(query, snapshot, depth=3):
    return list(snapshot.paths)[:depth]

def one(query):
    return []

number = 7
"""


@pytest.fixture
def user_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a module that a user wrote."""
    (tmp_path / "users_arms.py").write_text(MODULE)
    (tmp_path / "broken_arms.py").write_text("import json\nraise ValueError('no\\nmodel')\n")
    (tmp_path / "hungry_arms.py").write_text("import not_installed_anywhere\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "users_arms", raising=False)
    return "users_arms"


class Other(Arm):
    def rank(self, query: Query) -> Ranking:
        return ["other"]


def labels(*texts: str) -> list[str]:
    return [spec.label for spec in parse_arms(texts, {})]


def refusal(*texts: str) -> str:
    with pytest.raises(UsageError) as caught:
        parse_arms(texts, {})
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_the_default_arms() -> None:
    specs = parse_arms([], {})
    assert [spec.label for spec in specs] == ["grep", "grep-ident", "bm25:all", "bm25:ident"]
    assert [type(spec.create()) for spec in specs] == [Grep, GrepIdent, BM25All, BM25Ident]


def test_names_are_split_at_commas_and_options_repeat() -> None:
    assert labels("bm25:ident, grep", "grep-ident,") == ["bm25:ident", "grep", "grep-ident"]


def test_bm25_names_both() -> None:
    assert labels("grep,bm25") == ["grep", "bm25:all", "bm25:ident"]


def test_a_label_renames_an_arm() -> None:
    (spec, other) = parse_arms(["base.1+x=grep,grep"], {})
    assert (spec.label, spec.spec, type(spec.create())) == ("base.1+x", "grep", Grep)
    assert other.label == "grep"


def test_every_creation_is_a_new_arm() -> None:
    (spec,) = parse_arms(["grep"], {})
    assert spec.create() is not spec.create()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "grp",
            "'grp'; did you mean 'grep'?; known arms: bm25, bm25:all, bm25:ident, grep, grep-ident",
        ),
        ("bm25:al", "unknown arm 'bm25:al'; did you mean 'bm25:all'?"),
        ("xyzzy", "unknown arm 'xyzzy'; known arms:"),
        ("tools/mine.json", "unknown arm 'tools/mine.json'; did you mean 'engine:tools/mine.json'?; known"),
        ("Grep", "did you mean 'grep'?"),
        ("grep,grep", "two arms have the label 'grep'; name one of them: NAME=grep"),
        ("bm25,bm25:all", "two arms have the label 'bm25:all'"),
        ("x=grep,x=bm25:all", "two arms have the label 'x'"),
        ("x=bm25", "bm25 names 2 arms; label each: NAME1=bm25:all,NAME2=bm25:ident"),
        ("a b=grep", "the label 'a b' may hold only letters"),
        ("é=grep", "the label 'é' may hold only letters"),
        ("=grep", "the label '' may hold only letters"),
        ("x=", "unknown arm ''"),
        ("", "no arm is named in ''; known arms"),
        (" , ", "no arm is named"),
        ("rrf(a,b", "the parentheses do not match"),
        ("a),(b", "the parentheses do not match"),
        ("rrf(a,b)", "unknown arm 'rrf(a,b)'"),
        ("nowhere.at.all:Arm", "there is no module 'nowhere'"),
        ("json.nowhere:Arm", "there is no module 'json.nowhere'"),
    ],
)
def test_what_is_no_arm_is_refused_in_one_line(text: str, message: str) -> None:
    assert message in refusal(text)


def test_what_wants_a_program_or_an_agent_is_listed_and_suggested() -> None:
    withheld = {"corvint": "give --corvint PATH", "impact": "give --corvint PATH"}
    with pytest.raises(UsageError) as caught:
        parse_arms(["corvin"], {}, withheld=withheld)
    said = str(caught.value)
    assert "'corvin'; did you mean 'corvint'?" in said
    assert said.endswith("; corvint, impact: give --corvint PATH; none, aider: for agents alone")
    with pytest.raises(UsageError, match="'adier'; did you mean 'aider'"):
        parse_arms(["adier"], {})


def test_users_arms_by_name() -> None:
    specs = parse_arms(["mine,grep,also=mine"], {"mine": Other})
    assert [spec.label for spec in specs] == ["mine", "grep", "also"]
    assert isinstance(specs[0].create(), Other)


def test_users_names_are_listed_and_suggested() -> None:
    with pytest.raises(UsageError, match=r"'mime'; did you mean 'mine'\?; known arms: .*grep-ident, mine"):
        parse_arms(["mime"], {"mine": Other})


@pytest.mark.parametrize("name", ["grep", "bm25", "bm25:all"])
def test_users_names_do_not_hide_built_in_ones(name: str) -> None:
    with pytest.raises(UsageError, match="has a built-in arm's name; rename it"):
        parse_arms([], {name: Other})


def test_users_names_are_labels() -> None:
    with pytest.raises(UsageError, match="the label 'my arm' may hold only"):
        parse_arms([], {"my arm": Other})


def test_a_prefix_makes_an_arm_of_the_rest() -> None:
    asked: list[str] = []

    def prefix(rest: str) -> tuple[str | None, Callable[[], Arm]]:
        asked.append(rest)
        return (rest if rest == "named" else None), Other

    specs = parse_arms(["fuse:rrf(grep,bm25:all),f=fuse:x,fuse:named"], {}, {"fuse": prefix})
    assert [(spec.label, spec.spec) for spec in specs] == [
        ("fuse:rrf(grep,bm25:all)", "fuse:rrf(grep,bm25:all)"),
        ("f", "fuse:x"),
        ("named", "fuse:named"),
    ]
    assert asked == ["rrf(grep,bm25:all)", "x", "named"]
    assert isinstance(specs[0].create(), Other)


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("Mine", "Mine"),
        ("Named", "a-name.1"),
        ("Nameless", "Nameless"),
        ("make", "make"),
        ("Holder.inner", "inner"),
    ],
)
def test_an_object_of_a_module(user_module: str, name: str, label: str) -> None:
    (spec,) = parse_arms([f"{user_module}:{name}"], {})
    assert (spec.label, spec.spec) == (label, f"{user_module}:{name}")
    assert spec.create().rank(Query("", {})) == ["mine"]


def test_a_plain_function_ranks(user_module: str) -> None:
    (spec,) = parse_arms([f"f={user_module}:rank"], {})
    arm = spec.create()
    arm.prepare(snapshot_of(dict.fromkeys("abcde", b"")))
    assert arm.rank(Query("", {})) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Min", "users_arms has no Min; did you mean 'Mine'?"),
        ("Tuned", "its constructor needs arguments"),
        ("Idle", "it lacks a rank of its own"),
        ("Foreign", "it lacks prepare, close, capabilities; subclass pytest_retrieval.Arm"),
        ("one", "is no arm; it must be a subclass of pytest_retrieval.Arm"),
        ("number", "7 is no arm"),
        ("Holder", "it lacks rank, prepare"),
    ],
)
def test_an_object_that_is_no_arm(user_module: str, name: str, message: str) -> None:
    assert message in refusal(f"{user_module}:{name}")


def test_a_function_that_makes_no_arm_is_the_arms_fault(user_module: str) -> None:
    (spec,) = parse_arms([f"{user_module}:make_nothing"], {})
    with pytest.raises(ArmError, match="None is no arm: it lacks rank"):
        spec.create()


@pytest.mark.usefixtures("user_module")
def test_a_module_that_cannot_be_imported() -> None:
    assert refusal("broken_arms:X").endswith("importing broken_arms failed: ValueError: no model")
    assert "No module named 'not_installed_anywhere'" in refusal("hungry_arms:X")


def test_a_function_given_by_a_conftest_ranks() -> None:
    def rank(query: Query, snapshot: Snapshot) -> Ranking:
        return snapshot.paths

    (spec,) = parse_arms(["mine"], {"mine": rank})  # type: ignore[dict-item]
    arm = spec.create()
    arm.prepare(snapshot_of({"a": b""}))
    assert arm.rank(Query("", {})) == ("a",)


def test_parsing_imports_no_numpy() -> None:
    code = (
        "import sys; from pytest_retrieval.arms.registry import parse_arms; parse_arms(['bm25'], {}); "
        "sys.exit('numpy' in sys.modules)"
    )
    root = Path(pytest_retrieval.__file__).parents[1]
    assert subprocess.run([sys.executable, "-c", code], cwd=root, check=False).returncode == 0
