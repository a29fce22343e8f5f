"""Example questions made from the indexed papers: the same papers give the same questions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from rag.schema import Paper
from rag.sentences import sentence_spans

Item = TypeVar("Item")
WANTED = 4
LOOKED_AT = 400  # papers, so that a long list costs no more
SHAPES = ("What is {}?", "How does {} work?", "What problem does {} address?")
# `SAGE: Semantic-Anchored Judgment` names a thing; a title such as `Scaling laws: a survey` does not.
NAMED = re.compile(r"(?P<name>(?=[^:]*[A-Z0-9][^:]*[A-Z0-9])[^\W_][\w²³+*./-]*(?: (?:and )?[\w²³+*./-]+){0,2}): \S")
# The subject of `Mixup is a …` or `The Rademacher complexity of a function class is …`.
SUBJECT = re.compile(
    r"(?P<subject>[A-Z][^,;:$<>]{3,70}?)\s+(?:is|are|has|have|can|plays?|remains?|aims?|becomes?)\s", re.ASCII
)
NO_SUBJECT = re.compile(
    r"(?:an?|we|our|this|that|these|those|it|they|in|on|at|by|for|from|with|as|to|while|although|though|when|where|whereas|"
    r"despite|recent\w*|many|most|some|such|one|existing|current|modern|understanding|since|because|if|there|given|"
    r"after|before|during|under|across|among|beyond|unlike|within|without|both|each|how|what|why|whether)\b",
    re.IGNORECASE,
)
OUR_STUDY = re.compile(
    r"We (?P<verb>study|investigate|examine|benchmark|revisit) (?P<what>[^,;:.$<>]{12,70}?)(?=[.,;:]| with )"
)
VERBS = {
    "study": "studies",
    "investigate": "investigates",
    "examine": "examines",
    "benchmark": "benchmarks",
    "revisit": "revisits",
}


def questions(papers: Sequence[Paper]) -> list[str]:
    """Return a few questions that the papers should answer, spread over the list; fewer where fewer read well."""
    papers = _spread(list(papers), LOOKED_AT)
    topics = _spread(_asked(papers, _topic), WANTED)
    named = _spread(_asked(papers, _name), WANTED if not topics else WANTED - 1)
    asked = [SHAPES[i % len(SHAPES)].format(name) for i, name in enumerate(named)]
    return [*asked, *topics][:WANTED]


def _asked(papers: Iterable[Paper], ask: Callable[[Paper], str | None]) -> list[str]:
    return list(dict.fromkeys(question for paper in papers if (question := ask(paper))))


def _spread(items: list[Item], wanted: int) -> list[Item]:
    """Return items at even distances, so that not all come from one corner of the list."""
    if len(items) <= wanted:
        return items
    return [items[i * len(items) // wanted] for i in range(wanted)]


def _name(paper: Paper) -> str | None:
    match = NAMED.match(paper.label)
    return match["name"] if match and " and " not in match["name"] and len(match["name"]) <= 32 else None


def _topic(paper: Paper) -> str | None:
    """`Which paper studies …?` from the first sentence of a paper that has no name."""
    if _name(paper) or paper.title:
        return None
    start, end = (sentence_spans(paper.abstract) or [(0, 0)])[0]
    sentence = paper.abstract[start:end]
    ours = OUR_STUDY.match(sentence)
    if ours:
        return f"Which paper {VERBS[ours['verb']]} {ours['what'].strip()}?"
    match = SUBJECT.match(sentence)
    if match is None or NO_SUBJECT.match(sentence) or len(match["subject"].split()) > 8:
        return None
    return f"Which papers study {_lower_first(match['subject'])}?"


def _lower_first(text: str) -> str:
    """`Mixup` in mid-sentence is `mixup`; `LLMs` and `U-Net` stay."""
    first = text.split()[0]
    return text if first[1:] != first[1:].lower() else text[0].lower() + text[1:]
