"""Questions for a whole list: every paper is decided on, slips of the pen are read, and topics have their years."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import ingest
from rag.assistant import Assistant
from rag.encoder import Encoder
from rag.index import Index
from rag.retriever import Retriever
from rag.spelling import respelt
from rag.trends import wilson

LIST = """title,abstract,year
Kelp and swell,"Kelp forests shelter young fish from winter swell, and urchins graze on them.",2021
Owls by ear,"Barn owls hunt voles over open meadows at night by hearing alone.",2021
Nest boxes,"Tawny owls accept nest boxes in city parks when old oaks are felled.",2021
Silent feathers,"The serrated feathers of owls break up turbulence and so muffle the wing beat.",2021
Kelp from space,"Satellite images show kelp canopies shrinking along warming coasts.",2022
Urchin barrens,"Where urchins multiply, kelp gives way to barrens that last for decades.",2022
Owl pellets,"Pellets of barn owls tell which small mammals live near a farm.",2022
Cable drones,"We inspect the steel cables of suspension bridges for fatigue with drones.",2022
Bridge traffic,"A campaign of strain gauges relates lorry traffic to cracks in suspension bridges.",2022
Kelp farming,"Farmed kelp takes up nitrogen from salmon pens within weeks of planting.",2023
Kelp otters,"Sea otters eat urchins and thereby let kelp recover on rocky reefs.",2023
Kelp genomes,"The genome of giant kelp reveals how blades and floats differentiate.",2023
Kelp heatwave,"A marine heatwave cut the growth of bull kelp in half for three summers.",2023
Damping,"Tuned dampers calm the oscillation of suspension bridges in gusty wind.",2023
"""


KELP = {"Kelp and swell", "Kelp from space", "Urchin barrens"} | {
    f"Kelp {what}" for what in ("farming", "otters", "genomes", "heatwave")
}


@pytest.fixture(scope="module")
def dated(tmp_path_factory: pytest.TempPathFactory, encoder: Encoder) -> Iterator[Assistant]:
    folder = tmp_path_factory.mktemp("dated")
    (folder / "list.csv").write_text(LIST, encoding="utf-8")
    ingest.run([folder / "list.csv"], folder / "index", encoder=encoder)
    with Assistant.open(folder / "index", encoder=encoder) as assistant:
        yield assistant


def test_a_list_has_every_paper_and_no_other(dated: Assistant) -> None:
    found = dated.search("Which papers are about kelp?", all=True)
    assert {h.paper.title for h in found} == KELP
    assert [h.score for h in found] == sorted((h.score for h in found), reverse=True)
    assert all(0.0 <= h.score <= 1.0 for h in found)


def test_an_answer_lists_all_of_them_with_their_number(dated: Assistant) -> None:
    answer = dated.ask("List all papers on kelp.")
    assert answer.text.startswith("7 of 14 papers:\n- ") and answer.heading == "7 of 14 papers:"
    assert [c.marker for c in answer.citations] == list(range(1, 8))
    assert {c.paper.title for c in answer.citations} == KELP


def test_a_year_in_the_question_bounds_the_list(dated: Assistant) -> None:
    answer = dated.ask("How many papers from 2022 are about kelp?")
    assert (answer.where, answer.heading) == ("year = 2022", "2 of 5 papers with year = 2022:")
    assert {c.paper.year for c in answer.citations} == {2022}
    assert any("year = 2022" in notice for notice in answer.notices)


def test_filters_in_questions_can_be_turned_off(dated: Assistant) -> None:
    settings = dated.settings.model_copy(update={"question_filters": False})
    with Assistant.open(settings=settings, encoder=dated.encoder) as literal:
        answer = literal.ask("How many papers from 2022 are about kelp?")
    assert answer.where is None and not answer.notices


def test_a_limit_on_papers_bounds_a_list(dated: Assistant) -> None:
    assert len(dated.ask("List all papers on kelp.", top_k=2).citations) <= 2
    assert len(dated.search("kelp forests", 3, all=True)) == 3


def test_a_list_of_nothing_is_refused_with_the_nearest(dated: Assistant) -> None:
    answer = dated.ask("Which papers are about volcanic ash in aviation?")
    assert answer.refused and answer.nearest and not answer.citations


def test_a_slip_of_the_pen_is_read_and_told(dated: Assistant) -> None:
    answer = dated.ask("Which papers inspect suspention bridges?")
    assert len(answer.citations) == 3 and any("suspention" in notice for notice in answer.notices)


@pytest.mark.parametrize(
    ("question", "read"),
    [
        ("do urchjns graze on it?", "do urchins graze on it?"),  # a changed letter
        ("campaing with drones", "campaign with drones"),  # two swapped
        ("do tigers graze on it?", "do tigers graze on it?"),  # a word of the language that the list does not have
        ("what does Grazr say?", "what does Grazr say?"),  # a name
        ("is it urchjn-like?", "is it urchin-like?"),
        ("kelp's genom3", "kelp's genom3"),
    ],
)
def test_only_slips_are_respelt(dated: Assistant, question: str, read: str) -> None:
    index = Index.open(dated.settings.index)
    assert respelt(question, index.lexical, dated.encoder).text == read
    index.close()


def test_a_topic_has_its_years_with_intervals(dated: Assistant) -> None:
    found = dated.trend("papers on kelp")
    assert [(y.year, y.papers, y.total) for y in found.years] == [(2021, 1, 4), (2022, 2, 5), (2023, 4, 5)]
    assert all(y.low < y.share < y.high for y in found.years)
    assert len(found.newest) == 4 and {p.year for p in found.newest} == {2023}
    assert found.papers == 7 and len(found.central) == 5 and found.undated == 0


def test_a_trend_keeps_to_its_filter(dated: Assistant) -> None:
    assert [y.year for y in dated.trend("kelp", where="year >= 2022").years] == [2022, 2023]


def test_wilson_is_the_known_interval() -> None:
    low, high = wilson(17, 20)
    assert (round(low, 6), round(high, 6)) == (0.639581, 0.947631)
    assert wilson(0, 0) == (0.0, 1.0)


def test_papers_are_explained(dated: Assistant) -> None:
    first = dated.explain("owls hunting voles at night", 3)[0]
    assert first.position == 1 and first.label == "Owls by ear"
    assert {"owls", "voles", "night"} <= set(first.matched) and first.lexical.rank == 1
    assert first.best and "hunt voles" in first.best.quote
    none = dated.explain("zzz", 1)[0]
    assert none.lexical.rank is None and none.matched == []


def test_the_ranks_are_those_among_all_candidates(sample_store: Index, encoder: Encoder) -> None:
    hits = Retriever(sample_store, encoder).search("language models as judges", 10_000)
    for number, name in enumerate(("dense", "sentence", "lexical")):
        values = [getattr(h, name) for h in hits]
        for hit in hits:
            rank = hit.ranks[number]
            assert rank is None or rank == 1 + sum(v > getattr(hit, name) for v in values)
