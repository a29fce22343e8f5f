"""Where the sentences of an abstract begin and end.

A boundary never falls inside maths, a URL or a LaTeX command's braces, nor after a common abbreviation.
"""

from __future__ import annotations

import re

# Maths follows pandoc's rule: no space after the opening dollar, none before the closing one, no digit after it.
# So `less than $4 and $5` holds no maths.
MATH = re.compile(r"\$\$.+?\$\$|(?<![\\$])\$(?=[^\s$])(?:\\.|[^$\\])*?(?<![\s\\])\$(?!\d)", re.DOTALL)
PROTECTED = re.compile(
    MATH.pattern + r"|\\\(.+?\\\)|\\\[.+?\\\]|\\href\{[^{}]*\}\{[^{}]*\}|https?://[^\s)\]}>]*[^\s)\]}>.,;:!?'\"*]", re.DOTALL
)
# After these a full stop ends a sentence only rarely; `al.` and `etc.` do end some, so they need a new-sentence look.
ABBREVIATIONS = frozenset(
    "e.g i.e cf vs viz resp approx dr prof mr mrs ms st fig figs eq eqs sec secs thm tab ref refs ch no nos vol pp ed eds "
    "al etc w.r.t i.i.d a.k.a incl".split()
)
NEVER_LAST = ABBREVIATIONS - {"al", "etc", "i.i.d", "no"}
BOUNDARY = re.compile(r"(?:[.!?]+[\"'”’)\]*_]*|[。！？]+[”’」』）]*)(?=\s|$|(?<=[。！？])|(?<=[。！？][”’」』）]))")
LAST_WORD = re.compile(r"([\w.]+)$")
STARTS_SENTENCE = re.compile(r"\s+[\"'“‘(\[*_]*(?:[A-Z0-9$\\]|[^\x00-\x7F])")


def mask(text: str) -> str:
    """Return `text` with maths, URLs and link commands replaced by letters, character for character."""
    return PROTECTED.sub(lambda match: "x" * len(match.group()), text)


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return the (start, end) offsets of the sentences of `text`, in order, without surrounding white space.

    Every character that is not white space lies in exactly one span.
    """
    masked = mask(text)
    spans = []
    start = 0
    for match in BOUNDARY.finditer(masked):
        end = match.end()
        if end <= start or not _ends_sentence(masked, match):
            continue
        _append(spans, text, start, end)
        start = end
    _append(spans, text, start, len(text))
    return spans


def _append(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    stripped = piece.strip()
    if stripped:
        begin = start + piece.index(stripped[0])
        spans.append((begin, begin + len(stripped)))


def _ends_sentence(masked: str, match: re.Match[str]) -> bool:
    if match.end() == len(masked) or match.group()[0] in "。！？":
        return True
    if not STARTS_SENTENCE.match(masked, match.end()):
        return False
    if match.group() != ".":
        return True
    word = LAST_WORD.search(masked, max(0, match.start() - 20), match.start())
    if word is None:
        return True
    last = word.group(1).casefold()
    if last in NEVER_LAST:
        return False
    if last in ABBREVIATIONS:
        return re.match(r"\s+[A-Z](?![a-z]*\.)", masked[match.end() : match.end() + 20]) is not None
    # A single capital is an initial (`J. Doe`), unless it follows a number or is the pronoun of a list item.
    return not (len(last) == 1 and word.group(1).isupper() and last not in "ik")
