"""A client of the page's server without a network: what a request gets."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import NamedTuple

from starlette.types import ASGIApp, Message

PORT, TOKEN = 8123, "a-token"
HOST = f"127.0.0.1:{PORT}"


class Got(NamedTuple):
    """What a request got."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def request(
    app: ASGIApp,
    path: str,
    *,
    method: str = "GET",
    headers: Mapping[str, str] | None = None,
    parts: tuple[bytes, ...] = (b"",),
) -> Got:
    """Send a request with a body in parts; headers are the usual ones, but for those that are
    named (an empty one is left out).
    """
    usual = {"host": HOST, "origin": f"http://{HOST}", "content-type": "application/json"}
    sent = {name: value for name, value in {**usual, **(headers or {})}.items() if value}
    where, _, query = path.partition("?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": where,
        "raw_path": where.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(name.encode(), value.encode()) for name, value in sent.items()],
        "client": ("127.0.0.1", 40000),
        "server": ("127.0.0.1", PORT),
    }
    left = list(parts)
    messages: list[Message] = []

    async def receive() -> Message:
        await asyncio.sleep(0)
        return {"type": "http.request", "body": left.pop(0), "more_body": bool(left)}

    async def send(message: Message) -> None:
        await asyncio.sleep(0)
        messages.append(message)

    async def run() -> None:
        await app(scope, receive, send)

    asyncio.run(run())
    start, *rest = messages
    said = {name.decode(): value.decode() for name, value in start["headers"]}
    return Got(start["status"], said, b"".join(one["body"] for one in rest))
