"""A small OpenAI-compatible server on loopback that plays a script, records what it is asked and sees who hangs up."""

from __future__ import annotations

import json
import select
import socket
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from rag.assistant import Assistant

MakeAssistant = Callable[..., Assistant]  # the fixture `make_assistant`
LOOK = 0.02  # seconds between looks at a silent client


@dataclass(frozen=True)
class Step:
    """What one request gets: `pieces` of text one after the other, then `then`.

    `then`: "stop" or "length" (finish_reason), "none" (an end without one), "cut" (the socket is closed in the middle
    of the body), "hang" (silence), "drip" (keep-alive comments and nothing else) or "error" (an error event).
    `before_headers` is "hang" for a server that takes a request and is silent.
    """

    pieces: Sequence[str] = ()
    then: str = "stop"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: str | None = None  # raw body of the response instead of events
    before_headers: str = ""
    usage: tuple[int, int] | None = None
    pause: float = 0.0  # between pieces


def reply(*pieces: str, **more: Any) -> Step:
    """A step that says something."""
    return Step(pieces=pieces, **more)


@dataclass
class Request:
    """A request as it came in."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def prompt(self) -> str:
        """The text of all messages."""
        return "\n".join(m["content"] for m in self.body["messages"])


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64
    owner: ScriptedServer

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that go away are part of the script."""


class ScriptedServer:
    """Serves the steps of a script in order, the last one for ever. Use it as a context manager."""

    def __init__(self, *script: Step) -> None:
        self.script = list(script)
        self.requests: list[Request] = []
        self.arrived = threading.Event()
        self.disconnected = threading.Event()
        self.streaming = threading.Event()  # a first piece has been sent
        self._stopping = threading.Event()
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.owner = self

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": LOOK}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._server.shutdown()
        self._server.server_close()

    @property
    def spec(self) -> str:
        """The LLM spec that reaches this server."""
        return f"http://127.0.0.1:{self._server.server_port}/v1#scripted"

    def next_step(self, request: Request) -> Step:
        """Record a request and return what it gets."""
        with self._lock:
            self.requests.append(request)
            self.arrived.set()
            return self.script[min(len(self.requests), len(self.script)) - 1]

    def wait_for_disconnect(self, connection: socket.socket, seconds: float | None = None) -> bool:
        """Wait until the client hangs up (True), the time is over or the server stops (False)."""
        waited = 0.0
        while not self._stopping.is_set() and (seconds is None or waited < seconds):
            try:
                readable, _, _ = select.select([connection], [], [], LOOK)
                if readable and not connection.recv(1, socket.MSG_PEEK):
                    self.disconnected.set()
                    return True
            except OSError:
                self.disconnected.set()
                return True
            waited += LOOK
        return False


def closed_port_spec() -> str:
    """A spec whose port nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}/v1#nobody"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""

    def do_POST(self) -> None:
        owner = self.server.owner
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        step = owner.next_step(Request(self.path, dict(self.headers.items()), body))
        self.close_connection = True
        if step.before_headers == "hang":
            owner.wait_for_disconnect(self.connection)
            return
        if step.body is not None or step.status != 200:
            self._whole(step)
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            self._stream(step, owner)
        except OSError:
            owner.disconnected.set()

    def _whole(self, step: Step) -> None:
        body = (step.body or json.dumps({"error": {"message": "scripted", "code": step.status}})).encode()
        self.send_response(step.status)
        for name, value in {"Content-Type": "application/json", **step.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, step: Step, owner: ScriptedServer) -> None:
        for piece in step.pieces:
            self._event({"content": piece})
            owner.streaming.set()
            if step.pause and owner.wait_for_disconnect(self.connection, step.pause):
                return
        if step.then == "hang":
            owner.wait_for_disconnect(self.connection)
            return
        if step.then == "drip":
            while not owner.wait_for_disconnect(self.connection, 0.1):
                self._chunk(": still here\n\n")
            return
        if step.then == "cut":
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        if step.then == "error":
            self._chunk(f"data: {json.dumps({'error': {'message': 'out of memory', 'code': 500}})}\n\n")
        elif step.then != "none":
            self._event({}, finish=step.then, usage=step.usage)
            self._chunk("data: [DONE]\n\n")
        self._chunk("")

    def _event(self, delta: dict[str, str], finish: str | None = None, usage: tuple[int, int] | None = None) -> None:
        event: dict[str, Any] = {
            "id": "scripted",
            "object": "chat.completion.chunk",
            "created": 0,
            "model": "scripted",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        }
        if usage:
            event["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
        self._chunk(f"data: {json.dumps(event)}\n\n")

    def _chunk(self, text: str) -> None:
        data = text.encode()
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()
