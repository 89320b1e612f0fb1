"""A veth that fell out of its bridge."""

from __future__ import annotations

import pytest

from podpath.checks.links.veth_without_bridge import check
from tests.assembly.evidence_text import case_of_document
from tests.checks.pasted import ticket_of

FAULT = """\
```
$ ip link
4: cni0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP
    link/ether 02:42:00:00:00:02 brd ff:ff:ff:ff:ff:ff
5: veth1111@if3: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue master cni0 state UP
    link/ether 02:42:00:00:00:03 brd ff:ff:ff:ff:ff:ff
6: veth2222@if3: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP
    link/ether 02:42:00:00:00:04 brd ff:ff:ff:ff:ff:ff
```
"""
ALMOST = """\
```
$ ip link
4: cni0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP
    link/ether 02:42:00:00:00:02 brd ff:ff:ff:ff:ff:ff
5: veth1111@if3: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue master cni0 state UP
    link/ether 02:42:00:00:00:03 brd ff:ff:ff:ff:ff:ff
6: veth2222@if3: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue master cni0 state UP
    link/ether 02:42:00:00:00:04 brd ff:ff:ff:ff:ff:ff
```
"""
HEALTHY = """\
```
$ ip link
4: cni0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP
    link/ether 02:42:00:00:00:02 brd ff:ff:ff:ff:ff:ff
5: veth1111@if3: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue master cni0 state UP
    link/ether 02:42:00:00:00:03 brd ff:ff:ff:ff:ff:ff
6: veth2222@if3: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP
    link/ether 02:42:00:00:00:04 brd ff:ff:ff:ff:ff:ff

$ ip route
10.1.1.5 dev veth2222 scope host
```
"""


def test_the_fault_is_told_with_its_line() -> None:
    """The deciding line is quoted first, and it is possible."""
    found = next(check(case_of_document(FAULT)))

    assert "veth2222" in found.evidence[0].text
    assert 0.8 == found.certainty
    assert "veth1111" in str(found.claim)


@pytest.mark.parametrize("ticket", [ALMOST, HEALTHY])
def test_what_only_looks_like_it_is_let_be(ticket: str) -> None:
    """All are ports, or one is routed."""
    assert [] == list(check(case_of_document(ticket)))


SILENT = "n1$ ip neigh show dev cni0\n10.244.1.33 dev cni0 FAILED\n"
ALONE = (
    "n1$ ip link show veth3f2a1b\n"
    "17: veth3f2a1b@if3: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1450 qdisc noqueue state UP\n"
)


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (SILENT + ALONE, [0.8]),
        (SILENT.replace("FAILED", "lladdr 02:00:00:00:01:33 REACHABLE") + ALONE, []),
        (SILENT + ALONE.replace("noqueue", "noqueue master cni0"), []),
        (SILENT.replace("cni0", "eth0") + ALONE, []),
        (ALONE, []),
    ],
    ids=["alone", "answers", "port", "card", "nothing lost"],
)
def test_one_veth_alone_is_told_beside_a_lost_neighbour(shown: str, expected: list[float]) -> None:
    """Nobody states whose end it is, so that it stays possible."""
    case = ticket_of(f"Pod api-1 does not answer.\n\n```\n{shown}```\n")
    assert expected == [one.certainty for one in check(case)]


CUT_OFF = """\
```
root@n1:~# ip -br addr
cni0             UP   10.244.1.1/24
veth1111@if2     UP
veth2222@if2     UP
root@n1:~# {command}
6: veth1111@ens3: <BROADCAST,UP,LOWER_UP> mtu 1450 master cni0 state forwarding priority 32 cost 2
```

in the pod:

```
/ # ip neigh
{address} dev eth0  used 0/0/0 probes 6 {state}
```
"""


@pytest.mark.parametrize(
    ("command", "address", "state", "certain"),
    [
        ("bridge link", "10.244.1.1", "FAILED", True),
        ("sudo bridge -c link show", "10.244.1.1", "INCOMPLETE", True),
        ("bridge link | head -1", "10.244.1.1", "FAILED", False),
        ("bridge link", "10.244.1.1", "REACHABLE", False),
        ("bridge link", "10.244.1.9", "FAILED", False),
    ],
)
def test_a_pod_that_lost_its_bridge_settles_it(
    command: str,
    address: str,
    state: str,
    certain: bool,  # noqa: FBT001  # a case
) -> None:
    """All ports are listed, one device is none, and a pod gets no answer from the bridge."""
    ticket = CUT_OFF.format(command=command, address=address, state=state)
    (found,) = check(case_of_document(ticket))

    assert certain is (found.certainty == 1)
    assert certain is any(address in span.text for span in found.evidence)
