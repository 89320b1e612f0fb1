"""The nodes of a live cluster: a snapshot of each by its agent."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.made_fleet import draw_node, pack, set_sysctl
from podpath.net.errors import MissingExtra, PodpathError
from podpath_fleet import live_nodes, paths
from podpath_fleet.bundle_row import DONE, REFUSED, read_bundle
from podpath_fleet.paths import list_bundles
from podpath_fleet.questions import FleetTables
from podpath_fleet.store import read_journal
from tests.fleet.agents import ServedCluster, make_agent

NODES = 6
BROKEN = 4


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ServedCluster]:
    """Serve a cluster of one pool, one node of which differs and one has no agent."""
    bundles = {}
    for number in range(NODES):
        node = draw_node(3 * number, 2)
        if number == BROKEN:
            set_sysctl("net.ipv4.conf.all.rp_filter", "1")(node)
        bundles[node["name"]] = pack(node)
    made = ServedCluster(bundles, ("web-bare",))
    with made.serve() as server:
        monkeypatch.setenv("KUBECONFIG", str(server.kubeconfig(tmp_path)))
        live_nodes.forget()
        yield made
        live_nodes.forget()


def test_a_run_takes_a_snapshot_of_each_node(cluster: ServedCluster, tmp_path: Path) -> None:
    """Once each; a node without an agent costs a row that says so, and the one that differs is
    named.
    """
    out = tmp_path / "out"
    command = [
        sys.executable, "-m", "podpath", "fleet", "cluster://", "--out", str(out), "--jobs", "1",
    ]  # fmt: skip
    done = subprocess.run(command, env=os.environ, capture_output=True, text=True, check=False)
    rows = {row["path"]: row for row in read_journal(str(out))}
    outliers = FleetTables(str(out)).list_outliers()

    assert 1 == done.returncode, done.stderr
    assert sorted(cluster.taken) == sorted(cluster.bundles)
    assert {f"cluster:///{node}" for node in cluster.nodes} == set(rows)
    assert [REFUSED] == [row["state"] for row in rows.values() if row["state"] != DONE]
    assert rows["cluster:///web-bare"]["why"] == (
        "web-bare: no agent serves snapshots there (deploy/snapshot)"
    )
    assert [one.names for one in outliers if "rp_filter" in one.fact] == [f"web-{3 * BROKEN:05d}"]


def test_an_agent_that_was_replaced_is_found_again(
    cluster: ServedCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its pod has another name since this process looked; one that is gone is said. A moment after
    it looked it does not look again.
    """
    (first, second, *_) = [path for path, _ in list_bundles(["cluster://x"])]
    assert DONE == read_bundle(first, first).state
    node = second.rpartition("/")[2]
    cluster.agents[node] = make_agent(node, 2)
    early = read_bundle(second, second)
    monkeypatch.setattr(live_nodes, "LOOK_AGAIN", 0.0)
    again = read_bundle(second, second)
    del cluster.agents[node]
    gone = read_bundle(second, second)

    assert REFUSED == early.state
    assert (f"cluster://x/{node}", DONE, node) == (second, again.state, again.node)
    assert (REFUSED, f"{node}: no agent serves snapshots there (deploy/snapshot)") == (
        gone.state,
        gone.why,
    )


def test_evidence_is_named_by_its_node(cluster: ServedCluster) -> None:
    """And not by the file that it was for a moment."""
    node = draw_node(0, 2)
    set_sysctl("net.ipv4.ip_forward", "0")(node)
    cluster.bundles[node["name"]] = pack(node)
    path = f"cluster://x/{node['name']}"
    quoted = [one.evidence for one in read_bundle(path, path).findings if one.evidence]

    assert quoted
    assert all(evidence.startswith(path) for evidence in quoted)


def test_what_is_in_the_way_is_said(
    cluster: ServedCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A context that is not there, and packages that are not."""
    with pytest.raises(PodpathError, match="nowhere"):
        list(list_bundles(["cluster://nowhere"]))

    def refuse(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(paths, "import_module", refuse)
    with pytest.raises(MissingExtra, match=r"podpath\[k8s\]"):
        list(list_bundles(["cluster://"]))
    assert [] == cluster.taken
