"""Clones of code-search corpora at their pinned commits: what is missing is fetched, nothing is thrown away.

The one place that contacts another machine, and only by the URLs that the user's file names.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from pathlib import Path

from pytest_retrieval.datasets.corpora import CodeCorpus
from pytest_retrieval.errors import SnapshotError
from pytest_retrieval.programs.process import ProgramError, allowed_environment, run
from pytest_retrieval.snapshots.checkout import changes, head_commit, is_checkout
from pytest_retrieval.snapshots.distribution import distribution_version
from pytest_retrieval.snapshots.program import Git, git_directory
from pytest_retrieval.snapshots.scratch import remove_tree

OK, CLONED, CHECKED_OUT = "ok", "cloned", "checked out"
TIMEOUT = 4 * 3_600.0  # a full history may be gigabytes
_URL = re.compile(r"(?:https?|ssh|git|file)://\S+|[\w.-]+@[\w.-]+:[^:\s]\S*", re.ASCII)
_ENVIRONMENT = {"GIT_TERMINAL_PROMPT": "0", "GIT_ALLOW_PROTOCOL": "http:https:ssh:git:file", "LC_ALL": "C"}


@dataclass(frozen=True, slots=True)
class Status:
    """What became of one corpus: ``ok``, ``cloned``, ``checked out``, or what hinders it."""

    state: str
    failed: bool = False


def set_up(corpus: CodeCorpus, *, dry_run: bool = False) -> Status:
    """Make the checkout of ``corpus`` what its file says; with ``dry_run`` only say what would be done."""
    try:
        if corpus.distribution is not None:
            return _installed(corpus, corpus.distribution)
        root = Path(corpus.path)
        if not root.exists():
            return Status(f"would be {CLONED} from {corpus.repo}") if dry_run else _clone(corpus, root)
        return _brought(corpus, root, dry_run=dry_run)
    except (SnapshotError, OSError) as error:
        return Status(" ".join(str(error).split()), failed=True)


def _installed(corpus: CodeCorpus, name: str) -> Status:
    version = distribution_version(name)
    if version != corpus.rev:
        return Status(f"{name} {version} is installed: install {name}=={corpus.rev} yourself", failed=True)
    return Status(OK)


def _clone(corpus: CodeCorpus, root: Path) -> Status:
    """Clone beside the place and rename, so that an interrupted clone is not taken for a checkout."""
    if not _URL.fullmatch(corpus.repo):
        raise SnapshotError(f"repo {corpus.repo!r:.200} is no URL that is cloned (https, ssh, git or file)")
    root.parent.mkdir(parents=True, exist_ok=True)
    unfinished = root.with_name(f".{root.name}.{secrets.token_hex(4)}")
    try:
        _git("clone", "--quiet", "--no-checkout", "--", corpus.repo, str(unfinished))
        _check_out(corpus, unfinished)
        unfinished.rename(root)
    finally:
        if unfinished.exists():
            remove_tree(unfinished)
    return Status(CLONED)


def _brought(corpus: CodeCorpus, root: Path, *, dry_run: bool) -> Status:
    """Bring the checkout at ``root`` to the pinned commit unless it is there."""
    if not is_checkout(root):
        raise SnapshotError("something else is there, not a Git checkout; move it away")
    if changed := changes(root, untracked="no"):
        raise SnapshotError(f"modified: {', '.join(changed[:3])}; commit or stash, nothing was touched")
    if head_commit(root).startswith(corpus.commit):
        return Status(OK)
    if dry_run:
        return Status(f"would be {CHECKED_OUT} at {corpus.commit}")
    if Git(git_directory(root)).resolve(corpus.commit) is None:
        if not _URL.fullmatch(corpus.repo):
            raise SnapshotError(f"repo {corpus.repo!r:.200} is no URL that is fetched from")
        _git("-C", str(root), "fetch", "--quiet", "--tags", "--", corpus.repo)
    _check_out(corpus, root)
    return Status(CHECKED_OUT)


def _check_out(corpus: CodeCorpus, root: Path) -> None:
    if Git(git_directory(root)).resolve(corpus.commit) is None:
        raise SnapshotError(f"{corpus.repo} has no commit {corpus.commit}")
    _git("-C", str(root), "checkout", "--quiet", "--detach", corpus.commit)


def _git(*arguments: str) -> None:
    """Run Git as the user does, for a clone needs their keys; no hook runs."""
    environment = {**allowed_environment(("SSH_AUTH_SOCK", "SSH_AGENT_PID")), **_ENVIRONMENT}
    environment.setdefault("HOME", str(Path.home()))
    argv = ["git", "-c", "core.hooksPath=/dev/null", *arguments]
    try:
        done = run(argv, timeout=TIMEOUT, environment=environment)
    except ProgramError as error:
        raise SnapshotError(str(error)) from error
    if done.returncode or done.timed_out:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no reason was given"]
        raise SnapshotError(f"git {arguments[0] if arguments[0] != '-C' else arguments[2]}: {said[-1][:300]}")
