"""Support bundles of troubleshoot.sh (replicatedhq/troubleshoot): objects of the cluster, and what
ran on its hosts.

Host collectors write JSON of their own, for the machine that made the bundle, or for each node in a
folder of its name.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from podpath.evidence.layouts.layout import BundleLayout, LayoutRow, Part, ReadAs
from podpath.evidence.layouts.values import (
    Fields,
    fields_in,
    load_fields,
    mac_at,
    number_at,
    text_at,
)

_KINDS = "pods|services|endpoints|endpointslices|network-policy|ingress|configmaps"
_ON = r"host-collectors/(?:(?P<host>(?!system/|run-host/)[^/]+)/)?"
_UP = 1
"""`FlagUp` of Go's package net."""


def spell_sysctls(text: str) -> Iterator[Part]:
    """Yield the sysctls of an object with a member for each."""
    found = load_fields(text)
    lines = [f"{key} = {value}" for key, value in found.items() if isinstance(value, str) and value]
    yield Part("sysctl -a", tuple(lines), name="sysctl")


def spell_modules(text: str) -> Iterator[Part]:
    """Yield the modules that are loaded of an object with a member for each that the kernel has."""
    lines = ["Module                  Size  Used by"]
    for name, about in load_fields(text).items():
        if isinstance(about, dict) and about.get("status") == "loaded":
            lines.append(
                f"{name.replace('-', '_')} {number_at(about, 'size'):>12} "
                f"{number_at(about, 'instances')}"
            )
    yield Part("lsmod", tuple(lines), name="lsmod")


def spell_interfaces(text: str) -> Iterator[Part]:
    """Yield devices as Go's `net.Interfaces` lists them; only those that are up and have an address
    are collected.
    """
    try:
        listed: object = json.loads(text)
    except (ValueError, RecursionError):
        return
    lines = [json.dumps(_spell_interface(each)) for each in fields_in(listed)]
    if lines:
        yield Part(
            "ip -j link show up",
            ("[", *(f"{line}," for line in lines[:-1]), lines[-1], "]"),
            name="ip-link",
        )


def _spell_interface(fields: Fields) -> Fields:
    found: dict[str, object] = {
        "ifindex": number_at(fields, "Index"),
        "ifname": text_at(fields, "Name"),
        "mtu": number_at(fields, "MTU"),
        "flags": ["UP"] if number_at(fields, "Flags") & _UP else [],
    }
    mac = mac_at(fields, "HardwareAddr")
    return found | ({"address": mac} if mac else {})


LAYOUT = BundleLayout(
    name="troubleshoot.sh support bundle",
    marks=(
        (r"cluster-resources/(?:nodes|namespaces|pods|services|storage-classes)(?:\.json|"
        r"/[^/]+\.json)"),
        (r"host-collectors/(?:[^/]+/)?system/(?:sysctl|hostos_info|kernel_modules|memory|cpu|"
        r"ipv4Interfaces)\.json"),
        r"cluster-info/cluster_version\.json",
    ),
    rows=(
        LayoutRow(rf"{_ON}system/sysctl\.json", rewrite=spell_sysctls),
        LayoutRow(rf"{_ON}system/kernel_modules\.json", rewrite=spell_modules),
        LayoutRow(rf"{_ON}system/ipv4Interfaces\.json", rewrite=spell_interfaces),
        LayoutRow(rf"{_ON}run-host/[^/]+(?:\.txt|/.*)", how=ReadAs.SNIFFED),
        LayoutRow(rf"{_ON}(?:journald|dmesg)/.*", how=ReadAs.LOG),
        LayoutRow(rf"{_ON}.*", how=ReadAs.ASIDE),
        LayoutRow(r"sysctl/(?P<host>[^/]+?)(?:\.log|\.txt)?", "sysctl -a"),
        LayoutRow(
            rf"cluster-resources/(?P<kind>{_KINDS})/(?P<space>[^/]+?)\.json",
            "kubectl -n {space} get {kind} -o json",
        ),
        LayoutRow(
            r"cluster-resources/(?P<kind>nodes|ingress-classes)\.json",
            "kubectl get {kind} -o json",
        ),
        LayoutRow(r"cluster-resources/custom-resources/[^/]*(?:projectcalico|cilium|metallb|istio|"
                  r"k8s\.cni)[^/]*/.*\.(?:yaml|json)",
            how=ReadAs.SNIFFED),
        LayoutRow(r"cluster-resources/(?:events/.*|pods/logs/.*)", how=ReadAs.LOG),
        LayoutRow(r"cluster-resources/.*|cluster-info/.*|execution-data/.*|analysis\.json|"
                  r"version\.yaml|.*-errors\.json|.*/errors/.*",
            how=ReadAs.ASIDE),
        LayoutRow(r"run-daemonset/(?P<host>[^/]+?)\.(?:log|txt)", how=ReadAs.SNIFFED),
        LayoutRow(r".*\.log", how=ReadAs.LOG),
    ),
)  # fmt: skip
