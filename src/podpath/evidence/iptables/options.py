"""The options of every xtables match and target that iptables knows, and how many words each takes.

A match that stands in one module of `xtables` has its options there.

A rule's text alone does not say where an option ends or whose it is: `--comment -j` is a comment,
`--dport 80` without `-m` belongs to the protocol, and what follows `-j` may still belong to a
match. Read from iptables 1.8.9 (`iptables -m NAME -h`). An extension that is not in these tables is
not an error: its options are then read up to the next dash.
"""

from __future__ import annotations

from collections.abc import Mapping

from podpath.xtables import registry

Extension = Mapping[str, int]
"""The options of one match or target, each with the number of words that it takes."""


def _extension(*values: str, flags: tuple[str, ...] = (), pairs: tuple[str, ...] = ()) -> Extension:
    return dict.fromkeys(values, 1) | dict.fromkeys(flags, 0) | dict.fromkeys(pairs, 2)


_PORTS = ("sport", "dport", "source-port", "destination-port")

MATCHES: Mapping[str, Extension] = {
    "addrtype": _extension("src-type", "dst-type", flags=("limit-iface-in", "limit-iface-out")),
    "ah": _extension("ahspi", "ahlen", flags=("ahres",)),
    "bpf": _extension("bytecode", "object-pinned"),
    "cgroup": _extension("path", "cgroup"),
    "cluster": _extension("cluster-total-nodes", "cluster-local-node", "cluster-local-nodemask", "cluster-hash-seed"),
    "comment": _extension("comment"),
    "connbytes": _extension("connbytes", "connbytes-dir", "connbytes-mode"),
    "connlabel": _extension("label", flags=("set",)),
    "connlimit": _extension(
        "connlimit-upto", "connlimit-above", "connlimit-mask", flags=("connlimit-saddr", "connlimit-daddr")
    ),
    "connmark": _extension("mark"),
    "conntrack": _extension(
        "ctstate", "ctproto", "ctorigsrc", "ctorigdst", "ctreplsrc", "ctrepldst", "ctorigsrcport", "ctorigdstport",
        "ctreplsrcport", "ctrepldstport", "ctstatus", "ctexpire", "ctdir",
    ),
    "cpu": _extension("cpu"),
    "dccp": _extension(*_PORTS, "dccp-types", "dccp-option"),
    "devgroup": _extension("src-group", "dst-group"),
    "dst": _extension("dst-len", "dst-opts"),
    "ecn": _extension("ecn-ip-ect", flags=("ecn-tcp-cwr", "ecn-tcp-ece")),
    "esp": _extension("espspi"),
    "eui64": _extension(),
    "frag": _extension("fragid", "fraglen", flags=("fragres", "fragfirst", "fragmore", "fraglast")),
    "hashlimit": _extension(
        "hashlimit", "hashlimit-upto", "hashlimit-above", "hashlimit-mode", "hashlimit-srcmask", "hashlimit-dstmask",
        "hashlimit-name", "hashlimit-burst", "hashlimit-htable-size", "hashlimit-htable-max", "hashlimit-htable-gcinterval",
        "hashlimit-htable-expire", "hashlimit-rate-interval", flags=("hashlimit-rate-match",),
    ),
    "hbh": _extension("hbh-len", "hbh-opts"),
    "helper": _extension("helper"),
    "icmp": _extension("icmp-type"),
    "icmp6": _extension("icmpv6-type"),
    "icmpv6": _extension("icmpv6-type"),
    "ipcomp": _extension("ipcompspi", flags=("compres",)),
    "iprange": _extension("src-range", "dst-range"),
    "ipv6header": _extension("header", flags=("soft",)),
    "ipvs": _extension("vproto", "vaddr", "vport", "vdir", "vmethod", "vportctl", flags=("ipvs",)),
    "limit": _extension("limit", "limit-burst"),
    "mac": _extension("mac-source"),
    "mh": _extension("mh-type"),
    "multiport": _extension("sports", "dports", "ports", "source-ports", "destination-ports"),
    "nfacct": _extension("nfacct-name"),
    "osf": _extension("genre", "ttl", "log"),
    "owner": _extension("uid-owner", "gid-owner", flags=("socket-exists", "suppl-groups")),
    "physdev": _extension(
        "physdev-in", "physdev-out", flags=("physdev-is-in", "physdev-is-out", "physdev-is-bridged")
    ),
    "policy": _extension(
        "dir", "pol", "reqid", "spi", "proto", "mode", "tunnel-src", "tunnel-dst", flags=("strict", "next")
    ),
    "quota": _extension("quota"),
    "rateest": _extension(
        "rateest", "rateest1", "rateest2", "rateest-bps", "rateest-pps", "rateest-bps1", "rateest-pps1", "rateest-bps2",
        "rateest-pps2", flags=("rateest-delta", "rateest-lt", "rateest-gt", "rateest-eq"),
    ),
    "realm": _extension("realm"),
    "recent": _extension(
        "seconds", "hitcount", "name", "mask",
        flags=("set", "rcheck", "update", "remove", "reap", "rttl", "rsource", "rdest"),
    ),
    "rpfilter": _extension(flags=("loose", "validmark", "accept-local", "invert")),
    "rt": _extension(
        "rt-type", "rt-segsleft", "rt-len", "rt-0-addrs", flags=("rt-0-res", "rt-0-not-strict")
    ),
    "sctp": _extension(*_PORTS, pairs=("chunk-types",)),
    "set": _extension(
        "packets-eq", "packets-lt", "packets-gt", "bytes-eq", "bytes-lt", "bytes-gt",
        flags=("return-nomatch", "update-counters", "update-subcounters"), pairs=("match-set", "set"),
    ),
    "socket": _extension(flags=("nowildcard", "transparent", "restore-skmark")),
    "srh": _extension(
        "srh-next-hdr", "srh-hdr-len-eq", "srh-hdr-len-gt", "srh-hdr-len-lt", "srh-segs-left-eq", "srh-segs-left-gt",
        "srh-segs-left-lt", "srh-last-entry-eq", "srh-last-entry-gt", "srh-last-entry-lt", "srh-tag", "srh-psid", "srh-nsid",
        "srh-lsid",
    ),
    "state": _extension("state"),
    "statistic": _extension("mode", "probability", "every", "packet"),
    "string": _extension("string", "hex-string", "algo", "from", "to", flags=("icase",)),
    "tcp": _extension(*_PORTS, "tcp-option", flags=("syn",), pairs=("tcp-flags",)),
    "tcpmss": _extension("mss"),
    "time": _extension(
        "datestart", "datestop", "timestart", "timestop", "monthdays", "weekdays",
        flags=("kerneltz", "utc", "localtz", "contiguous"),
    ),
    "u32": _extension("u32"),
    "udp": _extension(*_PORTS),
    "udplite": _extension(*_PORTS),
    **{match.name: match.words for match in registry.MATCHES},
}  # fmt: skip
"""By the name behind `-m`."""

