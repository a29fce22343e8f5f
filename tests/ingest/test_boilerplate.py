"""What goes from around an abstract, and what only looks like it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.boilerplate import is_notice, strip_notices, strip_prefix

BODY = "Trees grow in the garden of the house."
PREFIXES = [
    "Abstract ", "ABSTRACT ", "Abstract: ", "ABSTRACT:", "Abstract. ", "Abstract.", "Abstract—", "Abstract - ", "Abstract-", "Abstract",
    "Summary: ", "SUMMARY. ", "[Abstract] ", "(Summary) ", "【摘要】", "摘要：", "摘 要: ", "摘要 ", "Résumé : ", "Zusammenfassung: ",
    "Abstract: Abstract ", "# Abstract: ",
]  # fmt: skip
HEADED = [
    "Abstract Background ",
    "AbstractBackground ",
    "ABSTRACT Objective: ",
    "Summary Background ",
    "Abstract Background and aims ",
]
BODIES_THAT_STAY = [
    "Abstract interpretation is a theory of programs.",
    "Abstract Interpretation is a theory of programs.",
    "Abstract reasoning is hard.",
    "Abstractive summaries are short.",
    "Abstraction helps.",
    "Abstract Meaning Representation (AMR) is a formalism.",
    "Abstract Visual Reasoning (AVR) is hard.",
    "Abstract Neural Trees (ANTs) are new.",
    "Abstract-level screening saves time.",
    "AbstractNet learns fast. We show that AbstractNet is small.",
    "ABSTRACT MEANING is loud.",
    "Summary statistics are useful.",
    "Summary form only given. Robots walk.",
    "A summary: trees grow.",
    "The abstract. Then the paper.",
]
NOTICES = [
    "© 2021 Elsevier B.V. All rights reserved.",
    "© 2021 Elsevier Ltd",
    "Copyright (c) 2020 The Author(s).",
    "Copyright © 2019 Institute of Trees. All rights reserved.",
    "Copyright 2024 Elsevier B.V., All rights reserved.",
    "Copyright is held by the author/owner(s).",
    "(C) 2003 Elsevier Science Ltd.",
    "(c) 2018 Elsevier B.V. All rights reserved.",
    "(PsycInfo Database Record (c) 2022 APA, all rights reserved)",
    "(PsycINFO Database Record (c) 2012 APA, all rights reserved). (journal abstract)",
    "This article is protected by copyright. All rights reserved.",
    "Published by Elsevier",
    "Published by Elsevier Inc. on behalf of The Society for Trees.",
    "(C) 2018 Faculty of Trees, House University. Production and hosting by Elsevier B.V.",
    "© 2018, © 2018 Informa UK Limited, trading as Taylor & Francis Group.",
    "© 2018 The Authors. Journal of Trees published by John Wiley & Sons Ltd on behalf of British Tree Society.",
    "© 2018 The Authors. Journal of Trees © 2018 British Tree Society",
    "© 2018 S. Karger AG, Basel.",
    "© 1992-2012 IEEE.",
    "©2019 Universidad de los Árboles",
    "© The Author(s), under exclusive licence to Springer Nature 2022.",
    "Licensee MDPI, Basel, Switzerland.",
    "This is an open access article under the CC BY license (http://creativecommons.org/licenses/by/4.0/).",
    "This article is a U.S. Government work and is in the public domain in the USA.",
    "All rights reserved.",
]  # fmt: skip
TEXTS_THAT_STAY = [
    "We study how models memorise. Copyright protection is a pressing issue.",
    "Copyright holders ask for pay. Copyright law protects songs.",
    "We find leaks of text that is protected by copyright.",
    "This paper presents a data set of songs licensed under CC BY.",
    "The guideline was first Published by the WHO, and recommends that all people wear masks.",
    "Published by the WHO in 2010, the guideline recommends that people wear masks.",
    "Our loss is (a) fast, (b) simple and (c) 2019 SOTA.",
    "We use (c) 2020 data that are new and large.",
    "The package ADAMS© by computing the forces was used in many plants.",
    "All rights reserved for authors are studied here in some depth.",
    "© marks are often drawn wrongly by image models when prompts are long.",
]


@pytest.mark.parametrize("prefix", PREFIXES)
def test_prefix_goes(prefix: str) -> None:
    assert strip_prefix(prefix + BODY) == (BODY)
    assert strip_prefix(f'"{prefix}{BODY}') == f'"{BODY}'


@pytest.mark.parametrize("prefix", HEADED)
def test_prefix_before_a_heading_goes(prefix: str) -> None:
    assert strip_prefix(prefix + BODY).startswith(("Background", "Objective:"))


def test_prefix_before_a_sentence_goes() -> None:
    assert strip_prefix("AbstractMany trees grow.") == "Many trees grow."
    assert strip_prefix("Abstract Neural trees (NTs) grow.") == "Neural trees (NTs) grow."
    assert strip_prefix("ABSTRACT we grow trees.") == "we grow trees."
    assert strip_prefix("Abstract: Abstract interpretation is old.") == "Abstract interpretation is old."
    assert [strip_prefix(text) for text in ("Abstract", "Summary.", "摘要")] == ["", "", ""]


@pytest.mark.parametrize("text", BODIES_THAT_STAY)
def test_words_that_begin_a_text_stay(text: str) -> None:
    assert strip_prefix(text) == text


@pytest.mark.parametrize("notice", NOTICES)
def test_notice_goes_from_the_end(notice: str) -> None:
    assert strip_notices(f"{BODY} {notice}") == BODY
    assert strip_notices(notice) == ""


@pytest.mark.parametrize("notice", [n for n in NOTICES if n.endswith((".", ")"))])
def test_notice_goes_from_the_beginning(notice: str) -> None:
    assert strip_notices(f"{notice} {BODY}") == BODY


def test_notices_go_from_both_ends() -> None:
    text = f"© 2021 Elsevier B.V. {BODY} © 2020 IEEE. Published by IEEE. All rights reserved."
    assert strip_notices(text) == BODY
    assert strip_notices(f"{BODY[:-1]} © 2018 The Academy of Trees") == BODY[:-1]
    assert strip_notices(f"© 2003 Elsevier Ltd. All rights reserved.{BODY}") == BODY


@pytest.mark.parametrize("text", TEXTS_THAT_STAY)
def test_texts_about_copyright_stay(text: str) -> None:
    assert strip_notices(text) == text
    assert strip_notices(f"{text} {BODY}") == f"{text} {BODY}"
    assert strip_notices(f"{BODY} {text}") == f"{BODY} {text}"


def test_notice_in_the_middle_stays() -> None:
    text = f"{BODY} © 2021 Elsevier Ltd. {BODY}"
    assert strip_notices(text) == text


def test_a_long_sentence_is_no_notice() -> None:
    assert is_notice("© 2020 A B.") and not is_notice("© 2020 " + "A " * 400)


@given(
    st.lists(st.sampled_from([*NOTICES, BODY, "Abstract", "Abstract:", "x", "Inc.", "(journal abstract)"]), max_size=6)
)
def test_what_is_left_is_a_part_of_the_text(parts: list[str]) -> None:
    text = " ".join(parts)
    left = strip_notices(strip_prefix(text))
    assert left in text
    assert left.count(BODY) == text.count(BODY)
