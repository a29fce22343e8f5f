"""Reading a filter from text: a tokenizer and a recursive descent, with the place of whatever cannot be read."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from rag.errors import UsageError
from rag.filters import Comparison, Either, Every, Filter, Negation, Op, Value, check_op, check_value, field_named

RESERVED = frozenset({"and", "or", "not", "in"})
DEEPEST = 50  # parentheses and `not`s within each other
AROUND = 60  # characters of a long filter that are shown on each side of the place
TOKEN = re.compile(
    r"""(?P<space>\s+)
    |(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|“[^”]*”)
    |(?P<op><=|>=|==|!=|=|<|>|~|≤|≥|≠)
    |(?P<mark>[(),])
    |(?P<word>[^\s()=!<>~,"'“≤≥≠][^\s()=!<>~,"≤≥≠]*)""",
    re.VERBOSE | re.DOTALL,
)
SPELT = {"==": Op.EQUAL, "≤": Op.AT_MOST, "≥": Op.AT_LEAST, "≠": Op.UNEQUAL}
OPERATORS = "=, !=, <, <=, >, >=, ~, in or not in"
T = TypeVar("T")


@dataclass(frozen=True)
class Token:
    """A piece of the filter and where it begins; `text` is without quotes."""

    kind: str  # text, op, mark, word or end
    text: str
    place: int

    def says(self, word: str) -> bool:
        """Whether this is a word of the language, or a mark."""
        return self.kind in {"word", "mark"} and self.text.casefold() == word


def parse(text: str) -> Filter:
    """Read a filter. Raises UsageError with the column, the filter, and a caret under the place."""
    return _Parser(text).whole()


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = self._tokens()
        self.at = 0
        self.depth = 0

    def whole(self) -> Filter:
        found = self.either()
        if self.token.kind != "end":
            hint = "; a value of several words stands in quotes" if self.token.kind == "word" else ""
            raise self.wrong(f"expected `and`, `or` or the end, not {self.seen()}{hint}")
        return found

    def either(self) -> Filter:
        parts = self.chain("or", self.every)
        return parts[0] if len(parts) == 1 else Either(parts=parts)

    def every(self) -> Filter:
        parts = self.chain("and", self.unary)
        return parts[0] if len(parts) == 1 else Every(parts=parts)

    def chain(self, word: str, part: Callable[[], Filter]) -> list[Filter]:
        parts = [part()]
        while self.token.says(word):
            self.at += 1
            parts.append(part())
        return parts

    def unary(self) -> Filter:
        if not (self.token.says("not") or self.token.says("(")):
            return self.comparison()
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.wrong(f"nested more than {DEEPEST} deep")
        if self.token.says("not"):
            self.at += 1
            found: Filter = Negation(part=self.unary())
        else:
            self.at += 1
            found = self.either()
            self.expect(")")
        self.depth -= 1
        return found

    def comparison(self) -> Comparison:
        token = self.token
        if token.kind != "word" or token.text.casefold() in RESERVED:
            raise self.wrong(f"expected a field, not {self.seen()}")
        field = self.placed(token, lambda: field_named(token.text))
        self.at += 1
        start = self.token
        op = self.operator()
        self.placed(start, lambda: check_op(field, op))
        if op not in {Op.IN, Op.NOT_IN}:
            return Comparison(field=field, op=op, value=self.value(field, op))
        self.expect("(")
        values = [self.value(field, op)]
        while self.token.says(","):
            self.at += 1
            values.append(self.value(field, op))
        self.expect(")")
        return Comparison(field=field, op=op, value=values)

    def operator(self) -> Op:
        token = self.token
        if token.kind == "op":
            self.at += 1
            return SPELT.get(token.text) or Op(token.text)
        for words, op in ((("in",), Op.IN), (("not", "in"), Op.NOT_IN)):
            if all(t.says(w) for t, w in zip(self.tokens[self.at :], words, strict=False)):
                self.at += len(words)
                return op
        raise self.wrong(f"expected {OPERATORS}, not {self.seen()}")

    def value(self, field: str, op: Op) -> Value:
        token = self.token
        if token.kind not in {"text", "word"} or (token.kind == "word" and token.text.casefold() in RESERVED):
            raise self.wrong(f"expected a value, not {self.seen()}")
        self.at += 1
        return self.placed(token, lambda: check_value(field, op, token.text))

    # -- places ----------------------------------------------------------------------------------------------------

    @property
    def token(self) -> Token:
        return self.tokens[self.at]

    def expect(self, mark: str) -> None:
        if not self.token.says(mark):
            hint = "; a value of several words stands in quotes" if mark == ")" and self.token.kind == "word" else ""
            raise self.wrong(f"expected `{mark}`, not {self.seen()}{hint}")
        self.at += 1

    def seen(self) -> str:
        return "the end" if self.token.kind == "end" else f"`{self.token.text[:40]}`"

    def placed(self, token: Token, step: Callable[[], T]) -> T:
        """Do a step; what it refuses is at the token."""
        try:
            return step()
        except UsageError as error:
            raise self.wrong(str(error), token.place) from None

    def wrong(self, what: str, place: int | None = None) -> UsageError:
        place = self.token.place if place is None else place
        begin, end = max(0, place - AROUND), place + AROUND
        before, after = self.text[begin:place], self.text[place:end]
        shown = ("…" if begin else "") + before + after + ("…" if end < len(self.text) else "")
        width = sum(map(_columns, before)) + bool(begin)
        shown = re.sub(r"\s", " ", shown)
        return UsageError(f"filter, column {place + 1}: {what}\n  {shown}\n  {' ' * width}^")

    def _tokens(self) -> list[Token]:
        tokens, place, end = [], 0, len(self.text.rstrip())
        while place < end:
            match = TOKEN.match(self.text, place)
            if match is None:
                odd = self.text[place]
                raise self.wrong("a quote is not closed" if odd in "\"'“" else f"`{odd}` has no meaning here", place)
            kind, piece = str(match.lastgroup), match.group()
            if kind == "text":
                piece = re.sub(r"\\(.)", r"\1", piece[1:-1], flags=re.DOTALL)
            if kind != "space":
                tokens.append(Token(kind, piece, place))
            place = match.end()
        return [*tokens, Token("end", "", end)]


def _columns(character: str) -> int:
    """How many columns of a terminal a character takes."""
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
