"""Pods of generated cases that share the uplink's wire."""

from __future__ import annotations

from random import Random

from podpath.net.probe import Probe
from podpath_lab.cases import macvlans
from podpath_lab.cases.macvlans import draw_macvlans
from podpath_lab.script import emit_twin
from podpath_lab.topologies import bridged_pods

PROBE = Probe.parse("udp 10.1.0.2:40000 > 10.1.0.3:80 from pod1")


def test_a_probe_starts_or_ends_at_a_pod_of_the_wire() -> None:
    """In every mode that is drawn; the rest of the cases stay as they were."""
    probes, modes = [], set()
    for seed in range(400):
        topology = bridged_pods()
        probes.append(draw_macvlans(Random(seed), topology, PROBE))
        links = [link for each in topology.draft.namespaces.values() for link in each.links]
        modes |= {link.macvlan.mode for link in links if link.macvlan is not None}
    drawn = [probe for probe in probes if probe != PROBE]

    assert 5 < len(drawn) < 60
    assert set(macvlans.MODES) == modes
    for probe in drawn:
        assert {str(probe.src)[:-1], str(probe.dst)[:-1]} & {"172.31.0.5"}


def test_the_twin_makes_them_on_their_parent() -> None:
    """In the namespace of the device below, with their own for a goal."""
    topology = bridged_pods()
    seed = next(seed for seed in range(400) if Random(seed).random() < macvlans.SHARE)
    draw_macvlans(Random(seed), topology, PROBE)
    lines = [
        (command.arguments[2], line)
        for command in emit_twin(topology.draft.freeze()).commands
        for line in command.stdin.splitlines()
        if "type macvlan" in line
    ]

    assert ["host", "host"] == [netns for netns, _ in lines]
    assert lines[0][1].startswith("link add net1 link eth0 netns shared1 type macvlan mode ")
