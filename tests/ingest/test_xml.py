"""XML lists: every kind that is read, what its fields become, and files that are broken, monstrous or malicious."""

from __future__ import annotations

import contextlib
import io
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ingest_kit import ABSTRACTS, ROOT, list_file, listing, read_all

from ingest.clean import clean
from ingest.readers import ListFile, RawRecord, ReadError, xml_lists

FIXTURES = ROOT.parent / "shared" / "fixtures"
COUNTS = {  # records, records with an abstract
    "acl_xml__2021.jeptalnrecital.xml": (56, 56),
    "fatcat__jalc_rdf_sample_100.xml": (93, 0),
    "jabref_fixtures__MODSImporterTestModsCollection.xml": (3, 0),
    "jabref_fixtures__MedlineImporterTestMathML.xml": (1, 1),
    "zotero__Crossref_Unixref_XML-02.xml": (1, 0),
    "zotero__Crossref_Unixref_XML-04.xml": (1, 0),
    "zotero__Crossref_Unixref_XML-06.xml": (1, 0),
    "zotero__Crossref_Unixref_XML-08.xml": (1, 0),
    "zotero__Crossref_Unixref_XML-10.xml": (1, 0),
    "zotero__Crossref_Unixref_XML-12.xml": (1, 0),
}
PLAIN = ABSTRACTS[7]


def paper(pmid: int, abstract: str = PLAIN) -> str:
    return (
        f"<PubmedArticle><MedlineCitation><PMID>{pmid}</PMID><Article><ArticleTitle>Title {pmid}</ArticleTitle>\n"
        f"<Abstract><AbstractText>{abstract}</AbstractText></Abstract></Article></MedlineCitation></PubmedArticle>\n"
    )


def pubmed(*papers: str) -> str:
    return f'<?xml version="1.0" ?>\n<PubmedArticleSet>\n{"".join(papers)}</PubmedArticleSet>\n'


def collect(data: bytes | str) -> tuple[list[RawRecord], str]:
    """The records of a file, and why it could not be read on."""
    records: list[RawRecord] = []
    try:
        records.extend(xml_lists.read(list_file(data, "list.xml")))
    except ReadError as error:
        return records, str(error)
    return records, ""


@pytest.mark.parametrize("name", COUNTS)
def test_real_exports(name: str) -> None:
    path = FIXTURES / name
    if not path.exists():
        pytest.skip("the collection of real exports is not here")
    records = list(xml_lists.read(ListFile.at(path)))
    assert (len(records), sum(bool(r.abstract) for r in records)) == COUNTS[name]
    assert not [r for r in records if r.reject or not r.title]
    assert sum(bool(r.warning) for r in records) == ("jalc" in name)  # that file has no end


def test_pubmed() -> None:
    (record,) = read_all(
        """<?xml version="1.0" ?>
<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2019//EN" "https://dtd.example/pubmed.dtd">
<PubmedArticleSet>
<PubmedArticle><MedlineCitation><PMID Version="1">77</PMID><Article>
 <Journal><JournalIssue><PubDate><MedlineDate>1998 Dec-1999 Jan</MedlineDate></PubDate></JournalIssue><Title>J Reefs</Title></Journal>
 <ArticleTitle>Mapping <i>Acropora</i> &amp; others</ArticleTitle><ELocationID EIdType="doi">10.5555/REEF.1</ELocationID>
 <Abstract><AbstractText Label="AIM">We map CO<sub>2</sub>.</AbstractText><!-- no -->
  <AbstractText Label="RESULT" NlmCategory="RESULTS">It works (p &lt; 0.05).</AbstractText></Abstract>
 <AuthorList><Author><LastName>Roe</LastName><ForeName>Ann B</ForeName></Author>
  <Author><CollectiveName>The Reef Group</CollectiveName></Author></AuthorList>
 </Article><OtherAbstract><AbstractText>Autre.</AbstractText></OtherAbstract>
 <KeywordList><Keyword>reefs</Keyword><Keyword>drones</Keyword></KeywordList></MedlineCitation>
 <PubmedData><ReferenceList><Reference><ArticleIdList><ArticleId IdType="doi">10.1/other</ArticleId></ArticleIdList></Reference></ReferenceList></PubmedData>
</PubmedArticle></PubmedArticleSet>""",
        "list.xml",
    )
    assert record == RawRecord(
        0,
        4,
        "AIM: We map CO<sub>2</sub>. RESULT: It works (p < 0.05).",
        title="Mapping <i>Acropora</i> & others",
        authors=("Ann B Roe", "The Reef Group"),
        venue="J Reefs",
        year=1998,
        keywords=("reefs", "drones"),
        url="https://pubmed.ncbi.nlm.nih.gov/77/",
        doi="10.5555/reef.1",
        key="77",
    )


