"""The accepted papers of a venue at OpenReview."""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from ingest.fetch.visit import RefusedError, Row, Visit, missing, row
from ingest.readers import RawRecord, fields, json_shapes
from rag.errors import ConferError, UsageError

INTERVAL = 1.0  # seconds
PAGE = 1000  # the most that the service gives at once
EXAMPLE = "openreview:ICML.cc/2026/Conference"
VENUE = re.compile(r"[^\s/?#:]+(?:/[^\s/?#:]+)*")
LOGIN = "it lets in who sets OPENREVIEW_USERNAME and OPENREVIEW_PASSWORD to those of an account there"


@dataclass(frozen=True)
class Route:
    """One way to ask for a venue's papers: those accepted, or all submissions."""

    base: str
    query: dict[str, Any]
    accepted: bool = True


def check(venue: str) -> str:
    """The venue's id. Raises UsageError if it cannot be one."""
    if not VENUE.fullmatch(venue):
        raise UsageError(f"{venue!r} is no venue id of OpenReview; write it as its address has it: {EXAMPLE}")
    return venue


def papers(venue: str, visit: Visit) -> Iterator[Row]:
    """Yield the papers in the order of their ids, from behind those that were fetched before."""
    clients: dict[str, Any] = {}
    for route in _routes(venue):
        client = clients.get(route.base) or clients.setdefault(route.base, _client(route.base, visit))
        visit.total = _count(client, route)
        if visit.total:
            if not route.accepted:
                visit.note = f"OpenReview does not say which papers {venue} accepted; these are all its submissions"
            yield from _pages(client, route, venue, visit)
            return
    raise ConferError(f"OpenReview shows no papers of {venue}; is that its id, as its address has it ({EXAMPLE})?")


def _routes(venue: str) -> tuple[Route, ...]:
    """The present interface, then the old one, where most venues before 2024 are; those before 2021 name no venue."""
    accepted = {"content": {"venueid": venue}}
    submitted = ({"invitation": f"{venue}/-/{name}"} for name in ("Blind_Submission", "Submission"))
    return (
        Route("openreview", accepted),
        Route("openreview-v1", accepted),
        *(Route("openreview-v1", query, accepted=False) for query in submitted),
    )


def _client(base: str, visit: Visit) -> Any:
    """OpenReview's own client. It logs in only if the environment names an account, and is anonymous otherwise."""
    try:
        import openreview

        from ingest.fetch.polite import PoliteAdapter
    except ImportError as error:
        raise missing("openreview-py") from error
    make = openreview.api.OpenReviewClient if base == "openreview" else openreview.Client
    try:
        with contextlib.redirect_stdout(sys.stderr):  # it prints when it tries again to log in
            client = make(baseurl=visit.bases[base])
    except Exception as error:  # whatever a login may end in
        told = " ".join(str(error).split())[:200]
        raise ConferError(f"OpenReview does not let in the account in OPENREVIEW_USERNAME: {told}") from error
    adapter = PoliteAdapter(visit.manners, INTERVAL)  # the client's own retries are longer, and print
    for scheme in ("https://", "http://"):
        client.session.mount(scheme, adapter)
    return client


def _count(client: Any, route: Route) -> int:
    """How many papers there are on a route."""
    try:
        _, count = _asked(client, **route.query, limit=1, with_count=True)
    except RefusedError as error:
        if error.status in (400, 404):  # the old interface, for an invitation that there is not
            return 0
        raise
    return int(count)


def _pages(client: Any, route: Route, venue: str, visit: Visit) -> Iterator[Row]:
    """Page as the client's `get_all_notes` does, by the last id, which does not move when papers come or go."""
    after = {"after": visit.done[-1]} if visit.done else {}
    while notes := _asked(client, **route.query, **after, sort="id", limit=visit.page(PAGE)):
        if after.get("after") == notes[-1].id:
            raise ConferError("OpenReview gives the same page again and again")
        after = {"after": notes[-1].id}
        for note in notes:
            yield row(_record(note, venue), note.id)


def _asked(client: Any, **query: Any) -> Any:
    """What the client makes of an answer. Raises ConferError for one that it cannot make anything of."""
    try:
        found = client.get_notes(**query)
        notes = found[0] if isinstance(found, tuple) else found
        if all(isinstance(note.id, str) and isinstance(note.content, dict) for note in notes):
            return found
    except RefusedError as error:
        raise RefusedError(f"{error}; {LOGIN}", error.status) if error.status in (401, 403) else error from None
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise ConferError(f"OpenReview's answer is malformed ({type(error).__name__})") from error
    raise ConferError("OpenReview's answer is malformed (a paper without id or content)")


def _record(note: Any, venue: str) -> RawRecord:
    """The record of a note of either interface."""
    names = ("id", "forum", "content", "pdate", "odate", "cdate", "tcdate")
    record = json_shapes.record({name: getattr(note, name, None) for name in names}, 0, None, {}, "")
    authors = () if record.authors == ("Anonymous",) else record.authors
    # A paper is often submitted in the year before that of its conference.
    return replace(record, authors=authors, venue=record.venue or venue, year=fields.year(venue) or record.year)
