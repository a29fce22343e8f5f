"""Encoding on many cores or machines: Ray Data with a pool of actors that hold an encoder each (extra `ray`).

The papers, ids and passages are the same as from one encoder, and so are the vectors but for rounding.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag.encoder import EncodedPassage, Encoder
from rag.errors import UsageError
from rag.settings import DEFAULT_ENCODER

AT_A_TIME = 256  # passages in one call of an actor
Column = dict[str, NDArray[Any]]


class RayEncoder(Encoder):
    """An encoder whose passages are encoded by actors, one a core of the cluster; questions are encoded here.

    `RAY_ADDRESS` names a cluster; without it Ray is started on this machine.
    """

    papers_at_a_time = 16_384  # each time the actors start anew, which takes seconds

    def __init__(self, name: str = DEFAULT_ENCODER, *, offline: bool = True) -> None:
        """Raise UsageError where Ray is not installed, or as `Encoder` does."""
        try:
            import ray.data
        except ImportError as error:
            raise UsageError("--engine ray needs Ray: pip install -e '.[ray]'") from error
        super().__init__(name, offline=offline)
        self.offline = offline
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        if not ray.is_initialized():
            ray.init(log_to_driver=False, include_dashboard=False, configure_logging=False)
        ray.data.DataContext.get_current().enable_progress_bars = False

    def encode_passages(
        self, passages: Sequence[tuple[str, Sequence[str]]], *, progress: Callable[[int], None] | None = None
    ) -> list[EncodedPassage]:
        """Encode passages given as (title or "", search texts of the sentences), wherever there is a core."""
        import ray

        rows = [{"number": i, "title": title, "sentences": list(own)} for i, (title, own) in enumerate(passages)]
        if not rows:
            return []
        cores = max(1, int(ray.cluster_resources().get("CPU", 1)))
        pool = ray.data.ActorPoolStrategy(min_size=1, max_size=cores)
        encoded = ray.data.from_items(rows, override_num_blocks=-(-len(rows) // AT_A_TIME)).map_batches(
            Worker,
            fn_constructor_args=(self.name, self.offline),
            batch_size=AT_A_TIME,
            compute=pool,
            num_cpus=1,
        )
        result: dict[int, EncodedPassage] = {}
        for row in encoded.iter_rows():
            sentences = np.frombuffer(row["sentences"], dtype=np.float32).reshape(-1, self.dimension)
            result[row["number"]] = EncodedPassage(np.frombuffer(row["vector"], dtype=np.float32), sentences)
            if progress:
                progress(len(result))
        return [result[i] for i in range(len(rows))]


class Worker:
    """An actor of the pool."""

    def __init__(self, name: str, offline: bool) -> None:
        import torch

        torch.set_num_threads(1)
        self._encoder = Encoder(name, offline=offline)

    def __call__(self, batch: Column) -> Column:
        """Encode a batch of rows; vectors travel as bytes, since passages differ in their number of sentences."""
        texts = [
            (str(title), [str(s) for s in own]) for title, own in zip(batch["title"], batch["sentences"], strict=True)
        ]
        encoded = self._encoder.encode_passages(texts)
        return {
            "number": batch["number"],
            "vector": np.array([e.vector.tobytes() for e in encoded], dtype=object),
            "sentences": np.array([e.sentences.tobytes() for e in encoded], dtype=object),
        }