def test_another_abstract_counts_only_where_there_is_no_first() -> None:
    source = paper(1).replace("<Abstract>", "<OtherAbstract>").replace("</Abstract></Article>", "</OtherAbstract>")
    (record,) = read_all(pubmed(source.replace("</MedlineCitation>", "</Article></MedlineCitation>")), "list.xml")
    assert not record.abstract  # inside the article it is not where PubMed has it
    moved = f"<PubmedArticle><MedlineCitation><Article/><OtherAbstract><AbstractText>{PLAIN}</AbstractText></OtherAbstract></MedlineCitation></PubmedArticle>"
    assert [r.abstract for r in read_all(pubmed(moved), "list.xml")] == [PLAIN]


def test_mathml_stays_markup() -> None:
    maths = '<mml:math xmlns:mml="http://www.w3.org/1998/Math/MathML"><mml:mi>a</mml:mi><mml:mo>&lt;</mml:mo><mml:mfenced open="|"><mml:mi>b</mml:mi></mml:mfenced></mml:math>'
    (record,) = read_all(pubmed(paper(1, f"Let {maths} hold.")), "list.xml")
    assert record.abstract == 'Let <math><mi>a</mi><mo>&lt;</mo><mfenced open="|"><mi>b</mi></mfenced></math> hold.'


def test_acl_anthology() -> None:
    records = read_all(
        f"""<?xml version='1.0' encoding='UTF-8'?>
<collection id="2030.toy"><volume id="long"><meta><booktitle>Proc. <fixed-case>ACL</fixed-case></booktitle>
<editor><first>E</first><last>D</last></editor><year>2030</year></meta><frontmatter><url>2030.toy-long.0</url></frontmatter>
<paper id="1"><title><fixed-case>B</fixed-case>ig <fixed-case>M</fixed-case>odels</title><author><first>Ann</first><last>Roe</last></author>
<author><last>Plato</last></author><abstract>Costs fall by <tex-math>\\sim</tex-math>5%. {PLAIN}</abstract><url hash="1">2030.toy-long.1</url><doi>10.5555/x</doi><bibkey>roe-2030</bibkey></paper>
</volume><volume id="short"><meta><booktitle>Short</booktitle><year>2031</year></meta>
<paper id="1"><title>Small</title><url>https://x.example/a.pdf</url></paper></volume></collection>""",
        "2030.toy.xml",
    )
    assert records[0] == RawRecord(
        0,
        4,
        f"Costs fall by $\\sim$5%. {PLAIN}",
        title="Big Models",
        authors=("Ann Roe", "Plato"),
        venue="Proc. ACL",
        year=2030,
        url="https://aclanthology.org/2030.toy-long.1/",
        doi="10.5555/x",
        key="roe-2030",
    )
    assert [(r.title, r.venue, r.year, r.abstract) for r in records[1:]] == [("Small", "Short", 2031, "")]


def test_mods_with_a_prefix() -> None:
    (record,) = read_all(
        f"""<mods:modsCollection xmlns:mods="http://www.loc.gov/mods/v3"><mods:mods ID="roe30">
<mods:titleInfo><mods:nonSort>The</mods:nonSort><mods:title>Reefs</mods:title><mods:subTitle>A Map</mods:subTitle></mods:titleInfo>
<mods:name><mods:namePart type="family">Roe</mods:namePart><mods:namePart type="given">Ann</mods:namePart><mods:role><mods:roleTerm>author</mods:roleTerm></mods:role></mods:name>
<mods:name><mods:namePart>Ed Itor</mods:namePart><mods:role><mods:roleTerm>editor</mods:roleTerm></mods:role></mods:name>
<mods:abstract>{PLAIN}</mods:abstract><mods:subject><mods:topic>reefs</mods:topic></mods:subject>
<mods:identifier type="doi">10.5555/m</mods:identifier>
<mods:relatedItem type="host"><mods:titleInfo><mods:title>J Maps</mods:title></mods:titleInfo><mods:originInfo><mods:dateIssued>2030-01</mods:dateIssued></mods:originInfo></mods:relatedItem>
</mods:mods></mods:modsCollection>""",
        "export.xml",
    )
    assert (record.title, record.authors, record.venue, record.year) == (
        "The Reefs: A Map",
        ("Ann Roe",),
        "J Maps",
        2030,
    )
    assert (record.abstract, record.keywords, record.doi, record.key) == (PLAIN, ("reefs",), "10.5555/m", "roe30")


