"""Outputs in rows are kept row by row; what is no row of theirs is a gap."""

from __future__ import annotations

import time

import pytest

from podpath.evidence import recognition
from podpath.evidence.nettools.listed import KINDS
from podpath.evidence.records import HeadingRecord, MessageRecord
from podpath.net.messages import MessageKind
from podpath.net.provenance import GapKind
from tests.evidence.consoles import block, uncovered

BGP = """
Calico process is running.

IPv4 BGP status
+--------------+-------------------+-------+----------+--------------------------------+
| PEER ADDRESS |     PEER TYPE     | STATE |  SINCE   |              INFO              |
+--------------+-------------------+-------+----------+--------------------------------+
| 10.0.0.2     | node-to-node mesh | up    | 08:17:26 | Established                    |
| 172.18.0.1   | node-to-node mesh | start | 01:56:41 | Connect Socket: Network        |
|              |                   |       |          | unreachable                    |
+--------------+-------------------+-------+----------+--------------------------------+
"""
BIRD = """
BIRD v0.3.3+birdv1.6.8 ready.
name     proto    table    state  since       info
kernel1  Kernel   master   up     2019-03-04
Mesh_10_0_0_2 BGP master   up     2019-03-04  Established
Mesh_10_0_0_3 BGP master   start  2019-03-04  Active        Socket: No route to host
"""
SUMMARY = """
BGP router identifier 10.0.0.1, local AS number 64512 vrf-id 0
Neighbor        V         AS MsgRcvd MsgSent   TblVer  InQ OutQ  Up/Down State/PfxRcd
10.0.0.2        4      64512     201     209        0    0    0 03:12:44            4
10.0.0.3        4      64512       0      15        0    0    0    never       Active
"""
PROXIES = """
NAME          CLUSTER     CDS      LDS      EDS      RDS      ECDS      ISTIOD        VERSION
a-7d9c.shop   Kubernetes  SYNCED   SYNCED   SYNCED   SYNCED   NOT SENT  istiod-5d9f   1.20.1
b-7d9c.shop   Kubernetes  SYNCED   STALE    SYNCED   SYNCED   NOT SENT  istiod-5d9f   1.20.1
"""
CALLS = """
socket(AF_INET, SOCK_STREAM, IPPROTO_TCP) = 11259
setsockopt(11259, SOL_TCP, TCP_NODELAY, [1], 4) = 0
connect(11259, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("10.0.0.9")}, 16) = 0
"""
MOST_SECONDS = 2.0
"""Far more than a linear match takes on a busy machine, and far less than any other."""
SYSTEM = """
PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"
NAME="Debian GNU/Linux"
VERSION_ID="12"
"""


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (BGP, "calicoctl node status"),
        (BIRD, "birdc show protocols"),
        (SUMMARY, "show ip bgp summary"),
        (PROXIES, "istioctl proxy-status"),
        (CALLS, "strace"),
        (SYSTEM, "os-release"),
    ],
)
def test_every_row_is_kept(text: str, name: str) -> None:
    """Each output is known by its heading or its rows, and nothing of it is left."""
    source = block(text)
    found = recognition.recognise(source)
    assert found is not None
    assert name == found.name
    assert () == found.read(source).gaps


@pytest.mark.parametrize("text", [BGP, BIRD, SUMMARY])
def test_a_session_that_is_down_is_said(text: str) -> None:
    """The row of a session that is not established is a message, and that of another none."""
    reading = recognition.read(block(text))
    assert reading is not None
    said = [record for record in reading.records if isinstance(record, MessageRecord)]
    assert [MessageKind.BGP_NOT_ESTABLISHED] == [record.kind for record in said]


def test_a_stale_proxy_is_said() -> None:
    """A proxy that has not taken its configuration is a message with its name."""
    reading = recognition.read(block(PROXIES))
    assert reading is not None
    said = [record for record in reading.records if isinstance(record, MessageRecord)]
    assert [{"proxy": "b-7d9c.shop"}] == [dict(record.values) for record in said]


def test_another_line_is_a_gap() -> None:
    """What is no row of the output is not taken for one, and forbids the all-clear."""
    source = block(BGP + "foo bar baz\n")
    reading = recognition.read(source)
    assert reading is not None
    assert ["foo bar baz"] == [gap.span.text for gap in reading.gaps]
    assert GapKind.UNREAD is reading.gaps[0].kind
    assert [] == uncovered(source, reading)


def test_calls_of_a_program_decide_nothing() -> None:
    """A line between the calls of a program that is none of them is set aside."""
    reading = recognition.read(block(CALLS + "foo bar baz\n"))
    assert reading is not None
    assert {GapKind.ASIDE} == {gap.kind for gap in reading.gaps}
    assert any(isinstance(record, HeadingRecord) for record in reading.records)


def test_names_are_unique() -> None:
    """No two kinds of output have one name."""
    assert len(KINDS) == len({kind.name for kind in KINDS})


@pytest.mark.parametrize("line", ["a" + ".a" * 900 + " !", "-1" * 900 + "!", "#" + "(" * 1800])
def test_a_line_that_only_begins_like_a_row_costs_little(line: str) -> None:
    """No row's pattern tries the parts of a long line in every combination."""
    before = time.process_time()
    for kind in KINDS:
        assert kind.rows.match(line) is None
    assert time.process_time() - before < MOST_SECONDS
