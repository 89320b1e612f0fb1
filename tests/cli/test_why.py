"""`podpath why` on the command line."""

from __future__ import annotations

from click.testing import CliRunner

from podpath.cli.main import podpath
from tests.clusters import OBJECTS, RECORDED

NODES = [
    word for node in ("node1", "node2") for word in ("--node", f"{node}={RECORDED / node}.tar.gz")
]


def test_an_answer_in_three_lines_with_its_exit_code() -> None:
    """Options stand where `diagnose` has them."""
    words = ["why", "shop/web-node1", "node/node2", *NODES, "--objects", str(OBJECTS), "--brief"]
    done = CliRunner().invoke(podpath, words)

    assert done.exit_code == 0
    assert done.output.startswith("NOTHING WRONG FOUND: icmp 10.244.1.2 > 10.199.0.12")


def test_a_node_without_a_name_is_refused() -> None:
    """A bundle alone does not say whose it is."""
    done = CliRunner().invoke(podpath, ["why", "a", "b", "--node", "node1.tar.gz"])

    assert done.exit_code == 2
    assert "expected NAME=BUNDLE, saw 'node1.tar.gz'" in done.output


def test_help_shows_ends_and_examples() -> None:
    """Who does not know what an end is finds it there."""
    shown = CliRunner().invoke(podpath, ["why", "--help"]).output

    assert "svc/shop/api:http" in shown
    assert "podpath why outside node/node2:30080" in shown
