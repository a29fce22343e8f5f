"""What a line of a plain-text or Markdown list is: a label with its value, a heading, links, names, or text."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ingest.readers import by_names, fields
from ingest.readers.plain import LIST_WORDS

SUMMARY = "summary"  # an abstract, or its last part

# Confer's field: the labels that lists write before its values; "" is what Confer does not keep.
LABELS = {
    label: field
    for field, labels in {
        "title": "title papertitle articletitle 标题 题目 题名 篇名 论文标题 论文题目",
        "authors": "author authors authornames authorlist 作者",
        "abstract": "abstract abstracts 摘要 中文摘要 英文摘要 内容摘要 文摘",
        "keywords": "keyword keywords authorkeywords indexterms 关键词 关键字",
        "year": "year date published publicationyear publicationdate 年 年份 发表年份 发表时间 日期",
        "venue": """
            venue journal conference booktitle publication publicationtitle publishedin journalref proceedings
            会议 期刊 来源 出处
        """,
        "url": "url urls link links pdf pdfurl paperurl 链接 网址",
        "doi": "doi",
        "arxiv_id": "arxiv arxivid",
        "openreview_id": "openreview openreviewid",
        "key": "id paperid pmid",
        SUMMARY: "summary",
        "": """
            tldr comment comments subjects categories primaryarea affiliation affiliations institution institutions
            correspondence pages volume issue publisher issn isbn language documenttype track supplementarymaterial
        """,
    }.items()
    for label in labels.split()
}
PREFIX = r"[\s>•·#*_+\-–]{0,12}(?:(?:\[\d{1,5}\]|\(?\d{1,5}[.)、])\s*)?[*_]*"
NAME = r"(?P<name>[^\W\d_](?:[^:：*_\[\]【】\n]|_(?=\w)){0,30}?)"
LABEL = re.compile(rf"{PREFIX}{NAME}\s*[*_]*\s*[:：][*_]*")
BRACKETS = re.compile(rf"\s*[*_]*[【\[]{NAME}[】\]][*_]*(?!\()\s*[:：]?")
ALONE = re.compile(rf"\s*(?:#{{1,6}}\s+)?[*_]*{NAME}[*_]*\s*")
HEADING = re.compile(r"(?P<marks>#{1,6})\s+(?P<text>\S.*?)[\s#]*")
BOLD = re.compile(r"(?:\[?\(?\d{1,5}[.)\]]+\s*)?(?P<marks>\*\*|__)(?P<text>[^*_\s](?:.*[^\s*_])?)(?P=marks)[.\s]*")
BOLD_LEVEL = 7  # of a line in bold letters among headings
ITEM_NUMBER = re.compile(r"(?:\[\d{1,5}\]|\(\d{1,5}\)|\d{1,4}[.)、])\s+")
SECTION = re.compile(r"(?:session|day|track|topic|area|theme)\b.*", re.IGNORECASE)
STRUCTURE = re.compile(
    r"(?:background|introduction|motivation|objectives?|aims?|purpose|methods?|materials and methods|results?|findings"
    r"|discussion|conclusions?|significance|limitations?)\W*",
    re.IGNORECASE,
)
LINKS = re.compile(r"(?>[\s|,;:·•*_+()/-]|\[{1,2}[^\[\]]*\]{1,2}\([^\s()]+\)|<?https?://[^\s<>]+>?)++")
ITALIC = re.compile(r"(?:[-*+•]\s+)?(?P<mark>[*_])(?![*_\s])(?P<text>.+?)(?P=mark)")
BULLET = re.compile(r"[-*+•]\s+(?P<text>.+)")
# Initials and capitals (or letters that have none) begin the words of a name, small words apart.
NAME_WORD = re.compile(
    r"(?:[^\W\d_a-zß-öø-ÿ]|(?:van|von|vom|de|da|do|du|di|der|den|des|del|dos|la|le|el|al|bin|ibn|ter|and|y)\b)"
)
LONGEST_NAME = 50  # characters
LONGEST_LABEL = 100  # characters, with the marks around it
LONGEST_HEADING = 600  # characters
LONGEST_PARTICULAR = 250  # characters; in a longer line an abstract has begun
SENTENCE = 80  # characters of a line that an abstract has when it ends with a full stop
LONGEST_META = 400  # characters; longer lines are text


def label(line: str, mapped: Mapping[str, str]) -> tuple[str, str] | None:
    """(Confer's field, value) for a line that begins with a label; `mapped` are the labels that the user named."""
    for pattern in (LABEL, BRACKETS):
        if match := pattern.match(line[:LONGEST_LABEL]):
            field = _field(match["name"], mapped)
            if field is not None:
                value = line[match.end() :].strip()
                # `**Title: On nothing**`
                return field, value.removesuffix("**") if value.count("**") % 2 else value
    match = ALONE.fullmatch(line) if len(line) < 60 else None
    field = _field(match["name"], mapped) if match else None
    return (field, "") if field in {"abstract", "keywords", "authors"} else None


def _field(name: str, mapped: Mapping[str, str]) -> str | None:
    normal = by_names.normal(name)
    return next((field for field, own in mapped.items() if by_names.normal(own) == normal), LABELS.get(normal))


def heading(line: str) -> tuple[int, str] | None:
    """(level, text) of a Markdown heading, without its number."""
    match = (HEADING.fullmatch(line) or BOLD.fullmatch(line)) if len(line) <= LONGEST_HEADING else None
    if match is None or (match["marks"][0] != "#" and match["marks"] in match["text"]):
        return None
    level = len(match["marks"]) if match["marks"][0] == "#" else BOLD_LEVEL
    text = match["text"].strip()
    if level < BOLD_LEVEL and (bold := BOLD.fullmatch(text)):
        text = bold["text"]
    return None if STRUCTURE.fullmatch(text) else (level, ITEM_NUMBER.sub("", text, count=1) or text)


def is_section(text: str) -> bool:
    """Whether a heading names a part of a list, not a paper: `Oral papers`, `Session 3: Vision`."""
    return bool(LIST_WORDS.fullmatch(text) or SECTION.fullmatch(text))


def is_text(line: str) -> bool:
    """Whether a line is of a text rather than the rest of a title, of names or of keywords."""
    return len(line) > LONGEST_PARTICULAR or (len(line) > SENTENCE and line.endswith((".", "。")))


def links(line: str) -> str | None:
    """The address in a line that holds links only."""
    short = "://" in line and len(line) <= LONGEST_META
    return fields.url(line.replace(")", " ")) if short and LINKS.fullmatch(line) else None


def unmarked(line: str) -> str:
    """A line in italics or behind a bullet without these marks."""
    match = (ITALIC.fullmatch(line) or BULLET.fullmatch(line)) if len(line) <= LONGEST_META else None
    return match["text"].strip("*_ ") if match else line


def names(line: str, *, marked: bool) -> tuple[str, ...]:
    """The people in a line of names, none for text; `marked` names must be in italics or behind a bullet."""
    bare = unmarked(line)
    if len(line) > LONGEST_META or (marked and bare == line) or "://" in line:
        return ()
    people = fields.people(bare)
    alike = all(
        len(person) < LONGEST_NAME and all(NAME_WORD.match(word) for word in person.split()) for person in people
    )
    several = len(people) > 1 or len(bare.split()) > 1
    return people if alike and several and not bare.endswith(("?", "!", "。", ":")) else ()
