"""`route -n`, `netstat -rn` and `route -6 -n`."""

from __future__ import annotations

import pytest

from podpath.evidence.node_records import RouteRecord
from podpath.evidence.records import HeadingRecord, Reading
from tests.evidence.consoles import block, read, recorded


def routes(reading: Reading) -> dict[str, RouteRecord]:
    """Return the routes of a reading by prefix."""
    return {
        str(record.prefix): record for record in reading.records if isinstance(record, RouteRecord)
    }


@pytest.mark.parametrize("name", ["route-n", "route", "netstat-rn"])
def test_the_table_agrees_with_ip_route(name: str) -> None:
    """Of every route that has one way, prefix, gateway and device are those of `ip route`."""
    whole = routes(read(recorded("ip-route")))
    table = routes(read(recorded(name)))

    assert set(whole) - {"10.68.0.0/16"} == set(table)
    for prefix, record in table.items():
        if len(whole[prefix].nexthops) == 1:
            assert [hop[:2] for hop in whole[prefix].nexthops] == [
                hop[:2] for hop in record.nexthops
            ]


def test_metrics_are_read_where_the_table_has_them() -> None:
    """`netstat -rn` has MSS in their place; net-tools print a large metric as negative."""
    assert (100, 4278198272) == (
        routes(read(recorded("route-n")))["default"].metric,
        routes(read(recorded("route-n")))["10.61.0.0/16"].metric,
    )
    assert {None} == {record.metric for record in routes(read(recorded("netstat-rn"))).values()}


def test_routes_that_go_nowhere_are_typed() -> None:
    """`!` refuses; a route without a device swallows or is passed over, which is said in a gap."""
    reading = read(recorded("route-n"))
    found = routes(reading)

    assert ("unreachable", "unreachable", "blackhole") == tuple(
        found[f"10.{number}.0.0/16"].type for number in (61, 62, 60)
    )
    assert [True, False] == ["blackhole or a throw" in gap.why for gap in reading.gaps]


def test_a_gateway_of_the_other_family_is_a_gap() -> None:
    """The table prints 0.0.0.0 for it, which would make the route look like a connected one."""
    reading = read(recorded("route-n"))

    assert "10.68.0.0/16" not in routes(reading)
    assert [True] == ["10.68.0.0" in gap.span.text for gap in reading.gaps if "gateway" in gap.why]


def test_rows_without_their_heading_are_read() -> None:
    """An article quotes only the rows that matter."""
    reading = read(
        block("""
169.254.0.0     0.0.0.0         255.255.0.0     U     1002   0        0 eth1
169.254.0.0     0.0.0.0         255.255.0.0     U     1007   0        0 mgnt
""")
    )

    assert [(1002, "eth1"), (1007, "mgnt")] == [
        (record.metric, record.nexthops[0].link)
        for record in reading.records
        if isinstance(record, RouteRecord)
    ]


def test_an_ellipsis_after_the_heading_says_that_rows_are_missing() -> None:
    """The rows that are there are read."""
    reading = read(
        block("""
Kernel IP routing table
Destination     Gateway         Genmask         Flags Metric Ref    Use Iface
...
10.0.0.0        10.1.0.1        255.0.0.0       UG    0      0        0 eth1
""")
    )

    assert ([False, False, True], ["10.0.0.0/8"]) == (
        [record.partial for record in reading.records if isinstance(record, HeadingRecord)],
        list(routes(reading)),
    )  # fmt: skip


def test_names_of_networks_are_read_and_names_of_hosts_are_gaps() -> None:
    """Without `-n` net-tools print names; only those of /etc/networks and `default` are known."""
    reading = read(
        block("""
Destination     Gateway         Genmask         Flags Metric Ref    Use Iface
default         10.0.0.1        0.0.0.0         UG    0      0        0 eth0
link-local      *               255.255.0.0     U     1002   0        0 eth0
default         gateway.corp    0.0.0.0         UG    0      0        0 eth0
10.0.x.0        0.0.0.0         255.255.255.0   U     0      0        0 eth0
""")
    )

    assert (["default", "169.254.0.0/16"], [4, 5]) == (
        list(routes(reading)),
        [gap.span.line for gap in reading.gaps],
    )


def test_headings_of_another_language_are_headings() -> None:
    """net-tools translate them; the rows are what they are."""
    reading = read(
        block("""
内核 IP 路由表
目标            网关            子网掩码        标志  跃点   引用  使用 接口
0.0.0.0         10.0.0.1        0.0.0.0         UG    0      0        0 eth0
what is this
""")
    )

    assert (["default"], [4]) == (list(routes(reading)), [gap.span.line for gap in reading.gaps])


def test_the_ipv6_table_is_read() -> None:
    """Types are told by flags; the null entries at the end of each table are none."""
    found = routes(read(recorded("route-6-n")))

    assert ("fd00:7::1", 1024) == (
        str(found["default"].nexthops[0].gateway),
        found["default"].metric,
    )
    assert ("unreachable", "local", "multicast", None) == tuple(
        found[prefix].type for prefix in ("fd11::/64", "fd00:7::5", "ff00::/8", "fd10::/64")
    )