def test_crossref() -> None:
    article = (
        "<journal_article><titles><title>{0}</title></titles><contributors><person_name contributor_role='author'>"
        "<given_name>Ann</given_name><surname>Roe</surname></person_name><person_name contributor_role='editor'><surname>No</surname></person_name></contributors>"
        "<jats:abstract xmlns:jats='http://jats.nlm.nih.gov'><jats:title>Abstract</jats:title><jats:p>Text {0}.</jats:p></jats:abstract>"
        "<publication_date><year>2029</year></publication_date><doi_data><doi>10.5555/{0}</doi><resource>https://x.example/{0}</resource></doi_data>"
        "<citation_list><citation><doi>10.5555/cited</doi></citation></citation_list></journal_article>\n"
    )
    records = read_all(
        "<doi_batch><body><journal><journal_metadata><full_title>J Maps</full_title></journal_metadata>\n"
        + article.format("a")
        + article.format("b")
        + "</journal>\n<posted_content><group_title>Preprints</group_title><titles><title>P</title></titles><posted_date><year>2030</year></posted_date></posted_content></body></doi_batch>",
        "deposit.xml",
    )
    assert [(r.title, r.authors, r.venue, r.year, r.doi, r.line) for r in records] == [
        ("a", ("Ann Roe",), "J Maps", 2029, "10.5555/a", 2),
        ("b", ("Ann Roe",), "J Maps", 2029, "10.5555/b", 3),
        ("P", (), "Preprints", 2030, None, 5),
    ]
    assert records[0].abstract == "<title>Abstract</title><p>Text a.</p>"


def test_jats() -> None:
    (record,) = read_all(
        f"""<!DOCTYPE article SYSTEM "JATS.dtd"><article xmlns:xlink="http://www.w3.org/1999/xlink"><front><journal-meta><journal-title-group><journal-title>J Maps</journal-title></journal-title-group></journal-meta>
<article-meta><article-id pub-id-type="doi">10.5555/j</article-id><title-group><article-title>Reefs</article-title></title-group>
<contrib-group><contrib contrib-type="author"><name><surname>Roe</surname><given-names>Ann</given-names></name></contrib></contrib-group>
<pub-date><year>2028</year></pub-date><self-uri xlink:href="https://x.example/j"/><abstract abstract-type="teaser"><p>Read me!</p></abstract>
<abstract><sec><title>Aim</title><p>{PLAIN}</p></sec><sec><title>End</title><p>With <inline-formula><alternatives><mml:math xmlns:mml="m"><mml:mi>x</mml:mi></mml:math><tex-math>\\documentclass{{x}}\\begin{{document}}$$x^2$$\\end{{document}}</tex-math></alternatives></inline-formula>.</p></sec></abstract>
<kwd-group><kwd>reefs</kwd></kwd-group></article-meta></front><body><p>Body.</p></body></article>""",
        "article.xml",
    )
    assert record.abstract == f"<title>Aim</title><p>{PLAIN}</p> <title>End</title><p>With $$x^2$$.</p>"
    assert (record.title, record.authors, record.venue, record.year) == ("Reefs", ("Ann Roe",), "J Maps", 2028)
    assert (record.doi, record.keywords, record.url) == ("10.5555/j", ("reefs",), "https://x.example/j")


def test_arxiv_feed_and_harvest() -> None:
    feed = f"""<?xml version="1.0" encoding="UTF-8"?><feed xmlns="http://www.w3.org/2005/Atom"><title>Query</title>
<entry><id>http://arxiv.org/abs/2401.01234v2</id><published>2024-01-02T00:00:00Z</published><title>Big
  Models</title><summary> {PLAIN}
</summary><author><name>Ann Roe</name></author><arxiv:doi xmlns:arxiv="a">10.5555/a</arxiv:doi><category term="cs.CL"/></entry></feed>"""
    harvest = f"""<OAI-PMH><ListRecords><record><metadata><arXiv xmlns="http://arxiv.org/OAI/arXiv/"><id>2401.01234</id><created>2024-01-02</created>
<authors><author><keyname>Roe</keyname><forenames>Ann</forenames></author></authors><title>Big Models</title><categories>cs.CL</categories><doi>10.5555/a</doi><abstract>{PLAIN}</abstract></arXiv></metadata></record></ListRecords></OAI-PMH>"""
    for source, version in ((feed, "v2"), (harvest, "")):
        (record,) = read_all(source, "answer.xml")
        assert (record.title, record.authors, record.year) == ("Big Models", ("Ann Roe",), 2024)
        assert (record.abstract, record.doi, record.keywords) == (PLAIN, "10.5555/a", ("cs.CL",))
        assert record.arxiv_id == f"2401.01234{version}"


