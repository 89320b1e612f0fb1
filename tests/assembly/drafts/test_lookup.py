"""Addresses and routes under construction, by what is looked up in them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from podpath.assembly.drafts.draft import NodeDraft
from podpath.assembly.drafts.lookup import NamespaceAddresses, NamespaceRoutes, Owners, PrefixTable
from podpath.net.addresses import WIDTH, Address, IfName, Prefix
from podpath.node.links import InterfaceAddress
from podpath.node.routing import MAIN, Nexthop, Route

ADDRESSES = st.one_of(
    st.integers(0, 40).map(lambda value: Address(4, value)),
    st.integers(0, 40).map(lambda value: Address(6, value)),
)


@st.composite
def owned(draw: st.DrawFn) -> InterfaceAddress:
    """Draw an address of a few that are near to each other."""
    address = draw(ADDRESSES)
    width = WIDTH[address.family]
    return InterfaceAddress(
        link=IfName(draw(st.sampled_from("ab"))),
        address=address,
        length=draw(st.integers(width - 6, width)),
    )


@st.composite
def led(draw: st.DrawFn) -> Route:
    """Draw a route of a few that are near to each other."""
    address = draw(ADDRESSES)
    hops = draw(st.sampled_from([(), (Nexthop(link=IfName("a")),)]))
    prefix = Prefix.of(address, draw(st.integers(WIDTH[address.family] - 6, WIDTH[address.family])))
    return Route(
        prefix=prefix,
        nexthops=hops,
        table=draw(st.sampled_from([MAIN, 7])),
        metric=draw(st.integers(0, 3)),
    )


@given(st.lists(owned(), max_size=12), ADDRESSES)
def test_addresses_are_found_as_by_going_through_them(
    owns: list[InterfaceAddress], asked: Address
) -> None:
    """The closest subnet wins, and of equal ones the first."""
    table = NamespaceAddresses(owns)
    holders = [own for own in owns if own.prefix.covers(asked) and own.length < WIDTH[asked.family]]
    assert max(holders, key=lambda own: own.length, default=None) is table.subnets.longest(asked)
    assert any(own.address == asked for own in owns) == (asked in table.own)
    assert owns == table


@given(st.lists(led(), max_size=12), ADDRESSES)
def test_routes_are_found_as_by_going_through_them(routes: list[Route], asked: Address) -> None:
    """The longest prefix of the main table wins, then the lowest metric, then the first."""
    fitting = [
        route
        for route in routes
        if route.prefix.covers(asked) and route.table == MAIN and route.nexthops
    ]
    expected = min(fitting, key=lambda route: (-route.prefix.length, route.metric), default=None)
    assert expected is NamespaceRoutes(routes).main.longest(asked)


def test_the_first_namespace_owns_an_address() -> None:
    """So it does whichever was told of it first; a draft asks for all of its namespaces."""
    owners, asked = Owners(), Address(4, 5)
    owners.enter("a")
    owners.enter("b")
    owners.claim(asked, "b")
    owners.claim(asked, "a")
    assert (owners.owner(asked), owners.owner(Address(4, 6))) == ("a", None)
    draft = NodeDraft()
    draft.netns("pod").addresses.append(
        InterfaceAddress(link=IfName("eth0"), address=asked, length=32)
    )
    assert draft.owner(asked) is draft.namespaces["pod"]


class _Counted(dict[Prefix, str]):
    looks = 0

    def get(self, key: Prefix, default: str | None = None) -> str | None:  # type: ignore[override]  # counts
        self.looks += 1
        return super().get(key, default)


def test_looking_does_not_go_through_all() -> None:
    """Of 10,000 prefixes as many are looked at as there are lengths."""
    table: PrefixTable[str] = PrefixTable()
    for value in range(10_000):
        table.put(Prefix.of(Address(4, value << 8), 24), str(value))
    table.put(Prefix(4, 0, 0), "default")
    counted = _Counted(table._things)  # what is counted
    table._things = counted  # as above
    assert ("9999", "default") == (
        table.longest(Address(4, 9999 << 8 | 7)),
        table.longest(Address(4, 1 << 31)),
    )
    assert 3 == counted.looks
