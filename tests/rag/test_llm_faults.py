"""Whatever an LLM's server does, a question gets an answer: the extractive one, with a line that says what failed."""

from __future__ import annotations

import re
import threading
import time

import pytest
from scripted_server import MakeAssistant, ScriptedServer, Step, closed_port_spec, reply

from rag.encoder import Encoder
from rag.errors import LLMError
from rag.generator import stream_reply
from rag.llm import open_llm, parse_spec
from rag.schema import Answer, Answered, Token, Verdict
from rag.settings import Settings

QUESTION = "How many test cases does ProOPF-B hold?"
GOOD = "ProOPF-B holds 121 test cases annotated by experts. [1]"
KEY = "sk-very-secret-key"
WAIT = 30.0  # seconds that an event may take on a loaded machine


def check_quotes(answer: Answer) -> None:
    """Every quote is a slice of its abstract, and the markers run 1, 2, 3 in the text."""
    for citation in answer.citations:
        for evidence in citation.evidence:
            assert citation.paper.abstract[evidence.start : evidence.end] == evidence.quote
    markers = [int(m) for m in re.findall(r"\[(\d+)\]", answer.text)]
    assert list(dict.fromkeys(markers)) == list(range(1, len(answer.citations) + 1))


@pytest.fixture(autouse=True, scope="module")
def _warm(encoder: Encoder) -> None:
    """What is loaded when first used is loaded before any deadline runs."""
    encoder.encode_query("warm")
    with ScriptedServer(reply(GOOD)) as server:
        spec = parse_spec(server.spec)
        assert spec is not None
        list(open_llm(spec, Settings()).stream_chat([]))


FAULTS = {
    "silent before the headers": (Step(before_headers="hang"), 1, r"did not answer within 2 s"),
    "silent in the middle": (reply("ProOPF-B holds ", then="hang"), 1, r"did not answer within 2 s"),
    "keep-alives for ever": (reply(then="drip"), 1, r"did not answer within 2 s"),
    "keep-alives after a word": (reply("ProOPF-B ", then="drip"), 1, r"did not answer within 2 s"),
    "401": (Step(status=401), 1, r"refused the key \(HTTP 401\)"),
    "403": (Step(status=403), 1, r"refused the key \(HTTP 403\)"),
    "404": (Step(status=404), 1, r"does not know this model \(HTTP 404\)"),
    "429 again and again": (Step(status=429, headers={"Retry-After": "0.05"}), 3, r"is busy \(HTTP 429\)"),
    "429 for longer than the deadline": (Step(status=429, headers={"Retry-After": "3600"}), 1, r"is busy \(HTTP 429\)"),
    "400 also without extras": (Step(status=400), 2, r"server failed \(HTTP 400\)"),
    "500 again and again": (Step(status=500), 3, r"server failed \(HTTP 500\)"),
    "503": (Step(status=503, headers={"Retry-After": "0"}), 3, r"server failed \(HTTP 503\)"),
    "cut before a word": (reply(then="cut"), 1, r"reply broke off"),
    "cut in the middle": (reply("ProOPF-B holds 121 ", then="cut"), 1, r"reply broke off"),
    "an end in the middle of a sentence": (reply("ProOPF-B holds 121 ", then="none"), 1, r"reply broke off"),
    "an error event": (reply("ProOPF-B holds ", then="error"), 1, r"could not be read"),
    "no words": (reply(), 2, r"empty reply"),
    "white space": (reply(" \n", "\t "), 2, r"empty reply"),
    "all its tokens spent on thinking": (reply("<think>121?", " Let me see", then="length"), 2, r"empty reply"),
    "broken JSON": (Step(body='data: {"choices": [{"delta"\n\n'), 1, r"could not be read \(JSONDecodeError\)"),
    "a page of a proxy": (Step(body="<html>sign in</html>"), 2, r"empty reply"),
    "only what no paper says": (reply("Bananas ripen in 17 days. ", "Paris hosts 3 museums."), 1, r"[Nn]o sentence .* carried"),
    "only JSON": (reply('{"thoughts": "121 test cases annotated by experts"}'), 1, r"[Nn]o sentence .* carried"),
    "a loop of nothing": (reply(*["ha " * 10] * 40, then="stop"), 2, r"empty reply"),
}  # fmt: skip


