"""What `ct` actions get from the host's connections."""

from __future__ import annotations

from podpath.datapath.openflow.fields import State, find_subfield
from podpath.datapath.openflow.pipeline import Tracking
from podpath.datapath.openflow.tracking import (
    EST,
    INV,
    NEW,
    RPL,
    TRK,
    KernelTracker,
    packet_of,
    state_of,
)
from podpath.net import protocols
from podpath.net.addresses import Mac, unseen_mac
from podpath.net.packet import Packet
from podpath.testing.nodes import given_netns, given_node
from tests.datapath.walks import given_skb, given_walk, packet

SYN = packet("10.0.0.1", "10.0.0.2")
SYN_ACK = packet("10.0.0.2", "10.0.0.1", sport=80, dport=40000, flags=protocols.SYN | protocols.ACK)


def asked(nat: str | None = None, zone: int = 5, *, commit: bool = True) -> Tracking:
    """Ask for a zone."""
    return Tracking(zone, commit, False, nat, ())


def tracked(*packets: tuple[Packet, Tracking]) -> list[State]:
    """Track packets one after another; what each has then."""
    walk = given_walk(given_node(given_netns("host", "eth0 10.0.0.9/24")))
    found = []
    for what, how in packets:
        answer = KernelTracker(walk, given_skb(walk, what)).track(state_of(what, 0), how)
        assert not isinstance(answer, str), answer
        found.append(answer)
    return found


def test_a_committed_connection_has_an_answer() -> None:
    """The SYN is new, the answer established and a reply, in the zone that was committed alone."""
    first, answer, elsewhere = tracked(
        (SYN, asked()), (SYN_ACK, asked(commit=False)), (SYN_ACK, asked(zone=6, commit=False))
    )

    assert [NEW | TRK, EST | RPL | TRK, INV | TRK] == [
        state["ct_state"] for state in (first, answer, elsewhere)
    ]
    assert first["ct_tp_dst"] == answer["ct_tp_dst"] == 80


def test_what_nobody_commits_is_new_again() -> None:
    """Without `commit` no connection is entered."""
    states = [state["ct_state"] for state in tracked(*[(SYN, asked(commit=False))] * 2)]

    assert [NEW | TRK, NEW | TRK] == states


def test_translation_there_and_back() -> None:
    """`nat(dst=...)` changes the destination of the first packet, `nat` the source of its
    answer.
    """
    there, back = tracked(
        (SYN, asked("dst=10.0.0.7:8080")),
        (SYN_ACK._replace(src=SYN.dst._replace(value=0x0A000007), sport=8080), asked("")),
    )

    assert (0x0A000007, 8080) == (there["ip_dst"], there["tp_dst"])
    assert (SYN.dst.value, 80) == (back["ip_src"], back["tp_src"])


def test_what_is_not_modelled_is_said() -> None:
    """A helper, a random port: no state."""
    walk = given_walk(given_node(given_netns("host", "eth0 10.0.0.9/24")))
    tracker = KernelTracker(walk, given_skb(walk, SYN))
    state = state_of(SYN, 0)

    assert "nat(src=10.0.0.7,random)" == tracker.track(state, asked("src=10.0.0.7,random"))
    assert "helper ftp" in str(tracker.track(state, asked()._replace(helper="ftp")))


def test_marks_last_with_the_connection() -> None:
    """What `exec` sets is there for the answer."""
    mark, label = find_subfield("ct_mark"), find_subfield("ct_label")
    assert mark is not None
    assert label is not None
    _, answer = tracked(
        (SYN, asked()._replace(marks=((mark, 3), (label, 1 << 64)))),
        (SYN_ACK, asked(commit=False)),
    )

    assert (3, 1 << 64) == (answer["ct_mark"], answer["ct_label"])


def test_a_packet_and_its_fields() -> None:
    """A MAC that no output shows is no field; what flows changed is in the packet again."""
    shown = SYN._replace(smac=Mac("02:00:00:00:00:01"), dmac=unseen_mac("eth0 in a"))
    state = state_of(shown, 7)
    state |= {"tp_dst": 81, "ttl": 9, "eth_src": 0x020000000002}
    after = packet_of(shown, state)

    assert ("eth_dst" in state, state["pkt_mark"]) == (False, 7)
    assert (81, 9, "02:00:00:00:00:02", "(MAC of eth0 in a)") == (
        after.dport,
        after.ttl,
        after.smac,
        after.dmac,
    )
