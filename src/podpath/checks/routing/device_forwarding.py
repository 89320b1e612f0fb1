r"""device-forwarding: one device does not forward, although the host does.

What it is
    net.ipv4.conf.DEVICE.forwarding is 0 while net.ipv4.ip_forward is 1. Setting ip_forward sets it
    on all devices that exist at that moment; a later write to one device, a tool that manages it
    (systemd-networkd's IPForward, libvirt, a hardening script) or creating a device while `default`
    was 0 makes it differ.

Why it breaks
    For IPv4, the setting of the device that a packet comes in on decides whether it is forwarded.
    If it is 0, packets for other hosts are dropped: pods behind the device reach the host and
    nothing beyond it, or replies from outside do not come back.

How to confirm
    sysctl -a 2>/dev/null | grep -E 'ipv4.conf.*\.forwarding'

How to fix
    sysctl -w net.ipv4.conf.DEVICE.forwarding=1, and find out what resets it (IPv4Forwarding= in
    systemd-networkd, sysctl.d).

References
    ip_route_input_slow, IN_DEV_FORWARD (net/ipv4/route.c v6.12);
    Documentation/networking/ip-sysctl.rst
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.stated import is_inner_bridge, uplinks
from podpath.checks.told import list_cut_from_forwarding, list_failing
from podpath.checks.topology import known_sysctl
from podpath.net.provenance import Known
from podpath.node.case import Case
from podpath.node.change import SetSysctl
from podpath.node.node import HOST

CATEGORIES = (
    Category.IP_FORWARD,
    Category.SYSCTL,
    Category.NETWORK_MANAGER,
)
NAME = "device-forwarding"


PREFIX, SUFFIX = "net.ipv4.conf.", ".forwarding"
GENERAL = ("all", "default", "lo")
POSSIBLE = 0.6
_ASK = FollowUp(
    "on which device the lost packets come in",
    "ip route get ADDRESS; tcpdump -ni any host ADDRESS",
    "they come in on the device that does not forward: this is the cause",
)


def check(case: Case) -> Iterator[Finding]:
    """Report the devices of the host with the switch off, while it is on for the host."""
    host = case.node.host
    switches = [
        known_sysctl(host, key) for key in ("net.ipv4.ip_forward", "net.ipv4.conf.all.forwarding")
    ]
    on = next((fact for fact in switches if fact is not None and fact.value == "1"), None)
    off = any(fact is not None and fact.value == "0" for fact in switches)
    cut = () if off or on is not None else list_cut_from_forwarding(case)
    if on is None and not cut:
        return
    for key, fact in host.sysctls.items():
        device = key.removeprefix(PREFIX).removesuffix(SUFFIX).replace("/", ".")
        stated = key.startswith(PREFIX) and key.endswith(SUFFIX) and device not in GENERAL
        if not stated or not isinstance(fact, Known) or fact.value != "0" or fact.span is None:
            continue
        if on is None and not is_inner_bridge(device):
            continue
        sure = on is None or _is_concerned(case, device)
        also = cut[:1] if on is None else (on.span,)
        spans = (fact.span, *(span for span in also if span is not None))
        yield Finding(
            check=NAME,
            severity=Severity.FAULT,
            claim=(
                f"The host forwards nothing that comes in on {device} ({key} is 0)."
                if on is None
                else f"The host forwards, but not what comes in on {device} ({key} is 0)."
            ),
            evidence=spans,
            reasoning=(
                (
                    "The forwarding setting of the device that a packet comes in on decides "
                    "whether it is forwarded."
                ),
            ),
            breaks=(f"everything that comes in on {device} and is not for the host itself",),
            repairs=(
                Repair(
                    title=f"let {device} forward",
                    commands=(f"sysctl -w {key}=1",),
                    changes=(SetSysctl(netns=HOST, key=key, value="1"),),
                ),
            ),
            prevention=(
                "Find out what manages the device: systemd-networkd, NetworkManager, libvirt, a "
                "file in sysctl.d."
            ),
            marks=(device, "0"),
            certainty=1.0 if sure else POSSIBLE,
            asks=() if sure else (_ASK,),
        )


def _is_concerned(case: Case, device: str) -> bool:
    """Tell whether what fails may come in on a device: it is of containers or of a default route,
    people name it, or no other device is shown to forward.
    """
    host = case.node.host
    if is_inner_bridge(device) or device in uplinks(host):
        return True
    if any(device in one.words | one.spoken for one in list_failing(case)):
        return True
    others = {
        key.removeprefix(PREFIX).removesuffix(SUFFIX)
        for key, fact in host.sysctls.items()
        if key.startswith(PREFIX)
        and key.endswith(SUFFIX)
        and isinstance(fact, Known)
        and fact.value == "1"
        and fact.span is not None
    }
    return others <= {*GENERAL, device}
