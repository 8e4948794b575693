from __future__ import annotations

import json
from pathlib import Path

import pytest
import zstandard

from pytest_retrieval.errors import RetrievalError, SnapshotError
from pytest_retrieval.snapshots.catalog import Catalog, NamedSource, parse_snapshot_option
from tests.snapshots.releases import COMMIT, OTHER, chunks, write_tree
from tests.snapshots.repos import bare_repository, checkout


def opened(catalog: Catalog, repo: str = "o/n", commit: str = COMMIT) -> tuple[str, str]:
    snapshot = catalog.open(repo, commit)
    return snapshot.source, snapshot.text("a.py")


@pytest.mark.parametrize(
    ("text", "repo", "commit", "source"),
    [
        (f"o/n@{COMMIT}=/p", "o/n", COMMIT, "/p"),
        ("o/n@v1.0=git:/p?view=arb", "o/n", "v1.0", "git:/p?view=arb"),
        ("o/n@c=/p@q=r", "o/n", "c", "/p@q=r"),
        ("o/n@2.4=dist:numpy", "o/n", "2.4", "dist:numpy"),
    ],
)
def test_a_named_source(text: str, repo: str, commit: str, source: str) -> None:
    assert parse_snapshot_option(text) == NamedSource(repo, commit, source)


@pytest.mark.parametrize(
    "text", ["", " ", "nope", "@=/p", "o/n@c=", "o/n=/p", "git:nope", "dist:no-such-thing-here"]
)
def test_what_is_no_source_is_one_line(text: str) -> None:
    with pytest.raises(RetrievalError, match=r"^[^\n]+$"):
        parse_snapshot_option(text)


def test_a_bare_source_gets_its_name_from_what_it_is(tmp_path: Path) -> None:
    head = checkout(tmp_path / "clone", {"a.py": b"x"})
    bare = bare_repository(tmp_path / "bare.git", [("100644", b"a.py", b"x")])
    plain = write_tree(tmp_path / "plain", {"a.py": b"x"})
    assert parse_snapshot_option(str(tmp_path / "clone")) == NamedSource(
        "local/clone", head, str(tmp_path / "clone")
    )
    assert parse_snapshot_option(f"git:{tmp_path}/bare.git?view=arb").name == f"local/bare@{bare}"
    # printf 'a.py\0%s\n' "$(printf x | sha256sum | cut -c1-64)" | sha256sum | cut -c1-40
    assert parse_snapshot_option(str(plain)).name == "local/plain@447eac5bd97fe3d31b5fe74c8eb87da71f26285d"
    assert parse_snapshot_option("dist:numpy").repo == "dist/numpy"


def test_an_explicit_source_comes_first_and_is_shown_as_typed(tmp_path: Path) -> None:
    corpus = write_tree(tmp_path / "c", {f"o__n/{COMMIT}.chunks.jsonl": chunks("corpus")})
    typed = str(write_tree(tmp_path / "typed", {"a.py": b"explicit"}))
    assert opened(Catalog({f"o/n@{COMMIT}": typed}, [corpus])) == (typed, "explicit")


def test_a_chunk_file_of_the_corpus_plain_or_compressed(tmp_path: Path) -> None:
    files = {
        f"o__n/{COMMIT}.chunks.jsonl": chunks("plain"),
        f"o__n/{OTHER}.chunks.jsonl.zst": zstandard.compress(chunks("packed")),
    }
    catalog = Catalog({}, [write_tree(tmp_path, files)])
    assert opened(catalog) == (f"o__n/{COMMIT}.chunks.jsonl", "plain")
    assert opened(catalog, commit=OTHER) == (f"o__n/{OTHER}.chunks.jsonl", "packed")


def manifest(*rows: dict[str, object]) -> bytes:
    return b"\n".join(json.dumps(row).encode() for row in rows)


def test_the_manifest_names_places_and_sources(tmp_path: Path) -> None:
    rows = manifest(
        {"repo": "o/n", "base_commit": COMMIT, "status": "ok", "chunks_path": "x/y.chunks.jsonl"},
        {"repo": "o/n", "base_commit": OTHER, "chunks_path": f"/builder/out/o__n/{OTHER}.chunks.jsonl"},
        {"repo": "o/n", "base_commit": "v1", "source": "tree"},
        {"repo": "o/n", "base_commit": "c" * 40, "status": "missing_commit"},
    )
    files = {
        "corpus_manifest.jsonl": rows,
        "x/y.chunks.jsonl": chunks("moved"),
        f"o__n/{OTHER}.chunks.jsonl": chunks("beside"),
        "tree/a.py": b"by source",
    }
    catalog = Catalog({}, [write_tree(tmp_path, files)])
    assert opened(catalog) == ("x/y.chunks.jsonl", "moved")
    assert opened(catalog, commit=OTHER) == (f"o__n/{OTHER}.chunks.jsonl", "beside")
    assert opened(catalog, commit="v1") == ("tree", "by source")
    with pytest.raises(SnapshotError, match="did not find this commit"):
        catalog.open("o/n", "c" * 40)


@pytest.mark.parametrize("content", [b"nonsense", b"[]", b"[" * 100_000])
def test_a_manifest_that_is_none(tmp_path: Path, content: bytes) -> None:
    write_tree(tmp_path, {"corpus_manifest.jsonl": b"\n" + content})
    with pytest.raises(SnapshotError, match=r"corpus_manifest\.jsonl:2: "):
        Catalog({}, [tmp_path]).open("o/n", COMMIT)


