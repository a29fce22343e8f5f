"""HTML and JATS to text: tags go, titles and lists stay readable, small figures become Unicode's.

`k<m`, `a<b>c`, `List<int>` and `<think>` hold no tags: a tag is known by its name and its partner, and a name that is
not known goes only from a text whose paragraphs are marked up.
"""

from __future__ import annotations

import re

from ingest.boilerplate import HEADINGS, OTHER_WORDS
from ingest.scripts import script
from ingest.tags import JUNK, TAG, Tag, partners

MARKED_UP = re.compile(r"(?:jats|mml|nlm|xhtml|ns\d+):", re.IGNORECASE)  # prefixes that nothing but markup has
CLOSED = re.compile(rf"</?{MARKED_UP.pattern}|</(?:p|sec|title|abstracttext|div|li|list-item)>", re.IGNORECASE)
_INLINE = (
    "a b bold em ext-link fixed-case font i inline-formula inline-graphic italic mi mn mo monospace mover mrow ms "
    "msqrt msub msubsup msup mtext munder munderover named-content sans-serif sc scp small span strike strong "
    "styled-content tex-math tt u underline"
)
INLINE = frozenset(_INLINE.split())
BLOCKS = frozenset({"abstracttext", "div", "p", "sec", "subtitle", "title", "trans-abstract", "trans-title"})
LISTS = frozenset({"list", "ol", "ul"})
ITEMS = frozenset({"li", "list-item"})
TITLES = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "title", "trans-title"})
SCRIPTS = {"sub": False, "inf": False, "sup": True}
BREAKS = BLOCKS | LISTS | ITEMS | TITLES | {"br", "break", "disp-formula", "hr", "label", "table", "td", "th", "tr"}
ALONE = frozenset({"br", "div", "hr", "li", "p"})  # HTML lets these stand without a partner
KNOWN = INLINE | BLOCKS | ITEMS | TITLES | SCRIPTS.keys() | {"br", "disp-formula", "hr", "ol", "ul"}
PROOF = BLOCKS | {"mi", "mn", "mo", "mrow"}  # a pair of these shows that a text is marked up
HIDDEN = frozenset({"copyrightinformation", "script", "style"})  # these go with what is in them
# Signs that language models read and write: they are what a paper is about.
_TOKENS = (
    "action analysis answer bos cls code critique eos final image img instruction mask memory observation pad plan "
    "query reasoning reflection response s search sep solution step summary think thinking thought tool tool_call unk "
    "user"
)
TOKENS = frozenset(_TOKENS.split())
BOLD = frozenset({"b", "bold", "i", "italic", "strong"})
LINKS = frozenset({"a", "ext-link"})
HEADING = re.compile(rf"(?:{HEADINGS}|Interpretation)(?:(?: and |/)\w+)?", re.IGNORECASE)
LONE_TITLE = re.compile(rf"\W*(?:abstract|summary|{OTHER_WORDS})\W*", re.IGNORECASE)
LABEL = re.compile(r"\sLabel\s*=\s*[\"']([^\"'<>]+)[\"']", re.IGNORECASE)
ADDRESS = re.compile(r"\s(?:xlink:)?href\s*=\s*[\"'](\ufdd0[^\"'\s]*)[\"']", re.IGNORECASE)
LONG = 200  # characters; what is longer is no script, heading or name of a link
NEAR = 4  # tags in a row that a heading looks past


def strip_tags(text: str) -> str:
    """Turn marked-up text to plain text; maths and addresses are hidden from it."""
    if "<!" in text or "<?" in text:
        text = JUNK.sub(lambda match: match["cdata"] or "", text)
    tags = list(TAG.finditer(text))
    pairs = partners(tags)
    marked_up = any(
        _prefixed(tag) or (pair is not None and tag["name"].lower() in PROOF)
        for tag, pair in zip(tags, pairs, strict=True)
    )
    gone = [number for number, tag in enumerate(tags) if _is_markup(text, tag, pairs[number], marked_up)]
    return _Walk(text, tags, pairs, gone).text() if gone else text


def _prefixed(tag: Tag) -> bool:
    return tag["prefix"] is not None and MARKED_UP.fullmatch(tag["prefix"] + ":") is not None


