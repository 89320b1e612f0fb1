"""Tests for the TCP state machine of conntrack."""

from __future__ import annotations

from hypothesis import given as hypothesis_given
from hypothesis import strategies as st

from podpath.datapath.conntrack import tcp
from podpath.datapath.conntrack.connection import Connection
from podpath.datapath.conntrack.settings import ConntrackSettings
from podpath.datapath.conntrack.tuples import inverse, packet_tuple
from podpath.datapath.reasons.tracking import NotPickedUp, OutOfState
from podpath.net import protocols
from podpath.net.packet import Packet
from tests.datapath.given import Sender, given
from tests.datapath.given import tcp as segment

SYN, ACK, FIN, RST = protocols.SYN, protocols.ACK, protocols.FIN, protocols.RST
SEGMENTS = st.builds(
    lambda flags, seq, ack, payload: segment(flags=flags)._replace(
        seq=seq, ack=ack, payload=payload
    ),
    st.sampled_from((SYN, SYN | ACK, ACK, FIN | ACK, RST, RST | ACK, 0, FIN, SYN | FIN)),
    st.integers(0, 200),
    st.integers(0, 200),
    st.sampled_from((0, 50)),
)


def settings(**sysctls: str) -> ConntrackSettings:
    """Return the settings of a namespace with these sysctls."""
    node = given(
        sysctls={f"net.netfilter.nf_conntrack_{key}": value for key, value in sysctls.items()}
    )
    return ConntrackSettings(Sender(node).walk.choices, node.netns)


def opened(packet: Packet, **sysctls: str) -> tuple[Connection, tcp.Ruling]:
    """Open a connection with a segment."""
    original = packet_tuple(packet)
    connection = Connection(original, inverse(original))
    ruling = tcp.open_connection(connection, packet, settings(**sysctls))
    if ruling.valid:
        ruling = tcp.track_segment(connection, packet, settings(**sysctls), reply=False)
        connection.confirmed = True
    return connection, ruling


def test_the_table_has_a_row_for_each_kind_and_direction() -> None:
    """Every state has a next state for every kind of segment."""
    kinds = ("syn", "syn-ack", "fin", "ack", "rst", "none")

    assert {
        (reply, kind, state) for reply in (False, True) for kind in kinds for state in tcp.STATES
    } == set(tcp.TRANSITIONS)


def test_the_acknowledgement_without_a_syn_ack_is_invalid() -> None:
    """Conntrack that saw the SYN but no SYN-ACK calls the third packet of the handshake invalid,
    and says why.
    """
    connection, _ = opened(segment())
    ruling = tcp.track_segment(connection, segment(flags=ACK), settings(), reply=False)

    assert (False, OutOfState("ack", "SYN_SENT", False)) == (ruling.valid, ruling.invalid)


def test_liberal_windows_do_not_help_a_missing_syn_ack() -> None:
    """nf_conntrack_tcp_be_liberal is about windows; the state stays invalid."""
    connection, _ = opened(segment(), tcp_be_liberal="1")

    assert not tcp.track_segment(
        connection, segment(flags=ACK), settings(tcp_be_liberal="1"), reply=False
    ).valid


def test_a_handshake_establishes() -> None:
    """SYN, SYN-ACK, ACK lead to ESTABLISHED, and the ACK assures the connection."""
    connection, _ = opened(segment())
    states = [connection.state]
    for flags, reply in ((SYN | ACK, True), (ACK, False)):
        packet = segment(flags=flags)._replace(seq=0 if flags & SYN else 1, ack=1)
        assert tcp.track_segment(connection, packet, settings(), reply=reply).valid
        connection.seen_reply = True
        states.append(connection.state)

    assert (["SYN_SENT", "SYN_RECV", "ESTABLISHED"], True) == (states, connection.assured)


def test_an_acknowledgement_of_unseen_data_is_invalid() -> None:
    """Where the answers pass conntrack by, the client's ACK of them gives it away; liberal windows
    let it through.
    """
    for sysctls, valid in (({}, False), ({"tcp_be_liberal": "1"}, True)):
        connection, _ = opened(segment())
        tcp.track_segment(
            connection, segment(flags=SYN | ACK)._replace(ack=1), settings(), reply=True
        )
        tcp.track_segment(connection, segment(flags=ACK), settings(), reply=False)
        ruling = tcp.track_segment(
            connection, segment(flags=ACK)._replace(ack=500), settings(**sysctls), reply=False
        )

        assert valid is ruling.valid


def test_a_reset_before_any_reply_ends_the_entry() -> None:
    """A refused connection is forgotten at once."""
    connection, _ = opened(segment())

    assert tcp.track_segment(connection, segment(flags=RST | ACK), settings(), reply=True).kill


def test_loose_tracking_picks_connections_up() -> None:
    """An ACK of an unknown connection is its first packet, unless nf_conntrack_tcp_loose is 0."""
    connection, ruling = opened(segment(flags=ACK))
    _, strict = opened(segment(flags=ACK), tcp_loose="0")

    assert (True, "ESTABLISHED") == (ruling.valid, connection.state)
    assert (False, NotPickedUp()) == (strict.valid, strict.invalid)


@hypothesis_given(st.lists(st.tuples(SEGMENTS, st.booleans()), max_size=12))
def test_every_sequence_of_segments_has_a_ruling(sequence: list[tuple[Packet, bool]]) -> None:
    """Whatever comes, the tracker answers, and the state is one of TCP's."""
    connection, ruling = opened(segment())
    for packet, reply in sequence:
        if tcp.check_flags(packet).valid:
            ruling = tcp.track_segment(connection, packet, settings(), reply=reply)

        assert connection.state in tcp.STATES
        assert ruling.valid == (ruling.invalid is None)
