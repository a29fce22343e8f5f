"""The figures of a text in one spelling, so that a sentence's can be looked for in its evidence."""

from __future__ import annotations

import re
from decimal import Decimal

from rag.text import STOPWORDS, search_text, terms

URL = re.compile(r"(?:https?://|www\.)[^\s)\]}>,;\"']+")
POWER = re.compile(r"\^\s*\{?\s*([-−+]?[\w.]+)\s*\}?")
UNITS = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
]  # fmt: skip
TENS = {
    w: 10 * n for n, w in enumerate(["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], 2)
}
TIMES = {
    "twice": 2, "double": 2, "doubles": 2, "doubled": 2, "doubling": 2,
    "thrice": 3, "triple": 3, "triples": 3, "tripled": 3, "tripling": 3,
}  # fmt: skip
VALUES = {word: n for n, word in enumerate(UNITS)} | TENS | TIMES
SPELLED = re.compile(rf"\b({'|'.join(TENS)})-({'|'.join(UNITS[1:10])})\b|\b({'|'.join(VALUES)})\b", re.IGNORECASE)
FIGURE = re.compile(
    r"(?<![A-Za-z0-9_@.])(?<![A-Za-z]-)(\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)*|\.\d+)"
    r"(?:([kKMBT])(?![A-Za-z0-9])|[\s-]?(%|(?:percent(?:age points?)?|per cent|thousand|million|billion|trillion|"
    r"[KMGTP]i?B|[mnuµμ]?s|[kMG]?Hz)\b))?"
)
SIZE_IN_NAME = re.compile(r"(?<=[A-Za-z0-9]-)(\d+(?:\.\d+)?)([KMBT])\b")
SCALE = {"k": 10**3, "m": 10**6, "b": 10**9, "t": 10**12} | {
    "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12
}  # fmt: skip


# Quantities that are no number by themselves: they must stand in the evidence word for word.
QUANTITY = re.compile(
    r"\b(?:\w*hundreds?|dozens?|half|halve[sd]?|quarters?|quadrupl\w+|\w+fold)\b"
    r"|百分之|[零一二三四五六七八九十百千万]{2,}",
    re.IGNORECASE,
)  # fmt: skip
PERCENT_WORD = re.compile(r"\b(?:one|zero)\s+(?:percent|per cent)\b", re.IGNORECASE)


def figures(text: str) -> set[str]:
    """Return the figures of a text in one spelling: `4,000+` is `4000`, `80\\%` `80%`, `12K` `12000`, `two` `2`.

    Digits within names (`GPT-4o`, `pass@5`) are not figures. `one` and `zero` are words here: mostly a pronoun.
    """
    return all_figures(text, frozenset({"zero", "one"}))


def all_figures(text: str, skipped: frozenset[str]) -> set[str]:
    """`figures`, with the number words that are `skipped`."""
    if PERCENT_WORD.search(text):
        skipped = frozenset()
    quantities = {match.group().casefold() for match in QUANTITY.finditer(text)}
    return quantities | {
        normal(n, (letter or unit).lower()) for n, letter, unit in FIGURE.findall(_in_digits(text, skipped))
    }


def counted(text: str) -> dict[str, list[str]]:
    """The words right after each figure, which mostly name what is counted: `3,208 pupils of` gives `pupil`.

    A figure that a function word or a sign follows counts nothing.
    """
    plain = _in_digits(text, frozenset({"zero", "one"}))
    found: dict[str, list[str]] = {}
    for match in FIGURE.finditer(plain):
        number, letter, unit = match.groups(default="")
        after = re.match(r"\+?[\s-]+((?:[A-Za-z][\w'-]*\s*){1,3})", plain[match.end() :])
        if after and after.group(1).split()[0].casefold() not in STOPWORDS:
            found.setdefault(normal(number, (letter or unit).lower()), []).extend(terms(after.group(1)))
    return found


def _in_digits(text: str, skipped: frozenset[str]) -> str:
    """The text as it is searched, with number words as digits."""

    def digits(match: re.Match[str]) -> str:
        tens, unit, word = (group.lower() if group else "" for group in match.groups())
        return match.group() if word in skipped else str(VALUES[word] if word else TENS[tens] + VALUES[unit])

    text = re.sub(r"(?<!\w)@(?=\d)|\.{2,}(?=\d)", " ", text)
    plain = search_text(POWER.sub(r" pow\1 ", URL.sub(" ", text))).replace("\\", "")
    return SPELLED.sub(digits, plain)


def normal(number: str, unit: str) -> str:
    """One spelling of a number with its unit."""
    if number.count(".") > 1:
        return number  # a version
    value = Decimal(number.replace(",", "")) * SCALE.get(unit, 1)
    suffix = "" if unit in SCALE else "%" if unit.startswith(("%", "per")) else unit
    return f"{value.normalize():f}{suffix}"


def missing_figures(sentence: str, evidence: str) -> set[str]:
    """Figures of a sentence that its evidence does not hold; a unit may be left out, but not put in or changed."""
    there = all_figures(evidence, frozenset())
    there |= {normal(n, letter.lower()) for n, letter in SIZE_IN_NAME.findall(search_text(evidence))}
    bare = {re.sub(r"[^\d.]", "", f) for f in there}
    return {f for f in figures(sentence) if f not in there and not (re.fullmatch(r"[\d.]+", f) and f in bare)}
