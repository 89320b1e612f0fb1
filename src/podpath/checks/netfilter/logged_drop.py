"""logged-drop: the kernel's log says that the firewall dropped a packet of a pod, a container or a
node.

What it is
    A line that a LOG rule wrote: `[UFW BLOCK] IN=docker0 ...`, `FINAL_REJECT: IN=cni0 ...`,
    `filter_FWD_public_REJECT:`, `STATE_INVALID_DROP:`, `calico-packet:`, `IPTables-Dropped:`,
    `rpfilter_DROP:`, `Shorewall:FORWARD:DROP:`.

Why it breaks
    The prefix names the rule right before the drop: ufw logs what its default policy is about to
    drop, firewalld (LogDenied) what it is about to reject. IN is the device that the packet came in
    on, OUT the one it would leave on: with OUT empty, it was for the host itself (INPUT); with
    both, it was forwarded (FORWARD).

How to confirm
    journalctl -k -g 'DST=ADDRESS'; iptables-save | grep -B1 -A1 'log-prefix'

How to fix
    ufw: `ufw route allow in on DEVICE` for forwarded traffic, `ufw allow in on DEVICE to any port
    PORT` for the host itself. firewalld: put the device into the trusted zone. Otherwise accept
    above the LOG rule.

References
    ufw-framework(8); firewalld.conf(5), LogDenied; nf_log_ip_packet (net/netfilter/nf_log_syslog.c)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.stated import statements_of
from podpath.checks.told import list_lost
from podpath.net.addresses import Address, Prefix
from podpath.net.firewall import AllowedSource, UfwAction
from podpath.net.messages import Message, MessageKind
from podpath.net.provenance import Span, list_spans
from podpath.net.technologies import Technology
from podpath.node.case import Case

CATEGORIES = (Category.HOST_FIREWALL, Category.NETWORK_POLICY, Category.CONNTRACK_INVALID)
NAME = "logged-drop"
_ENDS = re.compile(r"block|drop|reject|deny|denied|calico-packet", re.ASCII | re.IGNORECASE)
_OTHERS = re.compile(r"rp_?filter|reverse", re.IGNORECASE)
"""Prefixes of reverse-path rules: `rpfilter-rule` tells of them."""
_GROUPS = re.compile(r"(?:22[4-9]|23\d)\.|255\.255\.255\.255|ff", re.IGNORECASE)
"""How destinations begin that are groups or everybody: no connection goes there."""
_INNER = re.compile(
    r"(?:docker|br-|cni|veth|cali|flannel|lxc|lxd|virbr|podman|weave|kube|cilium|vxlan|tunl|wg|eni|"
    r"gke|azv|cbr|vnet|genev|ovn)"
)
PRIVATE = tuple(
    Prefix.parse(text)
    for text in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7")
)
QUOTED = 3


def check(case: Case) -> Iterator[Finding]:
    """Report what was dropped on its way from or to a pod's device, or between private
    addresses.
    """
    dropped = [message for message in case.messages if _is_drop(message)]
    inner = [message for message in dropped if _is_inner(message)]
    asked = [message for message in dropped if _is_asked(case, message)]
    if inner or asked:
        yield _report(case, asked or inner, sure=True)
    elif dropped and (private := [message for message in dropped if _is_private(message)]):
        yield _report(case, private, sure=False)


def _is_drop(message: Message) -> bool:
    prefix = message.values.get("prefix", "")
    ends = (
        _ENDS.search(prefix) is not None
        and "AUDIT" not in prefix
        and _OTHERS.search(prefix) is None
    )
    return (
        message.kind is MessageKind.NETFILTER_LOG
        and ends
        and _GROUPS.match(message.values.get("dst", "")) is None
    )


def _is_asked(case: Case, message: Message) -> bool:
    """Tell whether a dropped packet is one of those that people say are lost: it has the address
    and the port that they name, or is of a tunnel whose traffic they miss.
    """
    ends = {one for side in ("src", "dst") if (one := _address(message, side)) is not None}
    port = message.values.get("dport", "")
    for complaint in list_lost(case):
        named = bool(ends & set(complaint.addresses))
        ports = {str(one) for one in complaint.ports}
        if named and port in ports and _opens(message):
            return True
    spoken = TUNNELS.get(message.values.get("protocol", "").upper())
    return spoken in case.mentions and bool(message.values.get("iif")) and bool(list_lost(case))


def _opens(message: Message) -> bool:
    """Tell whether a packet opens a connection: what strays in after its end is dropped everywhere,
    and breaks nothing.
    """
    words = set(message.span.text.split())
    return "SYN" in words or words.isdisjoint({"ACK", "RST", "FIN"})


TUNNELS = {
    "4": Technology.IPIP, "IPIP": Technology.IPIP, "IPENCAP": Technology.IPIP,
    "41": Technology.IPV6, "IPV6": Technology.IPV6,
    "47": Technology.GRE, "GRE": Technology.GRE,
    "50": Technology.IPSEC, "ESP": Technology.IPSEC, "51": Technology.IPSEC,
    "AH": Technology.IPSEC,
}  # fmt: skip
"""Protocols that carry packets of others, by number or name, and how people call them; IPv6 inside
IPv4 is 41.
"""


def _is_inner(message: Message) -> bool:
    return any(_INNER.match(message.values.get(key, "")) for key in ("iif", "oif"))


def _is_private(message: Message) -> bool:
    for side in ("src", "dst"):
        end = _address(message, side)
        if end is None:
            return False
        if not any(prefix.family == end.family and prefix.covers(end) for prefix in PRIVATE):
            return False
    return True


def _address(message: Message, key: str) -> Address | None:
    try:
        return Address.parse(message.values.get(key, ""))
    except ValueError:
        return None


def _report(case: Case, dropped: list[Message], *, sure: bool) -> Finding:
    first = dropped[0].values
    port = f" port {first['dport']}" if "dport" in first else ""
    way = _name_way(first)
    protocol = first.get("protocol") or "a packet"
    prefix = first["prefix"].rpartition("kernel: ")[2].strip()
    outside = tuple(_list_outside(case, dropped[0]))
    names = f"{first['src']} to {first['dst']}{port}"
    reasoning = [f"The line's IN and OUT say that the packet was {way}."]
    if outside:
        reasoning.append(
            f"The rules that allow traffic name ranges that do not contain {first['src']}."
        )
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"The host's firewall dropped {protocol} from {names}: the kernel logged it as "
            f"{prefix}."
        ),
        evidence=tuple(dict.fromkeys((*list_spans(dropped[:QUOTED]), *outside))),
        reasoning=tuple(reasoning),
        breaks=(f"{protocol} from {names}",),
        repairs=(Repair(title="accept it in the firewall's own configuration", commands=()),),
        prevention=(
            "Allow the containers' ranges, or their devices, in the firewall's own configuration."
        ),
        certainty=1.0 if sure else 0.6,
        marks=(prefix,),
        asks=()
        if sure
        else (
            FollowUp(
                fact="whether the logged packets are those that fail",
                command="journalctl -k -f | grep 'SRC='",
                decides="a line appears with each attempt: the firewall drops it",
            ),
        ),
    )


def _name_way(values: Mapping[str, str]) -> str:
    if not values.get("iif"):
        return "the host's own"
    return "forwarded" if values.get("oif") else "for the host itself"


def _list_outside(case: Case, message: Message) -> Iterator[Span]:
    """Yield the allowing rules for the packet's port whose range does not contain its source."""
    source = _address(message, "src")
    port = message.values.get("dport", "")
    for rule, stated in statements_of(case, AllowedSource):
        if source is None or rule.source is None or rule.source.family != source.family:
            continue
        about = not port or port in re.split(r"\D+", rule.to)
        if about and rule.action is UfwAction.ALLOW and not rule.source.covers(source):
            yield stated.span
