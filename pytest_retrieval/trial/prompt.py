"""What an agent is asked: one skeleton per access mode, and nothing but the context differs between arms."""

from __future__ import annotations

import hashlib
import re

READ_ONLY, NO_ACCESS, TOOLS = "read-only", "none", "tools"
ACCESS = (READ_ONLY, NO_ACCESS, TOOLS)

_HOLE = re.compile(r"\{\{(TASK|ARM|PROLOGUE|CONTEXT)\}\}")
_EMPTY = "(none)"
_EXAMPLE = (
    '{"claims":[{"kind":"test-file|source-file|answer","value":"...",'
    '"confidence":"certain|likely|unsure","evidence":"..."}]}'
)

_OPENING = {
    READ_ONLY: """\
You answer one question about a source repository. The repository is your current directory, at exactly the
revision that the task is about. You may read its files. Do not modify anything: no edit, no new file, no
commit.
""",
    NO_ACCESS: """\
You answer one question about a source repository. The repository is not available: your current directory is
empty. Do not run any command and do not open any file. All that you know of the repository must come from the
TASK and CONTEXT sections below.
""",
    TOOLS: """\
You answer one question about a source repository. The repository is not available as files: your current
directory is empty. Do not run any command and do not open any file. All that you know of the repository must
come from the TASK section below and from the retrieval tools that the CONTEXT section names, if it names any.
""",
}
_VERIFIED = {
    READ_ONLY: "you have verified it against the repository or the context",
    NO_ACCESS: "the task text or the context establishes it",
    TOOLS: "the task text or a result of a tool establishes it",
}
_EVIDENCE = {
    READ_ONLY: "the id of a packet row, the path of a listed hit, or the path of a file that you opened",
    NO_ACCESS: "the id of a packet row or the path of a listed hit of the context",
    TOOLS: "the id or path of a row that a tool returned, or the path of a file that a tool showed you",
}
_BODY = """\

TASK
{{TASK}}

CONTEXT (arm: {{ARM}})
{{PROLOGUE}}

{{CONTEXT}}

ANSWER FORMAT
You may write prose. The reply must end with exactly one fenced json block of this form:

```json
%(example)s
```

- kind: `test-file` for the path of a test, `source-file` for the path of any other file, `answer` for an
  answer that is no path.
- value: the exact repository-relative path, or the text of the answer. A path that the task presents as its
  own subject must not be claimed.
- confidence: `certain` only if %(verified)s; `likely` if you believe it without that; `unsure` for a guess.
- evidence: %(evidence)s; else `none`.

A `certain` claim that is false counts against you; a claim that you leave out does not. If no answer is
possible, end with an empty list: {"claims":[]}
"""

#: What is said of a context that an arm of this project produced, however it ranks.
RANKED = """\
Each line is a file that a retrieval tool ranked for this task, as `rank=N PATH`, rank 1 first. These are
ranked hits, not verified evidence: a high rank says that the tool found the file similar, not that it answers
the task. Cite a hit by its path."""

_TOOLS_PROLOGUE = """\
A Model Context Protocol server named `retrieval` is connected. Its tool `search` takes a query in words and
returns what the retrieval tool finds in the repository for it; its tool `read` returns lines of one file by
its path. Use them as often as you need. What `search` returns is of this kind:
"""
_NO_TOOLS = "No retrieval tool is connected. Every claim rests on the task text alone."


def skeleton(access: str) -> str:
    """The prompt of an access mode with its four holes: task text, arm, prologue and context."""
    body = _BODY % {"example": _EXAMPLE, "verified": _VERIFIED[access], "evidence": _EVIDENCE[access]}
    return _OPENING[access] + body


def skeleton_sha256(access: str) -> str:
    """The SHA-256 of the unfilled skeleton."""
    return sha256(skeleton(access))


def prologue(access: str, own: str, *, has_tool: bool) -> str:
    """What is said before the context, given what the arm says of its ``own``; fixed for an arm.

    With tools there is no context: what the arm says is said of the results of a search instead.
    """
    if access != TOOLS:
        return own
    return _TOOLS_PROLOGUE + own if has_tool else _NO_TOOLS


def fill(access: str, *, text: str, arm: str, prologue: str, context: str) -> str:
    """The prompt; nothing in what fills a hole is read as another hole."""
    values = {"TASK": text, "ARM": arm, "PROLOGUE": prologue, "CONTEXT": context or _EMPTY}
    return _HOLE.sub(lambda hole: values[hole[1]], skeleton(access))


def sha256(text: str) -> str:
    """The SHA-256 of a text's UTF-8."""
    return hashlib.sha256(encoded(text)).hexdigest()


def encoded(text: str) -> bytes:
    """The bytes of a prompt as an agent gets them."""
    return text.encode("utf-8", "replace")
