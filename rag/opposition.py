"""Does one sentence deny what the other says: negations, opposite directions, winner and loser exchanged."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

from rag.figures import counted, figures
from rag.names import keys, names
from rag.text import search_text, terms

LITTLE = 0.35  # share of a clause's words that must be the evidence's for the two to speak of the same thing
NO_NEGATION = re.compile(
    r"\bnot (?:only|just|merely|simply)\b|\bwhether or not\b|\bno (?:fewer|less|more) than\b", re.I
)
CONTRAST = re.compile(r"\b(?:while|whereas|but)\b", re.I)
FREE = re.compile(r"\b(\w+)-free\b", re.I)
CLAUSES = re.compile(
    r",(?!\d)|[;:()]|\b(?:but|while|whereas|although|though|yet|and|which|because|since|when|if|so)\b|[.!?](?=\s)", re.I
)
# What stands before `not` is denied too ("training from scratch does not work"); before `without` it is not.
DENIES = re.compile(
    r"\b(?:not|never|cannot|neither|nor|fail(?:s|ed|ing)?|unable|lack(?:s|ed|ing)?|hardly|rarely|seldom|whether|unclear|"
    r"unknown)\b|n't\b",
    re.I,
)
ENDS = re.compile(r"\b(?:disappear(?:s|ed)?|vanish(?:es|ed)?|absent|insufficient)\b", re.I)  # deny what stands before
EXCLUDES = re.compile(r"\b(?:no|none|without|instead of|rather than|free of|absence of|avoid(?:s|ed|ing)?)\b", re.I)
LIGHT = frozenset(terms("require need demand use"))  # denied or not, they say little by themselves
NOTHING: frozenset[str] = frozenset()
PREFIXES = ("un", "non", "in", "im", "dis", "de")
# To improve these is to lower them.
COSTS = frozenset(
    terms("latency error cost regret loss memory time delay risk variance overhead complexity perplexity")
)
DIRECTIONS = tuple(
    (re.compile(rf"\b(?:{a})", re.I), re.compile(rf"\b(?:{b})", re.I), COSTS if "improv" in a else frozenset[str]())
    for a, b in (
        (
            r"improv|enhanc|boost|help",
            r"degrad|worsen|harm|hurt|damag|impair|decreas|reduc|drop|declin|lowers?\b|falls?\b",
        ),
        (
            r"increas|rais(?:es|ed|ing)\b|grow|ris(?:es|ing)\b|elevat|promot|exacerbat",
            r"decreas|reduc|drop|declin|shrink|lowers?\b|falls?\b|cuts?\b|attenuat|suppress|inhibit|mitigat|alleviat|prevent|"
            r"limit",
        ),
        (r"high(?:er|est)?\b", r"low(?:er|est)?\b"),
        (r"better\b|best\b", r"worse\b|worst\b"),
        (r"outperform|surpass|exceed|beats?\b", r"underperform|trails?\b|lags?\b|falls? (?:short|behind)"),
        (r"fast(?:er|est)?\b|quick", r"slow"),
        (r"more\b|most\b", r"fewer\b|less\b|fewest\b|least\b"),
        (r"strong", r"weak"),
        (r"large|big(?:ger|gest)?\b", r"small"),
        (r"long(?:er|est)?\b", r"short(?:er|est)?\b"),
        (r"maximi[sz]", r"minimi[sz]"),
        (r"before\b", r"after\b"),
        (r"above\b", r"below\b"),
        (r"always\b", r"never\b"),
        (r"accept", r"reject"),
        (r"positive", r"negative"),
        (r"cheap", r"expensive|costl"),
        (r"eas(?:y|i)", r"hard(?:er|est)?\b|difficult"),
    )
)
ABOUT = re.compile(r"\b(?:by|from|to|with|under|than|as|in|on|for|at|of)\b|\d")
PRONOUN = re.compile(r"\s*(?:it|them|these|this|those)\b")
FROM_TO = re.compile(r"\bfrom\s+([^,;:]+?)\s+to\s+([^,;:]+)", re.I)
# What stands after these is what something is compared with: never the one that the clause is about.
BESIDE = re.compile(
    r"(\b(?:prefer|favou?r)[^,;:.]*)\bover\b([^,;:]*)|"
    r"\b(?:unlike|than|compared (?:with|to)|relative to|in contrast to|versus|vs\.?|against)\s+([^,;:]*)",
    re.I,
)
BEATS = re.compile(
    r"\b(?:outperform|surpass|exceed|beat)\w*|\b\w+er than\b|\b(?:more|less|better|worse)\b[^,;.]* than\b", re.I
)


def opposed(sentence: str, evidence: str) -> bool:
    """Whether the one denies what the other says of the same thing."""
    said, shown = search_text(sentence), search_text(evidence)
    return _denied(said, shown) or _turned(said, shown) or _swapped(sentence, evidence) or _reversed(said, shown)


@functools.lru_cache(maxsize=512)
def _clauses(text: str) -> tuple[tuple[frozenset[str], frozenset[str], frozenset[str]], ...]:
    """(asserted terms, denied terms, those of them that follow the denying word) of each clause."""
    result = []
    for clause in CLAUSES.split(FREE.sub(r"without \1", NO_NEGATION.sub(" ", text))):
        found = [(m.start(), m.end(), kind) for kind in (DENIES, EXCLUDES, ENDS) for m in kind.finditer(clause)]
        start, end, kind = min(found, default=(len(clause), len(clause), None), key=lambda f: f[0])
        before, after = frozenset(terms(clause[:start])), frozenset(terms(clause[end:]))
        if kind is EXCLUDES:
            result.append((before, after, after))
        elif kind is None or sum(k is not EXCLUDES for _, _, k in found) % 2 == 0:  # "does not vanish" denies nothing
            result.append((frozenset(terms(clause)), NOTHING, NOTHING))
        elif kind is ENDS:
            result.append((after, before, NOTHING))
        else:
            result.append((NOTHING, before | after, after))
    return tuple(result)


def _denied(said: str, shown: str) -> bool:
    """Negation counts where it governs what both speak of: evidence may deny something else on the way."""
    in_said, in_shown = _clauses(said), _clauses(shown)
    asserted = frozenset().union(*(a for a, _, _ in in_shown))
    denied = frozenset().union(*(d for _, d, _ in in_shown))
    for clause, own_denied, _ in in_said:
        own = clause - LIGHT
        for _, _, scope in in_shown:
            shared = (scope & own) - asserted
            if shared and (2 * len(shared) >= len(scope) or 2 * len(shared) >= len(own)):
                return True
        if not own_denied & denied and len(own & (asserted | denied)) >= LITTLE * len(own) > len(own & asserted):
            return True  # all that carries the clause is what the evidence denies
    negative = {t.removeprefix(p) for t in asserted | denied for p in PREFIXES if t.startswith(p)}
    for _, own, _ in in_said:
        if own and not own & denied and not own & negative:
            return True
    claimed = frozenset().union(*(a for a, _, _ in in_said))
    return bool(_negatives(asserted - claimed) & (claimed - asserted) or _negatives(claimed - asserted) & asserted)


def _negatives(words: Iterable[str]) -> set[str]:
    """`unbias` for `bias`; other prefixes than `un` and `non` only before longer words: `inform` denies no `form`."""
    return {p + w for w in words for p in PREFIXES if len(w) > 3 + 2 * (p not in {"un", "non"})}


def _turned(said: str, shown: str) -> bool:
    """Whether the two send the same thing in opposite directions."""
    for up, down, ignored in DIRECTIONS:
        mine, theirs = [[_object(text, d) for d in (up, down)] for text in (said, shown)]
        for i in (0, 1):
            one, other, same = mine[i], theirs[1 - i], theirs[i] or set()
            if one is None or other is None:
                continue
            alone = mine[1 - i] is None and theirs[i] is None
            if (one & other) - same - ignored or (alone and not (one and other)):
                return True
    return False


def _object(text: str, direction: re.Pattern[str]) -> set[str] | None:
    """What goes in a direction: the next content words, or the last ones before where none follow at once."""
    found: list[str] = []
    matches = list(direction.finditer(text))
    for match in matches:
        after = re.sub(r"^\w*(?:\s+(?:and|or)\b)?", "", text[match.end() :])  # "help and later harm X": both have X
        rest = ABOUT.split(CLAUSES.split(after)[0])[0]
        if PRONOUN.match(after):  # "reduce errors at first and increase them later"
            found += terms(text[: match.start()])[-8:]
        found += terms(rest)[:3] if terms(rest) else terms(CLAUSES.split(text[: match.start()])[-1])[-2:]
    return set(found) if matches else None


def _swapped(sentence: str, evidence: str) -> bool:
    """Whether what wins in the sentence is what loses in the evidence ("A outperforms B", "B outperforms A")."""
    mine, theirs = BEATS.search(sentence), BEATS.search(evidence)
    if not mine or not theirs:
        return False
    passive = [
        re.search(r"\b(?:is|are|was|were)\s+$", t[: m.start()]) for t, m in ((sentence, mine), (evidence, theirs))
    ]
    sides = [(keys(t[: m.start()]), keys(t[m.end() :])) for t, m in ((sentence, mine), (evidence, theirs))]
    winner = {n.key for n in names(sentence)} & sides[0][bool(passive[0])]
    return bool(winner & (sides[1][not passive[1]] - sides[1][bool(passive[1])]))


def _reversed(said: str, shown: str) -> bool:
    """Whether one goes from A to B where the other goes from B to A."""
    mine, theirs = FROM_TO.search(said), FROM_TO.search(shown)
    if not mine or not theirs:
        return False
    origin, goal = set(terms(mine.group(1))), set(terms(mine.group(2)))
    start, end = set(terms(theirs.group(1))), set(terms(theirs.group(2)))
    return bool(origin & (end - start)) and not origin & (start - end) and bool(goal & start)


def mixed(sentence: str, evidence: str) -> bool:
    """Whether the sentence has the evidence's words, but may have put them together in another way."""
    return _across(sentence, evidence) or _beside(sentence, evidence) or _rebound(sentence, evidence)


