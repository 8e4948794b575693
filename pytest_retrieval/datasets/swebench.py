"""Rows of SWE-bench (arXiv 2310.06770) and Loc-Bench (arXiv 2503.09089): a problem, and its solving patch."""

from __future__ import annotations

from pytest_retrieval.datasets.patch import changes
from pytest_retrieval.datasets.problems import problem_sample
from pytest_retrieval.datasets.rows import Row
from pytest_retrieval.model import LOCBENCH, SWEBENCH, Sample, distinct

NOTHING_EDITED = "patch_edits_no_file"  # it only makes new files, and nobody finds those beforehand


def swebench_sample(row: Row) -> Sample:
    """Read one row; what is wrong with it is noted on ``row``, and the sample is then not to be used.

    Gold are the files that the patch modifies, deletes or renames. The ones that it makes are no gold in the
    field either: neither in SWE-bench's oracle retrieval nor among the functions of Loc-Bench. A row with
    ``edit_functions`` is one of Loc-Bench, and keeps them as symbols.
    """
    patch = row.string("patch", "write the unified diff that solves the problem")
    touched = list(changes(patch))
    if patch and not touched:
        row.fault("patch", "names no file; write a unified diff, as git diff prints it")
    before = distinct(change.before for change in touched if change.before is not None)
    gold = tuple(filter(None, (row.path("patch", path) for path in before)))
    if row.values.get("edit_functions") is None:
        return problem_sample(row, SWEBENCH, gold, skip=NOTHING_EDITED)
    symbols = row.texts("edit_functions", 'write ["path.py:Class.function"]')
    return problem_sample(row, LOCBENCH, gold, skip=NOTHING_EDITED, symbols=symbols)
