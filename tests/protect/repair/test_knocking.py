"""Tests of `protect.repair.knocking`: who answers is found in a moment, and knocked at while the
body runs.
"""

from __future__ import annotations

import socket
import time

import pytest

from podpath.collect.netns import inside
from podpath_protect.repair.knocking import find_reachable, knock
from podpath_protect.validate.inbound import PORT
from tests.protect.pods import pod

PATIENCE = 4.0
"""Seconds for an answer, on a machine that does other things too."""


@pytest.mark.kernel("ip", "iptables")
def test_who_answers_is_found() -> None:
    """A refusal is an answer; nobody's address, no route and a drop are none."""
    with pod() as made, inside(f"/run/netns/{made.node}"):
        everybody = ("10.9.0.2", "10.9.0.77", "fd00:9::2", "198.51.100.1", "fd00:77::1")
        found = find_reachable(everybody, PATIENCE)
        made.exec("iptables", "-A", "INPUT", "-p", "tcp", "-j", "DROP")
        dropped = find_reachable(("10.9.0.2", "fd00:9::2"), PATIENCE)

    assert (("10.9.0.2", "fd00:9::2"), ("fd00:9::2",)) == (found, dropped)


def test_it_knocks_until_the_body_ends() -> None:
    """Connections come again and again, and none afterwards."""
    with socket.create_server(("127.0.0.1", PORT)) as server:
        server.settimeout(60)
        with knock(["127.0.0.1"]):
            for _ in range(3):
                server.accept()[0].close()
        server.setblocking(False)
        while True:
            try:
                server.accept()[0].close()
            except BlockingIOError:
                break
        time.sleep(0.2)
        with pytest.raises(BlockingIOError):
            server.accept()


def test_nobody_is_knocked_at_nowhere() -> None:
    """Without addresses nothing happens."""
    assert () == find_reachable(())
    with knock(()):
        pass
