"""Wrong checksums at the receiver."""

from __future__ import annotations

from podpath.capture.connections import Traffic
from podpath.checks.finding import Severity
from podpath.checks.links.checksum_received import look
from podpath.checks.tunnels import checksum_offload
from podpath.node.case import Sighting
from tests.checks.pasted import case_of

NO_TRAFFIC: Traffic[Sighting] = Traffic(flows=(), connections=())

IN = """
$ tcpdump -vvni any tcp
12:00:00.000001 eth0  {way}  IP (tos 0x0, ttl 64, id 1, offset 0, flags [DF], proto TCP (6), length 60)
    10.0.0.1.40000 > 10.0.0.2.80: Flags [S], cksum 0x1234 (incorrect -> 0x4321), seq 1, win 64240, length 0
"""  # noqa: E501
DHCP = """
$ tcpdump -vvni eth0 udp
12:00:00.000001 IP (tos 0x0, ttl 64, id 1, offset 0, flags [DF], proto UDP (17), length 328)
    10.0.0.1.67 > 10.0.0.9.68: [bad udp cksum 0x1234 -> 0x4321!] BOOTP/DHCP, Reply, length 300
"""


def test_what_comes_in_is_damaged() -> None:
    """Nobody answers it."""
    (finding,) = look(case_of(IN.format(way="In")), NO_TRAFFIC)

    assert (finding.severity, finding.certainty) == ("fault", 1.0)
    assert not list(checksum_offload.look(case_of(IN.format(way="In")), NO_TRAFFIC))


def test_what_leaves_is_sound() -> None:
    """The card finishes it."""
    case = case_of(IN.format(way="Out"))

    assert not list(look(case, NO_TRAFFIC))
    assert [one.severity for one in checksum_offload.look(case, NO_TRAFFIC)] == ["note"]


def test_where_nothing_tells_the_side_it_is_asked() -> None:
    """Neither harmless nor a fault."""
    case = case_of(IN.format(way="").replace("eth0    ", ""))

    assert not list(look(case, NO_TRAFFIC))
    (finding,) = checksum_offload.look(case, NO_TRAFFIC)
    assert finding.severity == Severity.RISK
    assert finding.asks


def test_dhcp_is_read_from_raw_sockets() -> None:
    """Whichever side it is."""
    (finding,) = look(case_of(DHCP), NO_TRAFFIC)

    assert "DHCP" in str(finding.claim)
    assert finding.certainty == 0.8
