"""Records that are too deep or too long, and archives that never end: the others load, and memory stays bounded."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from broken_kit import PLAIN_ABSTRACTS, TEXTS, Format, Outcome, outcome_of
from ingest_kit import ROOT

OTHERS = [PLAIN_ABSTRACTS[number] for number in (0, 1, 3, 4)]
MOST_MEMORY = 400  # MB that reading a file may take at most


def deep(name: str) -> list[str]:
    """The third record of a file, nested ten thousand deep: closed, never closed, and what else makes a parser dig."""
    third, abstract, many = TEXTS[name].records()[2], PLAIN_ABSTRACTS[2], 10_000
    if "json" in name:
        values = [
            '{"a": ' * many + "1" + "}" * many,
            "[" * many + "]" * many,
            "[" * many,
            '{"a": ' * many,
            '[{"a": ' * many + "1" + "}]" * many,
        ]
        return [re.sub(r'"abstract": .*\}', lambda _, v=value: f'"abstract": {v}}}', third) for value in values]
    if name.endswith(".xml"):
        odd = ["<i>" * many + "x" + "</i>" * many, "<i>" * many, "<mrow>" * many + "</mrow>" * many, "</i>" * many]
        return [third.replace(abstract, abstract + value) for value in odd]
    odd = ["{" * many + "}" * many, "{" * many, "}" * many, "\\emph{" * many + "}" * many, "$" * many, "(" * many]
    return [third.replace(abstract, abstract + value) for value in [*odd, "<i>" * many, '"' * many, "[" * many]]


@pytest.mark.parametrize("name", TEXTS)
def test_records_that_are_nested_ten_thousand_deep(name: str) -> None:
    for record in deep(name):
        records = TEXTS[name].records()
        records[2] = record
        found: Outcome = outcome_of(TEXTS[name].text(*records), name)
        assert [abstract for abstract in found.abstracts if abstract in OTHERS] == OTHERS, record[:400]
        if "json" in name:
            assert "nested too deep" in found.report


READER = """
import json, resource, sys
from pathlib import Path
from broken_kit import outcome
from ingest.readers import ListFile
found = outcome(ListFile.at(Path(sys.argv[1])))
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
print(json.dumps([peak, found.abstracts, len(found.rejected), found.report[:2000]]))
"""


def read_apart(path: Path) -> tuple[int, list[str], int, str]:
    """Read a file in a process of its own: its peak memory in MB, the abstracts, how many rejects, and what was said."""
    done = subprocess.run(
        [sys.executable, "-c", READER, str(path)],
        cwd=Path(__file__).parent,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )
    peak, abstracts, rejected, report = json.loads(done.stdout)
    return peak, abstracts, rejected, report


FILLINGS = {
    "words": b"and the moss grew on ",
    "quotes": b'" ',
    "braces": b"{",
    "tags": b"<i>",
    "backslashes": b"\\",
    "zeros": b"\0",
    "Chinese": "苔藓".encode(),
}


def write_huge(path: Path, item: Format, filling: bytes, millions: int) -> None:
    """A file of five records, with so many millions of characters in the abstract of the third."""
    records = item.records()
    at = records[2].index(PLAIN_ABSTRACTS[2][:30]) + 30
    before = item.begin + item.between.join([*records[:2], records[2][:at]])
    after = records[2][at:] + item.between + item.between.join(records[3:]) + item.end
    block = filling * (1_000_000 // len(filling.decode()))
    with path.open("wb") as file:
        file.write(before.encode())
        for _ in range(millions):
            file.write(block)
        file.write(after.encode())


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", TEXTS)
def test_two_hundred_megabytes_in_one_record(name: str, tmp_path: Path) -> None:
    write_huge(tmp_path / name, TEXTS[name], FILLINGS["words"], 200)
    peak, abstracts, rejected, report = read_apart(tmp_path / name)
    assert abstracts == OTHERS and rejected == 1
    assert re.search(r"(longer|more) than \d,000,000 characters", report)
    assert peak < MOST_MEMORY


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("filling", sorted(FILLINGS.keys() - {"words"}))
@pytest.mark.parametrize("name", TEXTS)
def test_a_huge_record_of_odd_characters(name: str, filling: str, tmp_path: Path) -> None:
    write_huge(tmp_path / name, TEXTS[name], FILLINGS[filling], 6)
    peak, abstracts, _, report = read_apart(tmp_path / name)
    assert [abstract for abstract in abstracts if abstract in OTHERS] == OTHERS
    assert report and peak < MOST_MEMORY


def compressed(path: Path, piece: bytes, megabytes: int) -> None:
    """A gzip file, or a zip archive with one huge member and one good list, written without holding it."""
    block = piece * (1_000_000 // len(piece))
    if path.suffix == ".gz":
        with gzip.open(path, "wb") as file:
            for _ in range(megabytes):
                file.write(block)
        return
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        with archive.open("bomb.txt", "w", force_zip64=True) as member:
            for _ in range(megabytes):
                member.write(block)
        archive.writestr("good.bib", TEXTS["list.bib"].file())


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("piece", "reason"),
    [
        (b"\0", "the file is empty"),
        (b"a", "zip bomb"),
        (b"and the moss grew on the stone\n", "zip bomb"),
        (b"{", "zip bomb"),
    ],
    ids=["zeros", "letters", "lines", "braces"],
)
@pytest.mark.parametrize("name", ["bomb.zip", "bomb.json.gz"])
def test_a_gigabyte_in_a_megabyte(name: str, piece: bytes, reason: str, tmp_path: Path) -> None:
    compressed(tmp_path / name, piece, 1000)
    peak, abstracts, _, report = read_apart(tmp_path / name)
    assert reason in report and peak < MOST_MEMORY
    assert abstracts == (list(PLAIN_ABSTRACTS) if name == "bomb.zip" else [])
