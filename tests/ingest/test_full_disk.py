"""A disk that is full: one clear line, and the same command finishes the job when there is room."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from ingest_kit import ROOT
from test_undisturbed import abstract

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
PAPERS = 500


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A place for a small disk."""
    place = tmp_path / "disk"
    place.mkdir()
    yield place
    subprocess.run(["umount", str(place)], check=False, capture_output=True)


def mount(place: Path, size: str, *, again: bool = False) -> None:
    """Put a disk of this size there, or give the one that is there another size."""
    options = f"remount,size={size}" if again else f"size={size}"
    try:
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("disks cannot be mounted here")


def confer(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "ui.cli", *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=600,
    )


@pytest.mark.parametrize("size", ["8k", "200k", "300k", "800k", "3m"])
def test_a_disk_that_is_full_is_told_in_one_line_and_the_next_run_finishes(
    size: str, small: Path, tmp_path: Path
) -> None:
    lists = tmp_path / "lists"
    lists.mkdir()
    (lists / "list.txt").write_text("\n\n".join(map(abstract, range(PAPERS))), encoding="utf-8")
    mount(small, size)
    full = confer("ingest", str(lists), "--index", str(small / "index"))
    assert full.returncode == 1 and not full.stdout
    said = [line for line in full.stderr.splitlines() if not line.startswith("encoded ")]
    assert len(said) == 1, full.stderr
    assert said[0].startswith("confer: ") and str(small / "index") in said[0]
    mount(small, "100m", again=True)
    finished = confer("ingest", str(lists), "--index", str(small / "index"))
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout.startswith(f"{PAPERS} records read: ")
    once_more = confer("ingest", str(lists), "--index", str(small / "index"))
    assert once_more.stdout.startswith(f"{PAPERS} records read: {PAPERS} unchanged.")


def test_no_room_for_the_records_of_a_run_is_told_in_one_line(small: Path, tmp_path: Path) -> None:
    lists = tmp_path / "lists"
    lists.mkdir()
    (lists / "list.txt").write_text("\n\n".join(map(abstract, range(PAPERS))), encoding="utf-8")
    mount(small, "40k")
    full = confer("ingest", str(lists), "--index", str(tmp_path / "index"), TMPDIR=str(small))
    assert full.returncode == 1 and not full.stdout
    assert full.stderr.startswith("confer: ") and full.stderr.count("\n") == 1
    assert "cannot be read" not in full.stderr  # the list is sound
