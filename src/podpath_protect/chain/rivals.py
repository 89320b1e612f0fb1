"""The name of a rival who keeps reverting the chain, and the setting that would make peace.

By what it leaves behind (`.cilium_bak`), by the process that writes, by what its configuration is
made of: each sign says how it was seen, so that a person can judge.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from podpath.cni.conf import ConfFile, Network
from podpath.cni.lint import SET_ASIDE


class Vendor(NamedTuple):
    """Who writes a network of its own."""

    name: str
    plugins: tuple[str, ...]
    """Plugin types that are its own."""
    programs: tuple[str, ...]
    """Programs by which it writes."""
    peace: str
    """What makes it let others be."""


VENDORS = (
    Vendor(
        "Cilium",
        ("cilium-cni",),
        ("cilium-agent", "install-plugin."),
        "set cni.exclusive=false in Cilium's Helm values",
    ),
    Vendor(
        "Calico",
        ("calico", "calico-ipam"),
        ("install", "calico-node"),
        "keep its installer from running again and again",
    ),
    Vendor(
        "Multus",
        ("multus", "multus-shim"),
        ("multus-daemon", "thin_entrypoint"),
        "chain into its master's file instead",
    ),
    Vendor(
        "flannel",
        ("flannel",),
        ("flanneld", "cp"),
        "flannel writes at its start only: look for what restarts it",
    ),
    Vendor(
        "Amazon VPC CNI",
        ("aws-cni",),
        ("aws-k8s-agent", "aws-vpc-cni"),
        "it writes at its start: look for what restarts it",
    ),
    Vendor(
        "Antrea",
        ("antrea",),
        ("antrea-agent",),
        "it writes at its start: look for what restarts it",
    ),
    Vendor(
        "kube-router",
        ("kube-router",),
        ("kube-router",),
        "it writes at its start: look for what restarts it",
    ),
    Vendor(
        "OVN-Kubernetes", ("ovn-k8s-cni-overlay",), ("ovnkube",), "chain through Multus instead"
    ),
    Vendor("Istio", ("istio-cni",), ("install-cni",), "let one keeper edit the file, not two"),
    Vendor(
        "linkerd",
        ("linkerd-cni",),
        ("install-cni.sh", "linkerd-cni-rep"),
        "let one keeper edit the file, not two",
    ),
    Vendor(
        "kindnet",
        ("ptp",),
        ("kindnetd",),
        "kindnet writes its file at intervals: give the mesh a file of its own behind it",
    ),
)
RUNTIMES = ("containerd", "crio", "dockerd", "k3s-server", "k3s-agent")
"""Watchers that only read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rival:
    """Who reverts, as far as it shows."""

    name: str
    signs: tuple[str, ...]
    peace: str


def name_rival(
    files: Iterable[ConfFile],
    network: Network | None,
    kind: str,
    writers: Iterable[str],
    watchers: Iterable[str],
) -> Rival:
    """Name the rival by all signs; what nobody knows is said to be unknown."""
    signs: list[str] = []
    vendors: list[Vendor] = []
    aside = [file.name for file in files if file.name.endswith(SET_ASIDE)]
    if aside:
        signs.append(f"{', '.join(aside)}: set aside as Cilium does it (cni.exclusive=true)")
        vendors.append(VENDORS[0])
    writing = tuple(writers)
    signs += [f"fanotify saw {writer} write" for writer in writing]
    watching = [watcher for watcher in watchers if not watcher.startswith(RUNTIMES)]
    signs += [f"{watcher} watches the folder" for watcher in watching]
    vendors += [vendor for vendor in VENDORS if _runs_one(vendor, (*writing, *watching))]
    if network is not None:
        own = [
            vendor
            for vendor in VENDORS
            if set(vendor.plugins) & set(network.types) and kind not in vendor.plugins
        ]
        signs += [f"{network.file} has {vendor.name}'s plugin" for vendor in own]
        vendors += own
    if vendors:
        return Rival(name=vendors[0].name, signs=tuple(signs), peace=vendors[0].peace)
    return Rival(
        name=writing[0] if writing else "somebody unknown",
        signs=tuple(signs),
        peace=(
            "find who writes there: auditctl -w, or run the keeper with hostPID and CAP_SYS_ADMIN"
        ),
    )


def _runs_one(vendor: Vendor, processes: Iterable[str]) -> bool:
    return any(process.partition(" (")[0] in vendor.programs for process in processes)