def _is_markup(text: str, tag: Tag, pair: int | None, marked_up: bool) -> bool:
    """Whether a tag is one, rather than a comparison or a word in angle brackets."""
    name = tag["name"].lower()
    if _prefixed(tag):
        return True
    if name not in KNOWN:
        return marked_up and pair is not None and name not in TOKENS
    if pair is not None or '="' in tag["attrs"]:
        return True
    return name in ALONE and (
        name != "p" or bool(tag["end"]) or not text[max(0, tag.start() - 1) : tag.start()].isalnum()
    )


class _Walk:
    """One way through the tags of a text, from the first to the last."""

    def __init__(self, text: str, tags: list[Tag], pairs: list[int | None], gone: list[int]) -> None:
        self.source, self.tags, self.pairs, self.gone = text, tags, pairs, gone
        self.out: list[str] = []
        self.end = 0  # of what is written out
        self.last = ""  # character written that is no space
        self.begun: dict[int, tuple[int, str]] = {}  # closing tag: pieces and last character before its opening one
        self.items = 0  # of the list at hand
        self.last_word = self._last_word()

    def text(self) -> str:
        """The text without the tags."""
        for number in self.gone:
            tag = self.tags[number]
            if tag.start() < self.end:
                continue  # went with what it stands in
            self._add(self.source[self.end : tag.start()])
            self.end = tag.end()
            name = tag["name"].lower()
            if tag["end"]:
                self._close(number, name)
            elif not tag["empty"]:
                self._open(number, name)
            if name in BREAKS:
                self._add(" ")
            label = LABEL.search(tag["attrs"]) if name == "abstracttext" else None
            if label and not label[1].lower().startswith("unlabel"):
                self._add(f"{label[1].strip().rstrip(':')}: ")
        return "".join(self.out) + self.source[self.end :]

    def _last_word(self) -> int:
        """Where the last text ends that is no tag."""
        end = len(self.source)
        for number in reversed(self.gone):
            if self.source[self.tags[number].end() : end].strip():
                break
            end = self.tags[number].start()
        return end

    def _add(self, piece: str) -> None:
        if piece:
            self.out.append(piece)
            self.last = piece.rstrip()[-1:] or self.last

    def _attach(self, mark: str) -> None:
        """Put a mark behind the last word, unless punctuation stands there."""
        if self.last.isalnum() or (self.last and self.last in ")]%”\ufddb"):
            while self.out and not self.out[-1].strip():
                self.out.pop()
            self.out[-1] = self.out[-1].rstrip()
            self._add(f"{mark} ")

    def _open(self, number: int, name: str) -> None:
        close = self.pairs[number]
        if name in LISTS:
            self.items = 0
        elif name in ITEMS:
            if self.items:
                self._attach(";")
            self.items += 1
        if close is None:
            return
        if name in HIDDEN:
            self.end = self.tags[close].end()
        elif self.tags[close].start() - self.end < LONG:
            self.begun[close] = len(self.out), self.last

    def _close(self, number: int, name: str) -> None:
        if name in LISTS:
            self.items = 0
        if number not in self.begun:
            return
        at, before = self.begun.pop(number)
        content = "".join(self.out[at:])
        if name in SCRIPTS:
            self._small(at, content, above=SCRIPTS[name])
        elif name in TITLES:
            if LONE_TITLE.fullmatch(content) and not before:
                del self.out[at:]
                self.last = before
            elif self.end < self.last_word:
                self._attach(":")
        elif name in BOLD:
            if before in {"", ".", "?", "!"} and HEADING.fullmatch(content) and self._next(number).isalnum():
                self.out.insert(at, " ")
                self._attach(":")
        elif name in LINKS:
            address = ADDRESS.search(self.tags[self.pairs[number] or 0]["attrs"])
            if address and content.strip() and "\ufdd0" not in content:
                self._add(f" ({address[1]})")

    def _small(self, at: int, content: str, *, above: bool) -> None:
        """Put a superscript or subscript for the pieces from `at` on."""
        base = self.out[at - 1] if at else ""
        taken, small = script(content, base, above=above)
        del self.out[at:]
        if taken:
            self.out[at - 1] = base[:-taken]
        self._add(small)
        if small.endswith("$") and self.source[self.end : self.end + 1].isdecimal():
            self._add(" ")

    def _next(self, number: int) -> str:
        """The character behind a tag and those that follow it at once."""
        end = self.tags[number].end()
        for tag in self.tags[number + 1 : number + NEAR]:
            if tag.start() != end:
                break
            end = tag.end()
        return self.source[end : end + 1]
