"""`podpath timeline`: what changed in the window in which it broke."""

from __future__ import annotations

import click

from podpath.cli.options import html_option, output_options, window_options
from podpath.cli.output import show, write_beside
from podpath.cli.progress_line import ProgressLine
from podpath.library.when import When


@click.command()
@click.argument("logs", nargs=-1, required=True, metavar="LOGS...")
@window_options
@click.option("--svg", metavar="FILE", help="Also draw the timeline into this file.")
@html_option
@output_options
def timeline(  # noqa: PLR0913 - click gives each option as one argument
    logs: tuple[str, ...],
    svg: str | None,
    *,
    when: When,
    html: str | None,
    as_json: bool,
    color: str,
    verbose: bool,
    brief: bool,
) -> None:
    """Show what changed in the window in which it broke, and which known chain of causes leads from
    there, and to what.

    LOGS are files, folders (/var/log), bundles, archives, tickets with logs pasted into them, and -
    for standard input: syslog, journalctl, dmesg, klog, container logs, kubectl get events, audit,
    histories of package managers. The window is after the last success and before the first failing
    request began, which is its failure minus its timeout.

    \b
    T is a moment: 2022-02-11T09:49:15+08:00, 'Feb 11 09:49:15', 09:49:15 (of the logs' last such
    day), @1644544155.

    \b
    Examples:
      podpath timeline /var/log/messages --failed-at 09:49:15 --timeout 10s --last-ok 09:48:54
      podpath timeline bundle/ --zone Asia/Shanghai --zone app.log=UTC --svg timeline.svg
      journalctl --since -1h | podpath timeline - --failed-at 09:49:15 --json

    \b
    Exit codes: 0 nothing changed in the window, 1 something did that breaks networks,
    2 usage error or unreadable input, 3 undecided for lack of evidence.
    """  # noqa: D301  # click wants the backspace itself
    from podpath.library import timeline as chronicle

    answer = chronicle.timeline(logs, when, progress=ProgressLine())
    write_beside(svg, answer.svg)
    write_beside(html, answer.html)
    show(answer, as_json=as_json, color=color, verbose=verbose, brief=brief)
