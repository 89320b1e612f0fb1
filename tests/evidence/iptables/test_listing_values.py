"""Values as `iptables -L` words them."""

from __future__ import annotations

import pytest

from podpath.evidence.iptables.listing_values import read_value
from podpath.evidence.text.services import SERVICES, read_port


@pytest.mark.parametrize(
    ("option", "printed", "saved"),
    [
        ("dport", "80", "80"),
        ("dport", "1024:65535", "1024:65535"),
        ("dports", "http,https:microsoft-ds,8080", "80,443:445,8080"),
        ("tcp-flags", "0x3F", "FIN,SYN,RST,PSH,ACK,URG"),
        ("tcp-flags", "0x00", "NONE"),
        ("tcp-flags", "SYN,RST", "SYN,RST"),
        ("icmp-type", "3 code 4", "3/4"),
        ("icmp-type", "255", "any"),
        ("icmpv6-type", "128", "128"),
        ("chunk-types", "0x0000:Be,0x0001", "DATA:Be,INIT"),
        ("dccp-types", "0,2", "REQUEST,DATA"),
        ("uid-owner", "1337", "1337"),
        ("uid-owner", "root", "0"),
        ("hashlimit-mode", "srcip-dstport", "srcip,dstport"),
        ("tos", "Minimize-Delay", "0x10/0x3f"),
        ("strip-options", "mss,wscale,99", "2,3,99"),
        ("set-class", "1:10", "0001:0010"),
        ("datestart", "2020-01-01 00:00:00", "2020-01-01T00:00:00"),
        ("to-destination", "10.0.0.1:80", "10.0.0.1:80"),
    ],
)
def test_values_are_spelled_as_iptables_save_does(option: str, printed: str, saved: str) -> None:
    """Numbers for names, names for flags, and everything else as it is."""
    assert read_value(option, printed) == saved


@pytest.mark.parametrize(
    ("option", "printed"),
    [("dport", "ourservice"), ("uid-owner", "istio-proxy"), ("tcp-flags", "0xQQ")],
)
def test_a_name_that_only_the_node_knows_is_refused(option: str, printed: str) -> None:
    """/etc/services and /etc/passwd of the node are not at hand."""
    with pytest.raises(ValueError, match=printed):
        read_value(option, printed)


def test_well_known_ports_have_numbers() -> None:
    """A number stays a number."""
    assert {read_port(name) for name in SERVICES} == {str(port) for port in SERVICES.values()}
    assert read_port("10250") == "10250"
