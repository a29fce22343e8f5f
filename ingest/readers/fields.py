"""One value of a record, however a format spells it: people, years, identifiers, lists of keywords."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

DOI = re.compile(r"10\.\d{4,9}/(?:[^\s\"<>|]|<\d+::\w[\w-]*>)+", re.IGNORECASE)  # with `<1661::AID-…>` of old ones
ARXIV = re.compile(
    r"(?:arxiv\.org/(?:abs|pdf|html)/|arxiv[:.\s]\s*|^)((?:\d{4}\.\d{4,5}|[a-z-]+(?:\.[a-z]{2})?/\d{7})(?:v\d+)?)"
    r"(?:\.pdf)?(?=$|[\s\[\]?#,;)])",
    re.IGNORECASE,
)
ARXIV_DOI = re.compile(r"10\.48550/arxiv\.(.+)", re.IGNORECASE)
OPENREVIEW = re.compile(r"openreview\.net/(?:forum|pdf|attachment|references/pdf)\?(?:\S*&)?id=([\w-]+)", re.IGNORECASE)
YEAR = re.compile(r"(?<!\d)(?:1[89]\d\d|20\d\d)(?!\d)")
NOTHING = frozenset({"", "n/a", "na", "none", "null", "nan", "-", "--", "[]", "{}"})


def text(value: object) -> str | None:
    """A string, a number, OpenReview's `{"value": …}` or the first of a list; None for nothing (`null`, `N/A`, ``)."""
    if not isinstance(value, str):
        if isinstance(value, Mapping):
            return text(value.get("value"))
        if isinstance(value, list | tuple):
            return next((found for item in value if (found := text(item))), None)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
    stripped = str(value).strip()
    return None if len(stripped) < 5 and stripped.lower() in NOTHING else stripped


def people(value: object) -> tuple[str, ...]:
    """Author names in order, from a list of names or of objects, or from one string with `;`, ` and ` or newlines."""
    if isinstance(value, Mapping):
        return people(value["value"]) if "value" in value else _person(value)
    if isinstance(value, list | tuple):
        return tuple(name for item in value for name in (_person(item) if isinstance(item, Mapping) else _names(item)))
    return _split_names(text(value) or "")


def _person(item: Mapping[str, object]) -> tuple[str, ...]:
    nested = item.get("author")
    if isinstance(nested, Mapping):  # OpenAlex's authorships
        return _person(nested)
    for key in ("name", "display_name", "fullname", "full_name", "fullName", "literal"):
        if found := text(item.get(key)):
            return (found,)
    parts = [text(item.get(key)) for key in ("given", "family")]
    parts = parts if any(parts) else [text(item.get(key)) for key in ("first", "last")]
    return (" ".join(p for p in parts if p),) if any(parts) else ()


def _names(item: object) -> tuple[str, ...]:
    if isinstance(item, list | tuple):  # the Kaggle snapshot's authors_parsed: [last, first, suffix]
        last, *first = [part for part in map(text, item) if part] or [""]
        return (" ".join([*first, last]),) if last else ()
    found = text(item)
    return (found,) if found else ()


def _split_names(names: str) -> tuple[str, ...]:
    for separator in (r"\s*[;；、]\s*", r"\s*[\r\n]+\s*", r"\s*\|\s*", r",?\s+and\s+"):
        parts = [part for part in re.split(separator, names) if part]
        if len(parts) > 1:
            if "and" in separator and all("," in part and len(part.split(",")) > 2 for part in parts[:1]):
                break  # `A. One, B. Two, C. Three and D. Four`
            return tuple(parts)
    parts = [part.strip() for part in re.split(r"[,，]|\s+and\s+", names) if part.strip()]
    # `Last, First` is one person; names with commas between them have a space each.
    particle = bool(parts) and parts[0][0].islower()  # `van der Maas, Mary Ann`
    several = len(parts) > 2 or (all(" " in part for part in parts) and not particle)
    return tuple(parts) if several else _one(names)


def words(value: object) -> tuple[str, ...]:
    """Keywords from a list or from one string with `;`, `,`, `|` or newlines."""
    if isinstance(value, Mapping):
        return words(value.get("value", value.get("display_name", value.get("name"))))
    if isinstance(value, list | tuple):
        each = (words(item) if isinstance(item, Mapping) else _one(item) for item in value)
        found: Iterable[str] = (word for item in each for word in item)
    else:
        whole = text(value) or ""
        found = (part for part in re.split(r"[;；|\r\n]+" if re.search(r"[;；|\n]", whole) else r"[,，、]", whole))
    return tuple(dict.fromkeys(word.strip() for word in found if word.strip()))


def _one(item: object) -> tuple[str, ...]:
    found = text(item)
    return (found,) if found else ()


def year(value: object) -> int | None:
    """The year in a number, a date, Crossref's `{"date-parts": [[2021, 5]]}` or a text with one (`ICML 2019`)."""
    if isinstance(value, Mapping):
        return year([value.get(key) for key in ("date-parts", "value", "year")])
    if isinstance(value, list | tuple):
        return next((found for item in value if (found := year(item))), None)
    if isinstance(value, int | float) and not isinstance(value, bool) and 10**11 < value < 10**13:  # milliseconds
        import datetime

        return datetime.datetime.fromtimestamp(value / 1000, tz=datetime.UTC).year
    match = YEAR.search(text(value) or "")
    return int(match.group()) if match else None


def doi(value: object) -> str | None:
    """A DOI in lower case, without resolver or prefix."""
    match = DOI.search(text(value) or "")
    return match.group().rstrip(".,;)").lower() if match else None


def arxiv(value: object) -> str | None:
    """An arXiv id, with its version where that is given: `2601.00001v2`, `cs/0601001`."""
    whole = (text(value) or "").strip()
    match = ARXIV.search(whole)
    return match[1].lower() if match else None


def arxiv_in_doi(value: str | None) -> str | None:
    """The arXiv id in one of the DOIs that arXiv gives itself."""
    match = ARXIV_DOI.fullmatch(value or "")
    return arxiv(match[1]) if match else None


def openreview(value: object) -> str | None:
    """The forum id in an OpenReview address."""
    match = OPENREVIEW.search(text(value) or "")
    return match[1] if match else None


def url(value: object) -> str | None:
    """The first http(s) address in a value."""
    match = re.search(r"https?://[^\s\"<>]+", text(value) or "")
    return match.group() if match else None
