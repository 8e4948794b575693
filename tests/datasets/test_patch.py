"""The names in patches: by hand, and against Git's own list of what a commit touched."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from pytest_retrieval.datasets.patch import Change, changes

MODIFIED = """\
diff --git a/src/ring.c b/src/ring.c
index 1111111..2222222 100644
--- a/src/ring.c
+++ b/src/ring.c
@@ -1,3 +1,3 @@ static int head;
 int a;
-int b;
+long b;
 int c;
"""


def touched(patch: str) -> list[tuple[str | None, str | None]]:
    return [(change.before, change.after) for change in changes(patch)]


def test_a_modified_file() -> None:
    assert list(changes(MODIFIED)) == [Change("src/ring.c", "src/ring.c")]


def test_carriage_returns_at_the_ends_of_all_lines() -> None:
    assert list(changes(MODIFIED.replace("\n", "\r\n"))) == [Change("src/ring.c", "src/ring.c")]


def test_created_deleted_renamed_copied_and_binary_files() -> None:
    patch = """\
diff --git a/new.c b/new.c
new file mode 100644
index 0000000..1111111
--- /dev/null
+++ b/new.c
@@ -0,0 +1 @@
+int n;
diff --git a/old.c b/old.c
deleted file mode 100644
index 1111111..0000000
--- a/old.c
+++ /dev/null
@@ -1 +0,0 @@
-int o;
diff --git a/from name.c b/to name.c
similarity index 90%
rename from from name.c
rename to to name.c
index 1111111..2222222 100644
--- a/from name.c\t
+++ b/to name.c\t
@@ -1 +1 @@
-a
+b
diff --git a/kept.c b/copy.c
similarity index 100%
copy from kept.c
copy to copy.c
diff --git a/logo.png b/logo.png
index 1111111..2222222 100644
Binary files a/logo.png and b/logo.png differ
diff --git a/run.sh b/run.sh
old mode 100644
new mode 100755
diff --git a/empty b/empty
new file mode 100644
index 0000000..e69de29
"""
    assert touched(patch) == [
        (None, "new.c"),
        ("old.c", None),
        ("from name.c", "to name.c"),
        (None, "copy.c"),
        ("logo.png", "logo.png"),
        ("run.sh", "run.sh"),
        (None, "empty"),
    ]


def test_lines_of_a_hunk_are_no_heads() -> None:
    patch = """\
--- a/x.sql
+++ b/x.sql
@@ -1,3 +1,3 @@
--- a/fake.sql
-diff --git a/f b/f
+++ b/fake.sql
+rename from f
 select 1;
\\ No newline at end of file
"""
    assert touched(patch) == [("x.sql", "x.sql")]


def test_a_literal_binary_patch_and_a_mode_change_with_blanks_in_its_name() -> None:
    patch = (
        "diff --git a/a b.bin b/a b.bin\nindex 1..2 100644\nGIT binary patch\nliteral 3\nKcmZQzWMT#Y01f~L\n\n"
        "literal 0\nHcmV?d00001\n\ndiff --git a/my b/c my b/my b/c my\nold mode 100644\nnew mode 100755\n"
    )
    assert touched(patch) == [("a b.bin", "a b.bin"), ("my b/c my", "my b/c my")]


def test_plain_diffs_with_dates_and_without_prefixes() -> None:
    patch = """\
