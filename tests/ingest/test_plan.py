"""The plan: every record is counted once, and a second run of the same lists changes nothing."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from ingest_kit import ABSTRACTS, listing, paragraphs_of
from plan_kit import Papers, carried_out

from ingest.clean import clean
from ingest.readers import RawRecord
from rag.schema import IngestReport, Source

MARKED = [ABSTRACTS[0].replace("model", "\\emph{model}"), ABSTRACTS[3].replace("\\emph{WeedBench}", "**WeedBench**")]
EDITED = [ABSTRACTS[0].replace("412 stations", "413 stations"), ABSTRACTS[5].replace("88 readers", "ninety readers")]


def plain(**lists: list[str]) -> dict[str, list[RawRecord]]:
    """Plain-text lists; each paragraph `ICML 2026 论文列表` is a header."""
    return {name: paragraphs_of(listing(*parts, header=None)) for name, parts in lists.items()}


def record(position: int, abstract: str, **fields: Any) -> RawRecord:
    return RawRecord(position, position + 1, abstract, **fields)


def adds_up(report: IngestReport) -> bool:
    return report.read == report.added + report.updated + report.unchanged + report.duplicate + report.rejected


def places(papers: Papers) -> list[list[tuple[str, int]]]:
    return [[(s.file, s.position) for s in p.sources] for p in papers.values()]


# -- the same text -----------------------------------------------------------------------------------------------------


def test_counts() -> None:
    made = carried_out(plain(a=[*ABSTRACTS[:3], "N/A, and nothing else", ABSTRACTS[0]], b=[MARKED[0], ABSTRACTS[3]]))
    report = made.report
    assert (report.read, report.added, report.duplicate, report.rejected) == (7, 4, 2, 1)
    assert report.rejects[0].model_dump() == {
        "file": "a",
        "position": 3,
        "line": 7,
        "reason": "too short for an abstract: 'N/A, and nothing else'",
    }
    assert places(made.papers)[0] == [("a", 0), ("a", 4), ("b", 0)]
    assert [(f.file, f.position) for f in report.duplicates] == [("a", 4), ("b", 0)]
    assert report.duplicates[0].reason == "the same words of a paper that a, record 0 holds"


def test_a_new_name_adds_a_source_and_no_paper() -> None:
    known = carried_out(plain(a=[*ABSTRACTS[:3]])).papers
    made = carried_out(plain(copy=[*ABSTRACTS[:3]]), known)
    assert (made.report.duplicate, made.report.added, len(made.plan.encode), len(made.plan.update)) == (3, 0, 0, 3)
    assert [[file for file, _ in found] for found in places(made.papers)] == [["a", "copy"]] * 3


def test_an_edited_list_gives_its_positions_anew() -> None:
    known = carried_out(plain(a=[*ABSTRACTS[:3]])).papers
    made = carried_out(plain(a=[ABSTRACTS[5], *ABSTRACTS[:3]]), known)
    assert (made.report.added, made.report.unchanged, made.report.updated) == (1, 3, 0)
    assert {p.sources[0].position for p in made.papers.values()} == {0, 1, 2, 3}


def test_a_header_that_comes_later_updates_venue_and_year() -> None:
    known = carried_out(plain(a=[*ABSTRACTS[:2]])).papers
    made = carried_out(plain(a=["ICML 2026 论文列表", *ABSTRACTS[:2]]), known)
    assert (made.report.updated, made.report.unchanged, len(made.plan.encode)) == (2, 0, 0)
    assert {(p.venue, p.year) for p in made.papers.values()} == {("ICML", 2026)}
    again = carried_out(plain(a=[*ABSTRACTS[:2]]), made.papers)
    assert again.report.unchanged == 2  # what is known is not forgotten


def test_a_duplicate_fills_what_the_first_left_open() -> None:
    lists = plain(a=[ABSTRACTS[0]], b=["ICML 2026 论文列表", ABSTRACTS[0]])
    known = carried_out(lists).papers
    assert [(p.venue, p.year) for p in known.values()] == [("ICML", 2026)]
    assert carried_out(lists, known).plan.update == []


def test_labels_are_unique_among_new_and_known_papers() -> None:
    opening = "Large language models are widely used as scalable evaluators of other models, and nobody knows why. "
    known = carried_out(plain(a=[opening + "We fix it."])).papers
    more = [opening + "A study of forty judges shows that they break.", opening + "Their use pays off in medicine."]
    assert len({p.label for p in carried_out(plain(b=more), known).papers.values()}) == 3


# -- other versions of a text ------------------------------------------------------------------------------------------


def test_an_edited_abstract_is_the_same_paper_with_the_new_text() -> None:
    known = carried_out(plain(a=[*ABSTRACTS[:2]], b=[ABSTRACTS[0]])).papers
    made = carried_out(plain(a=[EDITED[0], ABSTRACTS[1]]), known)
    assert (made.report.updated, made.report.unchanged, made.report.added) == (1, 1, 0)
    first = made.papers[next(iter(known))]
    assert "413 stations" in first.abstract and first.label == next(iter(known.values())).label
    assert [t.id for t in made.plan.encode] == [first.id]
    # The other list still has the old words: it is no edit, now or later.
    again = carried_out(plain(a=[EDITED[0], ABSTRACTS[1]], b=[ABSTRACTS[0]]), made.papers)
    assert again.plan.encode == [] and again.papers == made.papers
    assert carried_out(plain(b=[ABSTRACTS[0]]), made.papers).papers == made.papers


def test_an_edited_version_in_another_list_is_a_second_source() -> None:
    made = carried_out(plain(a=[ABSTRACTS[5]], b=[EDITED[1]]))
    assert (made.report.added, made.report.duplicate, len(made.papers)) == (1, 1, 1)
    assert "88 readers" in next(iter(made.papers.values())).abstract
    assert made.report.duplicates[0].reason == "another version of a paper that a, record 0 holds"


def test_with_and_without_a_title_is_one_paper() -> None:
    titled = [record(0, ABSTRACTS[0], title="Learning the Drift of Weather Stations", venue="Sensors", year=2024)]
    glued = [record(0, f"Learning the Drift of Weather Stations. {ABSTRACTS[0]}")]
    made = carried_out({"a": titled, "b": glued})
    assert len(made.papers) == 1 and made.report.duplicate == 1
    made = carried_out({"a": plain(a=[ABSTRACTS[0]])["a"], "b": titled})
    paper = next(iter(made.papers.values()))
    assert (paper.title, paper.venue, paper.year) == ("Learning the Drift of Weather Stations", "Sensors", 2024)


def test_arxiv_versions_are_one_paper_with_the_newest_text() -> None:
    versions = [
        record(0, ABSTRACTS[0], arxiv_id="2601.00001v1"),
        record(1, EDITED[0], arxiv_id="2601.00001v2"),
        record(2, ABSTRACTS[0], arxiv_id="2601.00001"),
    ]
    made = carried_out({"a": versions})
    assert (made.report.added, made.report.updated, made.report.duplicate) == (1, 1, 1)
    paper = next(iter(made.papers.values()))
    assert "413 stations" in paper.abstract and paper.arxiv_id == "2601.00001v2"
    assert [s.position for s in paper.sources] == [1, 0, 2]
    again = carried_out({"a": versions}, made.papers)
    assert again.papers == made.papers and (again.report.updated, again.report.unchanged) == (0, 1)
    older = carried_out({"b": versions[:1]}, made.papers)
    assert "413 stations" in older.papers[paper.id].abstract


def test_a_rewritten_version_is_known_by_its_id() -> None:
    rewritten = (
        "Sensors of weather stations drift. " + " ".join(reversed(ABSTRACTS[0].split())) + " in all 412 stations."
    )
    known = carried_out({"a": [record(0, ABSTRACTS[0], doi="10.1000/drift", title="Learning the Drift")]}).papers
    made = carried_out({"a": [record(0, rewritten, doi="10.1000/DRIFT", title="Learning the drift")]}, known)
    assert (made.report.updated, len(made.papers)) == (1, 1) and made.papers.keys() == known.keys()
    assert next(iter(made.papers.values())).abstract.startswith("Sensors of")


def test_the_same_words_in_better_display_are_taken_over() -> None:
    known = carried_out({"a": [record(0, ABSTRACTS[5])]}).papers
    known = {i: p.model_copy(update={"abstract": p.abstract.replace("Hölder", "Holder")}) for i, p in known.items()}
    made = carried_out({"a": [record(0, ABSTRACTS[5])]}, known)
    assert made.report.updated == 1 and "Hölder" in next(iter(made.papers.values())).abstract


# -- two papers --------------------------------------------------------------------------------------------------------


def test_two_papers_under_one_doi_stay_two() -> None:
    pair = [
        record(0, ABSTRACTS[0], doi="10.1000/x", title="Main"),
        record(1, ABSTRACTS[5], doi="10.1000/x", title="S1"),
    ]
    made = carried_out({"a": pair})
    assert (made.report.added, len(made.papers)) == (2, 2)
    assert [(f.position, f.reason) for f in made.report.conflicts] == [
        (1, "another paper with other words has the doi 10.1000/x too; both were kept")
    ]
    assert {p.title: p.abstract[:7] for p in made.papers.values()} == {"Main": "Weather", "S1": "Reading"}
    again = carried_out({"a": pair}, made.papers)
    assert again.papers == made.papers and again.report.unchanged == 2


def test_two_papers_with_one_title_stay_two() -> None:
    made = carried_out({"a": [record(0, ABSTRACTS[0], title="Editorial"), record(1, ABSTRACTS[5], title="Editorial")]})
    assert len(made.papers) == 2 and made.report.conflicts == []


def test_the_same_words_under_two_ids_and_titles_stay_two() -> None:
    pair = [
        record(0, ABSTRACTS[0], doi="10.1000/x", title="Learning the Drift"),
        record(1, ABSTRACTS[0], doi="10.1000/y", title="Erratum to: Learning the Drift"),
    ]
    made = carried_out({"a": pair})
    assert len(made.papers) == 2
    again = carried_out({"a": pair}, made.papers)
    assert again.papers == made.papers and again.report.unchanged == 2


def test_two_titles_in_one_list_stay_two_papers_however_alike() -> None:
    twin = ABSTRACTS[0].replace("the", "each", 1)
    pair = [record(0, ABSTRACTS[0], title="Steroids before birth"), record(1, twin, title="Steroids before twin birth")]
    made = carried_out({"a": pair})
    assert len(made.papers) == 2 and made.report.duplicate == 0
    again = carried_out({"a": pair}, made.papers)
    assert again.papers == made.papers and again.report.unchanged == 2


def test_a_preprint_and_its_paper_are_one() -> None:
    pair = [
        record(0, ABSTRACTS[0], doi="10.48550/arXiv.2601.00001", title="Learning the Drift"),
        record(1, EDITED[0], doi="10.1000/y", title="Learning the drift"),
    ]
    made = carried_out({"a": pair})
    assert len(made.papers) == 1


def test_papers_that_share_a_set_phrase_stay_apart() -> None:
    phrase = "Extensive experiments on public benchmarks show that our method is better than the state of the art. "
    made = carried_out(plain(a=[phrase + ABSTRACTS[4], phrase + ABSTRACTS[6]]))
    assert len(made.papers) == 2


# -- pruning -----------------------------------------------------------------------------------------------------------


def at(**lists: list[str]) -> dict[str, list[RawRecord]]:
    return {"/" + name.replace("_", "/"): found for name, found in plain(**lists).items()}


def test_pruning() -> None:
    known = carried_out(at(l_a=[*ABSTRACTS[:4]], l_b=[*ABSTRACTS[3:6]], other_c=[ABSTRACTS[6]])).papers
    made = carried_out(at(l_a=[*ABSTRACTS[1:4]]), known, prune=["/l"])
    assert {p.abstract for p in made.papers.values()} == {clean(a) for a in (*ABSTRACTS[1:4], ABSTRACTS[6])}
    # Paper 3 stood in both lists: it stays, and only the list that still holds it is its source.
    third = next(p for p in made.papers.values() if p.abstract == clean(ABSTRACTS[3]))
    assert [(s.file, s.position) for s in third.sources] == [("/l/a", 2)]


def test_pruning_keeps_to_the_given_paths() -> None:
    known = carried_out(at(l_a=[ABSTRACTS[0]], l2_a=[ABSTRACTS[1]], l_ab=[ABSTRACTS[2]])).papers
    made = carried_out(at(l_a=[ABSTRACTS[3]]), known, prune=["/l/a"])
    assert made.plan.remove == [i for i, p in known.items() if p.sources[0].file == "/l/a"]
    assert len(carried_out({}, known, prune=["/l/"]).plan.remove) == 2


def test_pruning_spares_what_could_not_be_read() -> None:
    known = carried_out(at(l_a=[ABSTRACTS[0]], l_b=[ABSTRACTS[1]], l_c_x=[ABSTRACTS[2]])).papers
    made = carried_out(at(l_a=[ABSTRACTS[0]]), known, prune=["/l"], unread=["/l/b", "/l/c"])
    assert made.papers == known


# -- whatever the lists ------------------------------------------------------------------------------------------------

PARAGRAPHS = st.lists(
    st.sampled_from(
        [*ABSTRACTS[:4], *MARKED, *EDITED, "N/A", "too short to be one", "ICML 2026 论文列表", "NeurIPS 2025", "---"]
    ),
    max_size=7,
)
LISTS = st.dictionaries(st.sampled_from(["l_a", "l_b", "c"]), PARAGRAPHS, max_size=3)


@given(LISTS, LISTS)
def test_every_record_is_accounted_for(first: dict[str, list[str]], second: dict[str, list[str]]) -> None:
    one = carried_out(at(**first))
    assert adds_up(one.report) and one.report.added == len(one.papers) and one.report.unchanged == 0
    assert sum(len(p.sources) for p in one.papers.values()) == one.report.added + one.report.duplicate
    two = carried_out(at(**second), one.papers)
    assert adds_up(two.report) and len(two.papers) == len(one.papers) + two.report.added
    assert len({p.label for p in two.papers.values()}) == len(two.papers)
    assert all(two.papers[i].label == one.papers[i].label for i in one.papers)


@given(LISTS, LISTS)
@settings(max_examples=60)
def test_a_second_run_changes_nothing(before: dict[str, list[str]], lists: dict[str, list[str]]) -> None:
    held = carried_out(at(**lists), carried_out(at(**before)).papers).papers
    again = carried_out(at(**lists), held)
    assert (again.papers, again.report.added, again.report.updated) == (held, 0, 0)
    assert not again.plan.encode and not again.plan.update
    pruned = carried_out(at(**lists), carried_out(at(**lists)).papers, prune=["/l", "/c"])
    assert pruned.plan.remove == [] and pruned.plan.update == []


@given(LISTS, LISTS)
@settings(max_examples=60)
def test_pruning_leaves_what_the_lists_hold(first: dict[str, list[str]], second: dict[str, list[str]]) -> None:
    known = carried_out(at(**first)).papers
    left = carried_out(at(**second), known, prune=["/l", "/c"]).papers
    afresh = carried_out(at(**second)).papers
    # An edited paper keeps its id, so the papers are told by where they stand.
    assert sorted(sorted(p) for p in places(left)) == sorted(sorted(p) for p in places(afresh))
    assert not {s.file for p in left.values() for s in p.sources} - set(at(**second))


def test_sources_carry_the_digest_of_what_stood_there() -> None:
    made = carried_out(plain(a=[ABSTRACTS[5]], b=[EDITED[1]]))
    first, second = next(iter(made.papers.values())).sources
    assert first == Source(file="a", position=0, digest=next(iter(made.papers))[1:]) and second.digest != first.digest
