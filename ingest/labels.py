"""A name for a paper without a title: its method's name with a gloss, or its first clause; no two alike."""

from __future__ import annotations

import re

from rag.sentences import sentence_spans

LONGEST = 80
OURS = re.compile(
    r"\b(?:we|paper|work|article|study|here)\b[^.]{0,160}?\b(?:introduc|propos|present|develop|releas|construct|creat|"
    r"formulat|design|describ|call|dub|term|nam)(?:e|es|ed|ing|s)?\b|\b(?:called|named|termed|dubbed)\b",
    re.IGNORECASE,
)
# A name: capitals beyond the first letter, or a digit, as in SAGE, TabICLv2, ProOPF-D, BTSP-CAM, YRWR, S³.
SHOUTED = r"(?=[\w²³τ-]*[A-Z])(?=[A-Za-z]*[A-Z0-9²³-])[A-Za-zτ][\w²³*+-]*(?:\s+V\d\b)?"
TITLED = r"[A-Z][a-z]{2,}(?:\s+(?:to\s+)?[A-Z][a-z]+){0,3}"
NAME = rf"(?:{SHOUTED}|{TITLED})"
GLOSSED = re.compile(rf"(?<![\w-])(?P<name>{SHOUTED})\s*\((?P<gloss>[A-Z][^()]{{6,80}})\)")
REVERSED = re.compile(
    rf"(?P<gloss>(?:[A-Z][\w’'-]*[ -](?:(?:of|for|and|in|with|to|the|on|via) )?){{1,7}}[A-Z]?[\w-]*)\s*\((?P<name>{SHOUTED})\)"
)
LOWER = re.compile(rf"\b(?:an?|the)\s+(?P<gloss>[a-z][a-z -]{{8,60}})\s*\((?P<name>{SHOUTED})\)")
CALLED = re.compile(rf"^\s*(?:the\s+)?(?P<name>{NAME}(?:\s+and\s+{SHOUTED})?)(?P<gloss>),\s+(?:which is\s+)?(?=an?\s|the\s)")
BARE = re.compile(
    rf"\b(?:framework|method|model|system|algorithm|benchmark|dataset|approach|pipeline|family),?\s+(?:called\s+|named\s+|termed\s+)?"
    rf"(?P<name>{SHOUTED})(?P<gloss>)(?=[\s,.:;])"
)
APPOSITION = re.compile(r"^,?\s*(?:which is\s+)?(?:an?|the)\s+((?:[^.,;:(]|,(?=\s[\w]+-)|,(?=\w))+)")
RELATIVE = re.compile(r"\s+(?:that|which|who)\b")
GENERIC = frozenset("LLM LLMs VLM VLMs RL SGD SOTA AI ML NLP MLLM MLLMs GPT IID OOD PTM CIL SSMs SSM SD".split())
TRAILING = re.compile(r"\s+(?:that|which|who|for|of|to|with|and|or|by|on|in|the|a|an|from|as|at|is|are|via|using|into|than)$", re.I)


def label(abstract: str, title: str | None, taken: set[str]) -> str:
    """Return a label of at most about 80 characters that is not in `taken`, and add it there.

    Where two papers would share one, the label takes up more of the abstract, and a number only as a last resort.
    """
    for candidate in _candidates(abstract, title):
        if candidate and candidate.casefold() not in taken:
            taken.add(candidate.casefold())
            return candidate
    base = _shorten(title or abstract, LONGEST) or "Untitled"
    number = 2
    while f"{base} ({number})".casefold() in taken:
        number += 1
    taken.add(f"{base} ({number})".casefold())
    return f"{base} ({number})"


def _candidates(abstract: str, title: str | None) -> list[str]:
    if title:
        return [_shorten(title, 160)]
    named = _named(abstract)
    first = _clause(abstract)
    both = [f"{named.split(':')[0]}: {first}"] if named else []
    return [named, *both, first, *(_shorten(abstract, n) for n in (100, 130, 160))]


