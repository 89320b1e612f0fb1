"""`podpath reach`: what becomes of every flow, and what differs between two nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from podpath.cli.evidence import read_one
from podpath.cli.live_cluster import EVERY_NODE, LiveOptions, cluster_options, read_cluster
from podpath.cli.options import NodesGiven, nodes_option
from podpath.cli.progress_line import ProgressLine
from podpath.flows.flow import FlowSet
from podpath.library.given import Given, Piece
from podpath.library.progress import Progress
from podpath_fleet.reach_space import MOST_WALKS

if TYPE_CHECKING:
    from podpath_fleet.reach_cluster import ClusterReach
    from podpath_fleet.reached import ReachDifference, ReachResult


@click.command()
@click.argument("evidence", nargs=-1, metavar="EVIDENCE...")
@nodes_option
@click.option(
    "--objects",
    multiple=True,
    metavar="FILE",
    help="The cluster's API objects, as podpath why takes them.",
)
@cluster_options
@click.option(
    "--from",
    "sources",
    multiple=True,
    metavar="SOURCE",
    help="Who sends: pod/NS/NAME, host, an address, or 'NETWORK in DEV'. [every pod]",
)
@click.option(
    "--to",
    "targets",
    multiple=True,
    metavar="TARGET",
    help="A network, an address, pod/NS/NAME or svc/NS/NAME:PORT. [every address]",
)
@click.option(
    "--protocol",
    "protocols",
    multiple=True,
    type=click.Choice(["tcp", "udp", "icmp"]),
    default=("tcp", "udp", "icmp"),
    show_default=True,
)
@click.option(
    "--ports", default="1-65535", show_default=True, metavar="PORTS", help="Destination ports."
)
@click.option(
    "--walks",
    type=click.IntRange(1),
    default=MOST_WALKS,
    show_default=True,
    metavar="N",
    help="Walks for each source and protocol, after which the rest is told as unknown.",
)
@click.option(
    "--unmet",
    is_flag=True,
    help="List as well the rules of iptables that none of these flows meets.",
)
@click.option(
    "--diff",
    "other",
    metavar="EVIDENCE",
    help="Tell which of these flows have another answer on another node, or later.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document: podpath/reach/v1.")
def reach(  # noqa: PLR0913 - click gives each option as one argument
    evidence: tuple[str, ...],
    sources: tuple[str, ...],
    targets: tuple[str, ...],
    protocols: tuple[str, ...],
    ports: str,
    walks: int,
    *,
    nodes: NodesGiven,
    objects: tuple[str, ...],
    unmet: bool,
    other: str | None,
    as_json: bool,
    **cluster: Any,  # noqa: ANN401  # the options of LiveOptions
) -> None:
    """Tell what becomes of every new connection that pods may try, to every address and port, on
    one node or over the nodes of a cluster.

    Flows that provably take the same walk are one class; classes with the same answer are told
    together, with a flow to try and the line that decided. What was not walked is told as unknown.

    \b
    Examples:
      podpath reach bundle/ --from pod/shop/web-0
      podpath reach bundle/ --to 10.96.0.0/12 --protocol tcp --ports 80,443 --json
      podpath reach bundle/ --from '203.0.113.0/24 in eth0' --to 10.0.0.2
      podpath reach yesterday/ --diff today/ --from pod/shop/web-0
      podpath reach --node node1=n1/ --node node2=n2/ --objects api.yaml --from pod/shop/web-0
      podpath reach --cluster --protocol tcp --to svc/shop/api:80

    \b
    Exit codes: 0 all of them work, 1 some never work or only sometimes, 2 usage error, 3 some are
    undecided or unknown. With --diff: 0 nothing changed, 1 something did, 2 usage error, 3 unknown.
    """  # noqa: D301  # click wants the backspace itself
    progress = ProgressLine()
    question = FlowSet(sources, targets, protocols, ports)
    asked = LiveOptions(live=cluster.pop("from_cluster"), **cluster)
    answer: ReachResult | ReachDifference | ClusterReach
    if nodes.bundles or asked.asked_for or asked.namespaces:
        if evidence or unmet or other is not None:
            raise click.UsageError(
                "expected a cluster without EVIDENCE, --unmet and --diff, which are of one node"
            )
        answer = _reach_cluster((nodes.bundles, objects, asked), question, walks, progress)
    else:
        if not (evidence or objects):
            raise click.UsageError("Missing argument 'EVIDENCE...'.")
        if unmet and other is not None:
            raise click.UsageError("expected --unmet or --diff, saw both")
        answer = _reach_node(
            ((*evidence, *objects), nodes.chosen, other), question, (walks, unmet), progress
        )
    click.echo(answer.json() if as_json else answer.text(), nl=False)
    click.get_current_context().exit(answer.exit_code)


def _reach_node(
    given: tuple[tuple[str, ...], str | None, str | None],
    question: FlowSet,
    wanted: tuple[int, bool],
    progress: Progress,
) -> ReachResult | ReachDifference:
    from podpath_fleet import reached  # noqa: PLC0415 - takes long

    evidence, node, other = given
    walks, unmet = wanted
    case = read_one(evidence, node=node, progress=progress)
    if other is None:
        return reached.reach(case, question, walks=walks, unmet=unmet, progress=progress)
    after = read_one((other,), node=node, progress=progress)
    return reached.compare_reach(case, after, question, walks=walks, progress=progress)


def _reach_cluster(
    given: tuple[dict[str, tuple[str, ...]], tuple[str, ...], LiveOptions],
    question: FlowSet,
    walks: int,
    progress: Progress,
) -> ClusterReach:
    from podpath_fleet.reach_cluster import reach_cluster  # noqa: PLC0415 - takes long

    bundles, objects, asked = given
    nodes: dict[str, Given] = dict(bundles)
    said: tuple[Piece, ...] = objects
    absent: tuple[str, ...] = ()
    if asked.asked_for or not bundles:
        read = read_cluster(asked, (EVERY_NODE,), bundles, progress, every_pod=True)
        nodes |= read.nodes
        said, absent = (*said, *read.objects), read.absent
        for sentence in read.lacking:
            click.echo(f"not read: {sentence}", err=True)
    return reach_cluster(
        nodes, question, objects=said, lacking=absent, walks=walks, progress=progress
    )
