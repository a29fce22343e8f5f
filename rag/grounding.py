"""Does the evidence carry the sentence? Every sentence of a model's reply is matched to evidence and gets a verdict.

Citations never depend on the markers that a model writes: they are dropped, and set anew by the match.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from rag.composer import Draft
from rag.encoder import Encoder, Vector
from rag.evidence import ScoredSentence
from rag.schema import Verdict
from rag.sentences import sentence_spans
from rag.text import search_text, terms

MARKER = re.compile(r"\s*\[\s*\d+(?:\s*[,;–-]\s*\d+)*\s*\]")
DANGLING = re.compile(r"\s*\[\s*\d*\s*$")
BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")
THINK = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL | re.IGNORECASE)
FIGURE = re.compile(r"(?<![\w.])[-−]?\d[\d.,]*(?<=\d)\s*(?:%|percent\b|[kKMB]\b)?")
NUMBER_WORDS = {w: str(n) for n, w in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())}
NEGATION = re.compile(r"\b(?:not|no|none|never|neither|nor|without|cannot|fails?|failed)\b|n't\b", re.I)
OPPOSITES = (
    ("improv", "degrad"), ("increas", "decreas"), ("increas", "reduc"), ("higher", "lower"), ("better", "wors"),
    ("outperform", "underperform"), ("faster", "slower"), ("more", "fewer"), ("stronger", "weaker"),
)  # fmt: skip
SUPPORTED_COVERAGE, SUPPORTED_COSINE = 0.55, 0.60
WEAK_COVERAGE, WEAK_COSINE = 0.35, 0.50


def split_reply(text: str) -> list[str]:
    """Return the sentences of a model's reply without markers, bullets and thinking."""
    text = THINK.sub("", text)
    sentences = []
    for line in text.splitlines():
        line = DANGLING.sub("", MARKER.sub("", BULLET.sub("", line))).strip().strip("*_").strip()
        sentences += [line[start:end] for start, end in sentence_spans(line)]
    return [s for s in sentences if re.search(r"\w", s)]


def figures(text: str) -> set[str]:
    """Return the figures of a text in one spelling: `4,000` is `4000`, `80\\%` is `80%`, `12K` is `12000`, `two` is `2`."""
    plain = search_text(text).replace("\\", "")
    found = set()
    for match in FIGURE.finditer(plain):
        value = match.group().replace(",", "").replace("−", "-").replace(" ", "").strip("-")
        value = value.replace("percent", "%")
        if value[-1] in "kKMB":
            value = f"{float(value[:-1].strip()) * {'k': 1e3, 'm': 1e6, 'b': 1e9}[value[-1].lower()]:.0f}"
        found.add(value.rstrip("."))
    # Only words from two on: `one` is mostly a pronoun.
    found |= {NUMBER_WORDS[w] for w in re.findall(r"[a-z]+", plain.casefold()) if w in NUMBER_WORDS and w not in {"zero", "one"}}
    return found


def missing_figures(sentence: str, evidence: str) -> set[str]:
    """Figures of a sentence that its evidence does not hold; a per cent sign may be left out, but not put in."""
    there = figures(evidence)
    bare = {f.rstrip("%") for f in there}
    return {f for f in figures(sentence) if f not in there and not (not f.endswith("%") and f in bare)}


class Grounding:
    """Checks sentences against the evidence of one question."""

    def __init__(self, encoder: Encoder, evidence: Sequence[ScoredSentence]) -> None:
        self.encoder = encoder
        self.evidence = list(evidence)
        self.vectors: Vector | None = None

    def check(self, sentence: str) -> Draft:
        """Match one sentence: the evidence that carries it best, and whether it does."""
        if not self.evidence:
            return Draft(sentence, (), Verdict.UNSUPPORTED)
        if self.vectors is None:
            texts = [search_text(s.quote) for s in self.evidence]
            self.vectors = np.stack([self.encoder.encode_query(t) for t in texts])
        cosines = self.vectors @ self.encoder.encode_query(search_text(sentence))
        wanted = set(terms(sentence))
        ranked = sorted(
            range(len(self.evidence)),
            key=lambda i: -(float(cosines[i]) + _coverage(wanted, self.evidence[i].quote)),
        )
        best = ranked[0]
        own = [best]
        # A sentence that puts two of a paper's sentences together is carried by both.
        partner = next((i for i in ranked[1:4] if self.evidence[i].hit is self.evidence[best].hit), None)
        if partner is not None:
            alone = _coverage(wanted, self.evidence[best].quote)
            joint = _coverage(wanted, f"{self.evidence[best].quote} {self.evidence[partner].quote}")
            lacking = missing_figures(sentence, self.evidence[best].quote)
            helped = lacking and lacking != missing_figures(sentence, self._text([best, partner]))
            if joint >= alone + 0.2 or helped:
                own.append(partner)
        text = self._text(own)
        verdict = _verdict(sentence, text, _coverage(wanted, text), float(cosines[best]))
        carried = tuple(sorted((self.evidence[i] for i in own), key=lambda s: s.start))
        return Draft(sentence, carried if verdict is not Verdict.UNSUPPORTED else (), verdict)

    def _text(self, own: Sequence[int]) -> str:
        return " ".join(self.evidence[i].quote for i in own)


def _coverage(wanted: set[str], text: str) -> float:
    return len(wanted & set(terms(text))) / len(wanted) if wanted else 0.0


def _verdict(sentence: str, evidence: str, coverage: float, cosine: float) -> Verdict:
    if missing_figures(sentence, evidence) or _opposed(sentence, evidence):
        return Verdict.UNSUPPORTED
    if coverage >= SUPPORTED_COVERAGE and cosine >= SUPPORTED_COSINE:
        return Verdict.SUPPORTED
    if coverage >= WEAK_COVERAGE and cosine >= WEAK_COSINE:
        return Verdict.WEAK
    return Verdict.UNSUPPORTED


def _opposed(sentence: str, evidence: str) -> bool:
    """Whether the one denies what the other says: a negation on one side only, or an opposite direction."""
    if bool(NEGATION.search(sentence)) != bool(NEGATION.search(evidence)):
        return True
    said, shown = sentence.casefold(), evidence.casefold()
    return any(
        (a in said and b not in said and b in shown and a not in shown)
        or (b in said and a not in said and a in shown and b not in shown)
        for a, b in OPPOSITES
    )
