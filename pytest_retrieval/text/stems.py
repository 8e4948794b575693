"""What two paths of one subject share: the stem by which a source file and its tests find each other."""

from __future__ import annotations

_TEST_ENDINGS = ("_test", ".test", ".spec", "_spec")


def stem(path: str) -> str:
    """The name of ``path`` without folder, last extension and what marks a test, in lower case.

    ``test_`` goes first, then ``_test``, ``.test``, ``.spec`` and ``_spec``, once each in this order.
    """
    name = path.rpartition("/")[2].lower()
    dot = name.rfind(".")
    name = (name if dot < 0 else name[:dot]).removeprefix("test_")
    for ending in _TEST_ENDINGS:
        name = name.removesuffix(ending)
    return name


def hard_stem(path: str) -> str:
    """The stem without a trailing ``tests``, as Swift and Java name test files."""
    return stem(path).removesuffix("tests")
