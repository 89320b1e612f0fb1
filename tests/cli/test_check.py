"""`podpath check` by its command line."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner

from podpath.cli.main import podpath
from podpath.net.errors import PodpathError
from tests.clusters import NODES, OBJECTS, RECORDED
from tests.library.samples import NO_FORWARDING

FLOWS = """\
[[flow]]
name = "pods reach the world"
from = "10.244.1.5"
to = "198.51.100.7"
port = 443
device = "cni0"
expect = "connects"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Provide a folder with evidence, flows and a change."""
    (tmp_path / "ticket.txt").write_text(NO_FORWARDING.text)
    (tmp_path / "flows.toml").write_text(FLOWS)
    (tmp_path / "99.conf").write_text("net.ipv4.ip_forward = 1\n")
    return tmp_path


def test_reports_are_written_where_they_are_asked_for(folder: Path) -> None:
    """The answer goes to standard output, the reports into their files."""
    done = CliRunner().invoke(
        podpath,
        ["check", str(folder / "flows.toml"), str(folder / "ticket.txt"), "--json",
         "--junit", str(folder / "j.xml"), "--sarif", str(folder / "s.sarif")],
    )  # fmt: skip

    assert done.exit_code in {1, 3}
    assert "podpath/check/v1" == json.loads(done.stdout)["schema"]
    assert "testsuites" == ET.parse(folder / "j.xml").getroot().tag  # noqa: S314  # our own
    assert "2.1.0" == json.loads((folder / "s.sarif").read_text())["version"]


def test_a_change_says_what_it_changes(folder: Path) -> None:
    """Forwarding was off; with the change the walk goes on."""
    done = CliRunner().invoke(
        podpath,
        [
            "check", str(folder / "flows.toml"), str(folder / "ticket.txt"), "--with",
            str(folder / "99.conf"), "--json",
        ],
    )  # fmt: skip
    (flow,) = json.loads(done.stdout)["flows"]

    assert (True, None) == (flow["changed"], flow["met"])
    assert "99.conf" in json.dumps(flow["evidence"])


def test_a_fault_in_the_file_is_one_line_with_its_place(folder: Path) -> None:
    """No traceback, and the line to look at."""
    (folder / "flows.toml").write_text(FLOWS.replace("expect", "expct"))

    with pytest.raises(PodpathError, match=r"flows\.toml:7:1: expected one of"):
        CliRunner().invoke(
            podpath,
            ["check", str(folder / "flows.toml"), str(folder / "ticket.txt")],
            catch_exceptions=False,
        )


def test_a_file_is_derived_and_never_overwritten(folder: Path) -> None:
    """The file that is there may be somebody's work."""
    evidence = str(folder / "ticket.txt")
    done = CliRunner().invoke(podpath, ["check", "-", evidence, "--derive"])

    assert done.stdout.startswith("# Flows that the evidence asks for")
    with pytest.raises(PodpathError, match="does not exist yet"):
        CliRunner().invoke(
            podpath,
            ["check", str(folder / "flows.toml"), evidence, "--derive"],
            catch_exceptions=False,
        )


def test_nodes_of_a_cluster_by_hand(folder: Path) -> None:
    """Each node's bundle by its name; a node may be drained, and flows derived."""
    given = ["--objects", str(OBJECTS)]
    for node in NODES:
        given += ["--node", f"{node}={RECORDED / f'{node}.tar.gz'}"]
    flows = str(folder / "cluster.toml")

    derived = CliRunner().invoke(podpath, ["check", flows, *given, "--derive"])
    drained = CliRunner().invoke(
        podpath, ["check", flows, *given, "--with", "drain:node2", "--json"]
    )

    assert derived.exit_code == 0
    assert drained.exit_code == 1
    states = {one["name"]: one["state"] for one in json.loads(drained.stdout)["flows"]}
    assert states["svc/shop/far:80/tcp answers (from node1)"] == "fails"


@pytest.mark.parametrize(
    "words",
    [
        ("--node", "a", "--node", "b"),
        ("--node", "a=x", "--node", "b"),
        ("--node", "a=x", "evidence.txt"),
        (),
    ],
)
def test_nodes_that_are_not_said_well(folder: Path, words: tuple[str, ...]) -> None:
    """Two names, a name beside bundles, evidence of no node, and nothing at all are refused."""
    done = CliRunner().invoke(podpath, ["check", str(folder / "flows.toml"), *words])

    assert done.exit_code == 2 or isinstance(done.exception, PodpathError)
