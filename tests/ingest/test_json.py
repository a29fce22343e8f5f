"""The JSON reader: what it takes, the shapes of the sources, broken records, real exports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ingest_kit import ABSTRACTS, ROOT, list_file, listing, read_all

from ingest.readers import ListFile, RawRecord, ReadError, containers, json_lists

ONE, TWO, THREE = ABSTRACTS[4:7]
FIXED = ROOT.parent / "shared" / "fixtures"

# file: records, those with an abstract
FIXTURES = {
    "fatcat__crossref-works.2018-01-21.badsample.json": (14, 2),
    "fatcat__example_doaj_articles.json": (5, 5),
    "fatcat__huge_crossref_doi.json.gz": (1, 0),
    "paperlists__icml2019.json": (774, 773),
    "zotero__OpenAlex_JSON-01.json": (1, 1),
    "zotero__OpenAlex_JSON-03.json": (1, 1),
    "zotero__OpenAlex_JSON-05.json": (1, 1),
    "zotero__OpenAlex_JSON-07.json": (1, 1),
}


def read(data: object, name: str = "list.json", fields: dict[str, str] | None = None) -> list[RawRecord]:
    file = list_file(data if isinstance(data, str) else json.dumps(data), name, fields)
    assert json_lists.recognises(file)
    return list(json_lists.read(file))


def only(data: object, name: str = "list.json", fields: dict[str, str] | None = None) -> RawRecord:
    (record,) = read([data], name, fields)
    return record


@pytest.mark.parametrize("name", FIXTURES)
def test_real_exports(name: str) -> None:
    path = FIXED / name
    if not path.exists():
        pytest.skip("the exports are not at hand")
    (file,) = containers.members(ListFile.at(path))
    assert isinstance(file, ListFile) and json_lists.recognises(file)
    found = list(json_lists.read(file))
    assert (len(found), sum(bool(record.abstract) for record in found)) == FIXTURES[name]
    assert [record.position for record in found] == list(range(len(found)))
    assert all(record.title and record.authors and record.year for record in found)
    assert not any(record.reject for record in found)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('{"abstract": "x"}\n{"abstract": "y"}\n', "list.txt"),
        ('\ufeff\n [\n {"title": "x"}]', "list"),
        ('[1, "two", null, {"title": "x"}]', "list.txt"),
        ('// made by hand\n/* twice */ [{"title": "x"}]', "list.txt"),
        ("[]", "list.json"),
        ("{}", "list.jsonl"),
        ('broken\n{"title": "x"}', "list.jsonl"),
        ('["only", "strings"]', "list.json"),
        ('{"title": "x"}', "list.json.gz"),
    ],
)
def test_what_is_json(text: str, name: str) -> None:
    assert json_lists.recognises(list_file(text, name))


@pytest.mark.parametrize(
    "text",
    [
        listing(*ABSTRACTS),
        "[1] We introduce a model.\n\n[2] We prove a bound.",
        "[Title](https://example.org)\n\nSome abstract.",
        "{\\bf We} introduce a model.",
        '{"Quoted" words} begin this abstract.',
        "@article{a, title = {x}}",
        "<a>{}</a>",
        "",
        'title,abstract\nx,"{""a"": 1}"',
    ],
)
def test_what_is_no_json(text: str) -> None:
    file = list_file(text or "\n", "list.txt")
    try:
        assert not json_lists.recognises(file)
    except ReadError as error:
        assert "empty" in str(error)


def test_a_list_of_our_own() -> None:
    found = only(
        {
            "id": "conf2025:7",
            "title": "Pricing",
            "abstract": ONE,
            "authors": ["Jo Doe", "Al Roe"],
            "venue": "CONF",
            "year": 2025,
            "keywords": ["auctions"],
            "url": "https://openreview.net/forum?id=AbCd12_-x",
        }
    )
    assert found == RawRecord(
        0, 1, ONE, "Pricing", ("Jo Doe", "Al Roe"), "CONF", 2025, ("auctions",),
        "https://openreview.net/forum?id=AbCd12_-x", openreview_id="AbCd12_-x", key="conf2025:7",
    )  # fmt: skip


def test_openreview_in_both_versions() -> None:
    first = {
        "id": "n0te", "forum": "f0rum_1", "invitation": "CONF.cc/2021/-/Submission", "cdate": 1600000000000,
        "content": {"title": "T", "abstract": ONE, "authors": ["A B", "C D"], "keywords": ["k"], "venue": "CONF 2021 Poster"},
    }  # fmt: skip
    second = {
        "id": "n0te2", "forum": "f0rum_2", "pdate": 1700000000000,
        "content": {key: {"value": value} for key, value in {**first["content"], "venue": "CONF Poster"}.items()},  # type: ignore[dict-item]
    }  # fmt: skip
    one, two = read({"notes": [first, second], "count": 2})
    for found, forum, venue, year in (
        (one, "f0rum_1", "CONF 2021 Poster", 2021),
        (two, "f0rum_2", "CONF Poster", 2023),
    ):
        assert (found.abstract, found.title, found.authors, found.keywords) == (ONE, "T", ("A B", "C D"), ("k",))
        assert (found.openreview_id, found.venue, found.year) == (forum, venue, year)
        assert found.url == f"https://openreview.net/forum?id={forum}"


def test_arxiv_snapshot() -> None:
    row = {
        "id": "2601.00001", "submitter": "S", "authors": "Jo Doe and Al Roe", "title": "T", "comments": "9 pages",
        "journal-ref": "J. Gardens 3", "doi": "10.1234/x", "categories": "cs.LG stat.ML", "abstract": "  " + ONE + "\n",
        "versions": [{"version": "v1", "created": "Mon, 5 Jan 2026 10:00:00 GMT"}, {"version": "v3", "created": "Fri, 1 Jan 2027 10:00:00 GMT"}],
        "update_date": "2027-01-04", "authors_parsed": [["Doe", "Jo", ""], ["Roe", "Al", "Jr."]],
    }  # fmt: skip
    found = only(row)
    assert (found.arxiv_id, found.key, found.year, found.venue) == ("2601.00001v3", "2601.00001", 2026, "J. Gardens 3")
    assert (found.authors[0], len(found.authors), found.doi) == ("Jo Doe", 2, "10.1234/x")
    assert (found.keywords, found.url) == (("cs.LG", "stat.ML"), "https://arxiv.org/abs/2601.00001")
    assert found.abstract == ONE


@pytest.mark.parametrize("identifier", ["2601.00001v1", "2601.00001", "cs/0601001v2"])
def test_arxiv_ids_as_ids(identifier: str) -> None:
    assert only({"id": identifier, "abstract": ONE}).arxiv_id == identifier


def test_arxiv_api_entries() -> None:
    found = only(
        {"entry_id": "http://arxiv.org/abs/2601.00001v2", "title": "T", "summary": ONE, "published": "2026-01-05"}
    )
    assert (found.abstract, found.arxiv_id, found.year) == (ONE, "2601.00001v2", 2026)


@pytest.mark.parametrize(
    ("name", "venue", "year", "identifier"),
    [
        ("icml2019.json", "ICML", 2019, None),
        ("/home/x/lists__iclr2024.json.gz", "ICLR", 2024, "B1xY-hRctX"),
        ("neurips_2023.json", "NeurIPS", 2023, "B1xY-hRctX"),
        ("list.json", None, None, None),
    ],
)
def test_conference_lists(name: str, venue: str | None, year: int | None, identifier: str | None) -> None:
    row = {"title": "T", "status": "Poster", "track": "main", "id": identifier or "3768", "author": "A B; C D", "aff": "U; V",
           "site": "https://example.org/3768", "abstract": ONE, "keywords": "k;l"}  # fmt: skip
    found = only(row, name)
    assert (found.venue, found.year, found.openreview_id) == (venue, year, identifier)
    assert (found.authors, found.keywords, found.url) == (("A B", "C D"), ("k", "l"), "https://example.org/3768")
    assert only({**row, "year": 2001, "venue": "V"}, name).year == 2001


def test_openalex() -> None:
    words = ONE.split()
    index: dict[str, list[int]] = {}
    for place, word in enumerate(words):
        index.setdefault(word, []).append(place)
    row = {
        "id": "https://openalex.org/W1", "doi": "https://doi.org/10.1234/X", "display_name": "T", "publication_year": 2020,
        "abstract_inverted_index": dict(sorted(index.items())),
        "authorships": [{"author": {"display_name": "Jo Doe"}}, {"author": {"display_name": "Al Roe"}}],
        "primary_location": {"landing_page_url": "https://example.org/1", "source": {"display_name": "J. Gardens"}},
        "keywords": [{"display_name": "weeds", "score": 0.4}],
    }  # fmt: skip
    found = read({"meta": {"count": 1}, "results": [row], "group_by": []})[0]
    assert (found.abstract, found.title, found.doi, found.year) == (" ".join(words), "T", "10.1234/x", 2020)
    assert (found.authors, found.venue, found.keywords) == (("Jo Doe", "Al Roe"), "J. Gardens", ("weeds",))
    assert (found.url, found.key) == ("https://example.org/1", "https://openalex.org/W1")


@pytest.mark.parametrize("index", [None, {}, [], "x", {"a": None}, {"a": ["b"]}, {"a": [10**30, 1], "b": [0]}])
def test_odd_inverted_indexes(index: Any) -> None:
    assert only({"title": "T", "abstract_inverted_index": index}).abstract in ("", "b a a")


def test_crossref() -> None:
    row = {
        "DOI": "10.1234/ABC", "URL": "http://dx.doi.org/10.1234/abc", "title": ["T"], "abstract": "<jats:p>Let &lt;a&gt;.</jats:p>",
        "author": [{"given": "Jo", "family": "Doe"}, {"name": "The Group"}], "container-title": ["J. Gardens"],
        "issued": {"date-parts": [[None]]}, "published-print": {"date-parts": [[2017, 4]]}, "subject": ["weeds"], "source": "Crossref",
        "reference": [{"key": "1", "article-title": "Other"}],
    }  # fmt: skip
    (found,) = read({"status": "ok", "message": {"items": [row], "total-results": 1}})
    assert (found.abstract, found.title, found.doi) == ("<jats:p>Let &lt;a&gt;.</jats:p>", "T", "10.1234/abc")
    assert (found.authors, found.venue, found.year) == (("Jo Doe", "The Group"), "J. Gardens", 2017)
    (alone,) = read({"status": "ok", "message-type": "work", "message": row})
    assert (alone.abstract, alone.doi, alone.venue) == (found.abstract, found.doi, found.venue)


def test_semantic_scholar() -> None:
    row = {"paperId": "0a1b", "externalIds": {"DOI": "10.1234/x", "ArXiv": "2601.00001", "CorpusId": 1}, "title": "T", "year": 2020,
           "abstract": None, "tldr": {"text": "Short."}, "authors": [{"authorId": "1", "name": "Jo Doe"}], "venue": "",
           "publicationVenue": {"name": "J. Gardens"}, "url": "https://example.org/0a1b"}  # fmt: skip
    one, two = read(
        {"total": 2, "data": [row, {**row, "abstract": ONE, "references": [{"title": "X", "abstract": TWO}]}]}
    )
    assert (one.abstract, one.reject) == ("", None)
    assert (two.abstract, two.doi, two.arxiv_id, two.key) == (ONE, "10.1234/x", "2601.00001", "0a1b")
    assert (two.authors, two.venue, two.year) == (("Jo Doe",), "J. Gardens", 2020)


def test_doaj() -> None:
    paper = {"title": "T", "abstract": ONE, "year": "2019", "author": [{"name": "Jo Doe"}], "journal": {"title": "J. Gardens"},
             "identifier": [{"type": "eissn", "id": "1234-5678"}, {"type": "DOI", "id": "10.1234/x"}], "keywords": ["weeds"],
             "link": [{"type": "fulltext", "url": "https://example.org/1"}]}  # fmt: skip
    found = only({"id": "d0a1", "bibjson": paper})
    assert (found.abstract, found.title, found.year, found.authors) == (ONE, "T", 2019, ("Jo Doe",))
    assert (found.venue, found.doi, found.url, found.key) == (
        "J. Gardens",
        "10.1234/x",
        "https://example.org/1",
        "d0a1",
    )


def test_retrieval_corpora() -> None:
    assert only({"_id": "17", "title": "T", "text": ONE, "metadata": {}}).abstract == ONE
    assert only({"_id": "17", "text": ONE}).abstract == ""
    assert only({"_id": "17", "title": "T", "text": TWO, "abstract": ONE}).abstract == ONE


def test_zotero() -> None:
    item = {"itemType": "journalArticle", "title": "T", "abstractNote": ONE, "publicationTitle": "J. Gardens", "date": "3 May 2020",
            "creators": [{"creatorType": "author", "firstName": "Jo", "lastName": "Doe"}, {"name": "The Group"}], "tags": [{"tag": "weeds"}]}  # fmt: skip
    for row in (item, {"key": "AB12", "data": item}):
        found = only(row)
        assert (found.abstract, found.venue, found.year) == (ONE, "J. Gardens", 2020)
        assert (found.authors, found.keywords) == (("Jo Doe", "The Group"), ("weeds",))


@pytest.mark.parametrize("envelope", ["_source", "paper", "attributes", "record"])
def test_records_in_an_envelope(envelope: str) -> None:
    found = only({"id": "7", "score": 1.5, envelope: {"title": "T", "abstract": ONE}})
    assert (found.abstract, found.title, found.key) == (ONE, "T", "7")


@pytest.mark.parametrize("abstract", ["", None, "N/A", 12, [], {}, False, [[]], [None], {"value": None}, "  "])
def test_abstracts_that_are_none(abstract: Any) -> None:
    rows = [{"title": "T", "abstract": ONE}, {"title": "U", "abstract": abstract}, {"title": "V", "abstract": TWO}]
    found = read(rows)
    assert [record.abstract for record in found] == [ONE, "12" if abstract == 12 else "", TWO]


def test_mapped_names() -> None:
    row = {"name": "T", "gist": ONE, "abstract": TWO, "content": {"plain": THREE}, "id": 1}
    assert only(row, fields={"abstract": "gist"}).abstract == ONE
    assert only(row, fields={"abstract": "content.plain"}).abstract == THREE
    (found,) = read({"meta": [{"a": 1}], "hits": [{"Gist": ONE}]}, fields={"abstract": "gist"})
    assert found.abstract == ONE


def test_a_file_without_abstracts_says_what_it_has() -> None:
    first, second = read([{"label": "x", "words": ONE}, {"label": "y", "words": TWO}])
    assert "label, words" in (first.reject or "") and "--map abstract=" in (first.reject or "")
    assert (second.abstract, second.reject) == ("", None)


BROKEN = [
    ('{"id": 1, "abstract": "a" "b"}', "not valid JSON"),
    ('{"id": 1, "abstract": "\\alpha"}', "escape"),
    ('{"id": 1, "abstract": "cut', "not valid JSON"),
    ('{"id": 1, "abstract": tru}', "not valid JSON"),
    ('{"id": 1, "x": ' + "9" * 5000 + "}", "not valid JSON"),
    ('{"id": 1, "x": ' + "[" * 10_000 + "]" * 10_000 + "}", "nested too deep"),
    ('{"id": 1, "x": ' + '{"a":' * 800 + "1" + "}" * 800 + "}", ""),
    ('{"id": 1, "abstract": "' + "x" * 2_100_000 + '"}', "2,000,000"),
    ('"words"', "a string"),
    ("12", "a number"),
    ("null", "null"),
    ("[1, 2]", "a list"),
    ("words", "not valid JSON"),
]


@pytest.mark.parametrize(("text", "reason"), BROKEN, ids=[text[:25] for text, _ in BROKEN])
@pytest.mark.parametrize("wrap", [("", "\n", "\n"), ("[", ",\n", "]"), ('{"results": [\n', ",\n", "\n]}")])
def test_broken_records_are_rejected(text: str, reason: str, wrap: tuple[str, str, str]) -> None:
    begin, between, end = wrap
    good = [json.dumps({"abstract": abstract}) for abstract in (ONE, TWO)]
    found = read(begin + between.join([good[0], text, good[1]]) + end)
    assert [record.abstract for record in found if not record.reject] in ([ONE, TWO], [ONE, "", TWO])
    assert [record.position for record in found] == [0, 1, 2]
    assert found[1].line == found[0].line + 1  # type: ignore[operator]
    assert reason in (found[1].reject or "")


def test_the_place_of_a_mistake_is_told() -> None:
    found = read('[\n{"abstract": "x"},\n{\n  "abstract": "y"\n  "title": "z"\n}\n]')
    assert (found[1].line, "line 5" in (found[1].reject or "")) == (3, True)


def test_comments_and_trailing_commas() -> None:
    text = '// by hand\n[\n  // the first\n  {"abstract": "a // b, }", /* why */ "x": [1, 2,],}, // next\n  {"abstract": "c",},\n]\n'
    assert [record.abstract for record in read(text)] == ["a // b, }", "c"]


def test_odd_but_sound_values() -> None:
    text = '{"abstract": "We use \\ud835 symbols.", "x": NaN, "y": -Infinity}\n{"abstract": "one\u2028two\u0085three"}\n{"abstract": "tab\there"}\n'
    assert [record.abstract for record in read(text)] == [
        "We use \ud835 symbols.",
        "one\u2028two\u0085three",
        "tab\there",
    ]


def test_the_registry_takes_json_whatever_its_name() -> None:
    for name in ("list.json", "list.txt", "list"):
        assert [record.abstract for record in read_all(json.dumps([{"abstract": ONE}]), name)] == [ONE]


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5), lambda s: st.lists(s, max_size=3) | st.dictionaries(
    st.sampled_from(["abstract", "title", "content", "authors", "id", "bibjson", "versions", "DOI", "externalIds", "authorships", "primary_location",
                     "keywords", "data", "creators", "year", "issued", "value", "text", "name", "abstract_inverted_index", "track", "authors_parsed", "paperId"]), s, max_size=5), max_leaves=15))  # fmt: skip
def test_any_values_are_read(value: object) -> None:
    file = list_file(json.dumps([value]), "icml2020.json")
    assert [record.position for record in json_lists.read(file)] == [0]


@given(
    st.lists(st.text(max_size=40), min_size=1, max_size=4),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    st.booleans(),
)
def test_abstracts_come_back(abstracts: list[str], encoding: str, lines: bool) -> None:
    rows = [{"abstract": f"{ONE} x{abstract}x", "title": "T"} for abstract in abstracts]
    text = "\n".join(map(json.dumps, rows)) if lines else json.dumps(rows, indent=2)
    assert [record.abstract for record in read_all(text.encode(encoding), "list.json")] == [
        row["abstract"] for row in rows
    ]


@given(st.data())
def test_any_damage_is_survived(data: st.DataObject) -> None:
    text = json.dumps(
        [{"id": i, "abstract": a, "authors": [{"name": "A"}]} for i, a in enumerate(ABSTRACTS[:4])],
        indent=data.draw(st.sampled_from([None, 1])),
    )
    raw = text.encode()
    at = data.draw(st.integers(0, len(raw) - 1))
    length = data.draw(st.integers(0, 30))
    damaged = (
        raw[:at]
        + data.draw(st.sampled_from([b"", raw[at : at + length] * 2, b"\xff", b'"', b"}", b"\\"]))
        + raw[at + length :]
    )
    positions = []
    try:
        for record in json_lists.read(list_file(damaged, "list.json")):
            positions.append(record.position)  # noqa: PERF401
    except ReadError:
        pass
    assert positions == list(range(len(positions)))
    assert 1 <= len(positions) <= 30


def test_a_file_on_disk(tmp_path: Path) -> None:
    path = tmp_path / "list.json"
    path.write_text(json.dumps({"papers": [{"abstract": ONE}]}))
    assert [record.abstract for record in json_lists.read(ListFile.at(path))] == [ONE]
