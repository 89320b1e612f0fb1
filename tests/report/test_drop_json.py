"""Drops as lines of JSON: whole documents of the published schema."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema

import podpath.report
from podpath.diagnosis.freed import DropAgreement, DropExplanation
from podpath.drops.events import DropKey, DropNames, DropNotes, HeardDrop
from podpath.drops.tally import FlowCount
from podpath.net import protocols
from podpath.net.packet import Packet
from podpath.report.drop_json import CountedFlow, render_counts_line, render_drop_line
from podpath.testing.nodes import ip, span

SCHEMA = json.loads(
    (Path(podpath.report.__file__).parent / "schema" / "drops-v1.json").read_text(encoding="utf-8")
)
PACKET = Packet(ip("10.0.0.1"), ip("10.0.0.2"), protocols.TCP, 40000, 80, protocols.SYN)
KEY = DropKey("NETFILTER_DROP", 1, 7, 2, 3, 0x0800, 6, 2, 40000, 80, PACKET.src, PACKET.dst)


def test_a_drop_is_a_line_of_the_schema() -> None:
    """Flow, place, packet, what the model says and its lines."""
    found = DropExplanation(
        agreement=DropAgreement.DISAGREES, netns="host", link="eth0", spans=(span("a rule"),)
    )
    drop = HeardDrop(KEY, 5, PACKET, mark=9, data=b"\x45\x00")
    notes = DropNotes(DropNames("host", "", "shop/web-0"), time=1.5, seconds=0.0125, age=2.5)
    line = render_drop_line(drop, "nf_hook_slow+0x7d", found, notes)
    document = json.loads(line)

    jsonschema.validate(document, SCHEMA)
    assert line.count("\n") == 1
    assert (document["kind"], document["told_after_ms"], document["packet"]) == (
        "drop",
        12.5,
        "4500",
    )
    assert (document["netns"], document["device"], document["mark"]) == ("host", "eth0", 9)
    assert (document["src"], document["dport"], document["flags"]) == ("10.0.0.1", 80, "SYN")
    assert (document["src_pod"], document["dst_pod"]) == ("shop/web-0", None)
    assert document["flow"] == "tcp 10.0.0.1:0 > 10.0.0.2:80 [SYN]"
    assert (document["evidence"][0]["text"], document["model_age"]) == ("a rule", 2.5)


def test_counts_are_lines_of_the_schema() -> None:
    """A turn and the summary have flows with rates, and what was not told."""
    bare = KEY._replace(src=None, dst=None, protocol=0)
    told = DropExplanation(agreement=DropAgreement.NAMED, netns="host", spans=(span("a rule"),))
    flows = [
        CountedFlow(FlowCount(KEY, 30, 600), DropNames("host"), "nf_hook_slow+0x7d", told),
        CountedFlow(FlowCount(bare, 1, 60), DropNames()),
    ]
    losses = {"seen": 31, "uncounted": 0, "unsent": 0, "missed": 0}
    for kind in ("flows", "summary"):
        document = json.loads(
            render_counts_line(kind, flows, seconds=2.0, left_out=4, losses=losses)
        )
        jsonschema.validate(document, SCHEMA)
        first, second = document["flows"]
        assert (first["per_second"], first["function"]) == (15.0, "nf_hook_slow+0x7d")
        assert (first["agreement"], first["decided_by"]) == ("named", span("a rule").source.name)
        assert (second["agreement"], second["decided_by"]) == (None, None)
        assert (document["left_out"], document["losses"]["seen"]) == (4, 31)
