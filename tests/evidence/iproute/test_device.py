"""`ip link` and `ip addr`: text, JSON, and fragments of both."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.evidence import recognition
from podpath.evidence.node_records import AddressRecord, LinkRecord
from podpath.evidence.records import HeadingRecord, Reading, Record, StatementRecord
from podpath.net.addresses import Address, IfName
from podpath.net.statements import DeviceCount
from tests.evidence.consoles import block, read, recorded, stated


def links(reading: Reading) -> dict[str, LinkRecord]:
    """Return the devices of a reading by name."""
    return {record.name: record for record in reading.records if isinstance(record, LinkRecord)}


def addresses(reading: Reading) -> list[AddressRecord]:
    """Return the addresses of a reading."""
    return [record for record in reading.records if isinstance(record, AddressRecord)]


def of_devices(reading: Reading) -> list[Record]:
    """Return what a reading says of devices and addresses, without counters."""
    return [one for one in reading.records if not isinstance(one, StatementRecord)]


def without_netns(record: Record) -> Record:
    """Leave out the peer's namespace: the text names it, JSON numbers it."""
    return replace(record, peer_netns=None) if isinstance(record, LinkRecord) else record


@pytest.mark.parametrize(
    ("text", "structured"),
    [
        ("ip-d-link", "ip-d-j-link"),
        ("ip-d-link", "ip-d-j-p-link"),
        ("ip-addr", "ip-j-addr"),
        ("ip-d-addr", "ip-d-j-p-addr"),
        ("ip-link", "ip-o-link"),
        ("ip-link", "ip-s-link"),
    ],
)
def test_text_and_json_give_the_same_records(text: str, structured: str) -> None:
    """Every field of every device and address comes out alike, whatever the form."""
    one, other = read(recorded(text)), read(recorded(structured))

    assert [stated(without_netns(record)) for record in of_devices(one)] == [
        stated(without_netns(record)) for record in of_devices(other)
    ]
    assert ((), ()) == (one.gaps, other.gaps)


def test_a_bridge_port_keeps_its_options() -> None:
    """`ip -d link` says what the device is, what its master is, and what it is to its master."""
    port = links(read(recorded("ip-d-link")))["veth2b"]

    assert ("veth", "cni0", "bridge", "veth2a", None) == (
        port.kind,
        port.master,
        port.port_kind,
        port.peer_name,
        port.peer_ifindex,
    )
    assert ("on", "on", "off") == tuple(
        port.port_details[key] for key in ("isolated", "neigh_suppress", "hairpin")
    )


def test_a_pods_veth_names_its_peer_by_index_and_namespace() -> None:
    """`@if2` is the index of the other end, in the namespace that is named."""
    port = links(read(recorded("ip-d-link")))["veth1a"]

    assert (None, 2, "pprd-b", "on") == (
        port.peer_name,
        port.peer_ifindex,
        port.peer_netns,
        port.port_details["hairpin"],
    )


def test_options_of_bridges_and_vxlans_are_read() -> None:
    """What decides a frame's way stands in `details`."""
    found = links(read(recorded("ip-d-link")))

    assert ("bridge", "0", "0") == (
        found["cni0"].kind,
        found["cni0"].details["vlan_filtering"],
        found["cni0"].details["nf_call_iptables"],
    )
    assert {
        "id": "1",
        "local": "192.168.7.5",
        "link": "eth0",
        "port": "8472",
        "learning": "off",
    }.items() <= dict(found["flannel.1"].details).items()


def test_a_device_knows_its_header() -> None:
    """Flags, MTU, state, queueing discipline and address of a header are typed."""
    found = links(read(recorded("ip-addr")))["eth0"]

    assert (9000, "UP", "noqueue", ("BROADCAST", "MULTICAST", "UP", "LOWER_UP")) == (
        found.mtu,
        found.state,
        found.qdisc,
        found.flags,
    )
    assert "wire0" == found.peer_name


