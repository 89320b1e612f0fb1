"""How long the lab waits for a probe's frames."""

from __future__ import annotations

import socket

from podpath.net.probe import Probe
from podpath_lab.conversation import LATE, QUIET, Timeouts, _is_unanswered
from podpath_lab.frames import SeenFrame
from tests.datapath.walks import packet


def frames(count: int) -> list[SeenFrame]:
    """Return some IP frames and one of ARP."""
    held = [
        SeenFrame(time, "host", "eth0", outgoing=True, packet=packet("10.0.0.1", "10.0.0.2"))
        for time in range(count)
    ]
    return [*held, SeenFrame(count, "host", "eth0", outgoing=True, packet=None)]


def test_a_silence_before_the_predicted_frames_lasts_longer() -> None:
    """While a predicted frame has not come the machine is taken to be busy; ARP does not count."""
    assert [LATE, LATE, QUIET, QUIET] == [
        Timeouts(predicted=2).seconds(frames(count)) for count in range(4)
    ]


def test_patience_is_never_cut_short() -> None:
    """A look with much patience keeps it, whatever is predicted."""
    assert [1.0, 1.0] == [Timeouts(1.0, predicted).seconds([]) for predicted in (0, 5)]


def test_a_client_whose_syn_is_unanswered_is_told_from_one_that_is_connected() -> None:
    """A listener whose queue is full drops the SYN of the next; a datagram has no handshake."""
    probe = Probe.parse("tcp 127.0.0.1 > 127.0.0.1:80")
    with socket.create_server(("127.0.0.1", 0), backlog=0) as server:
        clients = [socket.socket() for _ in range(3)]
        for client in clients:
            client.setblocking(False)
            client.connect_ex(server.getsockname())
        assert not _is_unanswered(probe, clients[0])
        assert _is_unanswered(probe, clients[-1])
        assert not _is_unanswered(Probe.parse("udp 127.0.0.1 > 127.0.0.1:80"), clients[-1])
        for client in clients:
            client.close()
