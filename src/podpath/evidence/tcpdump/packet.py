"""What tcpdump prints of an IP packet: its header with `-v`, who speaks to whom, and the TCP, UDP
or ICMP header.

The shapes are those of tcpdump 4.9 to 4.99 (print-ip.c, print-tcp.c, print-udp.c, print-icmp.c,
print-icmp6.c), and of 3.x for TCP.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from podpath.evidence.tcpdump.icmp import parse_icmp, parse_icmp6
from podpath.evidence.text.services import SERVICES
from podpath.net import protocols
from podpath.net.addresses import Address, read_address
from podpath.net.packet import Packet


class Header(NamedTuple):
    """An IP header as `-v` prints it; None for what is not printed."""

    ttl: int | None = None
    tos: int | None = None
    offset: int = 0
    dont_fragment: bool | None = None
    protocol: int | None = None
    length: int | None = None
    stated: bool = False
    """True where the length is the IP header's own, and nothing stands between it and the transport
    header.
    """


_UNPRINTED = Header()


class Body(NamedTuple):
    """An IP packet's text."""

    packet: Packet
    note: str
    """What stands after the headers that are read."""
    inner: str = ""
    """The text of the packet that it carries, where the same line goes on with it."""
    carries: str = ""
    """The tunnel that it is of: `VXLAN vni 1`; the packet it carries follows."""


