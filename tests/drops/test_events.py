"""What the program writes is decoded to the packet that it was."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from podpath.drops.events import DropKey, decode_event, decode_key, name_reasons
from podpath.drops.program import KEY
from podpath.net import protocols
from podpath.net.addresses import Address, Mac
from podpath.net.packet import Packet
from tests.drops.made_events import emit_event, emit_key

REASONS = name_reasons({0: "SKB_NOT_DROPPED_YET", 12: "SKB_DROP_REASON_NETFILTER_DROP"})
PORTS = st.integers(0, 65535)
FOUR = st.integers(0, 2**32 - 1).map(lambda value: Address(4, value))
SIX = st.integers(0, 2**128 - 1).map(lambda value: Address(6, value))
ENDS = st.one_of(st.tuples(FOUR, FOUR), st.tuples(SIX, SIX))


@st.composite
def packets(draw: st.DrawFn) -> Packet:
    """Draw a packet with headers alone."""
    src, dst = draw(ENDS)
    base = 20 if src.family == 4 else 40
    ttl, tos = draw(st.integers(0, 255)), draw(st.integers(0, 255))
    dont = draw(st.booleans()) if src.family == 4 else True
    plain = Packet(src, dst, 0, ttl=ttl, tos=tos, dont_fragment=dont)
    match draw(st.sampled_from(("tcp", "udp", "echo"))):
        case "tcp":
            return plain._replace(
                protocol=protocols.TCP, sport=draw(PORTS), dport=draw(PORTS), length=base + 20,
                flags=draw(st.integers(0, 63)), seq=draw(st.integers(0, 2**32 - 1)),
            )  # fmt: skip
        case "udp":
            return plain._replace(
                protocol=protocols.UDP,
                sport=draw(PORTS),
                dport=draw(PORTS),
                length=base + 28,
                payload=20,
            )
        case _:
            number = draw(PORTS)
            protocol = protocols.ICMP if src.family == 4 else protocols.ICMPV6
            kind = protocols.ECHO_REQUESTS[protocol]
            return plain._replace(
                protocol=protocol, sport=number, dport=number, icmp_type=kind, length=base + 8
            )


@given(packets())
def test_a_packet_comes_back_whole(packet: Packet) -> None:
    """Every header field that the model asks for survives the way from the kernel."""
    heard = decode_event(emit_event(packet, emit_key(packet)), REASONS)
    smac, dmac = Mac("02:00:00:00:00:01"), Mac("02:00:00:00:00:02")

    assert packet._replace(smac=smac, dmac=dmac) == heard.packet
    assert (heard.mark, heard.time, heard.vlan) == (3, 5_000_000_000, None)
    assert (heard.key.src, heard.key.dst) == (packet.src, packet.dst)


@given(packets())
def test_a_key_is_spelled_as_its_packet(packet: Packet) -> None:
    """What identifies a flow reads as the packet itself, as far as its flags are kept."""
    key = decode_key(emit_key(packet), REASONS)

    assert str(key) == str(packet._replace(flags=packet.flags & 0x17))


def test_a_key_holds_what_the_kernel_said() -> None:
    """Reason, place, namespace and devices stand in the key."""
    packet = Packet(
        Address.parse("10.0.0.1"), Address.parse("10.0.0.2"), protocols.TCP, 1024, 80, protocols.SYN
    )
    key = decode_key(emit_key(packet, inode=42, ifindex=5, came=3), REASONS)

    assert key[:7] == ("NETFILTER_DROP", 0xFFFFFFFF81A00012, 42, 5, 3, 0x0800, protocols.TCP)


def test_reasons_without_a_name_keep_their_number() -> None:
    """A reason that the kernel's types do not name is a number; one of another subsystem says whose
    it is.
    """
    packet = Packet(Address.parse("10.0.0.1"), Address.parse("10.0.0.2"), protocols.UDP)
    named = [
        decode_key(emit_key(packet, reason=number), {}).reason for number in (0, 77, 3 << 16 | 4)
    ]

    assert named == ["NOT_SPECIFIED", "77", "OPENVSWITCH_4"]


def test_arp_and_other_frames_are_spelled() -> None:
    """ARP has its addresses, another frame its type, and a local socket's buffer is no packet."""
    asked = Packet(Address.parse("10.0.0.1"), Address.parse("10.0.0.2"), 0)
    key = decode_key(emit_key(asked, arp=True), REASONS)
    other = decode_key(KEY.pack(1, 2, 3, 4, 5, b"\x88\xcc", 0, 0, 0, 0, b"", b""), REASONS)
    local = decode_key(KEY.pack(1, 2, 0, 0, 0, b"\0\0", 0, 0, 0, 0, b"", b""), REASONS)

    assert [str(key), str(other), str(local)] == [
        "arp 10.0.0.1 > 10.0.0.2",
        "frame of type 0x88cc",
        "no packet",
    ]
    assert isinstance(other, DropKey)


def test_what_nat_changed_is_told_as_it_began() -> None:
    """A packet of a translated connection has the one that it began as beside it; an answer has
    none.
    """
    pod, service, client = (
        Address.parse(text) for text in ("10.244.1.5", "10.96.0.1", "10.244.2.7")
    )
    packet = Packet(client, pod, protocols.TCP, 40000, 8443, protocols.SYN, length=40)
    began = (
        client.value.to_bytes(4, "big").ljust(16, b"\0") + (40000).to_bytes(2, "big") + b"\2\0"
        + service.value.to_bytes(4, "big").ljust(16, b"\0") + (443).to_bytes(2, "big") + b"\6\0"
    )  # fmt: skip
    heard = decode_event(emit_event(packet, emit_key(packet), status=1 << 5, began=began), REASONS)
    answer = packet._replace(src=pod, dst=client, sport=8443, dport=40000)
    back = decode_event(emit_event(answer, emit_key(answer), status=1 << 5, began=began), REASONS)
    plain = decode_event(emit_event(packet, emit_key(packet), began=began), REASONS)

    assert heard.original is not None
    assert (heard.original.dst, heard.original.dport) == (service, 443)
    assert (back.original, plain.original) == (None, None)


def test_a_tag_beside_the_packet_is_its_vlan() -> None:
    """Of a VLAN tag that the kernel keeps beside the packet the number counts."""
    packet = Packet(
        Address.parse("10.0.0.1"), Address.parse("10.0.0.2"), protocols.UDP, 1, 2, length=28
    )

    assert decode_event(emit_event(packet, emit_key(packet), tag=0x2064), REASONS).vlan == 0x64
