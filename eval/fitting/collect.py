"""Questions for fitting, asked of the real retriever over small lists, the way a user's are."""

from __future__ import annotations

import gzip
import json
import random
import tempfile
from collections import defaultdict
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ingest import chunking, clean
from ingest.identity import content_id
from ingest.job import passport_of
from ingest.labels import label
from rag import evidence
from rag.encoder import Encoder
from rag.evidence import ScoredSentence
from rag.index import Index
from rag.lexical import LexicalIndex
from rag.questions import Question, analyse
from rag.retriever import PaperHit, Retriever
from rag.schema import Paper
from rag.sentences import sentence_spans
from rag.text import search_text

TOP_K = 6
OUTSIDE = 6  # passages a list leaves out, so that their questions have no answer in it


@dataclass
class Asked:
    """One question as the pipeline saw it. `labels` marks the sentences of `scored` that answer."""

    group: str
    kind: str
    question: Question
    hits: list[PaperHit]
    scored: list[ScoredSentence]
    labels: list[int]
    lexical: LexicalIndex
    about: str  # the abstract that it was written about, if any

    @property
    def answerable(self) -> bool:
        """Whether the list answers the question."""
        return self.kind not in {"near_miss", "far_miss"}


def build(folder: Path, abstracts: Sequence[str], encoder: Encoder) -> Index:
    """Index abstracts as papers without titles."""
    index = Index.create(folder, passport_of(encoder))
    taken: set[str] = set()
    papers = [Paper(id=content_id(a), abstract=a, label=label(a, None, taken)) for a in dict.fromkeys(abstracts)]
    passages = [chunking.passages(p.id, p.abstract, encoder.token_counts, encoder.max_tokens) for p in papers]
    rows = [
        ("", [search_text(p.abstract[s.start : s.end]) for s in passage.sentences])
        for p, own in zip(papers, passages, strict=True)
        for passage in own
    ]
    index.add(papers, passages, encoder.encode_passages(rows))
    index.commit()
    return index


def ask(
    retriever: Retriever, text: str, *, group: str, kind: str, abstract: str | None, quotes: set[str]
) -> Asked | None:
    """Ask one question; `quotes` are the sentences of `abstract` that answer it. None where nothing was found."""
    question = analyse(text)
    hits = retriever.search(text, TOP_K)
    lexical = retriever.index.lexical
    scored = evidence.score_sentences(question, hits, lexical)
    if not scored:
        return None
    labels = [int(s.hit.paper.abstract == abstract and any(_same(s.quote, q) for q in quotes)) for s in scored]
    return Asked(group, kind, question, hits, scored, labels, lexical, abstract or "")


def _same(quote: str, sentence: str) -> bool:
    return quote in sentence or sentence in quote


def paper_questions(
    questions: Sequence[Path],
    abstracts: Path,
    encoder: Encoder,
    *,
    strangers: float = 0.0,
    lists: Container[int] | None = None,
) -> list[Asked]:
    """Ask the questions of some files of their lists, or of some of the lists; the group of a question is its list.

    Each list is also asked questions of the others, which it does not answer: `strangers` for one of its own.
    """
    rows = [json.loads(line) for file in questions for line in file.read_text(encoding="utf-8").split("\n") if line]
    wanted = {r["paper"] for r in rows if r["paper"]}
    texts: dict[str, str] = {}
    with gzip.open(abstracts, "rt", encoding="utf-8") as file:
        for record in map(json.loads, file):
            if record["id"] in wanted:
                texts[record["id"]] = clean.clean(record["abstract"])
    result = []
    for number in sorted({r["list"] for r in rows if lists is None or r["list"] in lists}):
        own = [r for r in rows if r["list"] == number]
        with index_of({texts[r["paper"]] for r in own if r["paper"]}, encoder) as retriever:
            for row in own:
                abstract = texts.get(row["paper"] or "")
                spans = sentence_spans(abstract) if abstract else []
                quotes = {abstract[spans[i][0] : spans[i][1]] for i in row["sentences"]} if abstract else set()
                kind, group = row["kind"], f"list {number}"
                result.append(ask(retriever, row["question"], group=group, kind=kind, abstract=abstract, quotes=quotes))
            others = [row for row in rows if row["list"] != number and row["kind"] in {"fact", "how", "why"}]
            for row in random.Random(number).sample(others, int(strangers * len(own))):
                text, group = row["question"], f"list {number}"
                result.append(ask(retriever, text, group=group, kind="far_miss", abstract=None, quotes=set()))
        print(f"paper list {number}: {len(result)} questions", flush=True)
    return [r for r in result if r is not None]


def passage_questions(path: Path, encoder: Encoder, lists: int, seed: int) -> list[Asked]:
    """Ask public questions about passages of random lists; the group of a question is its article."""
    passages: dict[str, list[dict[str, Any]]] = defaultdict(list)
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for row in map(json.loads, file):
            if len(row["sentences"]) >= 2:
                passages[" ".join(row["sentences"])].append(row)
    rng = random.Random(seed)
    texts = sorted(passages)
    rng.shuffle(texts)
    result: list[Asked | None] = []
    for number in range(lists):
        size = rng.choice([40, 57, 80])
        inside, outside = texts[:size], texts[size : size + OUTSIDE]
        texts = texts[size:] + texts[:size]
        with index_of(set(inside), encoder) as retriever:
            for text in inside + outside:
                for row in rng.sample(passages[text], min(3, len(passages[text]))):
                    quotes = {row["sentences"][i] for i in row["labels"]} if text in inside else set()
                    kind = "fact" if quotes else "near_miss" if text in inside else "far_miss"
                    group = row["title"]
                    result.append(ask(retriever, row["question"], group=group, kind=kind, abstract=text, quotes=quotes))
        print(f"passage list {number + 1} of {lists}: {len(result)} questions", flush=True)
    return [r for r in result if r is not None]


@contextmanager
def index_of(abstracts: set[str], encoder: Encoder) -> Iterator[Retriever]:
    """A retriever over a throw-away index."""
    with tempfile.TemporaryDirectory() as folder:
        index = build(Path(folder), sorted(abstracts), encoder)
        yield Retriever(index, encoder)
        index.close()
