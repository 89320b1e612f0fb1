"""`podpath diagnose`: the main job."""

from __future__ import annotations

import click

from podpath.cli.evidence import read_one, say_doubt
from podpath.cli.options import (
    AnswerFiles,
    drawing_options,
    limits_option,
    live_option,
    node_option,
    output_options,
    window_options,
)
from podpath.cli.output import show, write_files
from podpath.cli.progress_line import ProgressLine
from podpath.collect.limits import Limits
from podpath.library.given import Piece, ThisNode
from podpath.library.when import When


@click.command()
@live_option
@node_option
@limits_option
@click.option(
    "--probe",
    "probes",
    multiple=True,
    metavar="P",
    help="A connection to ask about; may be given more than once.",
)
@click.option(
    "--good",
    multiple=True,
    metavar="EVIDENCE",
    help="Evidence from a node where it works; the differences are reported.",
)
@window_options
@drawing_options
@output_options
def diagnose(  # noqa: PLR0913 - click gives each option as one argument
    evidence: tuple[str, ...],
    probes: tuple[str, ...],
    good: tuple[str, ...],
    *,
    live: bool,
    node: str | None,
    limits: Limits,
    when: When,
    files: AnswerFiles,
    as_json: bool,
    color: str,
    verbose: bool,
    brief: bool,
) -> None:
    """Name what broke the path, quote the lines that say so, and give the fix.

    EVIDENCE is any mix of tickets (markdown or text with pasted outputs), single outputs, bundles
    (folders, .tar.gz, .tar.zst) and - for standard input. Connections to explain are found in it:
    failing attempts, captures, events. Logs in it show what led to the fault; --failed-at,
    --timeout and --last-ok say when it failed, where they do not.

    \b
    A probe is one line: PROTOCOL SOURCE > DESTINATION[:PORT] [from NETNS | in DEVICE]
      tcp pod/shop/web-0 > svc/shop/api:http
      tcp 172.16.0.30 > 104.17.32.82:80
      udp 10.244.1.5 > 10.96.0.10:53 from pod-a
      icmp 10.0.0.1 > 10.0.0.2 in eth0

    \b
    Examples:
      podpath diagnose ticket.md
      podpath diagnose bundle/ --probe 'tcp 10.244.1.5 > 10.96.0.1:443'
      podpath diagnose bad.tar.gz --good good.tar.gz --json
      sudo podpath diagnose --live --probe 'tcp 10.244.1.5 > 10.96.0.1:443'
      ssh node 'iptables-save -c; ip addr; ip route; sysctl -a' | podpath diagnose - ticket.md

    \b
    Exit codes: 0 nothing wrong found, 1 a fault found, 2 usage error or unreadable input,
    3 undecided for lack of evidence.
    """  # noqa: D301  # click wants the backspace itself
    from podpath.library import diagnosis
    from podpath.library.asked_ends import doubt_ends
    from podpath.library.reading import read

    progress = ProgressLine()
    pieces: tuple[Piece, ...] = (ThisNode(logs=True), *evidence) if live else evidence
    case = read(pieces, asking=probes, node=node, limits=limits, progress=progress)
    say_doubt(doubt_ends((case,), probes))
    good_case = read_one(good, limits=limits, progress=progress) if good else None
    answer = diagnosis.diagnose(case, probes, good=good_case, when=when, progress=progress)
    write_files(answer, files)
    show(answer, as_json=as_json, color=color, verbose=verbose, brief=brief)
