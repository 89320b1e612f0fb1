"""What the client's socket has set: mark, owner, TTL, DSCP, and whether it may be fragmented.

It is drawn by a chance of its own, so that no other draw of a case changes.
"""

from __future__ import annotations

from random import Random

from podpath.net import protocols
from podpath.net.probe import Probe, Sending

SHARE = 0.15
"""How many cases have a client that sets something."""
MARKS = (1, 2, 3, 0x4000, 0x4001, 0xFF, 0x80000000, 0xFFFFFFFF)
OWNERS = (1000, 1001, 2000, 65534)
LIVES = (1, 2, 3, 63, 65, 255)
CLASSES = (2, 4, 8, 10, 46, 63)


def draw_client(chance: Random, probe: Probe) -> Probe:
    """Let the probe's client set one or two options of its socket."""
    raw, datagram = probe.protocol == protocols.ICMP, probe.protocol == protocols.UDP
    kinds = ["mark", "mark", "ttl", "dscp", *([] if raw else ["uid"]), *(["df"] * datagram)]
    chosen = {chance.choice(kinds) for _ in range(2)}
    sending = Sending(
        mark=chance.choice(MARKS) if "mark" in chosen else 0,
        uid=chance.choice(OWNERS) if "uid" in chosen else 0,
        ttl=chance.choice(LIVES) if "ttl" in chosen else None,
        dscp=chance.choice(CLASSES) if "dscp" in chosen else 0,
        dont_fragment=chance.random() < 0.5 if "df" in chosen else None,
    )
    return probe._replace(sending=sending)


def name_options(sending: Sending) -> frozenset[str]:
    """Return the options that a client sets, as a tally counts them."""
    given = {
        "mark": bool(sending.mark),
        "owner": bool(sending.uid),
        "TTL": sending.ttl is not None,
        "DSCP": bool(sending.dscp),
        "DF": sending.dont_fragment is not None,
    }
    return frozenset(f"client's {name}" for name, is_set in given.items() if is_set)
