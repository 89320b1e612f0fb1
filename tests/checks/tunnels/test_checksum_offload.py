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


BAD, GOOD = "cksum 0x1672 (incorrect -> 0xb3a5)", "cksum 0xb3a5 (correct)"
TALK = """
```
$ tcpdump -nnv -i any
01:50:01.000001 IP (tos 0x0, ttl 64, id 1, offset 0, flags [DF], proto TCP (6), length 60)
    10.1.1.2.42000 > 10.2.1.2.80: Flags [{flags}], {sum}, {numbers}, win 64240, length {length}
01:50:01.000201 IP (tos 0x0, ttl 64, id 0, offset 0, flags [DF], proto TCP (6), length 60)
    10.2.1.2.80 > 10.1.1.2.42000: Flags [{back}], {answered}, {numbers_back}, win 65160, length 0
```
"""


@pytest.mark.parametrize(
    ("sent", "back", "severity"),
    [
        (("S", "seq 100", 0), ("S.", "seq 900, ack 101"), Severity.NOTE),
        (("P.", "seq 101:601, ack 901", 500), (".", "ack 601"), Severity.NOTE),
        (("P.", "seq 101:601, ack 901", 500), (".", "ack 90601"), Severity.NOTE),
        (("P.", "seq 101:601, ack 901", 500), (".", "ack 3275317776"), Severity.RISK),
        (("P.", "seq 101:601, ack 901", 500), (".", "ack 101"), Severity.RISK),
        (("P.", "seq 101:601, ack 901", 500), ("R", "seq 901"), Severity.RISK),
        (("S", "seq 100", 0), ("R.", "seq 0, ack 101"), Severity.RISK),
        (("S", "seq 100", 0), (".", "ack 7"), Severity.RISK),
        (("S.", "seq 100, ack 900", 0), (".", "ack 1"), Severity.NOTE),
        (("S.", "seq 100, ack 900", 0), ("R", "seq 900"), Severity.RISK),
        (("S.", "seq 100, ack 900", 0), ("S", "seq 899"), Severity.RISK),
        ((".", "ack 901", 0), (".", "ack 101"), Severity.RISK),
    ],
)
def test_what_is_answered_was_accepted(
    sent: tuple[str, str, int], back: tuple[str, str], severity: Severity
) -> None:
    """A receiver that acknowledges what a packet with a wrong sum carries took it; any other answer
    says nothing of it.
    """
    flags, numbers, length = sent
    text = TALK.format(
        flags=flags, sum=BAD, numbers=numbers, length=length,
        back=back[0], answered=GOOD, numbers_back=back[1],
    )  # fmt: skip
    (finding,) = found(ticket_of(text), NAME)

    assert severity is finding.severity


def test_each_host_is_by_itself() -> None:
    """An answer with a wrong sum shows that its receiver took the packet, not that the other end
    takes the answer.
    """
    numbers = {"numbers": "seq 100", "numbers_back": "seq 900, ack 101"}
    text = TALK.format(flags="S", sum=BAD, length=0, back="S.", answered=BAD, **numbers)
    (finding,) = found(ticket_of(text), NAME)

    assert (Severity.RISK, "1 packet") == (finding.severity, str(finding.claim)[:8])
    assert "10.2.1.2" in finding.asks[0].fact


HEAD = "01:50:01.{} IP (tos 0x0, ttl 64, id 1, offset 0, flags [DF], proto UDP (17), length 61)"
ASKED = (
    "    10.1.1.2.42000 > 10.2.1.2.53: [bad udp cksum 0x1672 -> 0xb3a5!] 7+ A? example.com. (33)"
)
ANSWER = "    10.2.1.2.53 > 10.1.1.2.42000: [udp sum ok] 7 1/0/0 example.com. A 192.0.2.1 (49)"


@pytest.mark.parametrize(
    ("more", "severity"),
    [((HEAD.format("000901"), ANSWER), Severity.NOTE), ((), Severity.RISK)],
)
def test_a_datagram_that_is_answered_was_accepted(
    more: tuple[str, ...], severity: Severity
) -> None:
    """An answer between the same ports shows that the datagram was taken."""
    lines = ("```", "$ tcpdump -nnv -i any", HEAD.format("000001"), ASKED, *more, "```", "")
    (finding,) = found(ticket_of("\n".join(lines)), NAME)

    assert severity is finding.severity
