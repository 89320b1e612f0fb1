"""`podpath why`: one connection of a cluster, over whatever nodes lie between its ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from podpath.cli.evidence import say_doubt
from podpath.cli.live_cluster import LiveOptions, live_options, read_cluster
from podpath.cli.options import AnswerFiles, drawing_options, output_options
from podpath.cli.output import show, write_files
from podpath.cli.progress_line import ProgressLine
from podpath.library.given import Given, Piece

if TYPE_CHECKING:
    from podpath.library.why import WhyResult


def _import_walking() -> Callable[..., WhyResult]:
    """Import what walks, which takes longer than all else that is imported."""
    from podpath.library.why import why as find_out  # while a cluster is waited for

    return find_out


def _parse_nodes(
    context: click.Context, parameter: click.Parameter, given: tuple[str, ...]
) -> dict[str, tuple[str, ...]]:
    """Read NAME=BUNDLE; what is given twice for a name goes together."""
    nodes: dict[str, tuple[str, ...]] = {}
    for text in given:
        name, sign, bundle = text.partition("=")
        if not (name and sign and bundle):
            raise click.BadParameter(f"expected NAME=BUNDLE, saw {text!r}", context, parameter)
        nodes[name] = (*nodes.get(name, ()), bundle)
    return nodes


@click.command()
@click.argument("source")
@click.argument("destination")
@click.option(
    "--node",
    "nodes",
    multiple=True,
    metavar="NAME=BUNDLE",
    callback=_parse_nodes,
    help="The snapshot of a node, taken by hand; once for each node involved.",
)
@click.option(
    "--objects",
    multiple=True,
    metavar="FILE",
    help="API objects: kubectl get -A -o yaml pods,services,endpoints,nodes,networkpolicies.",
)
@click.option(
    "--protocol",
    type=click.Choice(["tcp", "udp", "icmp"]),
    help="The protocol, if neither the service nor the pod states it. [tcp]",
)
@live_options
@drawing_options
@output_options
def why(  # noqa: PLR0913 - click gives each option as one argument
    source: str,
    destination: str,
    *,
    nodes: dict[str, tuple[str, ...]],
    objects: tuple[str, ...],
    protocol: str | None,
    files: AnswerFiles,
    as_json: bool,
    color: str,
    verbose: bool,
    brief: bool,
    **live: Any,  # noqa: ANN401  # the options of LiveOptions
) -> None:
    """Say why SOURCE cannot reach DESTINATION, in whatever nodes lie between.

    Reads what it needs from the cluster that kubectl speaks to: objects of the API, and a snapshot
    of each node concerned, from its agent or, with --collect, from a pod that exists only for that.
    With --node and --objects, it contacts no cluster.

    The connection is walked from node to node and back. The answer names the node, the line and the
    fix, as `podpath diagnose` does for one node.

    \b
    An end is
      pod/shop/web-0, shop/web-0        a pod; [:PORT] by number or name
      svc/shop/api:http                 a service, also api.shop.svc.cluster.local:80
      deploy/shop/api, sts/..., ds/...  one of its pods, a ready one first
      node/node1, node/node1:30080      a node
      10.244.1.5, 10.96.0.10:53         an address
      outside                           a client outside the cluster
    A name without a namespace is looked for in -n, else in the kubeconfig's context, else in all.

    \b
    Examples:
      podpath why pod/shop/web-0 svc/shop/api:http
      podpath why shop/web-0 svc/shop/api --collect --image registry.example/podpath:0.1
      podpath why shop/web-0 svc/shop/api:http --node node1=n1/ --node node2=n2/ --objects api.yaml
      podpath why outside node/node2:30080 --node node2=n2.tar.gz --objects api.yaml
      kubectl get -A -o yaml pods | podpath why web-0 10.96.0.10:53 --node node1=n1/ --objects -

    \b
    `podpath snapshot -o node1.tar.gz`, run on a node, takes its snapshot.

    \b
    Exit codes: 0 nothing wrong found, 1 a fault found, 2 usage error or unreadable input,
    3 undecided for lack of evidence.
    """  # noqa: D301  # click wants the backspace itself
    progress, cluster = ProgressLine(), LiveOptions(**live)
    given: dict[str, Given] = dict(nodes)
    said: tuple[Piece, ...] = objects
    absent: tuple[str, ...] = ()
    near = cluster.namespaces
    if cluster.asked_for or not (nodes or objects):
        read = read_cluster(cluster, (source, destination), nodes, progress, _import_walking)
        given |= read.nodes
        said, absent, near = (*said, *read.objects), read.absent, read.near
        for sentence in read.lacking:
            click.echo(f"not read: {sentence}", err=True)
    answer = _import_walking()(
        source,
        destination,
        nodes=given,
        objects=said,
        protocol=protocol or "",
        lacking=absent,
        namespaces=near,
        progress=progress,
    )
    say_doubt(answer.doubts)
    write_files(answer, files)
    show(answer, as_json=as_json, color=color, verbose=verbose, brief=brief)
