"""What stands around the answers: the head, the welcome, the conversations, hints and the upload report, as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

from rag.llm import parse_spec
from rag.schema import Finding, IngestReport
from rag.wording import counted
from ui.web.markup import escape
from ui.web.session import Conversation

FINDINGS = 20  # shown; the rest is counted
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


def engine_text(engine: str) -> str:
    """Say who writes the answers and where the words go."""
    spec = parse_spec("none" if engine == "extractive" else engine)
    if spec is None:
        return "Extractive · nothing leaves this machine"
    host = urlsplit(spec.base).hostname or ""
    stays = not spec.base or host in LOOPBACK
    return f"{spec.text} · {'runs on this machine' if stays else f'questions and quotes go to {host}'}"


def head_html(engine: str, count: int, *, sample: bool) -> str:
    """Return the head of the page: its name, how many papers it answers over, and who writes."""
    what = f"{counted(count, 'paper')}{' · bundled sample list' if sample else ''}"
    writes = escape(engine_text(engine))
    return (
        '<header class="cf-head"><h1>Confer</h1><p class="cf-facts">'
        f'<span class="cf-count">{what}</span><span class="cf-engine">{writes}</span></p>'
        '<button type="button" class="cf-menu" aria-expanded="false" aria-controls="cf-rail">Menu</button></header>'
    )


def welcome_html(count: int, examples: Sequence[str]) -> str:
    """Return what stands on the page before the first question."""
    if not count:
        return (
            '<div class="cf-welcome"><h2>There are no papers yet.</h2><p>Add a list of abstracts to begin: a text file '
            "with a blank line between one abstract and the next.</p></div>"
        )
    items = "".join(
        f'<li><button type="button" data-pick="{escape(text)}">{escape(text)}</button></li>' for text in examples
    )
    shown = f'<ul class="cf-examples" aria-label="Example questions">{items}</ul>' if items else ""
    return (
        f'<div class="cf-welcome"><h2>Ask {counted(count, "paper")}.</h2><p>Every sentence of an answer points to the '
        f"words of an abstract that carry it. Where the papers do not say, Confer says so.</p>{shown}</div>"
    )


def conversations_html(conversations: Sequence[Conversation], current: Conversation) -> str:
    """Return the conversations of this visit, the latest first."""
    items = "".join(
        f'<li><button type="button" data-pick="{number}"{" aria-current=true" if own is current else ""}>'
        f'<span dir="auto">{escape(own.turns[0].question)}</span></button></li>'
        for number, own in enumerate(conversations)
    )
    if not items:
        return '<h2 class="cf-rail-title">Conversations</h2><p class="cf-quiet">None yet in this visit.</p>'
    return f'<h2 class="cf-rail-title">Conversations</h2><ul class="cf-conversations">{items}</ul>'


def message_html(text: str) -> str:
    """Return one line to the reader (a hint or an error); nothing for no text."""
    return f'<p class="cf-message" role="alert">{escape(text)}</p>' if text else ""


def upload_html(*, limit_mb: int) -> str:
    """Return what stands above the upload button."""
    return (
        f'<h2 class="cf-rail-title">Papers</h2><p class="cf-quiet">Add your own: BibTeX, RIS, CSV, Excel, JSON, '
        f"PubMed or Web of Science files, or plain text with a blank line between abstracts; up to {limit_mb} MB.</p>"
    )


def progress_html(name: str, done: int, todo: int) -> str:
    """Return how far an upload is; `todo` is 0 while the file is being read."""
    if not todo:
        text, bar = f"Reading {escape(name)}…", "<progress></progress>"
    else:
        text = f"Adding {done:,} of {counted(todo, 'paper')}…"
        bar = f'<progress value="{done}" max="{todo}"></progress>' if done else "<progress></progress>"
    return f'<div class="cf-report" role="status"><p>{text}</p>{bar}</div>'


def report_html(name: str, report: IngestReport) -> str:
    """Say what happened to every record of an upload."""
    counts = [
        (report.added, "added"),
        (report.updated, "updated"),
        (report.unchanged, "unchanged"),
        (report.duplicate, "already there"),
        (report.rejected, "rejected"),
    ]
    told = ", ".join(f"{count:,} {word}" for count, word in counts if count) or "nothing in it"
    listed = _findings("", report.rejects) + _findings("Two papers under one id", report.conflicts)
    listed += _findings("Taken, but worth a look", report.suspicious)
    return f'<div class="cf-report" role="status"><p><strong>{escape(name)}</strong>: {told}.</p>{listed}</div>'


def _findings(heading: str, findings: Sequence[Finding]) -> str:
    items = "".join(f"<li>{escape(_finding(finding))}</li>" for finding in findings[:FINDINGS])
    if len(findings) > FINDINGS:
        items += f"<li>and {len(findings) - FINDINGS:,} more</li>"
    head = f"<p>{heading}:</p>" if heading else ""
    return f"{head}<ul>{items}</ul>" if items else ""


def _finding(finding: Finding) -> str:
    place = f"line {finding.line}: " if finding.line else ""
    return f"{place}{finding.reason}"
