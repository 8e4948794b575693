"""The packer of the embedded release: what a chunk file must hold, by the rules of its rows."""

from __future__ import annotations

import hashlib
import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

TOOL = Path(__file__).parents[1] / "testdata" / "chunks.py"
COMMIT = "0123456789" * 4
NINE_KEYS = {
    "base_commit",
    "chunk_id",
    "end_line",
    "kind",
    "path",
    "repo",
    "start_line",
    "symbol",
    "text",
}
GO = "package berth\n\ntype Berth struct {\n\tName string\n}\n\n"
GO += "func (b *Berth) Free() bool {\n\treturn true\n}\n"


@pytest.fixture(scope="module")
def chunks() -> ModuleType:
    specification = importlib.util.spec_from_file_location("chunks_tool", TOOL)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def write(root: Path, files: dict[str, bytes]) -> Path:
    for path, data in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    return root


def packed(chunks: ModuleType, tmp_path: Path, files: dict[str, bytes]) -> list[dict[str, Any]]:
    out = tmp_path / "out" / "x.chunks.jsonl"
    chunks.main(["pack", str(write(tmp_path / "tree", files)), "owner/name", COMMIT, str(out)])
    return [json.loads(line) for line in out.read_bytes().split(b"\n") if line]


def test_every_row_has_the_nine_keys_and_the_file_comes_before_its_symbols(
    chunks: ModuleType, tmp_path: Path
) -> None:
    rows = packed(chunks, tmp_path, {"internal/berth/berth.go": GO.encode(), "README.md": b"# hello\n"})
    assert all(set(row) == NINE_KEYS for row in rows)
    assert [
        (row["path"], row["kind"], row["symbol"], row["start_line"], row["end_line"]) for row in rows
    ] == [
        ("README.md", "file", "", 1, 1),
        ("internal/berth/berth.go", "file", "", 1, 9),
        ("internal/berth/berth.go", "symbol", "Berth", 3, 5),
        ("internal/berth/berth.go", "symbol", "Free", 7, 9),
    ]
    assert rows[1]["text"] == GO.strip()
    assert rows[3]["text"] == "func (b *Berth) Free() bool {\n\treturn true\n}"


def test_the_chunk_id_joins_its_seven_parts_by_the_unit_separator(chunks: ModuleType, tmp_path: Path) -> None:
    rows = packed(chunks, tmp_path, {"berth.go": GO.encode()})
    identity = f"owner/name\x1f{COMMIT}\x1fberth.go\x1fsymbol\x1fBerth\x1f3\x1f5"
    assert rows[1]["chunk_id"] == hashlib.sha256(identity.encode()).hexdigest()[:24]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\r\nb\rc\n", "a\nb\nc"),
        ("\n\n  x  \n", "x"),
        (" \n", ""),
        ("x" * 8_000, "x" * 8_000),
        ("\n" + "x" * 8_000 + "\n", "x" * 8_000),
        ("x" * 8_001, "x" * 8_000 + "\n...[truncated]"),
        ("x" * 7_990 + " " * 20 + "y", "x" * 7_990 + "\n...[truncated]"),
        ("\u00e9" * 8_001, "\u00e9" * 8_000 + "\n...[truncated]"),
    ],
)
def test_text_is_normalised_stripped_and_cut_at_8000_characters(
    chunks: ModuleType, tmp_path: Path, text: str, expected: str
) -> None:
    (row,) = packed(chunks, tmp_path, {"a.txt": text.encode()})
    assert row["text"] == expected


def test_end_line_counts_the_lines_of_the_whole_file_even_when_the_text_is_cut(
    chunks: ModuleType, tmp_path: Path
) -> None:
    (row,) = packed(chunks, tmp_path, {"a.txt": b"\n" + b"123456789\n" * 1_000})
    assert row["end_line"] == 1_001
    assert row["text"].endswith("\n...[truncated]")


def test_empty_binary_oversized_and_git_files_are_no_rows(chunks: ModuleType, tmp_path: Path) -> None:
    files = {
        "keep.txt": b"kept",
        "empty.txt": b"",
        "binary.dat": b"a\0b",
        "large.txt": b"x" * 400_001,
        ".git/config": b"[core]",
    }
    assert [row["path"] for row in packed(chunks, tmp_path, files)] == ["keep.txt"]


