"""Filters over a paper's fields: `year>=2025 and venue in ("ICML", "ICLR") and not topic~"bandit"`.

`=` compares whole values, `~` asks whether a value contains a text; both ignore case, accents and surrounding spaces. A
field with several values (authors, keywords, files) meets a comparison when one of them does. `!=` and `not in` are the
negations, so a paper without the field meets them. `topic` is title, abstract and keywords together.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from rag.errors import UsageError
from rag.schema import Model
from rag.text import fold

FIELDS = (
    "title", "abstract", "topic", "author", "venue", "year", "keyword", "language", "file", "id", "doi", "arxiv_id",
    "label",
)  # fmt: skip
_SYNONYMS = {"authors": "author", "keywords": "keyword", "arxiv": "arxiv_id"}


class Op(StrEnum):
    """How a field is compared with a value."""

    EQUAL = "="
    UNEQUAL = "!="
    LESS = "<"
    AT_MOST = "<="
    MORE = ">"
    AT_LEAST = ">="
    IN = "in"
    NOT_IN = "not in"
    CONTAINS = "~"


ORDERED = frozenset({Op.LESS, Op.AT_MOST, Op.MORE, Op.AT_LEAST})
LISTS = frozenset({Op.IN, Op.NOT_IN})
Value = int | str


class Comparison(Model):
    """One field against a value, or against several for `in` and `not in`."""

    kind: Literal["comparison"] = "comparison"
    field: str
    op: Op
    value: Value | list[Value]

    @field_validator("field")
    @classmethod
    def _known(cls, name: str) -> str:
        return field_named(name)

    @model_validator(mode="after")
    def _fits(self) -> Comparison:
        check_op(self.field, self.op)
        if isinstance(self.value, list) is not (self.op in LISTS):
            raise UsageError(f"`{self.op}` takes {'a list of values' if self.op in LISTS else 'one value'}")
        checked = [check_value(self.field, self.op, v) for v in self.values()]
        self.value = checked if self.op in LISTS else checked[0]
        return self

    def values(self) -> list[Value]:
        """The values as a list, whatever the operator."""
        return self.value if isinstance(self.value, list) else [self.value]

    def __str__(self) -> str:
        shown = ", ".join(_shown(v) for v in self.values())
        return f"{self.field} {self.op} {f'({shown})' if self.op in LISTS else shown}"


class Every(Model):
    """All parts hold."""

    kind: Literal["every"] = "every"
    parts: list[Filter] = Field(min_length=1)

    def __str__(self) -> str:
        return " and ".join(f"({p})" if isinstance(p, Every | Either) else str(p) for p in self.parts)


class Either(Model):
    """At least one part holds."""

    kind: Literal["either"] = "either"
    parts: list[Filter] = Field(min_length=1)

    def __str__(self) -> str:
        return " or ".join(f"({p})" if isinstance(p, Either) else str(p) for p in self.parts)


class Negation(Model):
    """The part does not hold."""

    kind: Literal["negation"] = "negation"
    part: Filter

    def __str__(self) -> str:
        return f"not {f'({self.part})' if isinstance(self.part, Every | Either) else self.part}"


Filter = Annotated[Comparison | Every | Either | Negation, Field(discriminator="kind")]
Where = str | Comparison | Every | Either | Negation | Mapping[str, Any] | None


def as_filter(where: Where) -> Filter | None:
    """Return a filter given in any form; None where there is none (None, blank text, an empty mapping).

    A mapping holds a value, or a list of values of which one must be met, for each field; all fields must be met.
    Raises UsageError for what is no filter.
    """
    if isinstance(where, Comparison | Every | Either | Negation):
        return where
    if isinstance(where, str):
        from rag.filter_text import parse

        return parse(where) if where.strip() else None
    if where is not None and not isinstance(where, Mapping):
        raise UsageError(f"a filter is text or a mapping of fields to values, not {type(where).__name__}")
    parts = [_from_item(name, value) for name, value in (where or {}).items()]
    if len(parts) < 2:
        return parts[0] if parts else None
    return Every(parts=list(parts))


def _from_item(name: object, value: object) -> Comparison:
    field = field_named(str(name))
    several = isinstance(value, Sequence | set | frozenset) and not isinstance(value, str | bytes)
    values: list[Any] = list(value) if several else [value]  # type: ignore[call-overload]
    for one in values:
        if isinstance(one, bool) or not isinstance(one, int | str):
            raise UsageError(f"the filter on {field} is {one!r}; a value is text or a whole number")
    if several and not values:
        raise UsageError(f"the filter on {field} is an empty list; it takes at least one value")
    return Comparison(field=field, op=Op.IN if several else Op.EQUAL, value=values if several else values[0])


def field_named(name: str) -> str:
    """The field that a name stands for. Raises UsageError for an unknown one, with the nearest."""
    known = name.strip().casefold()
    known = _SYNONYMS.get(known, known)
    if known in FIELDS:
        return known
    near = difflib.get_close_matches(known, [*FIELDS, *_SYNONYMS], n=1, cutoff=0.5)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(FIELDS)}"
    raise UsageError(f"unknown field {name!r}; {hint}")


def check_op(field: str, op: Op) -> None:
    """Raise UsageError for an operator that a field does not have."""
    if op in ORDERED and field != "year":
        raise UsageError(f"`{op}` compares numbers, and {field} is text; of all fields only year is a number")


def check_value(field: str, op: Op, value: Value) -> Value:
    """Return a value as its field holds it. Raises UsageError for a year that is no number."""
    if field != "year" or op is Op.CONTAINS:
        return str(value)
    try:
        return int(value)
    except ValueError:
        raise UsageError(f"year is compared with a whole number, not with {value!r}") from None


def comparable(text: str) -> str:
    """The form in which texts are compared: folded, without case, with single spaces."""
    return " ".join(fold(fold(text.replace("\0", " ")).casefold()).split())


def _shown(value: Value) -> str:
    if isinstance(value, int):
        return str(value)
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


for _model in (Every, Either, Negation):
    _model.model_rebuild()
