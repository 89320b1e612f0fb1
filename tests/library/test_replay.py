"""A kept drop, asked again: what a watch saved is read back, and the model says of it what it said
when it was dropped.
"""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath.diagnosis.freed import DropAgreement, DropExplanation
from podpath.drops import headers
from podpath.drops.events import DropKey, DropNames, DropNotes, HeardDrop
from podpath.library.replay import read_kept, replay
from podpath.net.errors import EvidenceError
from podpath.report.drop_json import render_drop_line
from podpath.testing.nodes import ip

SRC, DST = ip("10.244.0.5"), ip("198.51.100.7")
UDP = struct.pack("!HHHH", 40000, 53, 12, 0) + b"data"
DATA = (
    struct.pack("!BBHHHBBH", 0x45, 0, 32, 1, 0x4000, 63, 17, 0)
    + SRC.value.to_bytes(4, "big")
    + DST.value.to_bytes(4, "big")
    + UDP
)
RULES = "*filter\n:FORWARD ACCEPT [0:0]\n-A FORWARD -p udp --dport 53 -j DROP\nCOMMIT\n"
FLAGS = {"flags": ["UP", "LOWER_UP"], "mtu": 1500, "operstate": "UP"}
FILES = {
    "ip-addr.json": json.dumps([
        {"ifindex": 2, "ifname": "cni0", **FLAGS,
         "addr_info": [{"family": "inet", "local": "10.244.0.1", "prefixlen": 24}]},
        {"ifindex": 3, "ifname": "eth0", **FLAGS,
         "addr_info": [{"family": "inet", "local": "192.0.2.1", "prefixlen": 24}]},
    ]),
    "ip-route.json": json.dumps([
        {"dst": "default", "gateway": "192.0.2.254", "dev": "eth0", "flags": []},
        {"dst": "10.244.0.0/24", "dev": "cni0", "scope": "link", "flags": []},
        {"dst": "192.0.2.0/24", "dev": "eth0", "scope": "link", "flags": []},
    ]),
    "sysctl.txt": "net.ipv4.ip_forward = 1\nnet.ipv4.conf.all.rp_filter = 0\n"
                  "net.ipv4.conf.cni0.rp_filter = 0\nnet.ipv4.conf.cni0.forwarding = 1\n",
    "iptables-save.txt": RULES,
}  # fmt: skip


def heard(**more: Any) -> HeardDrop:  # noqa: ANN401  # fields of a drop
    """Return a datagram from a pod that FORWARD dropped."""
    key = DropKey("NETFILTER_DROP", 7, 9, 3, 2, headers.IPV4, 17, 0, 40000, 53, SRC, DST)
    packet = headers.parse_packet(headers.IPV4, DATA)
    return HeardDrop(key, 5, packet, data=DATA)._replace(**more)


@pytest.fixture
def bundle(tmp_path: Path) -> str:
    """Provide the node as a bundle."""
    folder = tmp_path / "bundle/netns/host"
    folder.mkdir(parents=True)
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    return str(tmp_path / "bundle")


def keep(drop: HeardDrop, **more: object) -> bytes:
    """Keep a drop as the watch does."""
    found = DropExplanation(agreement=DropAgreement.DISAGREES, netns="host", link="eth0")
    line = render_drop_line(drop, "nf_hook_slow+0x7d", found, DropNotes(DropNames("host")))
    return json.dumps(json.loads(line) | more).encode()


def test_the_packet_comes_back_as_it_was() -> None:
    """What is read is what was written: ends, mark, devices, and how the connection began."""
    packet = heard().packet
    assert packet is not None
    began = packet._replace(dst=ip("10.96.0.10"), dport=5353)
    drop = heard(mark=9, original=began)
    kept = read_kept(keep(drop))
    key = drop.key._replace(location=0, inode=1)

    assert kept.heard == drop._replace(key=key, time=0)
    assert (kept.netns, kept.function) == ("host", "nf_hook_slow+0x7d")


def test_the_model_says_what_dropped_it(bundle: str) -> None:
    """By the saved node: the rule, whatever was said when it was kept."""
    found = replay(bundle, keep(heard()))

    assert found.kept.said == "the model lets it pass"
    assert found.explanation.agreement is DropAgreement.NAMED
    assert "--dport 53 -j DROP" in found.explanation.spans[0].text


def test_what_holds_none_is_said(bundle: str) -> None:
    """No packet, and no such namespace."""
    with pytest.raises(EvidenceError, match="no IP packet stands in it"):
        replay(bundle, keep(heard(), packet=None))
    with pytest.raises(EvidenceError, match="expected the namespace 'web-0', saw host"):
        replay(bundle, keep(heard(), netns="web-0"))


@given(
    st.dictionaries(
        st.sampled_from(("packet", "ethertype", "reason", "ifindex", "original", "mark", "netns")),
        st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.integers()),
    )
)
def test_whatever_stands_there_is_an_error_or_a_drop(fields: dict[str, object]) -> None:
    """A file that was edited, or is another's, ends no program."""
    try:
        kept = read_kept(keep(heard(), **fields))
    except EvidenceError:
        return
    assert kept.heard.packet is not None
