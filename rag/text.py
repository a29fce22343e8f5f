"""From display text to what is embedded and tokenised. Nothing in here is ever shown."""

from __future__ import annotations

import functools
import re
import unicodedata
from typing import Any

from rag.sentences import MATH

DASHES = dict.fromkeys(map(ord, "‐‑‒–—―−﹘﹣－"), "-")
QUOTES = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "ℓ": "l"})
LATEX_FONT = re.compile(r"\\(?:math|text)[a-z]+\s*(?=\{)|\\(?:left|right|big|Big)\b|\\[,;!: ]")
LATEX_NAME = re.compile(r"\\([A-Za-z]+)")
INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")

# Words that carry no content in a question or an abstract; question words are handled by rag.questions.
STOPWORDS = frozenset(
    "a about above after again all also am an and any are as at be because been before being below between both but by "
    "can could did do does doing down during each else ever few for from further had has have having he her here hers "
    "him his how i if in into is it its itself just let may me might more most much must my no nor not now of off on "
    "once one only or other our ours out over own per same she should so some such than that the their theirs them then "
    "there these they this those through to too under until up upon us very was we were what when where whether which "
    "while who whom why will with within without would you your yours s t d ll m re ve isn aren doesn don didn wasn "
    "paper papers abstract abstracts author authors work works study studies list tell show give find describe explain "
    "please anyone something there's what's whats".split()
)
WORD = re.compile(r"[^\W_]+(?:[@.+'/-][^\W_]+)*\+?", re.UNICODE)
PARTS = re.compile(r"[@.+'/-]+")
CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af]")


def fold(text: str) -> str:
    """Fold what the eye does not distinguish: NFKC, dashes, quotes, accents, invisible characters."""
    text = unicodedata.normalize("NFKC", text).translate(DASHES).translate(QUOTES)
    text = INVISIBLE.sub("", text)
    decomposed = unicodedata.normalize("NFD", text)
    return unicodedata.normalize("NFC", "".join(c for c in decomposed if unicodedata.category(c) != "Mn"))


def _maths_to_words(match: re.Match[str]) -> str:
    body = LATEX_FONT.sub("", match.group().strip("$"))
    body = LATEX_NAME.sub(r" \1 ", body).replace("\\", "")
    body = re.sub(r"[{}^_$]", "", body)
    return re.sub(r"\s+", " ", body).strip()


def search_text(display: str) -> str:
    """Return the text that is embedded for a display text: folded, simple maths as words, spaces collapsed."""
    return re.sub(r"\s+", " ", fold(MATH.sub(_maths_to_words, display))).strip()


@functools.cache
def _stemmer() -> Any:
    import Stemmer

    return Stemmer.Stemmer("english")


def terms(text: str, *, keep_stopwords: bool = False) -> list[str]:
    """Return the stemmed tokens of a text for lexical matching.

    A compound (`pass@5`, `GPT-4o`, `self-distillation`) gives itself whole and its parts; a run of Chinese,
    Japanese or Korean characters gives its character pairs.
    """
    found: list[str] = []
    for match in WORD.finditer(search_text(text).casefold()):
        word = match.group()
        if CJK.search(word):
            found.extend(_cjk_terms(word))
            continue
        parts = [p for p in PARTS.split(word) if p]
        if len(parts) > 1:
            found.append("".join(parts) if "-" in word else word)
        found.extend(parts)
    kept = found if keep_stopwords else [w for w in found if w not in STOPWORDS]
    return list(_stemmer().stemWords(kept))


def _cjk_terms(word: str) -> list[str]:
    result: list[str] = []
    for run in re.findall(CJK.pattern + r"+|[^\W_]+?(?=" + CJK.pattern + r"|$)", word):
        if CJK.match(run) and len(run) > 1:
            result.extend(run[i : i + 2] for i in range(len(run) - 1))
        else:
            result.append(run)
    return result
