"""Evidence of several nodes is told apart, and each is diagnosed by itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from podpath.assembly.scenes.hosts import part_by_host
from podpath.evidence.files import parse_file
from podpath.evidence.recognition import read
from podpath.evidence.records import Reading
from podpath.net.provenance import Source
from tests.command import podpath


def shown(host: str, number: int, device: str = "eth0", forward: int = 1) -> str:
    """Return what somebody types on a node."""
    return f"""
root@{host}:~# ip addr show {device}
2: {device}: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP group default qlen 1000
    link/ether 02:00:00:00:00:0{number} brd ff:ff:ff:ff:ff:ff
    inet 10.9.0.{number}/24 brd 10.9.0.255 scope global {device}
root@{host}:~# ip route
default via 10.9.0.1 dev {device}
10.9.0.0/24 dev {device} proto kernel scope link src 10.9.0.{number}
10.244.{number}.0/24 dev cni0 proto kernel scope link src 10.244.{number}.1
root@{host}:~# sysctl net.ipv4.ip_forward
net.ipv4.ip_forward = {forward}
"""


POD = """
root@web-0:/# ip addr
3: eth0@if9: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP group default
    link/ether 0a:00:00:00:00:05 brd ff:ff:ff:ff:ff:ff link-netnsid 0
    inet 10.244.2.5/24 brd 10.244.2.255 scope global eth0
"""


def ticket(*blocks: str) -> list[tuple[Source, Reading]]:
    """Read a ticket of code blocks."""
    text = "\n".join(f"Some words.\n\n```{block}```\n" for block in blocks)
    sources = parse_file("ticket.md", text.encode()).sources
    return [(source, reading) for source in sources if (reading := read(source)) is not None]


def parted(*blocks: str) -> dict[str, int]:
    """Return the nodes of a ticket with how many outputs are taken for each."""
    return {host.name: len(host.read) for host in part_by_host(ticket(*blocks))}


def test_one_node_is_not_parted() -> None:
    """However often its prompt stands there, and whatever it is called in between."""
    assert list(parted(shown("node1", 2), shown("node1", 2))) == [""]
    assert list(parted(shown("node1", 2), shown("node1.example.org", 2))) == [""]


def test_prompts_of_two_nodes_are_told_apart() -> None:
    """One device has other addresses on each; the one that most is shown of comes first."""
    assert list(parted(shown("node1", 2), shown("node2", 3), shown("node2", 3))) == [
        "node2",
        "node1",
    ]


def test_what_names_no_host_goes_to_every_node() -> None:
    """`kubectl` is typed anywhere."""
    pods = """
me@laptop:~$ kubectl get pods -o wide
NAME    READY   STATUS    RESTARTS   AGE   IP           NODE
web-9   1/1     Running   0          5d    10.244.2.9   node1
"""
    assert parted(shown("node1", 2), shown("node2", 3), pods) == {"node1": 4, "node2": 4}


ROUTES = """
$ ip route
10.9.0.0/24 dev eth0 proto kernel scope link src 10.9.0.3
"""
TABLE = """
$ route -n
Kernel IP routing table
Destination     Gateway         Genmask         Flags Metric Ref    Use Iface
10.9.0.0        0.0.0.0         255.255.255.0   U     0      0        0 ens3
"""


@pytest.mark.parametrize(
    ("device", "output", "expected"),
    [
        ("eth0", ROUTES, {"node1": 3, "node2": 4}),
        ("ens3", TABLE, {"node1": 3, "node2": 4}),
        ("eth0", TABLE, {"node1": 4, "node2": 4}),
        ("eth0", ROUTES.replace("10.9.0.3", "10.9.0.8"), {"node1": 4, "node2": 4}),
    ],
)
def test_an_output_is_of_the_node_whose_addresses_it_has(
    device: str, output: str, expected: dict[str, int]
) -> None:
    """A table that no prompt names a host of is not every node's, where it shows whose it is."""
    assert expected == parted(shown("node1", 2), shown("node2", 3, device), output)


def test_a_pod_is_no_node() -> None:
    """Its host reaches its address by a bridge: what its prompt printed is of a namespace of that
    host.
    """
    (host,) = part_by_host(ticket(shown("node1", 2), POD))
    assert host.name == ""
    assert {source.netns for source, _ in host.read} == {None, "pod/?/web-0"}


def test_two_cards_of_other_names_are_not_taken_for_pods() -> None:
    """A node reaches another one by its uplink."""
    assert "node2" not in str(
        part_by_host(ticket(shown("node1", 2), shown("node2", 3, "ens3")))[0].read[-1][0].netns
    )


def test_a_good_host_is_compared_and_not_parted() -> None:
    """What a label calls good is held against the node in trouble."""
    text = f"```{shown('node1', 2)}```\n\nOn a good host:\n\n```{shown('node2', 3)}```\n"
    sources = parse_file("ticket.md", text.encode()).sources
    readings = [(source, reading) for source in sources if (reading := read(source)) is not None]
    assert [host.name for host in part_by_host(readings)] == [""]


def test_each_node_of_a_ticket_is_diagnosed(tmp_path: Path) -> None:
    """The answer is of the node at fault; --node asks about the other one."""
    file = tmp_path / "ticket.md"
    file.write_text(
        f"```{shown('node1', 2)}```\n\nand\n\n```{shown('node2', 3, forward=0)}```\n",
        encoding="utf-8",
    )
    done = podpath("diagnose", file, "--json")
    document = json.loads(done.stdout)
    assert (done.returncode, document["node"], document["findings"][0]["check"]) == (
        1,
        "node2",
        "ip-forward",
    )
    assert "node1: it is undecided there" in document["notes"][0]
    assert "on node2: The host does not forward packets" in podpath("diagnose", file).stdout
    other = podpath("diagnose", file, "--node", "node1", "--json")
    assert (other.returncode, json.loads(other.stdout)["verdict"]) == (3, "possible")
    assert podpath("diagnose", file, "--node", "node3").returncode == 2
    alone = tmp_path / "alone.md"
    alone.write_text(f"```{shown('node1', 2)}```\n", encoding="utf-8")
    assert [
        podpath("diagnose", alone, "--node", name).returncode for name in ("node1", "node2")
    ] == [3, 2]
    asked = podpath(
        "trace", file, "--node", "node2", "--probe", "tcp 10.244.2.5 > 10.244.3.7:80", "--json"
    )
    assert json.loads(asked.stdout)["verdict"] == "NEVER"


def test_bundles_of_two_nodes_are_told_apart(repository: Path) -> None:
    """Each names its node; captures of both are still put together."""
    bundles = [
        repository / "examples/incidents" / name / "bundle"
        for name in ("rp-filter-reset", "host-disconnect")
    ]
    document = json.loads(podpath("diagnose", *bundles, "--json").stdout)
    names = [json.loads((bundle / "bundle.json").read_text())["node"] for bundle in bundles]
    assert document["node"] in names
    for name, check in zip(names, ("rp-filter", "foreign-arp"), strict=True):
        found = json.loads(podpath("diagnose", *bundles, "--node", name, "--json").stdout)[
            "findings"
        ]
        assert check in {finding["check"] for finding in found}
    assert (
        "covers 2 nodes"
        in podpath("trace", *bundles, "--probe", "icmp 127.0.0.1 > 127.0.0.1").stderr
    )


@pytest.mark.parametrize("count", [0, 1])
def test_little_evidence_is_of_one_node(count: int) -> None:
    """Nothing tells hosts apart."""
    assert [host.name for host in part_by_host([*ticket(shown("node1", 2))][:count])] == [""]