def test_dublin_core_in_two_languages() -> None:
    person = "<dcterms:creator><foaf:Person><foaf:name>{}</foaf:name><foaf:familyName>{}</foaf:familyName><foaf:givenName>{}</foaf:givenName></foaf:Person></dcterms:creator>"
    (record,) = read_all(
        '<rdf:RDF xmlns:rdf="r"><rdf:Description rdf:about="https://doi.org/10.5555/q"><prism:doi>10.5555/q</prism:doi>'
        "<dcterms:title>Reefs</dcterms:title><dcterms:title>珊瑚礁</dcterms:title>"
        + person.format("Yama Ken", "Yama", "Ken")
        + person.format("山 健", "山", "健")
        + f"<dcterms:date>2014</dcterms:date><dcterms:description>{PLAIN}</dcterms:description>"
        "<dcterms:publicationName>礁学</dcterms:publicationName><dcterms:publicationName>Reef Science</dcterms:publicationName></rdf:Description></rdf:RDF>",
        "list.rdf",
    )
    assert (record.title, record.authors, record.venue, record.year) == ("Reefs", ("Ken Yama",), "Reef Science", 2014)
    assert (record.abstract, record.doi, record.url) == (PLAIN, "10.5555/q", "https://doi.org/10.5555/q")


def test_endnote() -> None:
    (record,) = read_all(
        '<?xml version="1.0"?><xml><records><record><rec-number>5</rec-number><contributors><authors><author><style face="normal">Roe, Ann</style></author></authors></contributors>'
        '<titles><title><style>Reef</style><style face="italic">s</style></title><secondary-title>J Maps</secondary-title></titles><dates><year>2020</year></dates>'
        f"<abstract><style>{PLAIN}</style></abstract><urls><related-urls><url>https://x.example/r</url></related-urls></urls></record></records></xml>",
        "export.xml",
    )
    assert (record.title, record.authors, record.venue, record.year) == ("Reefs", ("Roe, Ann",), "J Maps", 2020)
    assert (record.abstract, record.url, record.key) == (PLAIN, "https://x.example/r", "5")


BOMB = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10 if i else "ha" * 50}">' for i in range(12))


@pytest.mark.parametrize(
    ("declaration", "entity"),
    [
        (BOMB, "&l11;"),
        ('<!ENTITY l "x"><!ENTITY x SYSTEM "file:///etc/passwd">', "&x;"),
        ('<!ENTITY % p SYSTEM "file:///etc/passwd"> %p;', "&p;"),
    ],
)
def test_entities_are_neither_expanded_nor_fetched(declaration: str, entity: str) -> None:
    source = pubmed(paper(1), paper(2, entity), paper(3, f"Some text {entity}."), paper(4))
    source = source.replace("<PubmedArticleSet>", f"<!DOCTYPE PubmedArticleSet [{declaration}]>\n<PubmedArticleSet>", 1)
    tracemalloc.start()
    records, lost = collect(source)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [bool(r.abstract) for r in records] == [True, False, True, True] and not lost
    assert records[1].reject == f"its abstract is an XML entity ({entity})"
    assert records[2].abstract == f"Some text {entity}." and entity in (records[2].warning or "")
    assert not any("root:" in r.abstract for r in records)
    assert peak < 30_000_000


def test_names_that_html_knows_and_loose_marks_are_text() -> None:
    (record,) = read_all(
        pubmed(paper(1, "Caf&eacute; R&D at AT&T: p < 0.05, &#55357; &#0;&#233;\x01 <![CDATA[a<b & c]]>")), "list.xml"
    )
    assert clean(record.abstract).startswith("Café R&D at AT&T: p < 0.05, ")
    assert record.abstract.endswith("é a<b & c") and not record.reject and not record.warning


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (paper(2).replace("</AbstractText>", ""), "malformed XML in line 6"),
        (paper(2).replace("<AbstractText>", "<AbstractText Label=x>"), "malformed XML in line 6"),
        (paper(2).replace("</PubmedArticle>", ""), "<PubmedArticle> in line 5 is not closed"),
        (
            paper(2, "<i>" * 10_000 + "deep" + "</i>" * 10_000),
            "malformed XML in line 6: its elements are nested too deep",
        ),
        (paper(2, "x" * 11_000_000), "<PubmedArticle> is longer than 4,000,000 characters"),
    ],
    ids=["no end", "attribute", "not closed", "deep", "long"],
)
def test_a_broken_record_spoils_no_other(broken: str, reason: str) -> None:
    records, lost = collect(pubmed(paper(1), broken, paper(3)))
    assert [(r.position, r.line, r.abstract) for r in (records[0], records[2])] == [
        (0, 3, PLAIN),
        (2, 7 - ("AbstractText>" not in broken), PLAIN),
    ]
    assert (records[1].reject or "").startswith(reason) and not records[1].abstract
    assert len(records) == 3 and not lost


