"""A process of its own for the tests: ingests as often as it is told, and dies where it is told.

Usage: python worker.py JOBS.json, a list of {"lists", "index", "prune", "kill"}. `kill` is null, or [where, n]: the job
kills itself with SIGKILL right after the n-th call of that function. Each job runs in a child, so that the encoder is
loaded once; the exit codes of the children are printed, one a line.
"""

from __future__ import annotations

import functools
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from chromadb.api.models.Collection import Collection

from ingest import job, writing
from rag.encoder import Encoder
from rag.index import Index
from rag.lexical import LexicalIndex
from rag.sentence_vectors import SentenceVectors

PLACES: dict[str, tuple[Any, str]] = {
    "vectors": (SentenceVectors, "append"),
    "upsert": (Collection, "upsert"),
    "delete": (Collection, "delete"),
    "update": (Collection, "update"),
    "create": (Index, "create"),
    "keywords": (LexicalIndex, "save"),
    "passport": (Collection, "modify"),
}


def die_after(place: str, number: int) -> None:
    """Make the n-th call of a function the last thing that this process does."""
    owner, name = PLACES[place]
    original, calls = getattr(owner, name), []

    @functools.wraps(original)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        calls.append(name)
        if len(calls) == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(owner, name, wrapped)


def main() -> None:
    """Run the jobs of the file named on the command line."""
    encoder = Encoder()
    _ = encoder.model
    writing.BATCH = Encoder.papers_at_a_time = 2
    for task in json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")):
        child = os.fork()
        if child == 0:
            if task["kill"]:
                die_after(*task["kill"])
            job.run([Path(task["lists"])], task["index"], encoder=encoder, prune=task["prune"])
            os._exit(0)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    main()
