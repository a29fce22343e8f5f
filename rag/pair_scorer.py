"""Reads a question together with a sentence, and says how well the sentence answers it.

The default encoder, with a low-rank adapter (E. J. Hu et al., LoRA, arXiv 2106.09685) on its linear layers that makes a
cross-encoder of it: `adapter.safetensors`, fitted by `eval/fitting/adapter.py`. Whatever encoder an index was built
with, this one reads the default model's weights, which are bundled.
"""

from __future__ import annotations

import functools
import importlib.resources
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag.encoder import model_folder, without_hub
from rag.settings import DEFAULT_ENCODER
from rag.text import search_text

Pair = tuple[str, str]  # the question, and the sentence with the name of its paper
LINEARS = ("query", "key", "value", "dense")
SCALE = 2.0  # of the product of an adapter's two matrices
LONGEST = 160  # word pieces of a pair; the sentence is cut where it is longer
LABEL_WORDS = 8
HEAD = "head"


def pair(question: str, label: str, sentence: str) -> Pair:
    """What is read for a sentence of a paper: its label goes before it, as most sentences speak of `it` and `we`."""
    name = " ".join(label.split()[:LABEL_WORDS])
    return search_text(question), search_text(f"{name}: {sentence}")


class PairScorer:
    """Scores pairs. Loaded when first used; thread-safe; one a process is enough."""

    def __init__(self, weights: Path | None = None) -> None:
        self._weights = weights or Path(str(importlib.resources.files("rag") / "adapter.safetensors"))
        self._loading = threading.Lock()
        self._parts: tuple[Any, Any, Any] | None = None

    def scores(self, pairs: Sequence[Pair]) -> NDArray[np.float64]:
        """Return the log odds that each sentence answers its question, in one batch."""
        import torch

        if not pairs:
            return np.zeros(0, dtype=np.float64)
        tokenizer, model, head = self._loaded()
        with torch.inference_mode():
            logits = head(pooled(model, tokens(tokenizer, pairs)))
        return np.asarray(logits.squeeze(-1).double().numpy())

    def _loaded(self) -> tuple[Any, Any, Any]:
        with self._loading:
            if self._parts is None:
                from safetensors.torch import load_file

                tokenizer, model = base()
                self._parts = (tokenizer, model, merged(model, load_file(self._weights)))
            return self._parts


@functools.cache
def shared() -> PairScorer:
    """The one scorer of a process."""
    return PairScorer()


def base() -> tuple[Any, Any]:
    """The tokenizer and the transformer of the default encoder, freshly loaded."""
    without_hub()
    from transformers import AutoModel, AutoTokenizer

    folder = str(model_folder(DEFAULT_ENCODER, offline=True))
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    return tokenizer, AutoModel.from_pretrained(folder, local_files_only=True).eval()


def tokens(tokenizer: Any, pairs: Iterable[Pair]) -> Any:
    """The padded tensors of pairs."""
    questions, sentences = zip(*pairs, strict=True)
    return tokenizer(
        list(questions),
        list(sentences),
        padding=True,
        truncation="longest_first",
        max_length=LONGEST,
        return_tensors="pt",
    )


def pooled(model: Any, features: Any) -> Any:
    """The mean of the token embeddings of each pair, shape (pairs, dimension)."""
    mask = features["attention_mask"].unsqueeze(-1)
    return (model(**features)[0] * mask).sum(dim=1) / mask.sum(dim=1)


def adapted(model: Any) -> dict[str, Any]:
    """The linear layers of a transformer that the adapter changes, by name."""
    import torch

    modules = dict(model.named_modules()).items()
    return {
        name: module
        for name, module in modules
        if isinstance(module, torch.nn.Linear) and name.startswith("encoder.") and name.split(".")[-1] in LINEARS
    }


def merged(model: Any, weights: dict[str, Any]) -> Any:
    """Add the adapter to the weights of the model; return its head."""
    import torch

    for name, module in adapted(model).items():
        change = weights[f"{name}.up"].float() @ weights[f"{name}.down"].float()
        with torch.no_grad():
            module.weight += SCALE * change
    head = torch.nn.Linear(weights[f"{HEAD}.weight"].shape[1], 1)
    head.load_state_dict({"weight": weights[f"{HEAD}.weight"].float(), "bias": weights[f"{HEAD}.bias"].float()})
    return head.eval()
