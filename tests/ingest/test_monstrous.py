"""Records that are too deep or too long, and archives that never end: the others load, and memory stays bounded."""

from __future__ import annotations

import re

import pytest
from broken_kit import PLAIN_ABSTRACTS, TEXTS, Outcome, outcome_of

OTHERS = [PLAIN_ABSTRACTS[number] for number in (0, 1, 3, 4)]


def deep(name: str) -> list[str]:
    """The third record of a file, nested ten thousand deep: closed, never closed, and what else makes a parser dig."""
    third, abstract, many = TEXTS[name].records()[2], PLAIN_ABSTRACTS[2], 10_000
    if "json" in name:
        values = [
            '{"a": ' * many + "1" + "}" * many,
            "[" * many + "]" * many,
            "[" * many,
            '{"a": ' * many,
            '[{"a": ' * many + "1" + "}]" * many,
        ]
        return [re.sub(r'"abstract": .*\}', lambda _, v=value: f'"abstract": {v}}}', third) for value in values]
    if name.endswith(".xml"):
        odd = ["<i>" * many + "x" + "</i>" * many, "<i>" * many, "<mrow>" * many + "</mrow>" * many, "</i>" * many]
        return [third.replace(abstract, abstract + value) for value in odd]
    odd = ["{" * many + "}" * many, "{" * many, "}" * many, "\\emph{" * many + "}" * many, "$" * many, "(" * many]
    return [third.replace(abstract, abstract + value) for value in [*odd, "<i>" * many, '"' * many, "[" * many]]


@pytest.mark.parametrize("name", TEXTS)
def test_records_that_are_nested_ten_thousand_deep(name: str) -> None:
    for record in deep(name):
        records = TEXTS[name].records()
        records[2] = record
        found: Outcome = outcome_of(TEXTS[name].text(*records), name)
        assert [abstract for abstract in found.abstracts if abstract in OTHERS] == OTHERS, record[:400]
        if "json" in name:
            assert "nested too deep" in found.report
