"""The bundled sample, and the seed lists where they are at hand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from ingest_kit import ROOT, SEEDS, read_all
from plan_kit import carried_out

import ingest
from ingest.clean import clean
from rag.encoder import Encoder
from rag.sentences import URL
from rag.text import fold

SAMPLE = ROOT / "ingest" / "sample" / "icml2026_sample.txt"
needs_seeds = pytest.mark.skipif(not SEEDS.is_dir(), reason="the seed lists are not at hand")


def runs_of_words(text: str, length: int = 8) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", fold(URL.sub("", text)).casefold())  # an address can be told in one way only
    return {tuple(words[i : i + length]) for i in range(len(words) - length + 1)}


def abstracts(path: Path) -> list[str]:
    return [clean(r.abstract) for r in read_all(path.read_text(encoding="utf-8")) if not r.reject]


def test_the_sample_is_whole() -> None:
    made = carried_out({"sample": read_all(SAMPLE.read_bytes())})
    report, papers = made.report, made.papers.values()
    assert (report.read, report.added, report.rejected, report.duplicate) == (57, 57, 0, 0)
    labels = [p.label for p in papers]
    assert len({name.casefold() for name in labels}) == 57
    assert all(0 < len(name) <= 165 and name.count("$") % 2 == 0 for name in labels)
    assert {(p.venue, p.year) for p in papers} == {("ICML", 2026)}


def test_no_markup_is_left_in_the_sample() -> None:
    for abstract in abstracts(SAMPLE):
        outside_maths = re.sub(r"\$[^$]*\$", "", abstract)
        assert not re.search(r"\\[A-Za-z]|\*\*|``|''|<[a-z/]|&[a-z]+;", outside_maths)


@needs_seeds
def test_the_sample_is_told_afresh() -> None:
    seeds = set().union(*(runs_of_words(a) for path in sorted(SEEDS.glob("*.txt")) for a in abstracts(path)))
    shared = {run for abstract in abstracts(SAMPLE) for run in runs_of_words(abstract) if run in seeds}
    assert not shared


@needs_seeds
def test_the_seeds_load_whole_and_only_once(tmp_path: Path, encoder: Encoder) -> None:
    first = ingest.run([SEEDS], tmp_path / "index", encoder=encoder)
    assert (first.read, first.added, first.rejected) == (57, 57, 0)
    assert (first.suspicious, first.duplicates, first.conflicts, first.languages) == ([], [], [], {"en": 57})
    fresh = Encoder()
    second = ingest.run([SEEDS], tmp_path / "index", encoder=fresh)
    assert (second.unchanged, second.added, second.encoded, second.removed) == (57, 0, 0, 0)
    assert fresh._model is None
