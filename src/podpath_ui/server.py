"""The server of the page: its files, what it may ask, and the pages of its answers.

A GET reads and changes nothing. Whatever asks for work is a POST with a body of bounded size.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from importlib import resources
from typing import cast

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from podpath.net.errors import PodpathError, UsageError
from podpath_ui.bounds import ASKED, SAID, UPLOADED, shorten
from podpath_ui.ends import AskedEnds
from podpath_ui.guard import ANSWER_POLICY, Guard
from podpath_ui.questions import Questions, ShownAnswer

FILES = {"": "index.html", "page.css": "page.css", "page.js": "page.js"}
_TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
_FIELDS = ("source", "target", "protocol", "port", "options")
_JSON, _BYTES = "application/json", "application/octet-stream"
Handler = Callable[[Request], Awaitable[Response]]


class TooLong(UsageError):
    """A body is longer than what is taken."""


def make_app(questions: Questions, port: int, token: str) -> Guard:
    """Return the application, which answers on this port and behind this token alone."""
    routes = [Route(f"/{path}", partial(_send_file, name)) for path, name in FILES.items()]
    asked: dict[str, Callable[[Request], Awaitable[object]]] = {
        "follow": partial(_ask, lambda ends, _: questions.follow(ends)),
        "explain": partial(_ask, lambda ends, _: questions.explain(ends)),
        "compare": partial(_ask, lambda ends, _: questions.compare(ends)),
        "change": partial(
            _ask, lambda ends, said: questions.change(ends, said["change"], said["netns"])
        ),
        "other": partial(_take_other, questions),
        "again": partial(_read_again, questions),
    }
    routes += [
        Route(f"/{name}", partial(_answer, question), methods=["POST"])
        for name, question in asked.items()
    ]
    routes.append(Route("/node", partial(_answer, partial(_offer, questions))))
    routes.append(Route("/answers/{number:int}", partial(_send_answer, questions)))
    return Guard(Starlette(routes=routes), port, token)


async def _send_file(name: str, _request: Request) -> Response:
    text = resources.files("podpath_ui.page").joinpath(name).read_text(encoding="utf-8")
    return Response(text, media_type=_TYPES[name.rpartition(".")[2]])


async def _send_answer(questions: Questions, request: Request) -> Response:
    page = questions.read_page(request.path_params["number"])
    headers = {"content-security-policy": ANSWER_POLICY}
    if page is None:
        gone = "<!doctype html><title>gone</title><p>This answer is no longer kept: ask again.</p>"
        return HTMLResponse(gone, 404, headers)
    return HTMLResponse(page, headers=headers)


async def _answer(question: Callable[[Request], Awaitable[object]], request: Request) -> Response:
    """Answer a question; what is wrong with it is said."""
    try:
        return JSONResponse(await question(request))
    except TooLong as error:
        return JSONResponse({"error": shorten(str(error), SAID)}, 413)
    except PodpathError as error:
        return JSONResponse({"error": shorten(str(error), SAID)}, 400)


async def _offer(questions: Questions, _request: Request) -> object:
    return await run_in_threadpool(questions.offer)


async def _read_again(questions: Questions, request: Request) -> object:
    await _read_body(request, _JSON, ASKED)
    await run_in_threadpool(questions.read_again)
    return {}


async def _take_other(questions: Questions, request: Request) -> object:
    data = await _read_body(request, _BYTES, UPLOADED)
    name = request.query_params.get("name", "")
    return {"compared": await run_in_threadpool(questions.take_other, name, data)}


async def _ask(
    question: Callable[[AskedEnds, Mapping[str, str]], ShownAnswer], request: Request
) -> ShownAnswer:
    said = read_said(await _read_body(request, _JSON, ASKED))
    ends = cast("AskedEnds", {name: said[name] for name in _FIELDS})
    return await run_in_threadpool(question, ends, said)


def read_said(body: bytes) -> dict[str, str]:
    """Return what the page's form says, with an empty text for what it leaves out; `UsageError`
    where that is not the form's.
    """
    try:
        said = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise UsageError("expected the page's form as JSON") from error
    if not isinstance(said, dict) or not all(isinstance(one, str) for one in said.values()):
        raise UsageError("expected the page's form as texts by name")
    return dict.fromkeys((*_FIELDS, "change", "netns"), "") | said


async def _read_body(request: Request, kind: str, most: int) -> bytes:
    """Read a body up to a size; a longer one is refused before all of it is here."""
    if request.headers.get("content-type") != kind:
        raise UsageError(f"expected {kind}")
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > most:
            raise TooLong(f"expected at most {most >> 10} kB, saw more")
    return bytes(body)