Index: lib/a.py
===================================================================
--- lib/a.py\t2024-01-01 10:00:00.000000000 +0000
+++ lib/a.py\t2024-01-02 10:00:00.000000000 +0000
@@ -1 +1 @@
-a
+b
diff -ru a/lib/b.py b/lib/b.py
--- a/lib/b.py\t2024-01-01
+++ b/lib/b.py\t2024-01-02
@@ -1 +1 @@
-a
+b
--- /dev/null
+++ b/lib/c.py
@@ -0,0 +1 @@
+c
"""
    assert touched(patch) == [
        ("lib/a.py", "lib/a.py"),
        ("lib/b.py", "lib/b.py"),
        (None, "lib/c.py"),
    ]


def test_a_mailed_patch() -> None:
    patch = (
        "From 1234 Mon Sep 17 00:00:00 2001\nSubject: [PATCH] x\n\n--- a list\n\n---\n src/ring.c | 2 +-\n\n"
        + MODIFIED
        + "-- \n2.39.5\n"
    )
    assert touched(patch) == [("src/ring.c", "src/ring.c")]


def test_an_empty_line_of_context_may_have_lost_its_blank() -> None:
    patch = "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n\n--- a/y\n+++ b/y\n\n" + MODIFIED
    assert touched(patch) == [("x", "x"), ("src/ring.c", "src/ring.c")]


def test_a_hunk_with_wrong_counts_ends_at_the_next_file() -> None:
    patch = MODIFIED.replace("-1,3 +1,3", "-1,9 +1,9") + MODIFIED.replace("ring", "bell")
    assert [change.before for change in changes(patch)] == ["src/ring.c", "src/bell.c"]


def test_quoted_names() -> None:
    patch = (
        'diff --git "a/\\303\\244 \\"q\\"\\t\\\\.c" "b/\\303\\244 \\"q\\"\\t\\\\.c"\n'
        "old mode 100644\nnew mode 100755\n"
        'diff --git "a/\\303\\266" b/o\nsimilarity index 100%\nrename from "\\303\\266"\nrename to o\n'
    )
    assert touched(patch) == [('ä "q"\t\\.c', 'ä "q"\t\\.c'), ("ö", "o")]


def test_without_git_prefixes_a_folder_named_a_stays() -> None:
    patch = "diff --git a/x a/x\ndeleted file mode 100644\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
    assert touched(patch) == [("a/x", None)]


@pytest.mark.parametrize(
    "text",
    ["", "nothing", "--- a\n", "@@ -1 +1 @@\n-a\n+b\n", "diff --git \n", 'diff --git "', "--- a/\n+++ b/\n"],
)
def test_what_is_no_diff_names_nothing(text: str) -> None:
    assert touched(text) == []


@given(st.text(alphabet='-+@ \n\r"\\/abdiffgt,109', max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    assert all(change != Change(None, None) for change in changes(text))


NAMES = st.text(alphabet='ab "\\\tä-+€b/', min_size=1, max_size=8).map(lambda text: text.strip("/"))
LINES = st.lists(
    st.sampled_from(["", "-- a/x", "++ b/x", "diff --git a/x b/x", "@@ -1 +1 @@", "x\r", "y", "\0"]),
    max_size=12,
).map(lambda lines: "\n".join(lines).encode())


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(
    st.dictionaries(NAMES, LINES, max_size=5),
    st.dictionaries(NAMES, LINES, max_size=5),
    st.booleans(),
    st.sampled_from(
        [(), ("--no-prefix",), ("--binary",), ("-C", "--find-copies-harder"), ("--no-renames", "-U0")]
    ),
)
def test_agrees_with_git(
    before: dict[str, bytes], after: dict[str, bytes], keep: bool, options: tuple[str, ...]
) -> None:
    later = {**before, **after} if keep else after
    assume(_is_tree(before) and _is_tree(later))
    with tempfile.TemporaryDirectory() as folder:
        repository = Repository(Path(folder))
        trees = [repository.tree(before), repository.tree(later)]
        patch = repository.git("diff", *options, *trees).decode("utf-8", "surrogateescape")
        listed = repository.git("diff", *options, "--name-status", "-z", *trees).decode().split("\0")
    expected = []
    fields = iter(listed[:-1])
    for status in fields:
        name = next(fields)
        renamed = status[0] in "RC"
        target = next(fields) if renamed else name
        expected.append((None if status[0] in "AC" else name, None if status[0] == "D" else target))
    assert touched(patch) == expected


def _is_tree(files: dict[str, bytes]) -> bool:
    parts = [name.split("/") for name in files]
    folders = {"/".join(path[:depth]) for path in parts for depth in range(1, len(path))}
    return all(all(part.strip(".") for part in path) for path in parts) and not folders & files.keys()


class Repository:
    """A bare repository that makes trees without files on disk."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git("init", "-q", "--bare", "--template=")

    def git(self, *arguments: str, data: bytes = b"") -> bytes:
        environment = {
            "PATH": "/usr/bin:/bin:/usr/local/bin",
            "HOME": str(self.folder),
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        command = ["git", "--git-dir", str(self.folder), *arguments]
        return subprocess.run(command, input=data, env=environment, capture_output=True, check=True).stdout

    def tree(self, files: dict[str, bytes]) -> str:
        stream = [b"commit refs/heads/x\ncommitter x <x> 0 +0000\ndata 0\ndeleteall\n"]
        for name, content in files.items():
            quoted = name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
            stream.append(f'M 100644 inline "{quoted}"\ndata {len(content)}\n'.encode() + content + b"\n")
        self.git("fast-import", "--quiet", "--force", data=b"".join(stream))
        return self.git("rev-parse", "refs/heads/x^{tree}").decode().strip()
