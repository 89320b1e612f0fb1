"""What a cluster is to be, before any of it runs: its names, addresses and folders.

It is written beside the cluster's files, so that every later command knows what `up` was asked for.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

HOMES = Path("/var/lib/podpath-cluster")
POD_CIDR = "10.244.0.0/16"
SERVICE_CIDR = "10.96.0.0/16"
DNS_ADDRESS = "10.96.0.10"
VXLAN_OVERHEAD = 50
"""Bytes that an outer Ethernet, IPv4, UDP and VXLAN header take."""
NFTABLES = "nftables"
PROXIES = ("iptables-nft", "iptables-legacy", NFTABLES)
"""The shapes of kube-proxy's rules: which of the kernel's two packet filters `iptables` writes to,
or those of its nftables mode.
"""
OVERLAYS = ("host-gw", "vxlan")
PLUGINS = ("bridged", "routed")
_NAME = re.compile(r"[a-z][a-z0-9]{0,9}")


class PlanError(Exception):
    """Such a cluster cannot be. The message says what would do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One cluster."""

    name: str = "podpath"
    nodes: int = 2
    proxy: str = "iptables-nft"
    overlay: str = "host-gw"
    plugin: str = "bridged"
    net: int = 0
    """The third byte of the nodes' network, 10.199.NET.0/24, of which this machine has one
    address.
    """

    def __post_init__(self) -> None:
        """Refuse what cannot be built."""
        if _NAME.fullmatch(self.name) is None:
            raise PlanError(f"expected a name of at most 10 of a-z and 0-9, saw {self.name!r}")
        if not 1 <= self.nodes <= 9:
            raise PlanError(f"expected 1 to 9 nodes, saw {self.nodes}")
        for chosen, known in (
            (self.proxy, PROXIES),
            (self.overlay, OVERLAYS),
            (self.plugin, PLUGINS),
        ):
            if chosen not in known:
                raise PlanError(f"expected one of {', '.join(known)}, saw {chosen!r}")

    @property
    def home(self) -> Path:
        """The folder of everything that the cluster writes."""
        return HOMES / self.name

    @property
    def kubeconfig(self) -> Path:
        """Where the admin's kubeconfig is written."""
        return self.home / "kubeconfig"

    @property
    def machine_link(self) -> str:
        """The one device that the machine itself gets: its way to the nodes' network."""
        return f"pp-{self.name}"

    @property
    def cgroup(self) -> str:
        """The cgroup below which containers run."""
        return f"podpath-cluster-{self.name}"

    @property
    def members(self) -> tuple[str, ...]:
        """The sets of namespaces: the control plane's, and each node's."""
        return ("control", *self.node_names)

    @property
    def node_names(self) -> tuple[str, ...]:
        """The nodes, as Kubernetes knows them."""
        return tuple(f"node{number}" for number in range(1, self.nodes + 1))

    @property
    def control_address(self) -> str:
        """Where the API server listens; it is the nodes' default gateway too."""
        return f"10.199.{self.net}.1"

    @property
    def machine_address(self) -> str:
        """The machine's own address on the nodes' network: a client outside of the cluster."""
        return f"10.199.{self.net}.254"

    @property
    def mtu(self) -> int:
        """The MTU of pods: what the way between nodes carries."""
        return 1500 - VXLAN_OVERHEAD if self.overlay == "vxlan" else 1500

    def node_address(self, node: str) -> str:
        """Return a node's address."""
        return f"10.199.{self.net}.{10 + self.node_names.index(node) + 1}"

    def marker(self, member: str = "") -> str:
        """Return what the first process of a member is called, by which it is found again."""
        return f"podpath-cluster:{self.name}:{member}"

    def folder(self, member: str) -> Path:
        """Return a member's folder."""
        return self.home / member

    def save(self) -> None:
        """Write the plan into the cluster's folder."""
        (self.home / "plan.json").write_text(json.dumps(asdict(self)), encoding="utf-8")

    @classmethod
    def load(cls, name: str) -> Self | None:
        """Read the plan of a cluster; None where there is no such cluster."""
        try:
            return cls(**json.loads((HOMES / name / "plan.json").read_text(encoding="utf-8")))
        except (FileNotFoundError, ValueError):
            return None
