"""Requests on one device and their answers on another."""

from __future__ import annotations

import pytest

from podpath.checks.captures.answer_on_other_device import check
from tests.checks.pasted import case_of, ticket_of

ASKED = "10:02:1{second}.1 IP 10.20.4.7.51022 > 192.168.50.10.443: Flags [S], seq 291, length 0"
ANSWER = "10:02:1{second}.2 IP 192.168.50.10.443 > 10.20.4.7.51022: Flags [S.], seq 11, ack 292"
DATA = "10:02:13.1 IP 10.20.4.7.51022 > 192.168.50.10.443: Flags [P.], seq 1:9, ack 1, length 8"
LISTEN = "listening on {link}, link-type EN10MB (Ethernet), snapshot length 262144 bytes"


def _capture(link: str, *lines: str) -> str:
    return "\n".join((f"# tcpdump -ni {link} tcp port 443", LISTEN.format(link=link), *lines, ""))


def _repeated(line: str) -> tuple[str, str]:
    return line.format(second=1), line.format(second=2)


FAULT = _capture("ens192", *_repeated(ASKED)) + _capture("ens224", *_repeated(ANSWER))


def test_the_answer_is_quoted_first() -> None:
    """It is possible: another router may forward both directions."""
    (found,) = check(case_of(FAULT))

    assert "192.168.50.10.443 > 10.20.4.7" in found.evidence[0].text
    assert (0.7, True) == (found.certainty, "dev ens224" in found.asks[0].decides)


def test_directions_of_one_capture_tell_it_too() -> None:
    """A capture of all devices says on which of them each frame came in or left: certain."""
    lines = [
        "08:11:0{second}.1 eth1  In  IP 172.31.9.20.40112 > 172.31.44.8.22: Flags [S], seq 100",
        "08:11:0{second}.2 eth0  Out IP 172.31.44.8.22 > 172.31.9.20.40112: Flags [S.], seq 5",
    ]
    shown = [line.format(second=second) for second in (1, 2) for line in lines]
    (found,) = check(case_of("\n".join(("# tcpdump -ni any port 22", *shown))))

    assert (1.0, ("eth0", "172.31.9.20", "172.31.44.8")) == (found.certainty, found.marks)


@pytest.mark.parametrize(
    "text",
    [
        _capture("ens192", *_repeated(ASKED), DATA) + _capture("ens224", *_repeated(ANSWER)),
        _capture("ens192", ASKED.format(second=1)) + _capture("ens224", *_repeated(ANSWER)),
        _capture("ens192", *_repeated(ASKED), *_repeated(ANSWER))
        + _capture("ens224", *_repeated(ANSWER)),
        _capture("bond0", *_repeated(ASKED)) + _capture("bond0.50", *_repeated(ANSWER)),
        "# ip link show ens224\n3: ens224: <UP,LOWER_UP> mtu 1500 master br9 state UP\n"
        + _capture("br9", *_repeated(ASKED))
        + _capture("ens224", *_repeated(ANSWER)),
        _capture("ens192", *_repeated(ASKED)),
    ],
    ids=["works", "once", "both", "vlan", "port", "no-answer"],
)
def test_what_only_looks_like_it_is_let_be(text: str) -> None:
    """A connection that goes on, devices that are stacked, an answer on the same device, too."""
    assert [] == list(check(case_of(text)))


FORWARDED = """\
{said}

```
# tcpdump -ni any icmp
18:43:31.1 docker0 In  IP 172.18.0.2 > 1.1.1.1: ICMP echo request, id 20, seq 1, length 64
18:43:31.2 {out} Out IP 100.64.0.1 > 1.1.1.1: ICMP echo request, id 20, seq 1, length 64
18:43:31.3 {out} In  IP 1.1.1.1 > 100.64.0.1: ICMP echo reply, id 20, seq 1, length 64
18:43:31.4 {back} Out IP 1.1.1.1 > 172.18.0.2: ICMP echo reply, id 20, seq 1, length 64
```
"""
NO_ECHO = "Containers get no answer from the Internet."


def test_an_answer_to_a_container_leaves_by_another_device() -> None:
    """Certain: what is behind a bridge gets what leaves by the bridge."""
    text = FORWARDED.format(said=NO_ECHO, out="tailscale0", back="tailscale0")
    (found,) = check(ticket_of(text))

    assert (1.0, "tailscale0") == (found.certainty, found.marks[0])
    assert "Out IP 1.1.1.1 > 172.18.0.2" in found.evidence[0].text


@pytest.mark.parametrize(
    ("said", "back"),
    [
        (NO_ECHO, "docker0"),
        (NO_ECHO, "veth12ab"),
        ("Containers get their answers from the Internet.", "tailscale0"),
    ],
    ids=["bridge", "port", "works"],
)
def test_an_answer_by_the_bridge_or_its_port_arrives(said: str, back: str) -> None:
    """A capture may show it on the port alone."""
    text = FORWARDED.format(said=said, out="eth0", back=back)

    assert [] == list(check(ticket_of(text)))


def test_an_unknown_device_may_be_a_port_of_the_bridge() -> None:
    """A capture that lacks a line shows the port alone: it is possible, with the question."""
    text = FORWARDED.format(said=NO_ECHO, out="eth0", back="web1-net")
    (found,) = check(ticket_of(text))

    assert 0.7 == found.certainty
    assert "web1-net" in found.asks[0].command