def test_addresses_keep_order_peer_label_and_flags() -> None:
    """The kernel's order decides which address is preferred, so it is kept."""
    found = [
        one
        for one in addresses(read(recorded("ip-addr")))
        if one.link == "eth0" and one.address.family == 4
    ]

    assert ["192.168.7.5", "192.168.7.9", "172.30.0.1", "10.99.0.1", "192.168.7.6"] == [
        str(one.address) for one in found
    ]
    assert [24, 32, 32, 24, 24] == [one.length for one in found]
    assert [None, None, "172.30.0.2", None, None] == [one.peer and str(one.peer) for one in found]
    assert [(), (), (), ("dynamic",), ("secondary",)] == [one.flags for one in found]
    assert ["192.168.7.255", None] == [one.broadcast and str(one.broadcast) for one in found[:2]]


def test_spans_point_at_the_lines() -> None:
    """A device's span is its header and options; an address's is its line with its lifetimes, in
    JSON its own line.
    """
    text = addresses(read(recorded("ip-addr")))[0]
    pretty = addresses(read(recorded("ip-d-j-p-addr")))[0]

    assert (
        "inet 127.0.0.1/8 scope host lo\n       valid_lft forever preferred_lft forever"
        == text.span.text.strip()
    )
    assert '"local": "127.0.0.1",' == pretty.span.text.strip()
    assert links(read(recorded("ip-addr")))["lo"].span.text.startswith("1: lo: <LOOPBACK")


def test_statistics_are_part_of_a_device_or_headings() -> None:
    """`-s -s` adds lines of counters; none is a gap."""
    reading = read(recorded("ip-s-s-addr"))

    assert ((), 29) == (
        reading.gaps,
        sum(not isinstance(record, HeadingRecord) for record in of_devices(reading)),
    )


COUNTED = """
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP
    link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff
    RX: bytes  packets  errors  dropped overrun mcast
    0          0        0       0       7       0
    TX: bytes  packets  errors  dropped carrier collsns
    95000      120      0       0       0       0
"""
COUNTED_JSON = """
[{"ifindex":2,"ifname":"eth0","flags":["UP"],"mtu":1500,"operstate":"UP","link_type":"ether",
"stats64":{"rx":{"bytes":0,"packets":0,"errors":0,"dropped":0,"over_errors":7,"multicast":0},
"tx":{"bytes":95000,"packets":120,"errors":0,"dropped":0,"carrier_errors":0,"collisions":0}}}]
"""


@pytest.mark.parametrize(
    ("text", "command", "lost"),
    [
        (COUNTED, "ip -s link", "rx_fifo"),
        (COUNTED.replace("\n    ", "\\    "), "ip -s -o link", "rx_fifo"),
        (COUNTED_JSON, "ip -s -j link", "rx_over"),
    ],
)
def test_counters_are_statements(text: str, command: str, lost: str) -> None:
    """What passed, zero or not, and what was lost; whatever the form."""
    found = [
        one.statement
        for one in read(block(text, command)).records
        if isinstance(one, StatementRecord)
    ]

    assert [
        DeviceCount(IfName("eth0"), "rx_packets", 0),
        DeviceCount(IfName("eth0"), lost, 7),
        DeviceCount(IfName("eth0"), "tx_packets", 120),
    ] == found


def test_oneline_addresses_know_their_device() -> None:
    """`ip -o addr` repeats the name and has no header."""
    reading = read(recorded("ip-o-addr"))

    assert (19, {"lo", "eth0"}) == (
        len(reading.records),
        {one.link for one in addresses(reading)} & {"lo", "eth0"},
    )


def test_a_grep_with_context_is_read() -> None:
    """Devices between grep's separators are whole; the separator says that something is missing."""
    reading = read(
        block("""
3: eth1: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq master ovs-system state UP mode DEFAULT qlen 1000
    link/ether 10:51:72:29:1b:50 brd ff:ff:ff:ff:ff:ff
--
7: br-bond: <BROADCAST,MULTICAST> mtu 1500 qdisc noop state DOWN mode DEFAULT qlen 1000
    link/ether 10:51:72:29:1b:50 brd ff:ff:ff:ff:ff:ff
""")  # noqa: E501
    )

    assert ["ovs-system", None] == [record.master for record in links(reading).values()]
    assert ["10:51:72:29:1b:50"] * 2 == [record.mac for record in links(reading).values()]
    assert [True] == [
        record.partial for record in reading.records if isinstance(record, HeadingRecord)
    ]