@pytest.mark.parametrize("kept", [0.3, 0.55, 0.8])
def test_a_file_that_is_cut_off(kept: float) -> None:
    whole = pubmed(*(paper(i) for i in range(20)))
    records, lost = collect(whole[: int(len(whole) * kept)])
    good = [r for r in records if not r.reject]
    assert 20 * kept - 2 <= len(good) <= 20 * kept
    assert "ends before its <PubmedArticleSet> does" in (records[-1].warning or "") and not lost


def test_a_file_that_is_cut_off_between_records() -> None:
    records = read_all(pubmed(paper(1), paper(2)).partition("</PubmedArticleSet>")[0], "list.xml")
    assert [bool(r.warning) for r in records] == [False, True]


def test_an_empty_record_is_counted() -> None:
    records = read_all(pubmed("<PubmedArticle/>\n", paper(2)), "list.xml")
    assert [(r.position, r.key, r.reject) for r in records] == [
        (0, None, "<PubmedArticle> in line 3 holds no paper"),
        (1, "2", None),
    ]


def test_a_comment_hides_records() -> None:
    source = pubmed(paper(1), "<!-- hidden\n", paper(2), "-->\n", paper(3))
    assert [(r.key, r.line) for r in read_all(source, "list.xml")] == [("1", 3), ("3", 9)]


def test_a_comment_that_never_ends_hides_nothing() -> None:
    warning = "the comment that begins in line 5 never ends"
    between = read_all(pubmed(paper(1), "<!-- hidden\n", paper(2), "<!--", paper(3)), "list.xml")
    assert [(r.position, r.key, r.warning, r.reject) for r in between] == [
        (0, "1", warning, None),
        (1, "2", None, None),
        (2, "3", None, None),
    ]
    inside = read_all(pubmed(paper(1), paper(2).replace("</PMID>", "</PMID><!-- x"), paper(3)), "list.xml")
    assert [(r.position, r.key, bool(r.reject)) for r in inside] == [(0, "1", False), (1, "2", False), (2, "3", False)]
    assert inside[1].warning == warning


@pytest.mark.parametrize("lost", [1, 40, 80])
def test_a_record_without_beginning_spoils_not_the_one_before_it(lost: int) -> None:
    records = read_all(pubmed(paper(1), paper(2)[lost:], paper(3)), "list.xml")
    assert [(r.position, r.line, bool(r.reject)) for r in records] == [(0, 3, False), (1, 5, True), (2, 7, False)]
    assert records[1].reject == "the <PubmedArticle> that line 5 belongs to does not begin"


@pytest.mark.parametrize(
    ("declared", "written"),
    [
        ("UTF-8", "utf-8"),
        ("UTF-8", "utf-8-sig"),
        ("ISO-8859-1", "latin-1"),
        ("windows-1252", "cp1252"),
        ("UTF-16", "utf-16"),
        ("UTF-16", "utf-8"),
        ("UTF-8", "utf-16"),
        ("UTF-8", "latin-1"),
        ("ISO-8859-1", "utf-8"),
        ("no-such-code", "utf-8"),
    ],
)
def test_encodings(declared: str, written: str) -> None:
    source = pubmed(paper(1, "Größe und Maß der Öfen, naïve Schätzung.")).replace(
        '"1.0"', f'"1.0" encoding="{declared}"'
    )
    (record,) = read_all(source.encode(written), "list.xml")
    assert record.abstract == "Größe und Maß der Öfen, naïve Schätzung."


@pytest.mark.parametrize("encoding", ["iso-2022-jp", "euc-jp", "shift_jis"])
def test_japanese_encodings(encoding: str) -> None:
    source = pubmed(paper(1, "珊瑚礁の地図を作る方法を提案する。")).replace('"1.0"', f'"1.0" encoding="{encoding}"')
    assert [r.abstract for r in xml_lists.read(list_file(source.encode(encoding), "list.xml"))] == [
        "珊瑚礁の地図を作る方法を提案する。"
    ]


