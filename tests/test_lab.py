"""The lab as a whole: what it needs, what it plans, what it does on this kernel."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from podpath.datapath.conversations.conversation import converse
from podpath.library.reading import read
from podpath.net import protocols
from podpath.net.probe import Probe
from podpath_lab import apply
from podpath_lab.apply import LabError, require_lab, run
from podpath_lab.exchange import KERNEL_SCRIPTS
from podpath_lab.incidents.registry import INCIDENTS
from podpath_lab.script import ScriptCommand
from podpath_lab.topologies import TOPOLOGIES
from podpath_lab.twin import plan_twin
from tests.command import podpath

EXAMPLES = Path(__file__).parents[1] / "examples" / "incidents"

ONE_CASE = """
import json
from podpath_lab.agree import run_case
from podpath_lab.apply import enter_private_world
from podpath_lab.drops import DropTracer
from podpath_lab.cases.generate import generate_case
from podpath_lab.incidents.registry import INCIDENTS
from podpath_lab.rehearsal import build_stage

enter_private_world()
tracer = DropTracer()
try:
    result = run_case(generate_case(5), tracer)
    stage = build_stage(INCIDENTS["ip-forward-off"])
    seen = stage.probe(0)
    stage.close()
finally:
    tracer.close()
frames = [frame for frame in seen.frames if frame.packet is not None]
times = [frame.time for frame in frames]
print(json.dumps([len(result.differences), seen.application, times == sorted(times)]))
"""


def test_a_missing_program_is_named_with_its_package() -> None:
    """Who lacks a tool is told which Debian package has it."""
    apply.TOOLS["no-such-program"] = "ghostly"
    try:
        with pytest.raises(LabError, match=r"needs root|apt-get install ghostly"):
            require_lab()
    finally:
        del apply.TOOLS["no-such-program"]


def test_a_failing_command_is_told_with_what_it_said() -> None:
    """The message has the command, the place and the error output."""
    with pytest.raises(LabError, match=r"`ls /no-such-folder` in the lab failed: .*no-such-folder"):
        run(ScriptCommand(("ls", "/no-such-folder")))


def test_every_topology_works_before_anything_is_drawn() -> None:
    """Each drafted node lets its first speaker reach its last, on the model."""
    for make in TOPOLOGIES:
        topology = make()
        (netns, source), (_, target) = topology.speakers[1], topology.speakers[-1]
        probe = Probe(protocols.UDP, source, target, 40000, 80, netns)
        assert converse(topology.draft.freeze(), probe).verdict == "ALWAYS", topology.name


def test_linux_acknowledges_each_sides_data() -> None:
    """The packets of a short exchange are those that Linux sends: seven for TCP."""
    names = [act.name for act in KERNEL_SCRIPTS[protocols.TCP]]
    assert names == ["SYN", "SYN-ACK", "ACK", "data", "data ACK", "data reply", "data reply ACK"]


def test_the_plan_of_a_recorded_node_says_what_it_replaces() -> None:
    """The twin of a bundle names its stand-ins, and its script is whole."""
    case = read(EXAMPLES / "kube-proxy-before-cilium" / "bundle")
    plan = plan_twin(case.node, case.facts.attempts[0].probe)
    assert plan.notes == ("eth0 of host is a veth here; wire-0 stands for all that is behind it",)
    assert any("hook egress device" in command.stdin for command in plan.commands)


def test_incidents_are_listed_without_root() -> None:
    """The list of built-in incidents has a line for each."""
    result = podpath("lab", "incident")
    assert result.returncode == 0
    assert [line.split()[0] for line in result.stdout.splitlines()] == list(INCIDENTS)


def test_an_unknown_incident_is_a_usage_error() -> None:
    """A wrong name ends with exit code 2 and says where the right ones are."""
    result = podpath("lab", "incident", "no-such-thing")
    assert result.returncode == 2
    assert "podpath lab incident` lists them" in result.stderr


def test_the_script_of_a_bundle_is_shell() -> None:
    """`lab script` needs no root and prints a script that a shell can read."""
    result = podpath("lab", "script", EXAMPLES / "rp-filter-reset" / "bundle")
    assert result.returncode == 0, result.stderr
    assert subprocess.run(["sh", "-n"], input=result.stdout, text=True, check=False).returncode == 0


@pytest.mark.kernel("iptables-nft-restore", "conntrack")
def test_one_case_and_one_incident_on_this_kernel() -> None:
    """A generated case agrees, a built incident's probe arrives, and frames come in the order of
    their time.
    """
    done = subprocess.run(
        [sys.executable, "-c", ONE_CASE], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [0, "ok", True]
