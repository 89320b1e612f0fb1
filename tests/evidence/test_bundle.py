"""What the names of a bundle's files say, and what its manifest states."""

from __future__ import annotations

import json

import pytest

from podpath.evidence.bundle import (
    assemble_bundle,
    command_of,
    is_bundle,
    locate_capture,
    locate_member,
)
from podpath.evidence.bundle_manifest import parse_time, read_manifest, recognise_manifest
from podpath.evidence.gathered import BundlePlace
from podpath.evidence.node_records import BundleRecord, VethPairRecord
from podpath.net.addresses import IfName
from tests.evidence.consoles import block

MANIFEST = """\
{"format": "podpath/bundle/v1", "node": "n1", "kernel": "6.12.0", "time": "2026-11-21T23:12:17+00:00",
 "netns": {"host": {"role": "host"}, "cni-1": {"role": "pod", "pod": "shop/web-0"}},
 "veths": [{"netns": "host", "link": "veth1", "peer_netns": "cni-1", "peer_link": "eth0"}, "?"]}"""  # noqa: E501

PLACES = [
    ("netns/host/sysctl.txt", BundlePlace("host", "sysctl -a")),
    ("top/netns/cni-1/ip6-route.json", BundlePlace("cni-1", "ip -6 -d -j route show table all")),
    ("netns/host/iptables-legacy-save.txt", BundlePlace("host", "iptables-legacy-save -c")),
    ("netns/host/unknown.txt", BundlePlace("host", None)),
    ("node/bond-show.txt", BundlePlace(None, "ovs-appctl bond/show")),
    ("node/cni/10-x.conflist", BundlePlace(None, "cat /etc/cni/net.d/10-x.conflist")),
    ("logs/messages", BundlePlace()),
]


@pytest.mark.parametrize(("name", "place"), PLACES)
def test_names(name: str, place: BundlePlace) -> None:
    """A member's name says its namespace and its command."""
    assert place == locate_member(name)


def test_captures() -> None:
    """The text of a capture is named after its namespace and its device."""
    assert BundlePlace("cni-1", "tcpdump -i eth0") == locate_capture(
        "captures/cni-1-eth0.txt", {"host", "cni", "cni-1"}
    )
    assert BundlePlace(None, "tcpdump -i cni0") == locate_capture("captures/cni0.txt", {"host"})
    assert locate_capture("netns/host/ss.txt", {"host"}) is None


@pytest.mark.parametrize(
    ("names", "expected"),
    [(["a/b.txt"], False), (["bundle.json"], True), (["x/netns/host/ss.txt"], True)],
)
def test_what_a_bundle_is(names: list[str], expected: bool) -> None:  # noqa: FBT001
    """A manifest or a namespace's folder makes a bundle."""
    assert expected == is_bundle(names)


def test_unknown_files_have_no_command() -> None:
    """Only names of the layout say a command."""
    assert command_of("notes.txt") is None


def test_a_manifest() -> None:
    """Node, kernel, time, roles, pods and veth pairs are read; what is damaged is left out."""
    source = block(MANIFEST)
    assert recognise_manifest(source)
    (record,) = read_manifest(source).records
    assert isinstance(record, BundleRecord)
    assert ("n1", "6.12.0", 1795302737.0) == (record.node, record.kernel, record.taken_at)
    assert ({"host": "host", "cni-1": "pod"}, {"cni-1": "shop/web-0"}) == (
        record.roles,
        record.pods,
    )
    assert (VethPairRecord("host", IfName("veth1"), "cni-1", IfName("eth0")),) == record.veths


def test_numbers_of_namespaces_are_read_as_far_as_they_say_something() -> None:
    """A manifest without them says nothing of any number."""
    about = {"host": {"nsids": {"0": "cni-1", "1": None, "2": 7}}, "cni-1": {"nsids": []}}
    (record,) = read_manifest(block(json.dumps({"netns": about}))).records
    assert isinstance(record, BundleRecord)
    assert record.nsids == {"host": {"0": "cni-1"}}


@pytest.mark.parametrize(
    ("value", "seconds"),
    [(5, 5.0), ("1970-01-01T00:00:05", 5.0), ("soon", None), (True, None), (None, None)],
)
def test_times(value: object, seconds: float | None) -> None:
    """Times are seconds or ISO 8601, in UTC unless they say otherwise."""
    assert seconds == parse_time(value)


def test_files_become_sources() -> None:
    """Each file becomes a source in its place; a capture is a gap, unless its text is there, too;
    junk is a gap.
    """
    found = assemble_bundle([
        ("bundle.json", "b/bundle.json", MANIFEST.encode()),
        ("netns/host/sysctl.txt", "b/netns/host/sysctl.txt", b"net.ipv4.ip_forward = 1\n"),
        ("netns/host/conntrack.txt", "b/netns/host/conntrack.txt", b""),
        ("captures/host-eth0.pcap", "b/captures/host-eth0.pcap", b"\xd4\xc3\xb2\xa1"),
        (
            "captures/host-eth0.txt", "b/captures/host-eth0.txt",
            b"10:00:00.1 IP 10.0.0.1 > 10.0.0.2: ESP\n",
        ),
        ("captures/eth1.pcap", "b/captures/eth1.pcap", b"\xd4\xc3\xb2\xa1"),
        ("logs/junk", "b/logs/junk", b"\0\0"),
    ])  # fmt: skip
    assert [None, "sysctl -a", "conntrack -L -o extended,id", "tcpdump -i eth0"] == [
        source.command for source in found.sources
    ]
    assert {1795302737.0} == {source.taken_at for source in found.sources}
    assert ["b/captures/eth1.pcap", "b/logs/junk"] == [gap.span.source.name for gap in found.gaps]
