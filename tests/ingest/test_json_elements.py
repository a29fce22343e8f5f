"""Splitting JSON into records: every arrangement, broken records, memory."""

from __future__ import annotations

import contextlib
import io
import json
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.readers.json_elements import LONGEST, Element, elements
from ingest.readers.records import ReadError

Rows = list[dict[str, Any]]

ROWS: Rows = [
    {
        "id": f"p{i}",
        "title": f"Paper {i}",
        "abstract": f'Text {i} with "quotes", {{braces}}, a \\ and [brackets].',
        "authors": [{"name": "A"}, {"name": "B"}],
    }
    for i in range(6)
]


def lines(rows: Rows) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


ARRANGEMENTS: dict[str, Callable[[Rows], str]] = {
    "JSON Lines": lines,
    "JSON Lines without a last line end": lambda rows: lines(rows).rstrip("\n"),
    "objects one after the other": lambda rows: " ".join(map(json.dumps, rows)),
    "objects over many lines": lambda rows: "\n".join(json.dumps(row, indent=2) for row in rows),
    "text sequence": lambda rows: "".join(f"\x1e{json.dumps(row)}\n" for row in rows),
    "list": json.dumps,
    "list over many lines": lambda rows: json.dumps(rows, indent=4),
    "list, a record a line": lambda rows: "[" + ",\n".join(map(json.dumps, rows)) + "]",
    "in an object": lambda rows: json.dumps({"count": 6, "meta": {"pages": [1, 2]}, "results": rows}),
    "in an object over many lines": lambda rows: json.dumps({"results": rows, "next": None}, indent=1),
    "two deep": lambda rows: json.dumps({"status": "ok", "message": {"facets": {}, "items": rows}}),
    "four deep": lambda rows: json.dumps({"a": {"b": {"c": {"d": rows}}}}),
    "beside a list of other things": lambda rows: json.dumps({"venues": [{"name": "V"}], "papers": rows}),
    "with a title of its own": lambda rows: json.dumps({"title": "My list", "year": 2026, "papers": rows}),
    "members": lambda rows: json.dumps({row["id"]: row for row in rows}),
    "members over many lines": lambda rows: json.dumps({row["id"]: row for row in rows}, indent=2),
    "members in an object": lambda rows: json.dumps({"data": {row["id"]: row for row in rows}}),
    "two lists": lambda rows: json.dumps({"oral": rows[:2], "poster": rows[2:], "chairs": [{"name": "C"}]}),
    "pages": lambda rows: "\n".join(json.dumps({"page": i, "results": rows[i : i + 2]}) for i in (0, 2, 4)),
}  # fmt: skip


def split(text: str) -> list[Element]:
    return list(elements(io.StringIO(text)))


def sound(found: list[Element]) -> Rows:
    return [row for element in found if not element.reject and isinstance(row := _loads(element.text), dict)]


