"""Flows of one class: what they have in common, and that each gets the answer of its own walk."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from podpath.net.addresses import Address
from podpath.net.probe import Probe
from podpath_fleet.flow_classes import FlowClasses, FlowHeader, join_header, list_offsets
from tests.fleet.pairs import compare_nodes
from tests.seeds import fresh_seed


def test_each_answer_is_that_of_a_walk_of_its_own() -> None:
    """On random nodes, the class of a flow says of it what its own walk says: verdict, headers,
    decisions and lines of every packet.
    """
    seed = fresh_seed()
    tally = compare_nodes(range(seed, seed + 4))

    assert tally.wrong == []
    assert tally.by_class > 0


def test_so_it_is_on_nodes_of_both_families() -> None:
    """IPv6 has the same classes."""
    seed = fresh_seed()
    tally = compare_nodes(range(seed, seed + 2), both_families=True)

    assert tally.wrong == []


def test_a_class_is_who_agrees_in_what_was_looked_at() -> None:
    """A walk that asks for the destination's network and port has the same answer for whoever
    shares them.
    """

    def answer(header: FlowHeader) -> str:
        inside = header.probe.dst.value & 0xFFFFFF00 == 0x0A000100
        return f"{inside} {header.probe.dport == 80}"

    classes = FlowClasses(answer)
    mask, first = classes.find(Probe.parse("tcp 192.0.2.1 > 10.0.1.7:80"))
    again = classes.find(Probe.parse("tcp 192.0.2.9:99 > 10.0.1.200:80"))

    assert (first, (mask, first)) == ("True True", again)
    assert mask == join_header(0, 0xFFFFFF00, 0, 0xFFFF, 4)
    assert classes.walked == 1
    assert classes.find(Probe.parse("tcp 192.0.2.1 > 10.0.2.7:80"))[1] == "False True"


def test_flows_that_start_elsewhere_are_never_of_one_class() -> None:
    """Protocol, namespace and device are no part of the header: a walk need not ask for them."""
    classes = FlowClasses(lambda header: str(header.probe))
    texts = ("tcp 10.0.0.1 > 10.0.0.2:80", "tcp 10.0.0.1 > 10.0.0.2:80 in eth0")
    answers = [classes.find(Probe.parse(text))[1] for text in texts]

    assert answers == list(texts)


def test_a_hole_is_a_whole_field_of_the_flow() -> None:
    """Part of an address is no hole, nor is the field of another flow."""
    header = FlowHeader(Probe.parse("tcp 10.0.0.1 > 10.0.0.2:80"))
    other = FlowHeader(Probe.parse("tcp 10.0.0.1 > 10.0.0.2:80"))
    probe = header.probe

    assert header.hole(probe.src.value) == "src"
    assert header.hole(probe.sport) == "sport"
    assert header.hole(probe.dst.value >> 8) is None
    assert header.hole(other.probe.dst.value) is None
    assert header.hole(80) is None


def test_fields_do_not_overlap() -> None:
    """Each bit of a header is of one field, whatever the family."""
    for family, text in ((4, "255.255.255.255"), (6, "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")):
        address = Address.parse(text)
        whole = join_header(address.value, address.value, 0xFFFF, 0xFFFF, address.family)
        assert whole.bit_count() == whole.bit_length() == 32 + 2 * (32 if family == 4 else 128)
        assert len(set(list_offsets(address.family).values())) == 4


def test_the_datapaths_own_tests_hold_for_sets_of_one_header() -> None:
    """A sample of them; `tests.fleet.singletons` tells how to run them all."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    command += ["-p", "tests.fleet.singletons", "tests/datapath/stages", "tests/datapath/tracing"]
    run = subprocess.run(
        command, check=False, capture_output=True, text=True, cwd=Path(__file__).parents[2]
    )
    watched = re.search(r"(\d+) nodes were walked by sets", run.stdout)

    assert run.returncode == 0, run.stdout
    assert watched is not None
    assert int(watched[1]) > 20
