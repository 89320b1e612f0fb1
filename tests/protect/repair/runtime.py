"""A container runtime as far as CNI goes: a node's namespace, a conf folder, real plugins run in
the order of its first list.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple, Self

import pytest

from tests.protect.repair.netns import ip

DEBIAN = Path("/usr/lib/cni")


def primary(leases: Path) -> dict[str, Any]:
    """Return the primary CNI's list, with subnets that no other run on this machine has."""
    process = os.getpid() % 65536
    four, six = f"10.{200 + process // 256 % 50}.{process % 256}.0/24", f"fd01:{process:x}::/64"
    ipam = {
        "type": "host-local",
        "dataDir": str(leases),
        "ranges": [[{"subnet": four}], [{"subnet": six}]],
        "routes": [{"dst": "0.0.0.0/0"}, {"dst": "::/0"}],
    }
    bridge = {"type": "bridge", "bridge": "cni0", "isGateway": True, "ipam": ipam}
    return {
        "cniVersion": "0.4.0",
        "name": "pods",
        "plugins": [bridge, {"type": "portmap", "capabilities": {"portMappings": True}}],
    }


MESH = f"""#!{sys.executable}
# A mesh's chained plugin: at ADD it writes linkerd's rules into the pod's namespace, and passes on what came before it.
import json, os, subprocess, sys
from podpath_protect.repair.redirect import PodRedirect, render_restore
if os.environ["CNI_COMMAND"] == "VERSION":
    print(json.dumps({{"cniVersion": "0.4.0", "supportedVersions": ["0.3.1", "0.4.0"]}}))
    sys.exit()
config = json.load(sys.stdin)
if os.environ["CNI_COMMAND"] == "ADD":
    redirect = PodRedirect(style="linkerd", outbound=4140, inbound=4143, proxy_uid=2102)
    for family, program in ((4, "iptables-nft-restore"), (6, "ip6tables-nft-restore")):
        command = ["nsenter", "--net=" + os.environ["CNI_NETNS"], program, "--noflush"]
        subprocess.run(command, input=render_restore(redirect, family), text=True, check=True)
    print(json.dumps(config["prevResult"]))
"""  # noqa: E501
_NUMBERS = itertools.count(1)


class Sandbox(NamedTuple):
    """A pod's namespace as the runtime made it."""

    name: str
    addresses: tuple[str, ...]

    def validate(self, message: Path) -> tuple[int, str]:
        """Run the validator in it as an init container would be: without any capability; exit code
        and termination message.
        """
        message.unlink(missing_ok=True)
        command = [
            sys.executable,
            "-m",
            "podpath",
            "protect",
            "validate",
            "--mode",
            "linkerd",
            "--proxy-uid",
            "2102",
            "--timeout",
            "2s",
        ]
        weak = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"]
        enter = ["nsenter", f"--net=/run/netns/{self.name}"]
        done = subprocess.run(
            [*enter, *weak, *command, "--termination-message", message],
            capture_output=True,
            check=False,
        )
        return done.returncode, message.read_text(encoding="utf-8") if message.exists() else ""


class Runtime:
    """A node with its own network namespace and conf folder."""

    def __init__(self, folder: Path) -> None:
        """Lay out the folders; Debian's plugins are taken from where Debian has them."""
        if not (DEBIAN / "bridge").exists():
            pytest.skip("needs containernetworking-plugins: scripts/install-test-needs installs it")
        self.conf, self.programs, self._cache = folder / "net.d", folder / "bin", folder / "cache"
        for each in (self.conf, self.programs, self._cache):
            each.mkdir(mode=0o755)
        self._node = f"prn{os.getpid()}-{next(_NUMBERS)}"
        self._pods: list[str] = []
        self.write_primary()

    def __enter__(self) -> Self:
        """Make the node's namespace."""
        ip("netns", "add", self._node)
        ip("-n", self._node, "link", "set", "lo", "up")
        return self

    def __exit__(self, *_: object) -> None:
        """Take all namespaces down."""
        for name in (*self._pods, self._node):
            ip("netns", "del", name)

    def write_primary(self) -> None:
        """Write the list as a primary CNI does, at its start and after."""
        (self.conf / "10-pods.conflist").write_text(
            json.dumps(primary(self._cache), indent=2), encoding="utf-8"
        )

    def install_mesh(self) -> None:
        """Put the mesh's plugin where the runtime finds programs; nothing calls it yet."""
        program = self.programs / "mesh-cni"
        program.write_text(MESH, encoding="utf-8")
        program.chmod(0o755)

    def run_pod(self) -> Sandbox:
        """Make a pod's namespace and run the list's plugins in order, each with the result of the
        one before.
        """
        name = f"{self._node}-p{len(self._pods)}"
        ip("netns", "add", name)
        self._pods.append(name)
        ip("-n", name, "link", "set", "lo", "up")
        conf = json.loads(min(self.conf.glob("*.conflist")).read_text(encoding="utf-8"))
        result: dict[str, Any] | None = None
        for plugin in conf["plugins"]:
            config = (
                plugin
                | {"name": conf["name"], "cniVersion": conf["cniVersion"]}
                | ({"prevResult": result} if result else {})
            )
            result = self._add(plugin["type"], config, name)
        assert result is not None
        return Sandbox(name, tuple(each["address"].partition("/")[0] for each in result["ips"]))

    def _add(self, program: str, config: dict[str, Any], name: str) -> dict[str, Any]:
        environment = os.environ | {
            "CNI_COMMAND": "ADD",
            "CNI_CONTAINERID": name,
            "CNI_NETNS": f"/run/netns/{name}",
            "CNI_IFNAME": "eth0",
            "CNI_PATH": f"{self.programs}:{DEBIAN}",
        }
        path = next(
            folder / program for folder in (self.programs, DEBIAN) if (folder / program).exists()
        )
        command = ["ip", "netns", "exec", self._node, str(path)]
        done = subprocess.run(
            command,
            input=json.dumps(config),
            capture_output=True,
            text=True,
            check=False,
            env=environment,
        )
        assert done.returncode == 0, f"{program}: {done.stdout} {done.stderr}"
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer
