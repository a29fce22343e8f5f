"""LaTeX text mode to plain text. Braces are matched, not guessed, so that nesting has no limit."""

from __future__ import annotations

import functools
import re
import unicodedata
from dataclasses import dataclass

from rag.sentences import MATH, PARENTHESISED_MATH

FONTS = (
    "emph|textbf|textit|texttt|textsc|textsf|textsl|textrm|textup|textmd|textnormal|textsuperscript|textsubscript"
    "|underline|text|mbox|hbox|uline|enquote|textcolor\\s*\\{[^{}]*\\}"
)
OLD_FONTS = "it|bf|em|sc|tt|sl|rm|itshape|scshape|slshape|bfseries|ttfamily|sffamily"
TOKEN = re.compile(
    f"(?P<skip>{MATH.pattern}|{PARENTHESISED_MATH.pattern})"
    rf"|(?P<font>\\(?:{FONTS})\s*\{{|\{{\s*\\(?:{OLD_FONTS})(?![A-Za-z])\s*)"
    r"|\\href\s*\{(?P<href>[^{}]*)\}\s*\{|\\url\s*\{(?P<url>[^{}]*)\}|(?P<note>\s?\\footnote\s*\{)"
    r"|(?P<escape>\\.)|(?P<open>\{)|(?P<close>\})",
    re.DOTALL,
)
COMMAND = r"\\(?:(?:[Cc]ite|auto)[a-z]*|footnotemark|ref|eqref|[cC]ref|label)\*?(?:\[[^\[\]]{0,200}\])*\{[^{}]*\}"
CITATION = re.compile(rf"(?:(?<![~\s])[~\s]++)?(?:\(\s*{COMMAND}\s*\)|{COMMAND})")
LIST = r"(?:itemize|enumerate|description|abstract|center|quote)"
LAYOUT = re.compile(
    rf"\\(?:begin|end)\{{{LIST}\}}(?:\[[^\[\]]{{0,80}}\])?|\\item(?![A-Za-z])(?:\[[^\[\]]{{0,80}}\])?"
    r"|\\(?:par|noindent|newline|linebreak|smallskip|medskip|bigskip|centering)(?![A-Za-z])|\\\\(?![A-Za-z])"
)
NAMED = {
    "ldots": "...", "dots": "...", "textellipsis": "...", "textendash": "–", "textemdash": "—", "textquoteleft": "‘",
    "textquoteright": "’", "textquotedblleft": "“", "textquotedblright": "”", "textasciitilde": "~", "textless": "<",
    "textgreater": ">", "textbar": "|", "textunderscore": "_", "textregistered": "®", "texttrademark": "™",
    "textdegree": "°", "textmu": "µ", "LaTeX": "LaTeX", "TeX": "TeX", "eg": "e.g.", "ie": "i.e.", "etal": "et al.",
    "xspace": "",
}  # fmt: skip
NAMES = "|".join(NAMED)
NAME = re.compile(rf"\{{\\({NAMES})\}}|\\({NAMES})(?![A-Za-z])(?:\{{\}})?(\.?)")
ESCAPED = re.compile(r"\\([%&#_{}])|(?<=\d)\{,\}(?=\d)")
THIN_SPACE = re.compile(r"(?<=\d)\\,(?=\d)|\\/")
SPACE = re.compile(r"\\[,;: ]")

ACCENT = (
    r"(?:\\[\"'`^~=.](?:\{\\?[A-Za-z]\}|\\[ij](?![A-Za-z])|[A-Za-z])"
    r"|\\[uvHcdbkr](?:\{\\?[A-Za-z]\}|\s+[A-Za-z]\b)"
    r"|\\(?:ss|ae|AE|oe|OE|aa|AA|o|O|l|L|i|j)(?![A-Za-z(])(?:\{\}|\s)?)"
)
ACCENTED = re.compile(rf"\{{{ACCENT}\}}|{ACCENT}")
ESCAPED_QUOTES = re.compile(
    r"(?<![A-Za-z{\\])\\\"(?=\w)([^\"\\]{1,200})\\\"(?!\w)|(?<=[A-Za-z])\\('(?:s|t|re|ve|ll|d|m)\b)"
)

ENVIRONMENTS = r"(?:equation|displaymath|math|align|gather|eqnarray)"
ENVIRONMENT = re.compile(
    rf"\\begin\{{({ENVIRONMENTS})(\*?)\}}((?:[^\\$]|\\(?!(?:begin|end)\{{{ENVIRONMENTS}\*?\}}))++)\\end\{{\1\2\}}"
)
SET_IN_MATHS = r"\\(?:mathbf|mathrm|mathsf|boldsymbol|text[a-z]{0,2})"
NAME_IN_MATHS = re.compile(
    rf"(?<![\\$])\${SET_IN_MATHS}\{{([A-Za-z][A-Za-z0-9@+.-]+(?: [A-Za-z0-9@+.-]+)*)\}}\$(?!\d)"
    rf"|(?<=[A-Za-z])\${SET_IN_MATHS}\{{([A-Za-z])\}}\$(?!\d)|(?<![\\$])\${SET_IN_MATHS}\{{([A-Za-z])\}}\$(?=[a-z]{{2}})"
)
LOOSE_MATHS = re.compile(r"(?<!\\)\$([^$]{1,300}?)(?<!\\)\$(?!\d)")
MARK = "\ufdd0"  # begins what stands for other maths while a rule works
LATEX = re.compile(r"\\[A-Za-z]|[\^_]")
PROSE = re.compile(r"(?<![\\A-Za-z{])[A-Za-z]{3,}\s+[A-Za-z]{3,}")


