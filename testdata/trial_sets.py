"""Make the embedded task sets of the suite ``trial``: the same bytes on every machine.

    python testdata/trial_sets.py embedded OUT.json         the default set, from samples of the embedded release
    python testdata/trial_sets.py history DIR               the Git history that the unseen set is generated from
    python testdata/trial_sets.py fixture DIR               the fixture whose issues are already fixed

The history is fed to ``pytest-retrieval trial generate``; see ``testdata/trial/README.md``.
"""

# ruff: noqa: E501 - files and questions are written as they are
from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

RELEASE = Path(__file__).parent / "release" / "benchmark"
PER_TASK = {"code2test": 2, "edit2ripple": 1, "trace2code": 1}
REPORT = "Report the repository-relative path of each as one claim of kind {kind}."

# Facts that the texts of the repositories state, and issues that their code has already dealt with.
ANSWERS = {
    "dockyard": ("How many requests a minute may one client send if the operator sets nothing?", "120"),
    "inkwell": ("After how many characters does a message cost a second coin of the flood guard?", "4096"),
    "sluice": ("How much may the spill queue hold on disk if the configuration does not say?", "256MiB"),
}
CONTROLS = {
    "dockyard": (
        "internal/api/pagination.go",
        "Lists are sent whole when somebody asks for 100000 rows\n\nOne client asks for a page of a hundred "
        "thousand rows and gets it. An amount above 500 must be taken for 500.",
    ),
    "inkwell": (
        "packages/server/src/gateway.ts",
        "Anonymous browsers stay connected\n\nWhoever has not signed in must be hung up on with code 4401 before "
        "anything is read from the socket.",
    ),
    "sluice": (
        "crates/sluice-core/src/retry.rs",
        "Waits between attempts grow for ever\n\nAfter a weekend without network the next attempt was days away. "
        "The wait must never exceed the configured maximum.",
    ),
}


def rows(name: str) -> Iterator[dict[str, Any]]:
    """The first samples of each task, in the order of the release."""
    left = dict(PER_TASK)
    lines = (RELEASE / f"embedded_{name}" / "samples.jsonl").read_text(encoding="utf-8").splitlines()
    for row in map(json.loads, lines):
        if left.get(row["task_type"], 0):
            left[row["task_type"]] -= 1
            yield row


def is_test(path: str) -> bool:
    parts = path.split("/")
    return bool({"test", "tests"} & set(parts)) or path.endswith(("_test.go", ".test.ts", ".test.tsx"))


def by_kind(paths: list[str], kind: str) -> dict[str, list[str]]:
    """Paths by the kind of claim: all of one ``kind``, or told apart."""
    if kind:
        return {kind: sorted(paths)}
    tests = sorted(filter(is_test, paths))
    others = sorted(set(paths) - set(tests))
    return {name: found for name, found in (("source-file", others), ("test-file", tests)) if found}


def task(row: dict[str, Any]) -> dict[str, Any]:
    """One sample as a task."""
    query, gold = row["query"], row["gold"]
    told = {
        "id": f"{row['task_type']}:{row['id'][:12]}",
        "repo": row["repo"],
        "base_commit": row["base_commit"],
    }
    if row["task_type"] == "code2test":
        text = f"Which test file(s) cover the change below?\n\n{query['pr_title']}\n\n{query['pr_body']}"
        kind, subject, files = "test-file", query["changed_file"], gold["related_tests"]
    elif row["task_type"] == "edit2ripple":
        text = (
            f"Which other file(s) must change with {query['anchor_file']}?\n\nIntent:\n{query['intent']}\n\n"
            f"Diff of the changed file:\n{query['anchor_diff']}"
        )
        kind, subject, files = "", query["anchor_file"], gold["files"]
    else:
        head = query.get("title", "")
        text = f"Which source file(s) hold the cause of this failure?\n\n{head}\n\n{query['trace']}"
        kind, subject, files = "source-file", "", gold["root_cause_files"]
    told |= {"kind": "change", "changed_file": subject} if subject else {"kind": "retrieval"}
    report = REPORT.format(kind=kind or "test-file for a test, of kind source-file otherwise")
    return {**told, "text": f"{text.strip()}\n\n{report}", "gold": by_kind(files, kind)}


def written(name: str, where: dict[str, str]) -> Iterator[dict[str, Any]]:
    """The tasks of a repository that no sample has: a question for a fact, and a control."""
    question, fact = ANSWERS[name]
    yield {
        "id": f"fact:{name}",
        **where,
        "kind": "retrieval",
        "text": f"{question}\n\nReport the number, with its unit if it has one, as one claim of kind answer.",
        "gold": {"answer": [fact]},
    }
    subject, issue = CONTROLS[name]
    text = f"Which file(s) must change, beside {subject}, to mend this issue? Report none if it is mended."
    yield {
        "id": f"fixed:{name}",
        **where,
        "kind": "change",
        "changed_file": subject,
        "text": f"{text}\n\n{issue}",
        "control": "already-fixed",
    }


def embedded() -> dict[str, Any]:
    tasks: list[dict[str, Any]] = []
    for name in ("dockyard", "inkwell", "sluice"):
        made = [task(row) for row in rows(name)]
        tasks += [*made, *written(name, {key: made[0][key] for key in ("repo", "base_commit")})]
    return {
        "name": "embedded",
        "partition": "embedded",
        "source": "hand-written samples and questions over the embedded repositories",
        "tasks": tasks,
    }


QUAY = {
    "quay/slots.py": "LONGEST = 40\n\n\ndef fits(length):\n    return 0 < length <= LONGEST\n",
    "quay/names.py": "def clean(name):\n    return name.strip()\n",
    "tests/test_slots.py": "from quay.slots import fits\n\n\ndef test_too_long():\n    assert not fits(41)\n",
    "tests/test_names.py": "from quay.names import clean\n\n\ndef test_blanks():\n    assert clean(' a ') == 'a'\n",
}


