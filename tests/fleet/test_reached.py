"""What becomes of all flows: joined by answer, with a witness, the line, and what is not known."""

from __future__ import annotations

import json
from dataclasses import replace

from bench.acl_diagrams import Diagrams, count_by_diagrams, count_by_walks, draw_lines
from bench.reach_services import measure_crowd
from podpath.flows.flow import FlowSet
from podpath.library.case import Case, NodeCase
from podpath.library.given import Pasted
from podpath.library.reading import read
from podpath.library.trace import trace
from podpath.net.probe import Probe
from podpath.node.case import Case as Facts
from podpath_fleet.header_region import HeaderRegion
from podpath_fleet.reach_classes import Enumeration, HeaderSpace
from podpath_fleet.reached import ReachResult, compare_reach, reach
from tests.flows.samples import given_case
from tests.library.samples import NO_FORWARDING

ASKED = FlowSet(("10.244.1.5 in cni0",), ("198.51.100.0/24", "192.0.2.2"), ("tcp",), "22,443")
FORWARDING = Pasted(NO_FORWARDING.text.replace("ip_forward = 0", "ip_forward = 1"), "later.txt")


def test_flows_with_one_answer_are_told_together() -> None:
    """Its witness is walked by `trace` to the same verdict, which quotes the same line."""
    found = reach(read(NO_FORWARDING), ASKED)
    lost = next(one for one in found.sets if one.answer.row.verdict == "NEVER")
    document = json.loads(found.json())
    told = next(one for one in document["sets"] if one["verdict"] == "NEVER")
    single = trace(NO_FORWARDING, told["witness"])

    assert (found.complete, found.exit_code, document["complete"]) == (True, 1, True)
    assert lost.size == 256 * 2 * 28232
    assert told["headers"][0]["dst"] == ["198.51.100.0/24"]
    assert str(single.verdict) == "NEVER"
    assert single.branches[0].last.deciding.spans[0].text == told["decided_by"]["text"]
    assert "net.ipv4.ip_forward = 0" in found.text()
    assert f"e.g. {told['witness']}" in found.text()


def test_what_was_not_walked_is_unknown() -> None:
    """A bound on walks leaves a rest, which text and JSON tell of."""
    found = reach(read(FORWARDING), ASKED, walks=1)

    assert (found.complete, found.exit_code) == (False, 3)
    assert "UNKNOWN" in found.text()
    unknown = json.loads(found.json())["unknown"]
    walked = sum(one.size for one in found.sets)
    left = sum(region.size for _, rest in found.enumerations for region in rest.left)
    assert unknown != []
    assert walked + left == 257 * 2 * 28232


def test_what_changed_has_both_answers() -> None:
    """Forwarding is switched on: what was dropped is sent, what was delivered is as it was."""
    found = compare_reach(read(NO_FORWARDING), read(FORWARDING), ASKED)
    (change,) = found.changes
    (told,) = json.loads(found.json())["changes"]

    assert (found.complete, found.exit_code) == (True, 1)
    assert told["headers"][0]["dst"] == ["198.51.100.0/24"]
    assert change.before.row.text == "net.ipv4.ip_forward = 0"
    assert told["before"]["verdict"] == "NEVER"
    assert told["after"]["verdict"] != "NEVER"
    assert "- NEVER" in found.text()


def test_pods_without_a_shown_address_are_unknown() -> None:
    """All pods were asked about: what works for the others is no answer for these."""
    node = given_case().node
    some = node.namespaces["b"]
    hidden = replace(some, addresses=some.addresses._replace(items=(), complete=False))
    namespaces = {**node.namespaces, "b": hidden}
    case = Case(nodes=(NodeCase(name="", facts=Facts(node=replace(node, namespaces=namespaces))),))
    asked = FlowSet((), ("10.1.0.2",), ("tcp",), "80")
    found, same = reach(case, asked), compare_reach(case, case, asked)
    named = reach(case, asked._replace(sources=(f"10.1.0.2 from {some.name}",)))

    assert (found.unaddressed, found.complete) == (("b",), False)
    assert json.loads(found.json())["unaddressed"] == ["b"]
    assert "no address of which is shown" in found.text()
    assert (same.unaddressed, same.changes, same.exit_code) == (("b",), (), 3)
    assert json.loads(same.json())["complete"] is False
    assert "no address of which is shown" in same.text()
    assert named.unaddressed == ()


def test_lines_that_moved_are_no_change() -> None:
    """The same facts in another file, some lines further down."""
    moved = Pasted(f"root@node1:~# uname -r\n6.1.0\n{NO_FORWARDING.text}", "moved.txt")
    found = compare_reach(read(NO_FORWARDING), read(moved), ASKED)

    assert (found.changes, found.exit_code) == ((), 0)
    assert found.text() == "sets of flows with another answer: 0\n"


def test_a_change_that_was_not_walked_is_not_ruled_out() -> None:
    """Without an end of the enumeration nobody says that nothing changed."""
    routed = NO_FORWARDING.text.replace("default via 192.0.2.1", "default via 192.0.2.9")
    found = compare_reach(read(NO_FORWARDING), read(Pasted(routed, "later.txt")), ASKED, walks=1)

    assert (found.changes, found.complete, found.exit_code) == ((), False, 3)
    assert "UNKNOWN" in found.text()


def test_a_namespace_of_any_name_does_no_harm() -> None:
    """Names come from the evidence, and the text goes to a terminal."""
    sample = Probe.parse("tcp 10.0.0.2 > 10.0.0.3:80")._replace(netns="web\x1b[2J\u202e")
    ends = ((sample.src.value, sample.src.value),), ((sample.dst.value, sample.dst.value),)
    region = HeaderRegion(*ends, ((80, 80),), ((40000, 40000),))
    told = ReachResult((), ((HeaderSpace(sample, region), Enumeration((), (region,))),)).text()

    assert told.startswith("tcp 10.0.0.2 from web\\x1b[2J\\u202e: 0 classes")
    assert told.replace("\n", "").isprintable()


def test_all_pairs_of_many_pods_are_enumerated_in_time() -> None:
    """The sample of `bench/reach_services.py`: 50 pods and 100 services."""
    spent, _ = measure_crowd(100, 50, ("10.96.0.0/12",))

    assert spent.kept, spent


def test_each_line_drops_the_headers_of_its_decision_diagram() -> None:
    """Counted by an independent account of the same list, one diagram for each line: the sample of
    `bench/acl_diagrams.py`.
    """
    lines = draw_lines(12, seed=7)
    counts, result = count_by_walks(lines)
    drawn, _ = count_by_diagrams(lines, [space.region for space, _ in result.enumerations])

    assert result.complete
    assert sum(map(bool, counts)) >= 3
    assert [size if line.drops else 0 for size, line in zip(drawn, lines, strict=True)] == counts


def test_diagrams_count_as_sets_do() -> None:
    """Ranges of one field, what they have in common and what they do not."""
    made = Diagrams()
    one, other = made.of_range("dport", 10, 99), made.of_range("dport", 50, 65535)
    rest = 2 ** (32 + 32 + 16)

    assert 90 * rest == made.count(one)
    assert 50 * rest == made.count(made.both(one, other))
    assert 40 * rest == made.count(made.without(one, other))
    assert made.without(one, made.both(one, other)) == made.without(one, other)
    assert (0, 1) == (made.both(one, 0), made.of_range("src", 0, 2**32 - 1))
