"""What the retriever finds, and that it finds the same again."""

from __future__ import annotations

from pathlib import Path

import pytest

import ingest
from rag import Assistant, Encoder, Index, UsageError
from rag.retriever import Retriever


@pytest.mark.parametrize(
    ("question", "label"),
    [
        ("using machines in place of people to check labels by looking at similar examples", "SAGE"),
        ("Radamacher complexty bounds", "Rademacher"),
        ("dataset of epileptic fit videos", "S³"),
        ("gradient-free memory for learning classes one after another", "BTSP-CAM"),
        ("LLM 训练里的 silent errors 怎么诊断", "Ekka"),
    ],
)
def test_the_right_paper_is_among_the_first_three(sample_assistant: Assistant, question: str, label: str) -> None:
    found = [h.paper for h in sample_assistant.search(question, 3)]
    assert any(label in p.label or label in p.abstract for p in found)


@pytest.mark.parametrize("spelling", ["Hölder", "Ho\u0308lder", "Holder", "ＨÖＬＤＥＲ"])
def test_spellings_that_look_alike_find_alike(sample_store: Index, spelling: str) -> None:
    plain = sample_store.lexical.scores
    from rag.text import terms

    assert plain(terms(spelling)) == plain(terms("Hölder"))
    assert plain(terms("Hölder"))


def test_asking_for_more_than_there_is_gives_what_there_is(sample_assistant: Assistant) -> None:
    hits = sample_assistant.search("benchmark", 200)
    assert len(hits) == len(sample_assistant.papers()) == 57
    assert len({h.paper.id for h in hits}) == 57
    assert [h.score for h in hits] == sorted((h.score for h in hits), reverse=True)


def test_fewer_asked_is_a_prefix_of_more_asked(sample_assistant: Assistant) -> None:
    few, many = (sample_assistant.search("reinforcement learning", k) for k in (5, 50))
    assert [h.paper.id for h in few] == [h.paper.id for h in many[:5]]


@pytest.mark.parametrize("question", ["what is the", "🙂 a", "x", "\x00 null", "的 了"])
def test_questions_of_nothing_are_no_crash(sample_assistant: Assistant, question: str) -> None:
    assert len(sample_assistant.search(question, 3)) == 3
    sample_assistant.ask(question)


def test_a_lost_keyword_index_is_rebuilt_with_the_same_results(tmp_path: Path, encoder: Encoder) -> None:
    sample = Path(__file__).parents[2] / "ingest" / "sample" / "icml2026_sample.txt"
    paragraphs = sample.read_text(encoding="utf-8").split("\n\n")[:8]
    (tmp_path / "list.txt").write_text("\n\n".join(paragraphs), encoding="utf-8")
    ingest.run([tmp_path / "list.txt"], tmp_path / "index", encoder=encoder)
    with Assistant.open(tmp_path / "index", encoder=encoder) as assistant:
        before = [(h.paper.id, h.score) for h in assistant.search("power flow", 5)]
    for file in (tmp_path / "index" / "lexical").rglob("*.npy"):
        file.write_bytes(b"broken")
    with Assistant.open(tmp_path / "index", encoder=encoder) as assistant:
        assert [(h.paper.id, h.score) for h in assistant.search("power flow", 5)] == before


def test_sentence_offsets_are_sentences(sample_store: Index, encoder: Encoder) -> None:
    for hit in Retriever(sample_store, encoder).search("transformers", 10):
        assert hit.sentences
        for sentence in hit.sentences:
            text = hit.paper.abstract[sentence.start : sentence.end]
            assert text == text.strip()
            assert -1.001 <= sentence.cosine <= 1.001


def test_the_llamaindex_retriever_gives_the_same_papers(sample_assistant: Assistant) -> None:
    from llama_index.core.retrievers import BaseRetriever

    from rag import ConferRetriever

    retriever = ConferRetriever(sample_assistant, top_k=4)
    assert isinstance(retriever, BaseRetriever)
    nodes = retriever.retrieve("How are silent errors diagnosed?")
    hits = sample_assistant.search("How are silent errors diagnosed?", 4)
    assert [n.node.node_id for n in nodes] == [h.paper.id for h in hits]
    assert nodes[0].node.get_content() == hits[0].paper.abstract


def test_blank_search_is_a_usage_error(sample_assistant: Assistant) -> None:
    with pytest.raises(UsageError):
        sample_assistant.search("  ")