_NAT_FLAGS = ("random", "random-fully", "persistent")
_MARKS = ("set-xmark", "set-mark", "and-mark", "or-mark", "xor-mark")

TARGETS: Mapping[str, Extension] = {
    "AUDIT": _extension("type"),
    "CHECKSUM": _extension(flags=("checksum-fill",)),
    "CLASSIFY": _extension("set-class"),
    "CLUSTERIP": _extension("hashmode", "clustermac", "total-nodes", "local-node", "hash-init", flags=("new",)),
    "CONNMARK": _extension(
        *_MARKS, "ctmask", "nfmask", "mask", "left-shift-mark", "right-shift-mark", flags=("save-mark", "restore-mark")
    ),
    "CONNSECMARK": _extension(flags=("save", "restore")),
    "CT": _extension("helper", "timeout", "ctevents", "expevents", "zone", "zone-orig", "zone-reply", flags=("notrack",)),
    "DNAT": _extension("to-destination", flags=_NAT_FLAGS),
    "DNPT": _extension("src-pfx", "dst-pfx"),
    "DSCP": _extension("set-dscp", "set-dscp-class"),
    "ECN": _extension("ecn-tcp-cwr", "ecn-tcp-ece", "ecn-ip-ect", flags=("ecn-tcp-remove",)),
    "HL": _extension("hl-set", "hl-inc", "hl-dec"),
    "HMARK": _extension(
        "hmark-tuple", "hmark-mod", "hmark-offset", "hmark-rnd", "hmark-src-prefix", "hmark-dst-prefix", "hmark-sport-mask",
        "hmark-dport-mask", "hmark-spi-mask", "hmark-sport", "hmark-dport", "hmark-spi", "hmark-proto-mask",
    ),
    "IDLETIMER": _extension("timeout", "label", flags=("alarm",)),
    "LED": _extension("led-trigger-id", "led-delay", flags=("led-always-blink",)),
    "LOG": _extension(
        "log-level", "log-prefix", flags=("log-tcp-sequence", "log-tcp-options", "log-ip-options", "log-uid", "log-macdecode")
    ),
    "MARK": _extension(*_MARKS),
    "MASQUERADE": _extension("to-ports", flags=("random", "random-fully")),
    "NETMAP": _extension("to"),
    "NFLOG": _extension("nflog-group", "nflog-range", "nflog-size", "nflog-threshold", "nflog-prefix"),
    "NFQUEUE": _extension("queue-num", "queue-balance", flags=("queue-bypass", "queue-cpu-fanout")),
    "NOTRACK": _extension(),
    "RATEEST": _extension("rateest-name", "rateest-interval", "rateest-ewmalog"),
    "REDIRECT": _extension("to-ports", flags=("random",)),
    "REJECT": _extension("reject-with"),
    "SECMARK": _extension("selctx"),
    "SET": _extension("timeout", flags=("exist", "map-mark", "map-prio", "map-queue"), pairs=("add-set", "del-set", "map-set")),
    "SNAT": _extension("to-source", flags=_NAT_FLAGS),
    "SNPT": _extension("src-pfx", "dst-pfx"),
    "SYNPROXY": _extension("wscale", "mss", flags=("sack-perm", "timestamp", "ecn")),
    "TCPMSS": _extension("set-mss", flags=("clamp-mss-to-pmtu",)),
    "TCPOPTSTRIP": _extension("strip-options"),
    "TEE": _extension("gateway", "oif"),
    "TOS": _extension("set-tos", "and-tos", "or-tos", "xor-tos"),
    "TPROXY": _extension("on-port", "on-ip", "tproxy-mark"),
    "TRACE": _extension(),
    "TTL": _extension("ttl-set", "ttl-dec", "ttl-inc"),
    "ULOG": _extension("ulog-nlgroup", "ulog-cprange", "ulog-qthreshold", "ulog-prefix"),
}  # fmt: skip
"""By the name behind `-j`."""

