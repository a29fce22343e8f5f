"""LLM specs, keys and addresses; GGUF files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from scripted_server import MakeAssistant, ScriptedServer, reply

from rag import gguf
from rag.assistant import Assistant
from rag.errors import UsageError
from rag.llm import OLLAMA_BASE, OPENAI_BASE, Spec, find_key, open_llm, parse_spec
from rag.settings import Settings

SPECS = (
    ("none", None),
    ("", None),
    ("  None ", None),
    ("openai:gpt-4o-mini", Spec("openai:gpt-4o-mini", OPENAI_BASE, "gpt-4o-mini")),
    ("OpenAI: gpt-4o", Spec("openai:gpt-4o", OPENAI_BASE, "gpt-4o")),
    ("ollama:qwen2.5:7b", Spec("ollama:qwen2.5:7b", OLLAMA_BASE, "qwen2.5:7b")),
    ("http://127.0.0.1:8080/v1#qwen", Spec("http://127.0.0.1:8080/v1#qwen", "http://127.0.0.1:8080/v1", "qwen")),
    ("HTTPS://host/v1/#org/model", Spec("https://host/v1#org/model", "HTTPS://host/v1", "org/model")),
    ("http://[::1]:8080/v1#a#b", Spec("http://[::1]:8080/v1#a#b", "http://[::1]:8080/v1", "a#b")),
    ("https://me:secret@host/v1#m", Spec("https://host/v1#m", "https://me:secret@host/v1", "m")),
    ("https://host/v1?key=secret#m", Spec("https://host/v1#m", "https://host/v1?key=secret", "m")),
    ("gguf:models/q4.gguf", Spec("gguf:models/q4.gguf", "", "models/q4.gguf")),
    ("gguf:Qwen/Q-GGUF:q4.gguf", Spec("gguf:Qwen/Q-GGUF:q4.gguf", "", "Qwen/Q-GGUF:q4.gguf")),
)
WRONG = (
    "openai", "openai:", "openai:  ", "ollama:", "gguf:", "gpt-4o", "ftp://host/v1#m", "http://#m", "http://host/v1",
    "http://host/v1#", "https://", "http://host:99999/v1#m", "http://host:port/v1#m", "http://[::1/v1#m", "true",
)  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), SPECS)
def test_spec(text: str, expected: Spec | None) -> None:
    assert parse_spec(text) == expected


@pytest.mark.parametrize("text", WRONG)
def test_wrong_spec_is_a_usage_error(text: str, sample_index: Path) -> None:
    with pytest.raises(UsageError):
        parse_spec(text)
    with pytest.raises(UsageError):
        Assistant.open(sample_index, llm=text)


@pytest.mark.parametrize(
    "text", ["http://me:secret@host/v1", "http://me:secret@host:99999/v1#m", "http://x?key=secret#"]
)
def test_errors_do_not_repeat_passwords(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_spec(text)
    assert "secret" not in str(caught.value)


def test_openai_without_a_key_is_a_usage_error(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = parse_spec("openai:gpt-4o-mini")
    assert spec is not None
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(UsageError, match="key"):
        open_llm(spec, Settings())
    monkeypatch.setenv("OPENAI_API_KEY", "sk-from-the-environment")
    assert find_key(spec, Settings()) == "sk-from-the-environment"
    assert find_key(spec, Settings(llm_api_key="sk-of-confer")) == "sk-of-confer"


def test_models_that_cannot_chat_are_a_usage_error() -> None:
    spec = parse_spec("openai:gpt-5.2-pro")
    assert spec is not None
    with pytest.raises(UsageError, match=r"gpt-5\.2-pro"):
        open_llm(spec, Settings(llm_api_key="sk-x"))


def test_a_key_in_the_environment_turns_nothing_on(
    make_assistant: MakeAssistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-from-the-environment")
    assistant = make_assistant()
    assert assistant.spec is None
    assert assistant.ask("How many test cases does ProOPF-B hold?").engine == "extractive"


def test_the_openai_key_goes_to_no_other_server(make_assistant: MakeAssistant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-from-the-environment")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://192.0.2.1/v1")
    with ScriptedServer(reply("ProOPF-B holds 121 test cases.")) as server:
        make_assistant(server.spec).ask("How many test cases does ProOPF-B hold?")
        make_assistant(server.spec, llm_api_key="mine").ask("How many test cases does ProOPF-B hold?")
        first, second = server.requests
    assert "sk-from-the-environment" not in str(first.headers)
    assert second.headers["Authorization"] == "Bearer mine"
    assert first.path == "/v1/chat/completions" and first.body["model"] == "scripted"


def test_loopback_is_not_asked_for_through_a_proxy(
    make_assistant: MakeAssistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://192.0.2.1:3128")
    with ScriptedServer(reply("ProOPF-B holds 121 test cases.")) as server:
        assert make_assistant(server.spec).ask("How many test cases does ProOPF-B hold?").engine == server.spec


# -- GGUF --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def fake_server(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """xllamacpp with a server that only notes its parameters."""
    started: list[Any] = []

    def serve(params: Any) -> Any:
        started.append(params)
        return SimpleNamespace(listening_address="http://127.0.0.1:9")

    def params() -> Any:
        return SimpleNamespace(model=SimpleNamespace(), cpuparams=SimpleNamespace())

    monkeypatch.setitem(sys.modules, "xllamacpp", SimpleNamespace(CommonParams=params, Server=serve))
    monkeypatch.setattr(gguf, "_servers", {})
    return started


def test_a_file_is_served_once_on_loopback_behind_a_key(fake_server: list[Any], tmp_path: Path) -> None:
    file = tmp_path / "model.gguf"
    file.write_bytes(b"GGUF")
    base, key = gguf.serve(str(file), context=2048)
    assert gguf.serve(str(file), context=2048) == (base, key)
    (params,) = fake_server
    assert (base, params.hostnames, params.n_ctx) == ("http://127.0.0.1:9/v1", ["127.0.0.1"], 2048)
    assert params.api_keys == [key] and len(key) > 20
    spec = parse_spec(f"gguf:{file}")
    assert spec is not None
    llm = open_llm(spec, Settings(llm_context=2048))
    assert (llm.api_base, llm.api_key) == (base, key)


@pytest.mark.parametrize("location", ["nowhere.gguf", "/no/such:file.gguf", "a/b/c:x.gguf", "~/none.gguf", "a/b:x.bin"])
def test_a_file_that_is_not_there_is_a_usage_error(location: str) -> None:
    with pytest.raises(UsageError, match="no file"):
        gguf.serve(location, context=2048)


def test_a_file_that_does_not_load_is_a_usage_error(
    fake_server: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: Any) -> Any:
        raise RuntimeError("Failed to init server, please check the input params.")

    monkeypatch.setattr(sys.modules["xllamacpp"], "Server", fail)
    file = tmp_path / "model.gguf"
    file.write_bytes(b"no model")
    with pytest.raises(UsageError, match="could not be loaded"):
        gguf.serve(str(file), context=2048)
    assert fake_server == []


def test_without_the_extra_the_error_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    file = tmp_path / "model.gguf"
    file.write_bytes(b"GGUF")
    with pytest.raises(UsageError, match=r"pip install -e '\.\[gguf\]'"):
        gguf.serve(str(file), context=1024)


def test_a_hub_file_is_fetched_in_a_process_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    calls: list[Any] = []

    def run(command: list[str], **options: Any) -> Any:
        calls.append((command, options["env"]["HF_HUB_OFFLINE"]))
        return SimpleNamespace(returncode=0, stdout=f"{tmp_path / 'q4.gguf'}\n")

    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr(subprocess, "run", run)
    assert gguf._find("Some-Owner/Some-Repo:q4.gguf") == tmp_path / "q4.gguf"
    assert calls == [([sys.executable, "-m", "rag.gguf", "Some-Owner/Some-Repo", "q4.gguf"], "0")]


def test_a_hub_file_that_cannot_be_fetched_is_a_usage_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: SimpleNamespace(returncode=1, stdout=""))
    with pytest.raises(UsageError, match="could not be fetched"):
        gguf._find("Some-Owner/Some-Repo:q4.gguf")
