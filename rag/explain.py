"""Why papers were found: their ranks and scores by each signal, the words they share with the question, the best
sentence."""

from __future__ import annotations

from collections.abc import Sequence

from rag.retriever import PaperHit
from rag.schema import Evidence, Explanation, Signal
from rag.text import WORD, search_text, terms


def explanations(question: str, hits: Sequence[PaperHit]) -> list[Explanation]:
    """Explain each paper found for a question, in the order of `hits`."""
    return [_explanation(question, position, hit) for position, hit in enumerate(hits, 1)]


def _explanation(question: str, position: int, hit: PaperHit) -> Explanation:
    best = max(hit.sentences, key=lambda s: (s.cosine, -s.start), default=None)
    paper = hit.paper
    dense, sentence, lexical = (
        Signal(score=round(score, 4), rank=rank)
        for score, rank in zip((hit.dense, hit.sentence, hit.lexical), hit.ranks, strict=True)
    )
    return Explanation(
        paper_id=paper.id,
        label=paper.title or paper.label,
        position=position,
        score=round(hit.score, 4),
        dense=dense,
        sentence=sentence,
        lexical=lexical,
        matched=matched_words(question, f"{paper.title or ''} {paper.abstract}"),
        best=None
        if best is None
        else Evidence(
            paper_id=paper.id,
            start=best.start,
            end=best.end,
            quote=paper.abstract[best.start : best.end],
            score=round(min(1.0, max(0.0, best.cosine)), 4),
        ),
    )


def matched_words(question: str, text: str) -> list[str]:
    """The words of a question, as they stand there, of which a text has the stem (or, of a compound, a part's)."""
    inside = set(terms(text))
    words = (match.group() for match in WORD.finditer(search_text(question)))
    return list(dict.fromkeys(word for word in words if not inside.isdisjoint(terms(word))))