@pytest.mark.parametrize(("step", "requests", "said"), FAULTS.values(), ids=FAULTS.keys())
def test_fault(make_assistant: MakeAssistant, step: Step, requests: int, said: str) -> None:
    with ScriptedServer(step) as server:
        assistant = make_assistant(server.spec, llm_timeout=2.0, llm_retries=2, llm_api_key=KEY)
        answer = assistant.ask(QUESTION)
        assert len(server.requests) == requests
    assert answer.engine == "extractive"
    assert not answer.refused
    assert "121" in answer.text
    assert len(answer.notices) == 1 and "\n" not in answer.notices[0]
    assert re.search(said, answer.notices[0])
    assert KEY not in answer.model_dump_json()
    check_quotes(answer)


def test_refused_connection(make_assistant: MakeAssistant) -> None:
    answer = make_assistant(closed_port_spec(), llm_timeout=5.0, llm_retries=1).ask(QUESTION)
    assert answer.engine == "extractive"
    assert "could not be reached" in answer.notices[0]
    check_quotes(answer)


def test_password_in_the_address_is_nowhere_in_the_answer(make_assistant: MakeAssistant) -> None:
    with ScriptedServer(Step(status=500), reply(GOOD)) as server:
        spec = server.spec.replace("http://", "http://me:hidden-word@")
        failed = make_assistant(spec, llm_retries=0).ask(QUESTION)
        answered = make_assistant(spec).ask(QUESTION)
    assert failed.engine == "extractive" and answered.engine == server.spec
    assert "hidden-word" not in failed.model_dump_json() + answered.model_dump_json()


