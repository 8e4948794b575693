from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_retrieval.stats.attempts import pass_at


@given(st.integers(1, 8), st.data())
def test_it_is_the_share_of_draws_with_a_success(attempts: int, data: st.DataObject) -> None:
    successes = data.draw(st.integers(0, attempts))
    k = data.draw(st.integers(1, attempts))
    outcomes = [place < successes for place in range(attempts)]
    drawn = list(combinations(outcomes, k))
    assert pass_at(k, attempts, successes) == pytest.approx(sum(map(any, drawn)) / len(drawn))


@pytest.mark.parametrize(("k", "attempts", "successes"), [(0, 3, 1), (4, 3, 1), (1, 3, 4), (1, 3, -1)])
def test_what_cannot_be_is_refused(k: int, attempts: int, successes: int) -> None:
    with pytest.raises(ValueError, match="pass@"):
        pass_at(k, attempts, successes)
