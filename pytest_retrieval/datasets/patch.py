"""Which files a patch touches: Git's diffs as datasets store them, and plain unified diffs.

Only names are read. The bodies of hunks are stepped over by their line counts, for a removed line
``-- a/x`` looks like the head of a file. Names are in Git's quoting, which `git diff`'s documentation
gives under "Generating patch text with -p".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_ESCAPE = re.compile(rb'\\([0-7]{3}|[abtnvfr"\\])')
_ESCAPED = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r"}
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_NOWHERE = "/dev/null"


@dataclass(frozen=True, slots=True)
class Change:
    """One file of a patch: its path before, None where the patch makes it, and after, None where it goes.

    A copied file has no path before: its source is left as it was.
    """

    before: str | None
    after: str | None


def changes(patch: str) -> Iterator[Change]:
    """Each file that ``patch`` names, in its order; nothing for a text that is no diff."""
    head: _Head | None = None
    lines = _Lines(patch)
    for line in lines:
        if line.startswith("diff --git "):
            yield from _finished(head)
            head = _Head(line.removeprefix("diff --git "))
        elif hunk := _HUNK.match(line):
            lines.skip(*(1 if count is None else int(count) for count in hunk.groups()))
        elif line.startswith("--- ") and lines.coming().startswith("+++ "):
            if head is None or head.named:
                yield from _finished(head)
                head = _Head(None)
            head.names(line[4:], next(lines)[4:])
        elif head is not None and not head.named:
            head.extend(line)
    yield from _finished(head)


class _Lines:
    """The lines of a patch, without their ends."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._place = 0

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        if self._place == len(self._lines):
            raise StopIteration
        self._place += 1
        return self._lines[self._place - 1].removesuffix("\r")

    def coming(self) -> str:
        """The next line, which stays the next one; empty at the end."""
        return self._lines[self._place] if self._place < len(self._lines) else ""

    def skip(self, old: int, new: int) -> None:
        """Step over a hunk of ``old`` lines before and ``new`` after, or up to where its counts go wrong."""
        while old > 0 or new > 0:
            mark = self.coming()[:1] or " "  # editors strip the blank that is an empty line of context
            if self._place == len(self._lines) or mark not in " -+\\\r":
                return
            self._place += 1
            old -= mark in " \r-"
            new -= mark in " \r+"


class _Head:
    """What the lines before the first hunk say of one file."""

    def __init__(self, pair: str | None) -> None:
        self.before, self.after = (None, None) if pair is None else _same_name(pair)
        self.named = False

    def extend(self, line: str) -> None:
        """Take in one of Git's extended header lines."""
        if line.startswith("rename from "):
            self.before = _unquoted(line.removeprefix("rename from "))
        elif line.startswith(("rename to ", "copy to ")):
            self.after = _unquoted(line.split(" to ", 1)[1])
        elif line.startswith("copy from ") or line.startswith("new file mode "):
            self.before = None
        elif line.startswith("deleted file mode "):
            self.after = None

    def names(self, old: str, new: str) -> None:
        """Take in the names of the lines ``---`` and ``+++``; what Git said before them is surer."""
        self.named = True
        known = self.before is not None or self.after is not None
        before, after = _plain_name(old), _plain_name(new)
        if not known:
            self.before, self.after = _without_prefixes(before, after)
        if before == _NOWHERE:
            self.before = None
        if after == _NOWHERE:
            self.after = None


def _finished(head: _Head | None) -> Iterator[Change]:
    if head is not None and (head.before or head.after):
        yield Change(head.before or None, head.after or None)


def _same_name(pair: str) -> tuple[str | None, str | None]:
    """The name that ``a/NAME b/NAME`` says twice; no names where the two differ, as for renamed files."""
    if quoted := _QUOTED.match(pair):
        old, new = quoted.group(), pair[quoted.end() + 1 :]
    else:
        middle = len(pair) // 2  # the name itself may hold blanks
        old, new = pair[:middle], pair[middle + 1 :]
    before, after = _without_prefixes(_unquoted(old), _unquoted(new))
    return (before, after) if before == after else (None, None)


def _without_prefixes(before: str, after: str) -> tuple[str, str]:
    """Both names without Git's ``a/`` and ``b/``, unless the diff was made without them."""
    if before.startswith("a/") and after.startswith("b/"):
        return before[2:], after[2:]
    if before.startswith("a/") and after == _NOWHERE:
        return before[2:], after
    if after.startswith("b/") and before == _NOWHERE:
        return before, after[2:]
    return before, after


def _plain_name(text: str) -> str:
    """The name on a ``---`` or ``+++`` line: in Git's quotes, or all before a tab; a date may follow that."""
    return _unquoted(text.rstrip()) if text.startswith('"') else text.partition("\t")[0]


def _unquoted(name: str) -> str:
    """A name out of Git's quotes, where it is in any."""
    if not _QUOTED.fullmatch(name):
        return name
    raw = name[1:-1].encode("utf-8", "surrogatepass")
    return _ESCAPE.sub(_meant, raw).decode("utf-8", "surrogateescape")


def _meant(escape: re.Match[bytes]) -> bytes:
    code = escape[1]
    return bytes([int(code, 8) & 0xFF]) if code.isdigit() else _ESCAPED.get(code, code)