def _loads(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return None


@pytest.mark.parametrize("arrangement", ARRANGEMENTS)
def test_arrangements(arrangement: str) -> None:
    found = [element for element in split(ARRANGEMENTS[arrangement](ROWS)) if "abstract" in element.text]
    assert [json.loads(element.text) for element in found] == ROWS


@pytest.mark.parametrize("arrangement", ARRANGEMENTS)
def test_lines_are_those_where_the_records_begin(arrangement: str) -> None:
    text = ARRANGEMENTS[arrangement](ROWS)
    for element in split(text):
        if not element.aside:
            assert text.split("\n")[element.line - 1].lstrip(" \x1e[").find(element.text.split("\n")[0]) >= 0


@pytest.mark.parametrize(
    "row",
    [
        {"title": "One", "abstract": "Text.", "references": [{"title": "Two", "abstract": "Other text."}]},
        {"references": [{"title": "Two", "abstract": "Other text."}], "title": "One", "abstract": "Text."},
        {"DOI": "10.1/x", "title": ["One"], "author": [{"given": "A", "family": "B"}], "issued": {"date-parts": [[2020]]}},
        {"id": "x", "content": {"title": {"value": "One"}, "abstract": {"value": "Text."}}},
        {"status": "ok", "message": {"title": ["One"], "abstract": "Text.", "author": [{"family": "B"}]}},
        {},
        {"a": 1},
    ],
)  # fmt: skip
def test_a_single_record_is_not_a_list(row: dict[str, Any]) -> None:
    assert [json.loads(element.text) for element in split(json.dumps(row, indent=1))] == [row]


@pytest.mark.parametrize("text", ["", " \n", "[]", "[ ]\n", '{"results": []}'])
def test_nothing(text: str) -> None:
    assert sound(split(text)) in ([], [{"results": []}])


BREAKS: dict[str, tuple[str, str]] = {
    "no comma": ('"title": ', '"year": 1 "title": '),
    "bad escape": ('"title": "Paper', '"title": "\\alpha Paper'),
    "a quote that is not escaped": ('"title": "Paper', '"title": "Pap"er'),
    "no closing quote": ('Paper 2"', "Paper 2"),
    "no opening quote": ('"Paper 2', "Paper 2"),
    "no closing quote of a name": ('"title": ', '"title: '),
    "no closing bracket of a list": ('"}]', '"}'),
    "no opening bracket of a list": ('"authors": [', '"authors": '),
    "no closing brace": ('"B"}]}', '"B"}]'),
    "a brace too many": ('"B"}]}', '"B"}]}}'),
    "no value": ('"Paper 2"', ""),
}


@pytest.mark.parametrize("break_", BREAKS)
@pytest.mark.parametrize(
    "arrangement", ["JSON Lines", "list", "list, a record a line", "in an object", "members", "two deep"]
)
def test_a_broken_record_costs_no_other(break_: str, arrangement: str) -> None:
    if (arrangement, break_) == ("members", "no closing brace"):
        pytest.skip("what follows is sound JSON inside the record; the file then ends inside its list")
    whole = ARRANGEMENTS[arrangement](ROWS)
    third = json.dumps(ROWS[2])
    broken = third.replace(*BREAKS[break_], 1)
    assert broken != third
    found = split(whole.replace(third, broken))
    assert [row["id"] for row in sound(found) if "id" in row and row["id"] != "p2"] == ["p0", "p1", "p3", "p4", "p5"]
    assert len(found) == 6


@pytest.mark.parametrize("break_", [b for b in BREAKS if "closing bra" not in b and "brace" not in b])
@pytest.mark.parametrize(
    "arrangement", ["list over many lines", "in an object over many lines", "members over many lines"]
)
def test_a_broken_record_over_many_lines_costs_no_other(break_: str, arrangement: str) -> None:
    before, third, after = ARRANGEMENTS[arrangement](ROWS).partition('"title": "Paper 2"')
    old, new = BREAKS[break_]
    if old not in third:
        pytest.skip("breaks what comes later")
    found = split(before + third.replace(old, new, 1) + after)
    assert [row["id"] for row in sound(found) if row.get("id") not in ("p2", None)] == ["p0", "p1", "p3", "p4", "p5"]
    assert len(found) == 6


@pytest.mark.parametrize("arrangement", ["JSON Lines", "list", "list over many lines", "in an object", "members"])
def test_a_file_that_is_cut_off(arrangement: str) -> None:
    whole = ARRANGEMENTS[arrangement](ROWS)
    found = split(whole[: whole.index("Text 4")])
    assert [row["id"] for row in sound(found)] == ["p0", "p1", "p2", "p3"]
    assert found[-1].reject is not None or sound(found[-1:]) == []
    assert len(found) == 5


def test_a_list_that_is_cut_off_between_records() -> None:
    stream = elements(io.StringIO("[" + json.dumps(ROWS[0]) + ",\n"))
    assert json.loads(next(stream).text) == ROWS[0]
    with pytest.raises(ReadError, match="ends inside its list"):
        next(stream)


def test_other_things_in_a_list_are_told_apart() -> None:
    found = split('[1, null, "two, three", {"abstract": "x"}, [4, 5], true]')
    assert [element.text for element in found] == ["1", "null", '"two, three"', '{"abstract": "x"}', "[4, 5]", "true"]


def test_other_lines_between_json_lines_are_told_apart() -> None:
    found = split('{"a": 1}\nnot JSON\n12\n\n{"a": 2}\n')
    assert [(element.line, element.text) for element in found] == [
        (1, '{"a": 1}'),
        (2, "not JSON"),
        (3, "12"),
        (5, '{"a": 2}'),
    ]


@pytest.mark.parametrize("character", ["\u2028", "\u2029", "\u0085", "\x0b", "\x0c", "\n"])
def test_line_ends_in_strings_do_not_split(character: str) -> None:
    rows: list[dict[str, Any]] = [{"abstract": f"one{character}two"}, {"abstract": "three"}]
    text = "\n".join(
        json.dumps(row, ensure_ascii=False).replace("\\u000b", "\x0b").replace("\\f", "\x0c").replace("\\n", "\n")
        for row in rows
    )
    assert [json.loads(element.text, strict=False) for element in split(text)] == rows


class Endless(io.TextIOBase):
    """A text from pieces, never whole in memory."""

    def __init__(self, pieces: Iterator[str]) -> None:
        self.pieces = filter(None, pieces)

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]
        return next(self.pieces, "")


