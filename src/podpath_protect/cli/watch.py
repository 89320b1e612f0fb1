"""A part of protect run in the foreground until a signal, printing what it finds as it changes."""

from __future__ import annotations

import json
import signal
from types import FrameType

import click

from podpath.cli.terminal import choose_style
from podpath_protect.agent.keeper import Body, KeeperContext, KeeperStatus
from podpath_protect.cli.text import finding_document, render_findings


def run_part(body: Body, schema: str, *, as_json: bool) -> bool:
    """Run a part until SIGINT or SIGTERM, and tell whether what it keeps held at its last look.

    As JSON it prints a line for each look, as text whenever what is wrong changes.
    """
    style = choose_style("auto", verbose=False)
    last: list[KeeperStatus] = []

    def hear(status: KeeperStatus) -> None:
        if as_json:
            found = [finding_document(finding) for finding in status.findings]
            click.echo(json.dumps({"schema": schema, "holds": status.ready, "findings": found}))
        elif not last or last[-1].findings != status.findings:
            said = "what is kept holds" if status.ready else "what is kept does not hold"
            click.echo(f"{said}\n{render_findings(status.findings, style)}", nl=False)
        last[:] = [status]

    context = KeeperContext(hear)

    def stop(number: int, frame: FrameType | None) -> None:  # noqa: ARG001  # signal's signature
        context.stop()

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        while not context.stopping:
            body(context)  # it returns before where it wants to begin anew
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        context.close()
    return bool(last) and last[-1].ready