def test_memory_stays_bounded() -> None:
    class Long(io.RawIOBase):
        """A list with one record of 24 MB of small elements."""

        def __init__(self) -> None:
            head, tail = pubmed(paper(1)).encode(), b"</PubmedArticleSet>\n"
            many = [paper(i).encode() for i in range(300)]
            huge = [b"<PubmedArticle>", *[b"<a>b</a>" * 1000] * 3000, b"</PubmedArticle>\n"]
            self.parts = [head.removesuffix(tail), *many, *huge, *many, tail]

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
            if not self.parts:
                return 0
            count = min(len(buffer), len(self.parts[0]))
            buffer[:count] = self.parts[0][:count]
            rest = self.parts[0][count:]
            self.parts[:1] = [rest] if rest else []
            return count

    file = ListFile("list.xml", lambda: io.BufferedReader(Long()))  # type: ignore[type-var]
    tracemalloc.start()
    rejected = [bool(record.reject) for record in xml_lists.read(file)]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert rejected == [False] * 301 + [True] + [False] * 300
    assert peak < 20_000_000


@pytest.mark.parametrize(
    ("text", "name", "yes"),
    [
        (pubmed(paper(1)), "list.txt", True),
        ("\ufeff\n " + pubmed(paper(1)), "list", True),
        (pubmed(paper(1)).partition("\n")[2], "list", True),
        ("<records/>", "list.xml", True),
        ("<records/>", "list.txt", False),
        ("<p>An abstract in a paragraph.</p>", "list.txt", False),
        ("<b>ICML</b> 2026", "list.xml", True),
        (listing(*ABSTRACTS), "list.xml", False),
        ("< 5% of all", "list.xml", False),
        ("<", "list.xml", False),
    ],
)
def test_recognising(text: str, name: str, yes: bool) -> None:
    assert xml_lists.recognises(list_file(text, name)) is yes


@pytest.mark.parametrize("source", ["<?xml version='1.0'?><!-- x --><dblp><article/></dblp>", "<dblp x='1'/>"])
def test_unknown_xml(source: str) -> None:
    with pytest.raises(ReadError, match=r"its root element is <dblp>\); it reads PubMed, .*EndNote"):
        read_all(source, "list.xml")


PAPERS = [paper(i, abstract.replace("&", "and").replace("<", " ")) for i, abstract in enumerate(ABSTRACTS)]


@settings(deadline=None)
@given(st.data(), st.integers(1, len(PAPERS) - 2))
def test_damage_stays_in_its_record(data: st.DataObject, index: int) -> None:
    broken = bytearray(PAPERS[index].encode())
    for _ in range(data.draw(st.integers(1, 5))):
        at = data.draw(st.integers(20, len(broken) - 100))
        if data.draw(st.booleans()):
            del broken[at : at + data.draw(st.integers(1, 60))]
        else:
            broken[at:at] = data.draw(
                st.sampled_from([b"<", b">", b"&", b"</", b"<a ", b'"', b"&#1;", b"\x01", b"\xff", b"]]>"])
            )
    parts = [p.encode() for p in PAPERS]
    parts[index] = bytes(broken)
    records = list(
        xml_lists.read(list_file(b"<PubmedArticleSet>" + b"".join(parts) + b"</PubmedArticleSet>", "list.xml"))
    )
    assert [r.position for r in records] == list(range(len(PAPERS)))
    for i, (record, abstract) in enumerate(zip(records, ABSTRACTS, strict=True)):
        assert i == index or (record.key, record.abstract) == (str(i), abstract)


@settings(deadline=None)
@given(st.data())
def test_damage_anywhere_ends_in_records_or_a_reason(data: st.DataObject) -> None:
    source = bytearray("".join(["<PubmedArticleSet>", *PAPERS, "</PubmedArticleSet>"]).encode())
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(20, len(source) - 1))
        if data.draw(st.booleans()):
            del source[at : at + data.draw(st.integers(1, 300))]
        else:
            source[at] = data.draw(st.integers(0, 255))
        source += b"." * max(0, 40 - len(source))
    positions: list[int] = []
    with contextlib.suppress(ReadError):
        positions.extend(r.position for r in xml_lists.read(list_file(bytes(source), "list.xml")))
    assert positions == list(range(len(positions)))
