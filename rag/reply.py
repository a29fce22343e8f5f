"""A language model's reply: read as it comes, freed of thinking, markers and loops, and cut into sentences."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from rag.prompts import NOT_STATED
from rag.schema import Usage
from rag.sentences import MATH, sentence_spans
from rag.text import repaired

# A marker as models write it: [2], [1, 3], [2-4], [^1], 【1】, [1†source], [quote 2], (Quote 2). Never [0, 1]: that is
# an interval.
_NUMBERS = r"[1-9]\d?(?:\s*(?:[,;&–-]|and)\s*[1-9]\d?)*"
_WORD = r"(?:quotes?|sources?|papers?|refs?\.?)"
MARKER = re.compile(
    rf"\s*(?:[\[【]\s*\^?(?:{_WORD}\s*)?{_NUMBERS}(?:†[^\]】]*)?\s*[\]】]|\(\s*{_WORD}\s*\[?{_NUMBERS}\]?\s*\))",
    re.IGNORECASE,
)
# A number as a part of the sentence: one is put into words, several cannot be told apart once they are gone.
AS_SUBJECT = re.compile(
    rf"(?:\b(?:the )?(?:given |provided )?{_WORD}\s*[\[【]|(?:^|(?<=[.!?]\s))[\[【])\s*[1-9]\d?\s*[\]】]"
    rf"((?:\s*(?:,|and|&|,\s*and)\s*[\[【]\s*[1-9]\d?\s*[\]】])*)(?=\s+(?-i:[a-z]))",
    re.IGNORECASE,
)
SEVERAL = "\ufffc"
DANGLING = re.compile(r"\s*[\[【]\s*[\d,\s]*$")
BULLET = re.compile(r"^\s*(?:(?:[-*•–]|\d{1,2}[.)、]|#{1,6}|>)\s+|\d{1,2}、)+")
LABEL = re.compile(r"^(?:(?:final |short )?answer|response|a)\s*[:：]\s*|^(?:回答|答案|答)[:：]\s*", re.IGNORECASE)
# "According to quote 2, …": what is left of it without its number says nothing.
SOURCE_PHRASE = re.compile(
    rf"^(?:according to|based on|as (?:stated|mentioned|described) in|per)\s+(?:the\s+)?(?:(?:given|provided)\s+)?"
    rf"{_WORD}(?:\s*[\[【]?{_NUMBERS}[\]】]?)?\s*,\s*",
    re.IGNORECASE,
)
EMPHASIS = re.compile(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1|(?<![\w*])([*_])(?=[^\s*_])([^*_]+?)(?<=\S)\3(?![\w*])|`([^`]+)`")
THINK = re.compile(r"<(think(?:ing)?|reasoning|thought)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
THINK_LEFT_OPEN = re.compile(r"\A.*</(?:think(?:ing)?|reasoning|thought)>", re.DOTALL | re.IGNORECASE)
TAG = re.compile(r"<(/?)(?:think(?:ing)?|reasoning|thought)>", re.IGNORECASE)
TAGS = tuple(f"<{slash}{name}>" for slash in ("", "/") for name in ("think", "thinking", "reasoning", "thought"))
SENTENCE_END = re.compile(r"[.!?。！？](?=\s|$|[\[【])")
COMPLETE = re.compile(r"[.!?。！？][\"”’』」)\]*]*$")
LEAD_IN = 12  # words; a line that ends with a colon announces what follows and claims nothing
LOOK_BACK = 240  # characters; a tail of this length that is one piece over and over is a loop

# What a refusal opens with. Only sentences about the quotes, the papers or the writer count: that a method "does not
# require labels" or "uses no information about the noise" is an answer.
_SOURCES = (
    r"(?:quotes?|quotations?|excerpts?|passages?|sources?|papers?|abstracts?|texts?|context|documents?|information)"
)
_THE = r"(?:the|these|those|this|your|my|any|provided|given|available|listed|numbered|above)"
_LACK = (
    r"(?:say|state|mention|contain|provide|specify|discuss|address|answer|cover|give|include|describe|report|offer|"
    r"indicate|disclose|reveal|explain|have)\b"
)
_NOT = r"(?: ?not|n't)"
REFUSAL = re.compile(
    "|".join(
        (
            rf"\b{_THE} (?:[\w-]+ ){{0,3}}?{_SOURCES}(?: [\w'-]+){{0,3}}? "
            rf"(?:do(?:es)?|did|can){_NOT} (?:\w+ly )?{_LACK}",
            rf"\b{_SOURCES} (?:[\w-]+ ){{0,2}}?(?:contains?|gives?|provides?|offers?|includes?) no\b",
            rf"\b(?:none|neither|not one) of (?:{_THE} )+(?:[\w-]+ ){{0,2}}?{_SOURCES}\b",
            rf"^\W*(?:[\w']+,? )?no (?:[\w-]+ ){{0,2}}?(?:{_SOURCES}|mention|answer|details?)\b",
            r"\bthere(?: is|'s| are| was) (?:no|not (?:any|enough)|insufficient) (?:[\w-]+ ){0,2}?"
            r"(?:information|mention|answer|details?)\b",
            rf"\b(?:is|are|was|were){_NOT} (?:\w+ly )?(?:stated|specified|mentioned|disclosed)\b|^\W*not stated\b",
            rf"\b(?:is|are|was|were){_NOT} (?:\w+ly )?\w+ (?:in|by|among) (?:{_THE} )+(?:[\w-]+ ){{0,2}}?{_SOURCES}\b",
            rf"\b(?:I|we)(?: can(?:{_NOT}|'t)| (?:do|did){_NOT} (?:have|know|find|see)|(?: am| are|'m|'re) "
            r"(?:unable|not able) to)\b",
            rf"\b(?:can(?:{_NOT}|'t) be|not possible to|impossible to) (?:answer|determin|tell|say|infer)\w* "
            r"(?:from|with|based|using)\b",
            r"(?:引文|引用|摘要|论文|文中|资料|文本).{0,8}(?:没有|并未|未)|(?:无法|不能)(?:回答|确定|得知)",
            r"^\W*(?:没有|未)(?:提到|提及|说明)",
        )
    ),
    re.IGNORECASE,
)


def refuses(text: str) -> bool:
    """Whether a reply opens by saying that the quotes do not say; what it adds from memory then counts for nothing."""
    sentences = raw_sentences(text)
    return bool(sentences) and (NOT_STATED in sentences[0] or REFUSAL.search(sentences[0]) is not None)


def raw_sentences(text: str) -> list[str]:
    """The sentences of a reply without markers, bullets, emphasis and thinking, repeated ones included."""
    text = THINK_LEFT_OPEN.sub("", THINK.sub("", text))
    sentences = []
    for line in text.splitlines():
        line = _plain(line)
        if line.startswith(("```", "{", "}")) or re.match(r'^"[\w ]+":', line) or not re.search(r"\w", line):
            continue  # a fence, a table's rule, JSON: no prose
        if line.endswith((":", "：")) and len(line.split()) <= LEAD_IN:
            continue
        sentences += [line[start:end] for start, end in sentence_spans(line)]
    return [s for s in map(_without_source_phrase, sentences) if re.search(r"\w", s) and SEVERAL not in s]


def split_reply(text: str) -> list[str]:
    """The distinct sentences of a reply, in order."""
    return list({re.sub(r"\W+", " ", s).casefold(): s for s in reversed(raw_sentences(text))}.values())[::-1]


def _plain(line: str) -> str:
    """One line without what models put around prose; maths stays as it is."""
    line = BULLET.sub("", line)
    pieces, end = [], 0
    for maths in MATH.finditer(line):
        pieces += [_plain_piece(line[end : maths.start()]), maths.group()]
        end = maths.end()
    line = "".join([*pieces, _plain_piece(line[end:])])
    return LABEL.sub("", BULLET.sub("", DANGLING.sub("", line)).strip()).strip()


def _plain_piece(text: str) -> str:
    text = AS_SUBJECT.sub(lambda m: SEVERAL if m.group(1) else "The paper" if m.start() == 0 else "the paper", text)
    # A marker leaves a space where two words would grow together, and none before a full stop.
    text = MARKER.sub(lambda m: " " if re.match(r"[^\W_]", text[m.end() : m.end() + 1]) else "", text)
    return EMPHASIS.sub(lambda m: m.group(2) or m.group(4) or m.group(5), text)


def _without_source_phrase(sentence: str) -> str:
    rest = SOURCE_PHRASE.sub("", sentence)
    return rest if rest == sentence else rest[:1].upper() + rest[1:]


@dataclass
class Reply:
    """What the model has said so far, without its thinking; `truncated` when its token limit cut it."""

    text: str = ""
    truncated: bool = False
    finished: bool = False
    usage: Usage = field(default_factory=Usage)
    _held: str = ""
    _thinking: bool = False
    _looked: int = 0

    @property
    def refuses(self) -> bool:
        """Whether the reply opens by saying that the papers do not say."""
        return refuses(self.text)

    @property
    def sentences(self) -> list[str]:
        """The distinct sentences; the last one is left out where the token limit cut it off."""
        found = split_reply(self.text)
        unfinished = self.truncated and len(found) > 1 and not COMPLETE.search(found[-1])
        return found[:-1] if unfinished else found

    def add(self, delta: str) -> str:
        """Take a piece of the reply and return what of it may be shown."""
        self._held += repaired(delta)
        shown = ""
        while tag := TAG.search(self._held):
            if not self._thinking:
                shown += self._held[: tag.start()]
            if tag.group(1) and not self._thinking:  # some servers swallow the opening tag: all so far was thinking
                shown = self.text = ""
            self._thinking = not tag.group(1)
            self._held = self._held[tag.end() :]
        begun = self._held.rfind("<")
        maybe = begun >= 0 and any(t.startswith(self._held[begun:].lower()) for t in TAGS)
        keep = begun if maybe else len(self._held)
        if not self._thinking:
            shown += self._held[:keep]
        self._held = self._held[keep:]
        self.text += shown
        return shown

    def loops(self) -> bool:
        """Whether the reply says the same again and again; if so, it is cut back to what it said once."""
        if len(self.text) - self._looked < 40:
            return False
        self._looked = len(self.text)
        sentences = raw_sentences(self.text)[:-1]
        if len(sentences) - len(set(sentences)) >= 2:
            self.text = " ".join(split_reply(" ".join(sentences)))
            return True
        period = _period(self.text[-LOOK_BACK:])
        if len(self.text) < LOOK_BACK or period > LOOK_BACK // 3:
            return False
        start = len(self.text) - LOOK_BACK
        while start > 0 and self.text[start - 1] == self.text[start - 1 + period]:
            start -= 1
        ends = [m.end() for m in SENTENCE_END.finditer(self.text[: start + period])]
        self.text = self.text[: ends[-1]] if ends else ""
        return True


def _period(text: str) -> int:
    """Length of the shortest piece that, written over and over, gives `text` (after Knuth, Morris and Pratt)."""
    borders = [0] * len(text)
    for i in range(1, len(text)):
        k = borders[i - 1]
        while k and text[i] != text[k]:
            k = borders[k - 1]
        borders[i] = k + 1 if text[i] == text[k] else 0
    return len(text) - borders[-1] if text else 0
