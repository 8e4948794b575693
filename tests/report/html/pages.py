"""Made-up reports for pages, and pages taken apart again."""

from __future__ import annotations

import json
import random
import zlib
from base64 import b64decode
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

from pytest_retrieval.report.build import Report, build
from pytest_retrieval.report.html.page import page
from tests.report.samples import answer, detail, header, positive

HOSTILE = (
    "</script><script>window.hacked=1</script><!--<img src=x onerror=window.hacked=1>\"'&\u202eevil\x07.py"
)
_VOID = {"meta", "input", "br", "link", "wbr"}


@dataclass
class Page(HTMLParser):
    """A page as a parser sees it: elements by tag, texts, and what is wrong with its nesting."""

    source: str
    elements: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    texts: dict[str, list[str]] = field(default_factory=dict)
    open: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.source)
        self.close()
        self.faults += [f"{name} is not closed" for name in self.open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if len(dict(attrs)) < len(attrs):
            self.faults.append(f"{tag} has an attribute twice")
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"{tag} closes something else")

    def handle_data(self, data: str) -> None:
        self.texts.setdefault(self.open[-1] if self.open else "", []).append(data)

    def attributes(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def text(self) -> str:
        """What is shown, without style, scripts and data."""
        shown = (
            text for tag, texts in self.texts.items() if tag not in ("style", "script") for text in texts
        )
        return "\n".join(shown)

    @property
    def data(self) -> dict[str, Any]:
        """The samples as the page's script reads them."""
        block = self.source.partition('<script type="text/plain" id="data">')[2].partition("</script>")[0]
        found: dict[str, Any] = json.loads(zlib.decompress(b64decode(block)))
        return found


def page_of(report: Report) -> Page:
    return Page(b"".join(page(report.head, report.details())).decode())


def small(**fields: Any) -> Report:
    """Two arms over three samples: b finds all that a finds, and more of it."""
    rows = [
        (["a.c", "b.c"], ["x.c", "a.c"], ["a.c", "b.c"]),
        (["a.c"], [], ["y.c", "a.c"]),
        (["gone.c"], ["x.c"], ["y.c"]),
    ]
    details = []
    for row, (gold, of_a, of_b) in enumerate(rows):
        arms = {
            label: (answer(ranked=ranked, abstained=not ranked, wall_ms=wall), _measures(gold, ranked))
            for label, ranked, wall in (("a", of_a, 1.0), ("b", of_b, 10.0))
        }
        absent = ["gone.c"] if gold == ["gone.c"] else []
        ceiling = {"recall@5": 0.0 if absent else 1.0, "hit@k": 0.0 if absent else 1.0}
        details.append(detail(row, arms, gold=gold, gold_absent=absent, ceiling=ceiling))
    return build(header("a", "b", of=3, chosen=3, **fields), details)


def _measures(gold: list[str], ranked: list[str]) -> dict[str, float]:
    found = len(set(gold) & set(ranked)) / len(gold)
    return positive(found, float(found > 0), **{"recall@10": found, "mrr@k": found})


def hostile() -> Report:
    """Everything that may hold anybody's text holds a way out of HTML."""
    arms = {
        "a": (answer(ranked=[HOSTILE, "b.py"], state=HOSTILE, wall_ms=2.0), positive(1.0, 1.0)),
        "b": (answer(error=HOSTILE), positive(0.0, 0.0)),
    }
    explain = {
        "query": HOSTILE,
        "title": HOSTILE,
        "terms": 2,
        "negatives": [HOSTILE + "2"],
        "gold": {HOSTILE: {"bytes": 10, "holds": 1, "held": [HOSTILE], "lacking": ["</style>"]}},
    }
    details = [
        detail(
            row, arms, id=HOSTILE, repo=f"{HOSTILE}/{row}", task_type=HOSTILE, gold=[HOSTILE], explain=explain
        )
        for row in range(2)
    ]
    verdict = {
        "gate": HOSTILE,
        "status": "failed",
        "expected": ">= 1",
        "got": 0,
        "n": 1,
        "chosen": 2,
        "of": 2,
    }
    sources = [{"path": HOSTILE, "sha256": "ab" * 32, "rows": 2, "kept": 2}]
    head = header("a", "b", of=2, chosen=2, sources=sources, environment={HOSTILE: HOSTILE})
    return build(head, details).with_gates([verdict])


def large(samples: int, labels: int, seed: int = 7) -> Report:
    """As many samples and arms as asked for, with queries, negatives and reasons of missed files."""
    randomly = random.Random(seed)
    names = [f"arm{number}" for number in range(labels)]
    words = ["".join(randomly.choices("abcdefghijklmnop", k=randomly.randrange(3, 10))) for _ in range(4_000)]
    pools = [[_path(randomly, words) for _ in range(800)] for _ in range(12)]
    details = []
    for row in range(samples):
        pool = pools[row % 12]
        gold = randomly.sample(pool, randomly.randrange(1, 4))
        text = " ".join(randomly.choices(words, k=250))[:2_000]
        arms = {}
        for name in names:
            ranked = randomly.sample(pool, 20)
            found = sum(path in ranked for path in gold) / len(gold)
            told = answer(ranked=ranked, wall_ms=randomly.lognormvariate(1, 1), top_score=randomly.random())
            told["beyond"] = {"of": 800, "ranks": {path: 99 for path in gold if path not in ranked}}
            arms[name] = told, positive(found, float(found > 0), **{"recall@10": found, "mrr@k": found})
        held = {
            "bytes": 999,
            "holds": 40,
            "held": words[row : row + 40],
            "lacking": words[row + 40 : row + 80],
        }
        explain = {"query": text, "terms": 250, "negatives": pool[:3], "gold": dict.fromkeys(gold, held)}
        name = f"{randomly.getrandbits(128):032x}"
        details.append(detail(row, arms, id=name, repo=f"acme/r{row % 12}", gold=gold, explain=explain))
    return build(header(*names, of=samples, chosen=samples), details)


def _path(randomly: random.Random, words: list[str]) -> str:
    return "/".join(randomly.choices(words, k=4)) + f"_{randomly.randrange(99)}.py"
