"""What a search in arXiv finds, the newest papers first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ingest.fetch.visit import Row, Visit, missing, row
from ingest.readers import RawRecord, fields
from rag.errors import ConferError, UsageError

INTERVAL = 3.0  # seconds: what arXiv's terms ask for
PAGE = 100  # larger pages often arrive empty
EXAMPLE = "arxiv:'cat:cs.LG AND abs:calibration'"
NAMES = {"atom": "http://www.w3.org/2005/Atom", "opensearch": "http://a9.com/-/spec/opensearch/1.1/"}


def check(query: str) -> str:
    """The query without quotes around it. Raises UsageError for an empty one."""
    inner = query[1:-1].strip() if len(query) > 1 and query[0] == query[-1] == "'" else query
    if not inner:
        raise UsageError(f"the query is empty; write one as arXiv's search takes it: {EXAMPLE}")
    return inner


def papers(query: str, visit: Visit) -> Iterator[Row]:
    """Yield what the query finds, from behind the papers that were fetched before.

    New papers come in front, so that a place in the results can only move back: papers may be met twice, and
    none is missed.
    """
    client, search = _client(query, visit)
    found = bool(visit.done)
    for result in _results(client, search, len(visit.done)):
        found = True
        yield row(_record(result), result.get_short_id())
    if not found:
        raise ConferError(f"arXiv finds no papers for {query!r}; try it in the search at arxiv.org")


def _client(query: str, visit: Visit) -> tuple[Any, Any]:
    """The client and the search. The client's own pauses and tries are left to the adapter, but for empty pages."""
    try:
        import arxiv

        from ingest.fetch.polite import PoliteAdapter
    except ImportError as error:
        raise missing("arxiv") from error
    client = arxiv.Client(page_size=visit.page(PAGE), delay_seconds=0, num_retries=visit.manners.tries - 1)
    client.query_url_format = f"{visit.bases['arxiv']}?{{}}"
    adapter = PoliteAdapter(visit.manners, INTERVAL, _checked(visit))
    for scheme in ("https://", "http://"):
        client._session.mount(scheme, adapter)  # it has no other place for it
    newest = {"sort_by": arxiv.SortCriterion.SubmittedDate, "sort_order": arxiv.SortOrder.Descending}
    return client, arxiv.Search(query, max_results=None, **newest)


def _checked(visit: Visit) -> Callable[[bytes], None]:
    """What looks at each feed before the client does, which takes anything for an empty one."""
    from lxml import etree

    from ingest.fetch.polite import PassingError

    def check_feed(body: bytes) -> None:
        try:
            feed = etree.fromstring(body, etree.XMLParser(resolve_entities=False, no_network=True))
        except etree.XMLSyntaxError as error:
            raise ConferError(f"arXiv's answer is malformed ({error.msg})") from error
        if feed.tag != f"{{{NAMES['atom']}}}feed":
            raise ConferError("arXiv's answer is malformed (it is no Atom feed)")
        entries = feed.findall("atom:entry", NAMES)
        for entry in entries:
            if "/api/errors" in entry.findtext("atom:id", "", NAMES):
                told = " ".join(entry.findtext("atom:summary", "", NAMES).split())
                raise UsageError(f"arXiv does not take the query: {told[:200]}")
        total, start = (
            _number(feed.findtext(f"opensearch:{name}", "", NAMES)) for name in ("totalResults", "startIndex")
        )
        visit.total = total
        if not entries and start < total:
            raise PassingError(f"arXiv gives an empty page from paper {start + 1:,} of {total:,} on")

    return check_feed


def _number(text: str) -> int:
    return int(text) if text.strip().isdecimal() else 0


def _results(client: Any, search: Any, offset: int) -> Iterator[Any]:
    import arxiv

    try:
        yield from client.results(search, offset)
    except arxiv.ArxivError as error:
        raise ConferError(f"arXiv's answer is malformed ({error.message})") from error
    except (ValueError, TypeError) as error:  # a date that is none
        raise ConferError(f"arXiv's answer is malformed ({error})") from error


def _record(result: Any) -> RawRecord:
    identifier = result.get_short_id()
    return RawRecord(
        0,
        None,
        result.summary.strip(),
        title=result.title.strip() or None,
        authors=tuple(author.name for author in result.authors if author.name),
        venue=result.journal_ref,
        year=result.published.year,
        keywords=tuple(result.categories),
        url=f"https://arxiv.org/abs/{identifier}",
        doi=fields.doi(result.doi),
        arxiv_id=fields.arxiv(identifier),
    )
