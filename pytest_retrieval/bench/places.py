"""Where in an arm's own code something was raised."""

from __future__ import annotations

import traceback
from itertools import dropwhile
from pathlib import Path
from types import CodeType, FrameType

# What stands between the grading loop and an arm.
_CALLERS = (
    "pytest_retrieval.bench",
    "pytest_retrieval.arms.answers",
    "pytest_retrieval.arms.objects",
    "pytest_retrieval.arms.registry",
    "importlib",
)


def raised_at(error: BaseException) -> str | None:
    """``file:line in function`` of the last frame of ``error`` that is the arm's own, None if there is none.

    The first frame behind the grading loop belongs to the arm, and so do those of the same top-level package;
    what it calls elsewhere does not.
    """
    walked = traceback.walk_tb(error.__traceback__)
    frames = list(dropwhile(lambda pair: _module(pair[0]).startswith(_CALLERS), walked))
    if not frames:
        return None
    own = _package(frames[0][0])
    frame, line = [pair for pair in frames if _package(pair[0]) == own][-1]
    return f"{_shown(frame.f_code)}:{line} in {frame.f_code.co_qualname}"


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))


def _package(frame: FrameType) -> str:
    return _module(frame).partition(".")[0]


def _shown(code: CodeType) -> str:
    """The code's file, relative to the working directory where it lies below."""
    path = Path(code.co_filename)
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)
