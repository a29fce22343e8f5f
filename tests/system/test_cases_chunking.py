"""Faults met with chunking elsewhere, tried here: each test follows a case of the collection and asserts what is right."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from cases_kit import FERRY, invented, papers_of, passages_of, write_json

import ingest
from rag import Encoder
from rag.schema import Paper, Passage
from rag.sentences import sentence_spans
from rag.text import search_text


def only_paper(record: dict[str, Any], folder: Path, encoder: Encoder) -> tuple[Paper, list[Passage]]:
    """Ingest one record into a new index; returns its paper and passages."""
    index = folder / "index"
    report = ingest.run([write_json(folder / "list.jsonl", record)], index, encoder=encoder)
    assert report.added == 1, report.rejects
    [paper] = papers_of(index)
    return paper, passages_of(index)[paper.id]


def test_case_35_passages_joined_are_the_abstract_byte_for_byte(tmp_path: Path, encoder: Encoder) -> None:
    abstract = " ".join(
        f"Part {n} was carved by Dr. Doe after a factor analysis (CFA). Then it was drawn as in Fig. 2 of the harbour "
        f"report, and the {n + 3} pigeons of the tunnel were counted again."
        for n in range(14)
    )
    paper, passages = only_paper({"abstract": abstract}, tmp_path, encoder)
    assert paper.abstract == abstract and len(passages) >= 3
    chunks = [paper.abstract[p.start : p.end] for p in passages]
    assert "".join(chunks) == abstract  # they do not overlap
    assert all(chunk in abstract for chunk in chunks)
    for part in ("by Dr. Doe", "(CFA).", "as in Fig. 2 of"):  # no sentence ends in these, so no chunk does
        assert sum(chunk.count(part) for chunk in chunks) == abstract.count(part) == 14
    assert abstract.count("(CFA). Then") == 14


def test_case_37_fields_do_not_count_against_the_room_of_a_chunk(
    tmp_path: Path, encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    abstract = " ".join(map(invented, range(5)))
    assert 230 < len(abstract.split()) < 300
    fields = {
        "keywords": [f"keyword{n} lantern" for n in range(80)],
        "url": "https://example.org/" + "very/long/path/" * 20,
        "authors": [f"Author{n} Doe" for n in range(30)],
        "pdf": "https://example.org/pdf/" + "x" * 300,
    }
    assert encoder.count_tokens(" ".join([*fields["keywords"], str(fields["url"])])) >= 400
    seen: list[tuple[str, Sequence[str]]] = []
    original = Encoder.encode_passages

    def spied(self: Encoder, passages: Sequence[tuple[str, Sequence[str]]], **more: Any) -> Any:
        seen.extend(passages)
        return original(self, passages, **more)

    monkeypatch.setattr(Encoder, "encode_passages", spied)
    bare, expected = only_paper({"title": "Lanterns", "abstract": abstract}, tmp_path / "bare", encoder)
    embedded, seen[:] = list(seen), []
    full, passages = only_paper({"title": "Lanterns", "abstract": abstract, **fields}, tmp_path / "full", encoder)
    assert len(full.keywords) == 80 and full.url and not bare.keywords
    assert [full.abstract[p.start : p.end] for p in passages] == [bare.abstract[p.start : p.end] for p in expected]
    assert seen == embedded
    assert {title for title, _ in seen} == {"Lanterns"}
    assert " ".join(sentence for _, sentences in seen for sentence in sentences) == search_text(abstract)


def test_case_39_no_boundary_in_maths_links_or_addresses(tmp_path: Path, encoder: Encoder) -> None:
    abstract = " ".join(
        rf"We set $f_{{{n}}}:\mathbb{{R}}^{{d}}\to\mathbb{{R}}$. If $x_{{1.5}}>0$, then lantern {n} of the harbour follows "
        rf"the tide, see \href{{https://example.org/a.b}}{{code}} and https://example.org/c.d/E{n}?q=1.2 for more."
        for n in range(9)
    )
    paper, passages = only_paper({"abstract": abstract}, tmp_path, encoder)
    assert len(passages) == 3
    assert r"$x_{1.5}>0$" in paper.abstract and paper.abstract.count("https://example.org/a.b") == 9
    whole = re.compile(r"\$[^$]*\$|\\href\{[^}]*\}\{[^}]*\}|https?://[^\s)}]+[^\s)}.]")
    protected = [m.span() for m in whole.finditer(paper.abstract)]
    assert len(protected) == 9 * 4
    edges = {edge for p in passages for edge in (p.start, p.end, *(e for s in p.sentences for e in (s.start, s.end)))}
    assert not [edge for edge in edges for start, end in protected if start < edge < end]
    # Every sentence fits, so every passage begins where a sentence does and ends where one ended.
    spans = sentence_spans(paper.abstract)
    assert len(spans) == 18
    assert [(s.start, s.end) for p in passages for s in p.sentences] == spans
    assert {p.start for p in passages} <= {start for start, _ in spans}
    assert all(paper.abstract[: p.end].rstrip().endswith(".") for p in passages)


def test_case_39_a_sentence_longer_than_a_chunk_is_cut_outside_maths(tmp_path: Path, encoder: Encoder) -> None:
    abstract = (
        "We show " + ", ".join(rf"that lantern {n} has $g(x_{{1.5}}) \leq {n}. Y$" for n in range(40)) + f". {FERRY}"
    )
    paper, passages = only_paper({"abstract": abstract}, tmp_path, encoder)
    assert len(passages) >= 2 and "".join(paper.abstract[p.start : p.end] for p in passages) == paper.abstract
    assert all(paper.abstract[p.start : p.end].count("$") % 2 == 0 for p in passages)
