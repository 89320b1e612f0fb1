"""The kinds of things that happen to a node's network, as chains of causes name them."""

from __future__ import annotations

from enum import StrEnum


class MarkKind(StrEnum):
    """What an event is about, or a service writes."""

    PACKAGE = "package"
    SERVICE = "service"
    SYSCTL = "sysctl"
    FIREWALL = "firewall"
    NETWORK = "network"
    PROXY = "proxy"
    """What carries services and pods: CNI plugins, kube-proxy, meshes."""
    RUNTIME = "runtime"
    """What starts containers."""
    LINK = "link"
    ADDRESS = "address"
    CONNTRACK = "conntrack"
    NEIGHBOUR = "neighbour"
    MODULE = "module"
    BOOT = "boot"
    COMMAND = "command"
    MEMORY = "memory"
    CLOCK = "clock"
    MARTIAN = "martian"
    POD = "pod"
