"""The arms that a user can name, and the grammar of naming them: ``[LABEL=]SPEC``, separated by commas.

Importing this module and parsing names imports no numpy: an arm's own module waits until the arm is made.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import chain

from pytest_retrieval.arms.base import Arm
from pytest_retrieval.arms.objects import Factory, factory_of, load_object
from pytest_retrieval.errors import UsageError, closest

BUILT_IN = {
    "grep": "pytest_retrieval.arms.grep:Grep",
    "grep-ident": "pytest_retrieval.arms.grep_ident:GrepIdent",
    "bm25:all": "pytest_retrieval.arms.bm25:BM25All",
    "bm25:ident": "pytest_retrieval.arms.bm25:BM25Ident",
}
ALIASES = {"bm25": ("bm25:all", "bm25:ident")}

#: What REST means in ``PREFIX:REST``: a label (None for all that was typed) and what makes the arm.
Prefix = Callable[[str], tuple[str | None, Factory]]

#: What only an agent can be given: no arm of a bench, for none of them ranks files by itself.
CONTEXTS = ("none", "aider")

_LABEL = re.compile(r"[A-Za-z0-9_.+-]+")
_LABELLED = re.compile(r"([^:/(=]*)=(.*)", re.DOTALL)
_OBJECT = re.compile(r"([^\W\d]\w*(?:\.[^\W\d]\w*)*):([^\W\d]\w*(?:\.[^\W\d]\w*)*)")


@dataclass(frozen=True, slots=True)
class ArmSpec:
    """An arm as named: the label that tables, gates and reports use, what was typed, and what makes it."""

    label: str
    spec: str
    create: Factory


def parse_arms(
    texts: Sequence[str],
    extra: Mapping[str, Factory],
    prefixes: Mapping[str, Prefix] | None = None,
    *,
    provided: Mapping[str, Factory] | None = None,
    withheld: Mapping[str, str] | None = None,
) -> tuple[ArmSpec, ...]:
    """The arms that ``texts`` name, in order; the lexical and the ``provided`` ones where there is no text.

    ``extra`` are a user's arms by name. ``prefixes`` say what ``PREFIX:REST`` means. ``provided``
    are the arms of a program that the run was given; ``withheld`` are names that want such a program first,
    with what to do about it.

    Raises:
        UsageError: a name is unknown, malformed, taken or withheld, two arms have one label, or an object
            cannot be imported or is no arm.
    """
    built_in = {name: _built_in(where) for name, where in BUILT_IN.items()} | dict(provided or {})
    names = _Names(built_in, extra, prefixes or {}, withheld or {})
    parts = [part for text in texts for part in _split(text)] if texts else list(built_in)
    if not parts:
        raise UsageError(f"no arm is named in {', '.join(map(repr, texts))}; known arms: {names.listed}")
    specs = tuple(chain.from_iterable(map(names.parse, parts)))
    labels = [spec.label for spec in specs]
    for spec in specs:
        if labels.count(spec.label) > 1:
            raise UsageError(f"two arms have the label {spec.label!r}; name one of them: NAME={spec.spec}")
    return specs


def without_contexts(texts: Sequence[str]) -> tuple[list[str], list[str]]:
    """The arms in ``texts``, and the labels of what is named beside them that only an agent can be given."""
    arms, labels = [], []
    for part in (part for text in texts for part in _split(text)):
        labelled = _LABELLED.fullmatch(part)
        label, spec = (part, part) if labelled is None else (text.strip() for text in labelled.groups())
        if spec in CONTEXTS:
            labels.append(label)
        else:
            arms.append(part)
    return arms, labels


def import_built_in(specs: Sequence[ArmSpec]) -> None:
    """Import the modules of the built-in arms among ``specs``, which else waits until the first is made."""
    for spec in specs:
        if spec.spec in BUILT_IN:
            import_module(BUILT_IN[spec.spec].partition(":")[0])


class _Names:
    """What names mean in this run."""

    def __init__(
        self,
        built_in: Mapping[str, Factory],
        extra: Mapping[str, Factory],
        prefixes: Mapping[str, Prefix],
        withheld: Mapping[str, str],
    ) -> None:
        self._built_in = built_in
        self._extra = extra
        self._prefixes = prefixes
        self._withheld = withheld
        self._known = [*built_in, *ALIASES, *extra]
        self.listed = ", ".join([*sorted(self._known), *(f"{prefix}:…" for prefix in sorted(prefixes))])
        self._for_agents = [name for name in CONTEXTS if name not in built_in and name not in withheld]
        for name in extra:
            if name in built_in or name in ALIASES:
                raise UsageError(f"arm {name!r} of a conftest.py has a built-in arm's name; rename it")
            _check_label(name, f"arm {name!r} of a conftest.py")

    def parse(self, text: str) -> list[ArmSpec]:
        """The arms of one ``[LABEL=]SPEC``: several only for an alias."""
        labelled = _LABELLED.fullmatch(text)
        if labelled is None:
            return self._resolve(text)
        label, spec = (part.strip() for part in labelled.groups())
        _check_label(label, f"arm {text!r}")
        arms = self._resolve(spec)
        if len(arms) > 1:
            raise UsageError(f"arm {text!r}: {spec} names {len(arms)} arms; label each: {_example(arms)}")
        return [ArmSpec(label, spec, arms[0].create)]

    def _resolve(self, spec: str) -> list[ArmSpec]:
        if spec in ALIASES:
            return [self._resolve(name)[0] for name in ALIASES[spec]]
        if spec in self._built_in:
            return [ArmSpec(spec, spec, self._built_in[spec])]
        if spec in self._extra:
            return [ArmSpec(spec, spec, factory_of(self._extra[spec], repr(spec)))]
        if spec in self._withheld:
            raise UsageError(f"arm {spec!r}: {self._withheld[spec]}")
        prefix, _, rest = spec.partition(":")
        if prefix in self._prefixes:
            label, create = self._prefixes[prefix](rest)
            return [ArmSpec(spec if label is None else label, spec, create)]
        return [self._object(spec)]

    def _object(self, spec: str) -> ArmSpec:
        named = _OBJECT.fullmatch(spec)
        if named is None:
            hint = f"; did you mean 'engine:{spec}'?" if spec.endswith(".json") else ""
            raise self._unknown(spec, hint)
        module, name = named.groups()
        try:
            target = load_object(module, name)
        except ModuleNotFoundError as error:
            hint = f" (and there is no module {error.name!r}: is its folder in pytest's `pythonpath`?)"
            raise self._unknown(spec, hint) from error
        label = getattr(target, "name", None)
        if not isinstance(label, str) or not _LABEL.fullmatch(label):
            label = name.rpartition(".")[2]
        _check_label(label, f"arm {spec!r}")
        return ArmSpec(label, spec, factory_of(target, spec))

    def _unknown(self, spec: str, hint: str = "") -> UsageError:
        near = closest(spec, [*self._known, *self._withheld, *self._for_agents])
        further = "".join(
            f"; {', '.join(name for name, why in self._withheld.items() if why == reason)}: {reason}"
            for reason in dict.fromkeys(self._withheld.values())
        )
        agents = f"; {', '.join(self._for_agents)}: for agents alone" if self._for_agents else ""
        return UsageError(
            f"unknown arm {spec!r}{near}{hint}; "
            f"known arms: {self.listed}, package.module:Object{further}{agents}"
        )


def _split(text: str) -> list[str]:
    """The parts of ``text`` between commas that are in no parentheses, without blanks and empty parts."""
    parts = [""]
    depth = 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
        if depth < 0:
            break
    if depth != 0:
        raise UsageError(f"arms {text!r}: the parentheses do not match")
    return [part.strip() for part in parts if part.strip()]


def _check_label(label: str, shown: str) -> None:
    if not _LABEL.fullmatch(label):
        raise UsageError(
            f"{shown}: the label {label!r} may hold only letters, digits and _ . + - (NAME=SPEC)"
        )


def _example(arms: Sequence[ArmSpec]) -> str:
    return ",".join(f"NAME{number}={arm.spec}" for number, arm in enumerate(arms, start=1))


def _built_in(where: str) -> Factory:
    module, _, name = where.partition(":")

    def create() -> Arm:
        arm: Arm = getattr(import_module(module), name)()
        return arm

    return create
