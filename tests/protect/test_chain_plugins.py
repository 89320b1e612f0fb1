"""The kept chain run with Debian's CNI plugins, as the runtime runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from podpath.cni.conf import Network
from podpath.cni.lint import lint_folder
from podpath.cni.runtimes import RuntimeSettings, judge_crio
from podpath_protect.chain.folder import list_programs, probe_programs, read_folder
from tests.protect.nodes import CniNode

PLUGINS = Path("/usr/lib/cni")
KERNEL = pytest.mark.kernel("/usr/lib/cni/bridge", "/usr/lib/cni/tuning", "iptables")
TUNING = json.dumps({"type": "tuning", "sysctl": {"net.core.somaxconn": "777"}})
PREFIX = f"pvt{os.getpid()}"


@pytest.fixture
def node(tmp_path: Path) -> Iterator[CniNode]:
    """Provide a node whose programs are Debian's, with a bridge network of its own in a namespace
    of its own.
    """
    made = CniNode(tmp_path)
    for name in (f"{PREFIX}h", f"{PREFIX}c"):
        subprocess.run(["ip", "netns", "add", name], check=True)
    yield made
    for name in (f"{PREFIX}h", f"{PREFIX}c"):
        subprocess.run(["ip", "netns", "del", name], check=True)


def vendor(node: CniNode, version: str = "1.0.0") -> str:
    """Write a vendor's list: bridge with host-local, then portmap."""
    ipam = {
        "type": "host-local",
        "ranges": [[{"subnet": "10.77.0.0/24"}]],
        "dataDir": str(node.root / "ipam"),
    }
    bridge = {"type": "bridge", "bridge": "pvtbr0", "isGateway": True, "ipam": ipam}
    portmap = {"type": "portmap", "capabilities": {"portMappings": True}}
    return json.dumps(
        {"cniVersion": version, "name": "pvtnet", "plugins": [bridge, portmap]}, indent=2
    )


def network(node: CniNode) -> Network:
    """Return what CRI-O would load, its probe included."""
    files = read_folder(node.conf)
    found = judge_crio(
        files, RuntimeSettings(), probe_programs([PLUGINS], ["bridge", "portmap", "tuning"])
    ).network
    assert found is not None
    return found


def in_pod(node: CniNode, code: str) -> str:
    """Run the chain in the host's namespace of this test: plugins work on the namespace that they
    run in.
    """
    words = [
        "ip",
        "netns",
        "exec",
        f"{PREFIX}h",
        sys.executable,
        "-c",
        code,
        str(node.conf),
        f"{PREFIX}c",
    ]
    done = subprocess.run(
        words,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


ATTACH = """
import json, subprocess, sys
from pathlib import Path
from podpath.cni.runtimes import RuntimeSettings, judge_containerd
from podpath_protect.chain.folder import read_folder
from tests.protect.libcni import Attachment
network = judge_containerd(read_folder(Path(sys.argv[1])), RuntimeSettings()).network
one = Attachment(network, Path("/usr/lib/cni"), sys.argv[2])
result = one.add()
seen = subprocess.run(["ip", "netns", "exec", sys.argv[2], "sysctl", "-n", "net.core.somaxconn"], capture_output=True, text=True)
one.delete(result)
print(json.dumps({"types": network.types, "ips": [ip["address"] for ip in result["ips"]], "somaxconn": seen.stdout.strip()}))
"""  # noqa: E501


@pytest.mark.parity("P7")
@KERNEL
@pytest.mark.parametrize("drop_in", [False, True])
def test_a_pod_gets_the_kept_plugin(node: CniNode, *, drop_in: bool) -> None:
    """A pod attached before the plugin is chained lacks what it does; one attached after has it,
    and the address too.
    """
    for name in ("bridge", "host-local", "portmap", "tuning"):
        node.program(name)
    node.write("10-net.conflist", vendor(node))
    before = json.loads(in_pod(node, ATTACH))
    look = node.look(entry=TUNING, bin_dirs=(str(PLUGINS),), drop_in=drop_in)
    after = json.loads(in_pod(node, ATTACH))

    assert look.holds
    assert (["bridge", "portmap"], ["bridge", "portmap", "tuning"]) == (
        before["types"],
        after["types"],
    )
    assert ("777" == after["somaxconn"]) > ("777" == before["somaxconn"])
    assert after["ips"][0].startswith("10.77.0.")


@KERNEL
def test_a_wrapped_single_configuration_still_works(node: CniNode) -> None:
    """A single configuration that became a list attaches a pod as before, and the plugin with
    it.
    """
    conf = json.loads(vendor(node))["plugins"][0]
    node.write("10-net.conf", json.dumps({"cniVersion": "0.4.0", "name": "pvtnet", **conf}))
    look = node.look(entry=TUNING, bin_dirs=(str(PLUGINS),))
    after = json.loads(in_pod(node, ATTACH))

    assert look.holds
    assert (["bridge", "tuning"], "777") == (after["types"], after["somaxconn"])


@pytest.mark.parity("D3", "P11")
@KERNEL
def test_real_programs_are_probed(node: CniNode) -> None:
    """Debian's plugins say what they support; a list newer than that is passed over by CRI-O and
    loaded by containerd.
    """
    programs = probe_programs([PLUGINS], ["bridge", "portmap"])
    assert {"0.3.1", "0.4.0", "1.0.0"} <= set(programs["bridge"])
    assert "bridge" in list_programs([PLUGINS])
    node.write("10-net.conflist", vendor(node, "1.1.0"))
    found = lint_folder(read_folder(node.conf), RuntimeSettings(), programs)
    if "1.1.0" not in programs["bridge"]:
        assert ("10-net.conflist", None) == (found.verdicts[0].file, found.verdicts[1].file)
        assert "P11" in {remark.row for remark in found.remarks}
    node.write("10-net.conflist", vendor(node))
    assert ("bridge", "portmap") == network(node).types


def test_a_program_that_does_not_answer_is_only_listed(tmp_path: Path) -> None:
    """One that prints no versions, or is none, leaves its versions unknown."""
    node = CniNode(tmp_path)
    node.program("odd", "#!/bin/sh\necho nothing\n")
    node.program("none", "not a program")

    assert {"odd": (), "none": ()} == {
        name: probe_programs([node.bin], ["odd", "none"])[name] for name in ("odd", "none")
    }
