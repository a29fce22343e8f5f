"""An answer as text for the terminal: the sentences, then the quotes that carry them."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

from rag.schema import Answer, Explanation, Paper
from rag.sentences import MATH

WIDTH = 100


def answer_text(answer: Answer) -> str:
    """Return the whole answer as plain text, wrapped."""
    lines: list[str] = []
    if answer.standalone_question != answer.question:
        lines += [f"(understood as: {answer.standalone_question})", ""]
    lines += _wrap(answer.text)
    if answer.refused and answer.nearest:
        lines += ["", "Nearest papers:"]
        for paper in answer.nearest:
            lines += _wrap(f"- {_name(paper)}", indent="  ")
    said = {s.text for s in answer.sentences}
    for citation in answer.citations:
        lines += ["", *_wrap(f"[{citation.marker}] {_name(citation.paper)}", indent="    ")]
        for evidence in (e for e in citation.evidence if e.quote not in said):
            lines += _wrap(f"“{evidence.quote}”", first="    ", indent="    ")
    lines += _explained(answer.found)
    lines += ["", *(f"Note: {notice}" for notice in answer.notices)]
    verbatim = " (every sentence is quoted as it stands)" if answer.engine == "extractive" and answer.citations else ""
    lines.append(f"{answer.engine}{verbatim} · confidence {answer.confidence:.2f}")
    return _plain_maths("\n".join(lines))


def _explained(found: Sequence[Explanation]) -> list[str]:
    """Why each paper was found: `3. label`, then the signals, the words and the best sentence."""
    lines = ["", "Why these papers (rank by each signal, with its score):"] if found else []
    for paper in found:
        signals = ", ".join(
            f"{name} {f'#{signal.rank} ({signal.score:.2f})' if signal.rank else '-'}"
            for name, signal in (
                ("passage", paper.dense),
                ("sentence", paper.sentence),
                ("keywords", paper.lexical),
            )
        )
        lines += _wrap(f"{paper.position}. {paper.label}", indent="   ")
        lines += _wrap(f"score {paper.score:.2f}: {signals}", first="   ", indent="   ")
        lines += _wrap(f"shared words: {', '.join(paper.matched) or 'none'}", first="   ", indent="   ")
        if paper.best:
            lines += _wrap(f"“{paper.best.quote}”", first="   ", indent="   ")
    return lines


def _plain_maths(text: str) -> str:
    """Drop the dollars around maths that reads as well without: `pass@$1$`, `$k$`."""
    return MATH.sub(lambda m: m.group()[1:-1] if re.fullmatch(r"\$[\w+=., -]+\$", m.group()) else m.group(), text)


def _name(paper: Paper) -> str:
    where = " ".join(str(part) for part in (paper.venue, paper.year) if part)
    return f"{paper.title or paper.label}{f' · {where}' if where else ''}"


def _wrap(text: str, first: str = "", indent: str = "") -> list[str]:
    lines: list[str] = []
    for paragraph in text.split("\n"):
        hanging = indent or ("  " if paragraph.startswith("- ") else "")
        wrapper = textwrap.TextWrapper(
            WIDTH, initial_indent=first, subsequent_indent=hanging, break_long_words=False, break_on_hyphens=False
        )
        lines += wrapper.wrap(paragraph) or [""]
    return lines
