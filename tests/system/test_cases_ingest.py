"""Faults met with list files elsewhere, tried here: each test follows a case of the collection and asserts what is right."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cases_kit import (
    ABSTRACTS,
    BELLS,
    BREAD,
    CHALK,
    FERRY,
    HEADER,
    MOSS,
    ROOT,
    counts,
    invented,
    listing,
    papers_of,
    passages_of,
    write,
    write_json,
)
from cli_kit import confer

import ingest
from ingest.clean import clean_abstract
from rag import Assistant, Encoder
from rag.index import Index
from rag.schema import IngestReport, Paper
from rag.text import terms

Ingested = Callable[[Path], tuple[IngestReport, list[Paper]]]


@pytest.fixture
def index(tmp_path: Path) -> Path:
    """Where the test's index goes."""
    return tmp_path / "index"


@pytest.fixture
def ingested(index: Path, encoder: Encoder) -> Ingested:
    """Ingest a file into the test's index; returns the report and the papers."""

    def ingested(path: Path) -> tuple[IngestReport, list[Paper]]:
        return ingest.run([path], index, encoder=encoder), papers_of(index)

    return ingested


class Calls:
    """How often anything was encoded."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.number = 0
        for name in ("encode_passages", "encode_query", "encode_queries"):
            monkeypatch.setattr(Encoder, name, self._counted(getattr(Encoder, name)))

    def _counted(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*args: Any, **kwargs: Any) -> Any:
            self.number += 1
            return original(*args, **kwargs)

        return counted


@pytest.mark.parametrize("blank", ["", " ", "\t"], ids=["empty", "space", "tab"])
def test_case_01_windows_line_ends_split_as_unix_ones_do(
    blank: str, tmp_path: Path, index: Path, encoder: Encoder
) -> None:
    unix = write(tmp_path / "unix.txt", listing(MOSS, BELLS, FERRY))
    windows = write(tmp_path / "windows.txt", listing(MOSS, BELLS, FERRY, newline="\r\n", blank=blank))
    ingest.run([unix], tmp_path / "unix", encoder=encoder)
    report = ingest.run([windows], index, encoder=encoder)
    papers = papers_of(index)
    assert counts(report) == {"read": 3, "added": 3, "encoded": 3}
    assert [p.abstract for p in papers] == [MOSS, BELLS, FERRY]
    assert not any("\r" in value for p in papers for value in p.model_dump(mode="json").values() if type(value) is str)
    assert [p.id for p in papers] == [p.id for p in papers_of(tmp_path / "unix")]


@pytest.mark.slow  # a process of its own
def test_case_03_the_locale_changes_nothing(tmp_path: Path, encoder: Encoder) -> None:
    chinese = "本文研究屋顶苔藓的自动计数方法，先在无标注照片上预训练网络，再用少量样本微调，并在四百张照片上给出结果。"
    lists = write(tmp_path / "论文 ü.txt", listing(MOSS, chinese, f"{BELLS} Naïve ½ “so”."))
    ingest.run([lists], tmp_path / "utf8", encoder=encoder)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG", "PYTHON"))}
    plain = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "ui.cli", "ingest", str(lists), "--index", str(tmp_path / "c"), "--json"],
        cwd=tmp_path, env={**kept, **plain}, capture_output=True, check=True,
    )  # fmt: skip
    report = json.loads(done.stdout.decode("utf-8"))
    assert report["added"] == 3
    texts = [[p.model_dump_json() for p in papers_of(tmp_path / name)] for name in ("c", "utf8")]
    assert texts[0] == texts[1] and str(lists) in texts[0][0]
    files = {
        name: {
            path.relative_to(tmp_path / name): path.read_text(encoding="utf-8")
            for path in (tmp_path / name).rglob("*")
            if path.suffix == ".json" and "reports" not in path.parts
        }
        for name in ("c", "utf8")
    }
    assert files["c"] and files["c"] == files["utf8"]
    kept_reports = [
        [
            json.loads(path.read_text(encoding="utf-8")) | {"started": "", "seconds": 0}
            for path in (tmp_path / name).rglob("reports/*")
        ]
        for name in ("c", "utf8")
    ]
    assert kept_reports[0] == kept_reports[1]


def test_case_05_hidden_and_temporary_files_are_skipped_and_counted(tmp_path: Path, index: Path) -> None:
    lists = tmp_path / "lists"
    write(lists / "good.txt", listing(MOSS, BELLS))
    (lists / ".DS_Store").write_bytes(os.urandom(64))
    (lists / "~$good.txt").write_bytes(os.urandom(64))
    (lists / "empty").mkdir()
    done = confer("ingest", lists, "--index", index, "--json")
    assert done.returncode == 0, done.stderr
    report = IngestReport.model_validate_json(done.stdout)
    assert counts(report) == {"read": 2, "added": 2, "encoded": 2}
    assert sorted(Path(name).name for name in report.skipped) == [".DS_Store", "~$good.txt"]
    assert [p.abstract for p in papers_of(index)] == [MOSS, BELLS]
    assert "2 hidden, temporary or program files skipped" in confer("ingest", lists, "--index", index).stdout


@pytest.mark.parametrize("name", ["list.jsonl", "list.txt"])
def test_case_07_unicode_line_separators_do_not_cut_a_record(name: str, tmp_path: Path, ingested: Ingested) -> None:
    odd = (
        MOSS.replace("a network", "a\u2028network")
        .replace("It finds", "It\u0085finds")
        .replace("of 100", "of\u2029100")
    )
    path = tmp_path / name
    if name.endswith("jsonl"):
        write_json(path, {"abstract": odd})
        assert "\u2028" in path.read_text(encoding="utf-8") and "\u0085" in path.read_text(encoding="utf-8")
    else:
        write(path, listing(odd))
    report, papers = ingested(path)
    assert counts(report) == {"read": 1, "added": 1, "encoded": 1}
    one_space = str.maketrans(dict.fromkeys("\u2028\u2029\u0085", " "))
    assert [p.abstract.translate(one_space) for p in papers] == [MOSS]


def test_case_09_a_cell_beyond_the_csv_limit_costs_at_most_its_row(tmp_path: Path, ingested: Ingested) -> None:
    sentence = (
        "Environmental organizations established international communications infrastructure throughout Switzerland. "
    )
    long = (sentence * 1400)[:140_000]
    path = write(tmp_path / "list.csv", f'title,abstract\nMoss,"{MOSS}"\nLong,"{long}"\nBells,"{BELLS}"\n')
    report, papers = ingested(path)
    by_title = {p.title: p for p in papers}
    assert by_title["Moss"].abstract == MOSS and by_title["Bells"].abstract == BELLS
    if "Long" in by_title:  # then whole, in many passages
        assert by_title["Long"].abstract == long.strip() and report.encoded > 20
    else:
        assert [(r.position, r.line) for r in report.rejects] == [(1, 3)]
    assert report.read == 3


def test_case_11_junk_between_ris_records_is_in_no_paper(tmp_path: Path, ingested: Ingested) -> None:
    first = f"TY  - JOUR\nTI  - Counting Moss\nAB  - {MOSS}\nER  - \n"
    junk = "Link to full text: https://example.org/1\nC1 - Database: X\n2.\n"
    second = f"TY  - JOUR\nTI  - Ageing Bells\nAB  - {BELLS}\nER  - \n"
    report, papers = ingested(write(tmp_path / "export.ris", first + junk + second))
    assert [(p.title, p.abstract) for p in papers] == [("Counting Moss", MOSS), ("Ageing Bells", BELLS)]
    stored = " ".join(p.model_dump_json(exclude={"sources"}) for p in papers)
    assert not any(part in stored for part in ("Link to", "Database", "example.org"))
    warnings = [finding.reason for finding in report.suspicious if "belong to no record" in finding.reason]
    assert len(warnings) == 1 and "line 5" in warnings[0]
    assert report.rejected == 0


def test_case_13_unbalanced_braces_cost_at_most_their_entry(tmp_path: Path, ingested: Ingested) -> None:
    entries = [
        f"@article{{moss,\n  title = {{Counting Moss}},\n  abstract = {{{MOSS}}}\n}}\n",
        "@article{gains,\n  title = {Gains},\n  abstract = {We see gains of 12{\\% over baselines on nine harbours.}\n}\n",
        f"@article{{bells,\n  title = {{Ageing Bells}},\n  abstract = {{{BELLS}}}\n}}\n",
    ]
    report, papers = ingested(write(tmp_path / "list.bib", "\n".join(entries)))
    by_title = {p.title: p.abstract for p in papers}
    assert by_title["Counting Moss"] == MOSS and by_title["Ageing Bells"] == BELLS
    assert "bronze" not in by_title.get("Gains", "")
    if "Gains" not in by_title:
        assert [reject.position for reject in report.rejects] == [1] and "gains" in report.rejects[0].reason
    assert report.read == 3


def test_case_15_accent_macros_become_letters(
    tmp_path: Path, index: Path, ingested: Ingested, encoder: Encoder
) -> None:
    entry = (
        f'title = {{On H{{\\"o}}lder Na\\"{{\\i}}ve Bounds}},\n author = {{Mu{{\\~n}}iz, I.}},\n abstract = {{{CHALK}}}'
    )
    others = "".join(f"@misc{{k{n},\n abstract = {{{text}}}\n}}\n" for n, text in enumerate(map(invented, range(8))))
    _, papers = ingested(write(tmp_path / "list.bib", f"@article{{b,\n {entry}\n}}\n{others}"))
    found = next(p for p in papers if p.title)
    assert (found.title, found.authors) == ("On Hölder Naïve Bounds", ["Muñiz, I."])
    with Assistant.open(index, encoder=encoder) as assistant:
        for query in ("Hölder", "Holder", "naive bounds"):
            assert found.id in [hit.paper.id for hit in assistant.search(query, 3)], query


def test_case_17_a_bare_less_than_in_maths_is_no_tag(
    tmp_path: Path, index: Path, ingested: Ingested, encoder: Encoder
) -> None:
    text = "Holds if k<m and fails for n>30; the bound is <i>tight</i> when p < 0.05."
    path = write_json(tmp_path / "list.jsonl", {"abstract": text}, *({"abstract": a} for a in ABSTRACTS))
    _, papers = ingested(path)
    found = papers[0]
    assert found.abstract == text.replace("<i>", "").replace("</i>", "")
    with Assistant.open(index, encoder=encoder) as assistant:
        hit = assistant.search("fails for n", 1)[0]
        assert hit.paper.id == found.id and hit.lexical > 0


# As long as the case has it, and the same before more text.
ESCAPED_JATS = "&lt;jats:p&gt;Let a &amp;lt; b and R&amp;amp;D grow.&lt;/jats:p&gt;"


def test_case_19_escaped_jats_is_cleaned_to_text(tmp_path: Path, ingested: Ingested) -> None:
    path = write_json(tmp_path / "list.jsonl", {"abstract": ESCAPED_JATS})
    _, papers = ingested(path)
    assert [p.abstract for p in papers] == ["Let a < b and R&D grow."]
    assert clean_abstract(papers[0].abstract) == papers[0].abstract


def test_case_19_escaped_jats_around_a_longer_abstract(tmp_path: Path, ingested: Ingested) -> None:
    longer = ESCAPED_JATS.replace("grow.", f"grow. {MOSS}")
    _, papers = ingested(write_json(tmp_path / "list.jsonl", {"abstract": longer}))
    assert [p.abstract for p in papers] == [f"Let a < b and R&D grow. {MOSS}"]
    assert clean_abstract(papers[0].abstract) == papers[0].abstract


@pytest.mark.parametrize("runs", ["one", "three"])
@pytest.mark.parametrize("plain", ["oldest", "newest"])  # whose text the record without a version has
def test_case_21_versions_of_a_preprint_are_one_paper(
    plain: str, runs: str, tmp_path: Path, index: Path, encoder: Encoder
) -> None:
    edited = MOSS.replace("It finds 93 of 100 species.", "It finds 97 of 100 species.")
    records = [
        {"id": "2601.00001v1", "abstract": MOSS},
        {"id": "2601.00001v2", "abstract": edited},
        {"id": "2601.00001", "abstract": MOSS if plain == "oldest" else edited},
    ]
    if runs == "one":
        report = ingest.run([write_json(tmp_path / "list.jsonl", *records)], index, encoder=encoder)
        assert (report.read, report.added, report.updated) == (3, 1, 1)
    else:
        paths = [write_json(tmp_path / f"{n}.jsonl", record) for n, record in enumerate(records)]
        reports = [ingest.run([path], index, encoder=encoder) for path in paths]
        assert [r.added for r in reports] == [1, 0, 0] and reports[1].updated == 1
    assert [p.abstract for p in papers_of(index)] == [edited]
    with Assistant.open(index, encoder=encoder) as assistant:
        answer = assistant.ask("How many species does MossNet find?")
        assert not answer.refused and [c.marker for c in answer.citations] == [1]
        assert "97 of 100" in answer.text and "93 of 100" not in answer.text


def test_case_23_spellings_that_look_alike_match(tmp_path: Path, index: Path, ingested: Ingested) -> None:
    decomposed = unicodedata.normalize("NFD", "Hölder")
    text = f"The {decomposed} exponent of a river is read from CLIP features of 90 drone pictures, without any labels."
    _, papers = ingested(
        write(tmp_path / "list.txt", listing(text, MOSS, "We compare CLIP with Holder-free baselines on moss."))
    )
    assert papers[0].abstract == text  # the author's characters
    store = Index.open(index)
    try:

        def ranked(query: str) -> list[str]:
            scores = store.lexical.scores(terms(query))
            return sorted(scores, key=lambda i: (-scores[i], i))

        assert ranked("Hölder") == ranked(decomposed) == ranked("Holder") and papers[0].id in ranked("Hölder")
        assert ranked("ＣＬＩＰ") == ranked("CLIP") and papers[0].id in ranked("CLIP")
    finally:
        store.close()


def test_case_25_running_again_encodes_and_grows_nothing(
    tmp_path: Path, index: Path, encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "list.txt", listing(*map(invented, range(20))))
    assert ingest.run([path], index, encoder=encoder).added == 20
    passages = passages_of(index)
    calls = Calls(monkeypatch)
    again = ingest.run([path], index, encoder=encoder)
    os.utime(path)
    touched = ingest.run([path], index, encoder=encoder)
    renamed = Path(shutil.copy(path, tmp_path / "new name.txt"))
    under_new_name = ingest.run([renamed], index, encoder=encoder)
    assert [counts(r) for r in (again, touched)] == [{"read": 20, "unchanged": 20}] * 2
    assert counts(under_new_name) == {"read": 20, "duplicate": 20}
    assert calls.number == 0
    assert passages_of(index) == passages
    names = {tuple(Path(source.file).name for source in p.sources) for p in papers_of(index)}
    assert names == {("list.txt", "new name.txt")}


def test_case_27_what_the_folder_no_longer_holds_is_gone_everywhere(
    tmp_path: Path, index: Path, encoder: Encoder
) -> None:
    lists = tmp_path / "lists"
    write(lists / "a.txt", listing(MOSS, BELLS, FERRY))
    write(lists / "b.txt", listing(FERRY, BREAD, CHALK))
    ingest.run([lists], index, encoder=encoder)
    ids = {p.abstract: p.id for p in papers_of(index)}
    (lists / "b.txt").unlink()
    write(lists / "a.txt", listing(MOSS, FERRY))
    done = confer("ingest", lists, "--index", index, "--prune")
    assert "3 papers removed" in done.stdout
    kept = {ids[MOSS], ids[FERRY]}
    assert {p.id for p in papers_of(index)} == kept
    store = Index.open(index)
    try:
        nearest = store.nearest_passages(encoder.encode_query("Church bells, sourdough and chalk drawings"), 50)
        assert {stored.passage.paper_id for stored, _ in nearest} == kept
        assert set(store.lexical.ids) == kept
        assert store.lexical.scores(terms("bells bronze sourdough starters chalk pavements")) == {}
    finally:
        store.close()
    with Assistant.open(index, encoder=encoder) as assistant:
        for question in ("What explains the drift of church bells?", "What decides which yeasts live in starters?"):
            answer = assistant.ask(question)
            assert {p.id for p in answer.nearest} | {c.paper.id for c in answer.citations} <= kept
        assert not assistant.ask("What does TideTable learn delays from?").refused


def test_case_29_a_doi_of_two_papers_overwrites_neither(
    tmp_path: Path, index: Path, ingested: Ingested, encoder: Encoder
) -> None:
    doi = "10.5555/lantern.7"
    path = write_json(
        tmp_path / "list.jsonl",
        {"title": "Ageing Bells", "doi": doi, "abstract": BELLS},
        {"title": "Supplement on Sourdough", "doi": doi, "abstract": BREAD},
    )
    report, papers = ingested(path)
    assert {p.title: p.abstract for p in papers} == {"Ageing Bells": BELLS, "Supplement on Sourdough": BREAD}
    assert len(report.conflicts) == 1 and doi in report.conflicts[0].reason
    with Assistant.open(index, encoder=encoder) as assistant:
        assert assistant.search("bronze bells", 1)[0].paper.title == "Ageing Bells"
        assert assistant.search("yeasts in flour", 1)[0].paper.title == "Supplement on Sourdough"


def test_case_31_empty_records_are_named_and_stored_nowhere(tmp_path: Path, index: Path, encoder: Encoder) -> None:
    lists = tmp_path / "lists"
    write(lists / "list.txt", f"{HEADER}\n\n{MOSS}\n\n\n\n\n\u00a0\u200b\n\u200b\u00a0\n\n{BELLS}\n")
    empty = ["", None, "N/A", 12]
    write_json(lists / "rows.jsonl", *({"abstract": a} for a in [empty[0], FERRY, *empty[1:], BREAD]))
    report = ingest.run([lists], index, encoder=encoder)
    assert {p.abstract for p in papers_of(index)} == {MOSS, BELLS, FERRY, BREAD}
    rows = [(r.position, r.line, r.reason) for r in report.rejects if r.file.endswith("rows.jsonl")]
    assert [row[:2] for row in rows] == [(0, 1), (2, 3), (3, 4), (4, 5)]
    assert all("abstract" in reason for _, _, reason in rows), rows
    assert report.added == 4


def test_case_33_a_lone_surrogate_costs_at_most_its_record(tmp_path: Path, index: Path) -> None:
    records = [{"abstract": f"We use \ud835 symbols. {CHALK}"}, {"abstract": MOSS}, {"abstract": BELLS}]
    path = write(tmp_path / "list.json", json.dumps(records))
    assert "\\ud835" in path.read_text(encoding="utf-8")
    done = confer("ingest", path, "--index", index, "--json")
    assert done.returncode == 0, done.stderr
    report = IngestReport.model_validate_json(done.stdout)
    shown = confer("papers", "--index", index, "--json")
    abstracts = [p["abstract"] for p in json.loads(shown.stdout.encode("utf-8"))]
    assert {MOSS, BELLS} <= set(abstracts)
    if report.rejected:
        assert [r.position for r in report.rejects] == [0]
    else:
        assert abstracts[0] == f"We use \ufffd symbols. {CHALK}"
    answer = confer("ask", "What joins overlapping views of a street?", "--index", index, "--json")
    assert json.loads(answer.stdout.encode("utf-8"))["refused"] is bool(report.rejected)
