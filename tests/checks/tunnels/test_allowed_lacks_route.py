"""Routes into WireGuard's devices, held against what its peers may have."""

from __future__ import annotations

import pytest

from podpath.checks.tunnels.allowed_lacks_route import check
from tests.checks.pasted import case_of, ticket_of

KEY = "xTIBA5rboUvnH4htodjb6e697QjLERt1NAB4mZqp8Dg="
TEXT = """\
# wg show wg0
interface: wg0
  public key: HIgo9xNzJMWLKASShiTqIybxZ0U3wGLiUeJ1PKf8ykw=
  listening port: 51820

peer: {key}
  endpoint: 203.0.113.9:51820
  allowed ips: {allowed}
# ip route
default via 203.0.113.1 dev eth0
10.10.0.0/24 dev wg0 proto kernel scope link src 10.10.0.1
10.42.1.0/24 dev wg0 scope link
"""
ASKED = "# ip route get 10.50.0.9\n10.50.0.9 dev wg0 src 10.10.0.1 uid 0\n    cache\n"


def _check(allowed: str, more: str = "") -> list[tuple[float, str]]:
    found = check(case_of(TEXT.format(key=KEY, allowed=allowed) + more))
    return [(one.certainty, one.evidence[0].text.splitlines()[0]) for one in found]


def test_the_route_without_a_peer_is_quoted() -> None:
    """It is possible: an output may leave out the peer."""
    assert [(0.7, "10.42.1.0/24 dev wg0 scope link")] == _check("10.10.0.2/32")


def test_the_kernels_answer_counts_as_a_route() -> None:
    """A single address is held against the ranges, too."""
    assert [(0.7, "10.50.0.9 dev wg0 src 10.10.0.1 uid 0")] == _check("10.42.1.0/24", ASKED)


@pytest.mark.parametrize(
    "allowed", ["10.10.0.2/32, 10.42.1.0/24", "10.42.0.0/16", "10.42.1.7/32", "0.0.0.0/0"]
)
def test_what_only_looks_like_it_is_let_be(allowed: str) -> None:
    """A peer that holds the range, or a part of it; the tunnel's own network needs no peer."""
    assert [] == _check(allowed)


SAID = """\
{said}

```
# wg show wg0
interface: wg0
  public key: HIgo9xNzJMWLKASShiTqIybxZ0U3wGLiUeJ1PKf8ykw=
  listening port: 51820

peer: xTIBA5rboUvnH4htodjb6e697QjLERt1NAB4mZqp8Dg=
  endpoint: 203.0.113.9:51820
  allowed ips: {allowed}
```
"""
BEHIND = "No traffic gets to 10.5.0.0/24 behind the WireGuard peer."


@pytest.mark.parametrize(
    ("said", "allowed", "expected"),
    [
        (BEHIND, "10.9.0.2/32", [0.6]),
        (BEHIND, "10.9.0.2/32, 10.5.0.0/24", []),
        (BEHIND, "0.0.0.0/0", []),
        (BEHIND.replace("No traffic gets", "Traffic gets"), "10.9.0.2/32", []),
        (BEHIND.replace("WireGuard peer", "router"), "10.9.0.2/32", []),
    ],
    ids=["lacks", "holds", "all", "works", "router"],
)
def test_a_network_that_prose_places_behind_a_peer(
    said: str, allowed: str, expected: list[float]
) -> None:
    """It has to be in the peer's allowed IPs."""
    found = check(ticket_of(SAID.format(said=said, allowed=allowed)))

    assert expected == [one.certainty for one in found]
