"""Follow-up questions made stand-alone, by rules: what was understood is in the answer for the user to see."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rag.errors import UsageError
from rag.questions import analyse
from rag.schema import Answer
from rag.text import repaired

History = Sequence["Answer | str"]

POINTING = re.compile(
    r"\b(?:it|its|it's|they|them|their|this|that|these|those|he|she|his|her|the (?:paper|method|model|dataset|"
    r"benchmark|framework|system|authors?|approach|same|second|first|other|latter|former))\b|它|他们|这个|该(?:方法|论文|模型)|那",
    re.I,
)
CONTINUING = re.compile(
    r"^\W*(?:and|but|so|also|what about|how about|ok|then|why|how so|in which case|那|还有)\b", re.I
)
SHORT = 4  # content words; a longer question is taken to stand alone unless it points back


@dataclass(frozen=True)
class Standalone:
    """A question as it is understood: `text` shows it, `search` finds papers, `focus` picks the sentences."""

    text: str
    search: str
    focus: str
    paper_ids: tuple[str, ...] = ()


def standalone(question: str, history: History, *, depends: bool | None = None) -> Standalone:
    """Return the question with what it takes from the turns before; unchanged where it needs nothing.

    Whether it does is read from its words, unless `depends` says so.
    """
    history = [h for h in _checked(history) if not (isinstance(h, Answer) and h.refused)]
    if not history or not (_depends(question) if depends is None else depends):
        return Standalone(question, question, question)
    last = history[-1]
    earlier = last.question if isinstance(last, Answer) else last
    subject = (
        last.standalone_question if isinstance(last, Answer) else _chain([h for h in history if isinstance(h, str)])
    )
    cited = tuple(c.paper.id for c in last.citations) if isinstance(last, Answer) else ()
    labels = last.citations[0].paper.label if isinstance(last, Answer) and last.citations else earlier
    return Standalone(f"{question} (about: {labels})", f"{subject} {question}", question, cited)


def _checked(history: History) -> list[Answer | str]:
    if isinstance(history, str) or not all(isinstance(h, Answer | str) for h in history):
        raise UsageError("history is a list of earlier answers, or of earlier questions as text")
    clean = [repaired(h) if isinstance(h, str) else h for h in history]
    return [h for h in clean if isinstance(h, Answer) or h.strip()]


def _chain(questions: list[str]) -> str:
    """The last question that stands by itself, with the follow-ups since."""
    start = max((i for i, q in enumerate(questions) if not _depends(q)), default=0)
    return " ".join(questions[start:])


def _depends(question: str) -> bool:
    content = analyse(question).terms
    if CONTINUING.match(question) and len(content) <= 2 * SHORT:
        return True
    return bool(POINTING.search(question)) and len(content) <= 2 * SHORT
