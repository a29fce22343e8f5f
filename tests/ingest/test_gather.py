"""Files to cleaned records, with the reasons for all that are none."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from ingest_kit import ABSTRACTS, write

from ingest import suspicion
from ingest.files import source_name
from ingest.findings import LISTED
from ingest.gather import LONGEST, Gathered, cleaned, gather
from ingest.identity import words
from ingest.readers import RawRecord
from ingest.spool import Spool
from rag.schema import IngestReport

FRENCH = (
    "Nous présentons une méthode pour apprendre la dérive des capteurs à partir de leurs voisins. Elle réduit de moitié "
    "l'erreur sur quatre cents stations, et le code est disponible en ligne pour tous les chercheurs."
)
GERMAN = (
    "Wir stellen ein Verfahren vor, das die Drift von Sensoren aus den Werten ihrer Nachbarn lernt. Auf vierhundert "
    "Stationen halbiert es den Fehler, und der Quelltext ist für alle Forschenden frei verfügbar."
)


def gathered(*files: Path, names: Mapping[Path, str] | None = None) -> tuple[Gathered, IngestReport, list[RawRecord]]:
    report = IngestReport()
    with Spool() as spool:
        found = gather(files, names or {}, report, spool)
        return found, report, [spool.read(item.at) for item in found.items]


def test_records_are_cleaned_and_what_is_wrong_is_said(tmp_path: Path) -> None:
    empty_when_clean = r"\cite{" + "long key, " * 20 + "}"
    files = [
        write(tmp_path / "good.txt", ABSTRACTS[0], "too short", empty_when_clean),
        write(tmp_path / "header.txt"),
        tmp_path / "binary.txt",
    ]
    files[2].write_bytes(bytes(range(256)) * 2)
    found, report, records = gathered(*files, names={files[0]: "upload: mine.txt"})
    assert [(i.file, i.position, i.line) for i in found.items] == [("upload: mine.txt", 0, 3)]
    assert records[0].abstract.startswith("Weather") and "**" not in records[0].abstract
    assert [(Path(r.file).name, r.line, r.reason) for r in report.rejects] == [
        ("upload: mine.txt", 5, "too short for an abstract: 'too short'"),
        ("upload: mine.txt", 7, "no text left after cleaning"),
        ("header.txt", None, "no abstracts in it (a header line alone is not a paper)"),
        ("binary.txt", None, "the file is binary, not text"),
    ]
    assert found.read == {"upload: mine.txt", source_name(files[1])} and found.unread == {source_name(files[2])}
    assert (report.read, report.rejected) == (5, 4)


def test_names_that_are_no_utf8(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/list\xff.txt"))
    path.write_text("\n\n".join(ABSTRACTS[:2]), encoding="utf-8")
    assert [item.file for item in gathered(path)[0].items] == [source_name(path)] * 2


def test_every_field_becomes_display_text() -> None:
    raw = RawRecord(
        0, 1, ABSTRACTS[0], title=r"On H{\"o}lder Na\"{\i}ve Bounds", authors=(r"Mu{\~n}iz, I.", " "), venue="J.~Stat",
        keywords=("weather \\&amp; climate", ""),
    )  # fmt: skip
    record = cleaned(raw)
    assert (record.title, record.authors, record.venue) == ("On Hölder Naïve Bounds", ("Muñiz, I.",), "J. Stat")
    assert record.keywords == ("weather & climate",)


def test_rejects_name_what_they_are_about() -> None:
    assert cleaned(RawRecord(0, 1, "", title="A Title")).reject == "no abstract ('A Title')"
    assert cleaned(RawRecord(0, 1, " N/A ", key="smith2020")).reject == "too short for an abstract: 'N/A' ('smith2020')"
    assert cleaned(RawRecord(0, 1, "word " * LONGEST)).reject == "too long for an abstract: 4,999,999 characters"


def test_placeholders_are_no_abstracts_but_texts_that_begin_so_are() -> None:
    for placeholder in ("[No abstract available]", "Abstract not available.", "null", "无摘要"):
        assert (cleaned(RawRecord(0, 1, placeholder)).reject or "").startswith("no abstract")
    wide = cleaned(RawRecord(0, 1, "Abstract" + " " * 200 + ABSTRACTS[4]))
    assert wide.reject is None and wide.abstract == ABSTRACTS[4]


def test_languages_are_counted_and_kept(tmp_path: Path) -> None:
    path = write(tmp_path / "list.txt", ABSTRACTS[0], ABSTRACTS[2], FRENCH, GERMAN, ABSTRACTS[4])
    found, report, _ = gathered(path)
    assert [item.language for item in found.items] == ["en", "zh", "fr", "de", "en"]
    assert report.languages == {"en": 2, "zh": 1, "fr": 1, "de": 1}


def test_what_looks_wrong_is_taken_and_named(tmp_path: Path) -> None:
    odd = {
        "Coral reefs are mapped by divers, slowly and at great cost.": "very short: 11 words",
        " ".join([ABSTRACTS[3]] * 14): "very long",
        "and at great cost, " + ABSTRACTS[7]: "begins in the middle",
        ABSTRACTS[7].rsplit(" ", 1)[0] + " and": "ends in the middle",
        f"{ABSTRACTS[7]} Abstract: {ABSTRACTS[5]}": "two abstracts",
    }
    _, report, records = gathered(write(tmp_path / "list.txt", *ABSTRACTS, *odd))
    assert len(records) == len(ABSTRACTS) + len(odd)
    assert [
        (f.position, expected in f.reason) for f, expected in zip(report.suspicious, odd.values(), strict=True)
    ] == [(len(ABSTRACTS) + i, True) for i in range(len(odd))]


@given(st.text())
def test_nothing_is_too_odd_to_be_looked_at(text: str) -> None:
    record = cleaned(RawRecord(0, 1, text))
    assert record.reject or list(suspicion.reasons(record.abstract, words(record.abstract))) is not None


def test_a_file_of_rubbish_is_counted_whole_and_listed_in_part(tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    path.write_text(f"{ABSTRACTS[0]}\n\n" + "rubbish\n\n" * (LISTED + 5), encoding="utf-8")
    found, report, _ = gathered(path)
    assert (len(found.items), report.rejected, len(report.rejects)) == (1, LISTED + 5, LISTED)
