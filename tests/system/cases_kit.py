"""Helpers of the case tests: invented abstracts, the command in process, what an index holds. Nothing here is mocked."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

from cli_kit import Done

from rag.index import Index
from rag.schema import IngestReport, Paper, Passage

ROOT = Path(__file__).parents[2]
HEADER = "Lanternfish Letters 2026"
NOUNS = "drone valley harbour lantern orchard glacier violin ledger compass meadow furnace pigeon saddle tunnel".split()
VERBS = "maps sorts repairs predicts measures compresses explains aligns filters schedules simulates ranks".split()

MOSS = (
    "Moss grows on old roofs and nobody counts it. We introduce MossNet, a network that counts moss species in "
    "photographs of 412 city roofs. It finds 93 of 100 species."
)
BELLS = (
    "Church bells drift out of tune as their bronze ages. We record 58 bells over eleven winters and model the drift "
    "with a damped oscillator. Frost explains most of it."
)
FERRY = (
    "Ferry timetables are planned by hand in many harbours. Our planner, TideTable, learns delays from tide gauges and "
    "cuts waiting by a quarter on seven island routes."
)
BREAD = (
    "Sourdough starters differ between kitchens. We sequence 230 starters and find that flour, not water, decides which "
    "yeasts live in them."
)
CHALK = (
    "Chalk drawings on pavements vanish within days. A camera on a bicycle collects them, and a matching algorithm joins "
    "overlapping views into one picture of each street."
)
ABSTRACTS = (MOSS, BELLS, FERRY, BREAD, CHALK)


# Says on stderr every connection and name look-up that Python code tries, then runs the command.
WATCHED = """
import sys
def hook(event, args):
    if event in {"socket.connect", "socket.getaddrinfo", "socket.gethostbyname"}:
        print("OUTBOUND", event, args, file=sys.__stderr__, flush=True)
sys.addaudithook(hook)
from ui.cli import main
main()
"""
CLOSED_PORT = "http://127.0.0.1:9"


def confer_cut_off(*arguments: str | Path, cwd: Path, **env: str) -> Done:
    """Run the command in a process of its own that tells of every outbound attempt; proxies lead to a closed port."""
    proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"), CLOSED_PORT)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("CONFER_", "HF_", "NO_PROXY"))}
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, *map(str, arguments)],
        cwd=cwd, env={**kept, "PYTHONPATH": str(ROOT), **proxies, **env}, capture_output=True, encoding="utf-8",
        timeout=240, check=False,
    )  # fmt: skip
    return Done(done.returncode, done.stdout, done.stderr)


def invented(number: int) -> str:
    """An invented abstract of some sixty words, like no other."""
    draw = random.Random(number)
    told = [
        f"Method {number}{letter} {draw.choice(VERBS)} every {draw.choice(NOUNS)} with a {draw.choice(NOUNS)} of "
        f"{draw.randint(2, 900)} parts and {draw.choice(VERBS)} each {draw.choice(NOUNS)} in turn."
        for letter in "abc"
    ]
    return " ".join(told)


def listing(*paragraphs: str, newline: str = "\n", blank: str = "") -> str:
    """The text of a list file with a header; `blank` is what stands on its blank lines."""
    return (newline + blank + newline).join([HEADER, *paragraphs]) + newline


def write(path: Path, text: str) -> Path:
    """Write a file in UTF-8, line ends as they are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


def write_json(path: Path, *records: dict[str, Any]) -> Path:
    """Write records as JSON Lines; what JSON does not have to escape stands there literally."""
    return write(path, "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records))


def papers_of(folder: Path) -> list[Paper]:
    """The papers of an index, in the order of their list."""
    index = Index.open(folder)
    try:
        return list(index.papers().values())
    finally:
        index.close()


def passages_of(folder: Path) -> dict[str, list[Passage]]:
    """The passages of an index by paper id, in reading order."""
    index = Index.open(folder)
    try:
        stored = index.passages(list(index.papers()))
        return {paper_id: [s.passage for s in found] for paper_id, found in stored.items()}
    finally:
        index.close()


def counts(report: IngestReport) -> dict[str, int]:
    """The counts of a report that are not zero; they must add up."""
    assert report.read == report.added + report.updated + report.unchanged + report.duplicate + report.rejected
    return {name: value for name, value in report.model_dump().items() if value and type(value) is int}
