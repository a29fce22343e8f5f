"""The part of a JSON text that is looked at: brackets and whole strings in it, and the numbers of its lines."""

from __future__ import annotations

import re
from typing import TextIO

from ingest.readers.records import ReadError

CHUNK = 1 << 16
BEHIND = 256  # characters that stay before what is kept
# A string and what follows it (nothing at the end of the window, None where no sound JSON goes on), a bracket, or a
# quote without its counterpart.
TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"(?=\s*+([,:}\]/]|\Z)?)|[{}\[\]]|"', re.DOTALL)
# Whole strings, and what else is no bracket.
SOUND = re.compile(r'(?:[^"{}\[\]]++|"(?:[^"\\]++|\\.)*+"(?=\s*+[,:}\]/]))*+', re.DOTALL)


class Window:
    """`buffer[at:]` is still to be looked at; what lies well before `kept` is given up when more is read."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.buffer = ""
        self.at = self.kept = 0
        self.ended = False
        self.error: ReadError | None = None
        self._line, self._counted = 1, 0

    def more(self) -> None:
        """Read on. An error of the stream waits in `error`, so that what came before it can be used."""
        drop = max(0, self.kept - BEHIND)
        self.line(max(drop, self._counted))
        read, size = [self.buffer[drop:]], 0
        try:
            while size < CHUNK and not self.ended:
                line = self.stream.readline(CHUNK)  # `read` would lose what precedes an error
                self.ended = not line
                read.append(line)
                size += len(line)
        except ReadError as error:
            self.error, self.ended = error, True
        self.buffer = "".join(read)
        self.at -= drop
        self.kept -= drop
        self._counted -= drop

    def token(self) -> re.Match[str] | None:
        """The next string or bracket, None if it takes more text to tell; moves `at` up to it."""
        token = TOKEN.search(self.buffer, self.at)
        self.at = token.start() if token else len(self.buffer)
        if token and not self.ended and (token[0] == '"' or token[1] == ""):
            return None
        return token

    def past_strings(self) -> None:
        """Move `at` up to the next bracket, or to a string that is broken or not here as a whole."""
        if sound := SOUND.match(self.buffer, self.at):
            self.at = sound.end()

    def before(self, at: int) -> int:
        """Where the last character before a place is that is no space; -1 if none is known."""
        at -= 1
        while at >= 0 and self.buffer[at].isspace():
            at -= 1
        return at

    def indent(self, at: int) -> str | None:
        """The spaces before a place, if nothing else precedes it on its line."""
        begin = self.buffer.rfind("\n", max(0, at - BEHIND), at) + 1
        spaces = self.buffer[begin:at].removeprefix("\ufeff")
        return spaces if not spaces.strip(" \t") and (begin or self._line == 1) else None

    def line(self, at: int) -> int:
        """The number of the line of a place; places are asked for in order."""
        self._line += self.buffer.count("\n", self._counted, at)
        self._counted = at
        return self._line
