"""Connections that captures show to fail: what the client got to feel."""

from __future__ import annotations

import pytest

from podpath.node.case import Case
from tests.assembly.evidence_text import Output, case_of

C, S, OTHER = "10.9.1.4.40100", "10.96.7.7.80", "10.9.1.9.8080"
SYN = "Flags [S], seq 100, win 64240, length 0"
SYN_ACK = "Flags [S.], seq 900, ack 101, win 64240, length 0"
ACK = "Flags [.], ack 1, win 64240, length 0"
DATA = "Flags [P.], seq 1:79, ack 1, win 64240, length 78"
REPLY = "Flags [P.], seq 1:301, ack 79, win 64240, length 300"
RST = "Flags [R], seq 101, win 0, length 0"


def _case(*lines: str, command: str = "tcpdump -ni eth0") -> Case:
    return case_of(Output(command, "\n".join(lines), netns="web-0"))


def _results(case: Case) -> list[str]:
    return [
        f"{attempt.probe.src} > {attempt.probe.dst}:{attempt.probe.dport} {attempt.result}"
        for attempt in case.attempts
    ]


FAILING = {
    "SYN again and again": (
        [f"10:00:0{n}.0 IP {C} > {S}: {SYN}" for n in (0, 1, 3)], "10.9.1.4 > 10.96.7.7:80 timeout",
    ),
    "SYN again after the SYN-ACK": (
        [
            f"10:00:00.0 IP {C} > {S}: {SYN}", f"10:00:00.1 IP {S} > {C}: {SYN_ACK}",
            f"10:00:01.0 IP {C} > {S}: {SYN}", f"10:00:01.1 IP {S} > {C}: {SYN_ACK}",
        ],
        "10.9.1.4 > 10.96.7.7:80 timeout",
    ),
    "SYN-ACK again": (
        [
            f"10:00:00.0 IP {C} > {S}: {SYN}", f"10:00:00.1 IP {S} > {C}: {SYN_ACK}",
            f"10:00:00.2 IP {C} > {S}: {ACK}", f"10:00:01.1 IP {S} > {C}: {SYN_ACK}",
            f"10:00:01.2 IP {C} > {S}: {ACK}",
        ],
        "10.9.1.4 > 10.96.7.7:80 timeout",
    ),
    "data again and again": (
        [
            f"10:00:00.0 IP {C} > {S}: {SYN}", f"10:00:00.1 IP {S} > {C}: {SYN_ACK}",
            f"10:00:00.2 IP {C} > {S}: {ACK}",
            *(f"10:00:0{n}.3 IP {C} > {S}: {DATA}" for n in (0, 1, 3)),
        ],
        "10.9.1.4 > 10.96.7.7:80 timeout",
    ),
    "reset as the answer to the SYN": (
        [f"10:00:00.0 IP {C} > {S}: {SYN}", (
         f"10:00:00.1 IP {S} > {C}: Flags [R.], seq 0, ack 101, "
                                            "win 0, length 0")],
        "10.9.1.4 > 10.96.7.7:80 refused",
    ),
    "SYN-ACK from a stranger": (
        [
            f"10:00:00.0 IP {C} > {S}: {SYN}", f"10:00:00.1 IP {OTHER} > {C}: {SYN_ACK}",
            f"10:00:00.2 IP {C} > {OTHER}: {RST}",
        ],
        "10.9.1.4 > 10.96.7.7:80 reset",
    ),
    "SYN-ACK from a stranger, on the bridge that sees the translated SYN too": (
        [
            f"10:00:00.000 IP {C} > {S}: {SYN}", f"10:00:00.001 IP {C} > {OTHER}: {SYN}",
            f"10:00:00.002 IP {OTHER} > {C}: {SYN_ACK}", f"10:00:00.003 IP {C} > {OTHER}: {RST}",
        ],
        "10.9.1.4 > 10.96.7.7:80 reset",
    ),
    "data both ways": (
        [
            f"10:00:00.0 IP {C} > {S}: {SYN}", f"10:00:00.1 IP {S} > {C}: {SYN_ACK}",
            f"10:00:00.2 IP {C} > {S}: {ACK}", f"10:00:00.3 IP {C} > {S}: {DATA}",
            f"10:00:00.4 IP {S} > {C}: {REPLY}",
        ],
        "10.9.1.4 > 10.96.7.7:80 ok",
    ),
    "a question without an answer": (
        [f"10:00:0{n}.0 IP 10.9.1.4.5000 > 10.96.0.10.53: 77+ A? shop.example. (30)" for n in (0, 5)],  # noqa: E501
        "10.9.1.4 > 10.96.0.10:53 timeout",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAILING)
def test_one_connection(name: str) -> None:
    """Each way in which a handshake or its data fails is one attempt with what the client's program
    says.
    """
    lines, expected = FAILING[name]
    assert _results(_case(*lines)) == [expected]


QUIET = {
    "the capture ends after one SYN": [f"10:00:00.0 IP {C} > {S}: {SYN}"],
    "a packet that passes a bridge twice": [f"10:00:00.000{n} IP {C} > {S}: {SYN}" for n in (1, 4)],
    "an established connection": [
        f"10:00:00.0 IP {C} > {S}: {DATA}",
        f"10:00:00.1 IP {S} > {C}: {REPLY}",
    ],
    "a tunnel": [f"10:00:0{n}.0 IP 10.1.0.4.5000 > 10.1.0.9.8472: UDP, length 60" for n in (0, 5)],
}


@pytest.mark.parametrize("name", QUIET)
def test_no_failure(name: str) -> None:
    """What a capture does not show to fail is no attempt."""
    assert _results(_case(*QUIET[name])) == []


INSIDE = [
    (
        "10:00:00.000 qv7 In  IP 10.9.1.4.40100 > 203.0.113.9.443: Flags [S], seq 100, win 64240, "
        "length 0"
    ),
    (
        "10:00:00.001 eno1 Out IP 10.1.0.3.40100 > 203.0.113.9.443: Flags [S], seq 100, win 64240, "
        "length 0"
    ),
    (
        "10:00:00.010 eno1 In  IP 203.0.113.9.443 > 10.1.0.3.40100: Flags [S.], seq 900, ack 101, "
        "win 64240, length 0"
    ),
    (
        "10:00:00.011 qv7 In  IP 10.9.1.4.40100 > 203.0.113.9.443: Flags [.], ack 901, win 64240, "
        "length 0"
    ),
    (
        "10:00:00.012 qv7 In  IP 10.9.1.4.40100 > 203.0.113.9.443: Flags [P.], seq 0:78, ack 1, "
        "win 64240, length 78"
    ),
]


def test_lost_inside_the_host() -> None:
    """Packets that come in behind a SYN that left, and do not leave, are lost in between."""
    case = case_of(Output("tcpdump -ni any", "\n".join(INSIDE)))
    assert _results(case) == ["10.9.1.4 > 203.0.113.9:443 timeout"]
    assert case.attempts[0].probe.netns == "pod-10.9.1.4"
    assert "nothing that comes in on qv7 leaves by eno1" in case.attempts[0].who


def test_not_lost_where_it_leaves() -> None:
    """The same packets, seen to leave, are no failure."""
    passed = [
        (
            "10:00:00.013 eno1 Out IP 10.1.0.3.40100 > 203.0.113.9.443: Flags [.], ack 1, win "
            "64240, length 0"
        ),
        (
            "10:00:00.014 eno1 Out IP 10.1.0.3.40100 > 203.0.113.9.443: Flags [P.], seq 1:79, ack "
            "1, win 64240, length 78"
        ),
    ]
    assert _results(case_of(Output("tcpdump -ni any", "\n".join([*INSIDE, *passed])))) == []


def test_nearest_to_the_client() -> None:
    """Of a connection that fails in two captures the one taken in the client's own namespace
    counts.
    """
    inside = [
        line.replace("qv7 In", "eth0 Out").replace("40100", "40200")
        for line in (INSIDE[0], INSIDE[0].replace(".000", ".999"))
    ]
    case = case_of(
        Output("tcpdump -ni any", "\n".join(INSIDE)),
        Output("tcpdump -ni any", "\n".join(inside), netns="pid 77"),
    )
    assert [(str(item.probe.sport), item.probe.netns) for item in case.attempts] == [
        ("40200", "pid 77")
    ]
