"""What stands between the page and the world: the browser may reach this server only; the server fetches nothing."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

# Gradio's page needs inline code and `new Function`. Whatever runs, it can reach this server only.
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; "
    "object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors 'self'"
)
HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
]
# Gradio fetches other hosts' files through these when asked; Confer has no use for them.
FETCHES = re.compile(r"/gradio_api/(?:proxy=|file=\s*https?:)", re.IGNORECASE)
# Gradio's page names a picture on another host, for previews of shared links.
PREVIEWS = re.compile(rb'<meta\s+(?:property|name)="(?:og|twitter):[^>]*>\s*')

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class Shield:
    """ASGI middleware: forbids the browser any other host, and takes the names of others out of Gradio's page."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on and add headers to its answer; the page itself is edited as well."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
        elif FETCHES.search(scope["path"]):
            await send({"type": "http.response.start", "status": 404, "headers": []})
            await send({"type": "http.response.body", "body": b""})
        elif scope["path"] == "/" and scope["method"] == "GET":
            # The page is edited, so it must come uncompressed.
            plain = [h for h in scope["headers"] if h[0] != b"accept-encoding"]
            await self.app({**scope, "headers": plain}, receive, _edited(_guarded(send)))
        else:
            await self.app(scope, receive, _guarded(send))


def _guarded(send: Send) -> Send:
    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message["headers"], *HEADERS]
        await send(message)

    return guarded


def _edited(send: Send) -> Send:
    """Hold an answer back until it is whole, and send it without the previews."""
    start: Message = {}
    body = bytearray()

    async def edited(message: Message) -> None:
        if message["type"] == "http.response.start":
            start.update(message)
            return
        body.extend(message.get("body", b""))
        if message.get("more_body"):
            return
        text = PREVIEWS.sub(b"", bytes(body))
        kept = [h for h in start["headers"] if h[0] != b"content-length"]
        await send({**start, "headers": [*kept, (b"content-length", str(len(text)).encode())]})
        await send({"type": "http.response.body", "body": text})

    return edited
