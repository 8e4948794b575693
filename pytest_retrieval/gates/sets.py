"""Ready sets of gates, named with their arms: ``kill-criterion(A, B)``."""

from __future__ import annotations

import re

from pytest_retrieval.errors import GateError, closest
from pytest_retrieval.gates.grammar import FUNCTIONS, Condition, parse

# Stated before any run of the tool that this project replaces: an answer where there is none is a confident
# wrong answer, so A must be wrong in that way less often than B, at a success that is not inferior.
SETS = {
    "kill-criterion": (
        "{0} - {1} @ stratum:natural_no_gold: selective_success.low > 0",
        "{0} - {1}: hit@k.low >= -0.05",
    ),
}
_CALL = re.compile(r"\s*([A-Za-z][A-Za-z_-]*)\s*\((.*)", re.DOTALL)
_ARMS = re.compile(r"\s*([^,()]+?)\s*,\s*([^,()]+?)\s*\)\s*")


def expand(text: str) -> tuple[Condition, ...]:
    """The gates that ``text`` stands for: those of a set, or the one that it is.

    Raises:
        GateError: it is neither; one line.
    """
    call = _CALL.fullmatch(text)
    if call is None or call[1] in FUNCTIONS:
        return (parse(text),)
    name = call[1]
    if name not in SETS:
        known = (*FUNCTIONS, *SETS)
        raise GateError(f"gate {text!r}: no gate {name!r}{closest(name, known)} (known: {', '.join(known)})")
    arms = _ARMS.fullmatch(call[2])
    if arms is None or arms[1] == arms[2]:
        raise GateError(f"gate {text!r}: it takes two arms: {name}(ARM, ARM)")
    return tuple(parse(template.format(*arms.groups())) for template in SETS[name])
