"""Real export files, each through whichever reader takes it: how many records it holds, and how many with an abstract.

The counts were made by looking into the files (counting record starts and abstract fields), not by reading them with
Confer.
"""

from __future__ import annotations

import pytest
from ingest_kit import ROOT

from ingest.readers import ListFile, read_file
from ingest.readers.containers import members

FIXTURES = ROOT.parent / "shared" / "fixtures"

COUNTS = {
    "acl_xml__2021.jeptalnrecital.xml": (56, 56),
    "asreview_formats___baseline_embase.csv": (10, 8),
    "asreview_formats___baseline_embase.xlsx": (10, 8),
    "asreview_formats___baseline_excel.csv": (10, 8),
    "asreview_formats___baseline_mendeley.ris": (10, 8),
    "asreview_formats___baseline_openalex.ris": (9, 9),
    "asreview_formats___baseline_pubmed.ris": (50, 49),  # MEDLINE under another name
    "asreview_formats___baseline_refworks.tsv": (100, 98),
    "asreview_formats___baseline_zotero.csv": (10, 8),
    "bibliometrix__lens_sample.csv": (8, 8),
    "bibliometrix__scopus_sample.csv": (8, 8),
    "bibliometrix__wos_sample.txt": (8, 7),
    "bibtexparser__gbk_test.bib": (1, 0),
    "citesource__20221207_gambling-harms_lens_49.ris": (49, 49),
    "citesource__20221207_gambling-harms_psycinfo_124.ris": (124, 124),
    "citesource__AGRIS.ris": (12, 0),  # every AB is NA
    "citesource__WoS_79.ris": (79, 76),
    "cnki__mixed.gbk.net": (12, 11),
    "cnki__mixed.net": (12, 11),
    "fatcat__crossref-works.2018-01-21.badsample.json": (14, 2),
    "fatcat__example_doaj_articles.json": (5, 5),
    "fatcat__huge_crossref_doi.json.gz": (1, 0),
    "fatcat__jalc_rdf_sample_100.xml": (93, 0),
    "jabref_fixtures__MODSImporterTestModsCollection.xml": (3, 0),
    "jabref_fixtures__MedlineImporterTestMathML.xml": (1, 1),
    "jabref_fixtures__encoding-utf-16BE-without-header.bib": (1, 0),
    "jabref_fixtures__encoding-windows-1252-without-header.bib": (1, 1),
    "metaknowledge__OnePaper.isi": (1, 1),
    "metaknowledge__ProQuest_TestFile.testtxt": (100, 100),
    "metaknowledge__medline_test.medline": (175, 171),  # the last one is cut off
    "metaknowledge__testFile.isi": (34, 12),
    "nime_bib__nime2023.bib": (99, 99),
    "paperlists__icml2019.json": (774, 773),
    "revtools__restoration_WoS.ciw": (247, 215),
    "revtools__restoration_pubmed.nbib": (104, 96),
    "revtools__restoration_scopus.ris": (286, 281),
    "rispy__example_extraneous_data.ris": (2, 2),
    "rispy__example_multiline.ris": (3, 3),
    "zotero__Crossref_Unixref_XML-02.xml": (1, 0),
    "zotero__Crossref_Unixref_XML-04.xml": (1, 0),
    "zotero__Crossref_Unixref_XML-06.xml": (1, 0),
    "zotero__Crossref_Unixref_XML-08.xml": (1, 0),
    "zotero__Crossref_Unixref_XML-10.xml": (1, 0),
    "zotero__Crossref_Unixref_XML-12.xml": (1, 0),
    "zotero__OpenAlex_JSON-01.json": (1, 1),
    "zotero__OpenAlex_JSON-03.json": (1, 1),
    "zotero__OpenAlex_JSON-05.json": (1, 1),
    "zotero__OpenAlex_JSON-07.json": (1, 1),
}
NONE = frozenset({"n/a", "na", ""})  # what exports write where there is no abstract


@pytest.mark.skipif(not FIXTURES.is_dir(), reason="the real export files are not at hand")
@pytest.mark.parametrize("name", COUNTS)
def test_real_exports_are_read_whole(name: str) -> None:
    found = [
        record
        for member in members(ListFile.at(FIXTURES / name))
        if isinstance(member, ListFile)
        for record in read_file(member)
    ]
    assert [r.position for r in found] == list(range(len(found)))
    with_abstract = [r for r in found if r.abstract.strip().lower() not in NONE]
    assert (len(found), len(with_abstract)) == COUNTS[name]


@pytest.mark.skipif(not FIXTURES.is_dir(), reason="the real export files are not at hand")
def test_no_export_is_forgotten() -> None:
    here = {path.name for path in FIXTURES.iterdir()} - {"README.tsv", "HOWTO.md"}
    assert here == set(COUNTS)
