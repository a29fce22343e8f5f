"""Optional: a cross-encoder reads the question with each found paper, and its scores order them anew.

Cross-encoders are trained on logits, and only some are saved with the sigmoid that makes probabilities of them. So the
logits are always asked for, and the sigmoid is always ours: the threshold means the same for every model.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag.encoder import model_folder, without_hub
from rag.errors import UsageError

DEPTH = 50  # papers that are read, in one batch; more where more are wanted


class Reranker:
    """A sentence-transformers cross-encoder, loaded when first used. Thread-safe; share one."""

    def __init__(self, name: str, *, threshold: float = 0.5, offline: bool = True, model: Any = None) -> None:
        """Find the model, without loading it; `model` is one that is loaded already.

        Raises UsageError when the model is not on this machine and may not be fetched.
        """
        self.name = name
        self.threshold = threshold
        self._folder = model_folder(name, offline=offline, what="reranker") if model is None else Path(name)
        self._model = model
        self._loading = threading.Lock()

    def scores(self, question: str, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return the probability, 0 to 1, that each text answers the question."""
        if not texts:
            return np.zeros(0, dtype=np.float64)
        logits = np.asarray(
            self._loaded().predict(
                [(question, text) for text in texts],
                batch_size=DEPTH,
                activation_fn=_as_it_is,
                show_progress_bar=False,
            ),
            dtype=np.float64,
        )
        if logits.shape not in {(len(texts),), (len(texts), 1)}:
            raise UsageError(f"reranker: {self.name} gives {logits.shape[-1]} numbers for a text; a reranker gives one")
        # What is not a number speaks for no paper.
        return 1.0 / (1.0 + np.exp(-np.clip(np.nan_to_num(logits.reshape(-1), nan=-700.0), -700.0, 700.0)))

    def _loaded(self) -> Any:
        with self._loading:
            if self._model is None:
                self._model = _load(self._folder)
            return self._model


def _as_it_is(logits: Any) -> Any:
    return logits


def _load(folder: Path) -> Any:
    without_hub()
    from sentence_transformers import CrossEncoder

    try:
        return CrossEncoder(str(folder), device="cpu", local_files_only=True)
    except (OSError, ValueError) as error:
        raise UsageError(f"reranker: {folder} holds no cross-encoder that can be loaded ({error})") from error
