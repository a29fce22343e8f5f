"""A name for a paper without a title: its method's name with a gloss, or its first clause; no two alike."""

from __future__ import annotations

import re

from rag.sentences import MATH, mask, sentence_spans

USUAL = 80  # characters of a label
LONGEST = 160
LOOKED_AT = 4000  # characters of an abstract; what a paper calls itself stands near its beginning
REACH = 400  # characters behind the words that announce a name
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
# Words with capitals, then the name: `Judge-aware Long Benchmark (JLB)`. Each hyphen can be read in one way only.
CAPITALISED = r"[A-Z][\w’']*(?:-[a-z0-9][\w’']*)*(?:- ?| )(?:(?:of|for|and|in|with|to|the|on|via) )?"
REVERSED = re.compile(rf"(?P<gloss>(?:{CAPITALISED}){{1,10}}[A-Z]?[\w-]*)\s*\((?P<name>{SHOUTED})\)")
LOWER = re.compile(rf"\b(?:an?|the)\s+(?P<gloss>[a-z][a-z -]{{8,60}})\s*\((?P<name>{SHOUTED})\)")
CALLED = re.compile(
    rf"^\s*(?:the\s+)?(?P<name>{NAME}(?:\s+and\s+{SHOUTED})?)(?P<gloss>),\s+(?:which is\s+)?(?=an?\s|the\s)"
)
BARE = re.compile(
    r"\b(?:framework|method|model|system|algorithm|benchmark|dataset|approach|pipeline|family),?\s+"
    rf"(?:called\s+|named\s+|termed\s+)?(?P<name>{SHOUTED})(?P<gloss>)(?=[\s,.:;])"
)
APPOSITION = re.compile(r"^,?\s*(?:which is\s+)?(?:an?|the)\s+((?:[^.,;:(]|,(?=\s[\w]+-)|,(?=\w))+)")
RELATIVE = re.compile(r"\s+(?:that|which|who)\b")
LEAD = re.compile(r"(?:\ban?|\bthe|\bour)\s+([^,.;:()]{8,70}?),?\s+(?:(?:called|named|termed)\s+)?$")
# A sentence that begins with a name and says what it is or does: `Ekka treats diagnosis as …`, `L-CUBE (Long-…) …`.
SUBJECT = re.compile(
    rf"^(?:The\s+|Our\s+)?(?P<name>{SHOUTED}|[A-Z][a-z]{{2,}})(?:\s+\((?P<gloss>[A-Z][^()]{{6,80}})\))?(?P<rest>,?\s+[a-z]+s\b.*)",
    re.DOTALL,
)
BEING = re.compile(r"^(?:is|are)\s+(?:an?|the)\s+")
CLAUSE_END = re.compile(r"(?<=\w),?\s+(?:yet|but|however|while|whereas|whose|which|where)\b|;|:|—")
_GENERIC = "LLM LLMs VLM VLMs RL SGD SOTA AI ML NLP MLLM MLLMs GPT IID OOD PTM CIL SSMs SSM SD"
GENERIC = frozenset(_GENERIC.split())
TRAILING = re.compile(
    r"\s+(?:that|which|who|for|of|to|with|and|or|by|on|in|the|a|an|from|as|at|is|are|via|using|into|than)$",
    re.IGNORECASE,
)


def label(abstract: str, title: str | None, taken: set[str]) -> str:
    """Return a label of mostly up to 80 and never much over 160 characters that is not in `taken`, and add it there.

    Where two papers would share one, the label takes up more of the abstract, and a number only as a last resort.
    """
    text = abstract[:LOOKED_AT]
    candidates = [_shorten(title, LONGEST)] if title else _candidates(text)
    number = 1
    candidates = [c for c in candidates if c] or [_shorten(MATH.sub(" ", text), USUAL) or "Untitled"]
    for candidate in candidates:
        if candidate.casefold() not in taken:
            taken.add(candidate.casefold())
            return candidate
    while (numbered := f"{candidates[-1]} ({number + 1})").casefold() in taken:
        number += 1
    taken.add(numbered.casefold())
    return numbered


def _candidates(text: str) -> list[str]:
    named = _named(text) or _subject(text)
    first = _clause(text)
    both = f"{named.split(':')[0]}: {first}" if named else ""
    longer = [_shorten(text, n) for n in (100, 130, LONGEST)]
    return [_shorten(named, LONGEST), _shorten(both, LONGEST), first, *longer]


