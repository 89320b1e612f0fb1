"""Attempts of programs and probes: where they started, and which of them count."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.assembly.case import assemble_case
from podpath.evidence.records import AttemptRecord
from podpath.net import protocols
from podpath.net.failures import FailureKind
from podpath.net.probe import Sending
from podpath.net.provenance import Span
from tests.assembly.evidence_text import (
    Output,
    Read,
    address,
    by_hand,
    case_of_document,
    read_outputs,
)

ADDRESSES = Output(
    "ip addr",
    """
    1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536
        inet 127.0.0.1/8 scope host lo
    2: eth0: <BROADCAST,UP,LOWER_UP> mtu 1500
        inet 10.1.0.7/24 scope global eth0
    3: cni0: <BROADCAST,UP,LOWER_UP> mtu 1500
        inet 10.12.0.1/24 scope global cni0
    """,
)
ROUTES = Output(
    "ip route", "default via 10.1.0.1 dev eth0\n172.30.0.0/16 via 10.1.0.2 dev eth0 src 10.1.0.99"
)


def _try(
    dst: str,
    *,
    label: str | None = None,
    netns: str | None = None,
    prompt: str | None = "root@n1:~#",
    **fields: object,
) -> Read:
    def make(span: Span) -> tuple[AttemptRecord, ...]:
        record = AttemptRecord(
            span=span,
            protocol=protocols.TCP,
            dst=address(dst),
            dport=80,
            result=FailureKind.TIMEOUT,
            who="curl",
        )
        return (replace(record, **fields),)  # type: ignore[arg-type]  # the fields that a test sets

    source, reading = by_hand(
        make, command="curl" if prompt else None, label=label, first_line=40, prompt=prompt
    )
    placed = replace(source, netns=netns)
    return placed, reading._replace(
        records=tuple(replace(item, span=Span(placed, 40, 40)) for item in reading.records)
    )


def _sources(*tries: Read) -> list[str]:
    case = assemble_case([*read_outputs(ADDRESSES, ROUTES), *tries])
    return [f"{attempt.probe.src} in {attempt.probe.netns}" for attempt in case.attempts]


def test_source_on_the_host() -> None:
    """What ran on the host has the address that the host takes: of the route, of the subnet, or of
    the uplink.
    """
    assert _sources(_try("172.30.4.4")) == ["10.1.0.99 in host"]
    assert _sources(_try("10.12.0.50")) == ["10.12.0.1 in host"]
    assert _sources(_try("203.0.113.5")) == ["10.1.0.7 in host"]


def test_source_in_a_namespace() -> None:
    """What ran in a namespace has the address of that namespace."""
    listed = read_outputs(
        Output(
            "ip addr",
            (
                "3: eth0@if9: <BROADCAST,UP,LOWER_UP> mtu 1500\n"
                "    inet 10.12.0.9/24 scope global eth0"
            ),
            netns="web-0",
        ),
        name="other.md",
    )
    case = assemble_case(
        [*read_outputs(ADDRESSES, ROUTES), *listed, _try("203.0.113.5", netns="web-0")]
    )
    assert [(str(item.probe.src), item.probe.netns) for item in case.attempts] == [
        ("10.12.0.9", "web-0")
    ]


def test_log_line_of_the_only_pod() -> None:
    """A container's log line started in the one pod that the case is about."""
    event = _try("10.12.0.50", who="kubelet readiness probe", prompt=None)
    log = _try("10.96.0.1", who="container log", origin="pod", prompt=None)
    assert _sources(event, log) == ["10.12.0.1 in host", "10.12.0.50 in pod-10.12.0.50"]


@pytest.mark.parametrize(
    ("who", "starts"),
    [("Error from server: ", 0), ("level=error msg=", 1)],
    ids=["server", "somebody"],
)
def test_what_the_api_server_says_starts_in_no_pod(who: str, starts: int) -> None:
    """The only pod that a table shows has no part in its connections."""
    case = case_of_document(
        f"Logs fail.\n\n```\n{who}Get https://10.7.1.75:10250/x: dial tcp 10.7.1.75:10250: "
        "connect: no route to host\n```\n```\n$ ip route\ndefault via 10.7.2.1 dev eth0\n"
        "192.168.219.65 dev calibb2a89e60cf scope link\n```\n"
    )

    assert starts == len(case.attempts)


def test_unknown_start_is_a_gap() -> None:
    """An attempt that nobody can place is kept as a gap."""
    case = assemble_case(
        [*read_outputs(ADDRESSES, ROUTES), _try("10.96.0.1", who="log", origin="pod", prompt=None)]
    )
    assert case.attempts == ()
    assert [gap.why for gap in case.gaps] == [
        "an attempt to reach 10.96.0.1, but no output shows where it ran"
    ]


