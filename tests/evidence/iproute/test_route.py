"""`ip route`: every table, type and nexthop, from text and from JSON."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath.evidence import recognition
from podpath.evidence.node_records import RouteRecord
from podpath.evidence.records import HeadingRecord, Reading, Record
from podpath.net.addresses import Prefix
from podpath.net.provenance import Source
from tests.evidence.consoles import block, read, recorded, stated


def routes(reading: Reading) -> list[RouteRecord]:
    """Return the routes of a reading."""
    return [record for record in reading.records if isinstance(record, RouteRecord)]


def route_to(reading: Reading, prefix: str, table: str | None = None) -> RouteRecord:
    """Return the route to a prefix."""
    return next(
        record
        for record in routes(reading)
        if str(record.prefix) == prefix and record.table == table
    )


def unlocked(record: Record) -> Record:
    """Leave out that the MTU is locked: iproute2 6.1 prints it in text only."""
    return replace(record, mtu_locked=False) if isinstance(record, RouteRecord) else record


@pytest.mark.parametrize(
    ("text", "structured"),
    [
        ("ip-route", "ip-j-route"),
        ("ip-route", "ip-j-p-route"),
        ("ip-route", "ip-o-route"),
        ("ip-d-route-all", "ip-d-j-route-all"),
        ("ip-6-route", "ip-6-j-route"),
    ],
)
def test_text_and_json_give_the_same_records(text: str, structured: str) -> None:
    """Every field of every route comes out alike, whatever the form."""
    one, other = read(recorded(text)), read(recorded(structured))

    assert [stated(unlocked(record)) for record in one.records] == [
        stated(unlocked(record)) for record in other.records
    ]


def test_a_route_keeps_what_its_line_says() -> None:
    """Gateway, device, source address, metric and origin are typed."""
    record = route_to(read(recorded("ip-route")), "default")

    assert ("dhcp", 100, "192.168.7.5", None) == (
        record.protocol,
        record.metric,
        str(record.prefsrc),
        record.type,
    )
    assert [("eth0", "192.168.7.1")] == [(hop.link, str(hop.gateway)) for hop in record.nexthops]


def test_nexthops_on_lines_of_their_own_belong_to_the_route_above() -> None:
    """A multipath route has all its ways with their weights, and its span holds their lines."""
    record = route_to(read(recorded("ip-route")), "10.50.0.0/16")

    assert [("192.168.7.11", 3), ("192.168.7.12", 1), ("10.100.0.9", 1)] == [
        (str(hop.gateway), hop.weight) for hop in record.nexthops
    ]
    assert 4 == len(record.span.text.splitlines())


@pytest.mark.parametrize(
    ("prefix", "kind"),
    [
        ("10.60.0.0/16", "blackhole"),
        ("10.61.0.0/16", "unreachable"),
        ("10.62.0.0/16", "prohibit"),
        ("10.64.0.0/16", None),
    ],
)
def test_types_are_kept(prefix: str, kind: str | None) -> None:
    """A route that goes nowhere says how; unicast is what iproute2 leaves out."""
    assert kind == route_to(read(recorded("ip-route")), prefix).type


def test_tables_are_kept() -> None:
    """`table all` names every table but main."""
    found = read(recorded("ip-route-all"))

    assert {None, "100", "200", "local"} == {record.table for record in routes(found)}
    assert "throw" == route_to(found, "10.63.0.0/16", "100").type


def test_mtu_flags_and_tos_are_kept() -> None:
    """A locked MTU, a TOS, and the flags of a nexthop decide about packets."""
    found = read(recorded("ip-route"))

    assert (1400, True) == (
        route_to(found, "10.64.0.0/16").mtu,
        route_to(found, "10.64.0.0/16").mtu_locked,
    )
    assert (1300, False, 0x10) == (
        route_to(found, "10.65.0.0/16").mtu, route_to(found, "10.65.0.0/16").mtu_locked,
        route_to(found, "10.65.0.0/16").tos,
    )  # fmt: skip
    assert (("onlink",), ("linkdown",)) == (
        route_to(found, "10.244.2.0/24").flags,
        route_to(found, "10.70.0.0/16").nexthops[0].flags,
    )


def test_a_gateway_may_be_of_the_other_family() -> None:
    """`via inet6` leaves the route itself IPv4."""
    record = route_to(read(recorded("ip-route")), "10.68.0.0/16")

    assert (4, "fd00:7::1") == (record.prefix.family, str(record.nexthops[0].gateway))
    assert [4, 4, 6] == [
        routes(read(block(line)))[0].prefix.family
        for line in (
            "default via inet6 fe80::1 dev eth0",
            "default via 10.0.0.1 dev eth0",
            "default via fe80::1 dev eth0",
        )
    ]


def test_what_the_command_selects_holds_for_every_route() -> None:
    """`table 100` and `dev eth0` are not repeated in the lines."""
    assert {"100"} == {record.table for record in routes(read(recorded("ip-route-table-100")))}
    assert {"eth0"} == {
        hop.link
        for record in routes(read(recorded("ip-route-dev-eth0")))
        for hop in record.nexthops
    }


@pytest.mark.parametrize(
    ("line", "family"),
    [
        ("default via fd00::1 dev eth0 proto static metric 1024", 6),
        ("default via inet6 fe80::1 dev eth0", 4),
        ("default via 10.0.0.1 dev eth0", 4),
        ("default dev eth0 metric 1024 pref medium", 6),
        ("default dev eth0 scope link", 4),
    ],
)
def test_a_file_of_all_tables_holds_both_families(line: str, family: int) -> None:
    """Its name does not make an IPv6 default route one of IPv4."""
    source = Source(
        name="netns/pod/ip-route.json", lines=(line,), command="ip route show table all"
    )

    assert [family] == [record.prefix.family for record in routes(read(source))]


def test_the_family_of_a_default_route_may_come_from_the_command() -> None:
    """`ip -6 route` shows `default dev eth0` without any address."""
    assert [6] == [
        record.prefix.family
        for record in routes(read(block("default dev eth0 metric 1024", "ip -6 route")))
    ]
    assert [6] == [
        record.prefix.family
        for record in routes(read(block("default dev eth0 metric 1024 pref medium")))
    ]


def test_encapsulation_is_a_gap_beside_the_route() -> None:
    """The route is kept and marked; that it wraps its packets is not read."""
    for name in ("ip-route", "ip-j-route"):
        reading = read(recorded(name))
        assert ("encap",) == route_to(reading, "10.72.0.0/16").flags
        assert [True] == ["encapsulation" in gap.why for gap in reading.gaps]


def test_an_answer_of_route_get_is_no_route() -> None:
    """It states a decision for one packet."""
    for source in (
        recorded("ip-route-get"),
        block("10.9.9.9 via 10.0.0.1 dev eth0 src 10.0.0.5 uid 0 \n    cache"),
    ):
        assert ([], 0) == (routes(read(source)), len(read(source).gaps))


@pytest.mark.parametrize(
    "line",
    [
        "default via 10.0.0.1 dev eth0",
        "10.0.0.0/8 dev eth0 scope link",
        "blackhole 10.1.0.0/16",
        "169.254.0.0/16 dev eth1 scope link metric 1002",
        "local 10.0.0.1 dev eth0 table local proto kernel scope host src 10.0.0.1",
        "10.244.0.5 dev lxc1234 scope link",
        "fe80::/64 dev eth0 proto kernel metric 256 pref medium",
    ],
)
def test_one_line_is_enough(line: str) -> None:
    """A single route without its command is recognised."""
    assert 1 == len(routes(read(block(line))))


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("10.244.x.x/24 via 10.0.0.1 dev eth0", "elided"),
        ("10.0.0.0/8 scope link dev", "ends after 'dev'"),
        ("10.0.0.0/99 via 10.0.0.1 dev eth0", "prefix length"),
        ("10.0.0.0/8 via 10.0.0.1 dev eth0 metric lots", "a number"),
        ("fd00::/8 from fd01::/16 via fe80::1 dev eth0", "for every source"),
    ],
)
def test_what_cannot_be_read_is_a_gap(line: str, why: str) -> None:
    """A value that is elided, cut or out of range costs its route, and the reason says which."""
    reading = read(block(f"10.9.0.0/16 dev eth9 scope link\n{line}", "ip route"))

    assert ["10.9.0.0/16"] == [str(record.prefix) for record in routes(reading)]
    assert [(2, True)] == [(gap.span.line, why in gap.why) for gap in reading.gaps]


def test_a_route_that_is_cut_behind_dev_keeps_its_gateway() -> None:
    """Its device is unread: the walk does not go on as if the route had none."""
    (route,) = routes(read(block("10.0.0.0/8 via 10.0.0.1 dev", "ip route")))

    assert (str(route.nexthops[0].gateway), route.nexthops[0].link) == ("10.0.0.1", None)
    assert route.unread == "dev"


@pytest.mark.parametrize(
    ("line", "prefix", "unread"),
    [
        ("default via 10.0.0.x dev eth0", "0.0.0.0/0", "via 10.0.0.x"),
        ("10.244.1.0/24 via xx.xx.xx.xx dev eth0 onlink", "10.244.1.0/24", "via xx.xx.xx.xx"),
        ("default via fe80::x dev eth0 metric 1024", "::/0", "via fe80::x"),
    ],
)
def test_a_masked_next_hop_keeps_its_route(line: str, prefix: str, unread: str) -> None:
    """Where it leads is not known, and said to be so; that it is there counts."""
    reading = read(block(f"10.9.0.0/16 dev eth9 scope link\n{line}", "ip route"))
    masked = routes(reading)[1]

    assert (Prefix.parse(prefix), unread) == (masked.prefix, masked.unread)
    assert [(2, True)] == [(gap.span.line, "elided" in gap.why) for gap in reading.gaps]
    assert [None] == [hop.gateway for hop in masked.nexthops]


def test_an_ellipsis_says_that_routes_are_missing() -> None:
    """The routes around it are read."""
    reading = read(
        block(
            "default via 10.0.0.1 dev eth0\n...\n"
            "10.0.0.0/24 dev eth0 proto kernel scope link src 10.0.0.5"
        )
    )

    assert ([True], 2) == (
        [record.partial for record in reading.records if isinstance(record, HeadingRecord)],
        len(routes(reading)),
    )


def test_remarks_behind_a_route_are_gaps_beside_it() -> None:
    """What somebody wrote at the end of the line does not spoil the route."""
    reading = read(block("default via 10.0.0.1 dev eth0 proto static <-- wrong!"))

    assert (1, [1]) == (len(routes(reading)), [gap.span.line for gap in reading.gaps])


def test_a_nexthop_without_its_route_is_a_gap() -> None:
    """A grep that lost the line above says nothing about the destination."""
    reading = read(block("\tnexthop via 10.0.0.1 dev eth0 weight 1", "ip route | grep nexthop"))

    assert ([], 1) == (routes(reading), len(reading.gaps))


@pytest.mark.parametrize(
    "text",
    [
        "The default route goes via the gateway, see 10.0.0.1 below.",
        "default via nothing",
        "10.0.0.1 is the gateway",
        "10.0.0.1 dev eth0 lladdr 0a:00:00:00:00:01 REACHABLE",
        "local traffic stays on the node",
    ],
)
def test_prose_and_neighbours_are_no_routes(text: str) -> None:
    """Words that routes share with sentences do not make a route."""
    found = recognition.recognise(block(text))

    assert found is None or found.name != "ip route"


@given(
    st.sampled_from(["", "blackhole ", "local ", "unicast "]),
    st.integers(0, 2**32 - 1),
    st.integers(0, 32),
    st.integers(0, 2**32 - 1),
    st.text("abcdefghij0123456789.-", min_size=1, max_size=15).filter(
        lambda name: name not in {".", ".."}
    ),
)
def test_routes_of_any_numbers_come_back(
    kind: str, value: int, length: int, metric: int, link: str
) -> None:
    """What is printed of a route is what is read of it."""
    network = value >> (32 - length) << (32 - length)
    text = ".".join(str(network >> shift & 255) for shift in (24, 16, 8, 0))
    line = f"{kind}{text}/{length} dev {link} scope link metric {metric} "

    reading = read(Source(name="x", lines=(line,), command="ip route"))

    assert [(4, network, length)] == [tuple(record.prefix) for record in routes(reading)]
    assert [(metric, link, "link")] == [
        (record.metric, record.nexthops[0].link, record.scope) for record in routes(reading)
    ]
