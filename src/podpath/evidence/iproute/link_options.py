"""Options of a device's kind (`info_data`) and of a port of its master (`info_slave_data`), in one
spelling for text and JSON.

Keys are those of `ip -d -j link`; what is switched is `on` or `off`. Timers are left out: they
state a moment and no setting. In text a kind without a row here keeps no options, since its words
cannot be told apart from their values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from podpath.evidence.text.tokenizer import Cursor


@dataclass(frozen=True, slots=True, kw_only=True)
class _Grammar:
    """How `print_opt` of iproute2's iplink_KIND.c spells the options of one kind."""

    renamed: Mapping[str, str] = field(default_factory=dict)
    """Words of the text that are spelled otherwise in JSON."""
    switches: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Words without a value, with the key and value that they stand for."""
    silent: Mapping[str, str] = field(default_factory=dict)
    """What holds where the text says nothing."""
    absent: frozenset[str] = frozenset()
    """Keys that only one of the two forms prints: left out."""


_TUNNEL = {"dstport": "port", "dev": "link"}
_VXLAN = _Grammar(
    renamed={**_TUNNEL, "srcport": "port_range", "maxaddr": "limit"},
    switches={
        "nolearning": ("learning", "off"), "learning": ("learning", "on"), "proxy": ("proxy", "on"),
        "rsc": ("rsc", "on"), "l2miss": ("l2miss", "on"), "l3miss": ("l3miss", "on"),
        "udpcsum": ("udp_csum", "on"), "noudpcsum": ("udp_csum", "off"),
        "udp6zerocsumtx": ("udp_zero_csum6_tx", "on"),
        "noudp6zerocsumtx": ("udp_zero_csum6_tx", "off"),
        "udp6zerocsumrx": ("udp_zero_csum6_rx", "on"),
        "noudp6zerocsumrx": ("udp_zero_csum6_rx", "off"), "gbp": ("gbp", "on"),
        "gpe": ("gpe", "on"), "external": ("external", "on"), "vnifilter": ("vnifilter", "on"),
        "localbypass": ("localbypass", "on"), "nolocalbypass": ("localbypass", "off"),
        "remcsumtx": ("remcsum_tx", "on"), "remcsumrx": ("remcsum_rx", "on"),
    },
    silent={"learning": "on"},
    absent=frozenset({"df", "ttl"}),
)  # fmt: skip
_BRIDGE = _Grammar(
    renamed={
        "designated_root": "root_id", "group_address": "group_addr",
        "mcast_last_member_count": "mcast_last_member_cnt",
        "mcast_startup_query_count": "mcast_startup_query_cnt",
        "mcast_last_member_interval": "mcast_last_member_intvl",
        "mcast_membership_interval": "mcast_membership_intvl",
        "mcast_querier_interval": "mcast_querier_intvl",
        "mcast_query_interval": "mcast_query_intvl",
        "mcast_query_response_interval": "mcast_query_response_intvl",
        "mcast_startup_query_interval": "mcast_startup_query_intvl",
    },
)  # fmt: skip
_BRIDGE_PORT = _Grammar(
    renamed={
        "port_id": "id", "port_no": "no", "designated_bridge": "bridge_id",
        "designated_root": "root_id", "mcast_router": "multicast_router",
    },
    absent=frozenset({"mcast_fast_leave"}),
)  # fmt: skip
_PAIRS = _Grammar()
GRAMMARS: Mapping[str, _Grammar] = {
    "bridge": _BRIDGE,
    "vxlan": _VXLAN,
    "vlan": _PAIRS,
    "macvlan": _PAIRS,
    "macvtap": _PAIRS,
    "ipvlan": _Grammar(
        switches={mode: ("mode_flag", mode) for mode in ("bridge", "private", "vepa")}
    ),
    "bond": _Grammar(
        renamed={
            "num_grat_arp": "num_peer_notif",
            "lacp_rate": "ad_lacp_rate",
            "lacp_active": "ad_lacp_active",
        },
        absent=frozenset(
            {"ad_aggregator", "ad_num_ports", "ad_actor_key", "ad_partner_key", "ad_partner_mac"}
        ),
    ),
    "vrf": _PAIRS,
    "tun": _Grammar(
        switches={"multi_queue": ("multi_queue", "on")}, absent=frozenset({"multi_queue"})
    ),
    "geneve": _Grammar(renamed=_TUNNEL, switches=_VXLAN.switches, absent=_VXLAN.absent),
    "bridge_slave": _BRIDGE_PORT,
    "bond_slave": _PAIRS,
    "vrf_slave": _PAIRS,
}
"""Kinds whose options are read, `_slave` for ports."""
KINDS = frozenset(GRAMMARS) | {
    "veth", "dummy", "ifb", "openvswitch", "openvswitch_slave", "ipip", "ip6tnl", "sit", "gre",
    "gretap", "ip6gre", "ip6gretap", "erspan", "vti", "vti6", "wireguard", "netkit", "xfrm", "ovpn",
    "team", "team_slave", "vcan", "can", "hsr", "nlmon", "macsec", "ipvtap", "bareudp", "ppp",
    "amt", "lowpan", "geneve", "gtp", "rmnet", "virt_wifi", "vxcan", "dsa", "batadv", "ipoib",
    "nfp",
}  # fmt: skip
"""First words of a line of `ip -d link` that name a kind."""
_LINK_WORDS = frozenset(
    {
        "addrgenmode", "numtxqueues", "numrxqueues", "gso_max_size", "gso_max_segs", "portname",
        "portid", "switchid", "parentbus",
    }
)  # fmt: skip
"""Where the options end and the device's own words go on."""


def parse_options(cursor: Cursor, kind: str) -> dict[str, str]:
    """Take the options of a kind from the words of a text line."""
    grammar = GRAMMARS.get(kind)
    if grammar is None:
        return {}
    options = dict(grammar.silent)
    for word in cursor:
        if word in _LINK_WORDS:
            break
        if word in grammar.switches and not _is_value(cursor.peek):
            key, value = grammar.switches[word]
        elif word.startswith("<"):
            key, value = "flags", word.strip("<>")
        else:
            key, value = grammar.renamed.get(word, word), cursor.take().strip("<>")
            if key == "port_range":
                value += f"-{cursor.take()}"
        if value:
            options[key] = value
    return _keep(options, grammar)


def _is_value(word: str) -> bool:
    return word in {"on", "off"}


def collect_options(data: Mapping[str, object], kind: str) -> dict[str, str]:
    """Take the options of a kind from `info_data` or `info_slave_data`."""
    options: dict[str, str] = {}
    for key, value in data.items():
        if isinstance(value, bool):
            options[key] = "on" if value else "off"
        elif isinstance(value, (str, int)):
            options[key] = str(value)
        elif isinstance(value, list):
            options[key] = ",".join(item for item in value if isinstance(item, str))
        elif isinstance(value, dict) and {"low", "high"} <= value.keys():
            options[key] = f"{value['low']}-{value['high']}"
    return _keep(options, GRAMMARS.get(kind, _PAIRS))


def _keep(options: Mapping[str, str], grammar: _Grammar) -> dict[str, str]:
    return {
        key: value
        for key, value in options.items()
        if not key.endswith("_timer") and key not in grammar.absent
    }
