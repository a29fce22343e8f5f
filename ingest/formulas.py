"""Formulas that are marked up as elements (`<tex-math>`, `<math>`, both in `<alternatives>`) to `$…$`."""

from __future__ import annotations

import re
from bisect import bisect_left

from ingest import mathml
from ingest.tags import JUNK, TAG, Tag, partners
from rag.sentences import MATH

ELEMENTS = frozenset({"inline-formula", "disp-formula", "alternatives", "math", "tex-math"})
HINT = re.compile(r"<(?:[A-Za-z][\w.-]*+:)?(?:math|tex-math)\b", re.IGNORECASE)
DOCUMENT = re.compile(r"\\begin\{document\}(.*?)(?:\\end\{document\}|$)", re.DOTALL)  # some hold a whole TeX file
DELIMITERS = (("$$", "$$"), ("$", "$"), (r"\(", r"\)"), (r"\[", r"\]"))
WORDS = re.compile(r"([-−]?\d[\d.,]*)|\\text\{([^{}\\]*)\}")  # a number or words by themselves need no maths


def formulas(text: str) -> str:
    """Put `$…$` for every formula element; where TeX and MathML say the same, TeX speaks."""
    if not HINT.search(text):
        return text
    tags = list(TAG.finditer(text))
    pairs = partners(tags)
    opened = [n for n, close in enumerate(pairs) if close is not None and close > n]
    tex = [n for n in opened if tags[n]["name"].lower() == "tex-math"]
    # `<math> and </math>` with nothing marked up between them is talk about tags.
    math = [n for n in opened if tags[n]["name"].lower() == "math" and pairs[n] != n + 1]
    out: list[str] = []
    end = skip = 0
    for number in opened:
        close = pairs[number] or 0
        if number < skip or tags[number]["name"].lower() not in ELEMENTS:
            continue
        latex = _inside(text, tags, pairs, _first(tex, number, close), _first(math, number, close))
        if not latex:
            skip = skip if latex is None else close  # what cannot be read is not tried again from within
            continue
        before = text[end : tags[number].start()]
        end, skip = tags[close].end(), close
        last = (before or (out[-1] if out else ""))[-1:]
        out += [before, _set(latex, last, text[end : end + 1], display=tags[number]["name"].lower() == "disp-formula")]
    return "".join(out) + text[end:]


def _first(numbers: list[int], low: int, high: int) -> int | None:
    at = bisect_left(numbers, low)
    return numbers[at] if at < len(numbers) and numbers[at] < high else None


def _inside(text: str, tags: list[Tag], pairs: list[int | None], tex: int | None, math: int | None) -> str | None:
    """The LaTeX in a formula element, empty when it cannot be read, None when no formula is in it."""
    for number, read in ((tex, _tex), (math, mathml.to_latex)):
        if number is None:
            continue
        close = tags[pairs[number] or 0]
        source = text[tags[number].end() : close.start()] if read is _tex else text[tags[number].start() : close.end()]
        if latex := read(source):
            return latex
    return None if tex is None and math is None else ""


def _tex(source: str) -> str:
    source = JUNK.sub(lambda match: match["cdata"] or "", source)
    document = DOCUMENT.search(source)
    latex = (document[1] if document else source).strip()
    for left, right in DELIMITERS:
        if latex.startswith(left) and latex.endswith(right) and len(latex) > len(left + right):
            return latex[len(left) : -len(right)].strip()
    return latex


def _set(latex: str, before: str, after: str, *, display: bool) -> str:
    """A formula as it stands in the text; what would not read as maths there stands without dollars."""
    plain = WORDS.fullmatch(latex)
    mark = "$$" if display else "$"
    maths = f"{mark}{latex}{mark}"
    if plain or not MATH.fullmatch(maths):
        return (plain[1] or plain[2]) if plain else latex
    left = " " if display or before in {"$", "\\"} else ""
    right = " " if display or after == "$" or after.isdecimal() else ""
    return f"{left}{maths}{right}"
