"""The names in a text: methods, data sets, people; a sentence may not bring one that its paper does not have."""

from __future__ import annotations

import functools
import itertools
import re
from dataclasses import dataclass

from rag.figures import POWER, URL
from rag.schema import Paper
from rag.text import STOPWORDS, search_text, terms

TOKEN = re.compile(r"[A-Za-z0-9]+(?:[@.+'/_-]+[A-Za-z0-9]+)*")
PIECES = re.compile(r"/|-(?!\d)|'s\b")
OPENS = re.compile(r"(?:^|[.!?:;]\s|\n)[\W_]*$")
COMMON = frozenset({"ai", "ml", "nlp", "llm", "lm", "kb", "mb", "gb", "tb", "pb", "khz", "mhz", "ghz"})


@dataclass(frozen=True)
class Name:
    """A name in a text: `key` is what is compared; `numbered` names differ by their digits (`pass@5`, `GPT-4o`)."""

    key: str
    numbered: bool = False
    proper: bool = False  # nothing but a capital speaks for it


@functools.lru_cache(maxsize=512)
def names(text: str) -> frozenset[Name]:
    """Return the names in a text: words with digits, with several capitals, or with one that opens no sentence."""
    plain = search_text(POWER.sub(r" pow\1 ", URL.sub(" ", text))).replace("\\", "")
    found = set()
    for token in TOKEN.finditer(plain):
        for piece in filter(None, PIECES.split(token.group())):
            capitals = sum(c.isupper() for c in piece)
            if piece[0].isalpha() and any(c.isdigit() for c in piece):
                found.add(Name(_key(piece), numbered=True))
            elif capitals > 1:
                found.add(Name(_key(piece)))
            elif capitals and len(piece) > 1 and piece[0].isupper() and not OPENS.search(plain[: token.start()]):
                found.add(Name(_key(piece), proper=True))
    return frozenset(found)


def _key(piece: str) -> str:
    piece = piece[:-1] if re.fullmatch(r"[A-Z][A-Z0-9]+s", piece) else piece
    return re.sub(r"[\W_]", "", piece).casefold()


@functools.lru_cache(maxsize=512)
def keys(text: str) -> frozenset[str]:
    """Keys of all words of a text, of their parts and of neighbours written together (`GPT 4` holds `gpt4`)."""
    hosts = URL.sub(lambda m: " " + m.group().split("//")[-1].split("/")[0].replace(".", " ") + " ", text)
    plain = search_text(POWER.sub(r" pow\1 ", hosts)).replace("\\", "")
    tokens: list[str] = TOKEN.findall(plain)
    found = {_key(t) for t in tokens} | {_key(p) for t in tokens for p in PIECES.split(t)}
    return frozenset(found | {_key(a + b) for a, b in itertools.pairwise(tokens)})


def strange_names(sentence: str, evidence: str, paper: Paper) -> set[str]:
    """Names (and addresses) in a sentence that neither its evidence nor its paper holds."""
    about = " ".join(
        [paper.abstract, paper.title or "", paper.label, paper.venue or "", *paper.authors, *paper.keywords]
    )
    there, wider, shown = keys(evidence), keys(about), names(evidence)
    said = names(sentence)
    own = {n.key for n in said}
    strange = {u for u in (m.group().rstrip(".:/") for m in URL.finditer(sentence)) if u not in evidence + about}
    for name in said:
        if name.key in there:
            continue
        if name.numbered and any(_stem(n.key) == _stem(name.key) and n.key not in own for n in shown):
            strange.add(name.key)  # the evidence speaks of pass@1, the sentence of pass@5
        elif not (name.key in wider or name.key in COMMON or _otherwise(name, about)):
            strange.add(name.key)
    return strange


def _otherwise(name: Name, text: str) -> bool:
    """Whether a name stands in a text in another form: a word of it with a capital, an abbreviation of it."""
    if name.numbered:
        return False
    return _expands(name.key, text) or (name.proper and not set(terms(name.key)).isdisjoint(terms(text)))


def _stem(key: str) -> str:
    return re.split(r"\d", key, maxsplit=1)[0]


def _expands(key: str, text: str) -> bool:
    """Whether an abbreviation stands in a text written out: three letters or more, or chance would find them."""
    words = re.findall(r"[a-z0-9]+", search_text(text).casefold())
    initials = ("".join(w[0] for w in words), "".join(w[0] for w in words if w not in STOPWORDS))
    return len(key) > 2 and any(key in found for found in initials)