VERDICTS = frozenset({"ACCEPT", "DROP", "RETURN", "QUEUE"})
"""Targets that are no extension. Every other name behind `-j` is a chain."""

GENERAL: Mapping[str, tuple[str, int]] = {
    "s": ("source", 1), "source": ("source", 1), "src": ("source", 1),
    "d": ("destination", 1), "destination": ("destination", 1), "dst": ("destination", 1),
    "p": ("protocol", 1), "protocol": ("protocol", 1), "proto": ("protocol", 1),
    "i": ("in-interface", 1), "in-interface": ("in-interface", 1),
    "o": ("out-interface", 1), "out-interface": ("out-interface", 1),
    "f": ("fragment", 0), "fragment": ("fragment", 0), "fragments": ("fragment", 0),
    "m": ("match", 1), "match": ("match", 1),
    "j": ("jump", 1), "jump": ("jump", 1),
    "g": ("goto", 1), "goto": ("goto", 1),
    "c": ("set-counters", 2), "set-counters": ("set-counters", 2),
    "4": ("ipv4", 0), "ipv4": ("ipv4", 0), "6": ("ipv6", 0), "ipv6": ("ipv6", 0),
    "t": ("table", 1), "table": ("table", 1),
}  # fmt: skip
"""The options of iptables itself: spelling to long name and number of words. An extension's own
option comes before them.
"""