@pytest.mark.parametrize("name", ["o/n", "o__n.git", "o__n"])
def test_a_folder_of_clones(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.parent.mkdir(exist_ok=True)
    if name.endswith(".git"):
        commit = bare_repository(folder, [("100644", b"a.py", b" x ")])
    else:
        commit = checkout(folder, {"a.py": b" x "})
        (folder / "a.py").write_bytes(b"not committed")
    assert opened(Catalog({}, [tmp_path]), commit=commit) == (f"git:{name}", " x ")
    assert opened(Catalog({}, [f"{tmp_path}?view=arb"]), commit=commit) == (f"git:{name}?view=arb", "x")


def test_a_folder_named_after_repository_and_commit(tmp_path: Path) -> None:
    write_tree(tmp_path, {f"my-n-{COMMIT[:12]}/a.py": b"x", f"n-{OTHER[:12]}/a.py": b"y"})
    catalog = Catalog({}, [tmp_path])
    assert opened(catalog) == (f"my-n-{COMMIT[:12]}", "x")
    write_tree(tmp_path, {f"n-{COMMIT[:12]}-again/a.py": b"z"})
    with pytest.raises(SnapshotError, match="2 folders of the corpus hold 'n' and 'aaaaaaaaaaaa'"):
        Catalog({}, [tmp_path]).open("o/n", COMMIT)


def test_nothing_found_names_what_is_missing_and_the_options(tmp_path: Path) -> None:
    name = f"o/n@{COMMIT}"
    text = rf"^no snapshot for {name}: 0 matches in 1 corpora; give --snapshot {name}=SOURCE or --corpus DIR$"
    with pytest.raises(SnapshotError, match=text):
        Catalog({}, [tmp_path]).open("o/n", COMMIT)
    with pytest.raises(SnapshotError, match="no corpus was given"):
        Catalog({}, []).open("o/n", COMMIT)
    with pytest.raises(SnapshotError, match=r"--corpus .*absent: no such folder"):
        Catalog({}, [tmp_path / "absent"])


@pytest.mark.parametrize("repo", ["../n", "o/..", "/etc", "o/n/m", "o\0/n", ".git/hooks"])
@pytest.mark.parametrize("commit", ["..", "A" * 40, "a" * 41, "../../x", COMMIT])
def test_a_name_that_is_no_path_part_is_never_one(tmp_path: Path, repo: str, commit: str) -> None:
    corpus = write_tree(tmp_path / "c" / "d", {"x": b""})
    write_tree(tmp_path, {f"n/{commit}.chunks.jsonl" if "/" not in commit else "n/x": chunks("outside")})
    with pytest.raises(SnapshotError, match="0 matches"):
        Catalog({}, [corpus]).open(repo, commit)


def test_only_the_latest_two_stay_open(tmp_path: Path) -> None:
    names = {f"o/n@{label}": str(write_tree(tmp_path / label, {"a.py": label.encode()})) for label in "abc"}
    catalog = Catalog(names, [], tmp_path / "scratch")
    first, second = catalog.open("o/n", "a"), catalog.open("o/n", "b")
    trees = [snapshot.worktree() for snapshot in (first, second)]
    assert catalog.open("o/n", "a") is first
    catalog.open("o/n", "c")
    assert [tree.exists() for tree in trees] == [True, False]
    catalog.close()
    assert list((tmp_path / "scratch").iterdir()) == []


@pytest.mark.parametrize(
    ("source", "fault"),
    [("absent", "no such file or folder"), ("bare.git", "write git:"), ("git:plain", "not a Git repository")],
)
def test_sources_that_cannot_serve(
    tmp_path: Path, source: str, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_tree(tmp_path / "plain", {"a.py": b"x"})
    bare_repository(tmp_path / "bare.git", [("100644", b"a.py", b"x")])
    with pytest.raises(SnapshotError, match=fault):
        Catalog({f"o/n@{COMMIT}": source}, []).open("o/n", COMMIT)


def test_the_facts_of_a_snapshot(tmp_path: Path) -> None:
    catalog = Catalog({}, [write_tree(tmp_path, {f"o__n/{COMMIT}.chunks.jsonl": chunks("x")})])
    facts = catalog.open("o/n", COMMIT).facts()
    assert str(tmp_path) not in json.dumps(facts)
    assert {key: facts[key] for key in facts if key != "tree"} == {
        "source": f"o__n/{COMMIT}.chunks.jsonl",
        "view": "chunks",
        "files": 1,
        "texts": 1,
        "cut": 0,
        "dropped": {},
    }


def test_the_size_of_a_snapshot_is_that_of_its_chunk_file(tmp_path: Path) -> None:
    (tmp_path / "o__n").mkdir()
    (tmp_path / "o__n" / f"{'a' * 40}.chunks.jsonl").write_bytes(b"x" * 7)
    (tmp_path / "o__n" / f"{'b' * 40}.chunks.jsonl.zst").write_bytes(b"x" * 5)
    catalog = Catalog({f"o/n@{'d' * 40}": "dist:iniconfig"}, (tmp_path,))
    assert [catalog.size("o/n", letter * 40) for letter in "abcd"] == [7, 5, 0, 0]
    assert catalog.size("../n", "label") == 0
