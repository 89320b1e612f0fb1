"""A kept drop on this kernel. The round trip is in `tests/kernel/test_replay.py`; here is what is
refused before anything is built.
"""

from __future__ import annotations

from typing import cast

import pytest

from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.packet import Packet
from podpath.node.node import HOST
from podpath_lab.apply import LabError
from podpath_lab.draft import Draft
from podpath_lab.drops import DropTracer
from podpath_lab.replayed import replay_packet


def test_what_cannot_be_sent_is_refused() -> None:
    """An IPv6 packet: frames are made of IPv4 alone."""
    draft = Draft()
    draft.add_netns(HOST)
    node = draft.freeze("6.1")
    ends = Address.parse("fd00::1"), Address.parse("fd00::2")
    packet = Packet(*ends, protocols.UDP, 40000, 53)

    with pytest.raises(LabError, match="expected an IPv4 packet"):
        replay_packet(node, HOST, "", packet, cast("DropTracer", None))
