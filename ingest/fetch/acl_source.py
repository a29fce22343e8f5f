"""The papers of a collection in the ACL Anthology, all its volumes: one file, read by the reader for such files."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator

from ingest.fetch.visit import RefusedError, Row, Visit, missing, row
from ingest.readers import ListFile, ReadError, xml_lists
from rag.errors import ConferError, UsageError

INTERVAL = 1.0  # seconds
EXAMPLE = "acl:2025.acl"
COLLECTION = re.compile(r"(?:\d{4}\.[a-z0-9_]+|[A-Z]\d\d)")
VOLUME = re.compile(rf"({COLLECTION.pattern})-\w+")
PLACE = "https://aclanthology.org/"


def check(collection: str) -> str:
    """The collection's id. Raises UsageError if it cannot be one."""
    if volume := VOLUME.fullmatch(collection):
        raise UsageError(f"{collection} is a volume; write acl:{volume[1]} for the collection that it belongs to")
    if not COLLECTION.fullmatch(collection):
        raise UsageError(f"{collection!r} is no collection of the ACL Anthology; write one like {EXAMPLE} or acl:P19")
    return collection


def papers(collection: str, visit: Visit) -> Iterator[Row]:
    """Yield the papers in the file's order, those that were fetched before too: it comes as a whole."""
    body = _download(collection, visit)
    visit.total = len(re.findall(rb"<paper[\s>]", body))
    if not visit.total:
        raise ConferError(f"the ACL Anthology has no papers in {collection}")
    broken = 0
    try:
        for record in xml_lists.read(ListFile(f"{collection}.xml", lambda: io.BytesIO(body))):
            if record.reject:
                broken += 1
                visit.note = f"papers left out because the Anthology's file is broken there: {broken:,}"
                continue
            # `1` is the key of a paper without others in each volume; its address is in no other.
            place = (record.url or "").removeprefix(PLACE).strip("/")
            yield row(record, place or f"{collection}/{record.position}/{record.key}")
    except ReadError as error:
        raise ConferError(f"the Anthology's file of {collection} is malformed: {error}") from error


def _download(collection: str, visit: Visit) -> bytes:
    try:
        import requests

        from ingest.fetch.polite import PoliteAdapter
    except ImportError as error:
        raise missing("requests") from error
    with requests.Session() as session:
        adapter = PoliteAdapter(visit.manners, INTERVAL, _check)
        for scheme in ("https://", "http://"):
            session.mount(scheme, adapter)
        try:
            return session.get(f"{visit.bases['acl']}/{collection}.xml").content
        except RefusedError as error:
            if error.status == 404:
                raise ConferError(f"the ACL Anthology has no collection {collection}") from error
            raise


def _check(body: bytes) -> None:
    if b"<collection" not in body[:10_000] or not body.rstrip().endswith(b"</collection>"):
        raise ConferError("the Anthology's answer is malformed (it is no whole collection)")