def test_retry_after_is_waited_for(make_assistant: MakeAssistant, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    original = threading.Event.wait

    def wait(self: threading.Event, timeout: float | None = None) -> bool:
        if timeout == 0.25:
            waits.append(timeout)
        return original(self, timeout)

    monkeypatch.setattr(threading.Event, "wait", wait)
    busy = Step(status=429, headers={"Retry-After": "0.25"})
    with ScriptedServer(busy, busy, reply(GOOD)) as server:
        answer = make_assistant(server.spec, llm_retries=2).ask(QUESTION)
        assert len(server.requests) == 3
    assert waits == [0.25, 0.25]
    assert answer.engine == server.spec and not answer.notices


def test_a_server_that_knows_no_stream_options_is_asked_without(make_assistant: MakeAssistant) -> None:
    with ScriptedServer(Step(status=422), reply(GOOD)) as server:
        answer = make_assistant(server.spec).ask(QUESTION)
        assert "stream_options" in server.requests[0].body
        assert "stream_options" not in server.requests[1].body
    assert answer.engine == server.spec


def test_an_empty_reply_gets_more_room_once(make_assistant: MakeAssistant) -> None:
    with ScriptedServer(reply(then="length"), reply(" ")) as server:
        answer = make_assistant(server.spec, llm_max_tokens=200).ask(QUESTION)
        assert [r.body["max_tokens"] for r in server.requests] == [200, 800]
    assert answer.engine == "extractive" and "empty reply" in answer.notices[0]


def test_no_retry_after_words_were_shown(make_assistant: MakeAssistant) -> None:
    with ScriptedServer(reply("ProOPF-B holds 121 ", then="cut"), reply(GOOD)) as server:
        events = list(make_assistant(server.spec).stream(QUESTION))
        assert len(server.requests) == 1
    assert isinstance(events[-1], Answered) and events[-1].answer.engine == "extractive"


@pytest.mark.parametrize("then", ["hang", "drip"])
def test_closing_the_stream_closes_the_request(make_assistant: MakeAssistant, then: str) -> None:
    with ScriptedServer(reply("ProOPF-B ", "holds ", then=then)) as server:
        events = make_assistant(server.spec, llm_timeout=600.0).stream(QUESTION)
        next(e for e in events if isinstance(e, Token))
        events.close()
        assert server.disconnected.wait(WAIT)


def test_closing_the_stream_while_words_flow_closes_the_request(make_assistant: MakeAssistant) -> None:
    with ScriptedServer(reply(*["word "] * 5000, pause=0.05)) as server:
        events = make_assistant(server.spec, llm_timeout=600.0).stream(QUESTION)
        next(e for e in events if isinstance(e, Token))
        events.close()
        assert server.disconnected.wait(WAIT)


def test_a_stop_from_another_thread_ends_a_silent_request() -> None:
    stop = threading.Event()
    with ScriptedServer(Step(before_headers="hang")) as server:
        spec = parse_spec(server.spec)
        assert spec is not None
        chosen = Settings(llm_timeout=600.0)

        def leave() -> None:
            server.arrived.wait(WAIT)
            stop.set()

        threading.Thread(target=leave, daemon=True).start()
        with pytest.raises(LLMError, match="withdrawn"):
            list(stream_reply(open_llm(spec, chosen), [("user", "Why?")], chosen, stop))
        assert server.disconnected.wait(WAIT)


def test_the_address_with_its_password_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(0)
    with ScriptedServer(Step(status=500), reply(GOOD)) as server:
        spec = parse_spec(server.spec.replace("http://", "http://me:hidden-word@"))
        assert spec is not None
        chosen = Settings(llm_api_key=KEY)
        list(stream_reply(open_llm(spec, chosen), [("user", "Why?")], chosen))
    shown = [r.getMessage() for r in caplog.records if r.levelno >= 20]
    assert not [line for line in shown if "hidden-word" in line or KEY in line]


def test_a_timeout_closes_the_request(make_assistant: MakeAssistant) -> None:
    with ScriptedServer(reply(then="drip")) as server:
        make_assistant(server.spec, llm_timeout=0.5).ask(QUESTION)
        assert server.disconnected.wait(WAIT)


def test_requests_leave_no_thread_behind(make_assistant: MakeAssistant) -> None:
    with ScriptedServer(Step(before_headers="hang")) as server:
        make_assistant(server.spec, llm_timeout=0.5).ask(QUESTION)
        assert server.disconnected.wait(WAIT)
        until = time.monotonic() + WAIT
        while time.monotonic() < until and any(t.name == "confer-llm" for t in threading.enumerate()):
            time.sleep(0.01)
        assert not any(t.name == "confer-llm" for t in threading.enumerate())


# -- replies that are usable -------------------------------------------------------------------------------------------


def ask(make_assistant: MakeAssistant, *pieces: str, question: str = QUESTION, **more: object) -> Answer:
    with ScriptedServer(reply(*pieces, **more)) as server:
        answer = make_assistant(server.spec).ask(question)
        assert answer.engine == server.spec, answer.notices
        check_quotes(answer)
        return answer


REPLIES = {
    "as asked": GOOD,
    "without a marker": "ProOPF-B holds 121 test cases annotated by experts.",
    "with a wrong marker": "ProOPF-B holds 121 test cases annotated by experts [5].",
    "with a marker of nothing": "ProOPF-B holds 121 test cases annotated by experts [42][43].",
    "in bold": "**ProOPF-B** holds **121** test cases annotated by experts [1].",
    "as a bullet": "- ProOPF-B holds 121 test cases annotated by experts [1]",
    "in a fence": "```\nProOPF-B holds 121 test cases annotated by experts [1].\n```",
    "after thinking": "<think>CaRE holds 300 tasks [2].</think>ProOPF-B holds 121 test cases annotated by experts [1].",
    "after thinking without its tag": "CaRE holds 300.\n</think>\nProOPF-B holds 121 test cases annotated by experts [1].",
    "with a preamble": "Here is the answer:\n\nProOPF-B holds 121 test cases annotated by experts [1].",
}  # fmt: skip


@pytest.mark.parametrize("text", REPLIES.values(), ids=REPLIES.keys())
def test_reply_is_matched_and_cited_anew(make_assistant: MakeAssistant, text: str) -> None:
    # In small pieces, so that tags and markers are split over them.
    answer = ask(make_assistant, *[text[i : i + 3] for i in range(0, len(text), 3)])
    (sentence,) = answer.sentences
    assert sentence.text.rstrip(".") == "ProOPF-B holds 121 test cases annotated by experts"
    assert sentence.verdict is Verdict.SUPPORTED and sentence.markers == [1]
    assert "ProOPF-B" in answer.citations[0].evidence[0].quote
    assert not answer.notices


def test_thinking_is_never_shown(make_assistant: MakeAssistant) -> None:
    text = "<think>The wrong paper is CaRE.</think>" + GOOD
    with ScriptedServer(reply(*text)) as server:
        events = list(make_assistant(server.spec).stream(QUESTION))
    shown = "".join(e.text for e in events if isinstance(e, Token))
    assert shown == GOOD and "CaRE" not in events[-1].model_dump_json(include={"answer": {"text", "sentences"}})


def test_repetition_is_stopped_early_and_said_once(make_assistant: MakeAssistant) -> None:
    sentence = "ProOPF-B holds 121 test cases annotated by experts [1]. "
    with ScriptedServer(reply(*[sentence] * 5000, pause=0.01)) as server:
        answer = make_assistant(server.spec, llm_timeout=600.0).ask(QUESTION)
        assert server.disconnected.wait(WAIT)
    assert answer.engine == server.spec
    assert [s.text for s in answer.sentences] == ["ProOPF-B holds 121 test cases annotated by experts."]


def test_a_loop_within_a_sentence_is_cut_off(make_assistant: MakeAssistant) -> None:
    with ScriptedServer(reply(GOOD, " It also", *[" scores and scores"] * 5000, pause=0.01)) as server:
        answer = make_assistant(server.spec, llm_timeout=600.0).ask(QUESTION)
        assert server.disconnected.wait(WAIT)
    assert [s.text for s in answer.sentences] == ["ProOPF-B holds 121 test cases annotated by experts."]


def test_a_cut_reply_says_so_and_drops_what_dangles(make_assistant: MakeAssistant) -> None:
    answer = ask(make_assistant, GOOD, " Concrete and abstract modeling is scored, as shown in [1", then="length")
    assert [s.text for s in answer.sentences] == ["ProOPF-B holds 121 test cases annotated by experts."]
    assert any("cut off" in n for n in answer.notices)


def test_what_no_paper_says_is_left_out_of_the_text(make_assistant: MakeAssistant) -> None:
    answer = ask(make_assistant, GOOD, " MixEmo reaches 97.1% [1].")
    assert [s.verdict for s in answer.sentences] == [Verdict.SUPPORTED, Verdict.UNSUPPORTED]
    assert "97.1" not in answer.text and answer.sentences[1].markers == []
    assert any("left out" in n for n in answer.notices)


def test_author_years_that_no_abstract_has_are_not_shown(make_assistant: MakeAssistant) -> None:
    answer = ask(make_assistant, GOOD, " Concrete and abstract modeling are scored end to end (Doe et al., 2024).")
    assert [s.verdict for s in answer.sentences] == [Verdict.SUPPORTED, Verdict.UNSUPPORTED]
    assert "Doe" not in answer.text


def test_usage_is_reported(make_assistant: MakeAssistant) -> None:
    answer = ask(make_assistant, GOOD, usage=(321, 12))
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (321, 12)


@pytest.mark.parametrize("text", ["NOT STATED", "No paper covers this. In general, however, ProOPF-B works well."])
def test_a_refusal_of_the_model_is_a_refusal(make_assistant: MakeAssistant, text: str) -> None:
    answer = ask(make_assistant, text)
    assert answer.refused and answer.nearest and not answer.citations and "works well" not in answer.text


def test_only_roles_and_contents_are_sent(make_assistant: MakeAssistant) -> None:
    with ScriptedServer(reply(GOOD)) as server:
        assistant = make_assistant(server.spec)
        first = assistant.ask(QUESTION)
        assistant.ask("Is its code public?", history=[first])
        for request in server.requests:
            assert all(set(m) == {"role", "content"} for m in request.body["messages"])
            assert [m["role"] for m in request.body["messages"]] == ["system", "user"]