@pytest.mark.parametrize(
    ("name", "source", "expected"),
    [
        (
            "a.ts",
            "export async function load() {\n  go();\n}\ninterface Row {\n  id: number;\n}\n",
            "load Row",
        ),
        ("a.rs", "pub struct A;\n\npub(crate) async fn f(\n    a: u8,\n) -> u8 {\n    a\n}\n", "A f"),
        ("a.py", "class X:\n    def f(\n        self,\n    ) -> None:\n        pass\n", "X f"),
        (
            "a.java",
            "public class A {\n    int get() {\n        return new B() {\n        };\n    }\n}\n",
            "A get",
        ),
        ("a.md", "type Berth struct\n", ""),
    ],
)
def test_symbols_of_each_language_are_found(
    chunks: ModuleType, tmp_path: Path, name: str, source: str, expected: str
) -> None:
    rows = packed(chunks, tmp_path, {name: source.encode()})
    assert " ".join(row["symbol"] for row in rows[1:]) == expected


def test_a_tree_survives_packing_and_unpacking(chunks: ModuleType, tmp_path: Path) -> None:
    files = {"b/ä.txt": "line\u2028separator\u0085".encode(), "a.go": GO.strip().encode(), "b.txt": b"x"}
    packed(chunks, tmp_path, files)
    assert chunks.main(["unpack", str(tmp_path / "out" / "x.chunks.jsonl"), str(tmp_path / "back")]) == 0
    back = tmp_path / "back"
    assert (back / "a.go").read_bytes() == files["a.go"]
    assert (back / "b/ä.txt").read_bytes() == "line\u2028separator".encode()
    again = tmp_path / "again.jsonl"
    chunks.main(["pack", str(back), "owner/name", COMMIT, str(again)])
    assert again.read_bytes() == (tmp_path / "out" / "x.chunks.jsonl").read_bytes()


def test_a_path_that_leaves_the_folder_is_refused(chunks: ModuleType, tmp_path: Path) -> None:
    file = tmp_path / "bad.jsonl"
    file.write_text(json.dumps({"kind": "file", "path": "../escaped.txt", "text": "x"}) + "\n")
    with pytest.raises(SystemExit, match="leaves the folder"):
        chunks.main(["unpack", str(file), str(tmp_path / "back")])
    assert not (tmp_path / "escaped.txt").exists()


def test_packing_twice_gives_the_same_bytes_and_manifest(
    chunks: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = write(tmp_path / "tree", {"b.go": GO.encode(), "a/b.txt": b"x", "a.txt": b"y"})
    for name in ("one", "two"):
        chunks.main(["pack", str(root), "owner/name", COMMIT, str(tmp_path / f"{name}.jsonl")])
    first, second = capsys.readouterr().out.splitlines()
    assert first == second
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()
    manifest = json.loads(first)
    assert (manifest["chunk_count"], manifest["file_count"], manifest["symbol_count"]) == (5, 3, 2)
    assert manifest["chunks_path"] == f"owner__name/{COMMIT}.chunks.jsonl"


def test_the_base_commit_is_the_digest_of_sorted_paths_and_contents(
    chunks: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = write(tmp_path / "tree", {"b.txt": b"y", "a/z.txt": b"x"})
    chunks.main(["commit", str(root)])
    lines = b"".join(
        path + b"\0" + hashlib.sha256(content).hexdigest().encode() + b"\n"
        for path, content in [(b"a/z.txt", b"x"), (b"b.txt", b"y")]
    )
    assert capsys.readouterr().out.strip() == hashlib.sha256(lines).hexdigest()[:40]


def test_every_embedded_chunk_file_has_only_rows_of_its_own_repository_and_commit() -> None:
    for file in sorted((TOOL.parent / "release" / "corpus").glob("*/*/*.chunks.jsonl")):
        rows = [json.loads(line) for line in file.read_bytes().split(b"\n") if line]
        assert all(set(row) == NINE_KEYS for row in rows), file
        assert {row["base_commit"] for row in rows} == {file.name.removesuffix(".chunks.jsonl")}, file
        assert {row["repo"].replace("/", "__") for row in rows} == {file.parent.name}, file
