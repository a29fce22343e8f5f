"""From the markup of a list file to display text: small pure rules, applied until nothing changes.

Maths stays as `$…$`, the author's Unicode stays; text commands, emphasis, tags and entities go. Cleaning twice gives
what cleaning once gives.
"""

from __future__ import annotations

import html
import html.entities
import re
from collections.abc import Callable

from ingest import latex, markdown
from ingest.boilerplate import strip_notices, strip_prefix
from ingest.formulas import formulas
from ingest.markup import CLOSED, strip_tags
from rag.sentences import PROTECTED

CLEANING_VERSION = 2
ROUNDS = 20  # each peels a layer of mixed markup; nobody escapes twenty times

AMPERSAND = re.compile(r"(?:amp|#0*38|#[xX]0*26);")
ENTITY = re.compile(rf"&((?:{AMPERSAND.pattern})*)(#\d{{1,7}}|#[xX][0-9a-fA-F]{{1,6}}|[A-Za-z][A-Za-z0-9]{{1,31}});")
LAYERS = 4
DEEP = 16  # characters of ampersands in front of an entity; nobody means that many layers
TYPED = ("``", "''", "--", "~")  # what `typography` looks for
SPACE = re.compile(r"\s+")
# Soft hyphens, zero-width spaces, direction and tag characters, non-characters, controls; not the joiners of letters.
INVISIBLE = re.compile(
    "[\u00ad\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufdd0-\ufdef\ufff9-\ufffb\ufffe\uffff"
    "\U000e0000-\U000e007f\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]"
)
# Controls that were Windows-1252 once (`model\x92s`) or UTF-8 read as Latin-1 (`model\xe2\x80\x99s`). U+0085 by itself
# is a line end more often than an ellipsis.
WINDOWS = {
    code: bytes([code]).decode("cp1252")
    for code in range(0x80, 0xA0)
    if code not in {0x81, 0x85, 0x8D, 0x8F, 0x90, 0x9D}
}
MISREAD = re.compile("[\xc2-\xf4][\x80-\x9f][\x80-\xbf]{0,2}|[\xe0-\xf4][\xa0-\xbf][\x80-\x9f][\x80-\xbf]?")
MARK = re.compile("\ufdd0([\ufdd1-\ufdda]+)\ufddb")
TO_MARK = {ord(digit): chr(0xFDD1 + int(digit)) for digit in "0123456789"}
FROM_MARK = {ord(mark): chr(digit) for digit, mark in TO_MARK.items()}


def clean(text: str) -> str:
    """Return the display text of a field as it stands in a list file."""
    for _ in range(ROUNDS):
        cleaned = _once(text)
        if cleaned == text:
            break
        text = cleaned
    return text


def clean_abstract(text: str) -> str:
    """Return the display text of an abstract: cleaned, without the word `Abstract` before it and copyright notices."""
    text = clean(text)
    for _ in range(ROUNDS):
        stripped = strip_notices(strip_prefix(text))
        if stripped == text:
            break
        text = clean(stripped)
    return text


def _once(text: str) -> str:
    text = without_markup(visible(text))
    if "\\" in text:
        text = latex.names_in_maths(latex.maths_delimiters(text))
        text = latex.unwrap(text)
        text = outside(outside(text, latex.loose_maths), latex.commands)
        text = latex.money(outside(text, latex.accents))
    if "](" in text:
        text = markdown.links(text)
    if "*" in text or "_" in text:
        text = outside(text, markdown.emphasis)
    if any(mark in text for mark in TYPED):
        text = outside(text, typography)
    if "  " in text or not text.isprintable():
        text = SPACE.sub(" ", text)
    return text.strip()


def without_markup(text: str) -> str:
    """Turn tags and entities to text, layer by layer: what was escaped once more than the tags is no tag."""
    for _ in range(LAYERS):
        if "<" in text:
            text = outside(formulas(text), strip_tags, unless=CLOSED)
        if "&" not in text or (unescaped := unescape(text)) == text:
            break
        text = visible(unescaped)
    return text


def visible(text: str) -> str:
    """Mend what was read wrongly and drop what nobody sees."""
    return text if text.isprintable() else INVISIBLE.sub("", repair(text))


def outside(text: str, rule: Callable[[str], str], *, unless: re.Pattern[str] | None = None) -> str:
    """Apply a rule to everything but maths and URLs, which it cannot see: they travel through it as marks.

    A mark is a number in non-characters, which no text holds once the invisible characters are gone. What holds
    `unless` is not hidden: between two prices stands no maths when a paragraph ends there.
    """
    kept: list[str] = []

    def hide(match: re.Match[str]) -> str:
        if unless is not None and unless.search(match.group()):
            return match.group()
        kept.append(match.group())
        return f"\ufdd0{str(len(kept) - 1).translate(TO_MARK)}\ufddb"

    hidden = rule(PROTECTED.sub(hide, text))
    return MARK.sub(lambda mark: kept[int(mark[1].translate(FROM_MARK))], hidden)


def repair(text: str) -> str:
    """Join surrogate pairs, replace lone surrogates, which no store can write, and undo a wrong reading of bytes."""
    text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return MISREAD.sub(_reread, text).translate(WINDOWS)


def _reread(match: re.Match[str]) -> str:
    for length in range(len(match.group()), 1, -1):
        try:
            return match.group()[:length].encode("latin-1").decode("utf-8") + match.group()[length:]
        except UnicodeDecodeError:
            continue
    return match.group()


def unescape(text: str) -> str:
    """Decode HTML entities by one layer (all layers when there are many); `a & b` and `AT&T;` stay."""
    return ENTITY.sub(_entity, text)


def _entity(match: re.Match[str]) -> str:
    if match[1] and len(match[1]) < DEEP:
        return f"&{AMPERSAND.sub('', match[1], count=1)}{match[2]};"
    known = match[2].startswith("#") or f"{match[2]};" in html.entities.html5
    return html.unescape(f"&{match[2]};") if known else f"&{match[2]};"


def typography(text: str) -> str:
    """TeX quotes and dashes as the characters they stand for; `~` between words as a space, but not between numbers."""
    text = text.replace("``", "“").replace("''", "”").replace("---", "—")
    text = re.sub(r"(?<=[\w.\ufddb])(?<!\d)~(?=[\w(\\\ufdd0])|(?<=\d)~(?=[^\W\d]|[(\\\ufdd0])", " ", text)
    return re.sub(r"(?<![-<!])--(?![->])", "–", text)
