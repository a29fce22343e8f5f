"""Retrieval sets as BEIR has them: corpus.jsonl, queries.jsonl, qrels.tsv."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag.errors import UsageError


@dataclass(frozen=True)
class Beir:
    """The documents' ids and texts in the order of the corpus, the judged queries, the gains of what is relevant."""

    documents: list[str]
    texts: list[str]
    queries: dict[str, str]
    relevant: dict[str, dict[str, float]]


def load(folder: Path, qrels: str = "qrels.tsv") -> Beir:
    """Read a set; queries without a relevant document are left out. Raises UsageError with the file and the line."""
    corpus = _records(folder / "corpus.jsonl")
    queries = {str(record["_id"]): str(record["text"]) for record in _records(folder / "queries.jsonl")}
    relevant: dict[str, dict[str, float]] = {}
    for number, line in _lines(folder / qrels)[1:]:
        try:
            query, document, gain = line.split("\t")[:3]
            if float(gain) > 0:
                relevant.setdefault(query, {})[document] = float(gain)
        except ValueError as error:
            raise UsageError(f"{folder / qrels}, line {number}: not query-id, corpus-id and score") from error
        if query not in queries:
            raise UsageError(f"{folder / qrels}, line {number}: no query {query} in queries.jsonl")
    documents = [str(record["_id"]) for record in corpus]
    texts = [f"{record.get('title') or ''}. {record['text']}".strip(". ") for record in corpus]
    return Beir(documents, texts, {query: queries[query] for query in relevant}, relevant)


def _records(path: Path) -> list[dict[str, Any]]:
    """Objects that have an id and a text."""
    found = []
    for number, line in _lines(path):
        try:
            record = dict(json.loads(line))
            _ = record["_id"], record["text"]
            found.append(record)
        except (ValueError, KeyError, TypeError) as error:
            raise UsageError(f"{path}, line {number}: not a JSON object with _id and text") from error
    return found


def _lines(path: Path) -> list[tuple[int, str]]:
    """The lines with something on them and their numbers, from 1."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error
    return [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]
