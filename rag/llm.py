"""From a spec to a LlamaIndex LLM. One path: the OpenAI-compatible one."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from rag.errors import UsageError
from rag.settings import Settings

OPENAI_BASE = "https://api.openai.com/v1"
OLLAMA_BASE = "http://127.0.0.1:11434/v1"
SPECS = "none, openai:MODEL, ollama:MODEL, http://HOST/v1#MODEL or gguf:PATH"


@dataclass(frozen=True)
class Spec:
    """Where a model is served and what it is called there. `base` is empty for a GGUF file, served when first used."""

    text: str
    base: str
    model: str


def parse_spec(text: str) -> Spec | None:
    """Return the parts of an LLM spec, or None for `none`. Raises UsageError for anything else."""
    text = text.strip()
    kind, _, rest = text.partition(":")
    if text.lower() in {"none", ""}:
        return None
    if kind == "openai" and rest:
        return Spec(text, OPENAI_BASE, rest)
    if kind == "ollama" and rest:
        return Spec(text, OLLAMA_BASE, rest)
    if kind == "gguf" and rest:
        return Spec(text, "", rest)
    if kind in {"http", "https"}:
        address, _, model = text.partition("#")
        if urlsplit(address).hostname and model:
            return Spec(text, address.rstrip("/"), model)
        raise UsageError(f"LLM spec {text!r} needs a host and a model: http://HOST/v1#MODEL")
    raise UsageError(f"LLM spec {text!r} is none of: {SPECS}")


def open_llm(spec: Spec, settings: Settings) -> Any:
    """Return a LlamaIndex LLM for a spec. Raises UsageError where a key or a file is missing."""
    key = settings.llm_api_key.get_secret_value() if settings.llm_api_key else None
    if spec.base == OPENAI_BASE:
        key = key or os.environ.get("OPENAI_API_KEY")
        if not key:
            raise UsageError("openai: models need a key in CONFER_LLM_API_KEY or OPENAI_API_KEY")
    base = spec.base
    if not base:
        from rag.gguf import serve

        base = serve(spec.model, context=settings.llm_context)
    from llama_index.llms.openai_like import OpenAILike

    return OpenAILike(
        model=spec.model if spec.base else "gguf",
        api_base=base,
        api_key=key or "none",
        is_chat_model=True,
        context_window=settings.llm_context,
        max_tokens=settings.llm_max_tokens,
        temperature=0.0,
        timeout=settings.llm_timeout,
        max_retries=0,  # the generator retries, within one deadline
    )
