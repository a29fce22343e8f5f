"""What only shows between processes: another locale, and a run that is killed and started again."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from ingest_kit import ABSTRACTS, ROOT, contents, write

import ingest
from rag.encoder import Encoder

Place = tuple[str, int]
# Where a first ingest of five papers (three batches of two) is killed, and where a later pruning run is.
FIRST_RUN: list[Place] = [("upsert", 3)]  # passages of the second batch, but not its papers
FIRST_RUN_MORE: list[Place] = [
    ("create", 1),  # an empty index
    ("vectors", 2),  # sentence vectors of the second batch, and nothing else of it
    ("upsert", 4),  # the whole second batch
    ("keywords", 1),  # everything but the passport
    ("passport", 1),
]
PRUNING_RUN: list[Place] = [("delete", 1)]  # papers are gone, but not their passages
PRUNING_RUN_MORE: list[Place] = [("upsert", 1), ("upsert", 2), ("update", 1), ("delete", 2), ("keywords", 1)]
C_LOCALE = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0", "OMP_NUM_THREADS": "1"}


class Runs:
    """The lists of all runs, and the indexes as a worker left them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.lists = root / "lists"
        self.edited = root / "edited"  # lists that were changed after an index had been built from them
        self.whole = root / "whole"  # ingested without disturbance
        self.codes: list[int] = []

    def killed(self, run: str, place: Place) -> Path:
        return self.root / f"{run}-{place[0]}-{place[1]}"


def work(root: Path, first: list[Place], pruning: list[Place], encoder: Encoder) -> Runs:
    """Let one worker process do all jobs, in the C locale."""
    done = Runs(root)
    write(done.lists / "论文 1.txt", *ABSTRACTS[:5])
    write(done.edited / "a.txt", ABSTRACTS[0], ABSTRACTS[2], ABSTRACTS[5])
    write(done.edited / "b.txt", ABSTRACTS[0], ABSTRACTS[6])
    ingest.run([done.edited], root / "before", encoder=encoder)
    write(done.edited / "a.txt", ABSTRACTS[7], ABSTRACTS[0], ABSTRACTS[2])
    (done.edited / "b.txt").unlink()
    jobs: list[dict[str, object]] = [{"lists": str(done.lists), "index": str(done.whole), "kill": None, "prune": False}]
    for place in first:
        jobs.append({**jobs[0], "index": str(done.killed("first", place)), "kill": place})
    for place in pruning:
        index = shutil.copytree(root / "before", done.killed("pruning", place))
        jobs.append({"lists": str(done.edited), "index": str(index), "kill": place, "prune": True})
    (root / "jobs.json").write_text(json.dumps(jobs), encoding="utf-8")
    worker = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("worker.py")), str(root / "jobs.json")],
        cwd=ROOT,
        env={**os.environ, **C_LOCALE, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=True,
    )
    done.codes = [int(line) for line in worker.stdout.split()]
    return done


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory, encoder: Encoder) -> Runs:
    return work(tmp_path_factory.mktemp("runs"), FIRST_RUN, PRUNING_RUN, encoder)


@pytest.fixture(scope="session")
def more_runs(tmp_path_factory: pytest.TempPathFactory, encoder: Encoder) -> Runs:
    return work(tmp_path_factory.mktemp("more-runs"), FIRST_RUN_MORE, PRUNING_RUN_MORE, encoder)


def finish_first_run(runs: Runs, place: Place, encoder: Encoder) -> None:
    index = runs.killed("first", place)
    report = ingest.run([runs.lists], index, encoder=encoder)
    assert (report.read, report.added + report.unchanged, report.encoded) == (5, 5, report.added)
    assert contents(index) == contents(runs.whole)
    again = ingest.run([runs.lists], index, encoder=encoder)
    assert (again.unchanged, again.encoded) == (5, 0)


def finish_pruning_run(runs: Runs, place: Place, encoder: Encoder, afresh: Path) -> None:
    ingest.run([runs.edited], runs.killed("pruning", place), encoder=encoder, prune=True)
    ingest.run([runs.edited], afresh, encoder=encoder)
    assert contents(runs.killed("pruning", place)) == contents(afresh)


def test_the_worker_did_as_told(runs: Runs) -> None:
    assert runs.codes == [0, -9, -9]


def test_the_locale_changes_nothing(runs: Runs, tmp_path: Path, encoder: Encoder) -> None:
    ingest.run([runs.lists], tmp_path / "index", encoder=encoder)
    held = contents(runs.whole)
    assert held == contents(tmp_path / "index")
    assert f'"file": "{runs.lists.resolve()}/论文 1.txt"' in json.dumps(held["papers"], ensure_ascii=False)


@pytest.mark.parametrize("place", FIRST_RUN, ids=str)
def test_a_killed_first_run_is_finished_by_the_next(runs: Runs, place: Place, encoder: Encoder) -> None:
    finish_first_run(runs, place, encoder)


@pytest.mark.parametrize("place", PRUNING_RUN, ids=str)
def test_a_killed_pruning_run_is_finished_by_the_next(
    runs: Runs, place: Place, encoder: Encoder, tmp_path: Path
) -> None:
    finish_pruning_run(runs, place, encoder, tmp_path / "index")


@pytest.mark.slow
@pytest.mark.parametrize("place", FIRST_RUN_MORE, ids=str)
def test_a_first_run_killed_elsewhere(more_runs: Runs, place: Place, encoder: Encoder) -> None:
    assert set(more_runs.codes[1:]) == {-9}
    finish_first_run(more_runs, place, encoder)


@pytest.mark.slow
@pytest.mark.parametrize("place", PRUNING_RUN_MORE, ids=str)
def test_a_pruning_run_killed_elsewhere(more_runs: Runs, place: Place, encoder: Encoder, tmp_path: Path) -> None:
    finish_pruning_run(more_runs, place, encoder, tmp_path / "index")
