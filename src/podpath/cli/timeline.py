"""`podpath timeline`: what changed in the window in which it broke."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from podpath.cli.logs import chronicle_logs, make_clock
from podpath.cli.options import Asked, output_options, window_options
from podpath.cli.terminal import choose_style, progress
from podpath.collect.logs import read_texts
from podpath.net.errors import EvidenceError, UsageError
from podpath.report.timeline_json import render_timeline_json
from podpath.report.timeline_svg import render_timeline_svg
from podpath.report.timeline_text import render_timeline
from podpath.timeline.documents import find_logs


@click.command()
@click.argument("logs", nargs=-1, required=True, metavar="LOGS...")
@window_options
@click.option("--svg", metavar="FILE", help="Draw the timeline into this file too.")
@output_options
def timeline(logs: tuple[str, ...], svg: str | None, *, asked: Asked, as_json: bool, colour: str, verbose: bool) -> None:
    """Say what changed in the window in which it broke, and which known chain of causes leads from there to what.

    LOGS are files, folders (/var/log), bundles, archives, tickets with logs pasted into them, and - for standard input: syslog,
    journalctl, dmesg, klog, container logs, kubectl get events, audit, histories of package managers. The window is after the
    last success and before the first bad request began, which is its failure minus its timeout.

    \b
    T is a moment: 2022-02-11T09:49:15+08:00, 'Feb 11 09:49:15', 09:49:15 (of the logs' last such day), @1644544155.

    \b
    Examples:
      podpath timeline /var/log/messages --failed-at 09:49:15 --timeout 10s --last-ok 09:48:54
      podpath timeline bundle/ --zone Asia/Shanghai --zone app.log=UTC --svg timeline.svg
      journalctl --since -1h | podpath timeline - --failed-at 09:49:15 --json

    \b
    Exit codes: 0 nothing changed in the window, 1 something did that breaks networks, 2 usage error or unreadable input,
    3 undecided for lack of evidence.
    """  # noqa: D301  # click wants the backspace itself
    clock = make_clock(asked)
    with progress("reading logs"):
        texts = read_texts(logs)
        found = [log for text in texts.sources for log in find_logs(text)]
        if not found:
            named = ", ".join("standard input" if log == "-" else log for log in logs)
            raise EvidenceError(
                f"{named}: expected logs such as /var/log/messages, journalctl, dmesg, kubectl get events; saw none"
            )
        chronicle = chronicle_logs(found, clock, asked)
        chronicle = replace(chronicle, gaps=(*texts.gaps, *chronicle.gaps))
    if svg is not None:
        _write(svg, render_timeline_svg(chronicle))
    if as_json:
        click.echo(render_timeline_json(chronicle), nl=False)
    else:
        click.echo(render_timeline(chronicle, choose_style(colour, verbose=verbose)), nl=False, color=True)
    click.get_current_context().exit(chronicle.exit_code)


def _write(path: str, text: str) -> None:
    try:
        Path(path).write_text(text, encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a file name"
        raise UsageError(f"{path}: {str(reason).lower()}") from error
