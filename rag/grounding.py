"""Does the evidence carry the sentence? Every sentence of a model's reply is matched to evidence and gets a verdict.

Citations never depend on the markers that a model writes: they are dropped, and set anew by the match. A sentence is
`unsupported` when it claims what the evidence does not hold: a figure, a name, the opposite; `supported` when the
evidence or its paper also has each of its content words; `weak` in between, as free paraphrases are.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from rag.composer import Draft
from rag.encoder import Encoder, Vector
from rag.evidence import ScoredSentence
from rag.prompts import split_reply as split_reply
from rag.schema import Paper, Verdict
from rag.text import STOPWORDS, search_text, terms

SUPPORTED_COVERAGE, SUPPORTED_COSINE = 0.55, 0.60
WEAK_COVERAGE, WEAK_COSINE = 0.35, 0.50
FULL_COVERAGE, FULL_COSINE = 0.85, 0.35  # short sentences whose every word is there
MOST = 64  # sentences that are looked at; the model saw the best few of them
TRIED = 6  # best matches whose claims are compared

# -- figures -----------------------------------------------------------------------------------------------------------

URL = re.compile(r"(?:https?://|www\.)[^\s)\]}>,;\"']+")
POWER = re.compile(r"\^\s*\{?\s*([-−+]?[\w.]+)\s*\}?")
UNITS = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
]  # fmt: skip
TENS = {
    w: 10 * n for n, w in enumerate(["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], 2)
}
TIMES = {"twice": 2, "double": 2, "doubles": 2, "doubled": 2, "thrice": 3, "triple": 3, "triples": 3, "tripled": 3}
VALUES = {word: n for n, word in enumerate(UNITS)} | TENS | TIMES
SPELLED = re.compile(rf"\b({'|'.join(TENS)})-({'|'.join(UNITS[1:10])})\b|\b({'|'.join(VALUES)})\b", re.IGNORECASE)
FIGURE = re.compile(
    r"(?<![A-Za-z0-9_@.])(?<![A-Za-z]-)(\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)*|\.\d+)"
    r"(?:([kKMBT])(?![A-Za-z0-9])|[\s-]?(%|(?:percent(?:age points?)?|per cent|thousand|million|billion|trillion|"
    r"[KMGTP]i?B|[mnu]s|[kMG]Hz)\b))?"
)
SIZE_IN_NAME = re.compile(r"(?<=[A-Za-z0-9]-)(\d+(?:\.\d+)?)([KMBT])\b")
SCALE = {"k": 10**3, "m": 10**6, "b": 10**9, "t": 10**12} | {
    "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12
}  # fmt: skip


def figures(text: str) -> set[str]:
    """Return the figures of a text in one spelling: `4,000+` is `4000`, `80\\%` `80%`, `12K` `12000`, `two` `2`.

    Digits within names (`GPT-4o`, `pass@5`) are not figures. `one` and `zero` are words here: mostly a pronoun.
    """
    return _figures(text, frozenset({"zero", "one"}))


def _figures(text: str, skipped: frozenset[str]) -> set[str]:
    def digits(match: re.Match[str]) -> str:
        tens, unit, word = (group.lower() if group else "" for group in match.groups())
        return match.group() if word in skipped else str(VALUES[word] if word else TENS[tens] + VALUES[unit])

    plain = search_text(POWER.sub(r" pow\1 ", URL.sub(" ", text))).replace("\\", "")
    found = set()
    for number, letter, unit in FIGURE.findall(SPELLED.sub(digits, plain)):
        found.add(_normal(number, (letter or unit).lower()))
    return found


def _normal(number: str, unit: str) -> str:
    if number.count(".") > 1:
        return number  # a version
    value = Decimal(number.replace(",", "")) * SCALE.get(unit, 1)
    suffix = "" if unit in SCALE else "%" if unit.startswith(("%", "per")) else unit
    return f"{value.normalize():f}{suffix}"


def missing_figures(sentence: str, evidence: str) -> set[str]:
    """Figures of a sentence that its evidence does not hold; a unit may be left out, but not put in or changed."""
    there = _figures(evidence, frozenset())
    there |= {_normal(n, letter.lower()) for n, letter in SIZE_IN_NAME.findall(search_text(evidence))}
    bare = {re.sub(r"[^\d.]", "", f) for f in there}
    return {f for f in figures(sentence) if f not in there and not (re.fullmatch(r"[\d.]+", f) and f in bare)}


# -- names -------------------------------------------------------------------------------------------------------------

TOKEN = re.compile(r"[A-Za-z0-9]+(?:[@.+'/_-]+[A-Za-z0-9]+)*")
PIECES = re.compile(r"/|-(?!\d)|'s\b")
OPENS = re.compile(r"(?:^|[.!?:;]\s|\n)[\W_]*$")
COMMON = frozenset({"ai", "ml", "nlp", "llm", "lm", "kb", "mb", "gb", "tb", "pb", "khz", "mhz", "ghz"})


@dataclass(frozen=True)
class Name:
    """A name in a text: `key` is what is compared; `numbered` names differ by their digits (`pass@5`, `GPT-4o`)."""

    key: str
    numbered: bool = False
    proper: bool = False  # nothing but a capital speaks for it


@functools.lru_cache(maxsize=512)
def names(text: str) -> frozenset[Name]:
    """Return the names in a text: words with digits, with several capitals, or with one that opens no sentence."""
    plain = search_text(POWER.sub(r" pow\1 ", URL.sub(" ", text))).replace("\\", "")
    found = set()
    for token in TOKEN.finditer(plain):
        for piece in filter(None, PIECES.split(token.group())):
            capitals = sum(c.isupper() for c in piece)
            if piece[0].isalpha() and any(c.isdigit() for c in piece):
                found.add(Name(_key(piece), numbered=True))
            elif capitals > 1:
                found.add(Name(_key(piece)))
            elif capitals and len(piece) > 1 and piece[0].isupper() and not OPENS.search(plain[: token.start()]):
                found.add(Name(_key(piece), proper=True))
    return frozenset(found)


def _key(piece: str) -> str:
    piece = piece[:-1] if re.fullmatch(r"[A-Z][A-Z0-9]+s", piece) else piece
    return re.sub(r"[\W_]", "", piece).casefold()


@functools.lru_cache(maxsize=512)
def _keys(text: str) -> frozenset[str]:
    """Keys of all words of a text, of their parts and of neighbours written together (`GPT 4` holds `gpt4`)."""
    hosts = URL.sub(lambda m: " " + m.group().split("//")[-1].split("/")[0].replace(".", " ") + " ", text)
    plain = search_text(POWER.sub(r" pow\1 ", hosts)).replace("\\", "")
    tokens: list[str] = TOKEN.findall(plain)
    keys = {_key(t) for t in tokens} | {_key(p) for t in tokens for p in PIECES.split(t)}
    return frozenset(keys | {_key(a + b) for a, b in itertools.pairwise(tokens)})


def strange_names(sentence: str, evidence: str, paper: Paper) -> set[str]:
    """Names (and addresses) in a sentence that neither its evidence nor its paper holds."""
    about = " ".join(
        [paper.abstract, paper.title or "", paper.label, paper.venue or "", *paper.authors, *paper.keywords]
    )
    there, wider, shown = _keys(evidence), _keys(about), names(evidence)
    said = names(sentence)
    own = {n.key for n in said}
    strange = {u for u in (m.group().rstrip(".:/") for m in URL.finditer(sentence)) if u not in evidence + about}
    for name in said:
        if name.key in there:
            continue
        if name.numbered and any(_stem(n.key) == _stem(name.key) and n.key not in own for n in shown):
            strange.add(name.key)  # the evidence speaks of pass@1, the sentence of pass@5
        elif not (name.key in wider or name.key in COMMON or _otherwise(name, about)):
            strange.add(name.key)
    return strange


def _otherwise(name: Name, text: str) -> bool:
    """Whether a name stands in a text in another form: a word of it with a capital, an abbreviation of it."""
    if name.numbered:
        return False
    return _expands(name.key, text) or (name.proper and not set(terms(name.key)).isdisjoint(terms(text)))


def _stem(key: str) -> str:
    return re.split(r"\d", key, maxsplit=1)[0]


def _expands(key: str, text: str) -> bool:
    """Whether an abbreviation stands in a text written out: three letters or more, or chance would find them."""
    words = re.findall(r"[a-z0-9]+", search_text(text).casefold())
    initials = ("".join(w[0] for w in words), "".join(w[0] for w in words if w not in STOPWORDS))
    return len(key) > 2 and any(key in found for found in initials)


# -- the opposite ------------------------------------------------------------------------------------------------------

NO_NEGATION = re.compile(
    r"\bnot (?:only|just|merely|simply)\b|\bwhether or not\b|\bno (?:fewer|less|more) than\b", re.I
)
CONTRAST = re.compile(r"\b(?:while|whereas|but)\b", re.I)
FREE = re.compile(r"\b(\w+)-free\b", re.I)
CLAUSES = re.compile(
    r"[,;:()]|\b(?:but|while|whereas|although|though|yet|and|which|because|since|when|if|so)\b|[.!?](?=\s)", re.I
)
# What stands before `not` is denied too ("training from scratch does not work"); before `without` it is not.
DENIES = re.compile(
    r"\b(?:not|never|cannot|neither|nor|fail(?:s|ed|ing)?|unable|lack(?:s|ed|ing)?|hardly|rarely|seldom|whether|unclear|"
    r"unknown)\b|n't\b",
    re.I,
)
EXCLUDES = re.compile(r"\b(?:no|none|without|instead of|rather than|free of|absence of|avoid(?:s|ed|ing)?)\b", re.I)
LIGHT = frozenset(terms("require need demand use"))  # denied or not, they say little by themselves
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
            r"decreas|reduc|drop|declin|shrink|lowers?\b|falls?\b|attenuat|suppress|inhibit|mitigat|alleviat|prevent|limit",
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
BEATS = re.compile(
    r"\b(?:outperform|surpass|exceed|beat)\w*|\b\w+er than\b|\b(?:more|less|better|worse)\b[^,;.]* than\b", re.I
)


def opposed(sentence: str, evidence: str) -> bool:
    """Whether the one denies what the other says of the same thing."""
    said, shown = search_text(sentence), search_text(evidence)
    return _denied(said, shown) or _turned(said, shown) or _swapped(sentence, evidence)


@functools.lru_cache(maxsize=512)
def _clauses(text: str) -> tuple[tuple[frozenset[str], frozenset[str], frozenset[str]], ...]:
    """(asserted terms, denied terms, those of them that follow the denying word) of each clause."""
    result = []
    for clause in CLAUSES.split(FREE.sub(r"without \1", NO_NEGATION.sub(" ", text))):
        denies, excludes = DENIES.search(clause), EXCLUDES.search(clause)
        cue = min((m for m in (denies, excludes) if m), key=lambda m: m.start(), default=None)
        before = frozenset(terms(clause[: cue.start()] if cue else clause))
        after = frozenset(terms(clause[cue.end() :])) if cue else frozenset()
        result.append(
            (before, after, after) if cue is None or cue is excludes else (frozenset(), before | after, after)
        )
    return tuple(result)


def _denied(said: str, shown: str) -> bool:
    """Negation counts where it governs what both speak of: evidence may deny something else on the way."""
    in_said, in_shown = _clauses(said), _clauses(shown)
    asserted = frozenset().union(*(a for a, _, _ in in_shown))
    denied = frozenset().union(*(d for _, d, _ in in_shown))
    for own in [clause - LIGHT for clause, _, _ in in_said]:
        for _, _, scope in in_shown:
            shared = (scope & own) - asserted
            if shared and (2 * len(shared) >= len(scope) or 2 * len(shared) >= len(own)):
                return True
        if len(own & (asserted | denied)) >= WEAK_COVERAGE * len(own) > len(own & asserted):
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
        rest = CLAUSES.split(re.sub(r"^\w*", "", text[match.end() :]))[0]
        rest = ABOUT.split(rest)[0]
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
    sides = [(_keys(t[: m.start()]), _keys(t[m.end() :])) for t, m in ((sentence, mine), (evidence, theirs))]
    winner = {n.key for n in names(sentence)} & sides[0][bool(passive[0])]
    return bool(winner & (sides[1][not passive[1]] - sides[1][bool(passive[1])]))


def _mixed(sentence: str, evidence: str) -> bool:
    """Whether a part of the sentence takes its words from both sides of a contrast, so that roles may have changed."""
    sides = [frozenset(terms(p)) for p in CONTRAST.split(evidence)]
    for part in CONTRAST.split(sentence):
        words = frozenset(terms(part)) & frozenset().union(*sides)
        if max(len(words & side) for side in sides) < 0.8 * len(words):
            return True
    return False


# -- the match ---------------------------------------------------------------------------------------------------------

# Words with which any paper may be told; that the evidence lacks them says nothing.
TELLING = frozenset(
    terms(
        "method approach model framework technique system algorithm tool novel new propose proposed introduce "
        "introduced present presented develop developed describe show shows demonstrate find found report "
        "reported achieve achieves obtain obtains provide provides offer offers use uses using used apply "
        "applied employ employs enable enables allow allows help helps make makes result results resulting "
        "performance effective effectively significantly significant specifically specific various different "
        "several multiple many well known called named base based aim aims address addresses include includes "
        "including contain contains consist consists research researcher team goal purpose main key important "
        "overall therefore thus however moreover additionally furthermore also compare compared respectively "
        "namely way ways kind type order lead leads due example"
    )
)
# Words that say the same in reports of results; each counts as the first of its group.
SAME = {
    word: group[0]
    for group in (
        terms(line)
        for line in (
            "increase rise raise grow", "decrease fall drop decline reduce lower", "need require demand",
            "stay remain retain", "vanish disappear", "collect cover contain hold include comprise span",
            "available release host publish", "classify sort categorize", "predict forecast", "identify detect",
            "verify check validate", "outperform surpass exceed beat", "match equal", "train fit", "speed fast quick",
        )
    )
    for word in group
}  # fmt: skip
# Checked as figures, in whatever spelling.
FIGURE_WORDS = frozenset(terms(" ".join([*VALUES, *SCALE, "kb mb gb tb pb ms hz khz mhz ghz percent per cent"])))


class Grounding:
    """Checks sentences against the evidence of one question."""

    def __init__(self, encoder: Encoder, evidence: Sequence[ScoredSentence]) -> None:
        self.encoder = encoder
        self.evidence = list(evidence)[:MOST]
        self._vectors: dict[int, Vector] = {}
        # The names by which a paper is called count as said: "KelpNet reaches" where the quote has "It reaches".
        called = {s.hit.paper.id: _called(s.hit.paper) for s in self.evidence}
        self._terms = [_words(s.quote) | called[s.hit.paper.id] for s in self.evidence]

    def check(self, sentence: str) -> Draft:
        """Match one sentence: the evidence that carries it best, and whether it does."""
        wanted = _words(sentence)
        coverage = [_coverage(wanted, there) for there in self._terms]
        near = [i for i, share in enumerate(coverage) if share >= WEAK_COVERAGE]
        cosines = self._cosines(sentence, near)
        ranked = sorted(near, key=lambda i: -(cosines[i] + coverage[i]))[:TRIED]
        verdict, own = self._best(sentence, wanted, [(i, cosines[i]) for i in ranked if _near(coverage[i], cosines[i])])
        return Draft(sentence, tuple(sorted((self.evidence[i] for i in own), key=lambda s: s.start)), verdict)

    def _cosines(self, sentence: str, near: Sequence[int]) -> dict[int, float]:
        """Cosines of a sentence to some of the evidence; all that is new is encoded in one batch."""
        new = [i for i in near if i not in self._vectors]
        if not near:
            return {}
        rows = self.encoder.encode_queries([search_text(t) for t in (sentence, *(self.evidence[i].quote for i in new))])
        self._vectors.update(zip(new, rows[1:], strict=True))
        return {i: float(self._vectors[i] @ rows[0]) for i in near}

    def _best(
        self, sentence: str, wanted: frozenset[str], ranked: Sequence[tuple[int, float]]
    ) -> tuple[Verdict, list[int]]:
        best: tuple[Verdict, list[int]] = (Verdict.UNSUPPORTED, [])
        denied: set[str] = set()  # papers that say the opposite in a sentence that matches better
        for i, cosine in ranked:
            paper = self.evidence[i].hit.paper.id
            if paper in denied:
                continue
            if opposed(sentence, self.evidence[i].quote):
                denied.add(paper)
                continue
            for own in filter(None, ([i], self._with_partner(i, sentence, wanted))):
                verdict = self._verdict(sentence, wanted, own, cosine)
                if verdict is Verdict.SUPPORTED:
                    return verdict, own
                if verdict is Verdict.WEAK and best[0] is Verdict.UNSUPPORTED:
                    best = (verdict, own)
        return best

    def _with_partner(self, i: int, sentence: str, wanted: frozenset[str]) -> list[int]:
        """A sentence that puts two of a paper's sentences together is carried by both."""
        quote, hit = self.evidence[i].quote, self.evidence[i].hit
        lacking = missing_figures(sentence, quote)
        gains = []
        for j, other in enumerate(self.evidence):
            if j != i and other.hit is hit:
                gain = _coverage(wanted, self._terms[i] | self._terms[j]) - _coverage(wanted, self._terms[i])
                figure = bool(lacking) and len(missing_figures(sentence, f"{quote} {other.quote}")) < len(lacking)
                gains.append((gain + figure, -j))
        gain, j = max(gains, default=(0.0, 0))
        return [i, -j] if gain >= 0.15 else []

    def _verdict(self, sentence: str, wanted: frozenset[str], own: Sequence[int], cosine: float) -> Verdict:
        quotes = " ".join(self.evidence[i].quote for i in own)
        paper = self.evidence[own[0]].hit.paper
        there = frozenset().union(*(self._terms[i] for i in own))
        coverage = _coverage(wanted, there)
        if missing_figures(sentence, quotes) or strange_names(sentence, quotes, paper) or opposed(sentence, quotes):
            return Verdict.UNSUPPORTED
        novel = wanted - there - _words(paper.abstract) - TELLING - {SAME.get(t, t) for t in TELLING}
        close = cosine >= SUPPORTED_COSINE or (coverage >= FULL_COVERAGE and cosine >= FULL_COSINE)
        if coverage >= SUPPORTED_COVERAGE and close and not novel and not _mixed(sentence, quotes):
            return Verdict.SUPPORTED
        return Verdict.WEAK


def _called(paper: Paper) -> frozenset[str]:
    return _words(" ".join(n.key for n in names(f"{paper.title or ''}. {paper.label}")))


def _words(text: str) -> frozenset[str]:
    """Content words in one spelling (also British and American: `optimis`, `optim`), figures left out."""
    found = (t[:-2] if len(t) > 6 and t.endswith("is") else t for t in terms(text) if not t[0].isdigit())
    return frozenset(SAME.get(t, t) for t in found) - FIGURE_WORDS


def _coverage(wanted: frozenset[str], there: Iterable[str]) -> float:
    return len(wanted.intersection(there)) / len(wanted) if wanted else 0.0


def _near(coverage: float, cosine: float) -> bool:
    return coverage >= WEAK_COVERAGE and (
        cosine >= WEAK_COSINE or (coverage >= SUPPORTED_COVERAGE and cosine >= FULL_COSINE)
    )
