"""The ingest job with the real encoder and a real index."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from ingest_kit import ABSTRACTS, ROOT, Workplace, contents, lexical_hits, listing, write

import ingest
from ingest import job, writing
from ingest.clean import clean
from ingest.identity import content_id
from rag.encoder import Encoder
from rag.errors import ConferError, IndexLockedError, PassportError, UsageError
from rag.index import Index
from rag.schema import IngestReport, Paper
from rag.text import terms
from rag.writer_lock import writer_lock

IDS = [content_id(clean(a)) for a in ABSTRACTS]


def papers(folder: Path) -> dict[str, Paper]:
    index = Index.open(folder)
    try:
        return index.papers()
    finally:
        index.close()


def counts(report: IngestReport) -> dict[str, int]:
    """The counts of a report that are not zero."""
    assert report.read == report.added + report.updated + report.unchanged + report.duplicate + report.rejected
    return {k: v for k, v in report.model_dump().items() if v and isinstance(v, int)}


# -- what is stored ----------------------------------------------------------------------------------------------------


def test_papers_and_passages(workplace: Workplace) -> None:
    stored = papers(workplace.index)
    assert list(stored) == IDS[:6]
    first, third, fourth = (stored[IDS[i]] for i in (0, 2, 3))
    assert first.label == "DriftNet: Drift Network" and (first.venue, first.year) == ("ICML", 2026)
    assert "Naïve beds" in fourth.abstract and "14% of" in fourth.abstract
    assert third.abstract == ABSTRACTS[2]
    assert [(Path(s.file).name, s.position) for s in fourth.sources] == [("a.txt", 3), ("b.txt", 0)]
    assert (stored[IDS[5]].venue, stored[IDS[5]].year) == (None, None)
    held = contents(workplace.index)
    assert held["passage_count"] == 6 and held["lexical"] == sorted(IDS[:6])


def test_windows_line_ends_give_the_same_papers(workplace: Workplace) -> None:
    for name, blank in (("crlf.txt", ""), ("space.txt", " "), ("tab.txt", "\t")):
        text = listing(*ABSTRACTS[:3], newline="\r\n", blank=blank)
        (workplace.lists / name).write_bytes(text.encode())
        report = ingest.run([workplace.lists / name], workplace.index)
        assert counts(report) == {"read": 3, "duplicate": 3}
    stored = papers(workplace.index)
    assert list(stored) == IDS[:6]
    assert not any("\r" in p.model_dump_json() or "\\r" in p.abstract for p in stored.values())


def test_separators_inside_a_sentence_stay_inside_it(tmp_path: Path, encoder: Encoder) -> None:
    text = listing(ABSTRACTS[6].replace("by hand", "\u2028by\u0085hand"), ABSTRACTS[7])
    (tmp_path / "list.txt").write_bytes(text.encode())
    assert counts(ingest.run([tmp_path / "list.txt"], tmp_path / "index", encoder=encoder))["added"] == 2
    assert "passes by hand-made rules" in papers(tmp_path / "index")[IDS[6]].abstract


# -- again -------------------------------------------------------------------------------------------------------------


def test_running_again_encodes_nothing(workplace: Workplace) -> None:
    before = contents(workplace.index)
    generation = Index.open(workplace.index).passport.generation
    encoder = Encoder()
    assert counts(ingest.run([workplace.lists], workplace.index, encoder=encoder)) == {
        "read": 7,
        "unchanged": 6,
        "duplicate": 1,
    }
    os.utime(workplace.lists / "a.txt")
    assert counts(ingest.run([workplace.lists], workplace.index, encoder=encoder)) == {
        "read": 7,
        "unchanged": 6,
        "duplicate": 1,
    }
    assert contents(workplace.index) == before
    assert Index.open(workplace.index).passport.generation == generation
    assert encoder._model is None  # it was never loaded


def test_an_unchanged_file_is_not_read_again_but_told_of(workplace: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    write(
        workplace.lists / "c.txt",
        ABSTRACTS[5],
        "N/A, nothing",
        "Coral reefs are mapped by divers, slowly.",
        header=None,
    )
    first = ingest.run([workplace.lists], workplace.index)
    assert counts(first) == {"read": 10, "unchanged": 6, "duplicate": 2, "added": 1, "rejected": 1, "encoded": 1}

    def fail(*_: Any) -> None:
        raise AssertionError("a file was read")

    with monkeypatch.context() as patch:
        patch.setattr("ingest.gather.read_file", fail)
        again = ingest.run([workplace.lists], workplace.index, prune=True)
    assert counts(again) == {"read": 10, "unchanged": 7, "duplicate": 2, "rejected": 1}
    assert (again.rejects, again.suspicious, again.languages) == (first.rejects, first.suspicious, first.languages)
    assert len(again.suspicious) == 1


def test_what_was_removed_comes_back_with_its_list(workplace: Workplace) -> None:
    before = contents(workplace.index)
    index = Index.open(workplace.index)
    index.remove([IDS[0]])
    index.commit()
    index.close()
    report = ingest.run([workplace.lists], workplace.index)
    assert counts(report) == {"read": 7, "added": 1, "unchanged": 5, "duplicate": 1, "encoded": 1}
    assert contents(workplace.index) == before


def test_another_field_map_reads_the_file_again(tmp_path: Path, encoder: Encoder) -> None:
    rows = [{"gist": ABSTRACTS[4], "text": ABSTRACTS[6], "abstract": ABSTRACTS[7]}]
    (tmp_path / "list.json").write_text(json.dumps(rows), encoding="utf-8")
    for fields, expected in ({}, IDS[7]), ({"abstract": "gist"}, IDS[4]), ({"abstract": "text"}, IDS[6]):
        ingest.run([tmp_path / "list.json"], tmp_path / "index", encoder=encoder, fields=fields, prune=True)
        assert list(papers(tmp_path / "index")) == [expected]


def test_pruning_spares_the_papers_of_a_damaged_file(tmp_path: Path, encoder: Encoder) -> None:
    path = tmp_path / "list.json"
    whole = json.dumps([{"abstract": a} for a in ABSTRACTS[4:7]])
    path.write_text(whole, encoding="utf-8")
    ingest.run([path], tmp_path / "index", encoder=encoder)
    path.write_text(whole[: len(whole) // 2], encoding="utf-8")
    report = ingest.run([path], tmp_path / "index", encoder=encoder, prune=True)
    assert report.rejected == 1 and report.removed == 0 and len(papers(tmp_path / "index")) == 3
    path.write_text(json.dumps([{"abstract": ABSTRACTS[4]}]), encoding="utf-8")
    assert ingest.run([path], tmp_path / "index", encoder=encoder, prune=True).removed == 2


def test_a_new_file_name_is_a_second_source(workplace: Workplace) -> None:
    before = contents(workplace.index)
    shutil.copy(workplace.lists / "a.txt", workplace.folder / "renamed.txt")
    encoder = Encoder()
    report = ingest.run([workplace.folder / "renamed.txt"], workplace.index, encoder=encoder)
    assert counts(report) == {"read": 4, "duplicate": 4} and encoder._model is None
    after = contents(workplace.index)
    assert after["passages"] == before["passages"] and after["passage_count"] == before["passage_count"]
    names = [[Path(s.file).name for s in p.sources] for p in papers(workplace.index).values()]
    assert names == [["a.txt", "renamed.txt"]] * 3 + [["a.txt", "b.txt", "renamed.txt"]] + [["b.txt"]] * 2


def test_pruning_removes_what_the_lists_no_longer_hold(workplace: Workplace) -> None:
    write(workplace.lists / "a.txt", *ABSTRACTS[1:4])
    (workplace.lists / "b.txt").unlink()
    kept = ingest.run([workplace.lists], workplace.index)
    assert kept.removed == 0 and len(papers(workplace.index)) == 6
    report = ingest.run([workplace.lists], workplace.index, prune=True)
    assert counts(report) == {"read": 3, "unchanged": 3, "removed": 3}
    held = contents(workplace.index)
    assert list(papers(workplace.index)) == IDS[1:4] and held["lexical"] == sorted(IDS[1:4])
    assert set(held["passages"]) == set(IDS[1:4]) and held["passage_count"] == 3  # type: ignore[call-overload]
    assert [Path(s.file).name for s in papers(workplace.index)[IDS[3]].sources] == ["a.txt"]
    assert lexical_hits(workplace.index, terms("stations auctions readers")) == set()
    assert lexical_hits(workplace.index, terms("weeds")) == {IDS[3]}


# -- refusals ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "the file is empty"),
        (" \u00a0\n\n\u200b\n".encode(), "no abstracts in it"),
        ("ICML 2026 论文列表\n".encode(), "no abstracts in it"),
        (b"\x00\x01\x02\xff" * 100, "binary"),
        (b"header\n\nN/A\n\n12\n", "line 3: too short for an abstract: 'N/A' (and 1 more)"),
        (b"header\n\n\\cite{" + b"a_long_key, " * 9 + b"}\n", "line 3: no text left after cleaning"),
    ],
)
def test_nothing_usable_leaves_no_index(content: bytes, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    path.write_bytes(content)
    encoder = Encoder()
    with pytest.raises(UsageError) as raised:
        ingest.run([path], tmp_path / "index", encoder=encoder)
    assert reason in str(raised.value) and "list.txt" in str(raised.value)
    assert not (tmp_path / "index").exists() and encoder._model is None


def test_a_corrected_figure_in_a_short_abstract_is_an_edit(tmp_path: Path, encoder: Encoder) -> None:
    old = "Moss grows on roofs. MossNet counts species in photographs and finds 93 of 100 on them."
    kept = "Bells drift out of tune as their bronze ages, which frost explains in most of eleven winters."
    write(tmp_path / "list.txt", listing(old, kept))
    ingest.run([tmp_path / "list.txt"], tmp_path / "index", encoder=encoder)
    write(tmp_path / "list.txt", listing(old.replace("93", "95"), kept))
    report = ingest.run([tmp_path / "list.txt"], tmp_path / "index", encoder=encoder)
    assert (report.updated, report.unchanged, report.added) == (1, 1, 0)
    # Beside the old text the new one is another paper; so are two short ones of one list.
    write(tmp_path / "list.txt", listing(old.replace("93", "95"), old.replace("93", "97"), kept))
    report = ingest.run([tmp_path / "list.txt"], tmp_path / "index", encoder=encoder)
    assert (report.unchanged, report.added) == (2, 1)


def test_the_index_is_no_list(tmp_path: Path, encoder: Encoder) -> None:
    write(tmp_path / "lists" / "list.txt", listing(*ABSTRACTS[:2]))
    with pytest.raises(UsageError, match="is the index, or lies in it"):
        ingest.run([tmp_path / "lists"], tmp_path / "lists", encoder=encoder)
    assert [path.name for path in (tmp_path / "lists").iterdir()] == ["list.txt"]


def test_a_missing_path_stops_everything(tmp_path: Path) -> None:
    good = write(tmp_path / "good.txt", ABSTRACTS[0])
    with pytest.raises(UsageError, match=r"no such file or folder: .*gone"):
        ingest.run([good, tmp_path / "gone"], tmp_path / "index")
    assert not (tmp_path / "index").exists()


def test_a_folder_without_lists(tmp_path: Path) -> None:
    (tmp_path / "lists" / "empty").mkdir(parents=True)
    (tmp_path / "lists" / ".DS_Store").write_bytes(b"x")
    with pytest.raises(UsageError, match=r"no list files in .*1 hidden"):
        ingest.run([tmp_path / "lists"], tmp_path / "index")
    assert not (tmp_path / "index").exists()


def test_an_unknown_or_broken_encoder_leaves_no_index(tmp_path: Path) -> None:
    good = write(tmp_path / "good.txt", ABSTRACTS[0])
    (tmp_path / "model").mkdir()
    for name in (str(tmp_path / "nowhere"), str(tmp_path / "model")):
        with pytest.raises(UsageError, match="encoder"):
            ingest.run([good], tmp_path / "index", settings=job.Settings(encoder=name))
        assert not (tmp_path / "index").exists()


def test_an_index_that_cannot_be_written(tmp_path: Path, encoder: Encoder) -> None:
    good = write(tmp_path / "good.txt", ABSTRACTS[0])
    with pytest.raises(UsageError, match="no index can be written at"):
        ingest.run([good], good / "index", encoder=encoder)


def test_bad_files_do_not_stop_the_good_ones(workplace: Workplace, encoder: Encoder) -> None:
    write(workplace.lists / "c.txt", ABSTRACTS[6], "N/A, nothing")
    (workplace.lists / "bad.txt").write_bytes(os.urandom(300))
    (workplace.lists / ".DS_Store").write_bytes(os.urandom(64))
    (workplace.lists / "~$c.txt").write_bytes(os.urandom(64))
    (workplace.lists / "empty").mkdir()
    report = ingest.run([workplace.lists], workplace.index, encoder=encoder)
    assert counts(report) == {"read": 10, "added": 1, "unchanged": 6, "duplicate": 1, "rejected": 2, "encoded": 1}
    assert [(Path(r.file).name, r.line) for r in report.rejects] == [("bad.txt", None), ("c.txt", 5)]
    assert len(report.skipped) == 2


def test_strict_writes_nothing(workplace: Workplace) -> None:
    before = contents(workplace.index)
    write(workplace.lists / "c.txt", ABSTRACTS[6], "\\cite{" + "a_long_key, " * 9 + "}")
    encoder = Encoder()
    with pytest.raises(UsageError, match=r"--strict: nothing was written, because of .*c\.txt, line 5: no text left"):
        ingest.run([workplace.lists], workplace.index, encoder=encoder, strict=True)
    assert contents(workplace.index) == before and encoder._model is None


# -- other encoders ----------------------------------------------------------------------------------------------------


def test_an_index_of_another_encoder_is_refused(workplace: Workplace, tmp_path: Path, encoder: Encoder) -> None:
    other = tmp_path / "other-model"
    shutil.copytree(encoder.folder, other)
    weights = other / "model.safetensors"
    with weights.open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"\x01")
    before = contents(workplace.index)
    stranger = Encoder(str(other))
    with pytest.raises(PassportError) as raised:
        ingest.run([write(tmp_path / "new.txt", ABSTRACTS[7])], workplace.index, encoder=stranger)
    text = str(raised.value)
    assert all(
        part in text for part in ("all-MiniLM-L6-v2", encoder.revision, str(other), stranger.revision, "confer ingest")
    )
    assert contents(workplace.index) == before and stranger._model is None


# -- the lock ----------------------------------------------------------------------------------------------------------

HOLDER = """
import sys
from pathlib import Path
from rag.writer_lock import writer_lock
lock = writer_lock(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def test_one_writer_at_a_time(workplace: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job, "writer_lock", partial(writer_lock, wait=0.2))
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(workplace.index)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert holder.stdout is not None and holder.stdout.readline().strip() == b"held"
        with pytest.raises(IndexLockedError, match=rf"process {holder.pid} since 20.* is writing to"):
            ingest.run([workplace.lists], workplace.index)
        assert len(papers(workplace.index)) == 6  # readers are not kept out
        holder.kill()
        holder.wait()
        assert ingest.run([workplace.lists], workplace.index).unchanged == 6
    finally:
        holder.kill()
        holder.communicate()


def test_the_lock_is_given_back_after_a_failure(workplace: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    write(workplace.lists / "c.txt", ABSTRACTS[6])

    def fail(*_: Any) -> None:
        raise RuntimeError("no room")

    with monkeypatch.context() as patch:
        patch.setattr(Index, "each_paper", fail)
        with pytest.raises(RuntimeError, match="no room"):
            ingest.run([workplace.lists], workplace.index)
    writer_lock(workplace.index, wait=0.2).release()


# -- failures on the way -----------------------------------------------------------------------------------------------


def test_a_failed_write_costs_only_its_own_batch(
    tmp_path: Path, encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "list.txt", *ABSTRACTS[:5])
    monkeypatch.setattr(writing, "BATCH", 2)
    monkeypatch.setattr(Encoder, "papers_at_a_time", 2)
    add, calls = Index.add, []

    def second_fails(self: Index, *args: Any) -> None:
        calls.append(args)
        if len(calls) == 2:
            raise OSError("no space left on device")
        add(self, *args)

    with monkeypatch.context() as patch:
        patch.setattr(Index, "add", second_fails)
        with pytest.raises(ConferError, match="no space left on device; 2 of 5 papers are in it"):
            ingest.run([path], tmp_path / "index", encoder=encoder)
    assert list(papers(tmp_path / "index")) == IDS[:2]
    assert lexical_hits(tmp_path / "index", terms("stations")) == {IDS[0]}  # what is there can be asked already
    report = ingest.run([path], tmp_path / "index", encoder=encoder)
    assert counts(report) == {"read": 5, "added": 3, "unchanged": 2, "encoded": 3}
    ingest.run([path], tmp_path / "clean", encoder=encoder)
    assert contents(tmp_path / "index") == contents(tmp_path / "clean")


def test_progress_is_told_before_and_after_each_batch(
    tmp_path: Path, encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "BATCH", 2)
    monkeypatch.setattr(Encoder, "papers_at_a_time", 2)
    told: list[tuple[int, int]] = []
    path = write(tmp_path / "list.txt", *ABSTRACTS[4:7])
    ingest.run([path], tmp_path / "index", encoder=encoder, progress=lambda done, total: told.append((done, total)))
    assert told[0] == (0, 3) and told[-1] == (3, 3) and len(told) > 2 and told == sorted(told)


def test_uploads_keep_their_own_names(tmp_path: Path, encoder: Encoder) -> None:
    path = write(tmp_path / "tmp_123.txt", ABSTRACTS[6])
    ingest.run([path], tmp_path / "index", encoder=encoder, names={path: "my list.txt"})
    assert [s.file for p in papers(tmp_path / "index").values() for s in p.sources] == ["my list.txt"]


def test_an_index_can_be_removed_and_built_again_in_one_process(tmp_path: Path, encoder: Encoder) -> None:
    path = write(tmp_path / "list.txt", ABSTRACTS[6])
    for _ in range(2):
        assert ingest.run([path], tmp_path / "index", encoder=encoder).added == 1
        shutil.rmtree(tmp_path / "index")


def test_a_title_counts_against_the_room_of_its_passages(encoder: Encoder) -> None:
    abstract = clean(" ".join(ABSTRACTS))
    for title in ("A Short Title", "A Title That Goes On " * 20):
        paper = Paper(id="c1", title=title, abstract=abstract, label="x")
        passages, texts = writing._cut(paper, encoder)
        assert "".join(abstract[p.start : p.end] for p in passages) == abstract
        for shown, sentences in texts:
            whole = " ".join([f"{shown}."] * bool(shown) + sentences)
            assert encoder.count_tokens(whole) <= encoder.max_tokens
