"""Rows of SWE-bench and Loc-Bench: gold is what the patch touched of the files that were there."""

from __future__ import annotations

from typing import Any

import pytest

from tests.datasets.problems import PATCH, context_row, patch_row
from tests.datasets.rows import faults_of, only

CREATED = "diff --git a/new.c b/new.c\nnew file mode 100644\n--- /dev/null\n+++ b/new.c\n@@ -0,0 +1 @@\n+a\n"


def test_a_row_of_swebench() -> None:
    sample = only(patch_row(patch=CREATED + PATCH, test_patch=PATCH.replace("ring", "test"), hints_text=""))
    assert (sample.id, sample.task, sample.gold) == ("acme__ring-7", "swebench", ("ring.c",))
    assert sample.query_text == "The ring\n  loses its tail."
    assert (sample.gold_kind, sample.gold_spans, sample.gold_symbols) == ("patch", (), ())


def test_a_row_of_locbench_keeps_its_functions() -> None:
    functions = ["ring.c:Ring.push", "ring.c:grow", "ring.c:Ring.push"]
    sample = only(patch_row(edit_functions=functions))
    assert (sample.task, sample.gold) == ("locbench", ("ring.c",))
    assert sample.gold_symbols == ("ring.c:Ring.push", "ring.c:grow")
    assert sample.gold_kind == "patch"


def test_a_patch_that_only_makes_files_is_skipped() -> None:
    assert only(patch_row(patch=CREATED)).skip == "patch_edits_no_file"


def test_spans_beat_the_patch() -> None:
    assert only(context_row(("a.c", 1, 2), patch=PATCH)).task == "contextbench"


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"patch": "no diff"}, "field 'patch': names no file"),
        ({"patch": ""}, "field 'patch': empty"),
        ({"patch": ["x"]}, "field 'patch': must be a string, not a list"),
        ({"patch": 'diff --git "a/\\377" "b/\\377"\nold mode 1\n'}, "field 'patch': holds half a surrogate"),
        ({"edit_functions": "a.py:f"}, "field 'edit_functions': not the JSON text of a list"),
        ({"edit_functions": ["a.py:f", 3]}, "field 'edit_functions[1]': must be a string, not a number"),
        ({"edit_functions": [""]}, "field 'edit_functions[0]': must be a string, not empty"),
        ({"instance_id": None}, "field 'instance_id': missing; a row of swebench needs instance_id"),
    ],
)
def test_faults(fields: dict[str, Any], says: str) -> None:
    (fault,) = faults_of(patch_row(**fields))
    assert fault.startswith(f"line 1: {says}")