def _named(abstract: str) -> str:
    """`SAGE: Semantic-Anchored Judgment`, `Ekka: automated diagnosis system`, or nothing."""
    # The name that the paper gives its own work stands right after the words that say so, or nowhere.
    for start, end in sentence_spans(abstract):
        sentence = abstract[start:end]
        claim = OURS.search(sentence)
        if claim is None:
            continue
        # Patterns look at a copy without maths, so that nothing is cut inside a formula.
        masked = mask(sentence, "x")[claim.end() : claim.end() + REACH]
        own = sentence[claim.end() : claim.end() + REACH]
        found = [m for p in (GLOSSED, REVERSED, LOWER, CALLED, BARE) if (m := p.search(masked))]
        for match in sorted(found, key=lambda m: m.start()):
            name, gloss = own[slice(*match.span("name"))], own[slice(*match.span("gloss"))]
            if (
                match.start("name") >= 110
                or name in GENERIC
                or "$" in name + gloss
                or (gloss and not _expands(name, gloss))
            ):
                continue
            room = USUAL - len(name) - 2
            gloss = _decapitalise_inner(gloss).strip() if gloss else _apposition(own[match.end("name") :], room)
            if gloss:
                return f"{name}: {gloss}"
            if name[1:] != name[1:].lower():
                return f"{name}: {_lead(sentence, claim.end() + match.start('name'), name)}"
    return ""


def _subject(abstract: str) -> str:
    """`Ekka: treats diagnosis as differential debugging`: the name that most sentences speak of, with what it does.

    The first sentence names what others did, so it does not count. A plain capitalised word is a name only where it is
    capitalised inside a sentence too.
    """
    masked = mask(abstract)
    best, most = "", 1
    for start, end in sentence_spans(abstract)[1:]:
        match = SUBJECT.match(masked[start:end])
        if match is None or match["name"] in GENERIC:
            continue
        name = match["name"]
        mentions = len(re.findall(rf"(?<![\w-]){re.escape(name)}(?![\w-])", masked))
        inside = re.search(rf"[a-z,:;(] {re.escape(name)}(?![\w-])", masked)
        if mentions > most and (inside or name[1:] != name[1:].lower()):
            gloss, rest = (abstract[start:end][slice(*match.span(g))] for g in ("gloss", "rest"))
            if gloss and not _expands(name, gloss):
                gloss = ""
            predicate = CLAUSE_END.split(BEING.sub("", rest.strip(" ,")))[0]
            told = _decapitalise_inner(gloss) or _shorten(predicate, USUAL - len(name) - 2)
            best, most = f"{name}: {told}", mentions
    return best


def _apposition(rest: str, longest: int) -> str:
    """The noun phrase of `, an automated diagnosis system that …`, with its relative clause where it says little."""
    match = APPOSITION.match(mask(rest))
    if match is None:
        return ""
    phrase = rest[slice(*match.span(1))]
    relative = RELATIVE.search(mask(phrase))
    if relative and len(phrase[: relative.start()].split()) >= 3:
        phrase = phrase[: relative.start()]
    return _shorten(phrase, longest)


def _lead(sentence: str, at: int, name: str) -> str:
    """The words before a bare name: `a lightweight pre-training framework, MiniTraffic`; else those after it."""
    before = LEAD.search(mask(sentence)[max(0, at - 120) : at])
    if before:
        return sentence[max(0, at - 120) :][slice(*before.span(1))]
    return _shorten(sentence[at + len(name) :].strip(" ,"), USUAL - len(name) - 2)


def _expands(name: str, gloss: str) -> bool:
    """Whether a gloss can stand for a name: it is no citation, example or acronym, and shares the first letter."""
    letters = re.sub(r"[^a-z]", "", name.casefold())
    words = len(gloss.split())
    return (
        words <= 12
        and not gloss.isupper()
        and not re.search(r"\d{4}|et al|e\.g", gloss)
        and letters[:1] in gloss.casefold()
    )


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
    stop = CLAUSE_END.search(mask(sentence))
    head = sentence[: stop.start()] if stop else sentence
    return _shorten(head if len(head) >= 25 else sentence, USUAL)


def _shorten(text: str, longest: int) -> str:
    """Cut at a word boundary, never inside maths, and not after a word that promises more."""
    text = " ".join(text.split()).rstrip(".,;:")
    if len(text) <= longest:
        return text
    cut = text[: longest + 1].rsplit(" ", 1)[0] if " " in text[: longest + 1] else text[:longest]
    for maths in MATH.finditer(text):
        if maths.start() < len(cut) < maths.end():
            cut = text[: maths.start()]
    previous = None
    while cut != previous:
        previous, cut = cut, TRAILING.sub("", cut.rstrip(" ,;:("))
    return cut + "…" if cut else ""
