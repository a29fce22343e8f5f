"""One writer of an index at a time, whatever process it lives in."""

from __future__ import annotations

import os
import time
from pathlib import Path

from filelock import FileLock, Timeout

from rag.errors import IndexLockedError, UsageError


def writer_lock(path: Path, *, wait: float = 10.0) -> FileLock:
    """Take the writer's lock of the index at a path, which is made where it is missing; release what is returned.

    A dead holder's lock is free. Raises IndexLockedError after `wait` seconds, naming who holds it, and UsageError
    where nothing can be written.
    """
    lock = FileLock(path / "lock")
    holder = path / "lock.holder"  # only for the message: the lock itself is the operating system's
    try:
        path.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=wait)
        holder.write_text(f"process {os.getpid()} since {time.strftime('%Y-%m-%d %H:%M:%S')}", encoding="utf-8")
    except Timeout as error:
        told = holder.read_text(encoding="utf-8") if holder.exists() else "another process"
        raise IndexLockedError(f"{told} is writing to {path}; try again when it has finished") from error
    except (OSError, ValueError) as error:
        lock.release()
        reason = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"no index can be written at {path}: {reason}") from error
    return lock
