"""A real small model behind the OpenAI-compatible path. Slow: minutes on two cores."""

from __future__ import annotations

import importlib.util
import os
import re
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from scripted_server import MakeAssistant

from rag.figures import missing_figures
from rag.schema import Answered, Token, Verdict

SCRIPT = Path(__file__).parents[2].parent / "shared" / "llm" / "local_llm.py"
START = 900  # seconds for reading (and, the first time, fetching) the model

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]

QUESTIONS = (
    ("How many test cases does ProOPF-B hold?", "121"),
    ("How does SAGE verify an annotation?", "nearest-neighbor"),
    ("How many tasks and repositories does SWE-rebench V2 contain?", "32,079"),
)


@pytest.fixture(scope="module")
def spec() -> Iterator[str]:
    """The LLM spec of a model served on a free port of this machine."""
    if not SCRIPT.is_file():
        pytest.skip(f"{SCRIPT.name} is not there")
    if importlib.util.find_spec("xllamacpp") is None:
        pytest.skip("xllamacpp is not installed")
    command = [sys.executable, str(SCRIPT), "serve", "--port", "0"]
    log = subprocess.DEVNULL
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=log, text=True, env=os.environ | {"PYTHONUNBUFFERED": "1"}
    ) as server:
        try:
            yield f"{_address(server)}#qwen"
        finally:
            server.kill()


def _address(server: subprocess.Popen[str]) -> str:
    """The base URL, which the server prints once it listens."""
    assert server.stdout is not None
    until = time.monotonic() + START
    while time.monotonic() < until and server.poll() is None:
        if select.select([server.stdout], [], [], 1.0)[0] and (line := server.stdout.readline()).startswith("http"):
            return line.strip()
    pytest.skip("the model could not be served")


@pytest.mark.parametrize(("question", "expected"), QUESTIONS)
def test_a_real_model_is_checked_and_cited(
    make_assistant: MakeAssistant, spec: str, question: str, expected: str
) -> None:
    assistant = make_assistant(spec, llm_timeout=900.0, llm_max_tokens=200)
    events = list(assistant.stream(question))
    assert isinstance(events[-1], Answered)
    answer = events[-1].answer
    assert answer.engine == spec, answer.notices
    assert any(isinstance(e, Token) for e in events[:-1])
    assert not answer.refused and expected in answer.text
    assert answer.usage.prompt_tokens > 100 and answer.usage.completion_tokens > 0
    assert answer.usage.prompt_tokens + 200 <= assistant.settings.llm_context
    evidence = {c.marker: c.evidence for c in answer.citations}
    for citation in answer.citations:
        for e in citation.evidence:
            assert citation.paper.abstract[e.start : e.end] == e.quote
    for sentence in answer.sentences:
        assert bool(sentence.markers) == (sentence.verdict is not Verdict.UNSUPPORTED)
        quotes = " ".join(e.quote for m in sentence.markers for e in evidence[m])
        if sentence.verdict is Verdict.SUPPORTED:
            assert missing_figures(sentence.text, quotes) == set()
    shown = [int(m) for m in re.findall(r"\[(\d+)\]", answer.text)]
    assert list(dict.fromkeys(shown)) == [c.marker for c in answer.citations]


def test_a_real_model_does_not_answer_from_memory(make_assistant: MakeAssistant, spec: str) -> None:
    answer = make_assistant(spec, llm_timeout=900.0, llm_max_tokens=100).ask("Who founded Amazon, and in which year?")
    assert "Bezos" not in answer.text and "1994" not in answer.text
