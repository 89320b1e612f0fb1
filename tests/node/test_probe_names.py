"""Ends of probes named as kubectl names them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from podpath.net import protocols
from podpath.net.errors import UsageError
from podpath.node.node import Node, Pod, Service, ServicePort
from podpath.node.probe_names import names_ends, resolve_probe
from podpath.testing.nodes import ip
from tests.checks.nodes import address, link, netns, node, route
from tests.command import podpath

TICKET = """\
$ kubectl get pods -n shop -o wide
NAME    READY   STATUS    RESTARTS   AGE   IP           NODE    NOMINATED NODE   READINESS GATES
web-0   1/1     Running   0          5d    10.22.0.5    node1   <none>           <none>
$ kubectl get svc -n shop
NAME   TYPE        CLUSTER-IP   EXTERNAL-IP   PORT(S)    AGE
api    ClusterIP   10.96.0.7    <none>        8080/TCP   5d
$ ip route
default via 10.9.0.1 dev eth0
blackhole 10.96.0.0/16
10.9.0.0/24 dev eth0 proto kernel scope link src 10.9.0.2
$ ip addr
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP group default qlen 1000
    link/ether 02:00:00:00:00:0e brd ff:ff:ff:ff:ff:ff
    inet 10.9.0.2/24 brd 10.9.0.255 scope global eth0
