"""The controller's hooks for pytest-xdist, registered only where xdist is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from pytest_retrieval.plugin.options import WORKER_INPUT, WORKER_KEY

if TYPE_CHECKING:
    from xdist.remote import Producer
    from xdist.scheduler import Scheduling
    from xdist.workermanage import WorkerController

    from pytest_retrieval.plugin.plan import Load
    from pytest_retrieval.plugin.role import Role


class Workers:
    """Tells workers where the run's folder is, and learns from there what they collected."""

    def __init__(self, role: Role) -> None:
        self._role = role
        self._nodes: list[WorkerController] = []
        self._farewell: Thread | None = None

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: WorkerController) -> None:
        """Name the run's folder, and its key; only builtin types may cross."""
        node.workerinput[WORKER_INPUT] = str(self._role.shared_path())
        node.workerinput[WORKER_KEY] = self._role.shared_key()
        self._nodes.append(node)
        if self._role.config.getoption("dist") != "load":
            vars(node)["sendcommand"] = self._patient(node.sendcommand)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: WorkerController, ids: Sequence[str]) -> None:
        """At the first worker that met a suite, check what was collected, and start gathering."""
        if self._role.gathering is not None or not self._role.shared_path().exists():
            return
        from pytest_retrieval.plugin.plan import Plan
        from pytest_retrieval.plugin.trial.plan import TrialPlan

        plan = Plan.read(self._role.shared_path())
        if plan is None:
            return
        try:
            self._role.adopt(plan, TrialPlan.read(self._role.shared_path()))
        except pytest.UsageError:
            for each in self._nodes:
                each.shutdown()  # they wait for work, and would be waited for
            raise
        if self._role.gathering is not None:
            self._announce()

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: WorkerController, error: object) -> None:
        """Let a worker that is done exit at once, for to give back what it holds takes time.

        At the last one all are waited for, or killed, as xdist does it, while the report is made.
        """
        if error is not None or self._role.gathering is None:
            return
        manager = node.nodemanager
        if len(manager.group) > 1:
            node.gateway.exit()
        else:  # execnet waits for none of them if none is left to be told
            self._farewell = Thread(target=manager.teardown_nodes, name="workers leave", daemon=True)
            self._farewell.start()

    @pytest.hookimpl(tryfirst=True)  # before the run's folder goes
    def pytest_unconfigure(self) -> None:
        """No worker outlives the run; who interrupts the wait for them has had the report, and ends them."""
        if self._farewell is None:
            return
        try:
            self._farewell.join()
        except KeyboardInterrupt:
            for node in self._nodes:
                terminate(node)
            self._farewell.join()

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Hand SIGTERM on to the workers; Ctrl-C reaches them by itself.

        Without it they would work on until execnet interrupts them, five seconds after their channel is gone.
        """
        if self._role.started and str(excinfo.value) == "SIGTERM":
            for node in self._nodes:
                terminate(node)

    @pytest.hookimpl(optionalhook=True, trylast=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Producer) -> Scheduling | None:
        """Serve ``--dist load`` unless a conftest does; every other mode is xdist's own."""
        if config.getoption("dist") != "load":
            return None
        from pytest_retrieval.plugin.scheduler import LoadOrRepository

        return LoadOrRepository(config, log, self._loads)

    def _loads(self, nodeids: Sequence[str]) -> list[Load] | None:
        return None if self._role.gathering is None else self._role.loads(nodeids)

    def _patient(self, send: Callable[..., None]) -> Callable[..., None]:
        """xdist's schedulers may send to a worker that has died, of which they hear next; ours knows that.

        Without this one killed worker could end the whole run. What was sent comes back when they hear of it.
        """

        def sendcommand(name: str, **arguments: object) -> None:
            try:
                send(name, **arguments)
            except OSError:
                if self._role.gathering is None:
                    raise

        return sendcommand

    def _announce(self) -> None:
        """Print the opening lines, which the controller cannot know any earlier."""
        reporter = self._role.config.pluginmanager.getplugin("terminalreporter")
        if reporter is not None and reporter.verbosity >= 0:
            reporter.ensure_newline()
            for line in self._role.pytest_report_collectionfinish():
                reporter.write_line(line)


def terminate(node: WorkerController) -> None:
    """Send SIGTERM to a worker that runs on this machine; execnet has no public way to do so."""
    process = getattr(getattr(node.gateway, "_io", None), "popen", None)
    if node.gateway.spec.popen and process is not None:
        process.terminate()
