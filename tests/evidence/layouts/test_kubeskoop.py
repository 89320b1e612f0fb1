"""The collector's JSON of kubeskoop, as the tools print the same facts."""

from __future__ import annotations

import json

from podpath.evidence.layouts.kubeskoop import LAYOUT, is_dump, take_apart
from podpath.evidence.layouts.table import NamedFile, find_bundles, is_single
from podpath.evidence.recognition import read
from podpath.net.provenance import Source

NET = {"IP": "10.244.1.0", "Mask": "////AA=="}
DUMP = {
    "p": [{"id": "1", "n": "web-0", "ns": "shop", "nm": "none"}],
    "n": [
        {
            "n": "/proc/1/ns/net", "i": "4026531840", "p": 1, "k": "",
            "if": [
                {
                    "n": "eth0", "i": 2, "m": 1500, "d": "device", "st": 1, "p": 0, "mi": 4,
                    "s": {"net.ipv4.conf.eth0.rp_filter": "1"},
                    "a": [{"IP": "192.168.1.2", "Mask": "////AA=="}],
                    "ne": [{"State": 2, "IP": "192.168.1.1", "HardwareAddr": "AgAK9AEF"}],
                    "f": [{"State": 128, "IP": "192.168.1.9", "HardwareAddr": "AgAK9AEG"}],
                },
                {
                    "n": "cni0", "i": 4, "m": 1450, "d": "bridge", "st": 2, "s": None, "a": [],
                    "ne": [], "f": [], "p": 0, "mi": 0,
                },
            ],
            "s": {"net.ipv4.ip_forward": "0", "vm.swappiness": "60"},
            "r": [
                {
                    "f": 2, "o": "eth0", "d": {"IP": "0.0.0.0", "Mask": "AAAAAA=="},
                    "g": "192.168.1.1", "p": 3, "tb": 254, "t": 1,
                },
                {
                    "f": 2, "o": "cni0", "sc": 253, "d": NET, "s": "10.244.1.1", "p": 2, "tb": 254,
                    "t": 1, "pr": 5,
                },
            ],
            "ru": [
                {"p": 0, "tb": 255, "m": -1, "ma": -1},
                {"p": 40, "tb": 0, "m": -1, "s": NET},
                {"p": 90, "tb": 90, "m": 512, "ma": 3840, "i": "eth0"},
            ],
            "it": "*filter\n:FORWARD ACCEPT [0:0]\nCOMMIT\n",
            "is": [{"n": "KUBE", "t": "hash:ip,port", "m": {"10.0.0.1,tcp:80": ""}}],
            "vs": {"x": {
                "pro": "tcp", "ip": "10.96.0.1", "p": 443,
                "r": [{"ip": "10.0.0.1", "p": 6443, "m": True, "w": 1}],
            }},
            "c": [
                {"l": "0.0.0.0", "lp": 22, "p": "tcp", "st": 0},
                {"l": "10.0.0.1", "lp": 22, "p": "tcp", "st": 1},
            ],
        },
        {
            "n": "/proc/9/ns/net", "p": 9, "k": "shop/web-0", "if": [],
            "s": {"net.ipv4.ip_forward": "1"},
        },
    ],
}  # fmt: skip
TEXT = json.dumps(DUMP, separators=(",", ":"))


def test_recognition() -> None:
    """It is known by its members, whatever its file is called; other JSON is not."""
    assert is_dump(TEXT.encode())
    assert is_single(TEXT.encode())
    assert [LAYOUT] == [
        bundle.layout
        for bundle in find_bundles([NamedFile("anything", TEXT.encode()), NamedFile("x", b"{}")])
    ]
    assert not is_dump(b'{"p": [], "n": []}')
    assert not is_dump(b'{"items": [{"n": "/proc/1/ns/net"}]}')


def test_every_fact_is_read() -> None:
    """Each part is in its namespace and is read by the reader of the tool; a rule whose action is
    lost is left unread.
    """
    parts = [*take_apart(TEXT)]
    assert {"host", "pod/shop/web-0"} == {part.netns for part in parts}
    names = [part.name.rpartition("/")[2] for part in parts if part.netns == "host"]
    wanted = "ip-addr ip-route ip-rule ip-neigh bridge-fdb sysctl iptables-save ipset ipvsadm ss"
    assert wanted == " ".join(names)
    for part in parts:
        reading = read(Source(name=part.name, lines=part.lines, command=part.command))
        assert reading is not None, part.name
        assert reading.records, part.name
        lost = ['"priority": 40' in gap.span.text for gap in reading.gaps]
        assert ([True] if part.name == "host/ip-rule" else []) == lost, part.name


def test_damage() -> None:
    """What is no JSON, or of other types, gives nothing."""
    assert [] == [*take_apart("{")]
    assert [] == [*take_apart('{"n": [1, {"k": 5, "if": 3}]}')]
