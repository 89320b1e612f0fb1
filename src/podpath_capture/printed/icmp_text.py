"""What tcpdump prints of ICMP and ICMPv6 (print-icmp.c, print-icmp6.c), from the columns of a
packet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from podpath.net import protocols

_REASONS = {
    5: "source route failed", 6: "net unknown", 7: "host unknown", 8: "isolated",
    9: "admin prohibited", 10: "admin prohibited", 11: "tos prohibited", 12: "tos prohibited",
    13: "admin prohibited filter", 14: "host precedence violation", 15: "precedence cutoff",
}  # fmt: skip
_REASONS6 = {
    0: "unreachable route",
    1: "unreachable prohibited",
    2: "beyond scope",
    3: "unreachable address",
}
_TYPES = {
    4: "source quench",
    9: "router advertisement",
    10: "router solicitation",
    12: "parameter problem",
    13: "time stamp",
}
_TYPES6 = {
    1: "destination unreachable", 2: "packet too big", 3: "time exceeded", 4: "parameter problem",
    130: "multicast listener query", 131: "multicast listener report", 133: "router solicitation",
    134: "router advertisement", 135: "neighbor solicitation", 136: "neighbor advertisement",
    137: "redirect",
}  # fmt: skip


def render_icmp(value: Callable[[str], int], quoted: Mapping[str, Any] | None) -> str:
    """Write the message without its length; `quoted` has protocol, ports and ends of the packet
    that an error is about.
    """
    kind, code = value("icmp_type"), value("icmp_code")
    six = value("protocol") == protocols.ICMPV6
    echoes = {128: "request", 129: "reply"} if six else {8: "request", 0: "reply"}
    name = "ICMP6," if six else "ICMP"
    if kind in echoes:
        return f"{name} echo {echoes[kind]}, id {value('sport')}, seq {value('seq')}"
    if six:
        about = "" if quoted is None else _about6(kind, code, quoted)
        return f"{name} {_TYPES6.get(kind, f'type-#{kind}')}{about}"
    if kind == 11:
        if code == 1:
            return "ICMP ip reassembly time exceeded"
        return "ICMP time exceeded in-transit"
    if kind == 3 and quoted is not None:
        return _unreachable(code, quoted)
    return f"ICMP {_TYPES.get(kind, f'type-#{kind}')}"


def _about6(kind: int, code: int, quoted: Mapping[str, Any]) -> str:
    """Write what an ICMPv6 error says of the packet that it quotes."""
    target, protocol = quoted["dst"], quoted["protocol"]
    if kind == 2:
        return f", mtu {quoted['mtu']}"
    if kind == 3 and code == 0:
        return f" in-transit for {target}"
    if kind == 1 and code == 4 and protocol in {protocols.TCP, protocols.UDP}:
        port = f"{protocols.protocol_name(protocol)} port {quoted['dport']}"
        return f", unreachable port, {target} {port}"
    if kind != 1 or code not in _REASONS6:
        return ""
    return f", {_REASONS6[code]} {target}" + (
        f", source address {quoted['src']}" if code == 2 else ""
    )


def _unreachable(code: int, quoted: Mapping[str, Any]) -> str:
    target = quoted["dst"]
    if code == 4:
        return f"ICMP {target} unreachable - need to frag (mtu {quoted['mtu']})"
    if code == 3:
        port = f"{protocols.protocol_name(quoted['protocol'])} port {quoted['dport']}"
        return f"ICMP {target} {port} unreachable"
    if code == 2:
        return f"ICMP {target} protocol {quoted['protocol']} unreachable"
    what = "net" if code in {0, 6, 9, 11} else "host"
    reason = f" - {_REASONS[code]}" if code in _REASONS else ""
    return f"ICMP {what} {target} unreachable{reason}"