@dataclass
class _Open:
    """A brace that waits for its partner: where it stands in the output, its source, and what its partner becomes."""

    at: int
    source: str
    closing: str
    url: str | None = None


def unwrap(text: str) -> str:
    r"""Drop font commands around their text; `\href{URL}{text}` becomes `text (URL)`, a footnote stands in parentheses.

    What has no matching brace stays as it is; maths is passed over.
    """
    out: list[str] = []
    waiting: list[_Open] = []
    end = 0
    for token in TOKEN.finditer(text):
        out.append(text[end : token.start()])
        end = token.end()
        kind, source = token.lastgroup, token.group()
        if kind == "close" and waiting:
            out.append(_close(out, waiting.pop()))
        elif kind == "url":
            out.append(address(token["url"]))
        elif kind in {"font", "note", "open", "href"}:
            url = address(token["href"]) if kind == "href" else None
            waiting.append(_Open(len(out), source, "}" if kind == "open" else ")" if kind == "note" else "", url))
            out.append({"note": " (", "open": "{"}.get(kind, ""))
        else:
            out.append(source)
    for brace in waiting:
        out[brace.at] = brace.source
    return "".join(out) + text[end:]


def _close(out: list[str], brace: _Open) -> str:
    if brace.url is None:
        return brace.closing
    inside = out[brace.at + 1 :] if len(out) - brace.at < 8 else []
    return "" if not brace.url or "".join(inside).strip() == brace.url else f" ({brace.url})"


def address(source: str) -> str:
    r"""The address inside `\url{…}`: without the backslashes that LaTeX wants."""
    return re.sub(r"\\([%&#_~{}$])", r"\1", source).strip()


def maths_delimiters(text: str) -> str:
    r"""Turn `\(x\)` into `$x$`, `\[x\]` and equation environments into `$$x$$`, where that reads as the same maths."""
    text = ENVIRONMENT.sub(_environment, text)

    def dollars(match: re.Match[str]) -> str:
        source = match.group()
        mark = "$" if source[1] == "(" else "$$"
        maths = f"{mark}{source[2:-2].strip()}{mark}"
        before, after = text[max(0, match.start() - 2) : match.start()], text[match.end() : match.end() + 1]
        joined = before.endswith(("$", "\\")) or before in {"\\)", "\\]"} or after == "$" or after.isdecimal()
        return source if joined or "$" in source or not MATH.fullmatch(maths) else maths

    return PARENTHESISED_MATH.sub(dollars, text)


def _environment(match: re.Match[str]) -> str:
    body = match[3].strip()
    aligned = match[1] in {"align", "eqnarray", "gather"}
    return f"$$\\begin{{aligned}}{body}\\end{{aligned}}$$" if aligned else f"$${body}$$"


def names_in_maths(text: str) -> str:
    r"""A name set as maths (`$\textbf{SAGE}$`, `$\mathbf{J}$udge`) is a name; a letter by itself is a variable."""
    return NAME_IN_MATHS.sub(lambda m: m[1] or m[2] or m[3], text)


def loose_maths(text: str) -> str:
    r"""Turn `$ \alpha $` into `$\alpha$`: spaces beside the dollars, but commands, powers or indices between them."""

    def tight(match: re.Match[str]) -> str:
        body = match[1]
        loose = body != body.strip() and LATEX.search(body) and not PROSE.search(body) and MARK not in body
        return f"${body.strip()}$" if loose else match.group()

    return LOOSE_MATHS.sub(tight, text)


def commands(text: str) -> str:
    """Drop citations, labels and layout; put characters for the commands that name them; unescape specials."""
    text = LAYOUT.sub(" ", CITATION.sub("", text))
    text = NAME.sub(_named, text)
    text = SPACE.sub(" ", THIN_SPACE.sub("", text))
    return ESCAPED.sub(lambda m: m[1] or ",", text)


def _named(match: re.Match[str]) -> str:
    named = NAMED[match[1] or match[2]]
    return named if named.endswith(".") else named + (match[3] or "")


def money(text: str) -> str:
    r"""Turn `\$` into `$`, unless that would make maths of what stands between two prices."""
    candidate = re.sub(f"({MATH.pattern})|\\\\\\$", lambda m: m[1] or "$", text, flags=re.DOTALL)
    return candidate if MATH.findall(candidate) == MATH.findall(text) else text


def accents(text: str) -> str:
    r"""Turn accent macros (`H{\"o}lder`) into letters, and quotes that an export escaped (`it\'s`) into quotes."""
    text = ESCAPED_QUOTES.sub(lambda m: f'"{m[1]}"' if m[1] else m[2], text)
    return ACCENTED.sub(lambda match: _letter(match.group()), text)


@functools.lru_cache(maxsize=4096)
def _letter(macro: str) -> str:
    from pylatexenc.latex2text import LatexNodes2Text

    letter = unicodedata.normalize("NFC", str(LatexNodes2Text().latex_to_text(macro)).strip())
    return letter if len(letter) == 1 else macro
