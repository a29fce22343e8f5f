"""Files of every format after accidents of every kind: reading them ends soon, in records or in a reason."""

from __future__ import annotations

import functools
import random

import pytest
from broken_kit import PLAIN_ABSTRACTS, mutated, outcome_of, valid_files
from hypothesis import given, settings
from hypothesis import strategies as st

ROUNDS = 20
MANY_ROUNDS = 400
NAMES = sorted(valid_files())


@functools.cache
def files() -> dict[str, bytes]:
    return valid_files()


def survive(name: str, seed: str) -> None:
    """Damage a file of this name and read it, often under its own name and sometimes under another."""
    draw = random.Random(seed)
    data = mutated(files()[name], files()[draw.choice(NAMES)], draw)
    called = name if draw.random() < 0.7 else draw.choice(NAMES)
    try:
        outcome_of(data, called)
    except Exception as error:
        error.add_note(f"{name} read as {called}, seed {seed!r}")
        raise


@pytest.mark.parametrize("name", NAMES)
def test_the_files_are_sound_before_anything_happens_to_them(name: str) -> None:
    found = outcome_of(files()[name], name)
    assert not found.report
    assert found.abstracts and len(found.abstracts) % len(PLAIN_ABSTRACTS) == 0
    assert set(found.abstracts) == set(PLAIN_ABSTRACTS)


@pytest.mark.parametrize("name", NAMES)
def test_a_few_accidents(name: str) -> None:
    for number in range(ROUNDS):
        survive(name, f"few {name} {number}")


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", NAMES)
def test_many_accidents(name: str) -> None:
    for number in range(MANY_ROUNDS):
        survive(name, f"many {name} {number}")


@settings(max_examples=150)
@given(st.sampled_from(NAMES), st.data())
def test_cuts_copies_and_other_bytes_anywhere(name: str, data: st.DataObject) -> None:
    """The same in smaller steps, so that a failure is shrunk to what matters."""
    damaged = files()[name]
    for _ in range(data.draw(st.integers(1, 3))):
        begin = data.draw(st.integers(0, len(damaged)))
        end = data.draw(st.integers(begin, min(len(damaged), begin + 400)))
        damaged = (
            damaged[:begin] + data.draw(st.binary(max_size=6)) + damaged[data.draw(st.sampled_from([begin, end])) :]
        )
    outcome_of(damaged, data.draw(st.sampled_from([name, "list.txt", "list.json"])))


@settings(max_examples=150)
@given(st.binary(max_size=300), st.sampled_from(NAMES))
def test_any_bytes_under_any_name(noise: bytes, name: str) -> None:
    outcome_of(noise, name)
