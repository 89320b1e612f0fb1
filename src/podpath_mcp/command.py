"""`podpath mcp`: the server on standard input and output, as assistants start it."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING

import click

from podpath.cli.live_cluster import LiveOptions, read_cluster
from podpath.library.progress import silent
from podpath.net.errors import MissingExtra
from podpath_mcp.allowed import AllowedEvidence, resolve_folder

if TYPE_CHECKING:
    from podpath_mcp.server import LiveCluster, ReadCluster

_EXTRA = "`podpath mcp` needs more packages: pip install 'podpath[mcp]'"
_ON_A_TERMINAL = (
    "podpath: assistants start this command themselves, and speak JSON-RPC with it; "
    "docs/assistants.md shows what to tell them. Ctrl-C ends it."
)


@click.command()
@click.option(
    "--folder",
    "folders",
    multiple=True,
    metavar="FOLDER",
    help="A folder that may be read, with all that is in it; may be repeated. [none]",
)
@click.option("--live", is_flag=True, help="This node may be asked, too. Needs root.")
@click.option(
    "--cluster", is_flag=True, help="The cluster that kubectl speaks to may be asked, too."
)
@click.option("--kubeconfig", metavar="FILE", help="The kubeconfig of the cluster. [$KUBECONFIG]")
@click.option("--context", metavar="NAME", help="The kubeconfig's context. [the current one]")
@click.option(
    "--namespace",
    "namespaces",
    multiple=True,
    metavar="NAME",
    help="Read only objects of this namespace, and of those that the ends name; may be repeated. "
    "[all]",
)
@click.option(
    "--account",
    default="podpath/podpath-reader",
    show_default=True,
    metavar="NS/NAME",
    help="The service account that identifies you to the agents.",
)
def mcp(  # noqa: PLR0913 - click gives each option as one argument
    folders: tuple[str, ...],
    *,
    live: bool,
    cluster: bool,
    kubeconfig: str | None,
    context: str | None,
    namespaces: tuple[str, ...],
    account: str,
) -> None:
    """Serve podpath's answers to an assistant, over the Model Context Protocol on standard input
    and output.

    The assistant starts this command itself; docs/assistants.md shows its configuration. All tools
    only read. They read text that the assistant passes on, files in the folders that are named
    here, and a live node or cluster only with --live and --cluster.

    \b
    Examples:
      podpath mcp --folder ~/tickets
      podpath mcp --folder /srv/bundles --cluster --context staging
    """  # noqa: D301  # click wants the backspace itself
    options = LiveOptions(
        live=cluster,
        kubeconfig=kubeconfig,
        context=context,
        namespaces=namespaces,
        agent_namespace="podpath",
        account=account,
        collect=False,
        image=None,
        save=None,
    )
    if not cluster and (options.asked_for or namespaces):
        raise click.UsageError("--kubeconfig, --context and --namespace need --cluster")
    evidence = AllowedEvidence(folders=tuple(map(resolve_folder, folders)), this_node=live)
    try:
        from podpath_mcp.server import Allowed, make_server  # noqa: PLC0415  # needs an extra
    except ImportError as error:
        raise MissingExtra(_EXTRA) from error
    reader = _reader(options) if cluster else None
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the SDK's wait for input cannot be interrupted
    if sys.stdin.isatty():
        click.echo(_ON_A_TERMINAL, err=True)
    make_server(Allowed(evidence=evidence, read_cluster=reader)).run()


def _reader(options: LiveOptions) -> ReadCluster:
    """Return what reads the cluster for two ends, as `podpath why` does without --collect."""
    from podpath_mcp.server import LiveCluster  # noqa: PLC0415  # as above

    def read(source: str, destination: str) -> LiveCluster:
        found = read_cluster(options, (source, destination), (), silent)
        return LiveCluster(found.nodes, found.objects, found.lacking, found.absent, found.near)

    return read
