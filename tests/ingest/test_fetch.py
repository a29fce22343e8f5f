"""Fetching lists, from a server on this machine that speaks as the services do. All papers are invented."""

from __future__ import annotations

import datetime
import email.utils
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fetch_kit import VENUE, Answer, Service, collection, entry, feed, note, old_note
from ingest_kit import ABSTRACTS, ROOT, read_all

pytest.importorskip("arxiv", reason="the extra `fetch` is not installed")
pytest.importorskip("openreview", reason="the extra `fetch` is not installed")

from ingest import fetch as package
from ingest.fetch import Fetched, Manners, default_name, fetch
from rag.errors import ConferError, UsageError
from ui.cli import main

OPENREVIEW = f"openreview:{VENUE}"
ARXIV = "arxiv:cat:cs.LG AND abs:drift"
ACL = "acl:2025.acl"


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Service]:
    for name in ("OPENREVIEW_USERNAME", "OPENREVIEW_PASSWORD", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    service = Service()
    service.notes = [note(n) for n in range(5)] + [note(9, venueid=f"{VENUE}/Rejected_Submission")]
    service.entries = [entry(n) for n in range(1, 6)]
    service.collections = {"2025.acl.xml": collection(1, 2, 3)}
    yield service
    service.close()


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two papers a page, so that five papers are three pages."""
    monkeypatch.setattr("ingest.fetch.openreview_source.PAGE", 2)
    monkeypatch.setattr("ingest.fetch.arxiv_source.PAGE", 2)


def get(service: Service, source: str, waits: list[float] | None = None, **options: Any) -> Fetched:
    """Fetch without waiting; what the waits would have been goes to `waits`."""
    sleep = (lambda _: None) if waits is None else waits.append
    manners = Manners(interval=0, tries=3, timeout=10, sleep=sleep)
    return fetch(source, bases=service.bases, **{"manners": manners, **options})


def ids(file: Path) -> list[str]:
    return [json.loads(line)["id"] for line in file.read_text(encoding="utf-8").splitlines()]


# What is written, and how ingest reads it.


def test_openreview_papers_come_back_with_every_field(service: Service) -> None:
    done = get(service, OPENREVIEW)
    assert (done.papers, done.new, done.note, done.found) == (5, 5, "", False)
    assert done.file == Path("openreview-ICML.cc-2026-Conference.jsonl")
    records = read_all(done.file.read_bytes(), done.file.name)
    assert [r.key for r in records] == [f"Abc_{n:06}" for n in range(5)]  # and not the rejected paper
    third = records[3]
    assert (third.title, third.abstract) == ("Paper 3 on drift", ABSTRACTS[3])
    assert third.authors == ("Ada Moor", "Bo de Vries")
    assert (third.venue, third.year) == ("ICML 2026 oral", 2026)
    assert third.keywords == ("sensors; old", "drift")
    assert (third.url, third.openreview_id) == ("https://openreview.net/forum?id=Abc_000003", "Abc_000003")
    assert all(r.reject is None and r.warning is None for r in records)
    assert not list(Path().glob("*.part"))


def test_old_venues_are_asked_for_at_the_old_interface(service: Service) -> None:
    invitation = "ICLR.cc/2022/Conference/-/Blind_Submission"
    accepted = {"venue": "ICLR 2022 Poster", "venueid": "ICLR.cc/2022/Conference"}
    service.old_notes = [old_note(1, invitation, **accepted), old_note(2, invitation, venueid="ICLR.cc/2022/Rejected")]
    done = get(service, "openreview:ICLR.cc/2022/Conference")
    assert done.note == ""
    (record,) = read_all(done.file.read_bytes(), "x.jsonl")
    assert (record.key, record.venue, record.year) == ("Old_000001", "ICLR 2022 Poster", 2022)


def test_venues_that_name_no_accepted_papers_give_all_submissions_and_say_so(service: Service) -> None:
    service.old_notes = [
        old_note(1, "ICLR.cc/2019/Conference/-/Blind_Submission"),
        old_note(2, "ICLR.cc/2019/Conference/-/Blind_Submission", authors=["Anonymous"]),
        old_note(3, "ICLR.cc/2019/Workshop/-/Submission"),
    ]
    done = get(service, "openreview:ICLR.cc/2019/Conference")
    assert done.papers == 2
    assert "all its submissions" in done.note
    records = read_all(done.file.read_bytes(), "x.jsonl")
    assert [r.authors for r in records] == [("Cy Ode",), ()]
    assert {(r.venue, r.year) for r in records} == {("ICLR.cc/2019/Conference", 2019)}  # they were sent in in 2018
    assert get(service, "openreview:ICLR.cc/2019/Workshop").papers == 1


def test_arxiv_papers_come_back_with_every_field(service: Service, small_pages: None) -> None:
    done = get(service, ARXIV)
    assert done.file == Path("arxiv-cat-cs.LG-AND-abs-drift.jsonl")
    assert [query["start"] for _, query in service.requests] == ["0", "2", "4"]
    assert service.requests[0][1]["search_query"] == "cat:cs.LG AND abs:drift"
    records = read_all(done.file.read_bytes(), "x.jsonl")
    assert [r.arxiv_id for r in records] == [f"2601.{n:05}v2" for n in range(1, 6)]
    first = records[0]
    assert (first.title, first.abstract) == ("Drift & paper 1", ABSTRACTS[1])
    assert first.authors == ("Ada Moor", "Bo de Vries")
    assert (first.venue, first.year, first.keywords) == ("J. Weather 7 (2026)", 2026, ("cs.LG", "stat.ML"))
    assert (first.url, first.doi) == ("https://arxiv.org/abs/2601.00001v2", "10.5555/drift.1")


def test_acl_papers_come_back_as_the_anthology_file_itself_is_read(service: Service) -> None:
    done = get(service, ACL)
    assert (done.file, done.papers) == (Path("acl-2025.acl.jsonl"), 3)
    fetched = read_all(done.file.read_bytes(), "x.jsonl")
    direct = read_all(collection(1, 2, 3), "2025.acl.xml")
    for name in ("title", "abstract", "authors", "venue", "year", "url", "doi"):
        assert [getattr(r, name) for r in fetched] == [getattr(r, name) for r in direct], name
        assert all(getattr(r, name) for r in fetched), name
    assert fetched[0].key == "2025.acl-long.1"
    assert fetched[0].abstract.endswith("It costs <i>n</i>$x^2$.")


def test_broken_papers_of_the_anthology_are_left_out_and_said(service: Service) -> None:
    service.collections["2025.acl.xml"] = collection(
        1, 2, broken="<paper id='7'><abstract>no <i>end</abstract></paper>"
    )
    done = get(service, ACL)
    assert done.papers == 2
    assert done.note.endswith("broken there: 1")


def test_lone_surrogates_do_not_stop_a_fetch(service: Service) -> None:
    service.notes = [note(1, abstract="Half a symbol \ud835 is in this one, and 好 is whole."), note(2)]
    records = read_all(get(service, OPENREVIEW).file.read_bytes(), "x.jsonl")
    assert len(records) == 2
    assert "is in this one, and 好 is whole." in records[0].abstract


# Resuming, limits, files that are there.


@pytest.mark.parametrize("source", [OPENREVIEW, ARXIV])
@pytest.mark.parametrize("dying", ["cut", "500", "gone"])
def test_a_cut_fetch_keeps_its_papers_and_goes_on(
    service: Service, small_pages: None, source: str, dying: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = 2 if source == OPENREVIEW else 1  # OpenReview is asked for a count first
    trouble = {"cut": Answer("{", cut=99), "500": Answer("oh", 500), "gone": Answer("no such page", 410)}[dying]
    service.troubles = dict.fromkeys(range(page, page + 3), trouble)
    with pytest.raises(ConferError, match=r"the 2 papers .* are in .*\.part, and the same command goes on") as caught:
        get(service, source)
    assert not isinstance(caught.value, UsageError)
    out = Path(default_name(source))
    part = out.with_name(out.name + ".part")
    kept = ids(part)
    assert len(kept) == 2
    assert not out.exists()
    service.troubles, service.requests = {}, []
    done = get(service, source)
    assert (done.papers, done.new) == (5, 3)
    assert ids(done.file)[:2] == kept
    assert len(set(ids(done.file))) == 5
    assert not part.exists()
    places = [query.get("start", query.get("after")) for _, query in service.requests]
    # The first page is not asked for again; OpenReview is asked for the count, and then until a page is empty.
    assert places == (["2", "4"] if source == ARXIV else [None, "Abc_000001", "Abc_000003", "Abc_000004"])


def test_a_fetch_goes_on_behind_the_last_whole_line(service: Service) -> None:
    get(service, OPENREVIEW)
    file = Path(default_name(OPENREVIEW))
    whole = file.read_bytes()
    for size in (0, 3, 50, len(whole) // 2, len(whole) - 1, len(whole)):
        file.unlink(missing_ok=True)
        Path(f"{file}.part").write_bytes(whole[:size])
        assert get(service, OPENREVIEW).papers == 5
        assert file.read_bytes() == whole


def test_papers_met_twice_are_written_once(service: Service, small_pages: None) -> None:
    service.troubles = dict.fromkeys(range(1, 4), Answer("", 500))
    with pytest.raises(ConferError):
        get(service, ARXIV)
    service.troubles = {}
    service.entries.insert(0, entry(77))  # published in between
    done = get(service, ARXIV)
    assert ids(done.file) == [f"2601.{n:05}v2" for n in (1, 2, 3, 4, 5)]


def test_the_anthology_file_is_read_again_but_not_written_again(service: Service) -> None:
    file = get(service, ACL).file
    whole = file.read_bytes()
    Path(f"{file}.part").write_bytes(b"".join(whole.splitlines(keepends=True)[:1]))
    file.unlink()
    done = get(service, ACL)
    assert (done.papers, done.new) == (3, 2)
    assert file.read_bytes() == whole


@pytest.mark.parametrize(("source", "most"), [(OPENREVIEW, 5), (ARXIV, 5), (ACL, 3)])
def test_limits(service: Service, small_pages: None, source: str, most: int) -> None:
    done = get(service, source, limit=3, out=Path("three.jsonl"))
    assert (done.papers, len(ids(done.file))) == (3, 3)
    assert get(service, source, limit=99, out=Path("all.jsonl")).papers == most
    asked = [int(q.get("limit", q.get("max_results", 0))) for _, q in service.requests]
    assert max(asked) <= 2


def test_a_smaller_limit_than_what_is_there_needs_no_network(service: Service) -> None:
    file = get(service, OPENREVIEW).file
    file.rename(f"{file}.part")
    service.requests = []
    assert get(service, OPENREVIEW, limit=2).papers == 2
    assert len(ids(file)) == 2
    assert service.requests == []


def test_a_whole_file_is_left_alone_unless_it_is_wanted_again(service: Service) -> None:
    file = get(service, OPENREVIEW).file
    service.requests = []
    service.notes.append(note(6))
    done = get(service, OPENREVIEW)
    assert (done.found, done.papers, done.new) == (True, 5, 0)
    assert service.requests == []
    assert get(service, OPENREVIEW, again=True).papers == 6
    assert len(ids(file)) == 6


def test_fetching_again_leaves_the_whole_file_until_the_new_one_is_whole(service: Service, small_pages: None) -> None:
    file = get(service, OPENREVIEW).file
    whole = file.read_bytes()
    service.troubles = dict.fromkeys(range(len(service.requests) + 2, 99), Answer("", 503))
    with pytest.raises(ConferError, match="2 papers"):
        get(service, OPENREVIEW, again=True)
    assert file.read_bytes() == whole
    service.troubles = {}
    done = get(service, OPENREVIEW, again=True)
    assert (done.papers, done.new) == (5, 3)


@pytest.mark.parametrize("name", ["mine.jsonl", "mine.jsonl.part"])
@pytest.mark.parametrize("content", [b'{"id": "1", "abstract": "My own."}\n', b"My own list, one line", b"\n"])
@pytest.mark.parametrize("again", [False, True])
def test_files_of_others_are_never_touched(service: Service, name: str, content: bytes, again: bool) -> None:
    Path(name).write_bytes(content)
    with pytest.raises(UsageError, match="--out"):
        get(service, OPENREVIEW, out=Path("mine.jsonl"), again=again)
    assert Path(name).read_bytes() == content


def test_papers_of_two_sources_never_share_a_file(service: Service) -> None:
    out = get(service, OPENREVIEW, out=Path("x.jsonl")).file
    with pytest.raises(UsageError, match=f"holds papers of {OPENREVIEW}"):
        get(service, ACL, out=out, again=True)
    out.rename("x.jsonl.part")
    with pytest.raises(UsageError, match=f"holds papers of {OPENREVIEW}"):
        get(service, ACL, out=out)


def test_places_that_cannot_be_written_are_said(service: Service, tmp_path: Path) -> None:
    with pytest.raises(ConferError, match="cannot be written"):
        get(service, OPENREVIEW, out=tmp_path / "no folder" / "x.jsonl")
    with pytest.raises(ConferError, match="cannot be written"):
        get(service, OPENREVIEW, out=tmp_path)


# Manners.


@pytest.mark.parametrize(("source", "interval"), [(OPENREVIEW, 1.0), (ARXIV, 3.0)])
def test_the_rate_limits_are_kept(service: Service, small_pages: None, source: str, interval: float) -> None:
    waits: list[float] = []
    get(service, source, manners=Manners(sleep=waits.append))
    # The waits are not real here, and so each of them is almost the whole interval.
    assert len(waits) == len(service.requests) - 1 >= 2
    assert all(0.5 * interval < wait <= interval for wait in waits)


@pytest.mark.parametrize("source", [OPENREVIEW, ARXIV, ACL])
def test_a_busy_service_is_waited_for_as_long_as_it_asks(service: Service, source: str) -> None:
    service.troubles = {0: Answer("slow down", 429, Retry_After="17")}
    waits: list[float] = []
    assert get(service, source, waits).papers >= 3
    assert waits == [17.0]


def test_a_date_to_come_back_at_is_understood(service: Service) -> None:
    until = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=90)
    service.troubles = {0: Answer("", 503, Retry_After=email.utils.format_datetime(until, usegmt=True))}
    waits: list[float] = []
    get(service, ACL, waits)
    assert len(waits) == 1
    assert 60 < waits[0] <= 90


@pytest.mark.parametrize("asked", ["never", "-5", "", "0"])
def test_without_a_sensible_wait_pauses_grow(service: Service, asked: str) -> None:
    service.troubles = dict.fromkeys((0, 1), Answer("", 429, Retry_After=asked))
    waits: list[float] = []
    get(service, ACL, waits)
    assert waits == [2.0, 4.0]


def test_a_service_that_asks_for_hours_is_not_waited_for(service: Service) -> None:
    service.troubles = {0: Answer("", 429, Retry_After="7200")}
    waits: list[float] = []
    with pytest.raises(ConferError, match="asks to wait for 120 minutes"):
        get(service, ACL, waits)
    assert waits == []


@pytest.mark.parametrize("source", [OPENREVIEW, ARXIV, ACL])
def test_a_service_that_stays_broken_is_given_up(service: Service, source: str) -> None:
    service.troubles = dict.fromkeys(range(99), Answer("oh", 500))
    with pytest.raises(ConferError, match=r"127\.0\.0\.1 answers 500 \(Internal Server Error\), 3 times in a row$"):
        get(service, source)
    assert len(service.requests) == 3
    assert list(Path().iterdir()) == []  # nothing was fetched, and nothing is left


@pytest.mark.parametrize("source", [OPENREVIEW, ARXIV, ACL])
def test_a_cut_connection_is_tried_again(service: Service, source: str) -> None:
    service.troubles = {0: Answer("<", cut=50)}
    assert get(service, source).papers >= 3


def test_empty_pages_of_arxiv_are_asked_for_again(service: Service, small_pages: None) -> None:
    service.troubles = {0: Answer(feed([], 5)), 2: Answer(feed([], 5, start=2)), 4: Answer(feed([], 0))}
    assert get(service, ARXIV).papers == 5
    assert len(service.requests) == 6


# What services answer instead of papers.


def test_no_network_is_said_at_once(service: Service) -> None:
    service.close()
    for source in (OPENREVIEW, ARXIV, ACL):
        waits: list[float] = []
        with pytest.raises(ConferError, match="cannot be reached; is there a network"):
            get(service, source, waits)
        assert waits == []


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("openreview:ICML.cc/2099/Conference", "OpenReview shows no papers of ICML.cc/2099/Conference"),
        ("arxiv:ti:nothing", "arXiv finds no papers for 'ti:nothing'"),
        ("acl:2099.acl", "the ACL Anthology has no collection 2099.acl"),
        ("acl:2025.empty", "the ACL Anthology has no papers in 2025.empty"),
    ],
)
def test_sources_without_papers(service: Service, source: str, said: str) -> None:
    service.entries = []
    service.collections["2025.empty.xml"] = collection()
    with pytest.raises(ConferError, match=said) as caught:
        get(service, source)
    assert not isinstance(caught.value, UsageError)
    assert list(Path().iterdir()) == []


def test_a_refused_guest_is_told_how_to_log_in(service: Service) -> None:
    challenge = {"name": "ChallengeRequiredError", "message": "Challenge\n\x1b[31m required", "status": 403}
    service.troubles = {0: Answer(challenge, 403)}
    with pytest.raises(ConferError, match=r"403 \(Forbidden\): Challenge \[31m required; .*OPENREVIEW_USERNAME"):
        get(service, OPENREVIEW)
    assert len(service.requests) == 1


def test_an_account_that_is_not_let_in_is_said(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENREVIEW_USERNAME", "ada@example.org")
    monkeypatch.setenv("OPENREVIEW_PASSWORD", "wrong")  # the server knows no logins at all
    with pytest.raises(ConferError, match="does not let in the account in OPENREVIEW_USERNAME"):
        get(service, OPENREVIEW)


ODD = [
    {"notes": [{"content": {}}], "count": 1},
    {"notes": ["a"], "count": 1},
    {"notes": [{"id": "Abc", "content": None}], "count": 1},
    {"notes": []},
    {"count": 3},
    {"notes": None, "count": 3},
    [],
    None,
    "<html>Sorry</html>",
    '{"notes": [',
]


@pytest.mark.parametrize("odd", ODD, ids=str)
@pytest.mark.parametrize("number", [0, 1])
def test_malformed_answers_of_openreview(service: Service, odd: object, number: int) -> None:
    if number == 1 and odd == {"notes": []}:
        return  # a good answer: no more papers
    service.troubles = {number: Answer(odd)}
    with pytest.raises(ConferError, match="OpenReview's answer is malformed"):
        get(service, OPENREVIEW)


def test_a_server_that_turns_in_circles_is_left(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    page = Answer({"notes": service.notes[:2], "count": 5})
    service.troubles = dict.fromkeys(range(99), page)
    with pytest.raises(ConferError, match="the same page again and again"):
        get(service, OPENREVIEW)


BAD_FEEDS = ["<html><body>Sorry</body></html>", "rate exceeded", "", feed([entry(1)], 1)[:-40], '{"notes": []}']
BAD_FEEDS.append(feed([entry(1).replace("2026-01-05T12:00:00Z", "yesterday")], 1))


@pytest.mark.parametrize("odd", BAD_FEEDS, ids=range(len(BAD_FEEDS)))
def test_malformed_answers_of_arxiv(service: Service, odd: str) -> None:
    service.troubles = {0: Answer(odd)}
    with pytest.raises(ConferError, match="arXiv's answer is malformed"):
        get(service, ARXIV)


def test_a_query_that_arxiv_does_not_take(service: Service) -> None:
    error = (
        "<entry><id>http://arxiv.org/api/errors#incorrect_query</id><title>Error</title>"
        "<summary>incorrect query: a bracket is missing</summary><updated>2026-01-01T00:00:00Z</updated></entry>"
    )
    service.troubles = {0: Answer(feed([error], 1)), 1: Answer(feed([error], 1), 400)}
    with pytest.raises(UsageError, match="does not take the query: incorrect query: a bracket is missing"):
        get(service, ARXIV)
    with pytest.raises(ConferError, match=r"400 \(Bad Request\): incorrect query: a bracket is missing"):
        get(service, ARXIV)


@pytest.mark.parametrize("odd", ["<html>Sorry</html>", "", collection(1, 2)[:-30], '{"a": 1}'])
def test_malformed_answers_of_the_anthology(service: Service, odd: str) -> None:
    service.troubles = {0: Answer(odd)}
    with pytest.raises(ConferError, match="the Anthology's answer is malformed"):
        get(service, ACL)


# Sources that cannot be, and the command.


@pytest.mark.parametrize(
    "source",
    [
        "",
        "2025.acl",
        "openreview",
        "openreview:",
        "openreview:ICML 2026",
        "openreview:https://openreview.net/group?id=ICML.cc/2026/Conference",
        "arxiv:",
        "arxiv:''",
        "acl:",
        "acl:../../x",
        "acl:2025.acl-long",
        "ftp:x",
    ],
)
def test_sources_that_cannot_be(service: Service, source: str) -> None:
    with pytest.raises(UsageError):
        get(service, source)
    assert service.requests == []


def test_volumes_are_told_their_collection() -> None:
    with pytest.raises(UsageError, match=r"write acl:2025\.acl "):
        fetch("acl:2025.acl-long")


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("arxiv:'cat:cs.LG AND ti:\"deep nets\"'", "arxiv-cat-cs.LG-AND-ti-deep-nets.jsonl"),
        ("ACL: P19", "acl-P19.jsonl"),
        ("openreview:TMLR", "openreview-TMLR.jsonl"),
        ("arxiv:ti:../../etc", "arxiv-ti-..-..-etc.jsonl"),
        ("arxiv:论文", "arxiv-papers.jsonl"),
    ],
)
def test_names_of_files(source: str, name: str) -> None:
    assert default_name(source) == name
    assert len(default_name("arxiv:" + "a b" * 500)) < 150


def test_each_paper_is_on_disk_before_the_next_comes(service: Service) -> None:
    part = Path(f"{default_name(OPENREVIEW)}.part")
    kept: list[int] = []
    get(service, OPENREVIEW, progress=lambda done, total: kept.append(len(ids(part))))
    assert kept == [1, 2, 3, 4, 5]


def test_progress_counts_the_papers(service: Service, small_pages: None) -> None:
    seen: list[tuple[int, int]] = []
    get(service, OPENREVIEW, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(n, 5) for n in range(1, 6)]
    seen.clear()
    get(service, ARXIV, limit=3, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(n, 3) for n in range(1, 4)]


@pytest.fixture
def command(
    service: Service, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Run `confer fetch …` against the server; exit code, stdout, stderr."""
    monkeypatch.setattr(package, "BASES", service.bases)
    for module in ("openreview_source", "arxiv_source", "acl_source"):
        monkeypatch.setattr(f"ingest.fetch.{module}.INTERVAL", 0)

    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "argv", ["confer", "fetch", *arguments])
            patch.setattr(sys, "stdout", sys.stdout)
            try:
                main()
                code = 0
            except SystemExit as stop:
                code = int(stop.code or 0)
        return (code, *capsys.readouterr())

    return run


