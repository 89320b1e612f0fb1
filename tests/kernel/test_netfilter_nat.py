"""NAT: the addresses and ports that the kernel gives connections are the model's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from podpath.datapath.tracing.exploration import Choices
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.packet import Packet
from tests.datapath.given import echo, given_rules, tcp, udp
from tests.kernel.agreement import Both

SYN, ACK, FIN, RST = protocols.SYN, protocols.ACK, protocols.FIN, protocols.RST
POD, OTHER_POD, SERVER, VIP, HOST = (
    "10.244.0.5",
    "10.244.0.6",
    "198.51.100.7",
    "10.96.0.10",
    "192.0.2.1",
)
KERNEL = pytest.mark.kernel("iptables-nft-restore", "iptables-legacy-restore", "conntrack")
TRACKING = given_rules(
    *(
        f"FORWARD -m conntrack --ctstate {state}"
        for state in ("INVALID", "NEW", "RELATED", "UNTRACKED")
    )
)

Way = tuple[str, Packet, str]


def pod(
    dport: int = 80, sport: int = 40000, *, src: str = POD, dst: str = SERVER, flags: int = SYN
) -> Way:
    """Make a segment of a pod."""
    return "cni0", tcp(src, dst, sport, dport, flags=flags), "original"


def server(dst: str, sport: int, dport: int, flags: int = SYN | ACK) -> Way:
    """Make a segment of the server."""
    return "eth0", tcp(SERVER, dst, sport, dport, flags=flags), "reply"


MANY = [
    pod(80, 40000 + number, src=f"10.244.0.{5 + number % 2}", dst=f"198.51.100.{7 + number}")
    for number in range(10)
]
SERVICE = (
    "PREROUTING -d 10.96.0.10/32 -p tcp -m tcp --dport 80 -j DNAT --to-destination "
    "198.51.100.7:8080"
)
ERROR_MASQUERADED = Packet(
    Address.parse("198.51.100.1"), Address.parse(HOST), 1, icmp_type=11, quoted=tcp(HOST, SERVER)
)
ERROR_OF_SERVICE = Packet(
    Address.parse("198.51.100.1"),
    Address.parse(POD),
    1,
    icmp_type=3,
    icmp_code=1,
    quoted=tcp(POD, SERVER, 40000, 8080),
)

CASES: Mapping[str, tuple[Sequence[str], Sequence[Way]]] = {
    "masquerade": (
        ["POSTROUTING -o eth0 -j MASQUERADE"], [pod(), server(HOST, 80, 40000), pod(flags=ACK)],
    ),
    "no rule matches": (
        ["POSTROUTING -s 203.0.113.1/32 -j MASQUERADE"], [pod(), server(POD, 80, 40000)],
    ),
    "invalid packets leave as they are": (
        ["POSTROUTING -o eth0 -j MASQUERADE"], [pod(flags=FIN | ACK), pod(flags=RST)],
    ),
    "service": ([SERVICE], [pod(dst=VIP), server(POD, 8080, 40000), pod(dst=VIP, flags=ACK)]),
    "hairpin": (
        [
            "PREROUTING -d 10.96.0.10/32 -j DNAT --to-destination 10.244.0.5",
            "POSTROUTING -s 10.244.0.5/32 -d 10.244.0.5/32 -j MASQUERADE",
        ],
        [pod(dst=VIP), ("cni0", tcp(POD, "10.244.0.1", 80, 40000, flags=SYN | ACK), "reply")],
    ),
    "one port": (["POSTROUTING -o eth0 -p tcp -j SNAT --to-source 192.0.2.5:40000"], [pod()]),
    "the port is in the range": ([("POSTROUTING -o eth0 -p tcp -j SNAT --to-source "
                                  "192.0.2.5:39000-41000")], [pod()]),
    "range of sources": (["POSTROUTING -o eth0 -j SNAT --to-source 192.0.2.5-192.0.2.9"], MANY),
    "persistent range": ([("POSTROUTING -o eth0 -j SNAT --to-source 192.0.2.5-192.0.2.9 "
                          "--persistent")], MANY),
    "range of destinations": ([("PREROUTING -i cni0 -j DNAT --to-destination "
                               "198.51.100.20-198.51.100.40")], MANY),
    "range of ports": (
        ["PREROUTING -i cni0 -p tcp -j DNAT --to-destination 198.51.100.20:9000-9010"],
        [pod(), pod(9005, 40001), pod(81, 40000)],
    ),
    "shifted ports": (
        ["PREROUTING -i cni0 -p tcp -j DNAT --to-destination 198.51.100.20:9000-9010/80"],
        [pod(80), pod(85, 40001)],
    ),
    "port alone": (["PREROUTING -i cni0 -p tcp -j DNAT --to-destination :8080"], [pod()]),
    "a source keeps its mapping": (
        [
            "POSTROUTING -o eth0 -p tcp -m tcp --dport 80 -j SNAT --to-source 192.0.2.6",
            "POSTROUTING -o eth0 -p tcp -j SNAT --to-source 192.0.2.5-192.0.2.9",
        ],
        [pod(80), pod(81), pod(82, dst="198.51.100.9")],
    ),
    "network onto network": (
        [
            "PREROUTING -i cni0 -d 203.0.113.0/24 -j NETMAP --to 198.51.100.0/24",
            "POSTROUTING -o eth0 -j NETMAP --to 192.0.2.0/24",
        ],
        [pod(dst="203.0.113.77")],
    ),
    "echo": (
        ["POSTROUTING -o eth0 -j MASQUERADE"],
        [("cni0", echo(), "original"), ("eth0", echo(SERVER, HOST, reply=True), "original")],
    ),
    "error to a masqueraded sender": (
        ["POSTROUTING -o eth0 -j MASQUERADE"],
        [
            pod(),
            ("eth0", ERROR_MASQUERADED, "original"),
            ("eth0", ERROR_MASQUERADED._replace(dst=Address.parse("192.0.2.9")), "original"),
        ],
    ),
    "error about a service": ([SERVICE], [pod(dst=VIP), ("eth0", ERROR_OF_SERVICE, "original")]),
    "marked for masquerade": (
        [
            "PREROUTING -d 10.96.0.10/32 -j KUBE-SVC", "KUBE-SVC -j KUBE-MARK-MASQ",
            "KUBE-SVC -p tcp -j DNAT --to-destination 198.51.100.7:8080",
            "KUBE-MARK-MASQ -j MARK --or-mark 0x4000",
            "POSTROUTING -m mark ! --mark 0x4000/0x4000 -j RETURN",
            "POSTROUTING -j MARK --xor-mark 0x4000", "POSTROUTING -j MASQUERADE",
        ],
        [pod(dst=VIP), pod(src=OTHER_POD)],
    ),
    "UDP service": (
        [("PREROUTING -d 10.96.0.10/32 -p udp -m udp --dport 53 -j DNAT --to-destination "
         "198.51.100.7:5353")],
        [("cni0", udp(POD, VIP), "original"), ("eth0", udp(SERVER, POD, 5353, 40000), "reply")],
    ),
}  # fmt: skip


def _agree(both: Both, packets: Sequence[Way]) -> None:
    for number, (link, packet, way) in enumerate(packets):
        kernel, model = (
            both.emit(packet, way) if link == "router" else both.pass_through(link, packet, way)
        )
        assert kernel == model, f"packet {number}: {packet}"
    kernel_counts, model_counts = both.counters()
    assert kernel_counts == model_counts
    kernel_entries, model_entries = both.conntrack()
    assert kernel_entries == model_entries


@KERNEL
@pytest.mark.parametrize("flavour", ["nft", "legacy"])
@pytest.mark.parametrize("name", CASES)
def test_packets_leave_with_the_kernels_addresses(name: str, flavour: str) -> None:
    """First packets are translated by the rules, later ones by the stored tuples, and replies
    back.
    """
    rules, packets = CASES[name]
    chains = sorted({rule.partition(" ")[0] for rule in rules} - {"PREROUTING", "POSTROUTING"})
    table = given_rules(*rules, table="nat", chains=chains)
    both = Both(table, TRACKING) if flavour == "nft" else Both(TRACKING, legacy=table)
    with both:
        _agree(both, packets)


@KERNEL
def test_untracked_packets_leave_with_their_own_source() -> None:
    """A packet that a raw rule keeps from conntrack passes NAT by; another pod's does not."""
    masquerade = given_rules("POSTROUTING -o eth0 -j MASQUERADE", table="nat")
    raw = given_rules("PREROUTING -s 10.244.0.5/32 -j CT --notrack", table="raw")
    with Both(masquerade, raw, TRACKING) as both:
        _agree(both, [pod(), pod(src=OTHER_POD)])


