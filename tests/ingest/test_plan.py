"""The plan: every record is counted once, and a second run of the same lists changes nothing."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from ingest_kit import ABSTRACTS, listing, paragraphs_of

from ingest.clean import clean
from ingest.files import Gathered
from ingest.plan import Plan, make_plan, plan_pruning
from ingest.readers import RawRecord
from rag.schema import IngestReport, Paper, Source

Lists = dict[str, list[str]]
MARKED = [ABSTRACTS[0].replace("model", "\\emph{model}"), ABSTRACTS[3].replace("\\emph{WeedBench}", "**WeedBench**")]


def read(lists: Lists, header: str | None = None) -> list[tuple[str, RawRecord]]:
    """The cleaned records of some lists; each paragraph `ICML 2026 论文列表` is a header."""
    found = [(name, r) for name, parts in lists.items() for r in paragraphs_of(listing(*parts, header=header))]
    return [(name, r if r.reject else replace(r, abstract=clean(r.abstract))) for name, r in found]


def plan(lists: Lists, known: dict[str, Paper] | None = None) -> Plan:
    return make_plan(read(lists), known or {}, IngestReport())


def after(made: Plan, known: dict[str, Paper] | None = None) -> dict[str, Paper]:
    """What an index holds once a plan is carried out."""
    result = {**(known or {}), **made.add, **made.update}
    return {i: p for i, p in result.items() if i not in made.remove}


def adds_up(report: IngestReport) -> bool:
    return report.read == report.added + report.updated + report.unchanged + report.duplicate + report.rejected


def test_counts() -> None:
    made = plan({"a": [*ABSTRACTS[:3], "N/A, and nothing else", ABSTRACTS[0]], "b": [MARKED[0], ABSTRACTS[3]]})
    report = made.report
    assert (report.read, report.added, report.duplicate, report.rejected) == (7, 4, 2, 1)
    assert report.rejects[0].model_dump() == {
        "file": "a",
        "position": 3,
        "line": 7,
        "reason": "too short for an abstract: 'N/A, and nothing else'",
    }
    first = next(iter(made.add.values()))
    assert first.sources == [Source(file="a", position=0), Source(file="a", position=4), Source(file="b", position=0)]


def test_a_new_name_adds_a_source_and_no_paper() -> None:
    known = after(plan({"a": [*ABSTRACTS[:3]]}))
    made = plan({"copy": [*ABSTRACTS[:3]]}, known)
    assert (made.report.duplicate, made.report.added, len(made.add), len(made.update)) == (3, 0, 0, 3)
    assert [s.file for s in next(iter(after(made, known).values())).sources] == ["a", "copy"]


def test_an_edited_list_gives_its_positions_anew() -> None:
    known = after(plan({"a": [*ABSTRACTS[:3]]}))
    made = plan({"a": [ABSTRACTS[5], *ABSTRACTS[:3]]}, known)
    assert (made.report.added, made.report.unchanged, made.report.updated) == (1, 3, 0)
    assert {p.sources[0].position for p in after(made, known).values()} == {0, 1, 2, 3}


def test_a_header_that_comes_later_updates_venue_and_year() -> None:
    known = after(plan({"a": [*ABSTRACTS[:2]]}))
    made = plan({"a": ["ICML 2026 论文列表", *ABSTRACTS[:2]]}, known)
    assert (made.report.updated, made.report.unchanged) == (2, 0)
    assert {(p.venue, p.year) for p in after(made, known).values()} == {("ICML", 2026)}
    again = plan({"a": [*ABSTRACTS[:2]]}, after(made, known))
    assert again.report.unchanged == 2  # what is known is not forgotten


def test_a_duplicate_fills_what_the_first_left_open() -> None:
    made = plan({"a": [ABSTRACTS[0]], "b": ["ICML 2026 论文列表", ABSTRACTS[0]]})
    assert [(p.venue, p.year) for p in made.add.values()] == [("ICML", 2026)]
    known = after(made)
    assert plan({"a": [ABSTRACTS[0]], "b": ["ICML 2026 论文列表", ABSTRACTS[0]]}, known).update == {}


def test_labels_are_unique_among_new_and_known_papers() -> None:
    opening = "Large language models are widely used as scalable evaluators of other models, and nobody knows why. "
    known = after(plan({"a": [opening + "We fix it."]}))
    known = after(plan({"b": [opening + "We break it.", opening + "We use it."]}, known), known)
    assert len({p.label for p in known.values()}) == 3


def prune(lists: Lists, known: dict[str, Paper], roots: list[str], unread: set[str] | None = None) -> Plan:
    made = plan(lists, known)
    plan_pruning(made, known, Gathered(read=set(lists), unread=unread or set()), roots)
    return made


def test_pruning() -> None:
    known = after(plan({"/l/a": [*ABSTRACTS[:4]], "/l/b": [*ABSTRACTS[3:6]], "/other/c": [ABSTRACTS[6]]}))
    made = prune({"/l/a": [*ABSTRACTS[1:4]]}, known, ["/l"])
    left = after(made, known)
    assert {p.abstract for p in left.values()} == {clean(a) for a in (*ABSTRACTS[1:4], ABSTRACTS[6])}
    # Paper 3 stood in both lists: it stays, and only the list that still holds it is its source.
    assert [p.sources for p in left.values() if p.abstract == clean(ABSTRACTS[3])] == [
        [Source(file="/l/a", position=2)]
    ]


def test_pruning_keeps_to_the_given_paths() -> None:
    known = after(plan({"/l/a": [ABSTRACTS[0]], "/l2/a": [ABSTRACTS[1]], "/l/ab": [ABSTRACTS[2]]}))
    assert prune({"/l/a": [ABSTRACTS[3]]}, known, ["/l/a"]).remove == [
        i for i, p in known.items() if p.sources[0].file == "/l/a"
    ]
    assert len(prune({}, known, ["/l/"]).remove) == 2


def test_pruning_spares_what_could_not_be_read() -> None:
    known = after(plan({"/l/a": [ABSTRACTS[0]], "/l/b": [ABSTRACTS[1]]}))
    made = prune({"/l/a": [ABSTRACTS[0]]}, known, ["/l"], unread={"/l/b"})
    assert made.remove == [] and made.update == {}


PARAGRAPHS = st.lists(
    st.sampled_from(
        [*ABSTRACTS[:4], *MARKED, "N/A", "too short to be one", "ICML 2026 论文列表", "NeurIPS 2025", "---"]
    ),
    max_size=7,
)
LISTS = st.dictionaries(st.sampled_from(["/l/a", "/l/b", "/c"]), PARAGRAPHS, max_size=3)


@given(LISTS, LISTS)
def test_every_record_is_accounted_for(first: Lists, second: Lists) -> None:
    one = plan(first)
    known = after(one)
    assert adds_up(one.report) and one.report.added == len(one.add) and one.report.unchanged == 0
    assert sum(len(p.sources) for p in known.values()) == one.report.added + one.report.duplicate
    two = plan(second, known)
    assert adds_up(two.report) and two.report.added == len(two.add)
    assert not two.add.keys() & known.keys()
    everything = after(two, known)
    assert len({p.label for p in everything.values()}) == len(everything)
    assert all(everything[i].abstract == known[i].abstract and everything[i].label == known[i].label for i in known)


@given(LISTS)
def test_a_second_run_changes_nothing(lists: Lists) -> None:
    known = after(plan(lists))
    again = plan(lists, known)
    assert (again.add, again.report.added, again.report.updated) == ({}, 0, 0)
    assert after(again, known) == known
    assert prune(lists, known, ["/l", "/c"]).remove == []


@given(LISTS, LISTS)
def test_pruning_is_starting_afresh(first: Lists, second: Lists) -> None:
    known = after(plan(first))
    left = after(prune(second, known, ["/l", "/c"]), known)
    afresh = after(plan(second))
    assert left.keys() == afresh.keys()
    assert all(left[i].sources == afresh[i].sources for i in left)
