"""`podpath watch` of a cluster: what is refused, and how lines are printed. The watch itself is
tested with a real agent and a real API server in `tests/sources/test_drops.py`.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from podpath.cli.cluster_watch import PATIENCE_SECONDS, DropPrinter, WatchTimer
from podpath.cli.main import run
from podpath.report.style import Style
from podpath.sources.drops import NodeEnd, NodeLine

FLOW = {"reason": "NO_SOCKET", "text": "udp a > b", "netns": "host", "per_second": 2.0}
DROP = {
    "kind": "drop", "reason": "NETFILTER_DROP", "text": "udp a > b", "src_pod": "shop/web-0",
    "time": 1.5, "said": "rule 1 of FORWARD drops it",
}  # fmt: skip


def test_json_lines_bear_their_node(capsys: pytest.CaptureFixture[str]) -> None:
    """A line of a node is the node's own, with its name before."""
    DropPrinter(as_json=True, style=Style()).line(NodeLine("node1", {"kind": "drop"}))
    assert json.loads(capsys.readouterr().out) == {"node": "node1", "kind": "drop"}


def test_text_is_printed_as_it_comes(capsys: pytest.CaptureFixture[str]) -> None:
    """Drops with the clock's time of the drop, rates with that of now, ends aside."""
    printer = DropPrinter(as_json=False, style=Style())
    printer.line(NodeLine("node1", DROP))
    printer.line(NodeLine("node2", {"kind": "flows", "flows": [FLOW]}))
    printer.end(NodeEnd("node2", "its time is over", failed=False))
    told = capsys.readouterr()
    first, said, rate = told.out.splitlines()

    assert first.endswith(".500 node1 NETFILTER_DROP udp a > b from shop/web-0")
    assert said.strip() == "rule 1 of FORWARD drops it"
    assert rate.endswith("node2      2.0/s NO_SOCKET udp a > b in host")
    assert told.err == "node2: its time is over\n"


def test_the_time_begins_once_every_node_is_heard(capsys: pytest.CaptureFixture[str]) -> None:
    """Not while an agent still reads its node, which takes longer than a short watch."""
    now = [100.0]
    timer = WatchTimer(("node1", "node2"), 1.0, lambda: now[0])
    timer.note("node1")
    now[0] += 30
    assert not timer.is_over()
    assert capsys.readouterr().err == ""
    timer.note("node2")
    timer.note("node2")
    assert not timer.is_over()
    assert capsys.readouterr().err == "every node is heard now: 1 s from here\n"
    now[0] += 1

    assert timer.is_over()


def test_a_node_that_says_nothing_is_not_waited_for_in_vain(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It is named, and the time begins without it."""
    now = [100.0]
    timer = WatchTimer(("node1", "node2"), 5.0, lambda: now[0])
    timer.note("node1")
    now[0] += PATIENCE_SECONDS
    assert not timer.is_over()
    assert "not heard for 60 s: node2: 5 s from here" in capsys.readouterr().err
    now[0] += 5

    assert timer.is_over()


def test_without_a_time_there_is_no_end() -> None:
    """Whoever watches stops by a signal."""
    now = [100.0]
    timer = WatchTimer(("node1",), None, lambda: now[0])
    timer.note("node1")
    now[0] += 10 * PATIENCE_SECONDS

    assert not timer.is_over()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("shop/web-0", "--collect"), "expected --image IMAGE too"),
        (("shop/web-0", "--port", "53"), "--port: only for watching this node"),
        (("--live", "--by", "bpf"), "--by: only for watching this node"),
        (("shop/web-0", "--kubeconfig", "/nowhere/config"), "/nowhere/config"),
    ],
)
def test_what_makes_no_sense_is_refused(
    words: tuple[str, ...],
    said: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """Before anything is asked."""
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    assert run(["watch", *words]) == 2
    assert said in capsys.readouterr().err
