"""`podpath check`: flows that must and must not connect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from podpath.cli.evidence import read_one
from podpath.cli.live_cluster import EVERY_NODE, LiveOptions, cluster_options, read_cluster
from podpath.cli.options import (
    NodesGiven,
    evidence_option,
    limits_option,
    nodes_option,
    output_options,
)
from podpath.cli.output import show, write_beside, write_new
from podpath.cli.progress_line import ProgressLine
from podpath.collect.limits import Limits
from podpath.library.given import Given, Piece, ThisNode
from podpath.library.progress import Progress
from podpath.net.errors import UsageError

if TYPE_CHECKING:
    from podpath.flows.flow import Flow
    from podpath.library.flows import FlowsResult


@click.command()
@click.argument("flows", metavar="FLOWS.toml", type=click.Path())
@evidence_option
@nodes_option
@click.option(
    "--objects",
    multiple=True,
    metavar="FILE",
    help="The cluster's API objects, as podpath why takes them.",
)
@cluster_options
@limits_option
@click.option(
    "--with",
    "changes",
    multiple=True,
    metavar="CHANGE",
    help="A change to apply to the model first; may be given more than once.",
)
@click.option("--allow-undecided", is_flag=True, help="Exit 0 even if some flows are undecided.")
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
    nodes: NodesGiven,
    objects: tuple[str, ...],
    limits: Limits,
    allow_undecided: bool,
    derive: bool,
    as_json: bool,
    color: str,
    verbose: bool,
    brief: bool,
    **cluster: Any,  # noqa: ANN401  # the options of LiveOptions
) -> None:
    """Check a node or a cluster against the flows that must and must not connect, also with a
    change not made yet.

    FLOWS.toml states flows by pod, service or address. Each is walked, there and back; an undecided
    flow never counts as expected. A network, a range of ports or `pods` stands for a set of flows,
    which is walked by classes (podpath[fleet]). The faults that podpath knows by name are another
    thing: `podpath checks` lists them.

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
      FILE,node=NAME                   any of them, on that node of a cluster
      drain:NODE                       a node that is drained: its pods are evicted

    \b
    Examples:
      podpath check flows.toml bundle/
      podpath check flows.toml bundle/ --with new-rules.v4 --with 99-sysctl.conf
      podpath check flows.toml node.tar.gz --with rules.nft --junit report.xml --sarif report.sarif
      sudo podpath check flows.toml --live
      podpath check flows.toml bundle/ services.yaml policies.yaml --derive
      podpath check flows.toml --node node1=n1/ --node node2=n2/ --objects api.yaml
      podpath check flows.toml --cluster --with drain:node2 --with new.v4,node=node1

    \b
    Exit codes: 0 all as expected, 1 some are not, 2 usage error or unreadable input, 3 undecided.
    """  # noqa: D301  # click wants the backspace itself
    progress = ProgressLine()
    asked = LiveOptions(live=cluster.pop("from_cluster"), **cluster)
    if nodes.bundles or asked.asked_for or asked.namespaces:
        if evidence or live:
            raise UsageError(
                "expected each node's evidence as --node NAME=BUNDLE, saw some without a node"
            )
        answer = _check_cluster(
            flows, (nodes.bundles, objects, asked), changes, (derive, allow_undecided), progress
        )
    else:
        if not (evidence or live or objects):
            raise click.UsageError("Missing argument 'EVIDENCE...'.")
        pieces: tuple[Piece, ...] = (*((ThisNode(),) if live else ()), *evidence, *objects)
        answer = _check_node(
            flows, (pieces, nodes.chosen, limits), changes, (derive, allow_undecided), progress
        )
    if answer is None:
        return
    write_beside(junit, answer.junit)
    write_beside(sarif, answer.sarif)
    show(answer, as_json=as_json, color=color, verbose=verbose, brief=brief)


def _check_node(
    flows: str,
    given: tuple[tuple[Piece, ...], str | None, Limits],
    changes: Sequence[str],
    wanted: tuple[bool, bool],
    progress: Progress,
) -> FlowsResult | None:
    """Check one node; None where flows are derived."""
    from podpath.library import flows as checking

    pieces, node, limits = given
    derive, allow_undecided = wanted
    if derive:
        case = read_one(pieces, node=node, limits=limits, progress=progress)
        write_new(flows, checking.derive(case, progress=progress))
        return None
    stated = checking.read_given_flows(flows)
    probes = checking.list_probes(stated)
    case = read_one(pieces, probes, node=node, limits=limits, progress=progress)
    return checking.check(case, stated, changes, allow_undecided=allow_undecided, progress=progress)


def _check_cluster(
    flows: str,
    given: tuple[dict[str, tuple[str, ...]], tuple[str, ...], LiveOptions],
    changes: Sequence[str],
    wanted: tuple[bool, bool],
    progress: Progress,
) -> FlowsResult | None:
    """Check the nodes of a cluster; None where flows are derived."""
    from podpath.library import cluster_flows
    from podpath.library import flows as checking

    bundles, objects, asked = given
    derive, allow_undecided = wanted
    stated = () if derive else checking.read_given_flows(flows)
    nodes: dict[str, Given] = dict(bundles)
    said: tuple[Piece, ...] = objects
    absent: tuple[str, ...] = ()
    if asked.asked_for or not bundles:
        read = read_cluster(asked, _list_ends(stated), bundles, progress, every_pod=True)
        nodes |= read.nodes
        said, absent = (*said, *read.objects), read.absent
        for sentence in read.lacking:
            click.echo(f"not read: {sentence}", err=True)
    if derive:
        text = cluster_flows.derive_cluster(nodes, objects=said, progress=progress)
        write_new(flows, text)
        return None
    return cluster_flows.check_cluster(
        nodes,
        stated,
        changes,
        objects=said,
        lacking=absent,
        allow_undecided=allow_undecided,
        progress=progress,
    )


def _list_ends(flows: Sequence[Flow]) -> tuple[str, ...]:
    """Return the ends of flows, each once; where there are no flows yet, every node."""
    ends = dict.fromkeys(end for flow in flows for end in (flow.source, flow.target))
    return tuple(ends) or (EVERY_NODE,)