def fixture(folder: Path) -> None:
    """A tree, an issue that it has dealt with, and an ordinary question beside it."""
    commit = "f" * 40
    place = folder / "corpus" / "acme__quay" / f"{commit}.chunks.jsonl"
    place.parent.mkdir(parents=True, exist_ok=True)
    own = {"base_commit": commit, "kind": "file", "repo": "acme/quay"}
    lines = [json.dumps({**own, "path": path, "text": text}, sort_keys=True) for path, text in QUAY.items()]
    place.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    where = {"kind": "change", "repo": "acme/quay", "base_commit": commit, "changed_file": "quay/slots.py"}
    control = {
        "id": "fixed:length",
        **where,
        "text": "A ship of 60 m is let into a slot of 40 m. Which file(s) must change to refuse her?",
        "control": "already-fixed",
    }
    plain = {
        "id": "tests:length",
        **where,
        "text": "Which test file covers the length of slots?",
        "gold": {"test-file": ["tests/test_slots.py"]},
    }
    source = "a synthetic fixture; never evidence of anything"
    dump(folder / "tasks.json", {"partition": "fixture", "source": source, "tasks": [control, plain]})


COMMITS: tuple[tuple[str, dict[str, str]], ...] = (
    (
        "Read a gauge",
        {
            "README.md": "# gauge\n\nReads tide gauges.\n",
            "pyproject.toml": '[project]\nname = "gauge"\n',
            "gauge/__init__.py": "",
            "gauge/reader.py": "def read(line):\n    stamp, level = line.split()\n    return stamp, float(level)\n",
            "gauge/test_reader.py": "from gauge.reader import read\n\n\ndef test_read():\n    assert read('t 1')[1] == 1\n",
        },
    ),
    (
        "Report levels in feet\n\nThe harbour office wants both units.",
        {
            "gauge/units.py": "FEET = 3.28084\n\n\ndef to_feet(metres):\n    return metres * FEET\n",
            "gauge/reader.py": (
                "from gauge.units import to_feet\n\n\ndef read(line):\n    stamp, level = line.split()\n"
                "    return stamp, float(level)\n\n\ndef read_feet(line):\n    stamp, level = read(line)\n"
                "    return stamp, to_feet(level)\n"
            ),
            "README.md": "# gauge\n\nReads tide gauges, in metres and feet.\n",
        },
    ),
    (
        "Say how to install it",
        {"README.md": "# gauge\n\nReads tide gauges, in metres and feet.\n\npip install gauge\n"},
    ),
    (
        "Keep the last levels\n\nA reading that is an hour old must not be shown as the present one.",
        {
            "gauge/memory.py": "def fresh(readings, now, age=3600):\n    return [r for r in readings if now - r[0] <= age]\n",
            "gauge/test_memory.py": "from gauge.memory import fresh\n\n\ndef test_old():\n    assert not fresh([(0, 1)], 4000)\n",
            "gauge/units.py": (
                'FEET = 3.28084\n\n\ndef to_feet(metres):\n    """Survey feet are not meant."""\n    return metres * FEET\n'
            ),
        },
    ),
    (
        "Alarm above a mark",
        {
            "gauge/alarm.py": "def is_high(level, mark):\n    return level > mark\n",
            "gauge/memory.py": (
                "from gauge.alarm import is_high\n\n\ndef fresh(readings, now, age=3600):\n"
                "    return [r for r in readings if now - r[0] <= age]\n\n\ndef alarms(readings, now, mark):\n"
                "    return [r for r in fresh(readings, now) if is_high(r[1], mark)]\n"
            ),
            "gauge/with space.txt": "a name with a blank\n",
        },
    ),
    (
        "Lines with a comment are read",
        {
            "gauge/reader.py": (
                "from gauge.units import to_feet\n\n\ndef read(line):\n    stamp, level = line.partition('#')[0].split()\n"
                "    return stamp, float(level)\n\n\ndef read_feet(line):\n    stamp, level = read(line)\n"
                "    return stamp, to_feet(level)\n"
            ),
            "gauge/test_reader.py": (
                "from gauge.reader import read\n\n\ndef test_read():\n    assert read('t 1')[1] == 1\n\n\n"
                "def test_comment():\n    assert read('t 2 # calm')[1] == 2\n"
            ),
        },
    ),
)


def history(folder: Path) -> None:
    """Commit after commit, a day apart, with a fixed author."""
    folder.mkdir(parents=True)
    quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    who = {f"GIT_{role}_{part}": text for role in ("AUTHOR", "COMMITTER")
           for part, text in (("NAME", "tidepool"), ("EMAIL", "tidepool@localhost"))}  # fmt: skip

    def git(*words: str, when: str = "") -> None:
        dates = {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when} if when else {}
        environment = {**os.environ, **quiet, **who, **dates}
        subprocess.run(["git", *words], cwd=folder, env=environment, check=True, timeout=60)

    git("init", "--quiet", "--initial-branch=main", "--object-format=sha1")
    for day, (message, files) in enumerate(COMMITS, start=1):
        for name, text in files.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        git("add", "-A")
        git("commit", "--quiet", "-m", message, when=f"2026-10-{day:02}T09:00:00Z")


def dump(path: Path, value: dict[str, Any]) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def main(words: list[str]) -> None:
    verb, place = words
    if verb == "embedded":
        dump(Path(place), embedded())
    elif verb == "fixture":
        fixture(Path(place))
    else:
        history(Path(place))


if __name__ == "__main__":
    main(sys.argv[1:])
