"""Whether there is a mesh, by its ConfigMap on a real API server, and what the guard of a node
without one says.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from podpath.kube import access
from podpath.kube.client import Client
from podpath_protect.agent.keeper import KeeperStatus
from podpath_protect.apply import Applier
from podpath_protect.chain.guard import ChainGuard
from podpath_protect.chain.keeper import ChainKeeperState, make_status
from podpath_protect.chain.mesh import ASK_SECONDS, MeshConfigMap
from podpath_protect.chain.options import ChainOptions
from tests import kube_objects as kube
from tests.apiserver import AGENT, NOBODY, ApiServer
from tests.protect.folders import BRIDGE, listed

SPACE, NAME, KIND = "default", "linkerd-cni-config", "linkerd-cni"
ROLE = Path(__file__).resolve().parents[3] / "deploy" / "linkerd" / "access.yaml"


class Node:
    """A node's folders, and a guard that asks as the agent does."""

    def __init__(self, root: Path, client: Client) -> None:
        """Make a node with a network and without a mesh."""
        self.folder, self.programs = root / "net.d", root / "bin"
        self.folder.mkdir()
        self.programs.mkdir()
        (self.folder / "10-net.conflist").write_text(listed(BRIDGE))
        self.install("bridge")
        self.options = ChainOptions(
            type=KIND,
            conf_dir=str(self.folder),
            bin_dirs=(str(self.programs),),
            config_map=f"{SPACE}/{NAME}",
        )
        self.now = 0.0
        mesh = MeshConfigMap(client, self.options, lambda: self.now)
        self._guard = ChainGuard(self.options, Applier(), mesh.look)

    def install(self, name: str) -> None:
        """Put a program there."""
        (self.programs / name).write_text("#!/bin/sh\n")
        (self.programs / name).chmod(0o755)

    def look(self) -> KeeperStatus:
        """Look, half a minute later."""
        self.now += ASK_SECONDS
        look = self._guard.look(self.now)
        return make_status(self._guard, ChainKeeperState(), look, None, "")


@pytest.fixture
def server(api_server: ApiServer) -> Iterator[ApiServer]:
    """Provide the server with the agent's right to that one ConfigMap."""
    api_server.kubectl("apply", "-f", ROLE)
    api_server.await_right(AGENT, "get", f"configmaps/{NAME}", "-n", SPACE)
    yield api_server
    api_server.kubectl("delete", "-f", ROLE)
    api_server.kubectl("-n", SPACE, "delete", "configmap", NAME, "--ignore-not-found")


def config_map(entry: object) -> kube.Object:
    """Make the ConfigMap of the mesh's chart."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": NAME, "namespace": SPACE},
        "data": {"cni_network_config": json.dumps(entry)},
    }


@pytest.mark.parity("N5", "G16")
def test_where_no_mesh_is_installed_there_is_nothing_to_keep(
    server: ApiServer, tmp_path: Path
) -> None:
    """Ready, and said so; unready as soon as the mesh is there and its program is not; then its
    own entry is chained, as its ConfigMap has it.
    """
    with Client(access.find(server.kubeconfig(AGENT))) as client:
        node = Node(tmp_path, client)
        without = node.look()
        server.apply(config_map({"type": KIND, "schema": 7}))
        waiting = node.look()
        node.install(KIND)
        chained = node.look()

    assert (True, False) == (without.ready, without.degraded)
    assert f"{KIND} is not installed in this cluster (there is no ConfigMap" in without.why
    assert not without.findings
    assert not waiting.ready
    assert "without its program" in waiting.why
    assert chained.ready
    written = json.loads((node.folder / "10-net.conflist").read_text())
    assert {"type": KIND, "schema": 7} == written["plugins"][-1]


def test_a_template_is_left_to_its_installer(server: ApiServer, tmp_path: Path) -> None:
    """An entry that has yet to be filled in is never chained: with it no pod would start."""
    entry = {"type": KIND, "kubernetes": {"kubeconfig": "__KUBECONFIG_FILEPATH__"}}
    server.apply(config_map(entry))
    with Client(access.find(server.kubeconfig(AGENT))) as client:
        node = Node(tmp_path, client)
        node.install(KIND)
        status = node.look()

    assert not status.ready
    assert "as its installer chains it" in status.why
    assert KIND not in (node.folder / "10-net.conflist").read_text()


def test_what_cannot_be_asked_is_unknown(server: ApiServer, tmp_path: Path) -> None:
    """Without the right to ask, or with an entry in the folder, nobody says that there is no
    mesh.
    """
    with Client(access.find(server.kubeconfig(NOBODY))) as client:
        refused = Node(tmp_path, client).look()
    (tmp_path / "more").mkdir()
    with Client(access.find(server.kubeconfig(AGENT))) as client:
        node = Node(tmp_path / "more", client)
        (node.folder / "10-net.conflist").write_text(listed(BRIDGE, {"type": KIND}))
        entered = node.look()

    assert not refused.ready
    assert "403" in str(refused.findings)
    assert not entered.ready


def test_it_asks_seldom(server: ApiServer, tmp_path: Path) -> None:
    """Within half a minute the last answer stands."""
    with Client(access.find(server.kubeconfig(AGENT))) as client:
        node = Node(tmp_path, client)
        mesh = MeshConfigMap(client, node.options, lambda: node.now)
        first = mesh.look()
        server.apply(config_map({"type": KIND}))
        node.now += ASK_SECONDS - 1
        same = mesh.look()
        node.now += 1

        assert ("absent", "absent", "installed") == (first.state, same.state, mesh.look().state)
