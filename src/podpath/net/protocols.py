"""Protocol numbers and names as /etc/protocols and iptables spell them, and the bits of a TCP
header.
"""

from __future__ import annotations

ICMP, IGMP, IPIP, TCP, UDP, IPV6, GRE, ESP, AH, ICMPV6, SCTP, UDPLITE, DCCP = (
    1,
    2,
    4,
    6,
    17,
    41,
    47,
    50,
    51,
    58,
    132,
    136,
    33,
)

NAMES: dict[int, str] = {
    0: "all", ICMP: "icmp", IGMP: "igmp", IPIP: "ipencap", TCP: "tcp", 12: "pup", UDP: "udp",
    DCCP: "dccp", IPV6: "ipv6", 43: "ipv6-route", 44: "ipv6-frag", GRE: "gre", ESP: "esp", AH: "ah",
    ICMPV6: "ipv6-icmp", 59: "ipv6-nonxt", 60: "ipv6-opts", 88: "eigrp", 89: "ospf", 97: "etherip",
    98: "encap", 103: "pim", 108: "ipcomp", 112: "vrrp", 115: "l2tp", SCTP: "sctp",
    135: "mobility-header", UDPLITE: "udplite", 137: "mpls-in-ip", 139: "hip", 143: "ethernet",
}  # fmt: skip
NUMBERS: dict[str, int] = {name: number for number, name in NAMES.items()} | {
    "icmpv6": ICMPV6,
    "ip": 0,
    "ipip": IPIP,
}

ECHO_REQUESTS, ECHO_REPLIES = {ICMP: 8, ICMPV6: 128}, {ICMP: 0, ICMPV6: 129}
"""The type of an echo request, and of its reply."""
ICMP_ERRORS: dict[int, tuple[int, ...]] = {ICMP: (3, 4, 5, 11, 12), ICMPV6: (1, 2, 3, 4)}
"""Types of messages that speak of another packet, and quote it."""

FIN, SYN, RST, PSH, ACK, URG, ECE, CWR = 0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80
FLAG_NAMES: tuple[tuple[int, str], ...] = (
    (FIN, "FIN"), (SYN, "SYN"), (RST, "RST"), (PSH, "PSH"), (ACK, "ACK"), (URG, "URG"),
)  # fmt: skip
TCPDUMP_LETTERS: tuple[tuple[int, str], ...] = (
    (FIN, "F"), (SYN, "S"), (RST, "R"), (PSH, "P"), (ACK, "."), (URG, "U"), (ECE, "E"), (CWR, "W"),
)  # fmt: skip
"""How tcpdump prints each flag, in its order (print-tcp.c)."""
_BITS = {letter: bit for bit, letter in TCPDUMP_LETTERS}


def protocol_number(text: str) -> int:
    """Read a protocol by name or number; `ValueError` where it is neither."""
    if text.isdigit() and text.isascii() and int(text) <= 255:
        return int(text)
    try:
        return NUMBERS[text.lower()]
    except KeyError:
        raise ValueError(f"expected a protocol, saw {text!r}") from None


def protocol_name(number: int) -> str:
    """Spell a protocol number as iptables does."""
    return NAMES.get(number, str(number))


def flag_names(flags: int) -> str:
    """Spell TCP flags as iptables does, e.g. `SYN,ACK`; `NONE` where none is set."""
    return ",".join(name for bit, name in FLAG_NAMES if flags & bit) or "NONE"


def read_letters(letters: str) -> int:
    """Return the flags that tcpdump prints as letters: `S.`; letters that are none of its own, and
    `none`, have no bit.
    """
    flags = 0
    for letter in letters if letters != "none" else "":
        flags |= _BITS.get(letter, 0)
    return flags


def flag_letters(flags: int) -> str:
    """Spell TCP flags as tcpdump does: `S.`; `none` where none is set."""
    return "".join(letter for bit, letter in TCPDUMP_LETTERS if flags & bit) or "none"
