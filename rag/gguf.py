"""Serving a GGUF file on loopback inside this process (extra `gguf`): one more OpenAI-compatible server."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from rag.errors import UsageError

_servers: dict[tuple[str, int], tuple[Any, str]] = {}
_lock = threading.Lock()


def serve(location: str, *, context: int) -> tuple[str, str]:
    """Serve `PATH` or `HUB_REPO:FILE`; return its base URL and its key. Raises UsageError where it cannot be had."""
    path = str(_find(location))
    with _lock:
        if (path, context) not in _servers:
            _servers[path, context] = _start(path, context)
        server, key = _servers[path, context]
        return f"{server.listening_address}/v1", key


def _start(path: str, context: int) -> tuple[Any, str]:
    try:
        import xllamacpp
    except ImportError as error:
        raise UsageError("gguf: models need the extra: pip install -e '.[gguf]'") from error
    key = secrets.token_urlsafe()  # the server answers every origin, so a web page in the browser must not get in
    params = xllamacpp.CommonParams()
    params.model.path = path
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [key]
    params.ui = False
    params.verbosity = 1
    params.n_ctx = context
    params.n_parallel = 1
    params.cpuparams.n_threads = os.cpu_count() or 2
    try:
        return xllamacpp.Server(params), key
    except RuntimeError as error:
        raise UsageError(f"gguf: {path} could not be loaded; is it a GGUF file, and is there memory for it?") from error


def _find(location: str) -> Path:
    path = Path(location).expanduser()
    if path.is_file():
        return path
    repo, _, file = location.rpartition(":")
    if repo.count("/") != 1 or repo.startswith((".", "/", "~")) or not file.endswith(".gguf"):
        raise UsageError(f"gguf: no file {path} (or name one on the hub: gguf:OWNER/REPO:FILE.gguf)")
    from huggingface_hub import try_to_load_from_cache

    try:
        cached = try_to_load_from_cache(repo, file)
    except ValueError as error:
        raise UsageError(f"gguf: {repo} is no name of a hub repository") from error
    return Path(cached) if isinstance(cached, str) else _fetch(repo, file)


def _fetch(repo: str, file: str) -> Path:
    """Fetch a file from the hub, in a process of its own: in this one the hub may be switched off for the encoder."""
    command = [sys.executable, "-m", "rag.gguf", repo, file]
    fetched = subprocess.run(command, env={**os.environ, "HF_HUB_OFFLINE": "0"}, stdout=subprocess.PIPE, text=True)
    if fetched.returncode:
        raise UsageError(f"gguf: {file} could not be fetched from {repo}; check the name and the network")
    return Path(fetched.stdout.strip().splitlines()[-1])


def _main(repo: str, file: str) -> int:
    from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url

    try:
        size = get_hf_file_metadata(hf_hub_url(repo, file)).size or 0
        print(f"fetching {file} from {repo}: {size / 1e6:,.0f} MB, once", file=sys.stderr)
        print(hf_hub_download(repo, file))
    except Exception as error:  # whatever the hub's client of the day raises; the caller says what to do
        print(f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(_main(*sys.argv[1:3]))
