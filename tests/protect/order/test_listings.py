"""Tests of `protect.order.listings` on the real kernel: what could not be listed is told from what
is not there.
"""

from __future__ import annotations

import fcntl
from pathlib import Path

import pytest

from podpath.collect.netns import inside as inside_of
from podpath_protect.apply import Applier
from podpath_protect.order import listings
from podpath_protect.order.guard import OrderGuard
from podpath_protect.order.listings import list_chains
from podpath_protect.order.rules import OrderRule
from tests.protect.repair.netns import inside, pod_namespace

RULES = (
    OrderRule(
        name="first", table="filter", chain="FORWARD", first="FIRST", then=("SECOND",)
    ),
)  # fmt: skip


@pytest.mark.kernel("iptables-nft", "iptables-legacy")
def test_a_lock_that_cannot_be_had_is_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While somebody holds the lock of legacy iptables, whose chain is there, its order is unknown:
    the guard does not hold, although every other chain is in order.
    """
    monkeypatch.setattr(listings, "WAIT", ("-w", "1"))
    monkeypatch.setenv("XTABLES_LOCKFILE", str(tmp_path / "lock"))  # nobody else's
    with pod_namespace() as name, inside_of(f"/run/netns/{name}"):
        inside(name, "iptables-legacy", "-A", "FORWARD", "-j", "ACCEPT")
        inside(name, "iptables-nft", "-A", "FORWARD", "-j", "ACCEPT")
        guard = OrderGuard(RULES, Applier(), mend=False)
        free = list_chains(RULES, Applier()), guard.look(1.0)
        with (tmp_path / "lock").open("a") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            busy = list_chains(RULES, Applier()), guard.look(2.0)

    assert ((), True) == (free[0].unknown, free[1].holds)
    assert (1, False) == (len(busy[0].unknown), busy[1].holds)
    assert ["jump-order-unknown"] == [finding.check for finding in busy[1].findings]