@pytest.mark.parametrize(
    "line",
    [
        "4: eth0: <BROADCAST,UP> mtu 1500",
        "eth0@if7: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1450 qdisc noqueue",
    ],
)
def test_one_line_is_enough(line: str) -> None:
    """A header alone is a device."""
    assert ["eth0"] == list(links(read(block(line))))


def test_the_peers_namespace_may_stand_in_the_header() -> None:
    """`ip -4 addr` prints no line of the link layer."""
    reading = read(
        block(
            "3: veth1@if2: <BROADCAST,UP> mtu 1500 qdisc noqueue state UP group default qlen 1000 "
            "link-netns blue"
        )
    )

    assert (["blue"], ()) == (
        [record.peer_netns for record in links(reading).values()],
        reading.gaps,
    )


def test_an_address_without_its_device_knows_it_by_its_label() -> None:
    """`ip a | grep inet` loses the headers, but IPv4 lines end in the label."""
    reading = read(
        block(
            "    inet 10.0.0.5/24 brd 10.0.0.255 scope global dynamic eth0:1\n"
            "    inet6 fe80::1/64 scope link"
        )
    )

    assert [("eth0", "10.0.0.5"), (None, "fe80::1")] == [
        (one.link, str(one.address)) for one in addresses(reading)
    ]


def test_cut_flags_are_unknown() -> None:
    """A header that ends within its flags does not say that the device is down."""
    reading = read(block("3: eth1: <BROADCAST,MULTI\n4: eth2: <...LOWER_UP...> mtu 1500 qdisc mq"))

    assert [None, None] == [record.flags for record in links(reading).values()]
    assert 2 == len(reading.gaps)


def test_elided_values_are_gaps_and_the_rest_is_read() -> None:
    """A MAC or an address without its digits costs only itself."""
    reading = read(
        block("""
2: eth0: <BROADCAST,UP> mtu 1500 qdisc mq state UP
    link/ether xx:xx:xx:xx:xx:xx brd ff:ff:ff:ff:ff:ff
    inet 10.0.x.x/24 brd 10.0.x.255 scope global eth0
    inet 10.1.0.1/24 scope global eth0
""")
    )

    assert (["eth0"], [None]) == (
        list(links(reading)),
        [record.mac for record in links(reading).values()],
    )
    assert [Address(4, 0x0A010001)] == [one.address for one in addresses(reading)]
    assert [2, 3] == [gap.span.line for gap in reading.gaps]
    assert all("elided" in gap.why for gap in reading.gaps)


def test_a_wrapped_line_is_a_gap() -> None:
    """What a terminal wrapped onto the next line belongs to no known line."""
    reading = read(
        block(
            "2: eth0: <BROADCAST,UP> mtu 1500 qdisc mq state UP mode DEFA\n"
            "ULT group default qlen 1000\n    link/ether 0a:00:00:00:00:01 brd ff"
        )
    )

    assert (["0a:00:00:00:00:01"], [2]) == (
        [record.mac for record in links(reading).values()],
        [gap.span.line for gap in reading.gaps],
    )


def test_colors_and_odd_spacing_do_not_matter() -> None:
    """`ip -c` colors and a paste that lost its indentation are read alike."""
    reading = read(
        block(
            "2: \x1b[36meth0: \x1b[0m<BROADCAST,UP> mtu 1500 qdisc mq state \x1b[32mUP\n"
            "link/ether \x1b[33m0a:00:00:00:00:01\x1b[0m\ninet 10.0.0.1/24 scope global eth0"
        )
    )

    assert ["UP"] == [record.state for record in links(reading).values()]
    assert [("eth0", 24)] == [(one.link, one.length) for one in addresses(reading)]