"""


def cluster() -> Node:
    """Make a node with two pods of one name, one that only a namespace shows, and services."""
    host = netns(
        links=[link("lo"), link("eth0"), link("eth1")],
        addresses=[address("eth1", "10.8.0.2"), address("eth0", "10.9.0.2")],
        routes=[route("0.0.0.0/0", "eth0")],
    )  # fmt: skip
    inside = netns("cni-1", links=[link("eth0")], addresses=[address("eth0", "10.22.0.5")])
    alone = netns("batch-7", links=[link("eth0")], addresses=[address("eth0", "10.22.0.9")])
    tcp, udp = protocols.TCP, protocols.UDP
    return replace(
        node(host, inside, alone),
        pods=(
            Pod(namespace="shop", name="web-0", address=ip("10.22.0.5")),
            Pod(namespace="shop", name="db-0", address=ip("10.22.0.6")),
            Pod(namespace="test", name="db-0", address=ip("10.22.0.7")),
            Pod(namespace="shop", name="new-0"),
            Pod(namespace="late", name="job-0", netns="batch-7"),
        ),
        services=(
            Service(
                namespace="shop", name="api", type="ClusterIP",
                addresses=(ip("10.96.0.7"), ip("fd00:96::7")),
                ports=(
                    ServicePort(protocol=tcp, port=80, name="http"),
                    ServicePort(protocol=tcp, port=443, name="https"),
                ),
            ),
            Service(
                namespace="kube-system", name="kube-dns", type="ClusterIP",
                addresses=(ip("10.96.0.10"),),
                ports=(
                    ServicePort(protocol=udp, port=53, name="dns"),
                    ServicePort(protocol=tcp, port=53, name="dns-tcp"),
                ),
            ),
        ),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("named", "spelled"),
    [
        ("tcp pod/shop/web-0 > svc/shop/api:http", "tcp 10.22.0.5 > 10.96.0.7:80 from cni-1"),
        ("icmp pod/late/job-0 > 10.22.0.5", "icmp 10.22.0.9 > 10.22.0.5 from batch-7"),
        ("tcp pod/web-0 > svc/api:443", "tcp 10.22.0.5 > 10.96.0.7:443 from cni-1"),
        (
            "udp pod/web-0:5353 > service/kube-system/kube-dns",
            "udp 10.22.0.5:5353 > 10.96.0.10:53 from cni-1",
        ),
        ("icmp po/shop/web-0 > pods/test/db-0", "icmp 10.22.0.5 > 10.22.0.7 from cni-1"),
        ("tcp pod/batch-7 > 192.0.2.1:80", "tcp 10.22.0.9 > 192.0.2.1:80 from batch-7"),
        ("tcp host > pod/web-0:8080", "tcp 10.9.0.2 > 10.22.0.5:8080 from host"),
        ("tcp fd00::1 > svc/api:http", "tcp fd00::1 > [fd00:96::7]:80"),
        ("tcp pod/web-0 > 192.0.2.1:80 in veth1", "tcp 10.22.0.5 > 192.0.2.1:80 in veth1"),
        ("tcp pod/shop/db-0 > 192.0.2.1:80", "tcp 10.22.0.6 > 192.0.2.1:80"),
        ("tcp 10.0.0.1 > 192.0.2.1:80", "tcp 10.0.0.1 > 192.0.2.1:80"),
    ],
)
def test_names_become_addresses(named: str, spelled: str) -> None:
    """A pod sends from its own namespace where that is known; a service is met at the port that is
    named, or its only one.
    """
    assert str(resolve_probe(named, cluster())) == spelled


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ("tcp pod/shop/gone-0 > 192.0.2.1:80", "pod/shop/web-0"),
        ("tcp pod/shop/new-0 > 192.0.2.1:80", "pod/shop/web-0"),
        ("tcp pod/db-0 > 192.0.2.1:80", "several namespaces (shop, test)"),
        ("tcp 10.0.0.1 > svc/api", "80 (http), 443 (https)"),
        ("tcp 10.0.0.1 > svc/api:grpc", "80 (http), 443 (https)"),
        ("tcp 10.0.0.1 > svc/shop/none:80", "svc/shop/api"),
        ("tcp 10.0.0.1 > pod/web-0:http", "a port's number"),
        ("tcp fd00::1 > pod/web-0:80", "saw fd00::1 and 10.22.0.5"),
        ("tcp 10.0.0.1 > web-0:80", "pod/NAMESPACE/NAME"),
    ],
)
def test_a_name_that_leads_nowhere_is_refused(named: str, said: str) -> None:
    """The message shows what there is."""
    with pytest.raises(UsageError) as caught:
        resolve_probe(named, cluster())
    assert said in str(caught.value)


def test_only_names_wait_for_the_evidence() -> None:
    """A probe of addresses can be read, and refused, before anything else is."""
    assert names_ends("tcp pod/a/b > 10.0.0.1:80")
    assert names_ends("udp 10.0.0.1 > svc/a/b")
    assert not names_ends("tcp 10.0.0.1 > 10.0.0.2:80")
    assert not names_ends("nonsense pod/a/b")


@pytest.mark.parametrize(
    ("text", "ask"),
    [
        ("tcp pod/a > 10.0.0.1:80", "kubectl get pods"),
        ("tcp host > 10.0.0.1:80", "ip addr"),
        ("tcp 10.0.0.1 > svc/a:80", "kubectl get svc"),
    ],
)
def test_an_empty_node_knows_no_names(text: str, ask: str) -> None:
    """It says which command would tell them."""
    with pytest.raises(UsageError, match=ask):
        resolve_probe(text, node(netns()))


def test_the_command_takes_names(tmp_path: Path) -> None:
    """From a ticket that shows pods and services."""
    ticket = tmp_path / "ticket.md"
    ticket.write_text(TICKET, encoding="utf-8")
    done = podpath("trace", ticket, "--probe", "tcp host > svc/shop/api")
    assert done.returncode == 1
    assert "tcp 10.9.0.2 > 10.96.0.7:8080 from host" in done.stdout
    assert podpath("trace", ticket, "--probe", "tcp pod/shop/none > svc/shop/api").returncode == 2


def test_a_node_without_an_address_is_said_to_have_none() -> None:
    """Its name is right, so no other is suggested."""
    bare = replace(node(netns("host", links=[link("eth0")])), name="node1")

    with pytest.raises(UsageError, match="shows no address of that node: ip addr"):
        resolve_probe("tcp node/node1 > 10.0.0.1:80", bare)
