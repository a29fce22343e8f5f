"""The words of the project: the models that travel between its rooms."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Unit = Annotated[float, Field(ge=0.0, le=1.0)]


class Model(BaseModel):
    """Base of all models: unknown fields are an error, so that a typo cannot pass as data."""

    model_config = ConfigDict(extra="forbid")


class Source(Model):
    """Where a paper was read from: `position` is the 0-based index of the record within its file.

    `digest` stands for the words of the abstract as it stood there: another digest there later is an edit.
    """

    file: str
    position: int = Field(ge=0)
    digest: str = ""


class Paper(Model):
    """One paper of the list. `abstract` is the display text; every offset in Confer refers to it."""

    id: str
    title: str | None = None
    abstract: str
    label: str
    authors: list[str] = []
    year: int | None = None
    venue: str | None = None
    keywords: list[str] = []
    url: str | None = None
    doi: str | None = None
    arxiv_id: str | None = None
    openreview_id: str | None = None
    language: str | None = None
    sources: list[Source] = []


class Span(Model):
    """A half-open range of characters in an abstract."""

    start: int = Field(ge=0)
    end: int = Field(ge=0)


class Passage(Model):
    """A slice of one abstract on sentence boundaries that fits the encoder whole.

    `sentences` are the spans of its sentences, as offsets into the abstract (not into the passage).
    """

    paper_id: str
    position: int = Field(ge=0)
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    sentences: list[Span]


class Evidence(Model):
    """One sentence of a paper; `quote == abstract[start:end]` always holds. `score` is 0 to 1."""

    paper_id: str
    start: int
    end: int
    quote: str
    score: Unit


class Citation(Model):
    """A numbered source of an answer: markers run 1, 2, 3 in order of appearance, one per paper."""

    marker: int = Field(ge=1)
    paper: Paper
    evidence: list[Evidence]


class Signal(Model):
    """What one signal says of a paper: its score, and its rank among the candidates (1 is best; None: no match)."""

    score: float
    rank: int | None


class Explanation(Model):
    """Why a paper was found. `dense` and `sentence` are cosines, `lexical` is BM25; `score` decides the order."""

    paper_id: str
    label: str
    position: int = Field(ge=1)
    score: float
    dense: Signal
    sentence: Signal
    lexical: Signal
    matched: list[str] = Field(default=[], description="words of the question that the paper has")
    best: Evidence | None = Field(default=None, description="its sentence nearest to the question")


class YearCount(Model):
    """The papers on a topic in a year: their number, that of all papers, the share and its 95 % interval."""

    year: int
    papers: int
    total: int
    share: Unit
    low: Unit
    high: Unit


class Trend(Model):
    """A topic over the years of a list. `newest` are the papers of its latest year, `central` those nearest to all."""

    papers: int
    undated: int = Field(default=0, description="papers on the topic without a year")
    years: list[YearCount] = []
    newest: list[Paper] = []
    central: list[Paper] = []


class Verdict(StrEnum):
    """Whether the evidence carries a sentence."""

    SUPPORTED = "supported"
    WEAK = "weak"
    UNSUPPORTED = "unsupported"


class AnswerSentence(Model):
    """A sentence of an answer, without markers in its text."""

    text: str
    markers: list[int] = []
    verdict: Verdict


class Usage(Model):
    """What an answer cost in a language model's tokens; zero for the extractive engine."""

    prompt_tokens: int = 0
    completion_tokens: int = 0


class Answer(Model):
    """What Confer says to a question. A refusal is `refused`, never a phrase to search for."""

    question: str
    standalone_question: str
    text: str
    heading: str = Field(default="", description="what opens the text of a list: how many papers are on it")
    sentences: list[AnswerSentence] = []
    citations: list[Citation] = []
    refused: bool = False
    refusal_reason: str | None = None
    nearest: list[Paper] = []
    where: str | None = Field(default=None, description="the filter that the papers had to meet")
    found: list[Explanation] = Field(default=[], description="why the papers were found, where that was asked for")
    confidence: Unit
    engine: str
    notices: list[str] = []
    timings: dict[str, float] = Field(default={}, description="seconds by step")
    usage: Usage = Usage()


class Passport(Model):
    """What an index was built with, kept in the index and checked whenever it is opened."""

    encoder: str
    revision: str
    dimension: int
    query_prefix: str = ""
    passage_prefix: str = ""
    similarity: Literal["cosine"] = "cosine"
    sentence_vectors: Literal["pooled", "encoded"] = "pooled"
    chunking_version: int
    cleaning_version: int
    papers: int = 0
    passages: int = 0
    sentences: int = 0
    sentence_rows: int = Field(default=0, description="rows of the sentence vector file, with those no longer used")
    corpus_hash: str = ""
    records_hash: str = Field(default="", description="of all fields of the papers, which are derived from as well")
    generation: int = Field(default=0, description="grows by one with every change of the index")


class Finding(Model):
    """Something that ingest says of a record: `position` (of a record) or `line` (in the file) where known."""

    file: str
    position: int | None = None
    line: int | None = None
    reason: str


class Reject(Finding):
    """A record that could not be taken."""


class IngestReport(Model):
    """What happened to every record: read = added + updated + unchanged + duplicate + rejected, always.

    A file that cannot be read at all, or not to its end, counts as one rejected record. `encoded` counts passages.
    """

    read: int = 0
    added: int = 0
    updated: int = 0
    unchanged: int = 0
    duplicate: int = 0
    removed: int = 0
    rejected: int = 0
    encoded: int = 0
    rejects: list[Reject] = []
    conflicts: list[Finding] = Field(default=[], description="one id for two papers: both were kept")
    suspicious: list[Finding] = Field(default=[], description="records that were taken but look wrong")
    duplicates: list[Finding] = Field(default=[], description="records that are papers of the list already")
    languages: dict[str, int] = Field(default={}, description="records by language (ISO 639-1)")
    skipped: list[str] = Field(default=[], description="hidden and temporary files that were passed over")
    started: str = Field(default="", description="when the run began, in UTC")
    seconds: float = Field(default=0.0, description="how long the run took")
    failed: str = Field(default="", description="why the run ended before it was done; another run finishes it")
    dry_run: bool = Field(default=False, description="nothing was written: this is what a run would do")


class Retrieved(Model):
    """Streaming: the papers that were found, best first."""

    kind: Literal["retrieved"] = "retrieved"
    papers: list[Paper]


class Token(Model):
    """Streaming: a piece of text as the engine produces it, before it is checked."""

    kind: Literal["token"] = "token"
    text: str


class SentenceChecked(Model):
    """Streaming: a sentence with its verdict and markers."""

    kind: Literal["sentence"] = "sentence"
    sentence: AnswerSentence


class Answered(Model):
    """Streaming: the whole answer; always the last event."""

    kind: Literal["answer"] = "answer"
    answer: Answer


Event = Retrieved | Token | SentenceChecked | Answered
