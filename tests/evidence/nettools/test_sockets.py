"""`ss` and `netstat`."""

from __future__ import annotations

import pytest

from podpath.evidence import recognition
from podpath.evidence.node_records import SocketRecord
from podpath.evidence.records import Reading
from podpath.net import protocols
from tests.evidence.consoles import block, read, recorded


def sockets(reading: Reading) -> list[tuple[int, str, str | None, int | None, str | None]]:
    """Return protocol, state, address, port and device of each socket."""
    return [
        (
            one.protocol, one.state, str(one.local) if one.local is not None else None, one.port,
            one.link,
        )
        for one in reading.records if isinstance(one, SocketRecord)
    ]  # fmt: skip


LISTENING = {
    (protocols.TCP, "LISTEN", "10.244.1.1", 53, None),
    (protocols.TCP, "LISTEN", "0.0.0.0", 6443, None),
    (protocols.TCP, "LISTEN", "0.0.0.0", 7777, "eth0"),
    (protocols.TCP, "LISTEN", None, 10250, None),
    (protocols.TCP, "LISTEN", "::1", 9099, None),
}
RECEIVING = {
    (protocols.UDP, "UNCONN", "0.0.0.0", 4789, None),
    (protocols.UDP, "UNCONN", "0.0.0.0", 8472, None),
    (protocols.UDP, "UNCONN", "fd00:7::5", 5353, None),
}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ss-tuln", LISTENING | RECEIVING),
        ("ss-tulnp", LISTENING | RECEIVING),
        ("ss-h", LISTENING | RECEIVING),
        ("ss-tln", LISTENING),
    ],
)
def test_ss_is_read(name: str, expected: set[object]) -> None:
    """With or without headings, processes and the column of the protocol, which `-t` makes
    needless.
    """
    assert expected == set(sockets(read(recorded(name))))


@pytest.mark.parametrize(
    ("name", "expected"), [("netstat-tlnp", LISTENING), ("netstat-tulnpW", LISTENING | RECEIVING)]
)
def test_netstat_is_read(name: str, expected: set[tuple[object, ...]]) -> None:
    """It states the same, but for the device that a socket is bound to."""
    assert {one[:4] for one in expected} == {one[:4] for one in sockets(read(recorded(name)))}


def test_connections_have_a_state() -> None:
    """Both tools' names for a state become ss's."""
    for name in ("ss-an", "netstat-an"):
        assert 2 == sum(state == "ESTAB" for _, state, *_ in sockets(read(recorded(name))))


def test_processes_are_kept() -> None:
    """By name, from either tool."""
    for name in ("ss-tulnp", "netstat-tulnpW"):
        processes = [
            one.process for one in read(recorded(name)).records if isinstance(one, SocketRecord)
        ]
        assert {"python3", None} == set(processes)


def test_a_socket_of_ipv6_only_is_told_from_one_of_both() -> None:
    """ss prints `*` for both families and `[::]` for one, where it prints 0.0.0.0 for IPv4; in
    older versions `[::]` is either. netstat prints `:::`, or `[::]` before a name, for either.
    """
    rows = (
        "tcp   LISTEN 0      5        *:80            *:*\n"
        "tcp   LISTEN 0      5     [::]:81         [::]:*\n"
    )
    reading = read(block(f"{rows}tcp   LISTEN 0      5     127.0.0.1:82      0.0.0.0:*\n"))
    older = read(block(f"{rows}tcp   LISTEN 0      5     127.0.0.1:82            *:*\n"))
    others = read(
        block(
            "tcp6       0      0 [::]:http    [::]:*    LISTEN\n"
            "tcp6       0      0 :::81        :::*      LISTEN",
            "netstat -tl",
        )
    )

    assert [None, "::", "127.0.0.1"] == [address for _, _, address, _, _ in sockets(reading)]
    assert [None, None, "127.0.0.1"] == [address for _, _, address, _, _ in sockets(older)]
    assert [None, None] == [address for _, _, address, _, _ in sockets(others)]


def test_names_of_services_are_ports_where_they_are_known() -> None:
    """Another name leaves the port unknown."""
    reading = read(
        block(
            (
                "tcp        0      0 0.0.0.0:https   0.0.0.0:*   LISTEN\n"
                "tcp        0      0 0.0.0.0:xyzzy   0.0.0.0:*   LISTEN"
            ),
            "netstat -tl",
        )
    )

    assert [443, None] == [port for _, _, _, port, _ in sockets(reading)]


def test_other_kinds_of_sockets_are_headings() -> None:
    """They say nothing about a packet's path."""
    reading = read(
        block(
            "Netid State  Recv-Q Send-Q Local Address:Port  Peer Address:Port\n"
            "u_str ESTAB 0 0 /run/dbus 1234 * 5678\ntcp   LISTEN 0 5 0.0.0.0:80 0.0.0.0:*"
        )
    )

    assert (3, 1, ()) == (len(reading.records), len(sockets(reading)), reading.gaps)


def test_a_socket_without_its_protocol_is_a_gap() -> None:
    """UNCONN may be UDP or another one; LISTEN is TCP."""
    reading = read(
        block(
            "State  Recv-Q Send-Q Local Address:Port  Peer Address:Port\n"
            "UNCONN 0 0 0.0.0.0:53 0.0.0.0:*\nLISTEN 0 5 0.0.0.0:80 0.0.0.0:*"
        )
    )

    assert ([80], [2]) == (
        [port for _, _, _, port, _ in sockets(reading)],
        [gap.span.line for gap in reading.gaps],
    )


def test_details_below_a_socket_belong_to_it() -> None:
    """`ss -i` and `-m` add a line that is no gap."""
    reading = read(
        block(
            "tcp   ESTAB  0 0 10.0.0.1:22 10.0.0.9:51234\n\t cubic wscale:7,7 rto:204 rtt:3.5/2.1"
        )
    )

    assert (1, ()) == (len(sockets(reading)), reading.gaps)


def test_options_below_a_socket_say_whether_it_is_transparent() -> None:
    """`ss --inet-sockopt` of iproute2 6.1 lists those that are set; without, it is not known."""
    reading = read(
        block(
            "LISTEN 0      128          0.0.0.0:2024      0.0.0.0:*\n"
            "\tinet-sockopt: ( is_icsk mc_loop mc_all)\n"
            "LISTEN 0      16           0.0.0.0:15001     0.0.0.0:*\n"
            "\tinet-sockopt: ( is_icsk transparent mc_loop mc_all)\n"
            "LISTEN 0      16           0.0.0.0:15006     0.0.0.0:*\n",
            command="ss -tln --inet-sockopt",
        )
    )
    found = [one.transparent for one in reading.records if isinstance(one, SocketRecord)]

    assert ([False, True, None], ()) == (found, reading.gaps)


def test_an_elided_address_is_a_gap() -> None:
    """The socket is not believed in part."""
    assert [True] == [
        "elided" in gap.why for gap in read(block("tcp LISTEN 0 5 10.0.x.x:80 0.0.0.0:*")).gaps
    ]


def test_prose_is_no_table() -> None:
    """A sentence with a state in it is not one."""
    assert None is recognition.recognise(block("LISTEN to me: port 80 is open"))
