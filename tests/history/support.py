"""Small Git histories that are the same everywhere, made by plain git commands."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

WHO = {
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@localhost",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@localhost",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}


class History:
    """A repository in ``path`` that grows by one commit a call."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir()
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *words: str, when: str = "2026-09-10T12:00:00Z") -> str:
        dates = {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when}
        environment = {**os.environ, **WHO, **dates}
        done = subprocess.run(
            ["git", *words], cwd=self.path, env=environment, capture_output=True, check=True, timeout=60
        )
        return done.stdout.decode().strip()

    def commit(
        self, message: str, files: Mapping[str, str | bytes | None], when: str = "2026-09-10T12:00:00Z"
    ) -> str:
        """Write ``files`` (None removes one) and commit them; the commit's name."""
        for name, content in files.items():
            place = self.path / name
            place.parent.mkdir(parents=True, exist_ok=True)
            if content is None:
                place.unlink()
            else:
                place.write_bytes(content.encode() if isinstance(content, str) else content)
        self.git("add", "-A")
        self.git("commit", "--quiet", "--allow-empty", "-m", message, when=when)
        return self.git("rev-parse", "HEAD")
