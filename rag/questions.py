"""What a question asks for, read from its words: nothing here looks at the papers."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rag.errors import UsageError
from rag.glossary import english
from rag.text import CJK, fold, repaired, terms

NUMBER = re.compile(
    r"\b(?:how (?:many|much|large|big|long|often|far|fast|high|few|small|well)|"
    r"what (?:percentage|percent|share|fraction|number|score|accuracy|size|value|rate)|"
    r"number of|size of|percentage|count of|accuracy|score|parameter count|by how)\b|多少|几个|几种|比例",
    re.I,
)
# "What keeps the number of errors low?" speaks of a number and asks for what acts on it.
ACTING = re.compile(
    r"\bwhat (?:keeps|makes|lets|lowers|raises|causes|drives|limits|prevents|allows|enables|helps|reduces|increases)\b",
    re.I,
)
REASON = re.compile(
    r"\b(?:why|reason|cause[sd]?|because|motivat\w+|drawback|limitation|problem|wrong|fail\w*)\b|为什么|原因|问题", re.I
)
METHOD = re.compile(r"\bhow (?:do|does|did|is|are|was|were|can|could|to)\b|如何|怎么|怎样", re.I)
NAME = re.compile(
    r"\b(?:which|what|who|whose|name of|called|stand(?:s)? for)\b.{0,40}"
    r"\b(?:dataset|benchmark|model|method|algorithm|optimi[sz]er|framework|library|metric|measure|architecture|name|system|corpus|tool)s?\b|哪个|什么(?:数据集|方法|模型|基准)",
    re.I,
)
# "Is there a paper that …", "any work on …", "looking for …": one paper is wanted, and what it proposes says which.
SEEKS = re.compile(
    r"\b(?:is|are) there (?:an?|any)\b|\bany (?:paper|work|method|study|dataset|benchmark)\b|\blooking for\b|"
    r"\b(?:paper|work|study) (?:on|about|that|which|giving|where|using|showing|proposing)\b|有没有|哪篇",
    re.I,
)
# "Which papers …", "list all …", "papers on …", "any work about …" in the plural: several papers are wanted.
LIST = re.compile(
    r"\b(?:which|what|list|all|find|show|give me|any)\b[^.?]{0,30}"
    r"\b(?:papers|works|abstracts|articles|studies|submissions)\b|"
    r"^\W*(?:[^\s.?]+\s){0,8}?papers\b|\bhow many papers\b|\bpapers\?|"
    r"\b(?:everything|anything) (?:on|about|with|that|\w+ing)\b|"
    r"\b(?:what|all|list) (?:the )?(?:work|research|literature)\b|\bwhat (?:else )?is there (?:on|about|for)\b|"
    r"\bwork (?:on [^.?]{0,40} )?in (?:this|the) (?:list|collection|index)\b|"
    r"哪些(?:论文|文章|工作)|列出",
    re.I,
)
COMPARE = re.compile(
    r"\bcompar(?:e|ed|es|ing|ison)\b|\bdiffer(?:s|ence|ences|ent)?\b|\bversus\b|\bvs\b\.?|"
    r"\bboth\b.*\band\b|\bin common\b|\bcontrast\b|比较|区别|不同",
    re.I,
)
CODE = re.compile(r"\b(?:source code|code|github|repo(?:sitory)?|open[- ]?sourced?|download)\b|代码|开源", re.I)
AUTHORS = re.compile(
    r"\bwho (?:wrote|are the (?:authors?|people)|is the (?:first |lead )?author|published|did this)\b|\bauthors?\b|"
    r"\baffiliation\b|\bwhich (?:university|lab|institution|company)\b|作者|机构",
    re.I,
)
# "How many papers are there?": the store knows, and no abstract has to be read.
TOTAL = re.compile(
    r"^\W*how many (?:papers|abstracts|articles|records|documents) (?:are|do)\b"
    r"(?: there| you| we| i| this| the| in| have| know| index(?:ed)?| list| collection| corpus| all| altogether)*\W*$"
    r"|^\W*(?:一共|总共)?有?(?:多少|几)篇(?:论文|文章|摘要)\W*$",
    re.I,
)
# Words that ask for a list; they say nothing of what is to be on it.
LISTING = frozenset(
    terms(
        "everything anything collection corpus index topic involve mention concern deal discuss address report some "
        "way related relate present propose research literature article approach matter field whole available included"
    )
)
# Words that a question is made of but that an answer need not repeat.
NAMED = re.compile(r"\b(?:[A-Z][a-z]*[A-Z0-9]\w*|[A-Z]{2,}\w*|\w+-\d\w*)\b|(?<=[a-z,] )[A-Z][a-z]{2,}\b")
ASKING = frozenset(
    terms(
        "many much number value size kind type name called way exactly actually really get use using used happen "
        "happens need want look looking good better best main mean means help does reach goes go thing things anyway "
        "ever give percentage percent fraction share long large big say says said know known tell idea reason cause"
    )
)


@dataclass(frozen=True)
class Question:
    """A question and what it asks for. `terms` are its content words, stemmed, each once.

    `reading` is what an English reader understands of it: for a Chinese question, its words by the glossary.
    """

    text: str
    reading: str
    terms: tuple[str, ...]
    asks_number: bool
    asks_reason: bool
    asks_method: bool
    asks_name: bool
    asks_code: bool
    asks_authors: bool
    seeks_paper: bool
    names: tuple[str, ...]
    wants_list: bool
    wants_total: bool
    wants_comparison: bool
    chinese: bool


def check_question(text: str, longest: int) -> str:
    """Return the question without surrounding space. Raises UsageError for a blank or an over-long one."""
    stripped = repaired(text).strip().strip("\u200b\u2060\ufeff").strip()
    if not re.search(r"\w", stripped):
        raise UsageError("the question is blank; ask something in words")
    if len(stripped) > longest:
        raise UsageError(f"the question has {len(stripped):,} characters; at most {longest:,} are taken")
    return stripped


def analyse(text: str) -> Question:
    """Read a question."""
    folded = fold(text)
    reading = english(text) if CJK.search(text) else text
    words = list(dict.fromkeys([*terms(text), *(terms(reading) if reading != text else [])]))
    content = [t for t in words if t not in ASKING] or words
    wants_list = bool(LIST.search(folded))
    if wants_list:
        content = [t for t in content if t not in LISTING] or content
    return Question(
        text=text,
        reading=reading,
        terms=tuple(content),
        asks_number=bool(NUMBER.search(folded)) and not ACTING.search(folded),
        asks_reason=bool(REASON.search(folded)),
        asks_method=bool(METHOD.search(folded)),
        asks_name=bool(NAME.search(folded)),
        asks_code=bool(CODE.search(folded)),
        asks_authors=bool(AUTHORS.search(folded)),
        seeks_paper=bool(SEEKS.search(folded)),
        names=tuple(dict.fromkeys(NAMED.findall(folded))),
        wants_list=wants_list,
        wants_total=bool(TOTAL.search(folded)),
        wants_comparison=bool(COMPARE.search(folded)),
        chinese=len(CJK.findall(text)) >= 2,
    )
