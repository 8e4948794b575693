"""The view ``arb`` against the statements of its specification."""

from __future__ import annotations

import pytest

from pytest_retrieval.snapshots.arb import dropped_path, dropped_size, shown_text


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("go.sum", "lock file"),
        ("a/b/package-lock.json", "lock file"),
        ("a/Go.sum", None),
        ("rebuild/x.py", "generated folder"),
        ("a/mytarget/x", "generated folder"),
        ("build", None),
        ("a/.venv/lib.py", "generated folder"),
        ("my.lock", "generated file"),
        ("a.LOCK", None),
        ("a.min.js", "generated file"),
        ("api.pb.go", "generated file"),
        ("x.g.cs", "generated file"),
        ("a.PNG", "binary extension"),
        ("a.svg", "binary extension"),
        ("png", None),
        ("a.svg.txt", None),
        ("a.tar.gz", "binary extension"),
        ("caf\u00e9.py", "quoted path"),
        ("\udcff.py", "quoted path"),
        ('a"b.py', "quoted path"),
        ("a\\b.py", "quoted path"),
        ("a\tb.py", "quoted path"),
        ("a\x7fb.py", "quoted path"),
        ("a b'c.py", None),
    ],
)
def test_which_paths_are_dropped(path: str, reason: str | None) -> None:
    assert dropped_path(path) == reason


# As the specification lists them.
LOCK_FILES = (
    "package-lock.json pnpm-lock.yaml yarn.lock poetry.lock Pipfile.lock Cargo.lock Gemfile.lock go.sum"
)
FOLDERS = "dist/ build/ vendor/ third_party/ node_modules/ target/ .tox/ .venv/"
ENDINGS = ".lock .min.js .map .snap .snapshot .pb.go .generated.go .g.cs"
EXTENSIONS = (
    ".7z .avif .bin .bmp .bz2 .class .dll .dylib .eot .exe .gif .gz .ico .jar .jpeg .jpg .mp4 .o .otf .pdf"
    " .png .pyc .so .svg .tar .tgz .ttf .wasm .webp .woff .woff2 .zip"
)


def test_every_name_that_the_specification_lists_is_dropped() -> None:
    assert {dropped_path(f"a/{name}") for name in LOCK_FILES.split()} == {"lock file"}
    assert {dropped_path(f"x{name}a.py") for name in FOLDERS.split()} == {"generated folder"}
    assert {dropped_path(f"a/b{name}") for name in ENDINGS.split()} == {"generated file"}
    assert {dropped_path(f"a/b{name}") for name in EXTENSIONS.split()} == {"binary extension"}
    assert {dropped_path(f"a/b{name.upper()}") for name in EXTENSIONS.split()} == {"binary extension"}
    kept = [f"a/b{name}.py" for name in (*LOCK_FILES.split(), *ENDINGS.split(), *EXTENSIONS.split())]
    assert {dropped_path(path) for path in kept} == {None}


def test_which_sizes_are_dropped() -> None:
    assert dropped_size(0) == "empty"
    assert dropped_size(1) is None
    assert dropped_size(400_000) is None
    assert dropped_size(400_001) == "over 400,000 bytes"


def test_line_ends_and_outer_blanks_go() -> None:
    assert shown_text(b"\n a\r\nb\rc \n\n") == ("a\nb\nc", False)
    assert shown_text(b" \n\t ") == ("", False)


def test_a_nul_anywhere_makes_a_file_binary() -> None:
    assert shown_text(b"a" * 9000 + b"\0") is None


def test_text_need_not_be_utf8_and_keeps_a_byte_order_mark() -> None:
    assert shown_text(b"\xef\xbb\xbfa\xff") == ("\ufeffa\ufffd", False)


def test_eight_thousand_characters_are_whole_and_one_more_is_cut() -> None:
    assert shown_text("é".encode() * 8000) == ("é" * 8000, False)
    assert shown_text("é".encode() * 8001) == ("é" * 8000 + "\n...[truncated]", True)


def test_a_cut_text_is_right_stripped() -> None:
    assert shown_text(b"a" * 7990 + b" " * 20 + b"b") == ("a" * 7990 + "\n...[truncated]", True)
