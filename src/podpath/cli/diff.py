"""`podpath diff`: two nodes, and the least difference that explains why one of them does not work."""

from __future__ import annotations

import click

from podpath.cli.case import parse_probes, place_probes, read_case
from podpath.cli.options import output_options
from podpath.cli.terminal import choose_style, progress
from podpath.diagnosis.difference.compare import compare_cases
from podpath.report.diff_json import render_diff_json
from podpath.report.diff_text import render_diff


@click.command()
@click.argument("bad", metavar="BAD")
@click.argument("good", metavar="GOOD")
@click.option("--probe", "probes", multiple=True, metavar="P", help="A connection to ask about; may be given more than once.")
@output_options
def diff(bad: str, good: str, probes: tuple[str, ...], *, as_json: bool, colour: str, verbose: bool) -> None:
    """Name the smallest difference that explains why one node works and the other does not.

    BAD and GOOD are evidence of two nodes, or of one node before and after: a bundle, a ticket, an output. The connections
    that fail on BAD are walked with every difference taken over from GOOD: the one that makes them work is the answer. Where
    none does alone, the smallest set that does together is.

    \b
    Examples:
      podpath diff bad.tar.gz good.tar.gz
      podpath diff ticket.md good-node/ --probe 'tcp 172.16.0.30 > 104.17.32.82:80'
      podpath diff before/ after/ --json

    \b
    Exit codes: 0 nothing fails on BAD, 1 a difference explains what fails, 2 usage error or unreadable input, 3 undecided.
    """  # noqa: D301  # click wants the backspace itself
    asked = parse_probes(probes)
    bad_case, good_case = read_case((bad,), asked), read_case((good,), asked)
    questioned = place_probes(probes, bad_case.node)
    with progress("walking"):
        comparison = compare_cases(bad_case, good_case, questioned)
    if as_json:
        click.echo(render_diff_json(comparison), nl=False)
    else:
        click.echo(render_diff(comparison, choose_style(colour, verbose=verbose)), nl=False, color=True)
    click.get_current_context().exit(comparison.exit_code)
