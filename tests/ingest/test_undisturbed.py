"""Runs that are killed at any moment, and several processes at once: the state is that of an undisturbed run."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from ingest_kit import ROOT, contents, write

import ingest
from rag.assistant import Assistant
from rag.encoder import Encoder
from rag.errors import IndexLockedError
from rag.schema import IngestReport
from rag.writer_lock import writer_lock

NOUNS = "drone valley harbour lantern orchard glacier violin ledger compass meadow furnace pigeon saddle tunnel".split()
VERBS = "maps sorts repairs predicts measures compresses explains aligns filters schedules simulates ranks".split()

# Forks a child for each job, so that the encoder is loaded once, and kills it after as many seconds as it is told.
WORKER = """
import os, signal, sys, time
from pathlib import Path
import ingest
from ingest import writing
from rag.encoder import Encoder
encoder = Encoder()
encoder.encode_query("warm up")
writing.BATCH = 8
Encoder.papers_at_a_time = 8
print("ready", flush=True)
for line in sys.stdin:
    lists, index, seconds = line.split()
    child = os.fork()
    if child == 0:
        report = ingest.run([Path(lists)], Path(index), encoder=encoder, prune=True)
        print(report.model_dump_json(), flush=True)
        os._exit(0)
    if float(seconds):
        time.sleep(float(seconds))
        os.kill(child, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print("ended", code, flush=True)
"""


def abstract(number: int) -> str:
    """An invented abstract of some sixty words, like no other."""
    draw = random.Random(number)
    told = [
        f"Method {number}{letter} {draw.choice(VERBS)} every {draw.choice(NOUNS)} with a {draw.choice(NOUNS)} of "
        f"{draw.randint(2, 900)} parts and {draw.choice(VERBS)} each {draw.choice(NOUNS)} in turn."
        for letter in "abc"
    ]
    return " ".join(told)


class Worker:
    """A process with a loaded encoder that ingests what it is told."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", WORKER],
            cwd=ROOT,
            env={**os.environ, "OMP_NUM_THREADS": "1"},  # a forked child cannot use the threads of its parent
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.answer() == "ready"

    def begin(self, lists: Path, index: Path, kill_after: float = 0.0) -> None:
        assert self.process.stdin is not None
        print(lists, index, kill_after, file=self.process.stdin, flush=True)

    def answer(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


def two_states(root: Path) -> tuple[Path, Path]:
    """A folder of lists before and after an edit: papers removed, changed, moved and added."""
    before, after = root / "before", root / "after"
    write(before / "a.txt", *map(abstract, range(30)))
    write(before / "b.txt", *map(abstract, range(25, 45)))
    edited = [abstract(n).replace("every", "almost every") if n % 7 == 0 else abstract(n) for n in range(5, 40)]
    write(after / "a.txt", *map(abstract, range(60, 75)), *edited)
    return before, after


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_run_killed_at_any_of_twenty_moments_is_finished_by_the_next(tmp_path: Path, encoder: Encoder) -> None:
    before, after = two_states(tmp_path)
    lists = tmp_path / "lists"
    built = tmp_path / "built"
    shutil.copytree(before, lists)
    ingest.run([lists], built, encoder=encoder)
    shutil.rmtree(lists)
    shutil.copytree(after, lists)
    whole = Path(shutil.copytree(built, tmp_path / "whole"))
    worker = Worker()
    start = time.perf_counter()
    worker.begin(lists, whole)
    assert json.loads(worker.answer())["removed"] > 0 and worker.answer() == "ended 0"
    length = time.perf_counter() - start
    expected = contents(whole)
    killed = 0
    for moment in range(20):
        index = Path(shutil.copytree(built, tmp_path / f"killed-{moment}"))
        worker.begin(lists, index, kill_after=random.Random(moment).uniform(0.01, length))
        while not (told := worker.answer()).startswith("ended"):
            assert told, "the worker died"
        killed += told == "ended -9"
        ingest.run([lists], index, encoder=encoder, prune=True)
        assert contents(index) == expected, f"killed at moment {moment}"
        shutil.rmtree(index)
    worker.end()
    assert killed >= 10


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_two_writers_and_four_readers(tmp_path: Path, encoder: Encoder) -> None:
    write(tmp_path / "seed.txt", *map(abstract, range(100, 110)))
    for name, numbers in (("a", range(40)), ("b", range(30, 70))):
        write(tmp_path / name / f"{name}.txt", *map(abstract, numbers))
    index = tmp_path / "index"
    ingest.run([tmp_path / "seed.txt"], index, encoder=encoder)
    stop, faults, asked = threading.Event(), [], [0]

    def read(assistant: Assistant, seed: int) -> None:
        draw = random.Random(seed)
        while not stop.is_set():
            try:
                answer = assistant.ask(f"What does Method {draw.randrange(110)}b measure?")
                for citation in answer.citations:
                    for e in citation.evidence:
                        assert citation.paper.abstract[e.start : e.end] == e.quote
                asked[0] += 1
            except Exception as error:  # any error of a reader is what this test looks for
                faults.append(error)

    with Assistant.open(index) as assistant:
        readers = [threading.Thread(target=read, args=(assistant, n)) for n in range(4)]
        writers = [Worker(), Worker()]
        for reader in readers:
            reader.start()
        for writer, name in zip(writers, "ab", strict=True):
            writer.begin(tmp_path / name, index)
        reports = [IngestReport.model_validate_json(w.answer()) for w in writers]
        stop.set()
        for reader in readers:
            reader.join()
        for writer in writers:
            writer.end()
        assert not faults and asked[0] > 0
        assert len(assistant.papers()) == 80
    assert sum(r.added for r in reports) == 70 and sum(r.duplicate for r in reports) == 10
    once = tmp_path / "once"
    ingest.run([tmp_path / "seed.txt"], once, encoder=encoder)
    for name in ("a", "b"):
        ingest.run([tmp_path / name], once, encoder=encoder)
    held, expected = contents(index), contents(once)
    assert held["passages"] == expected["passages"] and held["passage_count"] == expected["passage_count"]


def test_a_second_writer_waits_or_is_told_who_writes(tmp_path: Path, encoder: Encoder) -> None:
    path = write(tmp_path / "a.txt", abstract(1))
    ingest.run([path], tmp_path / "index", encoder=encoder)
    held, release = threading.Event(), threading.Event()

    def hold() -> None:
        lock = writer_lock(tmp_path / "index")
        held.set()
        release.wait()
        lock.release()

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait()
    with pytest.raises(IndexLockedError, match=f"process {os.getpid()} since"):
        writer_lock(tmp_path / "index", wait=0.1)
    threading.Timer(0.5, release.set).start()
    assert ingest.run([path], tmp_path / "index", encoder=encoder).unchanged == 1
    holder.join()
