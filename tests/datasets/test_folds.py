from collections import Counter

import pytest

from pytest_retrieval.datasets import folds


def test_the_digest_is_the_published_one() -> None:
    published = "8d439eb6f7cb2471e90ee905684a0054bce49462859d52db01031f7cabc8f004"
    assert published == folds.FOLD_MAP_SHA256 == folds.fold_map_digest()


def test_swapping_two_repositories_changes_the_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(folds.FOLD_MAP, "numpy/numpy", "B")
    monkeypatch.setitem(folds.FOLD_MAP, "pypa/pip", "A")
    assert folds.fold_map_digest() != folds.FOLD_MAP_SHA256


def test_fourteen_and_eleven_repositories() -> None:
    assert Counter(folds.FOLD_MAP.values()) == {"A": 14, "B": 11}


@pytest.mark.parametrize(
    ("repo", "fold"),
    [
        ("numpy/numpy", "A"),
        ("pallets/click", "B"),
        ("acme/ring", "unassigned"),
        ("NumPy/numpy", "unassigned"),
    ],
)
def test_fold_of(repo: str, fold: str) -> None:
    assert folds.fold_of(repo) == fold
