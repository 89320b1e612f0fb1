"""`podpath diff`: two nodes, and the least difference that explains why one of them does not
work.
"""

from __future__ import annotations

import click

from podpath.cli.evidence import read_one
from podpath.cli.options import AnswerFiles, drawing_options, limits_option, output_options
from podpath.cli.output import show, write_files
from podpath.cli.progress_line import ProgressLine
from podpath.collect.limits import Limits
from podpath.flows.flow import EVERY_POD, FlowSet


@click.command()
@click.argument("bad", metavar="BAD")
@click.argument("good", metavar="GOOD")
@click.option(
    "--probe",
    "probes",
    multiple=True,
    metavar="P",
    help="A connection to ask about; may be given more than once.",
)
@click.option(
    "--from",
    "sources",
    multiple=True,
    metavar="SOURCE",
    help="Ask about all connections from here: pod/NS/NAME, pods, or 'NETWORK in DEV'.",
)
@click.option(
    "--to",
    "targets",
    multiple=True,
    metavar="TARGET",
    help="Ask about all connections to here: a network, an address, pod/NS/NAME, svc/NS/NAME:PORT.",
)
@limits_option
@drawing_options
@output_options
def diff(  # noqa: PLR0913 - click gives each option as one argument
    bad: str,
    good: str,
    probes: tuple[str, ...],
    sources: tuple[str, ...],
    targets: tuple[str, ...],
    *,
    limits: Limits,
    files: AnswerFiles,
    as_json: bool,
    color: str,
    verbose: bool,
    brief: bool,
) -> None:
    """Name the smallest difference that explains why one node works and the other does not.

    BAD and GOOD are evidence of two nodes, or of one node before and after: a bundle, a ticket, an
    output. The connections that fail on BAD are walked again with each difference taken over from
    GOOD: the one that makes them work is the answer; where no single one does, the smallest set
    that does.

    With --from or --to, connections are not named one by one: of all that there are, one is walked
    for each answer that they get on the two nodes (podpath[fleet]).

    \b
    Examples:
      podpath diff bad.tar.gz good.tar.gz
      podpath diff ticket.md good-node/ --probe 'tcp 172.16.0.30 > 104.17.32.82:80'
      podpath diff before/ after/ --json
      podpath diff bad/ good/ --from pods --to 10.96.0.0/12
      podpath diff bad.tar.gz good.tar.gz --html difference.html

    \b
    Exit codes: 0 nothing fails on BAD, 1 a difference explains what fails, 2 usage error or
    unreadable input, 3 undecided.
    """  # noqa: D301  # click wants the backspace itself
    from podpath.library import diff as comparison

    progress = ProgressLine()
    bad_case = read_one((bad,), probes, limits=limits, progress=progress)
    good_case = read_one((good,), probes, limits=limits, progress=progress)
    flows = _name_set(sources, targets) if sources or targets else None
    answer = comparison.diff(bad_case, good_case, probes, flows=flows, progress=progress)
    write_files(answer, files)
    show(answer, as_json=as_json, color=color, verbose=verbose, brief=brief)


def _name_set(sources: tuple[str, ...], targets: tuple[str, ...]) -> FlowSet:
    """Return all connections between some ends; `pods` stands for each pod that is shown."""
    named = () if EVERY_POD in sources else sources
    return FlowSet(named, targets)