@KERNEL
def test_a_packet_that_filter_drops_leaves_no_translation() -> None:
    """NAT is done before filter drops the packet, and forgotten with it."""
    with Both(
        given_rules(SERVICE, table="nat"), given_rules("FORWARD -p tcp -m tcp --dport 8080 -j DROP")
    ) as both:
        _agree(both, [pod(dst=VIP), pod(dst=VIP)])


@KERNEL
def test_redirect_takes_the_address_of_the_incoming_device() -> None:
    """REDIRECT in PREROUTING sends to the first address of the device that the packet came in
    on.
    """
    redirect = given_rules(
        "PREROUTING -i cni0 -p tcp -m tcp --dport 80 -j REDIRECT --to-ports 15001", table="nat"
    )
    with Both(
        redirect, given_rules("INPUT -d 10.244.0.1/32 -p tcp -m tcp --dport 15001 -j DROP")
    ) as both:
        _agree(both, [pod()])

        assert ("nft", "filter", "INPUT", 1) in both.counters()[1]


@KERNEL
@pytest.mark.parametrize(
    ("table", "rule"),
    [
        ("nat", "OUTPUT -d 10.96.0.10/32 -p tcp -j DNAT --to-destination 10.244.0.5:8080"),
        ("mangle", "OUTPUT -j MARK --set-mark 0x1"),
        ("filter", "OUTPUT -d 10.96.0.10/32 -j DROP"),
    ],
)
def test_the_hosts_own_packets_pass_output(table: str, rule: str) -> None:
    """OUTPUT translates, marks and drops what the host sends; filter sees the device of the first
    route.
    """
    watch = given_rules(
        "OUTPUT -o eth0", "OUTPUT -o cni0", "OUTPUT -m mark --mark 0x1", table="security"
    )
    with Both(given_rules(rule, table=table), watch, TRACKING) as both:
        _agree(both, [("router", tcp(HOST, VIP), "original")])


