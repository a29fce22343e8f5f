"""What one visitor has asked: kept on the server for as long as the browser tab lives, and shared with nobody."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from rag.schema import Answer
from ui.web.asking import Run

MOST = 50  # conversations; the oldest go first


@dataclass
class Turn:
    """A question and its answer; without one, `note` says why and `draft` is what had been written by then."""

    question: str
    answer: Answer | None = None
    draft: str = ""
    note: str = ""


@dataclass(eq=False)
class Conversation:
    """Turns that build on each other."""

    turns: list[Turn] = field(default_factory=list)

    @property
    def history(self) -> list[Answer]:
        """The answers so far, oldest first, as the assistant takes them."""
        return [turn.answer for turn in self.turns if turn.answer is not None]


class Session:
    """A visitor's conversations, the one on the page, and the question under way."""

    def __init__(self) -> None:
        self.conversations: list[Conversation] = []
        self.current = Conversation()
        self.run: Run | None = None

    def __deepcopy__(self, memo: dict[int, Any]) -> Session:
        """Gradio copies a state's first value for each visitor: each gets an empty session of their own."""
        return Session()

    def add(self, conversation: Conversation, turn: Turn) -> None:
        """Put a turn at the end of a conversation, which then is the latest."""
        conversation.turns.append(turn)
        if conversation in self.conversations:
            self.conversations.remove(conversation)
        self.conversations = [conversation, *self.conversations][:MOST]

    def open(self, conversation: Conversation) -> None:
        """Show another conversation; a question under way is stopped and stays with its own."""
        self.stop()
        self.current = conversation

    def stop(self) -> None:
        """Stop the question under way, if there is one."""
        if self.run is not None:
            self.run.stop()
