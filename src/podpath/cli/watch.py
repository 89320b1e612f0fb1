"""`podpath watch`: the packets that this node's kernel drops, as it drops them, or those of a
cluster's nodes; what does either is imported as it begins.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import click
from click.core import ParameterSource

from podpath.cli.cluster_watch import ClusterOptions, DropPrinter, watch_cluster
from podpath.cli.progress_line import ProgressLine
from podpath.cli.terminal import choose_style
from podpath.net.errors import UsageError

TURN = 2.0
"""Seconds between two tables of rates."""


@click.command()
@click.argument("ends", nargs=-1, metavar="[POD|NODE]...")
@click.option(
    "--pod",
    "pods",
    multiple=True,
    metavar="NAME",
    help="Drops of this pod (NAME or NAMESPACE/NAME), or in the namespace host; may be repeated.",
)
@click.option(
    "--address",
    "addresses",
    multiple=True,
    metavar="PREFIX",
    help="From or to an address in this prefix; may be repeated.",
)
@click.option(
    "--port",
    "ports",
    multiple=True,
    type=click.IntRange(1, 65535),
    help="From or to this port; may be repeated.",
)
@click.option(
    "--reason",
    "reasons",
    multiple=True,
    metavar="NAME",
    help="With this drop reason of the kernel, e.g. NETFILTER_DROP; may be repeated.",
)
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help=(
        "Include a node's normal drops: closed connections, unwanted multicast, other namespaces."
    ),
)
@click.option(
    "--for",
    "seconds",
    type=click.FloatRange(min=0.0),
    metavar="SECONDS",
    help=(
        "Stop after this many seconds, counted from when drops are heard on every node that is "
        "watched; otherwise on Ctrl-C."
    ),
)
@click.option(
    "--every",
    type=click.FloatRange(min=0.2),
    default=TURN,
    show_default=True,
    metavar="SECONDS",
    help="How often to print rates.",
)
@click.option(
    "--by",
    "way",
    type=click.Choice(("auto", "bpf", "tracefs")),
    default="auto",
    show_default=True,
    help="How to receive drops; tracefs does not show packets.",
)
@click.option(
    "--node-netns",
    metavar="NETNS",
    help=("The node's own namespace, if it is not that of process 1: a name, a process or a file."),
)
@click.option(
    "--save",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Keep what podpath and the kernel disagree about: a bundle and the packet.",
)
@click.option(
    "--live",
    is_flag=True,
    help="Watch the nodes of the cluster that kubectl speaks to, through their agents.",
)
@click.option("--kubeconfig", metavar="FILE", help="The kubeconfig of the cluster. [$KUBECONFIG]")
@click.option("--context", metavar="NAME", help="The kubeconfig's context. [the current one]")
@click.option(
    "--account",
    default="podpath/podpath-reader",
    show_default=True,
    metavar="NS/NAME",
    help="The service account that identifies you to the agents.",
)
@click.option(
    "--collect",
    is_flag=True,
    help="If no agent serves a node, run a privileged pod on it while it is watched.",
)
@click.option("--image", metavar="IMAGE", help="The image of that pod; it must contain podpath.")
@click.option(
    "--until-eof",
    is_flag=True,
    help="Stop when standard input ends, for programs that start this and may be killed.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print a line of JSON for each drop and for the rates."
)
@click.option(
    "--color",
    type=click.Choice(("auto", "always", "never")),
    default="auto",
    show_default=True,
    help="Color the output.",
)
def watch(  # noqa: PLR0913 - click gives each option as one argument
    ends: tuple[str, ...],
    pods: tuple[str, ...],
    addresses: tuple[str, ...],
    ports: tuple[int, ...],
    reasons: tuple[str, ...],
    *,
    everything: bool,
    seconds: float | None,
    every: float,
    way: str,
    node_netns: str | None,
    save: Path | None,
    until_eof: bool,
    as_json: bool,
    color: str,
    **cluster: Any,  # noqa: ANN401  # the options of ClusterOptions
) -> None:
    """Watch kernels drop packets, and name the rule, route, sysctl or device that did it: this
    node's, or with POD (pod/shop/web-0) or NODE (node/node1) those of a cluster.

    Each flow is reported once, with the kernel's reason and function, and the line of the node's
    own state that decides it; then its rate. A node's normal drops (packets of closed connections,
    multicast that nobody wants) are counted and left out: --all shows them.

    On this node it needs root, attaches a BPF program to the kernel's tracepoint skb:kfree_skb
    until it ends, and changes nothing. In a cluster the nodes' agents do that ([drops] in their
    configuration), and stream what concerns the pod to whoever is allowed to see it; kubectl
    podpath watch without POD watches every node with an agent. `podpath protect` is something else:
    it keeps settings as they should be.

    \b
    Examples:
      sudo podpath watch
      sudo podpath watch --pod web-0 --for 30
      sudo podpath watch --address 10.244.0.0/16 --port 53 --json
      sudo podpath watch --reason NETFILTER_DROP --save disagreements/
      kubectl podpath watch pod/shop/web-0
      podpath watch shop/web-0 node/node2 --for 60

    \b
    Exit codes: 0 watched to the end, 2 usage error or not allowed.
    """  # noqa: D301  # click wants the backspace itself
    style = choose_style(color, verbose=False)
    options = ClusterOptions(**cluster)
    if ends or options.asked_for or is_plugin():
        _refuse_local(click.get_current_context())
        with stopping(None) as until:  # its time begins once every node is heard
            lines = DropPrinter(as_json=as_json, style=style)
            watch_cluster(ends, options, seconds, lines, until, ProgressLine())
        return
    from podpath.cli.node_watch import NodeWatch, choose_drops, watch_node

    choice = choose_drops(addresses, ports, reasons, everything=everything)
    asked = NodeWatch(choice, frozenset(pods), every, way, node_netns, save)
    watch_node(asked, None if as_json else style, stopping(seconds, until_eof=until_eof))


def is_plugin() -> bool:
    """Tell whether kubectl runs us: then a cluster is watched, not this machine."""
    return click.get_current_context().find_root().info_name == "kubectl podpath"


LOCAL = ("pods", "addresses", "ports", "reasons", "everything", "way", "node_netns", "save")
"""Options of a node's own watch: an agent has its own, and filters by pods alone."""


def _refuse_local(context: click.Context) -> None:
    """Refuse options that a cluster's watch does not have."""
    for parameter in context.command.params:
        given = context.get_parameter_source(parameter.name or "")
        if parameter.name in LOCAL and given is ParameterSource.COMMANDLINE:
            raise UsageError(f"{parameter.opts[0]}: only for watching this node, not a cluster")


@contextmanager
def stopping(seconds: float | None, *, until_eof: bool = False) -> Iterator[Callable[[], bool]]:
    """Yield a function that tells whether it is time to stop: after so many seconds, once SIGINT or
    SIGTERM came, or where that is asked for once standard input ended. A second signal ends at
    once.
    """
    stopped: list[int] = []
    end = None if seconds is None else time.monotonic() + seconds

    def stop(number: int, frame: FrameType | None) -> None:  # noqa: ARG001  # signal's signature
        if stopped:
            raise KeyboardInterrupt
        stopped.append(number)

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield (
            lambda: (
                bool(stopped)
                or (end is not None and time.monotonic() >= end)
                or (until_eof and has_ended(sys.stdin.fileno()))
            )
        )
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def has_ended(descriptor: int) -> bool:
    """Tell whether nothing more can come from a descriptor; what comes meanwhile is for nobody."""
    while select.select([descriptor], [], [], 0)[0]:
        if not os.read(descriptor, 4096):
            return True
    return False
