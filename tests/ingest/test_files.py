"""Which files are read, what they are called, and what is passed over."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from ingest_kit import ABSTRACTS, write

from ingest.files import find_files, source_name
from rag.errors import UsageError


def names(paths: list[Path]) -> list[str]:
    return [path.name for path in paths]


def test_hidden_and_temporary_files_are_skipped_and_counted(tmp_path: Path) -> None:
    good = write(tmp_path / "good.txt", *ABSTRACTS[:2])
    rubbish = [".DS_Store", "~$good.txt", "good.txt~", "x.tmp", ".good.txt.swp", "#good.txt#", "Thumbs.db", "y.part"]
    for name in rubbish:
        (tmp_path / name).write_bytes(os.urandom(64))
    write(tmp_path / ".git" / "list.txt", ABSTRACTS[3])
    (tmp_path / "empty").mkdir()
    files, report = find_files([tmp_path])
    assert files == [good]
    assert sorted(Path(s).name for s in report.skipped) == sorted([*rubbish, ".git"])
    assert report.read == 0


def test_a_file_that_is_named_is_read_even_when_hidden(tmp_path: Path) -> None:
    hidden = write(tmp_path / ".list.txt", ABSTRACTS[0])
    assert find_files([hidden])[0] == [hidden]


def test_folders_are_read_whole_and_in_order(tmp_path: Path) -> None:
    for name in ("b.txt", "a.txt", "sub/c.md", "sub/deep/d.txt"):
        write(tmp_path / name, ABSTRACTS[0])
    assert names(find_files([tmp_path])[0]) == ["a.txt", "b.txt", "c.md", "d.txt"]


def test_each_file_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "lists" / "a.txt", ABSTRACTS[0])
    (tmp_path / "lists" / "same.txt").symlink_to(path)
    monkeypatch.chdir(tmp_path)
    assert len(find_files([path, Path("lists"), tmp_path / "lists", Path("lists/a.txt")])[0]) == 1


def test_a_folder_loop_ends(tmp_path: Path) -> None:
    path = write(tmp_path / "lists" / "a.txt", ABSTRACTS[0])
    (tmp_path / "lists" / "sub").mkdir()
    (tmp_path / "lists" / "sub" / "loop").symlink_to(tmp_path / "lists")
    (tmp_path / "lists" / "self").symlink_to(tmp_path / "lists" / "self")
    (tmp_path / "lists" / "broken.txt").symlink_to(tmp_path / "gone.txt")
    assert find_files([tmp_path / "lists"])[0] == [path]


def test_a_linked_folder_is_entered(tmp_path: Path) -> None:
    write(tmp_path / "elsewhere" / "a.txt", ABSTRACTS[0])
    (tmp_path / "lists").mkdir()
    (tmp_path / "lists" / "link").symlink_to(tmp_path / "elsewhere")
    assert names(find_files([tmp_path / "lists"])[0]) == ["a.txt"]


def test_an_index_among_the_lists_is_no_list(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", ABSTRACTS[0])
    write(tmp_path / "my-index" / "chroma" / "chroma.sqlite3", ABSTRACTS[1])
    write(tmp_path / "my-index" / "lexical" / "ids.txt", ABSTRACTS[1])
    files, report = find_files([tmp_path])
    assert files == [path]
    assert [Path(s).name for s in report.skipped] == ["my-index"]


def test_missing_path(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no such file or folder: .*gone\.txt"):
        find_files([write(tmp_path / "a.txt", ABSTRACTS[0]), tmp_path / "gone.txt"])


def test_names_that_are_no_utf8(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/list\xff.txt"))
    path.write_text("\n\n".join(ABSTRACTS[:2]), encoding="utf-8")
    assert source_name(path) == f"{tmp_path.resolve()}/list\ufffd.txt"
