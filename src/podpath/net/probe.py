"""The packet or connection that is asked about, and its one-line spelling.

tcp 172.16.0.30 > 104.17.32.82:80
tcp 172.16.0.30:50880 > 104.17.32.82:80 from pod-a
udp 10.244.1.5 > 10.96.0.10:53 in lxc1234
icmp 10.0.0.1 > 10.0.0.2
tcp 10.244.1.5 > 10.244.2.7:8080 size 1400
udp 10.244.1.5 > 10.96.0.10:53 from pod-a size 1200 nodf uid 1337 mark 0x40 ttl 3 dscp 46
tcp 10.244.1.5 > 10.244.2.7:8080 from pod-a dev net1
tcp 10.244.1.5 > 10.244.2.7:8080 midway
tcp 10.244.1.5 > 10.244.2.7:8080 flags RST,ACK
"""

from __future__ import annotations

import re
from typing import NamedTuple

from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.errors import UsageError
from podpath.net.packet import endpoint

EPHEMERAL = 40000
"""The client port that is assumed where the probe names none."""

SYNTAX = re.compile(
    (
        r"(?P<protocol>tcp|udp|icmp)\s+(?P<src>\S+)\s*(?:>|->)\s*(?P<dst>\S+)(?:\s+(?P<where>from|"
        r"in)\s+(?P<place>\S+))?"
        r"(?P<sending>(?:\s+(?:(?:size|uid|mark|ttl|dscp|dev|flags)\s+\S+|df|nodf|midway))*)\s*"
    ),
    re.IGNORECASE,
)
"""A probe's parts; an end may be a name that only the evidence can tell the address of
(`node.probe_names`).
"""
_ENDPOINT = re.compile(
    r"\[(?P<v6>[0-9A-Fa-f:.]+)\](?::(?P<p6>\d+))?|(?P<v4>[0-9.]+)(?::(?P<p4>\d+))?|"
    r"(?P<bare>[0-9A-Fa-f:]+)"
)


_BITS = {name: bit for bit, name in protocols.FLAG_NAMES}
_SENDING = re.compile(r"(?P<flag>df|nodf|midway)|(?P<word>[a-z]+)\s+(?P<value>\S+)", re.IGNORECASE)
_RANGES = {
    "size": range(28, 1 << 16),
    "uid": range((1 << 32) - 1),
    "mark": range(1 << 32),
    "ttl": range(1, 256),
    "dscp": range(64),
}
"""What the words of a probe may be."""


class Sending(NamedTuple):
    """How the client sends, where a probe says so: its socket's options, and how much it sends."""

    size: int | None = None
    """Bytes of each IP packet that carries data, both ways; None for small ones."""
    dont_fragment: bool | None = None
    uid: int = 0
    """The owner of the socket."""
    mark: int = 0
    """SO_MARK."""
    ttl: int | None = None
    """TTL or hop limit; None for the namespace's own."""
    dscp: int = 0
    device: str = ""
    """The device that the socket is bound to (SO_BINDTODEVICE); empty for none."""
    midway: bool = False
    """True for a TCP connection that stands already: its handshake is not walked, and conntrack
    knows of it only what the evidence shows.
    """
    flags: int | None = None
    """Of one TCP segment that is sent alone, bits of `protocols.SYN` and friends; None for a
    connection.
    """

    def __str__(self) -> str:
        """Spell what is other than usual, as `Probe.parse` reads it."""
        words = [] if self.size is None else [f"size {self.size}"]
        if self.dont_fragment is not None:
            words.append("df" if self.dont_fragment else "nodf")
        words += [f"uid {self.uid}"] if self.uid else []
        words += [f"mark {self.mark:#x}"] if self.mark else []
        words += [] if self.ttl is None else [f"ttl {self.ttl}"]
        words += [f"dscp {self.dscp}"] if self.dscp else []
        words += [f"dev {self.device}"] if self.device else []
        words += ["midway"] if self.midway else []
        words += [] if self.flags is None else [f"flags {protocols.flag_names(self.flags)}"]
        return " ".join(words)


USUALLY = Sending()


