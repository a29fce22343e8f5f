"""All settings in one place: their descriptions make the CLI help and the table in the README."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

DEFAULT_ENCODER = "all-MiniLM-L6-v2"


class Settings(BaseSettings):
    """Settings come from arguments first, then from environment variables that begin with `CONFER_`."""

    model_config = SettingsConfigDict(env_prefix="CONFER_", extra="forbid", frozen=True)

    index: Path = Field(Path(".confer"), description="folder of the index")
    chroma_url: str = Field(
        "",
        description="Chroma server that keeps the papers of a new index, http://HOST:PORT; by default its folder does",
    )
    encoder: str = Field(
        DEFAULT_ENCODER,
        description="sentence-transformers model, by name or path; the default is bundled and needs no network",
    )
    offline: bool = Field(True, description="never contact the model hub; set to false to fetch another encoder once")
    llm: str = Field(
        "none",
        description="who writes answers: none (extractive), openai:MODEL, ollama:MODEL, http://HOST/v1#MODEL "
        "or gguf:PATH",
    )
    llm_api_key: SecretStr | None = Field(
        None, description="key for the LLM; without it OPENAI_API_KEY is used for openai: specs only"
    )
    llm_timeout: float = Field(120.0, gt=0, description="seconds that one LLM request may take")
    llm_retries: int = Field(2, ge=0, le=10, description="further tries after a refused, busy or failing LLM")
    llm_max_tokens: int = Field(400, ge=16, description="longest LLM reply, in tokens")
    llm_context: int = Field(8192, ge=1024, description="context window of the LLM, in tokens")
    top_k: int = Field(
        6, ge=1, le=200, description="papers that an answer may draw on; a list takes all that belong on it"
    )
    question_filters: bool = Field(
        True, description="read filters from questions: `papers from 2025`, `at ICML`, `papers by NAME`"
    )
    reranker: str = Field(
        "",
        description="sentence-transformers cross-encoder, by name or path, that reads the question with each of the "
        "first 50 papers found; off by default",
    )
    reranker_threshold: float = Field(
        0.5, ge=0, le=1, description="papers that the reranker scores lower, after a sigmoid, are dropped"
    )
    refuse_below: float | None = Field(
        None, ge=0, le=1, description="confidence below which Confer refuses; by default the calibrated threshold"
    )
    max_question_chars: int = Field(4000, ge=1, description="longest question that is taken, in characters")
    max_upload_mb: int = Field(50, ge=1, description="largest list file that the browser page takes, in MB")
