"""What publishers put around an abstract: the word `Abstract` before it, copyright notices on either side.

Whatever is not plainly such a notice stays: a sentence about copyright, `Abstract interpretation is ...`.
"""

from __future__ import annotations

import re
from bisect import bisect_right

HEADINGS = (
    "Backgrounds?|Introduction|Context|Rationale|Motivation|Significance|Importance|Aims?|Goals?|Objectives?|Purpose|Problem"
    "|Hypothesis|Design|Setting|Participants|Patients|Materials|Methods?|Methodology|Approach|Results?|Findings|Discussion"
    "|Conclusions?|Limitations|Implications|Funding|Originality"
)
OPENERS = (
    "A|An|As|At|For|From|Given|How|However|In|It|Many|On|Our|Recent|Since|The|There|These|This|To|We|When|While|With"
)
OTHER_WORDS = (
    r"R[ée]sum[ée]|RÉSUMÉ|Resumen|RESUMEN|Resumo|RESUMO|Riassunto|RIASSUNTO|Zusammenfassung|ZUSAMMENFASSUNG|Kurzfassung"
    r"|摘\s?要|要\s?旨|概\s?要|抄\s?録|초\s?록|요\s?약|Аннотация|Реферат"
)
WORD = rf"(?:Abstract|ABSTRACT|Summary|SUMMARY|{OTHER_WORDS})"
# A word in brackets or with punctuation behind it; `Abstract-In this` but not `Abstract-level`.
MARKED = re.compile(
    rf"(?:[\[【〔［(]\s?{WORD}\s?[\]】〕］)]\s*[:：.。]?"
    rf"|(?:#{{1,6}}\s)?{WORD}(?:\s?[:：.。—–|]+|\s[-‐‑](?=\s)|[-‐‑](?=\s|[A-Z\"“])|(?<=[\u3040-\uffff])(?=\s)|$))\s*"
)
# The word alone: before a heading or a word that opens sentences, also glued to it ...
BARE = re.compile(
    rf"(?:Abstract|ABSTRACT|Summary|SUMMARY)(?:\s*(?=(?:{HEADINGS}|{OPENERS})\b)|\s+(?=we\s|this\s|in this\s))"
)
# ... and before any other capital, unless both words make a term.
CAPITAL = re.compile(r"(?:Abstract|(?P<loud>ABSTRACT))\s+(?=(?P<next>[^\W\d_a-z][\w-]*))")
_TERMS = (
    "action actions algebra algebraic argument argumentation art causal class classes concept concepts data "
    "dialectical domain domains expressionism feature features game games graph graphs harmonic image images "
    "interpretation knowledge machine machines meaning model models noun nouns planning reasoning representation "
    "representations rewriting rule rules scene scenes semantic semantics simulation simulations state states "
    "strategy structure structures syntax syntactic task tasks text thinking type types visual wikipedia window "
    "windows word words"
)
TERMS = frozenset(_TERMS.split())
# Glued to any other word (`AbstractMany governments ...`), unless the two are a name that comes again.
GLUED = re.compile(r"Abstract(?=[A-Z][a-z]+\s[a-z])")
ACRONYM = re.compile(r"\(A([A-Z])[A-Za-z]*\)")

WINDOW = 1500  # characters at either end that may hold notices
LONGEST = 500  # characters in one notice
YEAR = r"(?:19|20)\d\d"
THIS = (
    r"This\s(?:(?:article|paper|work|publication|chapter)\s)?(?:is|was|has been)\s(?:an?\s)?"
    r"(?:open[- ]access\s(?:article|paper|publication|work)|protected by copyright"
    r"|(?:distributed|licen[cs]ed|made available) under|published (?:with|as|under) |U\.?S\.? [Gg]overnment work)"
)
PLAIN_NOTICE = (  # always a notice
    rf"{THIS}|All [Rr]ights (?:are )?[Rr]eserved(?=\W*(?:$|[A-Z©]))"
    r"|\(?Psyc[A-Z][A-Za-z]+®?\s+Database\s+Record|Production and hosting by\s"
    r"|\((?:from the )?(?:journal|book|chapter) abstract\)"
)
NAMED_NOTICE = (  # a notice when little but names stands in it
    r"[(\[]?(?:Crown\s)?(?:Copyright:?\s*)?(?:©"
    rf"|\([cC]\)(?=\W*(?:Copyright\W*)?(?:{YEAR}|[Tt]he [Aa]uthors?|[A-Z]\w+ {YEAR})))"
    rf"|(?:Crown\s)?Copyright:?\s(?:{YEAR}|by\s|the\s+[Aa]uthors?|(?:is|remains)\s(?:held|owned|retained|with)\s|held\sby\s)"
    r"|(?:First\s)?Published\s(?:by|under licen[cs]e by|on behalf of)\s(?:the\s)?[A-Z]|Licensee\s[A-Z]"
)
PLAIN, NAMED = re.compile(PLAIN_NOTICE), re.compile(NAMED_NOTICE)
START = re.compile(
    rf"(?:^|(?<=[\s.!?;:,)\]\"”'(\[]))(?!(?:(?<=[,;]\s)|(?<=\sand\s)|(?<=\sor\s))\([cC]\))(?:{PLAIN_NOTICE}|{NAMED_NOTICE})"
)
_HINTS = (
    "©|(c)|(C)|opyright|ights|Published|Psyc|Licensee|Production and|en access|en-access|icensed under|icenced under"
    "|istributed under|available under|published |overnment work|abstract)"
)
HINTS = tuple(_HINTS.split("|"))  # a text without any of these holds no notice
# Between notices; an initial (`S. Karger`) ends none.
BETWEEN = re.compile(
    r"(?<=[.!?;)\]])(?<!\s[A-Z]\.)\s+(?!Government)(?=[A-Z©(\[])|(?<=reserved\.)(?=[A-Z])|(?<![Cc]opyright)\s+(?=©)"
)
NAME_PART = re.compile(
    r"\b(?:AG|Association|B\.?V|Co|College|Corp|Elsevier|GmbH|Group|IEEE|Inc|Institut\w+|Journal|LLC|Limited|Ltd|Nature|Periodicals"
    r"|Press|Publish\w+|SAS|Society|Springer|Taylor|University|Wiley)\b|[Cc]reative ?[Cc]ommons"
)
COMMON = re.compile(r"(?<![\w'’.@/-])[^\W\d_A-Z][\w'’-]*+")
_CONNECTORS = (
    "a an and as at author authors authors' authors’ behalf by c copyright d da das de del der des di do e et "
    "exclusive for held hosting im in inc is la le les licence license licensed licensee limited ltd members northern "
    "of on or owned owner owners part permission production published publisher publishers publishing remains "
    "reserved retained rights s the to trading und under van von with y zu"
)
CONNECTORS = frozenset(_CONNECTORS.split())


