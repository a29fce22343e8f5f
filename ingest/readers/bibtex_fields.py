"""The fields of a BibTeX entry: values put together, protective braces gone, people told apart."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ingest.latex import ACCENTED, OLD_FONTS, address
from ingest.readers import fields
from ingest.readers.records import RawRecord
from rag.sentences import MATH, PARENTHESISED_MATH

TOKEN = re.compile(rf"(?P<skip>{MATH.pattern}|{PARENTHESISED_MATH.pattern}|\\[^A-Za-z])|(?P<brace>[{{}}])", re.DOTALL)
# A brace after these is an argument, not a protection.
ARGUMENT = re.compile(r"(?:\\[A-Za-z]+\*?(?:\[[^\[\]]*\])?|\\[\"'`^~=.]|[_^])\s*$")
BARE_COMMAND = re.compile(r"\\[A-Za-z]+\s*")
KEPT_GROUP = re.compile(rf"\{{\s*\\(?:{OLD_FONTS})(?![A-Za-z])")
BRACE_OR_AND = re.compile(r"(?<!\\)[{}]|(?<!\s)\s++and(?=\s)", re.IGNORECASE)
VENUES = ("journal", "journaltitle", "booktitle", "eventtitle", "maintitle", "series")
ABSTRACTS = ("abstract", "summary")


def value(source: str, strings: Mapping[str, str]) -> str:
    """A value as it stands in the file: enclosed, a name of a `@string`, or several of these joined with `#`."""
    return "".join(_part(part.strip(), strings) for part in _parts(source))


def _parts(source: str) -> Iterator[str]:
    """Split at `#` outside braces and quotes."""
    depth, quoted, start = 0, False, 0
    for match in re.finditer(r"(?<!\\)[{}\"#]", source):
        mark = match.group()
        if mark == "{":
            depth += 1
        elif mark == "}":
            depth -= 1
        elif depth == 0 and mark == '"':
            quoted = not quoted
        elif depth == 0 and mark == "#" and not quoted:
            yield source[start : match.start()]
            start = match.end()
    yield source[start:]


def _part(part: str, strings: Mapping[str, str]) -> str:
    if len(part) > 1 and part[0] + part[-1] in {"{}", '""'}:
        return part[1:-1]
    return strings.get(part.lower(), part)


def unprotect(text: str) -> str:
    r"""Drop the braces that only protect letters (`{CLIP}: A {BERT} model`), not those of `{\"o}` and `$x_{i}$`."""
    if "{" not in text:
        return text
    out: list[str] = []
    waiting: list[tuple[int, bool]] = []  # where in the output a brace stands, and whether it is kept
    end = 0
    for token in TOKEN.finditer(text):
        out.append(text[end : token.start()])
        end = token.end()
        if token["skip"]:
            out.append(token.group())
        elif token.group() == "{":
            kept = bool(ARGUMENT.search(text, max(0, token.start() - 60), token.start()))
            waiting.append((len(out), kept or bool(KEPT_GROUP.match(text, token.start()))))
            out.append("{")
        elif waiting:
            _close(out, *waiting.pop())
        else:
            out.append("}")
    return "".join(out) + text[end:]


def _close(out: list[str], at: int, kept: bool) -> None:
    inside = "".join(out[at + 1 :]) if not kept and len(out) - at < 12 else ""
    if kept or ACCENTED.fullmatch(f"{{{inside}}}"):
        out.append("}")
    else:
        out[at] = ""
        out.append("{}" if BARE_COMMAND.fullmatch(inside) else "")


def people(source: str) -> tuple[str, ...]:
    """The names between the `and`s that stand outside braces; `and others` is nobody."""
    names: list[str] = []
    depth = start = 0
    for match in BRACE_OR_AND.finditer(source):
        mark = match.group()
        if mark == "{" or mark == "}":
            depth += 1 if mark == "{" else -1
        elif depth == 0:
            names.append(source[start : match.start()])
            start = match.end()
    names.append(source[start:])
    found = [" ".join(unprotect(name).split()) for name in names]
    if len(found) == 1 and ";" in found[0]:
        return fields.people(found[0])
    return tuple(name for name in found if name and name.lower() != "others")


def record(
    values: Mapping[str, str], key: str | None, position: int, line: int, mapped: Mapping[str, str]
) -> RawRecord:
    """The record with these fields; `mapped` says under which names the file keeps some of them."""

    def get(ours: str, *names: str) -> str:
        wanted = (mapped[ours].lower(), *names) if ours in mapped else names
        return next((values[name].strip() for name in wanted if values.get(name, "").strip()), "")

    def shown(ours: str, *names: str) -> str:
        return " ".join(unprotect(get(ours, *names)).split())

    def plain(ours: str, *names: str) -> str:
        return address(get(ours, *names).replace("{\\_}", "_"))

    title, subtitle = shown("title", "title"), shown("subtitle", "subtitle")
    url = fields.url(plain("url", "url", "link", "howpublished", "pdf").replace("}", " "))
    doi = fields.doi(plain("doi", "doi")) or fields.doi(url)
    scheme = values.get("eprinttype") or values.get("archiveprefix") or values.get("eprintclass") or ""
    eprint = plain("arxiv_id", "eprint", "arxivid") if scheme.lower() in {"", "arxiv"} or values.get("arxivid") else ""
    arxiv = fields.arxiv(eprint) or fields.arxiv(url) or fields.arxiv(values.get("journal"))
    return RawRecord(
        position,
        line,
        unprotect(get("abstract", *ABSTRACTS)).strip(),
        title=f"{title}: {subtitle}" if title and subtitle else title or None,
        authors=people(get("authors", "author")),
        venue=shown("venue", *VENUES) or None,
        year=fields.year(get("year", "year", "date", "issued")),
        keywords=fields.words(shown("keywords", "keywords", "keyword")),
        url=url,
        doi=doi,
        arxiv_id=arxiv,
        openreview_id=fields.openreview(url),
        key=key,
    )
