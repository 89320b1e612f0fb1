"""Targets that change nothing a walk looks at: evaluation goes on with the next rule.

What they do besides (a log line, a copy of the packet, a bit of another kernel subsystem) is named
here, so that nobody takes the list for ignorance. Their options do not matter to the path, and so
none of them is unknown.
"""

from __future__ import annotations

from collections.abc import Mapping

from podpath.node.netfilter import Target

EFFECTS: Mapping[str, str] = {
    "LOG": "writes a line to the kernel's log",
    "NFLOG": "sends the packet's head to a logging program",
    "ULOG": "sends the packet's head to a logging program",
    "TRACE": "lets the kernel report each rule that the packet meets",
    "AUDIT": "writes an audit record",
    "CHECKSUM": "fills in a checksum that offloading left out",
    "CLASSIFY": "sets the traffic control class",
    "IDLETIMER": "restarts a timer",
    "LED": "lights a lamp",
    "RATEEST": "measures a rate",
    "SECMARK": "sets a security mark",
    "CONNSECMARK": "copies a security mark",
    "TCPMSS": "lowers the maximum segment size that a SYN offers",
    "TCPOPTSTRIP": "takes options out of a TCP header",
    "ECN": "clears congestion bits of a TCP header",
    "SET": "adds the packet's addresses to a set, or takes them out",
    "TEE": "sends a copy of the packet to another host",
}
"""By the name of the target."""

MAPPING_OPTIONS = frozenset({"map-set", "map-mark", "map-prio", "map-queue"})
"""With these SET takes a mark from a set: that is not silent."""


def is_silent(target: Target) -> bool:
    """Tell whether a target changes nothing that a walk looks at."""
    return target.name in EFFECTS and not any(
        option.name in MAPPING_OPTIONS for option in target.options
    )
