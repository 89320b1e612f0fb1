"""Services and programs that have a hand in a node's network, by all the names that logs call them.

systemd names a unit by its description (`Dynamic System Tuning Daemon`), audit by the unit, the
service itself by its program.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from podpath.timeline.mark_kinds import MarkKind


class NodeService(NamedTuple):
    """A service, and what it can do to the network."""

    subject: str
    """Its name, as its manual has it."""
    kind: MarkKind
    """What it writes."""
    names: re.Pattern[str]
    """Names of its units and programs, and their descriptions."""


def _service(subject: str, kind: str, names: str) -> NodeService:
    return NodeService(
        subject, MarkKind(kind), re.compile(rf"(?<![\w@/])(?:{names})(?![\w@])", re.IGNORECASE)
    )


SERVICES: tuple[NodeService, ...] = (
    _service("tuned", "sysctl", r"tuned(?:\.service|\.daemon\S*)?|Dynamic System Tuning Daemon"),
    _service("systemd-sysctl", "sysctl", r"systemd-sysctl(?:\.service)?|Apply Kernel Variables|"
                                         r"procps(?:\.service)?|sysctl-reload"),
    _service("polkit", "service", r"polkitd?(?:\.service)?|Authorization Manager"),
    _service("firewalld", "firewall", r"firewalld(?:\.service)?|dynamic firewall daemon"),
    _service("iptables", "firewall", r"ip6?tables(?:\.service|\.init)|IPv[46] firewall with "
                                     r"ip6?tables|netfilter-persistent(?:\.service)?|"
             r"netfilter persistent configuration"),
    _service("nftables", "firewall", r"nftables(?:\.service)?|Netfilter Tables"),
    _service("ufw", "firewall", r"ufw(?:\.service)?|Uncomplicated firewall"),
    _service("ferm", "firewall", r"(?:ferm|shorewall6?|csf|lfd)(?:\.service)?"),
    _service("NetworkManager", "network", r"NetworkManager(?:\.service)?|Network Manager"),
    _service("systemd-networkd", "network", r"systemd-networkd(?:\.service)?|Network Service|"
                                            r"Network Configuration"),
    _service("network", "network", r"network(?:ing)?\.service|LSB: Bring up/down networking|"
                                   r"Bring up/down networking|Raise network interfaces|"
                                   r"wickedd?(?:\.service)?|wicked managed network interfaces"),
    _service("netplan", "network", r"netplan"),
    _service("cloud-init", "network", r"cloud-init(?:-\w+)?(?:\.service)?|policy-routes|"
                                      r"ec2-net-utils|amazon-ec2-net-utils"),
    _service("keepalived", "network", r"keepalived(?:_\w+)?(?:\.service)?|LVS and VRRP High "
                                      r"Availability Monitor"),
    _service("openvswitch", "network", r"openvswitch(?:-switch)?(?:\.service)?|"
                                       r"ovs-vswitchd(?:\.service)?|ovsdb-server(?:\.service)?|"
             r"Open vSwitch(?: Forwarding Unit| Database Unit)?"),
    _service("libvirtd", "network", r"libvirtd(?:\.service)?|virtnetworkd(?:\.service)?|"
                                    r"Virtualization daemon"),
    _service("docker", "runtime", r"docker(?:d|\.service)?|Docker Application Container Engine"),
    _service("containerd", "runtime", r"containerd(?:\.service)?|containerd container runtime|"
                                      r"crio?(?:\.service)?|cri-o|Container Runtime Interface for "
                                      r"OCI"),
    _service("kubelet", "runtime", r"kubelet(?:\.service)?|kubelet: The Kubernetes Node Agent|"
                                   r"Kubernetes Kubelet|k3s(?:-agent)?(?:\.service)?|"
             r"rke2-\w+(?:\.service)?|Lightweight Kubernetes"),
    _service("cilium", "proxy", r"cilium(?:-agent|-operator|-[a-z0-9]{5})?"),
    _service("calico", "proxy", r"calico-node(?:-[a-z0-9]{5})?|calico(?:-kube-controllers)?|felix|"
                                r"bird6?|confd"),
    _service("flannel", "proxy", r"flanneld?(?:\.service)?|kube-flannel(?:-ds)?(?:-[a-z0-9]{5})?"),
    _service("kube-proxy", "proxy", r"kube-proxy(?:-[a-z0-9]{5})?(?:\.service)?"),
    _service("kube-router", "proxy", r"kube-router(?:-[a-z0-9]{5})?"),
    _service("linkerd-cni", "proxy", r"linkerd-cni(?:-[a-z0-9]{5})?|istio-cni(?:-node)?"
                                     r"(?:-[a-z0-9]{5})?|install-cni"),
    _service("cni", "proxy", r"aws-node(?:-[a-z0-9]{5})?|weave-net(?:-[a-z0-9]{5})?|"
                             r"antrea-agent(?:-[a-z0-9]{5})?|kube-multus\S*|azure-cni|"
                             r"ovnkube-node(?:-[a-z0-9]{5})?|kindnet(?:-[a-z0-9]{5})?"),
    _service(
        "systemd-modules-load", "module", r"systemd-modules-load(?:\.service)?|Load Kernel Modules",
    ),
    _service("udev", "network", r"systemd-udevd(?:\.service)?|Rule-based Manager for Device Events "
                                r"and Files"),
    _service("dbus", "service", r"dbus(?:-daemon|-broker)?(?:\.service)?|D-Bus System Message Bus"),
    _service("chrony", "clock", r"chronyd?(?:\.service)?|ntpd?(?:\.service)?|systemd-timesyncd"
                                r"(?:\.service)?"),
)  # fmt: skip
"""The first whose names stand in a text is meant."""


_ANY = re.compile("|".join(service.names.pattern for service in SERVICES), re.IGNORECASE)
"""Most texts name none of them: that is seen at once."""


def find_service(text: str) -> NodeService | None:
    """Return the service that a unit, a description or a program stands for; None where none of
    these is named.
    """
    if _ANY.search(text) is None:
        return None
    return next((service for service in SERVICES if service.names.search(text)), None)
