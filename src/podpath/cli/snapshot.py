"""`podpath snapshot`: this node as a bundle."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import click

from podpath.cli.options import progress_option
from podpath.cli.progress_line import ProgressLine
from podpath.collect.namespaces import FoundNamespaces, find_namespaces
from podpath.collect.snapshot import collect_bundle, collect_files
from podpath.collect.targets import write_packed
from podpath.library.progress import stage

STDOUT = "-"


@click.command()
@click.option(
    "-o",
    "--output",
    default="node-bundle.tar.gz",
    show_default=True,
    metavar="FILE",
    help="A new .tar.gz, .tar.zst, .tar, .zip or folder; - writes a .tar.gz to standard output.",
)
@click.option(
    "--logs/--no-logs",
    default=True,
    show_default=True,
    help="Include the logs of the last hours; they may hold secrets.",
)
@click.option(
    "--node-netns",
    metavar="NETNS",
    help=("The node's own namespace, if it is not that of process 1: a name, a process or a file."),
)
@click.option(
    "--netns",
    "wanted",
    multiple=True,
    metavar="NAME",
    help="Include this namespace, even if no link leads to it; may be repeated.",
)
@progress_option
def snapshot(output: str, *, logs: bool, node_netns: str | None, wanted: tuple[str, ...]) -> None:
    """Collect this node and the network namespaces of its pods into a bundle.

    Takes the node's own namespace, those its links lead to, those of the pods its container runtime
    keeps, and those you name.

    Needs root. Read-only. Collects links, addresses, routes, rules, neighbors, sysctls, netfilter,
    sets, conntrack, bridges, sockets, the CNI configuration, loaded modules, and the ends of the
    node's logs. Whatever could not be collected is reported, here and in the bundle.

    \b
    Examples:
      sudo podpath snapshot -o node1.tar.gz
      ssh root@node1 podpath snapshot --no-logs -o - > node1.tar.gz
      sudo podpath snapshot -o before/ && podpath diagnose before/
    """  # noqa: D301  # click wants the backspace itself
    with stage(ProgressLine(), "collecting") as progress:
        found = find_namespaces(node=node_netns, wanted=wanted)
        missing = _collect(output, found, progress, logs=logs)
    if output != STDOUT:
        click.echo(output)
    for sentence in missing:
        click.echo(f"not collected: {sentence}", err=True)


def _collect(
    output: str, found: FoundNamespaces, progress: Callable[[float], None], *, logs: bool
) -> tuple[str, ...]:
    """Write the bundle, and return what is missing of it."""
    if output != STDOUT:
        return collect_bundle(Path(output), found, now=time.time(), progress=progress, logs=logs)
    collected = collect_files(found, now=time.time(), progress=progress, logs=logs)
    write_packed(sys.stdout.buffer, collected.files)
    return collected.missing
