"""`tc qdisc`, from text and from JSON."""

from __future__ import annotations

import pytest

from podpath.evidence.node_records import QdiscRecord
from podpath.evidence.records import Reading
from tests.evidence.consoles import block, read

TEXT = """
qdisc noqueue 0: dev lo root refcnt 2
qdisc fq_codel 8001: dev eth0 root refcnt 2 limit 10240p flows 1024 quantum 1514
 Sent 7206 bytes 83 pkt (dropped 0, overlimits 0 requeues 0)
 backlog 0b 0p requeues 0
  maxpacket 0 drop_overlimit 0 new_flow_count 0 ecn_mark 0
qdisc clsact ffff: dev eth0 parent ffff:fff1
qdisc noqueue 0: [Unknown qdisc, optlen=0] dev v0 root refcnt 2
"""
JSON = """
[{"kind":"noqueue","handle":"0:","dev":"lo","root":true,"refcnt":2,"options":{}},
{"kind":"fq_codel","handle":"8001:","dev":"eth0","root":true,"refcnt":2,"options":{"limit":10240}},
{"kind":"clsact","handle":"ffff:","dev":"eth0","parent":"ffff:fff1","options":{}}]
"""


def disciplines(reading: Reading) -> list[tuple[str, str, bool]]:
    """Return the kind and the device of each, and whether it is the root's."""
    return [
        (record.kind, record.link, record.root)
        for record in reading.records
        if isinstance(record, QdiscRecord)
    ]


@pytest.mark.parametrize("text", [TEXT, JSON])
def test_kind_and_device_are_read(text: str) -> None:
    """Counters and options say nothing of their own."""
    reading = read(block(text))

    assert disciplines(reading)[:3] == [
        ("noqueue", "lo", True),
        ("fq_codel", "eth0", True),
        ("clsact", "eth0", False),
    ]
    assert reading.gaps == ()


def test_what_is_none_is_a_gap() -> None:
    """Among the lines of a listing; an object without a device too."""
    assert read(block(f"{TEXT}nonsense", "tc -s qdisc")).gaps
    assert read(block(JSON.replace('"dev":"lo",', ""))).gaps
    assert read(block(JSON.replace('"dev":"lo"', '"dev":"a/b"'))).gaps
