"""The soak on a real cluster (`scripts/soak-cluster`), as far as it goes without one: what it
deploys is taken by a real server, its plugin speaks CNI, and its verdict is just.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
import yaml

from scripts import soak_cluster
from scripts.soak_cluster import ChainAtEnd, Record, SeenPod, judge
from tests.apiserver import ApiServer
from tests.cluster import pods
from tests.protect.repair.netns import inside, pod_namespace


def test_what_it_deploys_is_taken(api_server: ApiServer, tmp_path: Path) -> None:
    """Agents, workloads and the tenant's pods, by a real API server."""
    for name in ("usr", "opt", "lib", "lib64", "etc"):
        (tmp_path / name).mkdir()
    objects = soak_cluster.list_agents("authority")
    spaces = [each["metadata"]["name"] for each in objects if each["kind"] == "Namespace"]
    for name in (*spaces, soak_cluster.SPACE, soak_cluster.HOSTILE):
        api_server.kubectl("apply", "-f", "-", given=json.dumps(pods.make_namespace(name)))
    objects += [soak_cluster.make_deployment(tmp_path, 0), *soak_cluster.make_tenant(tmp_path, 9)]
    told = api_server.kubectl(
        "apply", "--dry-run=server", "-f", "-", given=yaml.safe_dump_all(objects)
    )

    assert len(objects) == told.count("(server dry run)")


@pytest.mark.kernel("iptables-nft-restore", "nsenter")
def test_its_plugin_speaks_cni(tmp_path: Path) -> None:
    """It says its versions, writes linkerd's rules at ADD, and passes on what came before it."""
    program = tmp_path / "linkerd-cni"
    program.write_bytes(soak_cluster.make_plugin())
    program.chmod(0o755)
    before = {"cniVersion": "0.4.0", "ips": []}

    def call(command: str, netns: str = "", given: str = "{}") -> str:
        environment = os.environ | {"CNI_COMMAND": command, "CNI_NETNS": netns}
        done = subprocess.run(
            [program], input=given, capture_output=True, text=True, check=True, env=environment
        )
        return done.stdout

    with pod_namespace("10.244.84.5/24") as name:
        added = call("ADD", f"/run/netns/{name}", json.dumps({"prevResult": before}))
        rules = inside(name, "iptables-nft-save", "-t", "nat")

    assert before == json.loads(added)
    assert ("--to-ports 4140" in rules, "--to-ports 4143" in rules) == (True, True)
    assert "0.4.0" in json.loads(call("VERSION"))["supportedVersions"]
    assert "" == call("DEL")


def test_its_verdict_names_what_does_not_hold() -> None:
    """A pod that was well and touched, one that stayed broken, a restart, growth, a stale entry."""
    good = Record(
        pods={
            "a": SeenPod("well", 0.0, passed=1.0),
            "b": SeenPod("mended", 0.0, failed=1.0, passed=2.0, actions=["MendBrokenPod"]),
            "c": SeenPod("gone", 0.0, failed=1.0, gone=2.0),
        },
        memory={"node1": [40.0, 44.0, 44.0, 45.0]},
    )
    bad = Record(
        pods={
            "a": SeenPod("touched", 0.0, passed=1.0, actions=["EvictBrokenPod"]),
            "b": SeenPod("left", 0.0, failed=1.0),
        },
        memory={"node1": [40.0, 41.0, 44.0, 49.0]},
    )

    assert [] == judge(good, {"agent": 0}, {"node1": ChainAtEnd((3,), 3)})
    found = judge(bad, {"agent": 2}, {"node1": ChainAtEnd((3, 4), 4)})
    assert ["touched", "left", "agent", "the agent", "node1's"] == [
        each.partition(" was")[0].partition(" stayed")[0].partition(" of")[0].partition(" chain")[0]
        for each in found
    ]
