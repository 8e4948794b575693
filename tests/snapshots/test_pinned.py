"""Corpora against checkouts: the cases 57 to 60 and 62 of engine.md, section 18."""

from __future__ import annotations

import hashlib
import subprocess
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import pytest

from pytest_retrieval.datasets.corpora import CodeCorpus
from pytest_retrieval.datasets.searchset import SearchQuery
from pytest_retrieval.model import Gold
from pytest_retrieval.snapshots.pinned import check_corpus, line_count
from pytest_retrieval.snapshots.setup import set_up

FILES = {"src/ten.c": "x\n" * 9 + "x", "src/empty.c": "", "tests/t.c": "t\n"}


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    done = subprocess.run(
        ["git", "-C", str(folder), *identity, *arguments], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def digest(data: bytes) -> bytes:
    return hashlib.sha256(data).hexdigest().encode()


@pytest.fixture
def upstream(tmp_path: Path) -> Path:
    folder = tmp_path / "upstream"
    for path, text in FILES.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "one")
    return folder


def corpus(upstream: Path, path: Path, *golds: Gold, subdirs: tuple[str, ...] = ()) -> CodeCorpus:
    return CodeCorpus(
        name="kv",
        repo=upstream.as_uri(),
        rev="v1",
        commit=git(upstream, "rev-parse", "HEAD"),
        lang="c",
        path=str(path),
        queries=path / "queries.json",
        subdirs=subdirs,
        query_set=tuple(SearchQuery("where", "easy", "", (gold,)) for gold in golds),
    )


@pytest.mark.parametrize(
    ("path", "lines", "sound"),
    [
        ("src/ten.c", (10, 10), True),
        ("src/ten.c", (10, 11), False),
        ("src/empty.c", (1, 1), False),
        ("src/empty.c", None, True),
        ("src/gone.c", None, False),
        ("src", None, False),
    ],
)
def test_57_spans_lie_in_their_files(
    upstream: Path, path: str, lines: tuple[int, int] | None, sound: bool
) -> None:
    gold = Gold(path) if lines is None else Gold(path, *lines)
    assert (not check_corpus(corpus(upstream, upstream, gold)).faults) is sound


def test_57_lines_are_counted_by_their_ends() -> None:
    assert [line_count(data) for data in (b"", b"a", b"a\n", b"a\nb", b"\n\n")] == [0, 1, 1, 2, 2]


def test_58_every_bad_answer_is_named(upstream: Path) -> None:
    checked = check_corpus(
        corpus(upstream, upstream, Gold("src/ten.c", 1, 99), Gold("gone.c"), Gold("src/ten.c"))
    )
    assert len(checked.faults) == 2
    assert "queries[0] 'where': relevant[0] src/ten.c: lines 1 to 99: the file has 10" in checked.faults[0]
    assert "queries[1] 'where': relevant[0] gone.c: no such file at v1" in checked.faults[1]


def test_59_another_commit_and_a_modified_file(upstream: Path, tmp_path: Path) -> None:
    pinned = corpus(upstream, upstream)
    (upstream / "src" / "ten.c").write_text("changed\n", encoding="utf-8")
    (fault,) = check_corpus(pinned).faults
    assert "modified: src/ten.c; commit or stash" in fault
    git(upstream, "commit", "-qam", "two")
    (fault,) = check_corpus(pinned).faults
    assert f"pinned is {pinned.commit}; pytest-retrieval corpora setup checks it out" in fault
    (fault,) = check_corpus(replace(pinned, path=str(tmp_path / "nowhere"))).faults
    assert "no such folder; pytest-retrieval corpora setup clones it" in fault
    (tmp_path / "plain").mkdir()
    (fault,) = check_corpus(replace(pinned, path=str(tmp_path / "plain"))).faults
    assert "not a Git checkout" in fault


def test_an_untracked_file_is_no_modification(upstream: Path) -> None:
    (upstream / "build.log").write_text("x", encoding="utf-8")
    assert check_corpus(corpus(upstream, upstream, Gold("src/ten.c"))).faults == ()


def test_60_an_answer_outside_of_the_subdirs(upstream: Path) -> None:
    found = corpus(upstream, upstream, Gold("tests/t.c"), Gold("src/ten.c"), subdirs=("src",))
    (fault,) = check_corpus(found).faults
    assert "tests/t.c: lies outside of the subdirs src, where nobody could find it" in fault


