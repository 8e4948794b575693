from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_retrieval.stats.nested import nested_wilson
from pytest_retrieval.stats.wilson import wilson


@given(st.lists(st.booleans(), min_size=1, max_size=60))
def test_one_attempt_each_is_wilsons_interval(values: list[bool]) -> None:
    found = nested_wilson([float(value) for value in values], len(values))
    assert found == pytest.approx(wilson(sum(values), len(values)), abs=1e-12)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=40))
def test_it_lies_between_counting_tasks_and_counting_attempts(successes: list[int]) -> None:
    means, tasks = [count / 4 for count in successes], len(successes)
    rate = sum(means) / tasks
    low, high = nested_wilson(means, 4 * tasks)
    widest, narrowest = wilson(rate * tasks, tasks), wilson(sum(successes), 4 * tasks)
    assert widest[0] - 1e-9 <= low <= narrowest[0] + 1e-9
    assert narrowest[1] - 1e-9 <= high <= widest[1] + 1e-9


def test_attempts_that_always_agree_add_nothing() -> None:
    assert nested_wilson([1.0, 0.0, 0.0, 1.0], 40) == pytest.approx(wilson(2, 4))
    assert nested_wilson([1.0] * 3, 30) == pytest.approx(wilson(3, 3))


def test_no_tasks_are_refused() -> None:
    with pytest.raises(ValueError, match="nothing"):
        nested_wilson([], 0)


@pytest.mark.parametrize(("likeness", "rate"), [(0.05, 0.5), (0.3, 0.1), (0.8, 0.5)])
def test_it_covers_the_truth(likeness: float, rate: float) -> None:
    # Tasks with beta-distributed rates, five attempts each; 1,000 experiments of 20 tasks. Wilson's
    # interval over 100 attempts would cover 90 %, 79 % and 62 %.
    random = np.random.Generator(np.random.PCG64(7))
    spread = 1 / likeness - 1
    rates = random.beta(rate * spread, (1 - rate) * spread, (1000, 20))
    means = random.binomial(5, rates) / 5
    ends = [nested_wilson(list(experiment), 100) for experiment in means.tolist()]
    assert sum(low <= rate <= high for low, high in ends) >= 930