def strip_prefix(text: str) -> str:
    """Drop the word `Abstract`, in several languages, from the beginning, unless it is part of the text."""
    begin = 1 if text[:1] in {'"', "“"} else 0
    at = begin
    while (end := _prefix_end(text, at)) > at:
        at = end
    return text[:begin] + text[at:] if at > begin else text


def _prefix_end(text: str, at: int) -> int:
    """Where the prefix that begins at `at` ends; `at` itself when there is none."""
    match = MARKED.match(text, at) or BARE.match(text, at)
    if match:
        return match.end()
    glued = GLUED.match(text, at)
    if glued and text.find(text[at : text.index(" ", at)], glued.end()) < 0:
        return glued.end()
    match = CAPITAL.match(text, at)
    if not match:
        return at
    if match["loud"]:
        return at if match["next"].isupper() else match.end()
    acronym = ACRONYM.search(text, at, at + 100)
    term = match["next"].casefold() in TERMS or (acronym is not None and acronym[1] == match["next"][0])
    return at if term else match.end()


def strip_notices(text: str) -> str:
    """Drop copyright notices and licence statements from the end and from the beginning."""
    end = len(text)
    while (start := _tail_start(text, end)) < end:
        end = len(text[:start].rstrip())
    begin = 0
    while (stop := _head_end(text, begin, end)) > begin:
        begin = stop
    return text[begin:end]


def _tail_start(text: str, end: int) -> int:
    """Where the notices that end at `end` begin; `end` itself when there are none."""
    first = max(0, end - WINDOW)
    if not any(hint in text[first:end] for hint in HINTS):
        return end
    boundaries = list(BETWEEN.finditer(text, first, end))
    settled = stop = end  # from here on everything belongs to notices
    for boundary in reversed(boundaries):
        sentence = text[boundary.end() : stop]
        if not is_notice(sentence) and not _is_rest(sentence):
            break
        settled = stop = boundary.start()
    stops = [boundary.start() for boundary in boundaries] + [end]
    for match in START.finditer(text, first, end):
        stop = stops[bisect_right(stops, match.start() + 1)] if match.start() + 1 < end else end
        if stop >= settled and is_notice(text[match.start() : stop].strip()):
            return match.start()
    return end


def _head_end(text: str, begin: int, end: int) -> int:
    """Where the notices that begin at `begin` end; `begin` itself when there are none."""
    if not START.match(text, begin, end):
        return begin
    at = begin
    for boundary in BETWEEN.finditer(text, begin, min(end, begin + WINDOW)):
        piece = text[at : boundary.start()]
        if not is_notice(piece) and not (at > begin and NAME_PART.search(piece) and _is_rest(piece)):
            break
        at = boundary.end()
    return at


def is_notice(sentence: str) -> bool:
    """Whether a sentence is a copyright notice or a licence statement."""
    if len(sentence) > LONGEST:
        return False
    return PLAIN.match(sentence) is not None or (NAMED.match(sentence) is not None and _uncommon(sentence) < 2)


def _is_rest(sentence: str) -> bool:
    """Whether a sentence after a notice still belongs to it: the rest of a publisher's name, an imprint."""
    if len(sentence) > LONGEST or _uncommon(sentence):
        return "creativecommons.org/" in sentence
    return NAME_PART.search(sentence) is not None or (len(sentence.split()) < 4 and ":" not in sentence)


def _uncommon(sentence: str) -> int:
    """How many words are neither names nor such as stand between names."""
    return sum(word not in CONNECTORS for word in COMMON.findall(sentence) if word[0].islower())
