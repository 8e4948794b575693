"""The account that processes of a trial share: who may start an invocation, and who waits."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as Late
from pathlib import Path

import pytest

from pytest_retrieval.plugin.trial.budget import Budget
from pytest_retrieval.plugin.trial.shelf import Shelf
from pytest_retrieval.trial.prices import ModelPrices
from tests.processes import wait_until

PRICES = ModelPrices("USD", "ab" * 32, {"out": 1_000_000}, {})
HOLDING = """
import sys, time
from pathlib import Path
from tests.plugin.test_trial_budget import budget
assert budget(Path(sys.argv[1]), 10).may_start()
Path(sys.argv[1], "held").touch()
time.sleep(600)
"""


def budget(folder: Path, amount: float) -> Budget:
    """The budget as one process of the run has it."""
    (folder / "trial").mkdir(exist_ok=True)
    return Budget(folder / "budget", amount, PRICES, Shelf(folder / "trial", "key"))


def cost(dollars: int) -> dict[str, object]:
    return {"tokens": {"out": dollars}}


def waits(found: Future[bool]) -> bool:
    try:
        found.result(timeout=0.3)
    except Late:
        return True
    return False


@pytest.fixture
def elsewhere() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1)


def test_the_first_invocation_runs_alone(tmp_path: Path, elsewhere: ThreadPoolExecutor) -> None:
    first, second = budget(tmp_path, 10), budget(tmp_path, 10)
    assert first.may_start()
    asked = elsewhere.submit(second.may_start)
    assert waits(asked)
    first.settle(cost(2))
    assert asked.result(timeout=30)
    assert first.may_start()  # from now on they run beside each other


def test_who_is_on_the_way_is_taken_to_be_as_dear_as_the_dearest(
    tmp_path: Path, elsewhere: ThreadPoolExecutor
) -> None:
    """Of 10 dollars 5 are spent, 3 of them at once: a second one would make it 11."""
    first, second = budget(tmp_path, 10), budget(tmp_path, 10)
    for dollars in (3, 2):
        assert first.may_start()
        first.settle(cost(dollars))
    assert first.may_start()
    asked = elsewhere.submit(second.may_start)
    assert waits(asked)
    first.settle(cost(1))  # cheaper than feared: there is room for one more
    assert asked.result(timeout=30)
    second.settle(cost(3))
    assert not first.may_start()
    said = Shelf(tmp_path / "trial", "key").stopped
    assert said == (
        "not run: what was observed has cost 9 USD, and one more as dear as the dearest (3) would go beyond "
        "--retrieval-max-cost 10"
    )
    assert not second.may_start()


def test_a_budget_may_be_used_up_to_the_cent(tmp_path: Path) -> None:
    """0.1 is no binary fraction: three times it is more than 0.3, but not by a millionth."""
    one = Budget(
        tmp_path / "budget",
        0.3,
        ModelPrices("USD", "ab" * 32, {"out": 100_000}, {}),
        Shelf(tmp_path / "trial", "key"),
    )
    (tmp_path / "trial").mkdir()
    for _ in range(3):
        assert one.may_start()
        one.settle(cost(1))
    assert not one.may_start()


def test_tokens_that_nobody_saw_hold_nobody_up(tmp_path: Path) -> None:
    one = budget(tmp_path, 1)
    for _ in range(5):
        assert one.may_start()
        one.settle({"tokens": "NOT_OBSERVED"})
    assert one.may_start()
    one.settle({"tokens": "NOT_OBSERVED", "retried_tokens": {"out": 1}})
    assert not one.may_start()


def test_what_came_to_nothing_holds_nobody_up(tmp_path: Path, elsewhere: ThreadPoolExecutor) -> None:
    first, second = budget(tmp_path, 10), budget(tmp_path, 10)
    assert first.may_start()
    asked = elsewhere.submit(second.may_start)
    assert waits(asked)
    first.give_up()
    assert asked.result(timeout=30)


def test_a_killed_worker_holds_nobody_up(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    with subprocess.Popen(
        [sys.executable, "-c", HOLDING, tmp_path], cwd=root, env={**os.environ, "PYTHONPATH": str(root)}
    ) as worker:
        wait_until((tmp_path / "held").exists, "the worker's invocation")
        worker.send_signal(signal.SIGKILL)
        os.waitid(os.P_PID, worker.pid, os.WEXITED | os.WNOWAIT)  # nobody has reaped it yet
        assert budget(tmp_path, 10).may_start()


def test_an_account_whose_writing_broke_off_is_as_it_was(tmp_path: Path) -> None:
    first = budget(tmp_path, 5)
    first.settle(cost(3))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        with pytest.raises(OSError, match="too large"):
            first.settle(cost(1))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    second = budget(tmp_path, 6)
    assert second.may_start()  # 3 and a further 3
    second.give_up()
    assert not budget(tmp_path, 5).may_start()
