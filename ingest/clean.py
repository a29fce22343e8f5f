"""From the markup of a list file to display text: small pure rules, applied until nothing changes.

Maths stays as `$…$`, the author's Unicode stays; text commands, emphasis, tags and entities go. Cleaning twice gives
what cleaning once gives.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable

from rag.sentences import MATH, PROTECTED

CLEANING_VERSION = 1

TAGS = "jats:[a-z-]+|/?p|br|i|b|em|strong|sub|sup|u|tt|span|div|title|sec|italic|bold|sc|scp|ul|ol|li|h[1-6]|a|font|inf"
TAG = re.compile(rf"</?(?:{TAGS})(?:\s+[a-z:-]+\s*=\s*(?:\"[^\"]*\"|'[^']*'))*\s*/?>", re.IGNORECASE)
FONT_COMMANDS = "emph|textbf|textit|texttt|textsc|textsf|textrm|textsl|textup|textnormal|underline|text|mbox|uline|enquote"
FONT = re.compile(rf"\\(?:{FONT_COMMANDS})\s*\{{((?:[^{{}}]|\{{[^{{}}]*\}})*)\}}")
OLD_FONT = re.compile(r"\{\\(?:it|bf|em|sc|tt|sl|rm)\s+((?:[^{}]|\{[^{}]*\})*)\}")
HREF = re.compile(r"\\href\s*\{([^{}]*)\}\s*\{((?:[^{}]|\{[^{}]*\})*)\}")
URL = re.compile(r"\\url\s*\{([^{}]*)\}")
CITE = re.compile(r"[~ ]?\\(?:cite[a-z]*|footnote(?:mark|text)?|ref|eqref|label)\*?(?:\[[^\]]*\])*\{[^{}]*\}")
ESCAPED = re.compile(r"\\([%&#_{}$])")
ACCENT = re.compile(
    r"\{?\\[\"'`^~=.](?:\{\\?[A-Za-z]\}|\\[ij](?![A-Za-z])|[A-Za-z])\}?"
    r"|\{?\\[uvHcdbkrt](?:\{\\?[A-Za-z]\}|\s+[A-Za-z]\b)\}?|\{?\\(?:ss|ae|AE|oe|OE|aa|AA|o|O|l|L|i|j)(?![A-Za-z])(?:\{\}|\s)?\}?"
)
BOLD_MATH = re.compile(r"\$\\(?:mathbf|textbf|boldsymbol|mathrm|textrm|textit|text|textsc|texttt|mathsf)\{([A-Za-z][\w -]*)\}\$")
STRONG = re.compile(r"\*\*(?=\S)((?:(?!\*\*).)+?)(?<=\S)\*\*|(?<!\w)__(?=\S)((?:(?!__).)+?)(?<=\S)__(?!\w)", re.DOTALL)
EMPHASIS = re.compile(r"(?<![\w*\\])\*(?=[^\s*])([^*\n]+?)(?<=[^\s*])\*(?![\w*])|(?<![\w_\\])_(?=[^\s_])([^_\n]+?)(?<=[^\s_])_(?![\w_])")
SPACE = re.compile(r"[\s\u00a0\u2028\u2029\u0085]+")
INVISIBLE = re.compile("[\u00ad\u200b\u200e\u200f\u2060\ufeff\x00-\x08\x0e-\x1f\x7f]")


def clean(text: str) -> str:
    """Return the display text of an abstract as it stands in a list file."""
    for _ in range(50):  # each round peels one layer; nobody escapes fifty times
        cleaned = _once(text)
        if cleaned == text:
            break
        text = cleaned
    return text


def _once(text: str) -> str:
    text = repair_surrogates(text)
    text = strip_tags(unescape(text))
    text = INVISIBLE.sub("", text)
    text = tex_math_delimiters(text)
    text = BOLD_MATH.sub(r"\1", text)
    text = links(text)
    for rule in (text_commands, accents, emphasis, typography):
        text = outside(text, rule)
    return SPACE.sub(" ", text).strip()


def outside(text: str, rule: Callable[[str], str]) -> str:
    """Apply a rule to everything but maths and URLs, which it cannot see: they travel through it as private marks."""
    kept: list[str] = []

    def hide(match: re.Match[str]) -> str:
        kept.append(match.group())
        return chr(0xE000 + len(kept) - 1)

    if len(PROTECTED.findall(text)) > 6000 or re.search("[\ue000-\uf8ff]", text):
        return text  # private-use characters of the author's own: leave everything as it is
    hidden = rule(PROTECTED.sub(hide, text))
    return re.sub("[\ue000-\uf8ff]", lambda mark: kept[ord(mark.group()) - 0xE000], hidden)


def repair_surrogates(text: str) -> str:
    """Replace lone surrogates, which no store can write."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def unescape(text: str) -> str:
    """Decode HTML entities; `a & b` and a bare `<` stay."""
    return html.unescape(text) if re.search(r"&(?:#\d+|#x[0-9a-fA-F]+|[A-Za-z]+\d*);", text) else text


def strip_tags(text: str) -> str:
    """Drop known tags only: `k<m` and `p < 0.05` are not tags."""
    return TAG.sub(lambda m: " " if re.match(r"</?(?:p|br|div|li|jats:(?:p|title|sec))\b", m.group(), re.I) else "", text)


def tex_math_delimiters(text: str) -> str:
    r"""Turn `\(x\)` into `$x$` and `\[x\]` into `$$x$$`."""
    text = re.sub(r"\\\(\s*(.+?)\s*\\\)", r"$\1$", text, flags=re.DOTALL)
    return re.sub(r"\\\[\s*(.+?)\s*\\\]", r"$$\1$$", text, flags=re.DOTALL)


def links(text: str) -> str:
    r"""Turn `\href{URL}{text}` into `text (URL)` and `\url{URL}` into the URL; no address is lost."""
    return URL.sub(r"\1", HREF.sub(lambda m: m[1] if m[2].strip() == m[1].strip() else f"{m[2]} ({m[1]})", text))


def text_commands(text: str) -> str:
    """Unwrap LaTeX font commands, drop citations and labels, unescape specials."""
    text = CITE.sub("", text)
    text = OLD_FONT.sub(r"\1", FONT.sub(r"\1", text))
    return ESCAPED.sub(r"\1", text)


def accents(text: str) -> str:
    r"""Turn accent macros (`H{\"o}lder`) into letters."""

    def letter(match: re.Match[str]) -> str:
        from pylatexenc.latex2text import LatexNodes2Text

        return str(LatexNodes2Text().latex_to_text(match.group())).strip()

    return ACCENT.sub(letter, text) if "\\" in text else text


def emphasis(text: str) -> str:
    """Drop Markdown emphasis marks; lone asterisks and underscores inside words stay."""
    text = STRONG.sub(lambda m: m[1] or m[2], text)
    return EMPHASIS.sub(lambda m: m[1] or m[2], text)


def typography(text: str) -> str:
    """TeX quotes and dashes as the characters they stand for; `~` between words as a space."""
    text = text.replace("``", "“").replace("''", "”").replace("---", "—")
    text = re.sub(r"(?<=[\w.])~(?=[\w(])", " ", text)
    return re.sub(r"(?<![-<!])--(?![->])", "–", text)
