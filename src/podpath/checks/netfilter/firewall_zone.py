"""firewall-zone: firewalld's zone of a container network admits neither its DNS nor its forwarded
traffic.

What it is
    `firewall-cmd --list-all` shows a zone that contains a device of pods or containers (or the
    default zone, which such devices go to), with few services and ports, and without masquerade.

Why it breaks
    A zone rejects what it does not list: a container's query to the DNS server on its gateway (port
    53) gets "host unreachable" or "Packet filtered", pods do not reach the API server (6443), the
    kubelet (10250) or a VXLAN port (8472/udp) on the node. Without masquerade, firewalld translates
    nothing for the zone.

How to confirm
    firewall-cmd --get-active-zones; firewall-cmd --set-log-denied=all; journalctl -k -g REJECT

How to fix
    firewall-cmd --permanent --zone=trusted --add-interface=BRIDGE (or --add-source=POD-RANGE);
    firewall-cmd --reload, then restart Docker. On a Kubernetes node, most plugins want firewalld
    off.

References
    firewalld.zone(5), firewall-cmd(1)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.stated import statements_of
from podpath.net.firewall import ZoneSetting
from podpath.net.provenance import Span
from podpath.node.case import Case

CATEGORIES = (Category.HOST_FIREWALL,)
NAME = "firewall-zone"
TRUSTED = frozenset({"trusted", "docker", "libvirt", "netavark_zone"})
_INNER = re.compile(r"(?:docker|br-|cni|podman|virbr|lxd|cali|flannel|kube|weave)")


def check(case: Case) -> Iterator[Finding]:
    """Report each zone, but those that trust, whose target does not accept; surer where a
    container's device is in it.
    """
    zones: dict[str, dict[str, tuple[tuple[str, ...], Span]]] = {}
    for setting, stated in statements_of(case, ZoneSetting):
        zones.setdefault(setting.zone, {})[setting.key] = (setting.values, stated.span)
    for name, settings in zones.items():
        target = settings.get("target", (("default",), None))[0]
        if name not in TRUSTED and "ACCEPT" not in target and "services" in settings:
            yield _report(name, settings)


def _report(name: str, settings: dict[str, tuple[tuple[str, ...], Span]]) -> Finding:
    devices = settings.get("interfaces", ((), None))[0]
    inner = [device for device in devices if _INNER.match(device)]
    order = ("interfaces", "services", "ports", "masquerade", "target")
    shown = [settings[key] for key in order if key in settings]
    allowed = (
        " ".join((*settings["services"][0], *settings.get("ports", ((), None))[0])) or "nothing"
    )
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"Firewalld's zone {name} admits only {allowed}"
        + (f", and the containers' {', '.join(inner)} is in it." if inner else "."),
        evidence=tuple(span for _, span in shown),
        reasoning=("A zone rejects what it does not list.",),
        breaks=(
            "connections from containers to the host, and from other hosts to its overlay's ports",
        ),
        repairs=(
            Repair(
                title="put the containers' device into the trusted zone",
                commands=(
                    "firewall-cmd --permanent --zone=trusted --add-interface=BRIDGE",
                    "firewall-cmd --reload",
                ),
            ),
        ),
        prevention=(
            "Put the containers' devices and ranges into a trusted zone before they are used."
        ),
        certainty=0.7 if inner else 0.5,
        asks=(
            FollowUp(
                fact="whether firewalld rejects the failing packets",
                command="firewall-cmd --set-log-denied=all; journalctl -k -f -g REJECT",
                decides="a line appears with each attempt: it does",
            ),
        ),
    )
