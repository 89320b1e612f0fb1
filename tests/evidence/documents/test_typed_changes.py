"""Commands that change the node are told from those that look."""

from __future__ import annotations

import pytest

from podpath.evidence.commands.typed import parse_typed
from podpath.evidence.documents.document import split_document
from podpath.evidence.documents.typed_changes import FORMAT, changes_state, read_typed
from podpath.evidence.formats import CERTAIN, NO
from podpath.evidence.kubernetes.records import CiliumOptionRecord
from podpath.evidence.recognition import read
from podpath.evidence.records import ChangeCommandRecord, HeadingRecord, StatementRecord
from podpath.net.addresses import IfName
from podpath.net.provenance import Source
from podpath.net.statements import NoRoutes, NothingFound, TypedDevice

CHANGES = [
    "modprobe br_netfilter", "sudo sysctl -w net.ipv4.ip_forward=1", "sysctl net.ipv4.ip_forward=1",
    "sysctl --system", "echo 1 > /proc/sys/net/ipv4/ip_forward",
    "echo 0 | sudo tee /proc/sys/net/ipv4/conf/all/rp_filter",
    "ip route del 169.254.0.0/16 dev eth0", "ip r d default", "ip link set eth0 up",
    "ip -6 addr add fd00::1/64 dev eth0", "route del -net 169.254.0.0 netmask 255.255.0.0 dev eth0",
    "iptables -I FORWARD -j ACCEPT", "iptables -t nat -F", "iptables -P FORWARD ACCEPT",
    "systemctl restart kube-proxy", "kubectl -n kube-system rollout restart ds/cilium",
    "kubectl apply -f x.yaml", "conntrack -D -p udp", "ovs-appctl bond/set-active-slave bond0 eth1",
    "rpm -Uvh polkit.rpm", "nsenter -t 12 -n ip route add default via 10.0.0.1",
    "ifconfig eth0 down",
]  # fmt: skip
LOOKS = [
    "modprobe -n br_netfilter", "sysctl net.ipv4.ip_forward", "sysctl -a",
    "cat /proc/sys/net/ipv4/ip_forward", "echo hello > x.txt", "ip route show table 5", "ip r",
    "ip a s", "ip route get 10.0.0.1", "ip -d link", "ip monitor route", "route -n",
    "iptables -t nat -nvL", "iptables -S", "systemctl status kubelet", "kubectl get pods",
    "kubectl describe pod x", "rpm -q polkit", "conntrack -L", "ovs-vsctl show", "tcpdump -i any",
    "lsmod", "ifconfig eth0", "",
]  # fmt: skip


@pytest.mark.parametrize("command", CHANGES)
def test_changes(command: str) -> None:
    """Commands that change state are known through whatever wrapper."""
    assert changes_state(parse_typed(command))


@pytest.mark.parametrize("command", LOOKS)
def test_looks(command: str) -> None:
    """Commands that only show are none."""
    assert not changes_state(parse_typed(command))


def test_a_deed_is_quoted_where_it_was_typed() -> None:
    """Its record quotes the line with its prompt."""
    (source,) = split_document("t", ["```", "root@w1:~# modprobe br_netfilter", "```"])
    reading = read(source)
    assert reading is not None
    (change,) = reading.records
    assert isinstance(change, ChangeCommandRecord)
    assert ("modprobe br_netfilter", 2, "root@w1:~# modprobe br_netfilter") == (
        change.command,
        change.span.line,
        change.span.text,
    )


def test_options_are_quoted_line_by_line() -> None:
    """An option of a wrapped command stands at its own line."""
    text = [
        "```",
        "$ cilium install --version=1.11.1 \\",
        "    --helm-set bpf.masquerade=true",
        "```",
    ]
    (source,) = split_document("t", text)
    option = next(
        one
        for one in read_typed(source).records
        if isinstance(one, CiliumOptionRecord) and one.key != "version"
    )
    assert ("enable-bpf-masquerade", 3) == (option.key, option.span.line)


def test_json_is_no_command() -> None:
    """A line of JSON is what a command printed, whatever it holds; a command that is typed as its
    only line is itself.
    """
    shown = '[{"ifname":"x/sudo" ip'
    printed = Source(name="ip-link", lines=(shown,), command="ip -j link")
    typed = Source(name="typed", lines=("ip -j link",), command="ip -j link")

    assert NO == FORMAT.recognise(printed)
    assert CERTAIN == FORMAT.recognise(typed)


def test_silence_is_kept() -> None:
    """A command that printed nothing is kept as such, and quoted with its prompt."""
    source = split_document("t", ["```", "$ tcpdump -i eth0 -w eth0.pcap", "$ ip a", "```"])[0]
    (record,) = read_typed(source).records
    assert isinstance(record, HeadingRecord)
    assert "$ tcpdump -i eth0 -w eth0.pcap" == record.span.text


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (
            "iptables-save -t nat | grep 10.96.0.1",
            NothingFound("iptables-save", ("-t", "nat"), "10.96.0.1"),
        ),
        ("ipset list | grep -B5 10.4.0.9", NothingFound("ipset", ("list",), "10.4.0.9")),
        ("iptables-save | grep -v 10.96.0.1", None),
        ("iptables-save | grep -c 10.96.0.1", None),
        ("iptables-save | grep KUBE | grep 10.96.0.1", None),
        ("iptables-save | grep -E 'a|b'", None),
        ("iptables-save", None),
        ("ip route show table 100", NoRoutes("100")),
        ("sudo ip -4 r ls table uplink", NoRoutes("uplink")),
        ("ip -6 route show table 100", None),
        ("ip route show table 100 dev eth0", None),
        ("ip route show", None),
    ],
)
def test_what_printed_nothing(command: str, expected: NothingFound | NoRoutes | None) -> None:
    """What a grep looked for, if it is plain, and a table that was listed whole."""
    source = Source(name="t", lines=(), command=command, prompt="#")
    found = [one for one in FORMAT.read(source).records if isinstance(one, StatementRecord)]

    assert [one.statement for one in found] == ([] if expected is None else [expected])


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("sudo ip link set eth0 master br-lan", TypedDevice(IfName("eth0"), "br-lan")),
        ("ip link set dev eth0 up master br0", TypedDevice(IfName("eth0"), "br0")),
        ("brctl addif br0 enp1s0", TypedDevice(IfName("enp1s0"), "br0")),
        ("ovs-vsctl add-port ovs0 eth1", TypedDevice(IfName("eth1"), "ovs0")),
        ("ip addr add 192.0.2.9/24 dev br0", TypedDevice(IfName("br0"))),
        ("dhclient -v br0", TypedDevice(IfName("br0"))),
        ("ip link set eth0 up", None),
        ("ip link set eth0 nomaster", None),
    ],
)
def test_ports_and_addresses_that_are_typed(command: str, expected: TypedDevice | None) -> None:
    """Which device becomes a bridge's port, and which gets an address."""
    source = Source(name="t", lines=(), command=command, prompt="#")
    found = [one for one in FORMAT.read(source).records if isinstance(one, StatementRecord)]

    assert [one.statement for one in found] == ([] if expected is None else [expected])