@pytest.mark.parametrize(
    "inside",
    [('"abstract": "', "x" * 50_000, '"'), ('"a": ', "[" * 50_000, "1"), ('"a": [', "1, " * 20_000, "1]"), ('"a": "', '\\"' * 30_000, '"')],
)  # fmt: skip
@pytest.mark.parametrize("wrap", [("", "\n", ""), ("[", ",\n", "]"), ("[", ", ", "]"), ('{"results": [', ",", "]}")])
def test_an_endless_record_is_cut_off_and_not_held(inside: tuple[str, str, str], wrap: tuple[str, str, str]) -> None:
    def pieces() -> Iterator[str]:
        begin, between, end = wrap
        good = json.dumps(ROWS[0])
        yield from (begin, good, between, '{"id": "big", ' + inside[0])
        yield from (inside[1] for _ in range(600))
        yield from (inside[2] + "}", between, good, end)

    tracemalloc.start()
    found = list(elements(Endless(pieces())))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [row["id"] for row in sound(found)] == ["p0", "p0"]
    assert f"{LONGEST:,}" in (found[1].reject or "")
    assert peak < 25_000_000


def test_one_endless_record_alone() -> None:
    pieces = iter(['{"abstract": "', *("x" * 60_000 for _ in range(100)), '"}'])
    assert [(e.line, e.text, bool(e.reject)) for e in elements(Endless(pieces))] == [(1, "", True)]


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=8)
    | st.sampled_from(['"', "\\", "},{", "]}", "//", '{"id":']),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
records = st.lists(
    st.fixed_dictionaries({"id": st.text(max_size=3), "abstract": values}, optional={"extra": values}),
    min_size=1,
    max_size=5,
)


@given(
    records,
    st.sampled_from(
        [
            "JSON Lines",
            "objects one after the other",
            "objects over many lines",
            "list",
            "list over many lines",
            "in an object",
        ]
    ),
    st.booleans(),
)
def test_every_record_comes_back(rows: Rows, arrangement: str, ascii_: bool) -> None:
    text = ARRANGEMENTS[arrangement](rows)
    text = text if ascii_ else "".join(text)
    assert [json.loads(element.text) for element in split(text)] == rows


@given(st.sampled_from(sorted(ARRANGEMENTS)), st.data())
def test_any_damage_is_survived(arrangement: str, data: st.DataObject) -> None:
    text = ARRANGEMENTS[arrangement](ROWS)
    at = data.draw(st.integers(0, len(text) - 1))
    to = min(len(text), at + data.draw(st.integers(0, 40)))
    damaged = (
        text[:at]
        + data.draw(st.sampled_from(["", text[at:to] * 2, '"', "{", "}", "[", "]", "\\", "\n", "x", ",", ":"]))
        + text[to:]
    )
    found: list[Element] = []
    try:
        for element in elements(io.StringIO(damaged)):
            found.append(element)  # noqa: PERF402
    except ReadError:
        pass
    assert [element.line for element in found] == sorted(element.line for element in found)
    assert len(found) <= 40


@given(st.text(alphabet='{}[]",:\\ \nab1/*', max_size=60))
def test_any_text_is_split(text: str) -> None:
    with contextlib.suppress(ReadError):
        split(text)