def _across(sentence: str, evidence: str) -> bool:
    """Whether a part of the sentence takes its words from both sides of a contrast."""
    sides = [frozenset(terms(p)) for p in CONTRAST.split(evidence)]
    subject = frozenset(terms(CONTRAST.split(evidence)[0])[:5])  # which both sides may be about
    only = [side.difference(subject, *(s for s in sides if s is not side)) for side in sides]
    return any(sum(not own.isdisjoint(terms(part)) for own in only) > 1 for part in CONTRAST.split(sentence))


def _beside(sentence: str, evidence: str) -> bool:
    """Whether the sentence is about what the evidence only compares with ("more than AlphaFix")."""
    compared, main = (frozenset(terms(t)) for t in _compared(evidence))
    mine, told = (frozenset(terms(t)) for t in _compared(sentence))
    return bool((compared - main) & (told - mine))


def _compared(text: str) -> tuple[str, str]:
    compared = " ".join(m.group(2) or m.group(3) or "" for m in BESIDE.finditer(text))
    return compared, BESIDE.sub(lambda m: m.group(1) or " ", text)


def _rebound(sentence: str, evidence: str) -> bool:
    """Whether a figure counts something else, or stands beside a name that the evidence has with another figure."""
    there = counted(evidence)
    if any(n in there and words[0] not in there[n] for n, words in counted(sentence).items()):
        return True
    shown = [(figures(c), {n.key for n in names(c)}) for c in CLAUSES.split(evidence)]
    for clause in CLAUSES.split(sentence):
        said = {n.key for n in names(clause)}
        for figure in figures(clause):
            beside = set().union(*(own for held, own in shown if figure in held))
            elsewhere = set().union(*(own for held, own in shown if held and figure not in held))
            if beside and said & (elsewhere - beside):
                return True
    return False
