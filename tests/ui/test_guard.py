"""Who may ask the page's server."""

from __future__ import annotations

import asyncio

import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send

from podpath_ui.guard import Guard
from tests.ui.asgi import HOST, PORT, TOKEN, request


async def _echo(scope: Scope, receive: Receive, send: Send) -> None:
    await PlainTextResponse(scope["path"])(scope, receive, send)


GUARD = Guard(_echo, PORT, TOKEN)


@pytest.mark.parametrize("host", [HOST, f"localhost:{PORT}"])
def test_whoever_has_the_address_is_let_in(host: str) -> None:
    """The application sees the path behind the token."""
    got = request(GUARD, f"/{TOKEN}/answers/1", headers={"host": host})
    assert (got.status, got.body) == (200, b"/answers/1")
    assert request(GUARD, f"/{TOKEN}").body == b"/"


@pytest.mark.parametrize(
    "host", ["evil.example:8123", "127.0.0.1", "127.0.0.1:80", "127.0.0.1.evil.example:8123", ""]
)
def test_another_host_is_refused(host: str) -> None:
    """A name whose DNS was pointed here (DNS rebinding) is not this server's."""
    got = request(GUARD, f"/{TOKEN}/", headers={"host": host})
    assert (got.status, got.body) == (421, b"")


@pytest.mark.parametrize(
    "path", ["/", "/wrong/", "/a-toke/", "/a-token2/", "//a-token/", "/\u00e9/"]
)
def test_without_the_token_there_is_nothing(path: str) -> None:
    """Not even whether there is a page."""
    got = request(GUARD, path)
    assert (got.status, got.body) == (404, b"")


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "", f"https://{HOST}"])
def test_work_is_asked_for_by_the_page_alone(origin: str) -> None:
    """A form or a script of another page, which knows the token from somewhere, gets no answer."""
    got = request(GUARD, f"/{TOKEN}/follow", method="POST", headers={"origin": origin})
    assert (got.status, got.body) == (403, b"")
    assert request(GUARD, f"/{TOKEN}/follow", method="POST").status == 200


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "TRACE"])
def test_other_methods_are_refused(method: str) -> None:
    """There is nothing to put or delete, and nothing for another origin to ask about."""
    assert request(GUARD, f"/{TOKEN}/", method=method).status == 405


@pytest.mark.parametrize("path", [f"/{TOKEN}/", "/wrong/"])
def test_every_answer_is_held_tight(path: str) -> None:
    """Also a refusal forbids scripts, frames, sniffing, caching and telling the address."""
    headers = request(GUARD, path).headers
    policy = headers["content-security-policy"]
    for rule in ("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"):
        assert rule in policy
    assert "unsafe" not in policy
    assert "require-trusted-types-for 'script'" in policy
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "access-control-allow-origin" not in headers


def test_nothing_but_http_is_answered() -> None:
    """A WebSocket gets nothing."""
    sent: list[Message] = []

    async def send(message: Message) -> None:
        await asyncio.sleep(0)
        sent.append(message)

    async def receive() -> Message:
        await asyncio.sleep(0)
        return {}

    asyncio.run(GUARD({"type": "websocket"}, receive, send))
    assert sent == []
