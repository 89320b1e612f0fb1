"""Which table, flavour and hook comes first."""

from __future__ import annotations

import pytest

from podpath.datapath.netfilter.order import HOOK_ENTRIES
from podpath.datapath.tracing.exploration import Choices
from tests.datapath.given import given_rules, tcp
from tests.kernel.agreement import Both

KERNEL = pytest.mark.kernel("iptables-nft-restore", "iptables-legacy-restore", "conntrack")
TABLES = ("raw", "mangle", "nat", "filter", "security")


def _last(table: str, flavour: str) -> Choices:
    return Choices(
        (), {f"which flavour of iptables table {table} was registered last in netns host": flavour}
    )


def _agree(both: Both) -> None:
    kernel, model = both.pass_through("cni0", tcp())
    assert kernel == model
    kernel_counts, model_counts = both.counters()
    assert kernel_counts == model_counts


@KERNEL
@pytest.mark.parametrize("hook", ["PREROUTING", "FORWARD", "POSTROUTING"])
def test_tables_come_in_the_order_of_their_priorities(hook: str) -> None:
    """Each table adds a digit to the mark, and the next one sees the digits before it."""
    tables = [
        entry.name
        for entry in sorted(HOOK_ENTRIES, key=lambda entry: entry.priority)
        if entry.hook == hook
    ]
    present = list(dict.fromkeys(name for name in tables if name in TABLES))
    texts = [
        given_rules(
            *(f"{hook} -m mark --mark {seen:#x}/0xff" for seen in range(6)),
            f"{hook} -m mark --mark {number:#x}/0xff -j MARK --set-mark {number + 1:#x}",
            *(() if name != "nat" else ("POSTROUTING -s 203.0.113.1/32 -j MASQUERADE",)),
            table=name,
        )
        for number, name in enumerate(present)
    ]
    with Both(*texts) as both:
        _agree(both)

        reached = {
            (table, position) for (_, table, chain, position) in both.counters()[0] if chain == hook
        }
        assert {(name, 7) for name in present} <= reached


@KERNEL
@pytest.mark.parametrize("last", ["nft", "legacy"])
@pytest.mark.parametrize("table", ["raw", "mangle", "filter"])
def test_of_equal_priority_the_last_registered_runs_first(table: str, last: str) -> None:
    """The mark that the first flavour sets is the one that the second flavour sees."""
    hook = "PREROUTING" if table == "raw" else "FORWARD"
    nft = given_rules(
        f"{hook} -m mark --mark 0x0 -j MARK --set-mark 0x1",
        f"{hook} -m mark --mark 0x2",
        table=table,
    )
    legacy = given_rules(
        f"{hook} -m mark --mark 0x0 -j MARK --set-mark 0x2",
        f"{hook} -m mark --mark 0x1",
        table=table,
    )
    with Both(nft, legacy=legacy, legacy_first=last == "nft", choices=_last(table, last)) as both:
        _agree(both)


@KERNEL
@pytest.mark.parametrize("last", ["nft", "legacy"])
def test_the_security_tables_have_two_priorities(last: str) -> None:
    """Legacy security runs before that of iptables-nft, whichever was registered last."""
    nft = given_rules("FORWARD -m mark --mark 0x0", "FORWARD -m mark --mark 0x2", table="security")
    legacy = given_rules("FORWARD -m mark --mark 0x0 -j MARK --set-mark 0x2", table="security")
    with Both(nft, legacy=legacy, legacy_first=last == "nft") as both:
        _agree(both)


@KERNEL
@pytest.mark.parametrize("last", ["nft", "legacy"])
def test_a_drop_of_either_flavour_is_final(last: str) -> None:
    """ACCEPT ends one flavour's table only; DROP ends the packet."""
    accept, drop = given_rules("FORWARD -p tcp -j ACCEPT"), given_rules("FORWARD -p tcp -j DROP")
    for nft, legacy in ((accept, drop), (drop, accept)):
        with Both(
            nft, legacy=legacy, legacy_first=last == "nft", choices=_last("filter", last)
        ) as both:
            _agree(both)


@KERNEL
def test_accept_ends_its_own_table_only() -> None:
    """A packet that mangle accepts is dropped by filter."""
    with Both(
        given_rules("FORWARD -j ACCEPT", table="mangle"), given_rules("FORWARD -p tcp -j DROP")
    ) as both:
        _agree(both)
