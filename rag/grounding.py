"""Does the evidence carry the sentence? Every sentence of a model's reply is matched to evidence and gets a verdict.

Citations never depend on the markers that a model writes: they are dropped, and set anew by the match. A sentence is
`unsupported` when it claims what the evidence does not hold: a figure, a name, the opposite; `supported` when the
evidence or its paper also has each of its content words; `weak` in between, as free paraphrases are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rag.composer import Draft
from rag.encoder import Encoder, Vector
from rag.evidence import ScoredSentence
from rag.figures import SCALE, VALUES, missing_figures
from rag.names import names, strange_names
from rag.opposition import mixed, opposed
from rag.schema import Paper, Verdict
from rag.text import search_text, terms

SUPPORTED_COVERAGE, SUPPORTED_COSINE = 0.55, 0.60
WEAK_COVERAGE, WEAK_COSINE = 0.35, 0.50
FULL_COVERAGE, FULL_COSINE = 0.85, 0.25  # short sentences whose every word is there
MOST = 64  # sentences that are looked at; the model saw the best few of them
TRIED = 6  # best matches whose claims are compared
# Words with which any paper may be told; that the evidence lacks them says nothing.
TELLING = frozenset(
    terms(
        "method approach model framework technique system algorithm tool novel new propose proposed introduce "
        "introduced present presented develop developed describe show shows demonstrate find found report "
        "reported achieve achieves obtain obtains provide provides offer offers use uses using used apply "
        "applied employ employs enable enables allow allows help helps make makes result results resulting "
        "performance effective effectively significantly significant specifically specific various different "
        "several multiple many well known called named base based aim aims address addresses include includes "
        "including contain contains consist consists research researcher team goal purpose main key important "
        "overall therefore thus however moreover additionally furthermore also compare compared respectively "
        "namely way ways kind type order lead leads due example ones"
    )
)
# Words that say the same in reports of results; each counts as the first of its group.
SAME = {
    word: group[0]
    for group in (
        terms(line)
        for line in (
            "increase rise raise grow", "decrease fall drop decline reduce lower cut", "need require demand",
            "stay remain retain", "vanish disappear", "collect cover contain hold include comprise span",
            "available release host publish", "classify sort categorize", "predict forecast", "identify detect",
            "verify check validate", "outperform surpass exceed beat", "match equal", "train fit", "speed fast quick",
        )
    )
    for word in group
}  # fmt: skip
# Checked as figures, in whatever spelling.
FIGURE_WORDS = frozenset(terms(" ".join([*VALUES, *SCALE, "kb mb gb tb pb ms hz khz mhz ghz percent per cent"])))


class Grounding:
    """Checks sentences against the evidence of one question."""

    def __init__(self, encoder: Encoder, evidence: Sequence[ScoredSentence]) -> None:
        self.encoder = encoder
        self.evidence = list(evidence)[:MOST]
        self._vectors: dict[int, Vector] = {}
        # The names by which a paper is called count as said: "KelpNet reaches" where the quote has "It reaches".
        called = {s.hit.paper.id: _called(s.hit.paper) for s in self.evidence}
        self._terms = [_words(s.quote) | called[s.hit.paper.id] for s in self.evidence]

    def check(self, sentence: str) -> Draft:
        """Match one sentence: the evidence that carries it best, and whether it does."""
        wanted = _words(sentence)
        coverage = [_coverage(wanted, there) for there in self._terms]
        near = [i for i, share in enumerate(coverage) if share >= WEAK_COVERAGE]
        cosines = self._cosines(sentence, near)
        ranked = sorted(near, key=lambda i: -(cosines[i] + coverage[i]))[:TRIED]
        verdict, own = self._best(sentence, wanted, [(i, cosines[i]) for i in ranked if _near(coverage[i], cosines[i])])
        return Draft(sentence, tuple(sorted((self.evidence[i] for i in own), key=lambda s: s.start)), verdict)

    def _cosines(self, sentence: str, near: Sequence[int]) -> dict[int, float]:
        """Cosines of a sentence to some of the evidence; all that is new is encoded in one batch."""
        new = [i for i in near if i not in self._vectors]
        if not near:
            return {}
        rows = self.encoder.encode_queries([search_text(t) for t in (sentence, *(self.evidence[i].quote for i in new))])
        self._vectors.update(zip(new, rows[1:], strict=True))
        return {i: float(self._vectors[i] @ rows[0]) for i in near}

    def _best(
        self, sentence: str, wanted: frozenset[str], ranked: Sequence[tuple[int, float]]
    ) -> tuple[Verdict, list[int]]:
        best: tuple[Verdict, list[int]] = (Verdict.UNSUPPORTED, [])
        denied: set[str] = set()  # papers that say the opposite in a sentence that matches better
        for i, cosine in ranked:
            paper = self.evidence[i].hit.paper.id
            if paper in denied:
                continue
            if opposed(sentence, self.evidence[i].quote):
                denied.add(paper)
                continue
            for own in filter(None, ([i], self._with_partner(i, sentence, wanted))):
                verdict = self._verdict(sentence, wanted, own, cosine)
                if verdict is Verdict.SUPPORTED:
                    return verdict, own
                if verdict is Verdict.WEAK and best[0] is Verdict.UNSUPPORTED:
                    best = (verdict, own)
        return best

    def _with_partner(self, i: int, sentence: str, wanted: frozenset[str]) -> list[int]:
        """A sentence that puts two of a paper's sentences together is carried by both."""
        quote, hit = self.evidence[i].quote, self.evidence[i].hit
        lacking = missing_figures(sentence, quote)
        gains = []
        for j, other in enumerate(self.evidence):
            if j != i and other.hit is hit:
                gain = _coverage(wanted, self._terms[i] | self._terms[j]) - _coverage(wanted, self._terms[i])
                figure = bool(lacking) and len(missing_figures(sentence, f"{quote} {other.quote}")) < len(lacking)
                gains.append((gain + figure, -j))
        gain, j = max(gains, default=(0.0, 0))
        return [i, -j] if gain >= 0.15 else []

    def _verdict(self, sentence: str, wanted: frozenset[str], own: Sequence[int], cosine: float) -> Verdict:
        quotes = " ".join(self.evidence[i].quote for i in own)
        paper = self.evidence[own[0]].hit.paper
        there = frozenset().union(*(self._terms[i] for i in own))
        coverage = _coverage(wanted, there)
        if missing_figures(sentence, quotes) or strange_names(sentence, quotes, paper) or opposed(sentence, quotes):
            return Verdict.UNSUPPORTED
        novel = wanted - there - _words(paper.abstract) - TELLING - {SAME.get(t, t) for t in TELLING}
        close = cosine >= SUPPORTED_COSINE or (coverage >= FULL_COVERAGE and cosine >= FULL_COSINE)
        if coverage >= SUPPORTED_COVERAGE and close and not novel and not mixed(sentence, quotes):
            return Verdict.SUPPORTED
        return Verdict.WEAK


def _called(paper: Paper) -> frozenset[str]:
    return _words(" ".join(n.key for n in names(f"{paper.title or ''}. {paper.label}")))


def _words(text: str) -> frozenset[str]:
    """Content words in one spelling (also British and American: `optimis`, `optim`), figures left out."""
    found = (t[:-2] if len(t) > 6 and t.endswith("is") else t for t in terms(text) if not t[0].isdigit())
    return frozenset(SAME.get(t, t) for t in found) - FIGURE_WORDS


def _coverage(wanted: frozenset[str], there: Iterable[str]) -> float:
    return len(wanted.intersection(there)) / len(wanted) if wanted else 0.0


def _near(coverage: float, cosine: float) -> bool:
    return coverage >= WEAK_COVERAGE and (
        cosine >= WEAK_COSINE or (coverage >= SUPPORTED_COVERAGE and cosine >= FULL_COSINE)
    )
