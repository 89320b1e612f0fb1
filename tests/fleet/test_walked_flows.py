"""Many flows through a node: each row has the answer that `trace` gives."""

from __future__ import annotations

import json
from pathlib import Path

import podpath
from bench.converse import POD, build_node
from bench.walk_flows import measure_size
from podpath.library.case import Case, NodeCase
from podpath.library.reading import read
from podpath.library.trace import trace
from podpath.node.case import Case as Facts
from podpath_fleet.flow_table import FlowRow
from podpath_fleet.walked_flows import FlowWalker, walk_many
from tests.library.samples import NO_FORWARDING, PROBE

BUNDLE = Path(__file__).parents[2] / "examples/incidents/kube-proxy-before-cilium/bundle"


def test_verdicts_and_lines_are_those_of_trace() -> None:
    """Also where the all-clear is forbidden: a batch says no more than one walk."""
    case = read(str(BUNDLE))
    pod = next(one for one in case.node.namespaces.values() if one.name != "host")
    own = next(item.address for item in pod.addresses.items if item.scope == "global")
    texts = [
        f"{protocol} {own}:{sport} > {dst} from {pod.name}"
        for protocol, dst in (("tcp", "1.1.1.1:443"), ("udp", "9.9.9.9:53"))
        for sport in (1025, 40000, 50123)
    ]
    walked = walk_many(case, texts)

    for text, answer in zip(texts, walked.answers, strict=True):
        single = trace(case, text)
        assert (text, answer.verdict) == (text, str(single.verdict))
        assert answer.branches == len(single.branches)


def test_one_walk_serves_every_source_port() -> None:
    """A thousand connections that differ in what nobody asks about take one walk."""
    flows = [PROBE.replace(" >", f":{port} >") for port in range(1024, 2024)]
    walked = walk_many(NO_FORWARDING, flows)

    assert (walked.walked, walked.verdicts) == (1, {"NEVER": 1000})
    assert walked.exit_code == 1
    assert walked.text().startswith("1,000 flows: 1,000 NEVER (1 walks)\n")


def test_rows_that_are_no_flows_are_told_of() -> None:
    """A row that cannot be read, or whose port is none, or that starts nowhere on the node, costs
    itself alone.
    """
    rows = [
        FlowRow("tcp", "10.244.1.5", "1", "198.51.100.7", "443", "in cni0", ""),
        FlowRow("tcp", "10.244.1.5", "77777", "198.51.100.7", "443", "in cni0", ""),
        FlowRow("tcp", "pod/no/such", "1", "198.51.100.7", "443", "", ""),
        FlowRow("tcp", "10.244.1.5", "x", "198.51.100.8", "443", "in cni0", ""),
        FlowRow("tcp", "10.244.1.5", "1", "198.51.100.7", "443", "from nowhere", ""),
    ]
    walked = walk_many(NO_FORWARDING, rows)

    verdicts = [answer.verdict for answer in walked.answers]
    assert ["NEVER", *["UNREADABLE"] * 4] == verdicts
    assert walked.exit_code == 2
    assert "from 0 to 65535" in walked.answers[1].reason
    assert "nowhere" in walked.answers[4].reason


def test_a_walker_stays_warm() -> None:
    """What one batch has walked, the next one finds."""
    walker = FlowWalker(read(NO_FORWARDING))
    row = FlowRow("tcp", "10.244.1.5", "7777", "198.51.100.7", "443", "in cni0", "")
    first = list(walker.walk([row]))
    again = list(walker.walk([row._replace(sport="7778")]))

    assert (first, walker.classes.walked) == (again, 1)


def test_the_library_takes_a_table_and_writes_one(tmp_path: Path) -> None:
    """`podpath.walk_many` with the path of a table, told as it goes."""
    table, out = tmp_path / "flows.csv", tmp_path / "out.parquet"
    table.write_text("proto,src,dst,dport,in\ntcp,10.244.1.5,198.51.100.7,443,cni0\n")
    told: list[str] = []
    walked = podpath.walk_many(
        NO_FORWARDING, str(table), progress=lambda doing, _: told.append(doing)
    )
    walked.write(str(out))

    assert json.loads(walked.json())["verdict"] == "NEVER"
    assert "walking 1 flows" in told
    assert out.stat().st_size > 0


def test_a_source_port_makes_no_class() -> None:
    """Connections of a pod to a service differ in nothing that their walk looks at."""
    case = Case(nodes=(NodeCase(name="", facts=Facts(node=build_node(20))),))
    asked = [f"tcp {POD}:{port} > 10.96.0.3:80 from pod" for port in range(40000, 40020)]
    asked += [probe.replace("tcp", "udp") for probe in asked]
    answer = walk_many(case, asked)

    assert len(answer.answers) == 40
    assert answer.walked == 2


def test_flows_of_known_classes_are_answered_in_time() -> None:
    """The sample of `bench/walk_flows.py`: 100 services."""
    warm, _ = measure_size(100)

    assert warm.kept, warm
