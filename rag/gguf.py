"""Serving a GGUF file on loopback inside this process (extra `gguf`), so that it is one more OpenAI-compatible server."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from typing import Any

from rag.errors import UsageError

_servers: dict[str, Any] = {}
_lock = threading.Lock()


def serve(location: str, *, context: int) -> str:
    """Serve `PATH` or `HUB_REPO:FILE` and return its base URL. Raises UsageError where it cannot be had."""
    path = str(_find(location))
    with _lock:
        if path not in _servers:
            try:
                import xllamacpp
            except ImportError as error:
                raise UsageError("gguf: models need the extra: pip install 'confer[gguf]'") from error
            params = xllamacpp.CommonParams()
            params.model.path = path
            params.hostnames = ["127.0.0.1"]
            params.port = 0
            params.n_ctx = context
            params.n_parallel = 1
            params.cpuparams.n_threads = os.cpu_count() or 2
            _servers[path] = xllamacpp.Server(params)
        return f"{_servers[path].listening_address}/v1"


def _find(location: str) -> Path:
    path = Path(location).expanduser()
    if path.is_file():
        return path
    repo, _, file = location.rpartition(":")
    if not repo or "/" not in repo or not file.endswith(".gguf"):
        raise UsageError(f"gguf: no file {path} (or name one on the hub: gguf:OWNER/REPO:FILE.gguf)")
    from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url, try_to_load_from_cache

    cached = try_to_load_from_cache(repo, file)
    if isinstance(cached, str):
        return Path(cached)
    try:
        size = get_hf_file_metadata(hf_hub_url(repo, file)).size or 0
        print(f"fetching {file} from {repo}: {size / 1e6:,.0f} MB, once", file=sys.stderr)
        return Path(hf_hub_download(repo, file))
    except OSError as error:
        raise UsageError(f"gguf: {file} could not be fetched from {repo}: {error}") from error
