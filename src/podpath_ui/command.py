"""`podpath ui`: the page's server, on this machine alone."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from podpath.cli.evidence import read_one
from podpath.cli.options import limits_option, live_option, node_option, progress_option
from podpath.cli.progress_line import ProgressLine
from podpath.collect.limits import Limits
from podpath.library.given import Piece, ThisNode
from podpath.net.errors import MissingExtra

if TYPE_CHECKING:
    from podpath.library.case import Case
    from podpath_ui.guard import Guard
    from podpath_ui.questions import Questions

_EXTRA = "`podpath ui` needs more packages: pip install 'podpath[ui]'"
_AT_ONCE = 32
"""Requests that are held at the same time."""


@click.command()
@live_option
@node_option
@click.option(
    "--good",
    multiple=True,
    metavar="EVIDENCE",
    help="A node where it works, to compare with; the page can take a bundle, too.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    metavar="N",
    help="The port on 127.0.0.1. [any free one]",
)
@limits_option
@progress_option
def ui(
    evidence: tuple[str, ...],
    *,
    live: bool,
    node: str | None,
    good: tuple[str, ...],
    port: int,
    limits: Limits,
) -> None:
    """Show a page on this machine that asks: who reaches whom, what breaks it, what a change would
    do.

    Open the address that is printed. It holds a random token, and whoever has it may ask about this
    evidence until the command ends. The server listens on 127.0.0.1 only; the page loads nothing
    from elsewhere, and no question changes the node.

    \b
    Examples:
      podpath ui node-bundle.tar.gz
      podpath ui ticket.md bundle/ --good healthy.tar.gz
      sudo podpath ui --live --port 8123     # from afar: ssh -L 8123:127.0.0.1:8123 NODE

    \b
    Exit codes: 0 ended by Ctrl-C, 2 usage error or unreadable input.
    """  # noqa: D301  # click wants the backspace itself
    try:
        from podpath_ui.questions import Questions  # noqa: PLC0415 - takes long
        from podpath_ui.server import make_app  # noqa: PLC0415 - needs an extra
    except ImportError as error:
        raise MissingExtra(_EXTRA) from error

    def read_evidence() -> Case:
        pieces: tuple[Piece, ...] = (ThisNode(), *evidence) if live else evidence
        return read_one(pieces, node=node, limits=limits, progress=ProgressLine())

    with socket.create_server(("127.0.0.1", port)) as listening:
        questions = Questions(read_evidence, live=live)
        if good:
            _take_good(questions, good, limits)
        number: int = listening.getsockname()[1]
        token = secrets.token_urlsafe(24)
        click.echo(
            "Open this address in a browser on this machine, and show it to nobody; Ctrl-C ends"
            f" it:\n\n  http://127.0.0.1:{number}/{token}/\n"
        )
        _serve(make_app(questions, number, token), listening)


def _take_good(questions: Questions, good: Sequence[str], limits: Limits) -> None:
    questions.other = read_one(good, limits=limits, progress=ProgressLine())
    questions.other_name = ", ".join(good)


def _serve(app: Guard, listening: socket.socket) -> None:
    """Serve until the user ends it."""
    import uvicorn  # noqa: PLC0415 - needs an extra

    config = uvicorn.Config(
        app,
        access_log=False,
        date_header=False,
        http="h11",
        lifespan="off",
        limit_concurrency=_AT_ONCE,
        log_config=None,
        loop="asyncio",
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=1,
        ws="none",
    )
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listening])