def test_good_attempts() -> None:
    """An attempt on a good host, or after the cure, says so; a failing one under a friendly label
    does not.
    """
    case = assemble_case([
        *read_outputs(ADDRESSES, ROUTES), _try("203.0.113.5"),
        _try("203.0.113.6", label="After the fix:", result="ok"),
        _try("203.0.113.7", label="Ping is fine, but:"),
        _try("203.0.113.8", label="On a good host:"),
    ])  # fmt: skip
    assert [(str(item.probe.dst), item.good) for item in case.attempts] == [
        ("203.0.113.5", False), ("203.0.113.6", True), ("203.0.113.7", False),
        ("203.0.113.8", True),
    ]  # fmt: skip


def test_namespace_known_by_what_was_tried_in_it() -> None:
    """A namespace without a listing gets the address that a capture shows for the connection tried
    in it.
    """
    capture = Output(
        "tcpdump -ni any",
        "10:00:00.1 lxc1 In  IP 10.12.9.9.4000 > 203.0.113.5.80: Flags [S], seq 1, win 9, length 0",
    )
    case = assemble_case(
        [*read_outputs(ADDRESSES, ROUTES, capture), _try("203.0.113.5", netns="cni-9")]
    )
    assert [(str(item.probe.src), item.probe.netns) for item in case.attempts] == [
        ("10.12.9.9", "cni-9")
    ]


LISTED = Output(
    "ip -br addr",
    "lo UNKNOWN 127.0.0.1/8\neth0 UP 10.1.0.7/24\neth1 UP 10.2.0.7/24\ncni0 UP 10.12.0.1/24",
)


@pytest.mark.parametrize(
    ("client", "server", "way", "device"),
    [
        ("10.12.0.9", "203.0.113.5", "", None),
        ("10.12.0.9", "10.1.0.50", "", None),
        ("10.12.0.9", "203.0.113.5", "eth0 Out ", None),
        ("10.12.0.9", "203.0.113.5", "eth0 In ", "eth0"),
        ("10.12.0.9", "10.2.0.50", "", "eth0"),
        ("10.12.0.9", "10.1.0.7", "", "eth0"),
        ("10.1.0.50", "203.0.113.5", "", "eth0"),
        ("172.30.0.9", "203.0.113.5", "", "eth0"),
    ],
)
def test_what_is_captured_on_its_way_out_did_not_come_in_there(
    client: str, server: str, way: str, device: str | None
) -> None:
    """The client is behind another device, and the server behind this one, by the network that it
    is in or by a route; what comes in, or is for the host or another device, has not left.
    """
    line = (
        f"IP {client}.4000 > {server}.80: Flags [S], seq 1, win 9, "
        "options [mss 1460,sackOK,TS val {} ecr 0], length 0"
    )
    stamps = ("10:00:00.1", "10:00:01.1", "10:00:03.1")
    lines = "\n".join(f"{stamp} {way}{line.format(stamp[6:8])}" for stamp in stamps)
    taken = Output("tcpdump -ni any" if way else "tcpdump -ni eth0", lines)
    (attempt,) = assemble_case(read_outputs(LISTED, ROUTES, taken)).attempts

    assert (device, device is None) == (attempt.probe.in_dev, attempt.passed)


def test_pod_of_a_log_is_the_one_tried_by_hand() -> None:
    """Where nothing shows the pod of a failing log, it is the one private address that was tried on
    the host.
    """
    log = _try("10.96.0.1", who="container log", origin="pod", prompt=None)
    case = assemble_case([_try("10.44.3.16"), log])
    assert [f"{item.probe.src} > {item.probe.dst}" for item in case.attempts] == [
        "192.0.2.1 > 10.44.3.16",
        "10.44.3.16 > 10.96.0.1",
    ]
    two = assemble_case([_try("10.44.3.16"), _try("10.44.3.17"), log])
    assert [str(item.probe.src) for item in two.attempts] == ["192.0.2.1", "192.0.2.1"]


def test_an_attempt_is_asked_about_as_it_was_sent() -> None:
    """What its command says of size and DF is part of the connection."""
    sent = Sending(size=1428, dont_fragment=True)
    case = assemble_case(
        [
            *read_outputs(ADDRESSES, ROUTES),
            _try("172.30.0.5", protocol=protocols.ICMP, sending=sent),
        ]
    )
    assert [attempt.probe.sending for attempt in case.attempts] == [sent]
