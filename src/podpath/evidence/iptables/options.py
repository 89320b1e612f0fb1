"""The options of iptables itself, and of every extension how many words each takes
(`xtables.registry`).

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

MATCHES: Mapping[str, Extension] = {name: match.words for name, match in registry.MATCHES.items()}
"""By the name behind `-m`."""
TARGETS: Mapping[str, Extension] = {
    name: target.words for name, target in registry.TARGETS.items() if name != "QUEUE"
}
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

LONG_NAMES = frozenset(name for name in GENERAL if len(name) > 1) | {
    "append", "check", "delete", "insert", "replace", "list", "list-rules", "flush", "zero",
    "new-chain", "delete-chain", "rename-chain", "policy", "verbose", "wait", "wait-interval",
    "exact", "version", "help", "line-numbers", "modprobe", "numeric",
}  # fmt: skip
"""Every long option of the programs themselves (`original_opts`, iptables/iptables.c 1.8.9): among
them and those of loaded extensions, an option may be cut short where only one begins so.
"""