_SERVICES = {"https-alt": 8443} | dict(SERVICES)
"""Ports by the names that tcpdump prints without -n; OTV is the name of 8472, where Linux has
VXLAN.
"""
_IPV4_HEADER = re.compile(
    r"\((?P<fields>(?:tos|ttl|id) .*?length:? (?P<length>\d+)(?: \[was 0, presumed [^\]]*\])?"
    r"(?P<options>, options \([^)]*\))?(?:, bad cksum \w+ \([^)]*\)!?)?)\)\s*"
)
_IPV6_HEADER = re.compile(
    r"\((?P<fields>.*?(?:next-header|hlim).*?payload length:? (?P<length>\d+))\)"
    r"(?: \[real length (?P<real>\d+), presumed [^\]]*\])?\s*"
)
_FIELD = re.compile(
    r"(?:class|tos) (?P<tos>0x[0-9a-f]+)|(?:ttl|hlim) (?P<ttl>\d+)|offset (?P<offset>\d+)|"
    r"flags \[(?P<flags>[^\]]*)\]|"
    r"(?:proto|next-header) [^(]*\((?P<protocol>\d+)\)"
)
_ENDS = re.compile(
    r"(?P<src>[^\s>]+?)\s+-?>\s+(?P<dst>[^\s,]+?)(?:: +(?P<rest>\S.*)|:?(?:\s+(?P<tail>\S.*))?|"
    r",\s*(?P<comma>.*))$"
)
_V4_ENDPOINT = re.compile(r"(?P<address>\d+\.\d+\.\d+\.\d+)(?:[.:](?P<port>[A-Za-z0-9][\w-]*))?")
_V6_ENDPOINT = re.compile(
    r"(?P<address>[0-9a-fA-F]*:[0-9a-fA-F:]*(?:\d+\.\d+\.\d+\.\d+)?)(?:%[\w.-]+?)?"
    r"(?:\.(?P<port>[A-Za-z0-9][\w-]*))?"
)
_DAMAGE = re.compile(r"\A(?:truncated-ip6? - \d+ bytes missing!|bad-len \d+)\s*")
_INVALID = re.compile(r"\A\[[^\]]*\]\s*(?:\(invalid\)\s*)?(?=\S)")
_EXTENSION = re.compile(
    r"(?:HBH|DSTOPT|RT6|RT|frag|mobility) ?(?P<what>(?:\((?:[^()]|\([^()]*\))*\) *)*)"
)
"""Extension headers of IPv6, in front of what they carry."""
_EXTENSIONS = frozenset({0, 43, 44, 51, 60, 135})
_INNER_PORTS = re.compile(r"(?P<sport>\d+) > (?P<dport>\d+): ")
_ICMP_SUM = re.compile(r"\[(?:bad )?icmp6 (?:sum|cksum)[^\]]*\] *")
_FLAGS = re.compile(r"Flags \[(?P<flags>[A-Za-z.]*|none)\]")
_TCP_FIELD = re.compile(
    r"\bseq (?P<seq>\d+)(?::(?P<end>\d+))?|\back (?P<ack>\d+)|\blength:? (?P<length>\d+)"
    r"(?:: (?P<note>.*))?|options \[(?:mss (?P<mss>\d{1,5})\b)?[^\]]*\]"
)
_OLD_TCP = re.compile(
    r"(?P<flags>[SFRPEWU]+\.?|\.)(?: (?P<seq>\d+):\d+\((?P<length>\d+)\))?(?: ack (?P<ack>\d+))? "
    r"win \d+(?P<note>.*)"
)
_QUIET_TCP = re.compile(r"tcp (?P<length>\d+)\b(?P<note>.*)")
_UDP = re.compile(r"UDP,? (?:\(\d+\), )?length:? (?P<length>\d+)(?P<note>.*)")
_UDP_SUM = re.compile(r"\[(?:(?:bad )?udp (?:sum|cksum)|no cksum)[^\]]*\]\s*")
NAMES = 53
"""The port of name servers: their messages are printed with the identifier first."""
_QUERY = re.compile("[0-9]{1,10}")
_SIZE = re.compile(r"(?:^|[ ,])length:? (?P<length>\d+)|\((?P<dns>\d+)\)$")
_TUNNEL = re.compile(
    r"(?P<kind>VXLAN|OTV|Geneve|VXLAN-GPE)\b.*?(?:vni (?P<vni>0x[0-9a-f]+|\d+)|"
    r"instance (?P<instance>\d+))(?:[^:]*: (?P<inner>.*))?"
)
_GRE = re.compile(
    r"GREv\d.*?(?:, length \d+)?: (?:erspan type[123][^:]*: )?"
    r"(?P<inner>(?:IP6?|ARP,?|(?:[0-9a-f]{2}:){5}[0-9a-f]{2} >) .*)"
)
_OTHER = re.compile(
    r"ip-proto-(?P<number>\d+)|(?P<name>ESP|AH|sctp|igmp|pim|GREv\d|OSPFv\d|VRRPv\d)\b",
    re.IGNORECASE,
)
_OTHER_NUMBERS = {
    "esp": 50,
    "ah": 51,
    "sctp": 132,
    "igmp": 2,
    "pim": 103,
    "gre": 47,
    "ospf": 89,
    "vrrp": 112,
}


def parse_header(text: str) -> tuple[Header, str]:
    """Read the parenthesis that `-v` prints; give the text behind it."""
    text = _INVALID.sub("", text, count=1) if text.startswith("[") else text
    if not text.startswith("("):
        return _UNPRINTED, text
    found = _IPV4_HEADER.match(text) or _IPV6_HEADER.match(text)
    if found is None:
        return _UNPRINTED, text
    fields: dict[str, str] = {}
    for field in _FIELD.finditer(found["fields"]):
        fields.update(
            {name: value for name, value in field.groupdict().items() if value is not None}
        )
    words = found.groupdict()
    length = int(words.get("real") or found["length"]) + (40 if found.re is _IPV6_HEADER else 0)
    protocol = int(fields["protocol"]) if "protocol" in fields else None
    return Header(
        ttl=int(fields["ttl"]) if "ttl" in fields else None,
        tos=int(fields["tos"], 16) if "tos" in fields else None,
        offset=int(fields.get("offset", "0")),
        dont_fragment="DF" in fields["flags"] if "flags" in fields else None,
        protocol=None if protocol in _EXTENSIONS else protocol,
        length=length,
        stated=not words.get("options")
        and "+" not in fields.get("flags", "")
        and protocol not in _EXTENSIONS,
    ), text[found.end() :]


