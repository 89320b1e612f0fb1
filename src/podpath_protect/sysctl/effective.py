"""What the kernel makes of a device's value and that of `all`: the two are combined, and
differently for each key.

Read from `include/linux/inetdevice.h` (v6.12), the macros IN_DEV_MAXCONF, IN_DEV_ORCONF and
IN_DEV_ANDCONF. Keys that are not listed, and those of IPv6, count by the device's own value. Not
combined here: accept_redirects, whose rule depends on forwarding.
"""

from __future__ import annotations

from typing import Literal

from podpath_protect.sysctl.keys import EVERYWHERE, Key

Rule = Literal["max", "or", "and"]

RULES: dict[str, Rule] = {
    "rp_filter": "max", "arp_accept": "max", "arp_announce": "max", "arp_ignore": "max",
    "arp_notify": "max", "accept_local": "or", "arp_filter": "or", "log_martians": "or",
    "promote_secondaries": "or", "proxy_arp": "or", "proxy_arp_pvlan": "or", "route_localnet": "or",
    "secure_redirects": "or", "send_redirects": "or", "shared_media": "or", "src_valid_mark": "or",
    "accept_source_route": "and", "arp_evict_nocarrier": "and", "bc_forwarding": "and",
    "bootp_relay": "and", "mc_forwarding": "and",
}  # fmt: skip

SPREADS = frozenset({
    ("net", "ipv4", "ip_forward"), ("net", "ipv4", "conf", "all", "forwarding"),
    ("net", "ipv6", "conf", "all", "forwarding"), ("net", "ipv6", "conf", "all", "disable_ipv6"),
})  # fmt: skip
"""Keys that set every device when they are written, so that they are written first
(`net/ipv4/devinet.c:inet_forward_change v6.12`, `net/ipv6/addrconf.c:addrconf_disable_change
v6.12`).
"""


def rule_of(key: Key) -> Rule | None:
    """Return how a device's key goes together with that of `all`; None where the device's own value
    counts.
    """
    if (
        key.device is None
        or key.device in EVERYWHERE
        or key.segments[:3] != ("net", "ipv4", "conf")
    ):
        return None
    return RULES.get(key.segments[-1])


def combine(rule: Rule | None, everywhere: int, own: int) -> int:
    """Return the value that is in force for a device."""
    match rule:
        case "max":
            return max(everywhere, own)
        case "or":
            return int(bool(everywhere or own))
        case "and":
            return int(bool(everywhere and own))
        case None:
            return own


def yielding(rule: Rule, want: int) -> int:
    """Return the value of `all` that lets a device's own value decide, and be `want`."""
    return want if rule == "max" else int(rule == "and")
