"""Where the sentences of an abstract begin and end.

A boundary never falls inside maths, a URL or a LaTeX link, nor after a common abbreviation.
"""

from __future__ import annotations

import re

# Maths follows pandoc's rule: no space after the opening dollar, none before the closing one, no digit after it; and a
# number with a plain word behind it is money. So `less than $4 and $5` and `$5 million, or 3$ each` hold no maths.
MATH = re.compile(
    r"\$\$.+?\$\$"
    r"|(?<![\\$])\$(?=[^\s$])(?!\d[\d.,]*\s+[A-Za-z]{2})(?:\\.|[^$\\])*?(?<![\s\\])\$(?!\d)",
    re.DOTALL,
)
# Every pattern here stops at the next opener of its own kind, so that a text full of openers costs linear time.
PARENTHESISED_MATH = re.compile(r"(?<!\\)(?:\\\((?:[^\\]|\\[^()])++\\\)|\\\[(?:[^\\]|\\[^\[\]])++\\\])")
LINK = re.compile(r"\\href\s*\{[^{}]*\}\s*\{(?:[^{}]|\{[^{}]*\})*\}")
OUTSIDE_URL = r"\s()\[\]{}<>\\\x7f-\U0010ffff"  # an address is ASCII and ends before brackets and punctuation
URL = re.compile(rf"https?://[^{OUTSIDE_URL}]*[^{OUTSIDE_URL}.,;:!?'\"*]")
PROTECTED = re.compile("|".join(p.pattern for p in (MATH, PARENTHESISED_MATH, LINK, URL)), re.DOTALL)

_ABBREVIATIONS = (
    "e.g i.e cf vs viz resp approx dr prof mr mrs ms st fig figs eq eqs sec secs thm tab ref refs ch nos vol pp ed eds "
    "w.r.t a.k.a incl"
)
# After these a full stop ends no sentence ...
ABBREVIATIONS = frozenset(_ABBREVIATIONS.split())
# ... and after these, initials (`J. Doe`) and dotted letters (`i.i.d. Gaussian`) it does only before a word that opens
# sentences; `etc.` and `no.` end one before any capital.
DOUBTFUL = frozenset({"al"})
BEFORE_CAPITALS = frozenset({"etc", "no"})
OPENER = re.compile(
    r"\s+(?:A|Above|Additionally|All|Although|An|And|As|At|Because|Besides|Both|But|By|Code|Compared|Despite|Each|Empirical"
    r"|Existing|Experiments?|Extensive|Finally|First|For|From|Further|Furthermore|Given|Hence|Here|How|However|If|In|Inspired"
    r"|Instead|It|Its|Many|Moreover|Most|Nevertheless|No|Notably|On|Once|One|Our|Overall|Previous|Recent|Results|Second"
    r"|Several|Since|So|Some|Specifically|Still|Such|That|The|Their|Then|There|Therefore|These|They|This|Those|Though|Thus|To"
    r"|Together|Two|Under|Unlike|Using|We|What|When|Where|Whether|Which|While|With|Without|Yet)\b"
)
CAPITAL = re.compile(r"\s+[A-Z](?![a-z]*\.)")
BOUNDARY = re.compile(r"(?<![.!?])[.!?]++[\"'”’)\]*_]*+(?=\s|\Z)|[。！？]++[”’」』）\"')\]]*+")
LAST_WORD = re.compile(r"([\w.]+)$")
STARTS_SENTENCE = re.compile(r"\s+[\"'“‘(\[*_]*(?:[A-Z0-9$\\]|[^\x00-\x7F])")


def mask(text: str, letter: str = "X") -> str:
    """Return `text` with maths, URLs and links replaced by a letter, character for character."""
    return PROTECTED.sub(lambda match: letter * len(match.group()), text)


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return the (start, end) offsets of the sentences of `text`, in order, without surrounding white space.

    Every character that is not white space lies in exactly one span.
    """
    masked = mask(text)
    spans: list[tuple[int, int]] = []
    start = 0
    for match in BOUNDARY.finditer(masked):
        if _ends_sentence(masked, match) and not _is_list_number(masked, start, match.start()):
            _append(spans, text, start, match.end())
            start = match.end()
    _append(spans, text, start, len(text))
    return spans


def _append(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    stripped = piece.strip()
    if stripped:
        begin = start + piece.index(stripped[0])
        spans.append((begin, begin + len(stripped)))


def _is_list_number(masked: str, start: int, stop: int) -> bool:
    """Whether all that stands before a full stop is a number, as in `1. First item`."""
    return stop - start < 5 and stop + 1 < len(masked) and masked[start:stop].strip().isdecimal()


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
    last = word[1].casefold()
    if last in ABBREVIATIONS:
        return False
    if last in BEFORE_CAPITALS:
        return CAPITAL.match(masked, match.end()) is not None
    initial = len(last) == 1 and word[1].isupper()
    dotted = len(last) > 2 and all(len(part) == 1 and part.isalpha() for part in last.split("."))
    if last in DOUBTFUL or initial or dotted:
        return OPENER.match(masked, match.end()) is not None
    return True
