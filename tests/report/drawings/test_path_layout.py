"""Rows and columns of a drawn path."""

from __future__ import annotations

from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.packet import Packet
from podpath.report.drawings.path_drawing import Door, DrawnEnd, DrawnPacket, PathDrawing, Stop
from podpath.report.drawings.path_layout import LINES, WORDS, make_column, place_all

SENT = Packet(Address.parse("10.0.0.2"), Address.parse("10.0.0.3"), protocols.TCP, 40000, 80)
SOCKET, UPPER, LOWER = Door("pod", ""), Door("pod", "eth0"), Door("host", "veth1")


def pass_doors(*doors: Door, backward: bool = False, words: str = "delivered") -> DrawnPacket:
    """Draw a packet that comes to these doors."""
    stops = tuple(Stop(door, SENT, SENT) for door in doors)
    return DrawnPacket("SYN", backward, stops, DrawnEnd.ARRIVED, words)


def place(*packets: DrawnPacket) -> list[list[int]]:
    """Return where the blocks of each packet begin."""
    doors = tuple(dict.fromkeys(stop.door for packet in packets for stop in packet.stops))
    columns = [make_column(packet, doors) for packet in packets]
    places = place_all(PathDrawing(doors, packets), columns)
    for column in columns:
        for top, block in zip(column.place(places.doors), column.blocks, strict=True):
            assert places.doors[block.door] <= top
            assert top + block.height <= places.height
    return [column.place(places.doors) for column in columns]


def test_a_request_goes_down_and_its_reply_comes_up() -> None:
    """Each ends behind its last stop: the one below it, the other above."""
    request, reply = place(
        pass_doors(SOCKET, UPPER, LOWER), pass_doors(LOWER, UPPER, SOCKET, backward=True)
    )
    assert request == sorted(request)
    assert reply == sorted(reply, reverse=True)


def test_a_door_that_it_passes_twice_has_room_for_both() -> None:
    """What goes back through the same door stands below, not on what was there."""
    ((_, first, turn, second, ended),) = place(pass_doors(SOCKET, UPPER, LOWER, UPPER))
    assert first < second < ended < turn


def test_a_reply_that_leaves_downward_ends_below() -> None:
    """What a packet does later stands where it goes."""
    _, (_, left, ended) = place(
        pass_doors(UPPER, SOCKET, LOWER), pass_doors(SOCKET, LOWER, backward=True)
    )
    assert left < ended


def test_words_on_the_end_are_wrapped_and_cut() -> None:
    """Few lines, none longer than a column is wide."""
    column = make_column(pass_doors(UPPER, words="dropped because " * 30), (UPPER,))
    words = column.blocks[-1].words
    assert len(words) == LINES
    assert max(map(len, words)) <= WORDS
    assert words[-1].endswith(" …")
