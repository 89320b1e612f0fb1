"""Wrong checksums of a tunnel's outer packets, by where people say that they were seen."""

from __future__ import annotations

import pytest

from podpath.checks.finding import Severity
from podpath.checks.tunnels.checksum_offload import NAME
from tests.checks.made_captures import found
from tests.checks.pasted import ticket_of

TICKET = """
{said}

```
06:29:06:4b:55:9a > 06:47:af:1e:bf:ca, ethertype IPv4 (0x0800), length 143: (tos 0x0, ttl 64, \
id 16380, offset 0, flags [none], proto UDP (17), length 129)
    192.0.2.14.7103 > 192.0.2.10.{port}: {sum} VXLAN, flags [I] (0x08), vni 4096
```
"""
WRONG = "[bad udp cksum 0xbd67 -> 0x4e7f!]"


@pytest.mark.parametrize(
    ("said", "certainty"),
    [
        ("Requests to pods time out. This arrives at the other node:", 0.8),
        ("Requests time out. The packet comes in at the second node like this:", 0.8),
        ("Pods of another node cannot be reached. On the receiving side tcpdump prints:", 1.0),
        (
            (
                "With the pod on a different host the request hangs. On the receiver it looks "
                "like this:"
            ),
            1.0,
        ),
        (
            "Traffic between two nodes is lost, but on the same node it works. At the far end:",
            1.0,
        ),
    ],
)
def test_at_the_receiver_it_is_likely_the_cause(said: str, certainty: float) -> None:
    """The packet and the sentence are quoted; it is certain where what is lost goes between
    nodes.
    """
    case = ticket_of(TICKET.format(said=said, port=4789, sum=WRONG))
    (finding,) = found(case, NAME)

    assert (Severity.FAULT, certainty) == (finding.severity, finding.certainty)


@pytest.mark.parametrize(
    ("said", "port", "checksum"),
    [
        ("Requests to pods time out.", 4789, WRONG),
        ("All is well. This arrives at the other node:", 4789, WRONG),
        ("Requests to pods time out. This arrives at the other node:", 4789, "[udp sum ok]"),
    ],
)
def test_elsewhere_it_is_a_risk_at_most(said: str, port: int, checksum: str) -> None:
    """A sender's capture shows the packet before the card finishes it."""
    case = ticket_of(TICKET.format(said=said, port=port, sum=checksum))

    assert all(one.severity is not Severity.FAULT for one in found(case, NAME))
