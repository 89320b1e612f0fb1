#!/usr/bin/env python3
"""A small CNI plugin that routes to each pod as Calico does: no bridge, a /32 route to the pod's
end of a veth pair, and a gateway that is nobody's address, which proxy ARP answers for.

It runs by itself on a node, by the CNI specification 0.4.0: a command in the environment, the
configuration on standard input, the result on standard output. Addresses are the IPAM plugin's.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

GATEWAY = "169.254.1.1"


class PluginError(Exception):
    """The pod cannot be connected; the runtime shows the message."""


def main() -> int:
    """Do what the runtime asks for."""
    configuration = json.load(sys.stdin)
    command = os.environ["CNI_COMMAND"]
    try:
        if command == "VERSION":
            answer = {"cniVersion": "0.4.0", "supportedVersions": ["0.3.1", "0.4.0"]}
        elif command == "ADD":
            answer = add(configuration)
        elif command == "DEL":
            answer = delete(configuration)
        else:
            answer = {}
    except PluginError as error:
        print(json.dumps({"cniVersion": "0.4.0", "code": 100, "msg": str(error)}))
        return 1
    if answer:
        print(json.dumps(answer))
    return 0


def add(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """Give the pod an address, a device and a way out, and the host its way in."""
    given = json.loads(ask_ipam(configuration))
    address = given["ips"][0]["address"].partition("/")[0]
    netns, inside, outside = os.environ["CNI_NETNS"], os.environ["CNI_IFNAME"], name_device()
    mtu = str(configuration.get("mtu", 1500))
    try:
        run(
            "ip",
            "link",
            "add",
            outside,
            "mtu",
            mtu,
            "type",
            "veth",
            "peer",
            "name",
            inside,
            "mtu",
            mtu,
            "netns",
            netns,
        )
        within = ("nsenter", f"--net={netns}", "ip")
        run(*within, "link", "set", inside, "up")
        run(*within, "addr", "add", f"{address}/32", "dev", inside)
        run(*within, "route", "add", GATEWAY, "dev", inside, "scope", "link")
        run(*within, "route", "add", "default", "via", GATEWAY, "dev", inside)
        for key, value in (("proxy_arp", "1"), ("rp_filter", "1"), ("forwarding", "1")):
            Path(f"/proc/sys/net/ipv4/conf/{outside}/{key}").write_text(value, encoding="ascii")
        Path(f"/proc/sys/net/ipv4/neigh/{outside}/proxy_delay").write_text("0", encoding="ascii")
        run(
            "ip",
            "link",
            "set",
            outside,
            "addrgenmode",
            "none",
            "address",
            "ee:ee:ee:ee:ee:ee",
            "up",
        )
        run("ip", "route", "add", f"{address}/32", "dev", outside, "scope", "link")
    except PluginError:
        delete(configuration)
        raise
    return {
        "cniVersion": "0.4.0",
        "interfaces": [{"name": outside}, {"name": inside, "sandbox": netns}],
        "ips": [{"version": "4", "address": f"{address}/32", "interface": 1}],
        "routes": [{"dst": "0.0.0.0/0", "gw": GATEWAY}],
    }


def delete(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """Take the pod's device away, with the route to it, and give its address back."""
    subprocess.run(("ip", "link", "del", name_device()), capture_output=True, check=False)
    ask_ipam(configuration)
    return {}


def name_device() -> str:
    """Name the host's end after the sandbox."""
    owner = f"{os.environ['CNI_CONTAINERID']}/{os.environ['CNI_IFNAME']}"
    return f"cali{hashlib.sha256(owner.encode()).hexdigest()[:11]}"


def ask_ipam(configuration: Mapping[str, Any]) -> str:
    """Run the IPAM plugin with the same command and configuration."""
    program = Path(os.environ["CNI_PATH"].partition(":")[0]) / configuration["ipam"]["type"]
    done = subprocess.run(
        (program,), input=json.dumps(configuration), capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise PluginError(f"{program.name}: {(done.stdout or done.stderr).strip()}")
    return done.stdout


def run(*command: str) -> None:
    """Run a command that has to succeed."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise PluginError(f"{' '.join(command)}: {done.stderr.strip()}")


if __name__ == "__main__":
    sys.exit(main())
