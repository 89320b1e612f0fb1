"""Which routes a repair takes away."""

from __future__ import annotations

from podpath.diagnosis.repairs_routes import delete_local_routes
from tests.diagnosis.test_repairs import cause_of, node


def test_a_route_that_takes_a_pods_address_for_the_hosts_own_is_deleted() -> None:
    """Where somebody added it; the kernel's own, and those of other addresses, stay."""
    added, own, other = (
        f"local {prefix} dev eth0 table local{proto}"
        for prefix, proto in (("10.1.0.0/16", ""), ("10.1.0.9", " proto kernel"), ("10.9.0.9", ""))
    )
    (repair,) = delete_local_routes(
        node(more=(added, own, other)), cause_of(node("FORWARD -j DROP"))
    )

    assert repair.commands[0].startswith("ip route del local 10.1.0.0/16")
