"""`podpath watch` of a cluster: what is refused, and how lines are printed. The watch itself is
tested with a real agent and a real API server in `tests/sources/test_drops.py`.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from podpath.cli.cluster_watch import DropPrinter
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


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("shop/web-0", "--collect"), "expected --image IMAGE too"),
        (("shop/web-0", "--port", "53"), "--port: only where this node is watched"),
        (("--live", "--by", "bpf"), "--by: only where this node is watched"),
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
