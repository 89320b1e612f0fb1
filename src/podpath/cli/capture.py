"""`podpath capture`: what captures alone say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from podpath.cli.options import F, html_option, output_options
from podpath.cli.output import show, write_beside
from podpath.cli.progress_line import ProgressLine

if TYPE_CHECKING:
    from podpath.diagnosis.capture_filter import Wanted

_WANTED = "podpath.wanted"
"""Where the filters of one call are kept: any number of them narrows what is shown."""


def _want(
    context: click.Context, parameter: click.Parameter, values: tuple[str | int, ...]
) -> None:
    """Take a filter."""
    from podpath.diagnosis.capture_filter import parse_wanted
    from podpath.diagnosis.packet_filter import parse_expression

    texts = [f":{value}" if parameter.name == "port" else str(value) for value in values]
    parse = parse_expression if parameter.name == "filter" else parse_wanted
    context.meta.setdefault(_WANTED, []).extend(parse(text) for text in texts)


def _filter(
    name: str, metavar: str, text: str, kind: click.ParamType[Any] | None = None
) -> Callable[[F], F]:
    """Make an option that narrows what is shown."""
    return click.option(
        name,
        multiple=True,
        metavar=metavar,
        type=kind,
        expose_value=False,
        callback=_want,
        help=text,
    )


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILES...")
@_filter(
    "--connection",
    "C",
    "Only this connection, e.g. 'tcp 10.0.0.1:1024 > 10.0.0.2:80', or as much of it as you know.",
)
@_filter("--host", "ADDRESS", "Only connections to or from this address.")
@_filter("--port", "PORT", "Only connections to or from this port.", click.IntRange(1, 65535))
@_filter(
    "--filter",
    "EXPRESSION",
    "Only connections that match, in tcpdump's syntax: 'host 10.0.0.1 and tcp port 443'.",
)
@click.option(
    "--from",
    "since",
    default="",
    metavar="TIME",
    help="Only connections with packets from then on: a moment in UTC, or +SECONDS of the capture.",
)
@click.option(
    "--to", "until", default="", metavar="TIME", help="Only connections with packets up to then."
)
@click.option(
    "--ladder",
    is_flag=True,
    help="Draw the connection asked about, or the first that fails, across the capture points.",
)
@click.option(
    "--svg",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Write the same drawing as SVG into this file.",
)
@click.option(
    "--connections",
    is_flag=True,
    help="Measure each connection: duration, bytes, what was sent again, round trips, DNS.",
)
@click.option(
    "--csv",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Write these measures as CSV into this file.",
)
@click.option(
    "--parquet",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Write them as Parquet (pip install 'podpath[fleet]').",
)
@html_option
@output_options
def capture(  # noqa: PLR0913 - click gives each option as one argument
    files: tuple[str, ...],
    *,
    since: str,
    until: str,
    ladder: bool,
    svg: str | None,
    connections: bool,
    csv: str | None,
    parquet: str | None,
    html: str | None,
    as_json: bool,
    color: str,
    verbose: bool,
    brief: bool,
) -> None:
    """Show what captures alone tell, each finding with the packets that show it.

    FILES are pcap and pcapng files, compressed (.gz, .xz, .bz2, .zst) or not, printed captures of
    tcpdump, tickets with some in them, bundles, and - for standard input. Several capture points
    are combined: a packet is followed through NAT and tunnels, and what is lost between two points
    is named. Capture files need an extra (pip install 'podpath[capture]'); printed captures do not.

    A capture may be of any length. Above 2,000 packets, only those that show a failure or were
    asked about are printed; above 2,000,000, packets are followed from point to point for some
    connections at a time. --filter takes host, net, port, portrange, tcp, udp, sctp, icmp, icmp6,
    ip, ip6, and, or, not and parentheses, and keeps both directions of what matches.

    \b
    Examples:
      podpath capture eth0.pcap
      podpath capture veth.pcap eth0.pcap node2.pcapng.gz
      podpath capture eth0.pcap --connections --host 10.244.1.5
      podpath capture eth0.pcap --filter 'host 10.0.0.1 and tcp port 443' --from 09:49 --to 09:51
      podpath capture node1.pcap node2.pcap --connection 'tcp 10.244.1.5 > 10.96.0.1:443'
      tcpdump -nnr eth0.pcap | podpath capture - --json

    \b
    Exit codes: 0 nothing wrong found, 1 a fault found, 2 usage error or unreadable input,
    3 no packet to judge by.
    """  # noqa: D301  # click wants the backspace itself
    from podpath.library.captures import captures

    wanted: list[Wanted] = click.get_current_context().meta[_WANTED]
    answer = captures(files, wanted, since=since, until=until, progress=ProgressLine())
    answer = answer.with_measures() if connections or csv or parquet else answer
    drawn = answer.with_ladder() if ladder or svg else answer
    write_beside(svg, drawn.svg)
    write_beside(csv, answer.csv)
    write_beside(parquet, answer.parquet)
    answer = answer if connections else replace(answer, measured=())
    drawn = drawn if connections else replace(drawn, measured=())
    write_beside(html, drawn.html)
    show(drawn if ladder else answer, as_json=as_json, color=color, verbose=verbose, brief=brief)
