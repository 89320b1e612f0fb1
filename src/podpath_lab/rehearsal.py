"""The life of a built-in incident on the real kernel: built, broken, collected, diagnosed, mended.

The caller is in a private world (`apply.enter_private_world`) and ends it; a bundle is all that is
left.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from podpath.collect.namespaces import CollectedNamespace
from podpath.collect.snapshot import collect_bundle
from podpath.node.node import Node
from podpath_lab import conversation
from podpath_lab.apply import NETNS_DIRECTORY, apply, run
from podpath_lab.frames import Tap
from podpath_lab.incidents.incident import Incident
from podpath_lab.script import emit_removal, emit_twin

PATIENCE = conversation.Timeouts(0.1, predicted=5)
"""How long to wait for the next frame: a connection that works has five at its client alone, and
until they are there a silence may only mean that the machine is busy.
"""


@dataclass(frozen=True, slots=True)
class StagedNode:
    """An incident's node, standing on the kernel."""

    incident: Incident
    node: Node
    tap: Tap
    servers: conversation.Servers

    def probe(
        self, attempt: int, patience: conversation.Timeouts = PATIENCE
    ) -> conversation.Observation:
        """Send the incident's probe, and watch as long as `patience` says."""
        return conversation.send_probe(
            self.incident.asked(attempt), self.tap, self.servers, patience=patience
        )

    def collect(self, bundle: Path, *, broken: bool) -> None:
        """Write the bundle of the node as it stands."""
        namespaces = tuple(
            CollectedNamespace(
                name=name,
                path=str(NETNS_DIRECTORY / name),
                role=netns.role,
            )
            for name, netns in self.node.namespaces.items()
        )
        collect_bundle(bundle, namespaces, now=0.0)
        files = {**self.incident.files, **(self.incident.changed_files if broken else {})}
        for name in self.incident.hidden_files:
            (bundle / name).unlink(missing_ok=True)
        for name, text in files.items():
            (bundle / name).parent.mkdir(parents=True, exist_ok=True)
            (bundle / name).write_text(text)

    def close(self) -> None:
        """Take the node down."""
        self.tap.close()
        self.servers.close()
        run(emit_removal(emit_twin(self.node)))


def build_stage(incident: Incident) -> StagedNode:
    """Build an incident's node as it is when it works."""
    node = incident.build().freeze()
    apply(emit_twin(node).commands)
    apply(incident.prepared_by)
    servers = conversation.open_servers(
        dict.fromkeys(node.namespaces, incident.ports), incident.size
    )
    return StagedNode(incident, node, Tap(tuple(node.namespaces)), servers)