def _named(abstract: str) -> str:
    """`SAGE: Semantic-Anchored Judgment`, `Ekka: automated diagnosis system`, or nothing."""
    # The name that the paper gives its own work stands right after the words that say so, or nowhere.
    for start, end in sentence_spans(abstract):
        sentence = abstract[start:end]
        claim = OURS.search(sentence)
        if claim is None:
            continue
        own = sentence[claim.end() :]
        matches = [m for p in (GLOSSED, REVERSED, LOWER, CALLED, BARE) if (m := p.search(own)) and m.start("name") < 110]
        for match in sorted(matches, key=lambda m: m.start()):
            name, gloss = match["name"], match["gloss"]
            if name in GENERIC or name[0].isdigit() or (gloss and not _expands(name, gloss)):
                continue
            gloss = _decapitalise_inner(gloss).strip() if gloss else _apposition(own[match.end("name") :], LONGEST - len(name) - 2)
            if gloss:
                return f"{name}: {gloss}"
            if name[1:] != name[1:].lower():
                return f"{name}: {_lead(sentence, name)}"
    return ""


def _apposition(rest: str, longest: int) -> str:
    """The noun phrase of `, an automated diagnosis system that …`; with its relative clause only where it says little."""
    match = APPOSITION.match(rest)
    if match is None:
        return ""
    relative = RELATIVE.search(match[1])
    if relative and len(match[1][: relative.start()].split()) >= 3:
        return match[1][: relative.start()]
    return _shorten(match[1], longest)


def _lead(sentence: str, name: str) -> str:
    """The words before a bare name: `a lightweight pre-training framework, MiniTraffic`."""
    before = re.search(r"(?:\ban?|\bthe|\bour)\s+([^,.;:()]{8,70}?),?\s+(?:(?:called|named|termed)\s+)?$", sentence[: sentence.index(name)])
    return before[1] if before else _shorten(sentence[sentence.index(name) + len(name) :].strip(" ,"), LONGEST - len(name) - 2)


def _expands(name: str, gloss: str) -> bool:
    """Whether a gloss can stand for a name: it is no citation or example, and shares the first letter."""
    letters = re.sub(r"[^a-z]", "", name.casefold())
    return len(gloss.split()) <= 10 and not re.search(r"\d{4}|et al|e\.g", gloss) and letters[:1] in gloss.casefold()


def _decapitalise_inner(text: str) -> str:
    """`JudGmEnt` and `COmponent-based` are `Judgment` and `Component-based`: capitals that spell the acronym."""

    def calm(match: re.Match[str]) -> str:
        word = match.group()
        inner = word[1:]
        return word if word.isupper() or inner.islower() or len(word) < 5 else word[0] + inner.lower()

    return re.sub(r"[A-Za-z]+", calm, text)


def _clause(abstract: str) -> str:
    start, end = (sentence_spans(abstract) or [(0, len(abstract))])[0]
    sentence = abstract[start:end].rstrip(".!?。")
    head = re.split(r"(?<=\w),?\s+(?:yet|but|however|while|whereas|whose|which|where)\b|;|:|—", sentence)[0]
    return _shorten(head if len(head) >= 25 else sentence, LONGEST)


def _shorten(text: str, longest: int) -> str:
    """Cut at a word boundary, never inside maths, and not after a word that promises more."""
    text = text.strip().rstrip(".,;:")
    cut = text
    if len(text) > longest:
        cut = text[: longest + 1].rsplit(" ", 1)[0] if " " in text[: longest + 1] else text[:longest]
        if cut.count("$") % 2:
            cut = cut[: cut.rindex("$")]
    previous = None
    while cut != previous and len(text) > longest:
        previous, cut = cut, TRAILING.sub("", cut.rstrip(" ,;:("))
    return cut + ("…" if len(cut) < len(text) else "")