@KERNEL
@pytest.mark.parametrize("answer", ["tcp-reset", "icmp-port-unreachable"])
@pytest.mark.parametrize("established", [False, True])
def test_answers_to_rejected_packets_are_translated_back(answer: str, established: bool) -> None:  # noqa: FBT001  # a case
    """The reset or error comes from the address that the client spoke to, though the service was
    translated before.
    """
    only = " --tcp-flags SYN,ACK ACK" if established else ""
    reject = given_rules(
        f"FORWARD -p tcp -m tcp --dport 8080{only} -j REJECT --reject-with {answer}"
    )
    packets = (
        [pod(dst=VIP), server(POD, 8080, 40000), pod(dst=VIP, flags=ACK)]
        if established
        else [pod(dst=VIP)]
    )
    with Both(given_rules(SERVICE, table="nat"), reject) as both:
        _agree(both, packets)


@KERNEL
@pytest.mark.parametrize("last", ["legacy", "nft"])
def test_the_flavour_that_came_last_translates(last: str) -> None:
    """Of two nat tables the one that was registered last runs first, and the other one's rule is
    not reached.
    """
    nft = given_rules("POSTROUTING -o eth0 -j SNAT --to-source 192.0.2.5", table="nat")
    legacy = given_rules("POSTROUTING -o eth0 -j SNAT --to-source 192.0.2.6", table="nat")
    choices = Choices(
        (), {"which flavour of iptables table nat was registered last in netns host": last}
    )
    with Both(nft, legacy=legacy, choices=choices, legacy_first=last == "nft") as both:
        _agree(both, [pod()])


@KERNEL
@pytest.mark.parametrize(
    "more",
    [
        {"eth0": "192.0.2.77/24"},
        {"eth0": "203.0.113.1/24 203.0.113.2/24"},
        {"eth0": "198.51.100.1/25", "cni0": "198.51.100.2/25"},
    ],
)
def test_masquerade_takes_the_devices_address_towards_the_next_hop(more: Mapping[str, str]) -> None:
    """Of several addresses the primary one of the next hop's network is taken, else the device's
    first.
    """
    masquerade = given_rules("POSTROUTING -o eth0 -j MASQUERADE", table="nat")
    with Both(masquerade, more=more) as both:
        both.router.neighbour("203.0.113.9", "eth0")
        _agree(both, [pod(dst="192.0.2.9"), pod(dst="203.0.113.9")])


@KERNEL
@pytest.mark.parametrize(
    "rule", ["POSTROUTING -o eth0 -j MASQUERADE", "POSTROUTING -s 203.0.113.1/32 -j MASQUERADE"]
)
def test_a_taken_port_is_changed(rule: str) -> None:
    """Two connections cannot have one reply tuple: the second one's port is another, though no rule
    may say so.
    """
    first = ["PREROUTING -d 10.96.0.10/32 -p tcp -j DNAT --to-destination 198.51.100.7:80", rule]
    packets = [pod(dst=VIP), pod()] if "203" in rule else [pod(), pod(src=OTHER_POD)]
    with Both(given_rules(*first, table="nat")) as both:
        for link, packet, way in packets:
            kernel, model = both.pass_through(link, packet, way)
        _, entries = both.conntrack()

        assert kernel[0].text.partition(" [")[0] != str(packets[0][1]).partition(" [")[0]
        assert (
            2
            == len({entry.reply for entry in both.conntrack()[0]})
            == len({entry.reply for entry in entries})
        )
        assert _without_port(kernel[0].text) == _without_port(model[0].text)


def _without_port(text: str) -> str:
    """Cut the source port, which the kernel draws."""
    source, _, rest = text.partition(" > ")
    return f"{source.rpartition(':')[0]} > {rest}"
