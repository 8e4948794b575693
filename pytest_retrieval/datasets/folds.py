"""The frozen map of Agent Retrieval Bench's repositories to the folds A and B.

A parameter is chosen on one fold and judged on the other, so the map never changes: its digest is
written into every report.
"""

from __future__ import annotations

import hashlib

_FOLDS = {
    "A": (
        "HypothesisWorks/hypothesis astral-sh/ruff caddyserver/caddy gin-gonic/gin huggingface/diffusers"
        " ipython/ipython microsoft/playwright mockito/mockito numpy/numpy pytest-dev/pytest python/mypy"
        " scrapy/scrapy vitejs/vite vuejs/core"
    ),
    "B": (
        "clap-rs/clap eslint/eslint etcd-io/etcd fastapi/fastapi huggingface/transformers pallets/click"
        " pydantic/pydantic pypa/pip spring-projects/spring-boot tokio-rs/tokio tox-dev/tox"
    ),
}

FOLD_MAP: dict[str, str] = {repo: fold for fold, repos in _FOLDS.items() for repo in repos.split()}


def fold_of(repo: str) -> str:
    """``"A"`` or ``"B"`` for a repository of the frozen map, else ``"unassigned"``."""
    return FOLD_MAP.get(repo, "unassigned")


def fold_map_digest() -> str:
    """SHA-256 (hex) of the lines ``FOLD TAB REPO LF``, in the byte order of the repository names."""
    repos = sorted(FOLD_MAP, key=str.encode)
    return hashlib.sha256("".join(f"{FOLD_MAP[repo]}\t{repo}\n" for repo in repos).encode()).hexdigest()


FOLD_MAP_SHA256 = fold_map_digest()
