"""Node ports that no rule of a node takes, on the snapshots of a real cluster."""

from __future__ import annotations

from pathlib import Path

import pytest

from podpath.checks.services.node_port_missing import NAME
from podpath.library.why import WhyResult, why
from tests.clusters import OBJECTS, unpack

OPEN = "30180"
"""The node port of shop/front."""


def ask(
    folder: Path, port: str, *, without: tuple[str, ...] = (), source: str = "outside"
) -> WhyResult:
    """Ask node2 at a port, with the lines of some files that hold this port left out."""
    nodes = unpack(folder)
    for name in without:
        file = Path(nodes["node2"]) / "netns" / "host" / name
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
        assert any(OPEN in line for line in lines)
        kept = [line for line in lines if OPEN not in line]
        file.write_text("".join(kept), encoding="utf-8")
    return why(source, f"node/node2:{port}", nodes=nodes, objects=str(OBJECTS))


def test_a_node_port_that_the_rules_take(tmp_path: Path) -> None:
    """Nothing is said of it."""
    answer = ask(tmp_path, OPEN)

    assert (answer.verdict, answer.findings) == ("none", ())


@pytest.mark.parametrize("source", ["outside", "shop/web-node1"])
def test_no_service_has_it(tmp_path: Path, source: str) -> None:
    """It is told apart from a program that does not listen, on the node that was asked."""
    answer = ask(tmp_path, "30999", source=source)
    (found,) = answer.findings

    assert (answer.verdict, answer.diagnosis.node, found.check) == ("fault", "node2", NAME)
    assert found.claim == (
        "None of the 6 services shown has node port 30999, no rule on this node matches "
        "10.199.0.12:30999, and nothing listens there."
    )


def test_a_port_beyond_the_usual_range(tmp_path: Path) -> None:
    """It is a port on which nobody listens, and no more."""
    (found,) = ask(tmp_path, "8081").findings

    assert found.check == "no-listener"


@pytest.mark.parametrize("source", ["outside", "shop/web-node1"])
def test_kube_proxy_has_not_written_it(tmp_path: Path, source: str) -> None:
    """The service's line is quoted, and what would mend it is told."""
    answer = ask(tmp_path, OPEN, without=("iptables-save.txt", "ss.txt"), source=source)
    (found,) = answer.findings

    assert (answer.verdict, answer.diagnosis.node, found.check) == ("fault", "node2", NAME)
    assert str(found.claim).startswith("Port 30180 is the node port of shop/front, but no rule")
    assert found.evidence[0].text.strip() == "nodePort: 30180"
    assert found.repairs[0].commands == ("systemctl restart kube-proxy",)


@pytest.mark.parametrize("source", ["outside", "shop/web-node1"])
def test_the_socket_that_keeps_the_port_free_is_no_answer(tmp_path: Path, source: str) -> None:
    """Kube-proxy 1.20 listens and never answers: no all-clear, and the socket is shown."""
    answer = ask(tmp_path, OPEN, without=("iptables-save.txt",), source=source)
    (found,) = answer.findings

    assert (answer.verdict, answer.diagnosis.node, found.check) == ("possible", "node2", NAME)
    assert "kube-proxy" in found.evidence[1].text
    assert found.asks[0].command == "ss -tulnp | grep -w 30180"


def test_services_that_nobody_shows(tmp_path: Path) -> None:
    """Without any service nothing is said of node ports."""
    nodes = unpack(tmp_path)
    answer = why("outside", "10.199.0.12:30999", nodes=nodes)

    assert [found.check for found in answer.findings] == ["no-listener"]
