"""Superscripts and subscripts as the characters that Unicode has for them (`10⁻³`, `H₂O`), else as maths."""

from __future__ import annotations

import re

from rag.sentences import MATH

SUPER = str.maketrans("0123456789+-−–=()abcdefghijklmnoprstuvwxyz", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ")
SUB = str.maketrans("0123456789+-−–=()aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉₊₋₋₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ")
BESIDE = frozenset(",/ ")  # these stand between small characters as they are: `¹,²`, `⁻/⁻`
FORMULA = re.compile(r"(?=.*[\d+−*/=α-ωΑ-Ω-])(?!.*[A-Za-z]{4})[\w+−–*/.,()=<>≤≥·×∞ -]{1,30}")
WORD = re.compile(r"^[^\W\d_]{2,}$|[^\W\d_]{3}")  # `1st`, `Vmax`: letters by themselves are read as a word
BASE = re.compile(r"(?<![\w$\\])(?:[A-Za-zΑ-Ωα-ω]|\d{1,6})$")


def script(content: str, base: str, *, above: bool) -> tuple[int, str]:
    """How many characters of the text before a script it takes along, and what stands for both."""
    inside = " ".join(content.split())
    table = SUPER if above else SUB
    small = inside.translate(table)
    mapped = all(ord(char) in table or char in BESIDE for char in inside)
    if mapped and not WORD.search(inside) and ("/" not in inside or not any(char.isalnum() for char in inside)):
        return 0, small
    before = BASE.search(base[-8:])
    if before and FORMULA.fullmatch(inside):
        formula = f"${before.group()}{'^' if above else '_'}{{{inside}}}$"
        if MATH.fullmatch(formula):
            return len(before.group()), formula
    glued = above and base[-1:].isdecimal() and inside[:1].isdecimal()
    return 0, f"^{inside}" if glued else content
