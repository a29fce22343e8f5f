"""Paths at which no list file is to be read: they are named, and nothing waits for them."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from broken_kit import PLAIN_ABSTRACTS, gathered
from ingest_kit import ROOT, write

from ingest.files import find_files
from rag.errors import UsageError
from rag.schema import IngestReport


def reasons(report: IngestReport) -> dict[str, str]:
    return {Path(reject.file).name: reject.reason for reject in report.rejects}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one good list of four."""
    write(tmp_path / "lists" / "good.txt", *PLAIN_ABSTRACTS[:4])
    return tmp_path / "lists"


@pytest.mark.timeout(60)
def test_what_is_no_file_is_named_and_not_waited_for(folder: Path) -> None:
    os.mkfifo(folder / "pipe.txt")
    (folder / "zeros.txt").symlink_to("/dev/zero")
    (folder / "gone.txt").symlink_to(folder / "nowhere.txt")
    (folder / "self.txt").symlink_to(folder / "self.txt")
    (folder / "list.bib").mkdir()
    with socket.socket(socket.AF_UNIX) as listening:
        here = os.open(folder, os.O_RDONLY)
        listening.bind(f"/proc/self/fd/{here}/socket.txt")  # the whole path may be too long for a socket
        os.close(here)
        found, report = gathered(folder)
    assert len(found.items) == 4
    assert reasons(report) == {
        "pipe.txt": "no file but a pipe, a socket or a device",
        "socket.txt": "no file but a pipe, a socket or a device",
        "zeros.txt": "no file but a pipe, a socket or a device",
        "gone.txt": "a link that leads nowhere",
        "self.txt": "a link that leads nowhere",
    }
    assert report.read == 4 + 5 and report.rejected == 5


@pytest.mark.timeout(60)
def test_what_is_no_file_is_refused_when_it_is_named(folder: Path) -> None:
    os.mkfifo(folder / "pipe.txt")
    (folder / "self.txt").symlink_to(folder / "self.txt")
    for path, reason in [
        (folder / "pipe.txt", "neither a file nor a folder"),
        (Path("/dev/zero"), "neither a file nor a folder"),
        (folder / "self.txt", "no such file or folder"),
        (folder / "good.txt" / "x.txt", "no such file or folder"),
        (folder / ("a" * 300), "cannot be read"),
        (Path("a\0b"), "no such file or folder"),
    ]:
        with pytest.raises(UsageError, match=reason) as raised:
            find_files([path])
        assert "\n" not in str(raised.value)


def test_links_to_themselves_that_are_passed_over(folder: Path) -> None:
    (folder / ".#good.txt").symlink_to(folder / ".#good.txt")  # what an editor leaves
    files, report = find_files([folder])
    assert [path.name for path in files] == ["good.txt"] and len(report.skipped) == 1


@pytest.mark.timeout(60)
def test_folder_loops_end(folder: Path) -> None:
    """Every folder holds two links to the next one, the last one two to the first: 2^30 ways through them."""
    deep = folder.parent / "deep"
    for number in range(30):
        (deep / str(number)).mkdir(parents=True)
        for link in "ab":
            (deep / str(number) / link).symlink_to(deep / str((number + 1) % 30))
    (folder / "in").symlink_to(deep / "0")
    (folder / "up").symlink_to(folder.parent)
    files, report = find_files([folder])
    assert [path.name for path in files] == ["good.txt"] and not report.rejects


READ_AS_NOBODY = """
import os, sys
from pathlib import Path
from ingest.files import find_files
from ingest.gather import gather
from ingest.spool import Spool
from rag.errors import UsageError
os.setgid(65534)
os.setuid(65534)
folder = Path(sys.argv[1])
files, report = find_files([folder])
with Spool() as spool:
    found = gather(files, {}, report, spool)
print(len(found.items), *sorted(f"{Path(r.file).name}: {r.reason}" for r in report.rejects), sep="\\n")
for closed in (folder / "shut", folder / "names" / "list.txt"):
    try:
        print(len(gather(find_files([closed])[0], {}, find_files([closed])[1], Spool()).items))
    except UsageError as error:
        print(error)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody who may not read")
def test_unreadable_files_and_folders_are_named(folder: Path) -> None:
    for number, name in enumerate(("secret.txt", "shut/list.txt", "names/list.txt")):
        write(folder / name, PLAIN_ABSTRACTS[number])
    (folder / "secret.txt").chmod(0)
    (folder / "shut").chmod(0)
    (folder / "names").chmod(0o744)  # its names can be listed, and nothing else
    for parent in folder.parents:
        if parent.stat().st_mode & 0o5 != 0o5 and parent.is_relative_to("/tmp") and parent != Path("/tmp"):
            parent.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-c", READ_AS_NOBODY, str(folder)], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert not done.stderr
    assert done.stdout.splitlines()[:4] == [
        "4",
        "list.txt: cannot be read: Permission denied",
        "secret.txt: cannot be read: Permission denied",
        "shut: cannot be listed: Permission denied",
    ]
    assert all("Permission denied" in line or line == "0" for line in done.stdout.splitlines()[4:])
