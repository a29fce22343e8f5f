"""A server on this machine that speaks as OpenReview, arXiv and the ACL Anthology do. All papers are invented."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit
from xml.sax.saxutils import escape

from ingest_kit import ABSTRACTS

VENUE = "ICML.cc/2026/Conference"


class Answer:
    """What the server sends; `cut` bytes of the body are announced and never come."""

    def __init__(self, body: object, status: int = 200, cut: int = 0, **headers: str) -> None:
        is_text = isinstance(body, str)
        self.body = (str(body) if is_text else json.dumps(body)).encode()
        self.headers = {"Content-Type": "application/xml" if is_text else "application/json"}
        self.headers |= {name.replace("_", "-"): value for name, value in headers.items()}
        self.status, self.cut = status, cut


class Service:
    """A server with papers. `troubles` are answers to the requests of these numbers (from 0) instead of true ones."""

    def __init__(self) -> None:
        self.notes: list[dict[str, Any]] = []  # of the present interface of OpenReview
        self.old_notes: list[dict[str, Any]] = []
        self.entries: list[str] = []
        self.collections: dict[str, str] = {}
        self.troubles: dict[int, Answer] = {}
        self.requests: list[tuple[str, dict[str, str]]] = []
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                url = urlsplit(self.path)
                query = {name: found[0] for name, found in parse_qs(url.query).items()}
                number = len(service.requests)
                service.requests.append((url.path, query))
                answer = service.troubles.get(number) or service.answer(url.path, query)
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(answer.body) + answer.cut))
                self.end_headers()
                self.wfile.write(answer.body)
                self.close_connection = True

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.host = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def bases(self) -> dict[str, str]:
        names = {"openreview": "/v2", "openreview-v1": "/v1", "arxiv": "/api/query", "acl": "/xml"}
        return {name: self.host + path for name, path in names.items()}

    def answer(self, path: str, query: dict[str, str]) -> Answer:
        if path == "/v2/notes":
            return _notes(self.notes, query, lambda note: note["content"].get("venueid", {}).get("value"))
        if path == "/v1/notes":
            return _notes(self.old_notes, query, lambda note: note["content"].get("venueid"))
        if path == "/api/query":
            start, size = int(query["start"]), int(query["max_results"])
            return Answer(feed(self.entries[start : start + size], len(self.entries), start))
        found = self.collections.get(path.removeprefix("/xml/"))
        return Answer(found) if found else Answer("404: Not Found", 404)


def _notes(notes: list[dict[str, Any]], query: dict[str, str], venue: Callable[[dict[str, Any]], object]) -> Answer:
    if "invitation" in query:
        found = [note for note in notes if note["invitation"] == query["invitation"]]
        if not found:
            return Answer({"name": "NotFoundError", "message": "The Invitation was not found"}, 404)
    else:
        found = [note for note in notes if venue(note) == query["content.venueid"]]
    found = sorted(found, key=lambda note: note["id"])
    behind = [note for note in found if note["id"] > query.get("after", "")]
    return Answer({"notes": behind[: int(query["limit"])], "count": len(found)})


def note(number: int, **content: object) -> dict[str, Any]:
    told = {
        "title": f"Paper {number} on drift",
        "abstract": ABSTRACTS[number % len(ABSTRACTS)],
        "authors": ["Ada Moor", "Bo de Vries"],
        "keywords": ["sensors; old", "drift"],
        "venue": "ICML 2026 oral",
        "venueid": VENUE,
        **content,
    }
    identifier = f"Abc_{number:06}"
    wrapped = {name: {"value": value} for name, value in told.items()}
    return {"id": identifier, "forum": identifier, "content": wrapped, "cdate": 1_761_000_000_000}


def old_note(number: int, invitation: str, **content: object) -> dict[str, Any]:
    plain = {"title": f"Paper {number}", "abstract": ABSTRACTS[number % len(ABSTRACTS)], "authors": ["Cy Ode"]}
    identifier = f"Old_{number:06}"
    return {
        "id": identifier,
        "forum": identifier,
        "invitation": invitation,
        "content": {**plain, **content},
        "cdate": 1_540_000_000_000,
    }


def entry(number: int) -> str:
    return f"""<entry>
  <id>http://arxiv.org/abs/2601.{number:05}v2</id>
  <updated>2026-01-09T12:00:00Z</updated>
  <published>2026-01-05T12:00:00Z</published>
  <title>Drift &amp; paper
  {number}</title>
  <summary>  {escape(ABSTRACTS[number % len(ABSTRACTS)])}
</summary>
  <author><name>Ada Moor</name></author>
  <author><name>Bo de Vries</name></author>
  <arxiv:journal_ref xmlns:arxiv="http://arxiv.org/schemas/atom">J. Weather 7 (2026)</arxiv:journal_ref>
  <arxiv:doi xmlns:arxiv="http://arxiv.org/schemas/atom">10.5555/Drift.{number}</arxiv:doi>
  <link href="http://arxiv.org/abs/2601.{number:05}v2" rel="alternate" type="text/html"/>
  <link title="pdf" href="http://arxiv.org/pdf/2601.{number:05}v2" rel="related" type="application/pdf"/>
  <arxiv:primary_category xmlns:arxiv="http://arxiv.org/schemas/atom" term="cs.LG"/>
  <category term="cs.LG" scheme="http://arxiv.org/schemas/atom"/>
  <category term="stat.ML" scheme="http://arxiv.org/schemas/atom"/>
</entry>"""


def feed(entries: list[str], total: int, start: int = 0) -> str:
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<title type="html">ArXiv Query</title>
<opensearch:totalResults xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">{total}</opensearch:totalResults>
<opensearch:startIndex xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">{start}</opensearch:startIndex>
<opensearch:itemsPerPage xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">{len(entries)}</opensearch:itemsPerPage>
{"".join(entries)}</feed>"""


def collection(*numbers: int, broken: str = "") -> str:
    papers = "".join(
        f"""<paper id="{n}"><title>On <fixed-case>N</fixed-case>orse {n}</title>
<author><first>Ada</first><last>Moor</last></author><author><last>Plato</last></author>
<pages>1–9</pages><abstract>{escape(ABSTRACTS[n])} It costs <i>n</i><tex-math>x^2</tex-math>.</abstract>
<url hash="0a">2025.acl-long.{n}</url><doi>10.18653/v1/2025.acl-long.{n}</doi><bibkey>moor-{n}</bibkey></paper>"""
        for n in numbers
    )
    return f"""<?xml version='1.0' encoding='UTF-8'?>
<collection id="2025.acl"><volume id="long" ingest-date="2025-07-01"><meta>
<booktitle>Proceedings of a Meeting in Vienna</booktitle><year>2025</year></meta>
<frontmatter><url hash="0b">2025.acl-long.0</url></frontmatter>{papers}{broken}</volume></collection>"""
