"""Columns and what tshark reads of the same packets, field by field."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from bench.made_capture import make_capture
from podpath.capture.read import read_capture
from tests.capture.tshark import differences, read_fields

SHARED = Path(__file__).resolve().parents[2] / "shared" / "captures" / "tcpdump-tests"
SAMPLE = (
    "print-flags", "802.1ad_QinQ",
    "vxlan", "vxlan_port_8472", "geneve", "geneve-gcp", "various_gre", "icmpv6", "mptcp-v1", "dns_tcp",
    "dns_udp", "gso-ipv4-vxlan-ipv6", "gso-ipv6-geneve-ipv4", "bigtcp-ipv4-vxlan-ipv4", "bigtcp-ipv6", "ipv4_tcp_http_xml_tso",
    "ipv6-routing-header", "ipv6-srh-ext-header", "icmp-rfc5837", "LINKTYPE_RAW_ipv4", "LINKTYPE_RAW_ipv6", "LINKTYPE_IPV6",
)  # fmt: skip
"""Captures with many kinds of headers."""


@pytest.mark.kernel("tshark")
@pytest.mark.parametrize("vxlan", [0.0, 0.3])
def test_made_capture_agrees_with_tshark(tmp_path: Path, vxlan: float) -> None:
    """Of a few thousand packets, some in VXLAN, every field is what tshark says."""
    path = tmp_path / "made.pcap"
    made = make_capture(4_000, vxlan=vxlan)
    path.write_bytes(made.data)
    rows = read_fields(path)

    assert made.packets == len(rows)
    assert [] == list(differences(read_capture(made.data).packets, rows))[:5]


@pytest.mark.parametrize("name", SAMPLE)
def test_tcpdumps_captures_agree_with_tshark(name: str) -> None:
    """Of the tcpdump project's captures every field that both read is the same."""
    path = SHARED / f"{name}.pcap"
    if shutil.which("tshark") is None or not path.is_file():
        pytest.skip(f"needs tshark and {name} of the tcpdump project's test captures")
    found = read_capture(path.read_bytes())
    rows = read_fields(path)

    assert len(rows) == len(found.packets)
    assert [] == list(differences(found.packets, rows))[:5]
