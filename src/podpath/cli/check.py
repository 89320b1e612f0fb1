"""`podpath check`: flows that must and must not connect."""

from __future__ import annotations

import click

from podpath.cli.evidence import read_one
from podpath.cli.options import limits_option, live_option, node_option, output_options
from podpath.cli.output import show, write_new, write_text
from podpath.cli.terminal import ProgressLine
from podpath.collect.limits import Limits
from podpath.library import flows as checking
from podpath.library.given import Piece, ThisNode


@click.command()
@click.argument("flows", metavar="FLOWS.toml", type=click.Path())
@live_option
@node_option
@limits_option
@click.option(
    "--with",
    "changes",
    multiple=True,
    metavar="CHANGE",
    help="A change to take over in the model first; may be given more than once.",
)
@click.option(
    "--allow-undecided", is_flag=True, help="Exit 0 although nobody can tell of some flows."
)
@click.option(
    "--derive", is_flag=True, help="Write FLOWS.toml (- for standard output) from the evidence."
)
@click.option("--junit", metavar="FILE", help="Write a JUnit report.")
@click.option("--sarif", metavar="FILE", help="Write a SARIF 2.1.0 report.")
@output_options
def check(  # noqa: PLR0913 - click gives each option as one argument
    flows: str,
    evidence: tuple[str, ...],
    changes: tuple[str, ...],
    junit: str | None,
    sarif: str | None,
    *,
    live: bool,
    node: str | None,
    limits: Limits,
    allow_undecided: bool,
    derive: bool,
    as_json: bool,
    color: str,
    verbose: bool,
    brief: bool,
) -> None:
    """Hold a node against the flows that must and must not connect, also with a change not made
    yet.

    FLOWS.toml states flows by pod, service or address. Each is walked, there and back; a flow that
    nobody can tell of is never taken to be as expected. The faults that podpath knows by name are
    another thing: `podpath checks` lists them.

    \b
      [[flow]]
      name = "web reaches the API"
      from = "pod/shop/web-0"          # pod/NS/NAME, host or an address; a list for several
      to = "svc/shop/api:http"         # or pod/NS/NAME, or an address, with `port`
      expect = "connects"              # or "fails", then by = "calico" or by = "KUBE-FIREWALL"

    \b
    A CHANGE is a file, recognized by its content:
      rules.v4[,noflush][,legacy|nft]  rules as iptables-restore takes them
      rules.nft                        a script for nft -f
      99-pods.conf                     sysctls, as sysctl -p takes them
      routes.txt                       ip route, ip rule and sysctl -w commands
      policy.yaml                      a NetworkPolicy, as its specification says
      FILE,netns=NAME                  any of them, in another namespace than the host's

    \b
    Examples:
      podpath check flows.toml bundle/
      podpath check flows.toml bundle/ --with new-rules.v4 --with 99-sysctl.conf
      podpath check flows.toml node.tar.gz --with rules.nft --junit report.xml --sarif report.sarif
      sudo podpath check flows.toml --live
      podpath check flows.toml bundle/ services.yaml policies.yaml --derive

    \b
    Exit codes: 0 all as expected, 1 some are not, 2 usage error or unreadable input, 3 undecided.
    """  # noqa: D301  # click wants the backspace itself
    progress = ProgressLine()
    pieces: tuple[Piece, ...] = (ThisNode(), *evidence) if live else evidence
    if derive:
        case = read_one(pieces, node=node, limits=limits, progress=progress)
        write_new(flows, checking.derive(case, progress=progress))
        return
    stated = checking.read_given_flows(flows)
    case = read_one(
        pieces, [flow.probe for flow in stated], node=node, limits=limits, progress=progress
    )
    answer = checking.check(
        case, stated, changes, allow_undecided=allow_undecided, progress=progress
    )
    if junit is not None:
        write_text(junit, answer.junit())
    if sarif is not None:
        write_text(sarif, answer.sarif())
    show(answer, as_json=as_json, color=color, verbose=verbose, brief=brief)