class Probe(NamedTuple):
    """A connection to try: who speaks to whom, and where the first packet starts."""

    protocol: int
    src: Address
    dst: Address
    sport: int = EPHEMERAL
    dport: int = 0
    """0 for ICMP echo."""
    netns: str | None = None
    """The namespace whose process sends; None: found from the source address."""
    in_dev: str | None = None
    """The host device on which the first packet arrives; None: it is sent by a process."""
    sending: Sending = USUALLY

    @classmethod
    def parse(cls, text: str) -> Probe:
        """Read the one-line spelling; `UsageError` says which part is wrong."""
        example = "for example: tcp 172.16.0.30 > 104.17.32.82:80"
        found = SYNTAX.fullmatch(text.strip())
        if found is None:
            raise UsageError(
                "expected PROTOCOL SOURCE > DESTINATION[:PORT] [from NETNS | in DEV] [size BYTES] "
                f"[df | nodf] [uid N] [mark N] [ttl N] [dscp N] [dev DEV] [midway | flags "
                f"FLAGS], saw {text!r}; {example}"
            )
        protocol = protocols.NUMBERS[found["protocol"].lower()]
        src, sport = parse_endpoint(found["src"])
        dst, dport = parse_endpoint(found["dst"])
        if src.family != dst.family:
            raise UsageError(f"source and destination are of different families in {text!r}")
        if protocol == protocols.ICMP and src.family == 6:
            protocol = protocols.ICMPV6
        if protocol in (protocols.TCP, protocols.UDP) and not dport:
            raise UsageError(f"expected a destination port in {text!r}; {example}")
        place = found["place"]
        sending = _parse_sending(found["sending"], text)
        arrives = (found["where"] or "").lower() == "in"
        if protocol != protocols.TCP and (sending.midway or sending.flags is not None):
            raise UsageError(f"only TCP has flags and a middle of a connection, saw {text!r}")
        if sending.midway and sending.flags is not None:
            raise UsageError(f"expected midway or flags, not both, in {text!r}")
        if arrives and (sending.uid or sending.mark or sending.device):
            raise UsageError(f"what arrives on a device has no socket of this node, saw {text!r}")
        return cls(
            protocol,
            src,
            dst,
            sport or EPHEMERAL,
            dport,
            place if (found["where"] or "").lower() == "from" else None,
            place if arrives else None,
            sending,
        )

    def __str__(self) -> str:
        """Spell it so that `parse` reads it back; a client port that was only assumed is left
        out.
        """
        if self.protocol in (protocols.TCP, protocols.UDP):
            source = str(self.src) if self.sport == EPHEMERAL else endpoint(self.src, self.sport)
            ends = f"{source} > {endpoint(self.dst, self.dport)}"
        else:
            ends = f"{self.src} > {self.dst}"
        if self.protocol == protocols.ICMPV6:
            name = "icmp"
        else:
            name = protocols.protocol_name(self.protocol)
        place = f" in {self.in_dev}" if self.in_dev else ""
        if self.netns:
            place = f" from {self.netns}"
        return f"{name} {ends}{place} {self.sending}".rstrip()


def _parse_sending(words: str, text: str) -> Sending:
    """Read the words behind a probe's ends; `UsageError` for a value that no packet has."""
    df: bool | None = None
    device, midway = "", False
    flags: int | None = None
    numbers: dict[str, int] = {}
    for found in _SENDING.finditer(words):
        if found["flag"]:
            flag = found["flag"].lower()
            midway = midway or flag == "midway"
            df = df if flag == "midway" else flag == "df"
            continue
        word, value = found["word"].lower(), found["value"]
        if word == "dev":
            device = value
            continue
        if word == "flags":
            flags = _parse_flags(value, text)
            continue
        try:
            number = int(value, 0)
        except ValueError:
            number = -1
        fits = _RANGES[word]
        if number not in fits:
            raise UsageError(
                f"expected {word} {fits.start} to {fits.stop - 1}, saw {value!r} in {text!r}"
            )
        numbers[word] = number
    return Sending(
        numbers.get("size"),
        df,
        numbers.get("uid", 0),
        numbers.get("mark", 0),
        numbers.get("ttl"),
        numbers.get("dscp", 0),
        device,
        midway,
        flags,
    )


def _parse_flags(value: str, text: str) -> int:
    """Read TCP flags as iptables spells them: `SYN,ACK`, `NONE`."""
    names = [] if value.upper() == "NONE" else value.upper().split(",")
    unknown = [name for name in names if name not in _BITS]
    if unknown:
        raise UsageError(f"expected flags such as SYN,ACK or NONE, saw {value!r} in {text!r}")
    return sum({_BITS[name] for name in names})


def parse_endpoint(text: str) -> tuple[Address, int]:
    """Read an end of a probe: an address and its port, 0 where it names none; `UsageError` where it
    is none.
    """
    found = _ENDPOINT.fullmatch(text)
    if found is None:
        raise UsageError(
            "expected ADDRESS[:PORT], pod/NAMESPACE/NAME, svc/NAMESPACE/NAME[:PORT] or host, saw "
            f"{text!r}"
        )
    port = int(found["p6"] or found["p4"] or 0)
    try:
        address = Address.parse(found["v6"] or found["v4"] or found["bare"])
    except ValueError as error:
        raise UsageError(f"expected ADDRESS[:PORT], saw {text!r}: {error}") from error
    if port > 65535:
        raise UsageError(f"port {port} is above 65535 in {text!r}")
    return address, port
