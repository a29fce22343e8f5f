"""MathML to the LaTeX that stands between dollars. What the converter does not know gives its text."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any

from ingest.tags import TAG

DEEPEST = 60  # levels; deeper nesting is no formula that anybody reads
KEPT = frozenset({"open", "close", "separators", "mathvariant", "encoding"})
ATTRIBUTE = re.compile(r"([A-Za-z]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
SPECIAL = str.maketrans(
    {c: f"\\{c}" for c in "%#&_{}"}
    | {"\\": r"\backslash ", "$": "", "−": "-", "~": r"\sim ", "\u2061": "", "\u2062": ""}
)
_FUNCTIONS = (
    "arccos arcsin arctan arg cos cosh cot det dim exp gcd inf ker lim liminf limsup ln log max min sin sinh sup tan "
    "tanh Pr"
)
FUNCTIONS = frozenset(_FUNCTIONS.split())
ALPHABETS = {
    "bold": "mathbf", "bold-italic": "boldsymbol", "double-struck": "mathbb", "script": "mathcal",
    "fraktur": "mathfrak", "sans-serif": "mathsf", "monospace": "mathtt",
}  # fmt: skip
ACCENTS = {
    "→": "vec", "⃗": "vec", "¯": "bar", "‾": "overline", "\\_": "bar", "^": "hat", "ˆ": "hat", "\\sim": "tilde",
    "˜": "tilde", "˙": "dot", ".": "dot", "¨": "ddot",
}  # fmt: skip
LARGE = frozenset("∑∏∫⋃⋂∐⨁⨂") | {f"\\{name}" for name in ("lim", "limsup", "liminf", "max", "min", "sup", "inf", "arg")}
PLAIN = re.compile(r"-?\d[\d.,]*|\\text\{([^{}\\]*)\}")
ATOM = re.compile(r"\\[A-Za-z]+|\\?.", re.DOTALL)


def to_latex(source: str) -> str | None:
    """Return LaTeX for a `<math>` element, None when nothing in it can be read."""
    tree = _parsed(source)
    latex = _row(tree).strip() if tree is not None else ""
    return latex or None


def _parsed(source: str) -> Any:
    """The element tree. Markup is written anew first: bare names, bare `<` and `&` as text, no entities to expand."""
    from lxml import etree

    out: list[str] = []
    end = depth = 0
    for tag in TAG.finditer(source):
        out.append(html.escape(" ".join(html.unescape(source[end : tag.start()]).split())))
        end = tag.end()
        name = tag["name"].lower()
        if tag["end"]:
            depth -= 1
            out.append(f"</{name}>")
            continue
        depth += not tag["empty"]
        if depth > DEEPEST:
            return None
        kept = [(n.lower(), html.unescape(a or b)) for n, a, b in ATTRIBUTE.findall(tag["attrs"]) if n.lower() in KEPT]
        out.append(f"<{name}{''.join(f' {n}={_quoted(value)}' for n, value in dict(kept).items())}{tag['empty']}>")
    parser = etree.XMLParser(recover=True, resolve_entities=False, no_network=True, load_dtd=False)
    try:
        return etree.fromstring("".join(out), parser)
    except etree.XMLSyntaxError:
        return None


def _quoted(value: str) -> str:
    return f'"{html.escape(value)}"'


def _row(element: Any) -> str:
    return joined([_text(element.text), *(_latex(child) for child in element)])


def joined(parts: list[str]) -> str:
    """Join LaTeX so that no command runs into a letter behind it, and words stand apart."""
    out: list[str] = []
    for part in filter(None, parts):
        if out and (part.startswith(r"\text{") or out[-1].startswith(r"\text{")):
            out.append("\\ ")
        elif out and part[0].isalpha() and re.search(r"\\[A-Za-z]+$", out[-1][-20:]):
            out.append(" ")
        out.append(part)
    return "".join(out)


def _text(text: str | None) -> str:
    return (text or "").strip().translate(SPECIAL).strip()


def _latex(element: Any) -> str:
    if not isinstance(element.tag, str):
        return ""
    return RULES.get(element.tag, _unknown)(element)


def _unknown(element: Any) -> str:
    return " ".join(filter(None, [_text(element.text), *(_latex(child) for child in element)]))


def _parts(element: Any, count: int) -> list[str]:
    """The children of an element that must have `count` of them; what is missing is empty."""
    parts = [_latex(child) for child in element]
    parts += [""] * (count - len(parts))
    return [*parts[: count - 1], joined(parts[count - 1 :])]


def _letters(element: Any) -> str:
    text = "".join(element.itertext()).strip()
    latex = _text(text)
    alphabet = ALPHABETS.get(element.get("mathvariant", ""))
    if alphabet and text:
        return f"\\{alphabet}{{{latex}}}"
    if text in FUNCTIONS:
        return f"\\{text}"
    return f"\\mathrm{{{latex}}}" if len(text) > 1 and text.isascii() and text.isalpha() else latex


def _words(element: Any) -> str:
    text = " ".join("".join(element.itertext()).split()).translate(SPECIAL)
    return f"\\text{{{text}}}" if text else ""


def _base(latex: str) -> str:
    return latex if ATOM.fullmatch(latex) else f"{{{latex}}}"


def _scripted(*marks: str) -> Callable[[Any], str]:
    def rule(element: Any) -> str:
        base, *scripts = _parts(element, len(marks) + 1)
        return _base(base) + "".join(f"{mark}{_base(s)}" for mark, s in zip(marks, scripts, strict=True) if s)

    return rule


def _over(element: Any) -> str:
    base, above = _parts(element, 2)
    if above in ACCENTS:
        return f"\\{ACCENTS[above]}{{{base}}}"
    return f"{base}^{_base(above)}" if base in LARGE else f"\\overset{{{above}}}{{{base}}}"


def _under(element: Any) -> str:
    base, below = _parts(element, 2)
    return f"{base}_{_base(below)}" if base in LARGE else f"\\underset{{{below}}}{{{base}}}"


def _fraction(element: Any) -> str:
    above, below = _parts(element, 2)
    return f"\\frac{{{above}}}{{{below}}}"


def _root(element: Any) -> str:
    inside, degree = _parts(element, 2)
    return f"\\sqrt[{degree}]{{{inside}}}"


def _fenced(element: Any) -> str:
    separators = element.get("separators", ",").strip()
    parts = [_latex(child) for child in element]
    out = [_text(element.get("open", "("))]
    for at, part in enumerate(parts):
        between = separators[min(at, len(separators)) - 1] if separators and at else ""
        out += [_text(between), part]
    return joined([*out, _text(element.get("close", ")"))])


def _table(element: Any) -> str:
    rows = [" & ".join(_latex(cell) for cell in row) for row in element if row.tag == "mtr"]
    return r"\begin{matrix}" + r" \\ ".join(rows) + r"\end{matrix}"


def _semantics(element: Any) -> str:
    for child in element:
        if child.tag == "annotation" and "tex" in child.get("encoding", "").lower() and child.text:
            return str(child.text).strip()
    return joined([_latex(child) for child in element if not str(child.tag).startswith("annotation")])


RULES: dict[str, Callable[[Any], str]] = {
    "mi": _letters,
    "mo": _letters,
    "mtext": _words,
    "ms": _words,
    "msup": _scripted("^"),
    "msub": _scripted("_"),
    "msubsup": _scripted("_", "^"),
    "munderover": _scripted("_", "^"),
    "mover": _over,
    "munder": _under,
    "mfrac": _fraction,
    "msqrt": lambda element: f"\\sqrt{{{_row(element)}}}",
    "mroot": _root,
    "mfenced": _fenced,
    "mtable": _table,
    "semantics": _semantics,
    "mphantom": lambda _: "",
    "infinity": lambda _: "∞",
} | dict.fromkeys(("math", "mn", "mrow", "mstyle", "mtd", "menclose", "merror", "mpadded"), _row)