@pytest.mark.parametrize(
    ("line", "kind", "port_kind", "details", "port_details"),
    [
        ("    vlan protocol 802.1Q id 40 <REORDER_HDR> addrgenmode eui64 numtxqueues 1",
         "vlan", None, {"protocol": "802.1Q", "id": "40", "flags": "REORDER_HDR"}, {}),
        ("    vrf table 1014 addrgenmode eui64 ", "vrf", None, {"table": "1014"}, {}),
        ((
            "    bond mode active-backup active_slave eth1 miimon 100 lacp_rate slow addrgenmode "
            "eui64"
        ),
         "bond", None, {"mode": "active-backup", "active_slave": "eth1", "miimon": "100", "ad_lacp_rate": "slow"}, {}),  # noqa: E501
        ("    bond_slave state ACTIVE mii_status UP link_failure_count 0", None, "bond",
         {}, {"state": "ACTIVE", "mii_status": "UP", "link_failure_count": "0"}),
        ("    openvswitch_slave addrgenmode none numtxqueues 8", None, "openvswitch", {}, {}),
        ((
            "    vxlan id 42 remote 10.0.0.9 dev eth0 srcport 1 9 dstport 4789 ageing "
            "300"
        ), "vxlan", None,
         {"id": "42", "remote": "10.0.0.9", "link": "eth0", "port_range": "1-9", "port": "4789", "ageing": "300",  # noqa: E501
          "learning": "on"}, {}),
        ("    netkit mode l3 type peer addrgenmode eui64", "netkit", None, {}, {}),
        ("    futurekind color blue addrgenmode eui64", "futurekind", None, {}, {}),
    ],
)  # fmt: skip
def test_kinds_are_read_from_text(
    line: str,
    kind: str | None,
    port_kind: str | None,
    details: dict[str, str],
    port_details: dict[str, str],
) -> None:
    """The line of a kind gives its options by their JSON names; a kind that is new keeps its
    name.
    """
    reading = read(
        block(
            "5: dev0: <BROADCAST,UP> mtu 1500 qdisc noqueue state UP\n"
            f"    link/ether 0a:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff promiscuity 0\n{line}"
        )
    )

    record = links(reading)["dev0"]
    assert (kind, port_kind, details, port_details) == (
        record.kind,
        record.port_kind,
        record.details,
        record.port_details,
    )
    assert () == reading.gaps


def test_a_bpf_program_on_a_device_is_noticed() -> None:
    """XDP stands in the header and on a line of its own; JSON says it too."""
    text = read(
        block(
            "2: eth0: <BROADCAST,UP> mtu 1500 xdp qdisc mq state UP\n"
            "    link/ether 0a:00:00:00:00:01\n    prog/xdp id 33 tag 57cd311f2e27366b jited"
        )
    )
    structured = read(
        block(
            '[{"ifindex":2,"ifname":"eth0","flags":["UP"],"mtu":1500,"xdp":{"mode":1,'
            '"prog":{"id":33}},"operstate":"UP"}]'
        )
    )

    assert ["on", "on"] == [links(reading)["eth0"].details["xdp"] for reading in (text, structured)]


def test_damaged_json_keeps_the_devices_around() -> None:
    """An object that is cut is a gap with its lines."""
    source = recorded("ip-d-j-p-addr")
    cut = replace(source, lines=source.lines[:80])

    reading = read(cut)

    assert ["lo"] == list(links(reading))[:1]
    assert [True] == ["damaged JSON" in gap.why for gap in reading.gaps]
    assert 81 == reading.gaps[0].span.last_line


def test_a_listing_of_links_and_one_of_addresses_have_different_names() -> None:
    """Only the second one says which addresses there are not."""
    names = [found.name for name in ("ip-link", "ip-d-link", "ip-addr", "ip-d-addr", "ip-j-addr", "ip-d-j-link")  # noqa: E501
             if (found := recognition.recognise(recorded(name))) is not None]  # fmt: skip

    assert ["ip link", "ip link", "ip addr", "ip addr", "ip -j addr", "ip -j link"] == names
