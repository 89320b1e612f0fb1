"""`podpath protect agent`: everything that the configuration asks for, in one process, until told
to stop.
"""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from types import FrameType

import click

from podpath_protect.agent.config import default_environment, listen_address, load_config, node_name
from podpath_protect.agent.loop import Agent
from podpath_protect.agent.parts import describe_lacks
from podpath_protect.capabilities import held_capabilities
from podpath_protect.reflect.options import resolve

DEFAULT = "/etc/podpath/agent.toml"
UNKNOWN_ENDS = "the pod's addresses (POD_IPS), which are not known here"


@click.command()
@click.option(
    "--config",
    default=DEFAULT,
    show_default=True,
    metavar="FILE",
    help="The configuration, in TOML.",
)
@click.option(
    "--check",
    is_flag=True,
    help="Only read the configuration, and say what would run and what it lacks.",
)
@click.option("--dry-run", is_flag=True, help="Check, report and serve, but change nothing.")
def agent(*, config: str, check: bool, dry_run: bool) -> None:
    """Protect this node's path: run every part that the configuration names, with health endpoints,
    metrics, events and a node taint.

    The file is read again when it changes; an invalid one is refused, naming its lines, and the old
    one stays in force. SIGHUP reads it at once, SIGTERM ends the agent and leaves the node as it is
    kept.

    \b
    Examples:
      podpath protect agent --check --config agent.toml
      sudo podpath protect agent --dry-run --config agent.toml

    \b Exit codes: 0 ended by a signal (--check: the configuration is good), 2 usage error or
    invalid configuration.
    """  # noqa: D301  # click wants the backspace itself
    path = Path(config)
    if check:
        click.echo(describe_config(path), nl=False)
        return
    running = Agent(path, default_environment(), sys.stderr, dry_run=dry_run)

    def stop(number: int, frame: FrameType | None) -> None:  # noqa: ARG001  # signal's signature
        running.stop()

    def reload(number: int, frame: FrameType | None) -> None:  # noqa: ARG001  # as above
        running.reload()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    signal.signal(signal.SIGHUP, reload)
    running.run()


def describe_config(path: Path) -> str:
    """Say what a configuration would run here; `TableError` where it is none."""
    read, _ = load_config(path)
    environment = default_environment()
    address = listen_address(read.health.listen, environment)
    kubernetes = "no"
    if read.kubernetes is not None:
        kubernetes = "taint and events" if read.kubernetes.taint else "events"
    lines = [
        f"{path}: good",
        f"node: {node_name(read, environment)}",
        f"parts: {', '.join(read.parts())}",
        f"health: {'nowhere' if address is None else f'{address[0]} port {address[1]}'}",
        f"kubernetes: {kubernetes}",
    ]
    if read.reflect is not None:
        ends = resolve(read.reflect.listen, environment)
        lines.append(f"reflect: {', '.join(map(str, ends)) or UNKNOWN_ENDS}")
    lines += [
        f"{name}: {lack}"
        for name, lacks in describe_lacks(read.parts(), held_capabilities()).items()
        for lack in lacks
    ]
    return "".join(f"{line}\n" for line in lines)
