"""Who may ask: nobody but the browser that was given the address.

Every request must name this server as its host (a page of another name, whose DNS was pointed here,
does not: DNS rebinding) and hold the token in its path. What asks for work must come from this
server's own page. Every answer forbids the browser to load, run or embed anything else.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = "127.0.0.1"
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"
    " frame-src 'self'; img-src data:; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
"""Of the page itself: its own script and style, and frames of its answers. Nothing becomes markup:
no function that parses HTML or runs text may be called."""
ANSWER_POLICY = (
    "sandbox allow-same-origin; default-src 'none'; style-src 'unsafe-inline'; base-uri 'none';"
    " form-action 'none'; frame-ancestors 'self'"
)
"""Of an answer: no script at all. Its own policy, in the page, names its styles by their hashes."""
_HEADERS = {
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}
_METHODS = ("GET", "HEAD", "POST")


@dataclass(frozen=True, slots=True)
class Guard:
    """The application behind the token; what it refuses learns nothing but a number."""

    app: ASGIApp
    port: int
    token: str

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
                headers.setdefault("content-security-policy", PAGE_POLICY)
            await send(message)

        status, path = self._judge(scope)
        if status:
            await PlainTextResponse("", status)(scope, receive, send_guarded)
            return
        inside = {**scope, "path": path, "raw_path": path.encode(), "root_path": ""}
        await self.app(inside, receive, send_guarded)

    def _judge(self, scope: Scope) -> tuple[int, str]:
        """Return the status of a refusal, or 0 and the path behind the token."""
        headers, method = Headers(scope=scope), scope["method"]
        hosts = (f"{LOOPBACK}:{self.port}", f"localhost:{self.port}")
        host = headers.get("host", "")
        if len(headers.getlist("host")) != 1 or host not in hosts:
            return 421, ""
        token, _, rest = scope["path"].removeprefix("/").partition("/")
        if not hmac.compare_digest(token.encode("utf-8", "replace"), self.token.encode()):
            return 404, ""
        if method not in _METHODS:
            return 405, ""
        if method == "POST" and headers.getlist("origin") != [f"http://{host}"]:
            return 403, ""
        return 0, f"/{rest}"
