"""Carrying a plan out: labels, passages, vectors, batch by batch into the index."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice

from ingest import chunking
from ingest.known import Known
from ingest.labels import label
from ingest.merge import Merger
from ingest.plan import Plan
from rag.encoder import EncodedPassage, Encoder
from rag.errors import ConferError
from rag.index import Index
from rag.schema import Paper, Passage
from rag.text import search_text

BATCH = 256  # papers in one write
AHEAD = 2  # batches that are encoded at a time: one runs out of texts for all cores while the next begins

Text = tuple[str, list[str]]  # a title or nothing, and the sentences
Progress = Callable[[int, int], None]  # (papers done, papers to do)


def carry_out(
    plan: Plan, known: Known, merger: Merger, index: Index, encoder: Encoder, progress: Progress | None
) -> None:
    """Write what the plan says; what is derived from the papers is brought in step at the end."""
    if progress:
        progress(0, len(plan.encode))
    _add(plan, known, merger, index, encoder, progress)
    for begin in range(0, len(plan.update), BATCH):
        index.update([new for _, _, new in merger.merged(plan.update[begin : begin + BATCH])])
    index.remove(plan.remove)
    # A run that died before its commit left papers behind that nothing derived knows of yet.
    if plan.encode or plan.update or plan.remove or not index.is_settled():
        index.commit()


def _add(plan: Plan, known: Known, merger: Merger, index: Index, encoder: Encoder, progress: Progress | None) -> None:
    """Encode and add papers. While one batch is encoded the next is made ready, and the one before it is written."""
    total = len(plan.encode)
    waiting: deque[_Batch] = deque()
    stop = threading.Event()
    told = _Told(progress, total) if progress else None
    with ThreadPoolExecutor(AHEAD, "confer-batch") as pool, _stopping(stop):
        for begin in range(0, total, encoder.papers_at_a_time):
            chosen = plan.encode[begin : begin + encoder.papers_at_a_time]
            papers = [new for _, _, new in merger.merged(chosen)]
            # Labels are given in the order of the list, so that a run that is finished later gives the same ones.
            papers = [p if p.label else labelled(p, known.labels) for p in papers]
            waiting.append(
                _begun(papers, encoder, pool, stop, partial(told.tell, begin, len(papers)) if told else None)
            )
            if len(waiting) == AHEAD:
                _finish(waiting.popleft(), plan, index)
        for batch in waiting:
            _finish(batch, plan, index)


@contextmanager
def _stopping(stop: threading.Event) -> Iterator[None]:
    """Let what is being encoded end at its next step when something fails, or somebody presses Ctrl-C."""
    try:
        yield
    except BaseException:
        stop.set()
        raise


def _finish(batch: _Batch, plan: Plan, index: Index) -> None:
    """Wait for a batch, and add it to the index."""
    for papers, passages in batch.added_to(index):
        plan.written += papers
        plan.report.encoded += passages


class _Told:
    """Tells how many papers are encoded, of which several batches are under way."""

    def __init__(self, progress: Progress, total: int) -> None:
        self._progress = progress
        self._total = total
        self._done: dict[int, int] = {}
        self._lock = threading.Lock()

    def tell(self, batch: int, papers: int, share: float) -> None:
        """Tell on, given the share of a batch's passages that are encoded."""
        with self._lock:
            self._done[batch] = int(papers * share)
            self._progress(sum(self._done.values()), self._total)


def rewrite(papers: Sequence[Paper], index: Index, encoder: Encoder) -> None:
    """Encode papers of the index anew, with new entries in the vector index."""
    with ThreadPoolExecutor(1, "confer-batch") as pool:
        for begin in range(0, len(papers), BATCH):
            batch = papers[begin : begin + BATCH]
            index.drop_passages([p.id for p in batch])
            for _ in _begun(batch, encoder, pool, threading.Event()).added_to(index):
                pass
    index.commit()


def labelled(paper: Paper, taken: set[str]) -> Paper:
    """The paper with a label that is not in `taken`, which is added there."""
    return paper.model_copy(update={"label": label(paper.abstract, paper.title, taken)})


@dataclass(frozen=True)
class _Batch:
    """Papers that are being encoded."""

    papers: Sequence[Paper]
    passages: list[list[Passage]]
    encoded: Future[list[EncodedPassage]]

    def added_to(self, index: Index) -> Iterator[tuple[int, int]]:
        """Put the papers into the index once they are encoded; yields the papers and passages of each write."""
        encoded = iter(self.encoded.result())
        for begin in range(0, len(self.papers), BATCH):
            papers, passages = self.papers[begin : begin + BATCH], self.passages[begin : begin + BATCH]
            own = list(islice(encoded, sum(map(len, passages))))
            index.add(papers, passages, own)
            yield len(papers), len(own)


def _begun(
    papers: Sequence[Paper],
    encoder: Encoder,
    pool: ThreadPoolExecutor,
    stop: threading.Event,
    told: Callable[[float], None] | None = None,
) -> _Batch:
    """Cut papers into passages and have them encoded, unless told to stop."""
    cut = [_cut(paper, encoder) for paper in papers]
    texts = [text for _, own in cut for text in own]

    def progress(done: int) -> None:
        if stop.is_set():
            raise ConferError("stopped")
        if told:
            told(done / len(texts))

    return _Batch(papers, [own for own, _ in cut], pool.submit(encoder.encode_passages, texts, progress=progress))


def _cut(paper: Paper, encoder: Encoder) -> tuple[list[Passage], list[Text]]:
    """The passages of a paper and what the encoder reads for each."""
    title, room = _title(paper, encoder)
    passages = chunking.passages(paper.id, paper.abstract, encoder.token_counts, room)
    return passages, [_text(paper, title, passage) for passage in passages]


def text_of(paper: Paper, passage: Passage, encoder: Encoder) -> Text:
    """What the encoder reads for a stored passage."""
    return _text(paper, _title(paper, encoder)[0], passage)


def _title(paper: Paper, encoder: Encoder) -> tuple[str, int]:
    """The title that stands before each passage, where it leaves half the room, and the tokens that are left."""
    title = search_text(paper.title or "")
    room = encoder.max_tokens - (encoder.count_tokens(title) + 2 if title else 0)
    return (title, room) if room >= encoder.max_tokens // 2 else ("", encoder.max_tokens)


def _text(paper: Paper, title: str, passage: Passage) -> Text:
    return title, [search_text(paper.abstract[s.start : s.end]) for s in passage.sentences]