def parse_body(text: str, header: Header) -> Body | None:
    """Read `A.port > B.port: ...`; None where that does not stand there, or an address is elided or
    a name.
    """
    text = text.strip()
    found = _ENDS.match(
        _DAMAGE.sub("", text, count=1) if text.startswith(("truncated", "bad-len")) else text
    )
    if found is None:
        return None
    source, target = parse_endpoint(found["src"]), parse_endpoint(found["dst"].rstrip(":"))
    if source is None or target is None or source[0].family != target[0].family:
        return None
    rest = found["rest"] or found["tail"] or found["comma"] or ""
    packet = _with_header(Packet(source[0], target[0], 0), header)
    ports = (source[1] or 0, target[1] or 0)
    body = _parse_transport(
        packet, ports if source[1] is not None and target[1] is not None else None, rest.strip()
    )
    return _with_payload(body, header)


def _with_payload(body: Body, header: Header) -> Body:
    """Fill in the payload of a datagram whose decoder prints no length, from the IP header's."""
    packet = body.packet
    if (
        packet.protocol != protocols.UDP
        or packet.payload
        or header.length is None
        or not header.stated
        or packet.fragment
    ):
        return body
    return body._replace(
        packet=packet._replace(payload=max(header.length - (28 if packet.family == 4 else 48), 0))
    )


def parse_endpoint(text: str) -> tuple[Address, int | None] | None:
    """Read `10.0.0.1.80`, `10.0.0.1.http`, `fd00::1.443` or an address alone; None where it is none
    of these.
    """
    found = _V4_ENDPOINT.fullmatch(text) or _V6_ENDPOINT.fullmatch(text)
    if found is None:
        return None
    address = _parse_address(found["address"])
    if address is None:
        return None
    port = found["port"]
    if port is None:
        return address, None
    number = int(port) if port.isdecimal() and len(port) < 6 else _SERVICES.get(port.lower())
    return None if number is None or number > 65535 else (address, number)


_parse_address = lru_cache(maxsize=4096)(
    read_address
)  # a capture shows few addresses, each on many lines


def _with_header(packet: Packet, header: Header) -> Packet:
    if header is _UNPRINTED:
        return packet
    return packet._replace(
        protocol=header.protocol or 0,
        ttl=packet.ttl if header.ttl is None else header.ttl,
        tos=header.tos or 0,
        length=packet.length if header.length is None else header.length,
        dont_fragment=packet.dont_fragment
        if header.dont_fragment is None
        else header.dont_fragment,
        fragment=header.offset > 0,
    )


def _skip_extensions(packet: Packet, rest: str) -> tuple[Packet, str]:
    """Take IPv6 extension headers and a checksum's remark off the front of a text."""
    if rest[:1].isdigit():  # of no extension header, and no ICMPv6: what most lines are
        return packet, rest
    while (found := _EXTENSION.match(rest)) is not None:
        later = (
            rest.startswith("frag")
            and re.match(r"\((?:0x[0-9a-f]+:)?[1-9]", found["what"]) is not None
        )
        packet, rest = (
            packet._replace(fragment=packet.fragment or later),
            rest[found.end() :].lstrip(),
        )
        rest = _INVALID.sub("", rest, count=1)
    return packet, _ICMP_SUM.sub("", rest, count=1) if rest.startswith("[") else rest


def _parse_transport(packet: Packet, ports: tuple[int, int] | None, rest: str) -> Body:
    if packet.family == 6:
        packet, rest = _skip_extensions(packet, rest)
        behind = _INNER_PORTS.match(rest) if ports is None else None
        if behind is not None and int(behind["sport"]) < 65536 and int(behind["dport"]) < 65536:
            ports, rest = (int(behind["sport"]), int(behind["dport"])), rest[behind.end() :]
    if ports is not None:
        packet = packet._replace(sport=ports[0], dport=ports[1])
        return _parse_tcp(packet, rest) or _parse_udp(packet, rest)
    icmp = parse_icmp(packet, rest) if packet.family == 4 else parse_icmp6(packet, rest)
    if icmp is not None:
        return Body(icmp[0], icmp[1])
    tcp = _parse_tcp(packet, rest)
    if tcp is not None:
        return tcp
    return _parse_other(packet, rest)


