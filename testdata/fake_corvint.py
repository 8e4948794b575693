#!/usr/bin/env python3
"""A reference program that speaks what the Corvint arms ask: for tests, and for authors of real ones.

    fake_corvint.py --version
    fake_corvint.py --root COPY query --task TEXT [--limit K]
    fake_corvint.py --root COPY context --task TEXT [--limit K]
    fake_corvint.py --root COPY impact FILE [--limit K]
    fake_corvint.py --root COPY affected
    fake_corvint.py --root COPY index

It needs only the standard library and answers from the files of COPY alone: the same copy and question give
the same bytes. A refusal is exit status 2, nothing on standard output, and one line on standard error:
``{"code": CODE, "error": TEXT, "ok": false}``.

``query`` and ``context`` rank by how many distinct words of the task (three letters or more) the path or the
text of a file holds; ties by path; files without any are left out. ``query`` takes tasks of 2,000
characters, ``context`` of 32,000; a limit is 1 to 50. Nothing found is the state OUT_OF_SCOPE for ``query``
and NO_CANDIDATES for ``context``.
``impact`` ranks the files that name FILE's stem as a word, each after FILE itself. It refuses a suffix
outside ``.c .go .js .py .rs .ts`` and a file that is not there, and then, as the real program does, appends
to ``COPY/.corvint/self-observations.jsonl`` (which the ``.gitignore`` it writes beside it ignores).
``affected`` selects, for every dirty path of COPY, the files named like tests that name its stem. A path
of another suffix selects nothing and makes the scope UNKNOWN.
``index`` writes the store ``COPY/.git/corvint/index/words.json``. ``context`` reads it instead of the files,
and with CORVINT_BENCH_SNAPSHOT_TRACE=1 says so in one line of standard error:
``corvint-bench-snapshot: hit=true`` or ``hit=false``.

The environment variable FAKE_CORVINT makes it misbehave: a comma-separated list of switches, each for all
verbs or, as ``VERB:SWITCH``, for one (``version`` is the verb of ``--version``).

    exit=N          say "asked to fail" and leave with status N, without an answer
    said=TEXT       the diagnostics of exit=N (``%n`` is a line feed), or a further line before the trace line
    partial         print "part" before leaving with exit=N
    signal=N        die of signal N
    hang            never end; with "stubborn" also ignore the signal TERM
    grandchild      leave a process behind that holds standard output and sleeps; its number is appended to
                    the file that FAKE_CORVINT_PIDS names, as is this process's own under "hang"
    flood-stdout    print 9 MiB of blanks after the answer
    flood-stderr    print 70,000 two-byte characters to standard error before the answer
    empty           print nothing and succeed
    garbage         print "oops"
    junk-json       print an object that is no packet
    deep-json       print a list nested 100,000 deep
    non-utf8        print a packet whose first path is no UTF-8
    wrong-type      print a packet whose results are a number
    refuse          refuse, with the code unsupported-by-request
    refuse-text     refuse in one line of plain text
    out-of-scope    answer as usual, but with the state of nothing found
    withhold        (context) the verdict unsupported-conjunction, and one reserved row
    repeat          name every path twice, and an empty one first
    dirty           leave an untracked file junk.txt in COPY
    dirty-tracked   append a line to the first file of COPY
    dirty-changed   (affected) replace the dirty files by folders
    drop-changed    (affected) remove the dirty files
    recreate-store  (context) write the store when it is not there
    unequal         (context) answer in reverse order when the store is there
    index-dirty     (index) leave an untracked file junk.txt in COPY
    no-trace        no trace line
    trace=WORD      WORD in the trace line instead of true or false
    version=TEXT    what --version says

FAKE_CORVINT_LOG names a file that gets a line of JSON per call: its arguments, and whether it was traced.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

Answer = dict[str, object]

SUFFIXES = (".c", ".go", ".js", ".py", ".rs", ".ts")
TRACE = "CORVINT_BENCH_SNAPSHOT_TRACE"
BOUNDS = {"query": 2_000, "context": 32_000}
LIMIT = 50
SKIPPED = {".git", ".corvint", ".context-corvint"}


class RefusalError(Exception):
    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code


class Switches:
    """The switches of FAKE_CORVINT that hold for one verb."""

    def __init__(self, verb: str) -> None:
        self.values: dict[str, str] = {}
        for item in filter(None, os.environ.get("FAKE_CORVINT", "").split(",")):
            name, _, value = item.partition("=")
            scope, colon, rest = name.partition(":")
            if not colon:
                self.values[name] = value
            elif scope == verb:
                self.values[rest] = value

    def __contains__(self, name: str) -> bool:
        return name in self.values

    def get(self, name: str, default: str = "") -> str:
        return self.values.get(name, default)


def main(argv: list[str]) -> int:
    root, verb, rest = parse(argv)
    switches = Switches(verb)
    log(argv)
    misbehave(switches)
    if verb == "version":
        say(switches.get("version", "fake-corvint 1.0") + "\n")
        return 0
    try:
        answer = VERBS[verb](root, rest, switches)
    except RefusalError as refusal:
        complain(json.dumps({"code": refusal.code, "error": str(refusal), "ok": False}) + "\n")
        return 2
    leave_dirt(root, switches)
    say(spoiled(answer, switches))
    return 0


def parse(argv: list[str]) -> tuple[Path, str, list[str]]:
    if argv == ["--version"]:
        return Path(), "version", []
    if len(argv) < 3 or argv[0] != "--root" or argv[2] not in VERBS:
        complain("usage: fake_corvint.py --root COPY VERB ...\nsee the text at the top of the file\n")
        raise SystemExit(2)
    return Path(argv[1]), argv[2], argv[3:]


def options(verb: str, rest: list[str]) -> tuple[dict[str, str], list[str]]:
    """The option values of the rest of the command line, and its one positional word."""
    values, words = {"--limit": "10"}, []
    place = iter(rest)
    for word in place:
        if word in ("--task", "--limit"):
            values[word] = next(place, "")
        elif word.startswith("-"):
            raise RefusalError("invalid-arguments", f"unknown option {word}")
        else:
            words.append(word)
    if not values["--limit"].isdigit() or not 1 <= int(values["--limit"]) <= LIMIT:
        raise RefusalError("invalid-arguments", f"--limit must be 1 to {LIMIT}")
    bound = BOUNDS.get(verb)
    if bound is not None and not values.get("--task", "").strip():
        raise RefusalError("invalid-arguments", "--task is empty")
    if bound is not None and len(values["--task"]) > bound:
        raise RefusalError(f"unsupported-{verb}-task", f"the task has more than {bound:,} characters")
    return values, words


# --- the verbs


def query(root: Path, rest: list[str], switches: Switches) -> Answer:
    values, _ = options("query", rest)
    paths = ranking(words_of_copy(root), values["--task"])[: int(values["--limit"])]
    results = [{"evidence": [{"path": path}, {"path": "elsewhere"}]} for path in repeated(paths, switches)]
    nothing = not paths or "out-of-scope" in switches
    return {"context": {"state": "OUT_OF_SCOPE" if nothing else "READY", "results": results}}


def context(root: Path, rest: list[str], switches: Switches) -> Answer:
    values, _ = options("context", rest)
    hit = store_of(root).exists()
    if hit:
        known = json.loads(store_of(root).read_text("utf-8"))
    else:
        known = words_of_copy(root)
        if "recreate-store" in switches:
            index(root, [], switches)
    paths = ranking(known, values["--task"])[: int(values["--limit"])]
    if hit and "unequal" in switches:
        paths.reverse()
    trace(hit, switches)
    nothing = not paths or "out-of-scope" in switches
    verdict = "supported"
    if "withhold" in switches:
        paths, verdict = paths[:1], "unsupported-conjunction"
    return {
        "state": "NO_CANDIDATES" if nothing else "READY",
        "results": [{"id": path, "kind": "file"} for path in repeated(paths, switches)],
        "coverage": {"answerability": {"verdict": verdict}},
    }


def impact(root: Path, rest: list[str], switches: Switches) -> Answer:
    values, words = options("impact", rest)
    changed = words[0] if len(words) == 1 else ""
    if not changed:
        raise RefusalError("invalid-arguments", "impact takes one path")
    if not changed.endswith(SUFFIXES):
        observe(root, "unsupported-impact-path-suffix")
        raise RefusalError("unsupported-impact-path-suffix", "no reverse-import rule for this suffix")
    if not (root / changed).is_file():
        observe(root, "unsupported-impact-path")
        raise RefusalError("unsupported-impact-path", "the path is not tracked")
    paths = naming(root, changed)[: int(values["--limit"])]
    results = [{"evidence": [{"path": changed}, {"path": path}]} for path in repeated(paths, switches)]
    state = "OUT_OF_SCOPE" if "out-of-scope" in switches else "READY"
    return {"context": {"state": state, "results": results}}


def affected(root: Path, rest: list[str], switches: Switches) -> Answer:
    options("affected", rest)
    selected, unknowns = [], []
    for path in dirty_paths(root):
        if not path.endswith(SUFFIXES):
            unknowns.append({"path": path, "reason": "UNOWNED_DIRTY_PATH"})
            continue
        tests = [named for named in [path, *naming(root, path)] if "test" in named]
        selected.append({"unit": path.rpartition("/")[0], "tests": repeated(tests, switches)})
        meddle(root / path, switches)
    return {
        "plan": {"scope": "UNKNOWN" if unknowns else "BOUNDED", "selected": selected, "unknowns": unknowns}
    }


def index(root: Path, rest: list[str], switches: Switches) -> Answer:
    store_of(root).parent.mkdir(parents=True, exist_ok=True)
    write(store_of(root), json.dumps(words_of_copy(root)))
    if "index-dirty" in switches:
        write(root / "junk.txt", "junk\n")
    return {"ok": True}


VERBS = {"query": query, "context": context, "impact": impact, "affected": affected, "index": index}


# --- what the verbs know of the copy


def store_of(root: Path) -> Path:
    return root / ".git" / "corvint" / "index" / "words.json"


def files(root: Path) -> list[str]:
    found: list[str] = []
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(set(folders) - SKIPPED)
        found += [(Path(folder) / name).relative_to(root).as_posix() for name in names]
    return sorted(found)


def words(text: str) -> set[str]:
    return {
        word for word in "".join(c if c.isalnum() else " " for c in text.lower()).split() if len(word) > 2
    }


def words_of_copy(root: Path) -> dict[str, list[str]]:
    known = {}
    for path in files(root):
        text = (root / path).read_text("utf-8", "replace")
        known[path] = sorted(words(path) | words(text))
    return known


def ranking(known: dict[str, list[str]], task: str) -> list[str]:
    wanted = words(task)
    scores = {path: len(wanted.intersection(held)) for path, held in known.items()}
    return sorted((path for path in scores if scores[path]), key=lambda path: (-scores[path], path))


def naming(root: Path, changed: str) -> list[str]:
    """The other files that hold the stem of ``changed`` as a word, by path."""
    stem = Path(changed).stem.lower()
    return [path for path, held in words_of_copy(root).items() if stem in held and path != changed]


def dirty_paths(root: Path) -> list[str]:
    import subprocess

    said = subprocess.run(
        ["git", "-C", root, "status", "--porcelain", "-z"], capture_output=True, check=True
    ).stdout.decode("utf-8", "surrogateescape")
    return [entry[3:] for entry in said.split("\0") if entry]


def observe(root: Path, code: str) -> None:
    folder = root / ".corvint"
    folder.mkdir(exist_ok=True)
    write(folder / ".gitignore", "/.gitignore\n/index/\n/self-observations.jsonl\n")
    line = json.dumps({"kind": "unsupported", "code": code, "queryIntent": "unknown"})
    write(folder / "self-observations.jsonl", line + "\n", "a")


# --- misbehaviour


def misbehave(switches: Switches) -> None:
    if "grandchild" in switches:
        leave_grandchild()
    if "hang" in switches:
        hang(switches)
    if "signal" in switches:
        os.kill(os.getpid(), int(switches.get("signal")))
    if "flood-stderr" in switches:
        complain("\N{LATIN SMALL LETTER E WITH ACUTE}" * 70_000)
    if "exit" in switches:
        if "partial" in switches:
            say("part")
        complain(switches.get("said", "asked to fail").replace("%n", "\n") + "\n")
        raise SystemExit(int(switches.get("exit")))
    if "refuse" in switches:
        leave_refusing(
            json.dumps({"code": "unsupported-by-request", "error": "asked to refuse", "ok": False})
        )
    if "refuse-text" in switches:
        leave_refusing("asked to refuse")


def leave_refusing(line: str) -> None:
    complain(line + "\n")
    raise SystemExit(2)


def hang(switches: Switches) -> None:
    if "stubborn" in switches:
        import signal

        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    note_pid(os.getpid())
    while True:
        time.sleep(60)


def leave_grandchild() -> None:
    child = os.fork()
    if child == 0:
        time.sleep(300)
        os._exit(0)
    note_pid(child)


def note_pid(pid: int) -> None:
    place = os.environ.get("FAKE_CORVINT_PIDS")
    if place:
        write(Path(place), f"{pid}\n", "a")


def leave_dirt(root: Path, switches: Switches) -> None:
    if "dirty-tracked" in switches:
        write(root / files(root)[0], "more\n", "a")
    if "dirty" in switches:
        write(root / "junk.txt", "junk\n")


def meddle(place: Path, switches: Switches) -> None:
    if "drop-changed" in switches or "dirty-changed" in switches:
        place.unlink(missing_ok=True)
    if "dirty-changed" in switches:
        place.mkdir()


def trace(hit: bool, switches: Switches) -> None:
    if "said" in switches:
        complain(switches.get("said").replace("%n", "\n") + "\n")
    if os.environ.get(TRACE) == "1" and "no-trace" not in switches:
        complain(f"corvint-bench-snapshot: hit={switches.get('trace', str(hit).lower())}\n")


def repeated(paths: list[str], switches: Switches) -> list[str]:
    return ["", *(path for path in paths for _ in range(2))] if "repeat" in switches else paths


def spoiled(answer: Answer, switches: Switches) -> str | bytes:
    """The bytes of the answer, or what a switch wants instead."""
    text = json.dumps(answer, sort_keys=True, ensure_ascii=False) + "\n"
    for name, instead in SPOILED.items():
        if name in switches:
            return instead
    if "flood-stdout" in switches:
        return text + " " * (9 << 20)
    return text


SPOILED = {
    "empty": "",
    "garbage": "oops\n",
    "junk-json": '{"hello": "world"}\n',
    "deep-json": "[" * 100_000 + "]" * 100_000,
    "non-utf8": b'{"state": "READY", "results": [{"id": "\xff.py"}],'
    b' "context": {"state": "READY", "results": [{"evidence": [{"path": "\xff.py"}]}]},'
    b' "plan": {"scope": "BOUNDED", "selected": [{"tests": ["\xff.py"]}]}}',
    "wrong-type": '{"results": 7, "context": {"results": 7}, "plan": {"selected": 7}}',
}


def write(path: Path, text: str, mode: str = "w") -> None:
    with path.open(mode, encoding="utf-8") as file:
        file.write(text)


def log(argv: list[str]) -> None:
    place = os.environ.get("FAKE_CORVINT_LOG")
    if place:
        write(Path(place), json.dumps({"argv": argv, "traced": os.environ.get(TRACE)}) + "\n", "a")


def say(answer: str | bytes) -> None:
    data = answer if isinstance(answer, bytes) else answer.encode("utf-8", "replace")
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def complain(text: str) -> None:
    sys.stderr.buffer.write(text.encode("utf-8", "surrogateescape"))
    sys.stderr.buffer.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
