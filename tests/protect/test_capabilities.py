"""The capabilities of a process are told, and what one that is missing would be good for."""

from __future__ import annotations

import subprocess
import sys

import pytest

from podpath_protect.capabilities import describe_missing, held_capabilities, parse_capabilities

ASK = (
    "from podpath_protect.capabilities import held_capabilities; "
    "print(*sorted(held_capabilities()))"
)


def test_capabilities_are_read_from_the_mask() -> None:
    """Each bit of CapEff is a capability; without the line there are none."""
    assert parse_capabilities("Name:\tx\nCapEff:\t0000000000001000\n") == {"CAP_NET_ADMIN"}
    assert parse_capabilities("CapEff:\t0000000000000000\n") == frozenset()
    assert parse_capabilities("") == frozenset()


@pytest.mark.kernel("setpriv")
def test_dropped_capabilities_are_missing() -> None:
    """A process without CAP_NET_ADMIN knows that it has none, and that it has the rest."""
    done = subprocess.run(
        [
            "setpriv", "--bounding-set=-net_admin", "--inh-caps=-net_admin", sys.executable, "-c",
            ASK,
        ],
        capture_output=True, text=True, check=True,
    )  # fmt: skip

    assert (
        set(done.stdout.split()) == held_capabilities() - {"CAP_NET_ADMIN"} != held_capabilities()
    )


def test_what_is_missing_is_said_with_its_purpose() -> None:
    """A person learns what the part cannot do."""
    needed = {"CAP_NET_ADMIN": "writing net.* sysctls", "CAP_SYS_MODULE": "loading br_netfilter"}

    assert describe_missing(needed, frozenset({"CAP_NET_ADMIN"})) == (
        "CAP_SYS_MODULE is missing: loading br_netfilter",
    )