def _parse_tcp(packet: Packet, rest: str) -> Body | None:
    modern = _FLAGS.match(rest)
    if modern is None:
        old = _OLD_TCP.match(rest) or _QUIET_TCP.match(rest)
        if old is None:
            return None
        fields = old.groupdict()
        acknowledges = "." if fields.get("ack") else ""
        return _tcp_body(packet, (fields.get("flags") or "") + acknowledges, fields)
    read: dict[str, str | None] = {}
    for field in _TCP_FIELD.finditer(rest, modern.end()):
        for name, value in field.groupdict().items():
            if value is not None:
                read.setdefault(name, value)
        if field["length"] is not None:
            break
    return _tcp_body(packet, modern["flags"], read)


def _tcp_body(packet: Packet, letters: str, fields: dict[str, str | None]) -> Body:
    seq, end = int(fields.get("seq") or 0), fields.get("end")
    payload = int(fields.get("length") or 0)
    if end and not fields.get("length"):
        payload = (int(end) - seq) & 0xFFFFFFFF
    filled = packet._replace(
        protocol=protocols.TCP,
        flags=protocols.read_letters(letters),
        seq=seq,
        ack=int(fields.get("ack") or 0),
        payload=payload,
        mss=int(fields.get("mss") or 0),
    )
    return Body(filled, (fields.get("note") or "").strip(" ,"))


def _parse_udp(packet: Packet, rest: str) -> Body:
    """Read what is no TCP though it has ports: UDP, for tcpdump prints nothing else without its
    name.
    """
    if rest.lower().startswith(("sctp", "dccp")):
        return Body(
            packet._replace(protocol=protocols.SCTP if rest.lower().startswith("sctp") else 33),
            rest,
        )
    text = _UDP_SUM.sub("", rest, count=1)
    plain = _UDP.match(text)
    protocol = packet.protocol or (protocols.UDP if rest else 0)
    if plain is not None:
        return Body(
            packet._replace(protocol=protocol, payload=int(plain["length"])),
            plain["note"].strip(" ,:"),
        )
    tunnel = _TUNNEL.match(text)
    if tunnel is not None:
        kind = (
            "VXLAN" if tunnel["kind"] == "OTV" else tunnel["kind"]
        )  # OTV is how tcpdump prints VXLAN on port 8472
        number = int(tunnel["vni"] or tunnel["instance"], 0)
        return Body(
            packet._replace(protocol=protocol), text, tunnel["inner"] or "", f"{kind} vni {number}"
        )
    named = _QUERY.match(text) if NAMES in (packet.sport, packet.dport) else None
    if named is not None:
        packet = packet._replace(query=int(named[0]) & 0xFFFF)
    length = _SIZE.search(text)
    size = int(length["length"] or length["dns"]) if length is not None else 0
    return Body(packet._replace(protocol=protocol, payload=size), text)


def _parse_other(packet: Packet, rest: str) -> Body:
    gre = _GRE.match(rest)
    if gre is not None:
        return Body(packet._replace(protocol=protocols.GRE), rest, gre["inner"], "GRE")
    if re.match(r"(?:IP6?|IP6? \() ?\S+ > |IP6? \(", rest):
        inner = protocols.IPV6 if rest.startswith("IP6") else protocols.IPIP
        return Body(packet._replace(protocol=inner), rest, rest, "IPIP")
    if rest.startswith("UDP"):
        return _parse_udp(packet._replace(protocol=protocols.UDP), rest)
    other = _OTHER.match(rest)
    if other is not None and not packet.protocol:
        name = re.sub(r"v\d$", "", (other["name"] or "").lower())
        packet = packet._replace(
            protocol=int(other["number"]) & 255 if other["number"] else _OTHER_NUMBERS.get(name, 0)
        )
    return Body(packet, rest)
