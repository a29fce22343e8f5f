"""Running the web server until it is told to stop, and stopping it cleanly."""

from __future__ import annotations

import contextlib
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import uvicorn

GRACE = 3  # seconds that open requests have to end


class Server(uvicorn.Server):
    """A server that says when it is ready, lets go of waiting pages when it stops, and returns to its caller."""

    def __init__(self, config: uvicorn.Config, blocks: Any, on_ready: Callable[[], object]) -> None:
        super().__init__(config)
        self._blocks = blocks
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then tell."""
        await super().startup(sockets)
        if self.started:
            self._on_ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the pages' open streams first; they would hold the shutdown up."""
        self._blocks.close(verbose=False)
        await super().shutdown(sockets)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop on Ctrl-C and SIGTERM, and return: uvicorn would raise the signal anew, past the caller's clean-up."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {s: signal.signal(s, self.handle_exit) for s in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def configured(app: Any) -> uvicorn.Config:
    """How an app is served."""
    return uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=GRACE, access_log=False)


def run(app: Any, blocks: Any, listener: socket.socket, on_ready: Callable[[], object]) -> None:
    """Serve an app on a listening socket until Ctrl-C or SIGTERM."""
    Server(configured(app), blocks, on_ready).run(sockets=[listener])
