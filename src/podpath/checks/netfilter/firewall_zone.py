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
from collections.abc import Iterator, Sequence
from dataclasses import replace

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.objects import NODE_PORTS, failures
from podpath.checks.stated import statements_of
from podpath.checks.told import find_told, list_failing
from podpath.net.complaints import Circumstance
from podpath.net.failures import FailureKind
from podpath.net.firewall import ZoneSetting
from podpath.net.provenance import Span
from podpath.net.technologies import Technology
from podpath.node.case import Case

CATEGORIES = (Category.HOST_FIREWALL,)
NAME = "firewall-zone"
SERVED = {
    "ssh": "22/tcp", "dhcpv6-client": "546/udp", "cockpit": "9090/tcp", "mdns": "5353/udp",
    "samba-client": "137-138/udp", "http": "80/tcp", "https": "443/tcp", "dns": "53/udp",
    "kube-apiserver": "6443/tcp", "kubelet": "10250/tcp", "nfs": "2049/tcp",
    "ipp-client": "631/udp", "vnc-server": "5900-5903/tcp", "dhcp": "67/udp", "syslog": "514/udp",
    "mysql": "3306/tcp", "postgresql": "5432/tcp", "smtp": "25/tcp", "ntp": "123/udp",
    "openvpn": "1194/udp", "wireguard": "51820/udp", "ftp": "21/tcp", "tftp": "69/udp",
}  # fmt: skip
"""The ports of services that distributions admit, as /usr/lib/firewalld/services has them."""
TRUSTED = frozenset({"trusted", "docker", "libvirt", "netavark_zone"})
NAMED = 6
"""Services and ports of a zone that a claim names: its line is quoted."""
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
            rejected = next(_list_rejected(case, settings), None)
            found = _report(name, settings)
            cured = _find_cure(case, zones)
            if rejected is not None:
                port, span = rejected
                sure = not _is_node_port(case, port)
                yield _report_rejected(found, name, port, span, sure=sure)
            elif cured is not None:
                yield _report_cured(found, cured)
            elif not _is_admitted(case, settings):
                yield found


def _is_admitted(case: Case, settings: dict[str, tuple[tuple[str, ...], Span]]) -> bool:
    """Tell whether a zone without a container's device admits every port that is said to fail: no
    sentence about a failure is without one.
    """
    told = [one.ports for one in list_failing(case)]
    inner = any(_INNER.match(device) for device in settings.get("interfaces", ((), None))[0])
    if inner or not all(told):
        return False
    asked = {port for ports in told for port in ports}
    asked |= {failure.dport for failure in failures(case) if failure.dport}
    admitted = _list_admitted(settings)
    return bool(asked) and all(_is_among(port, admitted) for port in asked)


def _is_among(port: int, admitted: Sequence[str]) -> bool:
    return any(_holds(word, port) for word in admitted)


def _list_admitted(settings: dict[str, tuple[tuple[str, ...], Span]]) -> list[str]:
    """Return the ports of a zone, and those of its services that are known."""
    services = settings["services"][0]
    ports = settings.get("ports", ((), None))[0]
    return [*ports, *(SERVED[word] for word in services if word in SERVED)]


def _find_cure(
    case: Case, zones: dict[str, dict[str, tuple[tuple[str, ...], Span]]]
) -> Span | None:
    """Return the sentence that says that it works without the firewall; None where none does, or a
    zone that trusts is shown to hold what may fail.
    """
    trusting = (zones[name] for name in TRUSTED & zones.keys())
    held = any(
        settings.get(key, ((), None))[0]
        for settings in trusting
        for key in ("interfaces", "sources")
    )
    fails = any(True for _ in list_failing(case))
    return None if held or not fails else find_told(case, Circumstance.WITHOUT_FIREWALL)


def _report_cured(found: Finding, told: Span) -> Finding:
    """Return the finding, certain: a zone rejects what it does not list, and without the firewall
    it works.
    """
    return replace(
        found,
        evidence=(*found.evidence, told),
        reasoning=(*found.reasoning, "Without the firewall, what fails is said to work."),
        certainty=1.0,
        asks=(),
    )


def _list_rejected(
    case: Case, settings: dict[str, tuple[tuple[str, ...], Span]]
) -> Iterator[tuple[int, Span]]:
    """Yield the ports that fail as what a zone rejects does ("no route to host"), and that neither
    its ports nor its services hold; no other zone or rich rule is shown that may.
    """
    words = settings["services"][0]
    zones = {setting.zone for setting, _ in statements_of(case, ZoneSetting)}
    rich = settings.get("rich rules", ((), None))[0]
    if rich or len(zones - TRUSTED) > 1 or not SERVED.keys() >= set(words):
        return
    admitted = _list_admitted(settings)
    own = {item.address for item in case.node.host.addresses.items if item.span is not None}
    for failure in failures(case):
        elsewhere = bool(own) and failure.dst not in own
        port = 0 if elsewhere else failure.dport
        held = _is_among(port, admitted)
        if port and not held and failure.result is FailureKind.NO_ROUTE_TO_HOST:
            yield port, failure.span


def _holds(word: str, port: int) -> bool:
    """Tell whether `30000-32767/tcp` or `22` holds a port."""
    low, _, high = word.partition("/")[0].partition("-")
    return low.isdecimal() and int(low) <= port <= int(high if high.isdecimal() else low)


def _is_node_port(case: Case, port: int) -> bool:
    """Tell whether a port may be a NodePort, which is translated: whether a zone rejects that is of
    firewalld's version, and a node that a pod is on may be what is unreachable.
    """
    served = (one.node_port for service in case.node.services for one in service.ports)
    clusters = case.mentions & {Technology.KUBERNETES, Technology.K3S, Technology.NODE_PORT}
    return port in served or (port in NODE_PORTS and bool(clusters))


def _report_rejected(found: Finding, zone: str, port: int, span: Span, *, sure: bool) -> Finding:
    """Return the finding with a try of a port that the zone does not list, which was rejected as a
    zone rejects: certain, unless something else may have answered.
    """
    return replace(
        found,
        claim=f"{str(found.claim).rstrip('.')}; port {port} is not among them, and is rejected.",
        evidence=(*found.evidence, span),
        reasoning=(
            *found.reasoning,
            'A zone rejects with host-prohibited, which programs report as "no route to host".',
        ),
        repairs=(
            Repair(
                title="open the port in its zone",
                commands=(
                    f"firewall-cmd --permanent --zone={zone} --add-port={port}/tcp",
                    "firewall-cmd --reload",
                ),
            ),
        ),
        certainty=1.0 if sure else 0.8,
        asks=() if sure else found.asks,
    )


def _report(name: str, settings: dict[str, tuple[tuple[str, ...], Span]]) -> Finding:
    devices = settings.get("interfaces", ((), None))[0]
    inner = [device for device in devices if _INNER.match(device)]
    order = ("interfaces", "services", "ports", "masquerade", "target")
    shown = [settings[key] for key in order if key in settings]
    admitted = (*settings["services"][0], *settings.get("ports", ((), None))[0])
    more = f" and {len(admitted) - NAMED} more" if len(admitted) > NAMED else ""
    allowed = " ".join(admitted[:NAMED]) + more or "nothing"
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
