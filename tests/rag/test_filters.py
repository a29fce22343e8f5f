"""Filters: how they are read, what they select, and that a search stays within them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ingest
from rag import Assistant, Encoder, UsageError
from rag import neighbours as neighbours_module
from rag.encoder import EncodedPassage
from rag.field_table import ABSTRACTS, FieldReader, FieldTable
from rag.filter_text import DEEPEST, parse
from rag.filters import FIELDS, Comparison, Either, Every, Filter, Negation, Op, Where, as_filter
from rag.index import Index
from rag.retriever import Retriever
from rag.schema import Paper, Passage, Passport, Source, Span

PAPERS = [
    Paper(id="p1", label="one", title="Bandits in gardens", abstract="We water plants by a multi-armed bandit.",
          authors=["Lin A.", "Osei B."], year=2025, venue="ICML", keywords=["Gardening"], language="en",
          sources=[Source(file="lists/a.bib", position=0)], doi="10.1/a"),
    Paper(id="p2", label="two", abstract="Top-$k$ soups are tasted by $\\alpha$ judges.", authors=["Osei-Tutu B."], year=2026,
          venue="ICML", sources=[Source(file="lists/a.bib", position=1), Source(file="b.ris", position=0)]),
    Paper(id="p3", label="three", title="Élan vital", abstract="Stairs are climbed slowly.", authors=["Ménard, P."], year=2025,
          venue="NeurIPS Workshop", keywords=["bandits", "stairs"]),
    Paper(id="p4", label="four", abstract="Nothing else is known of this one."),
]  # fmt: skip


def selected(where: Where) -> str:
    chosen = as_filter(where)
    assert chosen is not None
    return " ".join(i[1:] for i in FieldTable.build(PAPERS).select(chosen))


def refused(text: str) -> list[str]:
    with pytest.raises(UsageError) as caught:
        parse(text)
    return str(caught.value).splitlines()


# -- what is selected --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('author = "Osei B."', "1"),
        ("author = Osei", ""),
        ("author ~ osei", "1 2"),
        ('authors="  menard,  P. "', "3"),
        ("venue = icml", "1 2"),
        ("venue != ICML", "3 4"),
        ("not venue = ICML", "3 4"),
        ("venue not in (ICML, 'neurips workshop')", "4"),
        ("venue ~ neurips", "3"),
        ("year >= 2025", "1 2 3"),
        ("year>2025", "2"),
        ("year<2026 AND venue==ICML", "1"),
        ("year <= 2025", "1 3"),
        ("year in (2026, 1999)", "2"),
        ("year ~ 202", "1 2 3"),
        ("year≠2025", "2 4"),
        ("keyword = gardening", "1"),
        ("keywords = bandits", "3"),
        ("title ~ elan", "3"),
        ('title = "ELAN VITAL"', "3"),
        ("topic ~ bandit", "1 3"),
        ('topic ~ "BANDIT"', "1 3"),
        ("topic ~ arme", "1"),
        ("abstract ~ bandit", "1"),
        ('abstract ~ "top-k soups"', "2"),
        ('abstract ~ "top-$k$"', "2"),
        ('abstract ~ "alpha judges"', "2"),
        ('abstract = "stairs are climbed SLOWLY."', "3"),
        ("abstract ~ s", "1 2 3 4"),
        ("abstract ~ ''", "1 2 3 4"),
        ("abstract ~ '.\0top'", ""),
        ("file = a.bib", "1 2"),
        ('file = "lists/a.bib"', "1 2"),
        ("file = b.ris or file = a.bib", "1 2"),
        ("file = bib", ""),
        ("file ~ bib", "1 2"),
        ("id in (p4, p1)", "1 4"),
        ("doi = 10.1/A", "1"),
        ("label = four", "4"),
        ("language = en", "1"),
        ("arxiv_id = 2501.00001", ""),
        ("year = 2025 and year = 2026", ""),
        ("venue = ICML or year = 2025 and keyword = stairs", "1 2 3"),
        ("(venue = ICML or year = 2025) and not keyword = stairs", "1 2"),
        ("not (venue = ICML or year = 2025)", "4"),
        ("not not venue = ICML", "1 2"),
        ('year>=2025 and venue in ("ICML","ICLR") and topic~"bandit"', "1"),
    ],
)
def test_what_a_filter_selects(text: str, expected: str) -> None:
    assert selected(text) == expected


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({"venue": "ICML", "year": 2026}, "2"),
        ({"venue": "ICML"}, "1 2"),
        ({"year": "2026"}, "2"),
        ({"authors": ["Lin A.", "Ménard, P."]}, "1 3"),
        ({"author": "Osei B."}, "1"),
    ],
)
def test_a_mapping_is_a_filter(where: dict[str, Any], expected: str) -> None:
    assert selected(where) == expected


@pytest.mark.parametrize("nothing", [None, "", "  ", {}])
def test_no_filter(nothing: Where) -> None:
    assert as_filter(nothing) is None


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({"venu": "ICML"}, "'venu'; did you mean venue"),
        ({"year": "soon"}, "whole number"),
        ({"year": {"$gte": 2025}}, "the filter on year"),
        ({"year": None}, "the filter on year"),
        ({"year": True}, "the filter on year"),
        ({"venue": []}, "empty list"),
        (["venue"], "not list"),
    ],
)
def test_what_is_no_filter_is_refused_by_name(where: Any, expected: str) -> None:
    with pytest.raises(UsageError, match=expected.replace("$", r"\$")):
        as_filter(where)


def test_filters_made_by_hand_are_checked() -> None:
    assert Comparison(field="Authors", op=Op.EQUAL, value="x").field == "author"
    assert Comparison(field="year", op=Op.IN, value=["2025"]).value == [2025]
    with pytest.raises(UsageError, match="venue is text"):
        Comparison(field="venue", op=Op.LESS, value="x")
    with pytest.raises(UsageError, match="list"):
        Comparison(field="venue", op=Op.IN, value="x")


# -- how it is read ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "place", "expected"),
    [
        ("year >= 2025 and", 16, "expected a field, not the end"),
        ("year 2025", 5, "expected =, !="),
        ("year >=", 7, "expected a value, not the end"),
        ("year >= soon", 8, "whole number, not with 'soon'"),
        ("(year = 2025", 12, "expected `)`, not the end"),
        ("year = 2025)", 11, "not `)`"),
        ("venue = ICML Workshop", 13, "in quotes"),
        ("venue in (ICML Workshop)", 15, "in quotes"),
        ("venue in ()", 10, "expected a value"),
        ("venue in ICML", 9, "expected `(`"),
        ('venue = "ICML', 8, "a quote is not closed"),
        ("venue < ICML", 6, "only year is a number"),
        ("venue = ICML & year = 2025", 13, "expected `and`"),
        ("year = 2025 and venu = ICML", 16, "unknown field 'venu'; did you mean venue?"),
        ("colour = red", 0, "there are title, abstract"),
        ("in = 3", 0, "expected a field"),
        ("not", 3, "expected a field, not the end"),
        ("", 0, "expected a field, not the end"),
        ("=", 0, "expected a field"),
        ("(" * 10_000, DEEPEST, "deep"),
        ("not " * 10_000 + "year = 1", 4 * DEEPEST, "deep"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_pointed_at(text: str, place: int, expected: str) -> None:
    first, shown, caret = refused(text)
    assert first.startswith(f"filter, column {place + 1}: ") and expected in first
    assert caret.strip() == "^" and len(shown) < 140
    assert place > 60 or (shown[2:].startswith(text[:60].rstrip()) and caret.index("^") == place + 2)


def test_the_caret_stands_right_under_wide_characters_and_in_long_filters() -> None:
    assert refused("venue = 机器学习 xx")[2].index("^") == 2 + 8 + 8 + 1
    _, shown, caret = refused("year = 2025 and " * 50 + "venu = ICML and " + "year = 2025 and " * 50)
    assert shown[caret.index("^") :].startswith("venu = ICML")


def _values(field: str, op: Op) -> st.SearchStrategy[Any]:
    one = st.integers(-9, 9999) if field == "year" and op is not Op.CONTAINS else st.text(max_size=8)
    return st.lists(one, min_size=1, max_size=3) if op in {Op.IN, Op.NOT_IN} else one


COMPARISONS = st.tuples(st.sampled_from(FIELDS), st.sampled_from(Op)).filter(
    lambda pair: pair[0] == "year" or pair[1] in {Op.EQUAL, Op.UNEQUAL, Op.IN, Op.NOT_IN, Op.CONTAINS}
).flatmap(
    lambda pair: st.builds(Comparison, field=st.just(pair[0]), op=st.just(pair[1]), value=_values(*pair))
)  # fmt: skip
FILTERS: st.SearchStrategy[Any] = st.recursive(
    COMPARISONS,
    lambda inner: st.one_of(
        st.builds(Every, parts=st.lists(inner, min_size=2, max_size=3)),
        st.builds(Either, parts=st.lists(inner, min_size=2, max_size=3)),
        st.builds(Negation, part=inner),
    ),
    max_leaves=6,
)


@given(FILTERS)
def test_a_filter_as_text_is_the_same_filter(where: Filter) -> None:
    assert parse(str(where)) == where
    assert type(where).model_validate_json(where.model_dump_json()) == where


@given(FILTERS, FILTERS)
def test_and_or_not_are_those_of_sets(one: Filter, other: Filter) -> None:
    select: Callable[[Filter], set[str]] = lambda f: set(FieldTable.build(PAPERS).select(f))  # noqa: E731
    assert select(Every(parts=[one, other])) == select(one) & select(other)
    assert select(Either(parts=[one, other])) == select(one) | select(other)
    assert select(Negation(part=one)) == {p.id for p in PAPERS} - select(one)


@given(st.text(alphabet="yearvnu=<>!~()\",'\\ 2025andorit", max_size=30))
def test_any_text_is_a_filter_or_a_usage_error(text: str) -> None:
    try:
        parse(text)
    except UsageError as error:
        assert len(str(error).splitlines()) == 3


# -- the table on disk -------------------------------------------------------------------------------------------------


def save(papers: list[Paper], folder: Path) -> None:
    with (folder / ABSTRACTS).open("wb") as abstracts:
        reader = FieldReader(abstracts)
        assert list(reader.reading(papers)) == papers
    reader.save(folder)


def test_a_saved_table_selects_the_same(tmp_path: Path) -> None:
    built = FieldTable.build(PAPERS)
    save(PAPERS, tmp_path)
    loaded = FieldTable.load(tmp_path)
    assert loaded is not None
    for text in ("topic ~ bandit", "abstract ~ slowly", "year >= 2025", "author = 'lin a.'", "not venue = ICML"):
        assert loaded.select(parse(text)) == built.select(parse(text)) != []


@pytest.mark.parametrize("file", ["fields.json", "fields.npz", "abstracts.bin"])
@pytest.mark.parametrize("content", [b"", b"broken", None])
def test_a_damaged_table_is_not_read(tmp_path: Path, file: str, content: bytes | None) -> None:
    save(PAPERS, tmp_path)
    (tmp_path / file).unlink()
    if content is not None:
        (tmp_path / file).write_bytes(content)
    assert FieldTable.load(tmp_path) is None


def test_a_table_of_nothing(tmp_path: Path) -> None:
    save([], tmp_path)
    loaded = FieldTable.load(tmp_path)
    assert loaded is not None and loaded.select(parse("not topic ~ x or abstract = y")) == []


@pytest.mark.parametrize("few", [0, 1000])
def test_abstracts_are_searched_as_one_or_one_by_one(monkeypatch: pytest.MonkeyPatch, few: int) -> None:
    monkeypatch.setattr("rag.field_table.FEW", few)
    for text, expected in (("s", "1 2 3 4"), ("known of this one.", "4"), ("stairs are climbed", "3"), ("", "1 2 3 4")):
        assert selected(f"abstract ~ '{text}'") == expected
        assert selected(f"year = 2025 and abstract ~ '{text}'") == " ".join(i for i in expected.split() if i in "13")


# -- searching within --------------------------------------------------------------------------------------------------

NUMBER = 600


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory, encoder: Encoder) -> Iterator[Index]:
    """Papers with made-up vectors; every one is of 2025 and ICML, two are by Osei B."""
    path = tmp_path_factory.mktemp("many") / "index"
    passport = Passport(encoder="x", revision="0", dimension=384, chunking_version=1, cleaning_version=1)
    index = Index.create(path, passport)
    rng = np.random.default_rng(3)
    papers, cut, vectors = [], [], []
    for number in range(NUMBER):
        text = f"Paper {number} weighs pebbles of kind {number % 7}. It has a second sentence."
        authors = ["Lin A.", "Osei B."] if number in {41, 407} else [f"Osei{number} B."]
        papers.append(
            Paper(id=f"c{number:04}", abstract=text, label=str(number), authors=authors, year=2025, venue="ICML")
        )
        middle = text.index(" It")
        spans = [Span(start=0, end=middle), Span(start=middle + 1, end=len(text))]
        cut.append([Passage(paper_id=papers[-1].id, position=0, start=0, end=len(text), sentences=spans)])
        rows = rng.normal(size=(3, 384)).astype(np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        vectors.append(EncodedPassage(rows[0], rows[1:]))
    index.add(papers, cut, vectors)
    index.commit()
    yield index
    index.close()


def test_either_condition_met_by_all_gives_k_distinct_papers(many: Index, encoder: Encoder) -> None:
    where = parse('(year = 2025 or venue = "ICML")')
    hits = Retriever(many, encoder).search("which papers weigh pebbles?", 5, where=where)
    assert len(hits) == len({h.paper.id for h in hits}) == 5
    unfiltered = Retriever(many, encoder).search("which papers weigh pebbles?", 5)
    assert [h.paper.id for h in hits] == [h.paper.id for h in unfiltered]


def test_a_filter_that_keeps_little_is_exact(many: Index, encoder: Encoder) -> None:
    for question in ("pebbles of kind 3", "something else entirely", "paper 12"):
        hits = Retriever(many, encoder).search(question, 6, where=parse('author = "Osei B."'), also=["c0001", "c0041"])
        assert {h.paper.id for h in hits} == {"c0041", "c0407"}


@pytest.mark.parametrize("exact", [0, NUMBER])
def test_the_best_within_a_filter_are_the_best_of_all_that_meet_it(
    many: Index, encoder: Encoder, exact: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(neighbours_module, "EXACT", exact)
    query = encoder.encode_query("pebbles")
    every = many.nearest_passages(query, NUMBER)
    for step in (100, 3, 1):
        chosen = [f"c{n:04}" for n in range(0, NUMBER, step)]
        found = many.nearest_passages(query, 20, chosen)
        expected = [(s.passage.paper_id, c) for s, c in every if s.passage.paper_id in chosen][:20]
        assert [s.passage.paper_id for s, _ in found] == [i for i, _ in expected]
        assert np.allclose([c for _, c in found], [c for _, c in expected], atol=1e-5)
    assert many.nearest_passages(query, 20, []) == []


def test_lost_and_stale_tables_are_built_anew(many: Index, tmp_path: Path) -> None:
    shutil.copytree(many.path, tmp_path / "copy")
    next((tmp_path / "copy" / "lexical").rglob("fields.json")).unlink()
    copy = Index.open(tmp_path / "copy")
    assert copy.select(parse('author = "Osei B."')) == ["c0041", "c0407"]
    copy.remove(["c0041"])
    copy.commit()
    assert copy.select(parse('author = "Osei B."')) == ["c0407"]
    copy.update([p.model_copy(update={"authors": ["Osei B."]}) for p in copy.papers(["c0002"]).values()])
    assert not copy.is_settled()  # a run that dies here leaves fields that the next one must see
    copy.commit()
    assert copy.is_settled()
    assert copy.select(parse('author = "Osei B."')) == ["c0002", "c0407"]
    copy.close()
    again = Index.open(tmp_path / "copy")
    assert again.select(parse('author = "Osei B."')) == ["c0002", "c0407"]
    again.close()


# -- asking ------------------------------------------------------------------------------------------------------------

QUESTION = "What pass@1 accuracy does Ekka reach?"


@pytest.mark.parametrize("where", [{"venue": "ICML", "year": 2026}, {"venue": "ICML"}, {}, "topic ~ ekka", None])
def test_an_answer_within_a_filter(sample_assistant: Assistant, where: Where) -> None:
    answer = sample_assistant.ask(QUESTION, where=where)
    assert not answer.refused and "80%" in answer.text


def test_only_papers_that_meet_the_filter_are_drawn_on(sample_assistant: Assistant) -> None:
    where = "not topic ~ ekka"
    answer = sample_assistant.ask(QUESTION, where=where)
    shown = [c.paper for c in answer.citations] + answer.nearest
    assert shown and not any("ekka" in p.abstract.casefold() for p in shown)
    first = sample_assistant.ask(QUESTION)
    followup = sample_assistant.ask("what accuracy does it reach?", [first], where=where)
    assert not any("ekka" in c.paper.abstract.casefold() for c in followup.citations)
    assert len(sample_assistant.papers(where)) == len(sample_assistant.search("x", 200, where=where)) < 57


def test_filters_that_contradict_are_said_to_leave_nothing(sample_assistant: Assistant) -> None:
    answer = sample_assistant.ask(QUESTION, where="year = 2025 and year = 2026")
    assert answer.refused and answer.confidence == 0 and answer.nearest == []
    assert answer.text == answer.refusal_reason == "No paper of the index meets the filter year = 2025 and year = 2026."
    assert sample_assistant.search(QUESTION, where={"year": 1066}) == []


def test_lists_of_an_ingested_record_are_filtered_by_each_entry(tmp_path: Path, encoder: Encoder) -> None:
    abstract = "We measure how fast kettles boil on seven stoves, and find that the lid matters more than the flame."
    records = [
        {"abstract": abstract, "authors": ["Lin A.", "Osei B."], "keywords": [], "extra": {"k": 1}},
        {"abstract": abstract.replace("kettles", "pans"), "authors": ["Osei-Tutu C.", "B. Lin"], "keywords": ["pans", "stoves"]},
    ]  # fmt: skip
    (tmp_path / "list.json").write_text(json.dumps(records), encoding="utf-8")
    ingest.run([tmp_path / "list.json"], tmp_path / "index", encoder=encoder)
    with Assistant.open(tmp_path / "index", encoder=encoder) as assistant:
        assert [(p.authors, p.keywords) for p in assistant.papers()] == [
            (["Lin A.", "Osei B."], []),
            (["Osei-Tutu C.", "B. Lin"], ["pans", "stoves"]),
        ]
        assert [p.authors[0] for p in assistant.papers('author = "Osei B."')] == ["Lin A."]
        assert assistant.papers("author = Osei") == []
        assert [p.authors[1] for p in assistant.papers({"keywords": "stoves", "file": "list.json"})] == ["B. Lin"]


def test_the_llamaindex_retriever_stays_within_a_filter(sample_assistant: Assistant) -> None:
    from rag import ConferRetriever

    nodes = ConferRetriever(sample_assistant, top_k=3, where="topic ~ ekka").retrieve(QUESTION)
    assert len(nodes) == 1 and "Ekka" in nodes[0].node.get_content()


def test_a_filter_with_a_fault_is_refused_before_any_work(sample_assistant: Assistant) -> None:
    for ask in (sample_assistant.ask, sample_assistant.search):
        with pytest.raises(UsageError, match="did you mean venue"):
            ask(QUESTION, where={"venu": "ICML"})
