"""A destination that no peer's allowed IPs hold, by the words of who sends and of the kernel."""

from __future__ import annotations

import pytest

from podpath.checks.tunnels.destination_unlisted import check
from tests.checks.pasted import ticket_of

PING = """$ ping -c1 172.26.40.9
PING 172.26.40.9 (172.26.40.9) 56(84) bytes of data.
From 10.70.0.5 icmp_seq=1 Destination Host Unreachable
ping: sendmsg: Required key not available
"""


AGAIN = PING.partition("\n")[2].replace("40.9", "40.10")
TWO = f"{PING}\n$ ping -c1 172.26.40.10\n{AGAIN}"
UNNAMED = ("the WireGuard interface", "the destination")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (PING, ("the WireGuard interface", "172.26.40.9")),
        ("[ 77.1] wireguard: wg3: No peer has allowed IPs matching 10.8.0.7", ("wg3", "10.8.0.7")),
        ("ping: sendmsg: Required key not available", UNNAMED),
        (TWO, UNNAMED),
    ],
    ids=["ping", "kernel", "nothing else", "two"],
)
def test_the_destination_is_named_where_lines_tell_it(text: str, named: tuple[str, str]) -> None:
    """The line itself tells it, or the one attempt that it answers."""
    (finding,) = check(ticket_of(f"Hosts behind the tunnel fail.\n\n```\n{text}\n```\n"))

    claim = "No peer of {} on this host has allowed IPs that include {}.".format(*named)
    assert (claim, 1.0) == (finding.claim, finding.certainty)
    assert "AllowedIPs" in finding.repairs[0].title


@pytest.mark.parametrize(
    "line",
    [
        "modprobe: ERROR: could not insert 'wireguard': Required key not available",
        "mount.nfs: Required key not available",
        "ping: sendmsg: Destination address required",
    ],
)
def test_modules_mounts_and_endpoints_lack_something_else(line: str) -> None:
    """ENOKEY of an unsigned module or a mount is no answer to a packet; EDESTADDRREQ is another."""
    assert [] == list(check(ticket_of(f"It fails.\n\n```\n{line}\n```\n")))
