"""Retrieval sets as BEIR has them: corpus.jsonl, queries.jsonl, qrels.tsv."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from rag.errors import UsageError


@dataclass(frozen=True)
class Beir:
    """Document ids in the order of the corpus, the judged queries, and the gains of their relevant documents."""

    documents: list[str]
    queries: dict[str, str]
    relevant: dict[str, dict[str, float]]


def load(folder: Path, qrels: str = "qrels.tsv") -> Beir:
    """Read a set; queries without a relevant document are left out. Raises UsageError with the file and the line."""
    documents = [identifier for identifier, _ in _records(folder / "corpus.jsonl")]
    texts = dict(_records(folder / "queries.jsonl"))
    relevant: dict[str, dict[str, float]] = {}
    for number, line in enumerate(_lines(folder / qrels)[1:], start=2):
        try:
            query, document, gain = line.split("\t")[:3]
            if float(gain) > 0:
                relevant.setdefault(query, {})[document] = float(gain)
        except ValueError as error:
            raise UsageError(f"{folder / qrels}, line {number}: not query-id, corpus-id and score") from error
        if query not in texts:
            raise UsageError(f"{folder / qrels}, line {number}: no query {query} in queries.jsonl")
    return Beir(documents, {query: texts[query] for query in relevant}, relevant)


def _records(path: Path) -> list[tuple[str, str]]:
    found = []
    for number, line in enumerate(_lines(path), start=1):
        try:
            record = json.loads(line)
            found.append((str(record["_id"]), str(record["text"])))
        except (ValueError, KeyError, TypeError) as error:
            raise UsageError(f"{path}, line {number}: not a JSON object with _id and text") from error
    return found


def _lines(path: Path) -> list[str]:
    try:
        return [line for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error
