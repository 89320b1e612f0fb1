"""Captures narrowed to what somebody asks about: how it is spelled, and what is kept."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.diagnosis.capture_filter import ANY, FilterEnd, narrow, parse_end, parse_wanted
from podpath.net import protocols
from podpath.net.addresses import Address, IfName
from podpath.net.errors import UsageError
from podpath.net.packet import Packet
from podpath.node.case import ArpOperation, ArpSighting, Case, LostPacket, Sighting
from podpath.testing.nodes import given_netns, given_node, ip, span
from tests.diagnosis.scenes import ACK, SYN, SYN_ACK, frame

CLIENT, SERVER, OTHER = "10.0.0.1", "10.0.0.2", "10.0.0.3"


def end(address: str | None, port: int = 0) -> FilterEnd:
    """Make an end."""
    return FilterEnd(ip(address) if address is not None else None, port)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (CLIENT, end(CLIENT)),
        (f"{CLIENT}:80", end(CLIENT, 80)),
        (f"{CLIENT}.80", end(CLIENT, 80)),
        (":80", end(None, 80)),
        (f"{CLIENT}:65535", end(CLIENT, 65535)),
        ("[fd00::1]:443", end("fd00::1", 443)),
        ("fd00::1", end("fd00::1")),
    ],
)
def test_an_end_is_an_address_a_port_or_both(text: str, expected: FilterEnd) -> None:
    """In the ways that people and tcpdump write it."""
    assert expected == parse_end(text)


@pytest.mark.parametrize("text", [f"{CLIENT}:65536", "web-0", f"{CLIENT}:http", "300.1.1.1"])
def test_what_is_no_end_is_refused(text: str) -> None:
    """With what was seen."""
    with pytest.raises(UsageError, match="expected an address with or without a port"):
        parse_end(text)


@pytest.mark.parametrize(
    "text",
    [
        f"tcp {CLIENT}:1 > {SERVER}:80",
        f"TCP {CLIENT}.1 -> {SERVER}.80",
        f"tcp {CLIENT}:1,{SERVER}:80",
    ],
)
def test_a_connection_is_spelled_in_several_ways(text: str) -> None:
    """With or without the protocol's name in capitals, and with any arrow."""
    assert (protocols.TCP, end(CLIENT, 1), end(SERVER, 80)) == parse_wanted(text)


def test_less_than_a_connection_leaves_the_rest_open() -> None:
    """One end alone is met by any other; without a protocol it is any."""
    assert (None, end(CLIENT), ANY) == parse_wanted(CLIENT)
    assert (protocols.UDP, end(None, 53), ANY) == parse_wanted("udp :53")
    with pytest.raises(UsageError, match="expected a connection such as"):
        parse_wanted("tcp one two three")


@pytest.mark.parametrize(
    ("wanted", "fits"),
    [
        (f"tcp {CLIENT} > {SERVER}", True),
        (f"{SERVER}:80 > {CLIENT}", True),
        (f"{SERVER}:80", True),
        (":80", True),
        (f"udp {CLIENT} > {SERVER}", False),
        (f"{CLIENT}:80 > {SERVER}", False),
        (f"{CLIENT} > {OTHER}", False),
        (f"{OTHER} > {SERVER}", False),
        (f"{CLIENT} > {CLIENT}", False),
    ],
)
def test_words_of_a_connection_fit_in_either_direction(wanted: str, *, fits: bool) -> None:
    """Its protocol and both of its ends have to be those that are asked about."""
    assert fits == parse_wanted(wanted).fits_words(f"tcp {CLIENT}:1024 > {SERVER}:80")
    assert fits == bool(kept(wanted, talk(CLIENT, SERVER)))


def talk(client: str, server: str, port: int = 1024, link: str = "eth0") -> tuple[Sighting, ...]:
    """See a handshake at a device."""
    forth, back = f"{client}:{port} > {server}:80", f"{server}:80 > {client}:{port}"
    return (
        frame(forth, SYN, f"in {link}", seq=port),
        frame(back, SYN_ACK, f"out {link}", seq=port + 1),
        frame(forth, ACK, f"in {link}", seq=port + 2),
    )


def narrowed(wanted: str, *sightings: Sighting, **more: object) -> Case:
    """Narrow a case to what is asked about."""
    case = Case(node=given_node(given_netns("host")), sightings=sightings)
    return narrow(replace(case, **more), [parse_wanted(wanted)])  # type: ignore[arg-type]  # fields of Case