def test_the_command_fetches_says_so_and_says_when_nothing_is_to_do(
    command: Callable[..., tuple[int, str, str]],
) -> None:
    code, out, err = command(OPENREVIEW)
    assert code == 0, err
    assert out.splitlines() == [
        f"5 papers from {OPENREVIEW} in openreview-ICML.cc-2026-Conference.jsonl.",
        "Next: confer ingest openreview-ICML.cc-2026-Conference.jsonl",
    ]
    code, out, _ = command(OPENREVIEW)
    assert code == 0
    assert "is complete already: 5 papers" in out
    code, out, _ = command(OPENREVIEW, "--again", "--limit", "1", "--json")
    assert json.loads(out)["papers"] == 1


@pytest.mark.parametrize(("source", "expected"), [("nowhere", 2), ("acl:2099.acl", 1), ("openreview:a b", 2)])
def test_errors_of_the_command_are_one_line(
    command: Callable[..., tuple[int, str, str]], source: str, expected: int
) -> None:
    code, out, err = command(source)
    assert (code, out) == (expected, "")
    assert len(err.strip().splitlines()) == 1
    assert err.startswith("confer: ")


@pytest.mark.parametrize(("package_name", "source"), [("arxiv", ARXIV), ("openreview", OPENREVIEW), ("requests", ACL)])
def test_a_missing_extra_is_one_line(
    command: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch, package_name: str, source: str
) -> None:
    monkeypatch.setitem(sys.modules, package_name, None)
    code, out, err = command(source)
    assert (code, out) == (1, "")
    assert len(err.strip().splitlines()) == 1
    assert "pip install -e '.[fetch]'" in err


