"""`podpath reach` as people call it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.clusters import OBJECTS, RECORDED
from tests.fleet.agents import ServedCluster
from tests.library.samples import NO_FORWARDING

SOURCE = ("--from", "10.244.1.5 in cni0", "--to", "198.51.100.0/24", "--protocol", "tcp")


def call(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Call the command."""
    command = [sys.executable, "-m", "podpath", "reach", *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True)


def test_it_tells_of_sets_and_of_changes(tmp_path: Path) -> None:
    """One set is dropped by the line; after the switch is on, its answer is another one."""
    before, after = tmp_path / "before.txt", tmp_path / "after.txt"
    before.write_text(NO_FORWARDING.text)
    after.write_text(NO_FORWARDING.text.replace("ip_forward = 0", "ip_forward = 1"))
    told = call(str(before), *SOURCE, "--json")
    changed = call(str(before), "--diff", str(after), *SOURCE)

    assert (told.returncode, changed.returncode) == (1, 1)
    (one,) = json.loads(told.stdout)["sets"]
    assert one["decided_by"]["text"] == "net.ipv4.ip_forward = 0"
    assert changed.stdout.startswith("sets of flows with another answer: 1\n")


def test_a_wrong_source_is_a_usage_error(tmp_path: Path) -> None:
    """It says what was expected, on stderr."""
    ticket = tmp_path / "before.txt"
    ticket.write_text(NO_FORWARDING.text)
    told = call(str(ticket), "--from", "10.0.0.0/8")

    assert (told.returncode, told.stdout) == (2, "")
    assert "in DEV" in told.stderr


def test_it_asks_all_nodes_of_a_cluster() -> None:
    """By their snapshots and what the API says; a node's own questions are not asked of several."""
    nodes = [f"--node={name}={RECORDED / name}.tar.gz" for name in ("node1", "node2")]
    flows = ("--from", "pod/shop/web-node1", "--to", "svc/shop/far:80", "--protocol", "tcp")
    told = call(*nodes, "--objects", str(OBJECTS), *flows)
    refused = call(*nodes, *flows, "--unmet")

    assert (told.returncode, refused.returncode) == (0, 2)
    assert "ALWAYS | delivered in node2/far" in told.stdout
    assert "of one node" in refused.stderr


def test_it_asks_a_live_cluster_by_its_agents(tmp_path: Path) -> None:
    """Each node gives its snapshot; one without an agent is said to be missing."""
    bundles = {name: (RECORDED / f"{name}.tar.gz").read_bytes() for name in ("node1", "node2")}
    flows = ("--from", "10.244.1.2 from web-node1", "--to", "10.244.0.3", "--protocol", "tcp")
    with ServedCluster(bundles, ("node3",)).serve() as server:
        known = ("--cluster", "--kubeconfig", str(server.kubeconfig(tmp_path)))
        told = call(*known, *flows, "--ports", "8080")

    assert told.returncode == 3, told.stderr
    assert "ALWAYS | delivered in node2/far" in told.stdout
    assert "starts or arrives on node3" in told.stdout
    assert "not read: node3" in told.stderr


def test_without_evidence_it_says_what_is_missing() -> None:
    """Neither a node nor a cluster is given."""
    told = call(*SOURCE)

    assert told.returncode == 2
    assert "EVIDENCE" in told.stderr
