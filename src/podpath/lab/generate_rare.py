"""Random extensions that rules seldom use: what is outside the packet is set so that every packet
of a case is answered alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import NamedTuple

from podpath.net import protocols
from podpath.node.netfilter import Match, MatchOption, ProtocolMatch, Target

RARE = 0.04
"""How many rules have one of these."""
LOGGED = "S-logged"
"""A set that rules add to and none asks."""


class _Extension(NamedTuple):
    """A match or target, and where it may stand."""

    name: str
    options: tuple[MatchOption, ...]
    protocol: int = 0
    """That of the rule; 0 for any."""
    chains: tuple[str, ...] = ()
    """Empty for every chain, user chains too."""
    tables: tuple[str, ...] = ()


def _options(*texts: str) -> tuple[MatchOption, ...]:
    """Return options from `name value value`."""
    return tuple(
        MatchOption(words[0], tuple(words[1:])) for words in (text.split() for text in texts)
    )


_SCTP, _DCCP, _ESP, _AH = 132, 33, 50, 51
_FIRST_HOOK = ("PREROUTING",)
_MATCHES = (
    _Extension("ecn", _options("ecn-tcp-cwr"), protocols.TCP),
    _Extension("ecn", _options("ecn-tcp-ece"), protocols.TCP),
    _Extension("ecn", _options("ecn-ip-ect 0")),
    _Extension("tcpmss", _options("mss 1:3000"), protocols.TCP),
    _Extension("tcpmss", _options("mss 1:100"), protocols.TCP),
    _Extension("rpfilter", (), 0, _FIRST_HOOK, ("raw", "mangle")),
    _Extension("rpfilter", _options("invert"), 0, _FIRST_HOOK, ("raw", "mangle")),
    _Extension("rpfilter", _options("loose", "validmark"), 0, _FIRST_HOOK, ("raw", "mangle")),
    _Extension("rpfilter", _options("accept-local", "invert"), 0, _FIRST_HOOK, ("raw", "mangle")),
    _Extension("sctp", _options("dport 80"), _SCTP), _Extension("dccp", _options("dport 80"), _DCCP),
    _Extension("esp", _options("espspi 1"), _ESP), _Extension("ah", _options("ahspi 1"), _AH),
    _Extension("helper", _options("helper ftp")),
    _Extension("recent", _options("set", "name seen", "mask 255.255.255.255", "rsource")),
    _Extension("recent", _options("rcheck", "name empty", "mask 255.255.255.255", "rsource")),
    _Extension("limit", _options("limit 1000/sec", "limit-burst 500")),
    _Extension("hashlimit", _options(
        "hashlimit-upto 5000/sec", "hashlimit-burst 500", "hashlimit-mode srcip", "hashlimit-name each"
    )),
    _Extension("quota", _options("quota 1000000")),
    _Extension("time", _options("datestop 2038-01-19T03:14:07")),
    _Extension("string", _options("string xyzzy", "algo bm")),
    _Extension("connlimit", _options("connlimit-above 100", "connlimit-mask 32", "connlimit-saddr")),
)  # fmt: skip

_TARGETS = (
    _Extension("LOG", _options("log-prefix seen")),
    _Extension("AUDIT", _options("type accept")),
    _Extension("TRACE", (), 0, (), ("raw",)),
    _Extension("ECN", _options("ecn-tcp-remove"), protocols.TCP, (), ("mangle",)),
    _Extension("SET", _options(f"add-set {LOGGED} src")),
    _Extension("NFQUEUE", _options("queue-num 7")),
    _Extension("NFQUEUE", _options("queue-num 7", "queue-bypass")),
    _Extension("CT", _options("ctevents new"), 0, (), ("raw",)),
)


_LEFT_OUT = {
    "IPv6 alone has it": "hl icmp6 icmpv6 HL frag hbh dst rt mh srh ipv6header eui64",
    "this iptables cannot spell it": "udplite QUEUE",
    "this kernel, or IPv4, does not have it": "ipvs LED CLUSTERIP ULOG SNPT DNPT l2tp ipcomp",
    "it needs an object outside the rules": "nfacct rateest RATEEST SECMARK CONNSECMARK IDLETIMER cgroup realm connlabel bpf",
    "what it depends on is not set by the case": "connbytes u32 cluster devgroup cpu osf",
    "the model ends there, or leaves the copy out, and says so": "SYNPROXY HMARK TEE",
    "the model does not know the sockets that a connection under way makes": "socket",
    "the lab's servers are not transparent": "TPROXY",
    "it rewrites options, which the model does not hold": "TCPMSS TCPOPTSTRIP",
}
NOT_GENERATED: Mapping[str, str] = {
    name: why for why, names in _LEFT_OUT.items() for name in names.split()
}
"""Matches and targets that the model knows and no case has, each with the reason."""


def draw_rare_match(chance: Random, table: str, chain: str, protocol: int) -> Match | None:
    """Draw a match that a rule of this place and protocol may have, now and then."""
    found = _draw(chance, _MATCHES, table, chain, protocol)
    return None if found is None else Match(found.name, found.options)


def draw_rare_target(
    chance: Random, table: str, chain: str, fields: Mapping[str, object]
) -> Target | None:
    """Draw a target likewise."""
    held = fields.get("protocol")
    protocol = held.number if isinstance(held, ProtocolMatch) and not held.negated else 0
    found = _draw(chance, _TARGETS, table, chain, protocol)
    return None if found is None else Target(found.name, found.options)


def _draw(
    chance: Random, extensions: tuple[_Extension, ...], table: str, chain: str, protocol: int
) -> _Extension | None:
    if chance.random() >= RARE:
        return None
    allowed = [
        each
        for each in extensions
        if (not each.chains or chain in each.chains)
        and (not each.tables or table in each.tables)
        and each.protocol in {0, protocol}
    ]
    return chance.choice(allowed)


def draw_rare_protocol(chance: Random) -> tuple[int, Match] | None:
    """Draw a protocol that none of the cases speaks with its own match, now and then: neither ever
    matches.
    """
    if chance.random() >= RARE / 2:
        return None
    found = chance.choice([each for each in _MATCHES if each.protocol in {_SCTP, _DCCP, _ESP, _AH}])
    return found.protocol, Match(found.name, found.options)