def test_ctrl_c_keeps_what_was_fetched(
    command: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    from ingest.fetch import openreview_source

    whole = openreview_source.papers

    def interrupted(*arguments: Any) -> Iterator[dict[str, object]]:
        for number, row in enumerate(whole(*arguments)):
            if number == 3:
                raise KeyboardInterrupt
            yield row

    monkeypatch.setattr(openreview_source, "papers", interrupted)
    code, _, err = command(OPENREVIEW)
    assert code == 1
    assert "openreview-ICML.cc-2026-Conference.jsonl.part, and the same command goes on" in err
    monkeypatch.setattr(openreview_source, "papers", whole)
    code, _, _ = command(OPENREVIEW)
    assert (code, len(ids(Path(default_name(OPENREVIEW))))) == (0, 5)


def test_ingest_neither_imports_what_fetches_nor_uses_the_network(service: Service, tmp_path: Path) -> None:
    get(service, OPENREVIEW)
    code = """
import socket, sys
def refuse(*_):
    raise AssertionError("the network is used")
socket.socket.connect = refuse
clients = {"arxiv", "openreview", "ingest.fetch"}
import ingest.readers
from pathlib import Path
from ingest.readers import ListFile, read_file
file = Path(sys.argv[1])
assert len(list(read_file(ListFile.at(file)))) == 5
assert not (clients | {"httpx", "requests", "urllib3"}) & sys.modules.keys(), "reading"
report = ingest.run([file], Path("index"), dry_run=True)
assert (report.read, report.added) == (5, 5), report
assert not clients & sys.modules.keys(), "running"
"""
    arguments = [sys.executable, "-c", code, str(tmp_path / default_name(OPENREVIEW))]
    done = subprocess.run(arguments, capture_output=True, text=True, cwd=tmp_path, env={**_environment()}, check=False)
    assert done.returncode == 0, done.stderr


def _environment() -> dict[str, str]:
    import os

    return {**os.environ, "PYTHONPATH": str(ROOT)}
