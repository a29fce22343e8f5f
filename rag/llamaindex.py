"""Confer's retriever for a LlamaIndex app: a `BaseRetriever` whose nodes are whole abstracts."""

from __future__ import annotations

from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from rag.assistant import Assistant
from rag.filters import Where, as_filter
from rag.retriever import PaperHit


class ConferRetriever(BaseRetriever):
    """`ConferRetriever(Assistant.open("my-index"), top_k=5)`; a node's text is the abstract, its score 0 to 1."""

    def __init__(self, assistant: Assistant, top_k: int | None = None, *, where: Where = None) -> None:
        self._assistant = assistant
        self._top_k = top_k
        self._where = as_filter(where)
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        hits = self._assistant.search(query_bundle.query_str, self._top_k, where=self._where)
        return [NodeWithScore(node=_node(hit), score=hit.score) for hit in hits]


def _node(hit: PaperHit) -> TextNode:
    paper = hit.paper
    metadata = {"label": paper.label, "title": paper.title, "venue": paper.venue, "year": paper.year, "url": paper.url}
    best = max(hit.sentences, key=lambda s: s.cosine, default=None)
    metadata["best_sentence"] = paper.abstract[best.start : best.end] if best else None
    kept = {k: v for k, v in metadata.items() if v is not None}
    # The labels help a reader, not the model: its prompt gets the abstract alone.
    return TextNode(id_=paper.id, text=paper.abstract, metadata=kept, excluded_llm_metadata_keys=["best_sentence"])
