"""Elements by their local names, and what they say: text with the markup that display text can use."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ingest.readers.records import RawRecord

Element = Any  # lxml has no types
Context = dict[str, Any]

SPACE = re.compile(r"[ \t\r\n]+")
SHOWN = frozenset({"i", "b", "em", "strong", "sub", "sup", "u", "italic", "bold", "sc", "p", "title", "br"})
APART = frozenset(
    {"sec", "list", "list-item", "item", "li", "disp-formula", "def-list", "def-item", "label", "AbstractText"}
)
TEX_BODY = re.compile(r"\\begin\{document\}(.*?)\\end\{document\}", re.DOTALL)
ALTERNATIVES = ("tex-math", "math")  # the first of these is shown where the same maths stands in several notations


@dataclass(frozen=True)
class Shape:
    """One kind of XML list: which elements hold records, and how they are read.

    `contexts` are elements around the records (a volume) that say something about those that follow. Where the names of
    `units` are everyday words, `roots` says in which documents they count.
    """

    label: str
    units: frozenset[str]
    read: Callable[[Element, Context], Iterable[RawRecord]]
    contexts: frozenset[str] = frozenset()
    enter: Callable[[Element], Context] = lambda _: {}
    roots: frozenset[str] = frozenset()


def local(element: Element) -> str:
    """The name without namespace or prefix; empty for comments and the like."""
    tag = element.tag
    return tag.rpartition("}")[2].rpartition(":")[2] if isinstance(tag, str) else ""


def every(element: Element, path: str) -> Iterator[Element]:
    """The elements down a path of local names: `Article/Journal/Title`."""
    name, _, rest = path.partition("/")
    for child in element:
        if local(child) == name:
            if rest:
                yield from every(child, rest)
            else:
                yield child


def first(element: Element, *paths: str) -> Element | None:
    """The first element down the first path that leads anywhere."""
    return next((found for path in paths for found in every(element, path)), None)


def said(element: Element, *paths: str) -> str:
    """The marked-up text of the first element down these paths that has any."""
    return next((text for path in paths for found in every(element, path) if (text := marked(found))), "")


def attribute(element: Element, name: str) -> str:
    """The value of an attribute, whatever its namespace."""
    return next((v for k, v in element.attrib.items() if k.rpartition("}")[2].rpartition(":")[2] == name), "")


def marked(element: Element | None) -> str:
    """The text of an element. Emphasis, indices, paragraphs and MathML stay as tags, TeX as `$…$`, other tags go."""
    return "" if element is None else SPACE.sub(" ", _inside(element)).strip()


def _inside(element: Element) -> str:
    parts = [element.text or ""]
    for child in element:
        parts += (_one(child), child.tail or "")
    return "".join(parts)


def _one(element: Element) -> str:
    name = local(element)
    if not name:
        return ""
    if name in {"math", "tex-math"}:
        return _math(element) if name == "math" else _tex(element)
    if name == "alternatives":
        return next((_one(e) for wanted in ALTERNATIVES for e in every(element, wanted)), "")
    inside = _inside(element)
    if name in SHOWN:
        return f"<{name}>{inside}</{name}>" if inside else f"<{name}/>"
    return f" {inside} " if name in APART else inside


def _math(element: Element) -> str:
    """MathML as markup without namespaces."""
    if not local(element):
        return ""
    name = local(element)
    attributes = "".join(f' {k.rpartition("}")[2]}="{html.escape(v)}"' for k, v in element.attrib.items())
    parts = [html.escape(element.text or "", quote=False)]
    for child in element:
        parts += (_math(child), html.escape(child.tail or "", quote=False))
    return f"<{name}{attributes}>{''.join(parts)}</{name}>"


def _tex(element: Element) -> str:
    source = "".join(element.itertext())
    body = TEX_BODY.search(source)
    maths = (body[1] if body else source).strip()
    return maths if maths.startswith(("$", "\\(", "\\[", "\\begin")) else f"${maths}$" if maths else ""
