"""HTML and SVG as text: whatever is put into an element is escaped, and only elements are markup."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


Child = str | int | None | Iterable["Child"]

_VOID = frozenset({"br", "circle", "input", "line", "meta", "path", "polyline", "rect", "wbr"})


def tag(name: str, *children: Child, **attributes: str | float | bool | None) -> Markup:
    """An element; ``class_`` is the attribute ``class``, ``aria_label`` is ``aria-label``.

    A child that is no Markup is text. None and False leave an attribute out, True has no value.
    """
    words = [name]
    for key, value in attributes.items():
        attribute = key.rstrip("_").replace("_", "-")
        if value is True:
            words.append(attribute)
        elif value is not None and value is not False:
            shown = compact(value) if isinstance(value, float) else str(value)
            words.append(f'{attribute}="{escape(visible(shown))}"')
    opening = " ".join(words)
    if name in _VOID and not children:
        return Markup(
            f"<{opening}/>" if name in ("circle", "line", "path", "polyline", "rect") else f"<{opening}>"
        )
    return Markup(f"<{opening}>{join(children)}</{name}>")


def unseen(text: str) -> Markup:
    """Words for those who do not see the page."""
    return tag("span", text, class_="unseen")


def join(children: Iterable[Child]) -> Markup:
    """All of ``children`` behind one another."""
    return Markup("".join(map(_child, children)))


def compact(number: float) -> str:
    """A coordinate: at most two decimals, and none that say nothing."""
    return f"{number:.2f}".rstrip("0").rstrip(".")


def visible(text: str) -> str:
    """``text`` with what cannot be seen, or would reorder what can, written as an escape."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(character if _shows(character) else repr(character)[1:-1] for character in text)


def _shows(character: str) -> bool:
    return character.isprintable() or character == "\n"


def _child(child: Child) -> str:
    if child is None:
        return ""
    if isinstance(child, Markup):
        return child
    if isinstance(child, str):
        return escape(visible(child), quote=False)
    if isinstance(child, int):
        return str(child)
    return join(child)
