"""`podpath capture`: what captures alone say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

from podpath.cli.captured import match_captures, read_captures_alone
from podpath.cli.options import F, output_options
from podpath.cli.terminal import choose_style, progress
from podpath.collect.capture_files import are_captures
from podpath.collect.captures import End
from podpath.collect.matched import MatchedCaptures
from podpath.diagnosis.capture_answer import answer_captures
from podpath.diagnosis.capture_filter import Wanted, narrow, parse_wanted
from podpath.node.case import Case
from podpath.report.capture_json import render_capture_json
from podpath.report.capture_text import render_capture

_WANTED = "podpath.wanted"
"""Where the filters of one call are kept: any number of them narrows what is shown."""


def _want(context: click.Context, parameter: click.Parameter, values: tuple[str | int, ...]) -> None:
    """Take a filter."""
    texts = [f":{value}" if parameter.name == "port" else str(value) for value in values]
    context.meta.setdefault(_WANTED, []).extend(parse_wanted(text) for text in texts)


def _filter(name: str, metavar: str, text: str, kind: click.ParamType[Any] | None = None) -> Callable[[F], F]:
    """Make an option that narrows what is shown."""
    return click.option(name, multiple=True, metavar=metavar, type=kind, expose_value=False, callback=_want, help=text)


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILES...")
@_filter("--connection", "C", "Only this connection, e.g. 'tcp 10.0.0.1:1024 > 10.0.0.2:80', or as much of it as you know.")
@_filter("--host", "ADDRESS", "Only connections of this address.")
@_filter("--port", "PORT", "Only connections to or from this port.", click.IntRange(1, 65535))
@click.option(
    "--ladder", is_flag=True, help="Draw the connection asked about, or the first that fails, across the capture points."
)
@click.option("--svg", type=click.Path(dir_okay=False), metavar="FILE", help="Write the same drawing as SVG into this file.")
@output_options
def capture(files: tuple[str, ...], *, ladder: bool, svg: str | None, as_json: bool, colour: str, verbose: bool) -> None:
    """Say what captures alone show, each finding with the packets that show it.

    FILES are pcap and pcapng files, packed (.gz, .xz, .bz2, .zst) or not, printed captures of tcpdump, tickets with some in
    them, bundles, and - for standard input. Several points are put together: a packet is followed through NAT and tunnels, and
    what is lost between two points is named. Capture files need NumPy: pip install 'podpath[capture]'. Printed ones do not.

    A capture may be of any length. Of more than 2,000 packets those are shown that tell of a failure, or are asked about; one of
    more than 2,000,000 is not followed from point to point.

    \b
    Examples:
      podpath capture eth0.pcap
      podpath capture veth.pcap eth0.pcap node2.pcapng.gz
      podpath capture node1.pcap node2.pcap --connection 'tcp 10.244.1.5 > 10.96.0.1:443'
      tcpdump -nnr eth0.pcap | podpath capture - --json

    \b
    Exit codes: 0 nothing wrong found, 1 a fault found, 2 usage error or unreadable input, 3 no packet to judge by.
    """  # noqa: D301  # click wants the backspace itself
    context = click.get_current_context()
    wanted: list[Wanted] = context.meta[_WANTED]
    case, matched = _read(files, [(one.one, one.other) for one in wanted])
    if wanted:
        case = narrow(case, wanted)
    with progress("looking for faults"):
        points, states = (matched.points, matched.count_states()) if matched is not None else ((), None)
        answer = answer_captures(case, points, None if wanted else states)
    style = choose_style(colour, verbose=verbose)
    drawings: list[str] = []
    if ladder or svg:
        from podpath.cli.ladders import draw_ladder, write_ladder  # noqa: PLC0415  # only where something is drawn
        from podpath.report.ladder import render_ladder  # noqa: PLC0415  # as above

        drawn = draw_ladder(matched or match_captures(case, (), least=1), answer, wanted)
        drawings += [render_ladder(drawn, style)] if ladder else []
        if svg:
            write_ladder(svg, drawn)
    if as_json:
        click.echo(render_capture_json(answer), nl=False)
    else:
        click.echo(render_capture(answer, style, drawings), nl=False, color=True)
    context.exit(answer.exit_code)


def _read(files: Sequence[str], between: Sequence[tuple[End, End]]) -> tuple[Case, MatchedCaptures | None]:
    """Read what is given."""
    if are_captures(files):
        return read_captures_alone(files, between)
    from podpath.cli.case import read_captured  # noqa: PLC0415  # the readers of all outputs, only where there may be some

    return read_captured(files, between=between)