def kept(wanted: str, sightings: tuple[Sighting, ...]) -> tuple[Sighting, ...]:
    """Return the frames that are kept; none where nothing fits."""
    try:
        return narrowed(wanted, *sightings).sightings
    except UsageError:
        return ()


def test_only_the_connection_is_kept() -> None:
    """With its answers, and without another connection between other ends."""
    mine, other = talk(CLIENT, SERVER), talk(OTHER, SERVER, 2048)

    assert mine == kept(f"{CLIENT} > {SERVER}", (*mine, *other))
    assert (*mine, *other) == kept(":80", (*mine, *other))


def test_whoever_answers_the_client_is_kept_too() -> None:
    """An answer from somebody else's address to the same client and port, over TCP, may belong to
    it.
    """
    mine, strange = talk(CLIENT, SERVER), talk(CLIENT, OTHER)

    assert (*mine, *strange) == kept(f"{CLIENT} > {SERVER}", (*mine, *strange))


def error(to: str, about: Packet) -> Sighting:
    """See an ICMP error."""
    packet = Packet(
        ip("10.0.0.254"), ip(to), protocols.ICMP, icmp_type=3, icmp_code=1, quoted=about
    )
    seen = frame(f"{CLIENT}:1 > {SERVER}:1", 0, "in eth0")
    return replace(seen, packet=packet, span=span(f"error to {to}"))


def arp(sender: str, target: str) -> ArpSighting:
    """See an ARP request."""
    return ArpSighting(
        operation=ArpOperation.REQUEST, sender=Address.parse(sender), target=Address.parse(target),
        sender_mac=None, target_mac=None, span=span(f"{sender} asks for {target}"), time=None,
        link=IfName("eth0"),
    )  # fmt: skip


def lose(client: str) -> LostPacket:
    """Lose a client's SYN between two devices."""
    return LostPacket(
        connection=f"tcp {client}:1024 > {SERVER}:80", forward=True, what="SYN",
        seen=(("eth0", span("SYN")),), missing_at="eth1", before=span("before"),
        after=span("after"), basis="same direction", repeated=False,
    )  # fmt: skip


def test_errors_and_arp_about_the_ends_are_kept() -> None:
    """Those about anybody else are left out; so are lost packets of other connections."""
    mine = talk(CLIENT, SERVER)
    told, foreign = error(CLIENT, mine[0].packet), error(OTHER, mine[0].packet)
    asked, answered, others = arp(CLIENT, OTHER), arp(OTHER, SERVER), arp(OTHER, "10.0.0.9")
    lost = [lose(client) for client in (CLIENT, OTHER)]
    found = narrowed(
        f"{CLIENT} > {SERVER}",
        *mine,
        told,
        foreign,
        arps=(asked, answered, others),
        lost=tuple(lost),
    )

    assert (*mine, told) == found.sightings
    assert (asked, answered) == found.arps
    assert (lost[0],) == found.lost


def test_what_was_lost_is_kept_where_no_packet_of_its_connection_is_shown() -> None:
    """A long capture does not show connections that work."""
    lost = lose(CLIENT), lose(OTHER)

    assert lost[:1] == narrowed(CLIENT, *talk(OTHER, SERVER), lost=lost).lost
    assert lost == narrowed(":80", *talk(OTHER, SERVER), lost=lost).lost
    with pytest.raises(UsageError, match="no connection"):
        narrowed("10.0.0.9", *talk(OTHER, SERVER), lost=lost)


def test_what_nothing_fits_is_told_with_examples() -> None:
    """Three connections are named, and how many more there are; or that there is none."""
    several = [talk(CLIENT, SERVER, 1000 + number) for number in range(5)]
    frames = tuple(seen for each in several for seen in each)
    with pytest.raises(UsageError, match=r"1000 .*1001 .*1002 > \S+ and 2 more$"):
        narrowed(OTHER, *frames)
    with pytest.raises(UsageError, match=r"1002 > \S+$"):
        narrowed(OTHER, *frames[:9])
    with pytest.raises(UsageError, match="they show none"):
        narrowed(OTHER)


def test_an_echo_whose_number_is_the_clients_port_is_another_connection() -> None:
    """Only over TCP may whoever answers the same client and port belong to it."""
    mine = talk(CLIENT, SERVER)
    echo = Packet(ip(CLIENT), ip(OTHER), protocols.ICMP, 1024, 1024, icmp_type=8)
    ping = replace(mine[0], packet=echo, span=span("ping"))

    assert mine == kept(f"tcp {CLIENT} > {SERVER}", (*mine, ping))
