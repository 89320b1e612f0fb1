"""Ranges of pods to which only the default route leads."""

from __future__ import annotations

import pytest

from podpath.checks.routing.range_by_default import check
from tests.checks.pasted import ticket_of

TICKET = """\
{said}

```
root@b:~# ip route
default via 10.0.0.1 dev eth0
10.0.0.0/24 dev eth0 proto kernel scope link src 10.0.0.8
10.244.2.0/24 dev {bridge} proto kernel scope link src 10.244.2.1
{more}root@b:~# uptime
 10:00:00 up 3 days,  1:02,  1 user,  load average: 0.1, 0.1, 0.1
```
"""
FAILS = "Pods of node b do not reach pods of node a (10.244.1.0/24)."
FLANNEL = f"flannel. {FAILS}"


@pytest.mark.parametrize(("said", "expected"), [(FLANNEL, 0.8), (FAILS, 0.5)])
def test_the_routes_that_are_there_are_quoted(said: str, expected: float) -> None:
    """Likely where a plugin adds such routes to nodes; a cloud may keep them itself."""
    (found,) = check(ticket_of(TICKET.format(said=said, bridge="cni0", more="")))

    assert ["10.244.2.0/24", "default"] == [span.text.split()[0] for span in found.evidence]
    assert (expected, ("10.244.1.0/24",)) == (found.certainty, found.marks)


@pytest.mark.parametrize(
    ("said", "bridge", "more"),
    [
        (FLANNEL, "cni0", "10.244.1.0/24 via 10.0.0.7 dev eth0\n"),
        (FLANNEL, "cni0", "10.244.0.0/16 dev flannel.1\n"),
        (FLANNEL, "eth1", ""),
        (FLANNEL.replace("10.244.1.0/24", "172.16.9.0/24"), "cni0", ""),
        (FLANNEL.replace("10.244.1.0/24", "10.244.2.0/24"), "cni0", ""),
        (FLANNEL.replace("do not reach", "reach"), "cni0", ""),
        ("flannel. Node b does not reach the printer (10.244.1.9).", "cni0", ""),
    ],
    ids=["routed", "whole", "card", "outside", "own", "works", "no-pod"],
)
def test_what_only_looks_like_it_is_let_be(said: str, bridge: str, more: str) -> None:
    """A route, a range that is none of the cluster's, and what is no pod's."""
    assert [] == list(check(ticket_of(TICKET.format(said=said, bridge=bridge, more=more))))
