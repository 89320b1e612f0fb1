"""Builds every known fault on the real kernel and leaves a bundle of the node before and after it broke.

    python -m tests.incidents.live_faults FOLDER

It moves into namespaces of its own, so it is a program of its own.
"""

from __future__ import annotations

import sys
from pathlib import Path

from podpath.collect.snapshot import Namespace, collect_bundle
from podpath.lab import apply as lab
from podpath.lab.incidents import forwarding, routing, services
from podpath.lab.incidents.incident import Incident
from podpath.lab.script import emit_removal, emit_twin
from podpath.node.node import Node

INCIDENTS: tuple[Incident, ...] = (*forwarding.INCIDENTS, *routing.INCIDENTS, *services.INCIDENTS)
TAKEN_AT = 1700000000.0


def record(folder: Path, incident: Incident) -> None:
    """Build an incident, break it, and collect both states."""
    node = incident.build().freeze()
    twin = emit_twin(node)
    lab.apply(twin.commands)
    lab.apply(incident.prepared_by)
    collect(folder / incident.name / "good", node)
    lab.apply(incident.broken_by)
    collect(folder / incident.name / "bad", node)
    lab.run(emit_removal(twin))


def collect(target: Path, node: Node) -> None:
    """Collect a bundle, without its sockets: nothing listens in a node that was built for its paths alone."""
    namespaces = tuple(
        Namespace(name=name, path=str(lab.NETNS_DIRECTORY / name), role=netns.role) for name, netns in node.namespaces.items()
    )
    collect_bundle(target, namespaces, now=TAKEN_AT)
    for sockets in target.glob("netns/*/ss.txt"):
        sockets.unlink()


def main() -> None:
    """Record all incidents into the folder that is named."""
    lab.enter_private_world()
    for incident in INCIDENTS:
        record(Path(sys.argv[1]), incident)


if __name__ == "__main__":
    main()