def test_an_abbreviated_commit_is_completed(upstream: Path) -> None:
    whole = corpus(upstream, upstream)
    assert check_corpus(replace(whole, commit=whole.commit[:12])).commit == whole.commit


def test_a_symbol_that_the_lines_do_not_hold_is_told(upstream: Path) -> None:
    checked = check_corpus(corpus(upstream, upstream, Gold("src/ten.c", 1, 2, "dropIfExpired")))
    assert checked.faults == ()
    assert "its lines do not hold 'dropIfExpired'" in checked.warnings[0]


def test_a_distribution_is_pinned_by_version_and_texts(tmp_path: Path) -> None:
    version = metadata.version("iniconfig")
    texts = [path for path in metadata.files("iniconfig") or () if path.parts[0] == "iniconfig"]
    sources = sorted((path for path in texts if path.suffix in (".py", ".typed")), key=str)
    # Of each file its path, a NUL, the digest of its content, a line feed (DECISIONS 39).
    lines = b"".join(b"%b\0%b\n" % (str(path).encode(), digest(path.read_binary())) for path in sources)
    pinned = CodeCorpus(
        name="ini",
        repo="",
        rev=version,
        commit=hashlib.sha256(lines).hexdigest()[:40],
        lang="python",
        path="dist:iniconfig",
        queries=tmp_path,
        query_set=(SearchQuery("where", "easy", "", (Gold("iniconfig/__init__.py", 1, 2),)),),
    )
    assert check_corpus(pinned) == check_corpus(pinned)
    assert (check_corpus(pinned).faults, check_corpus(pinned).skipped) == ((), None)
    skipped = check_corpus(replace(pinned, rev="0.0.1")).skipped
    assert skipped == f"corpus ini is written for iniconfig 0.0.1, and {version} is installed"
    assert "other files of iniconfig" in (check_corpus(replace(pinned, commit="0" * 40)).skipped or "")
    assert "none is installed" in (check_corpus(replace(pinned, path="dist:no-such-thing")).skipped or "")


def test_62_setup(upstream: Path, tmp_path: Path) -> None:
    pinned = corpus(upstream, tmp_path / "corpora" / "kv", Gold("src/ten.c"))
    place = Path(pinned.path)
    assert set_up(pinned, dry_run=True).state == f"would be cloned from {pinned.repo}"
    assert not place.exists()
    assert set_up(pinned).state == "cloned"
    assert check_corpus(pinned).faults == ()
    assert set_up(pinned).state == "ok"
    git(place, "commit", "-q", "--allow-empty", "-m", "moved")
    assert set_up(pinned, dry_run=True).state == f"would be checked out at {pinned.commit}"
    assert set_up(pinned).state == "checked out"
    (place / "src" / "ten.c").write_text("mine\n", encoding="utf-8")
    status = set_up(pinned)
    assert (status.failed, "modified: src/ten.c" in status.state) == (True, True)
    assert (place / "src" / "ten.c").read_text(encoding="utf-8") == "mine\n"


def test_62_a_newer_commit_is_fetched(upstream: Path, tmp_path: Path) -> None:
    set_up(corpus(upstream, tmp_path / "kv"))
    git(upstream, "commit", "-q", "--allow-empty", "-m", "two")
    newer = corpus(upstream, tmp_path / "kv")
    assert set_up(newer).state == "checked out"
    assert set_up(newer).state == "ok"


def test_62_what_is_refused_leaves_nothing(upstream: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    assert "not a Git checkout" in set_up(corpus(upstream, plain)).state
    pinned = corpus(upstream, tmp_path / "kv")
    for refused, why in (
        (replace(pinned, commit="f" * 40), "has no commit ffff"),
        (replace(pinned, repo="ext::sh -c touch% /tmp/x"), "is no URL that is cloned"),
        (replace(pinned, repo="--upload-pack=touch x"), "is no URL that is cloned"),
        (replace(pinned, repo=(tmp_path / "gone").as_uri()), "git clone: "),
    ):
        status = set_up(refused)
        assert (status.failed, why in status.state) == (True, True), status.state
    assert sorted(path.name for path in tmp_path.iterdir()) == ["plain", "upstream"]
