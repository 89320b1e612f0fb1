"""Faults planted on a real cluster: `podpath why` names node, line and cure, the cure is applied,
and the connection comes back.
"""

from __future__ import annotations

import random
import shlex
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from podpath.checks.services.proxy_behind import SYNCS
from scripts.kubernetes import control, network
from scripts.kubernetes.cluster import Cluster
from tests.cluster import datagrams, pods, shop
from tests.cluster.planted import API, FAULTS, PlantedFault
from tests.cluster.shapes import SEED, SHAPES, plan_of

SAMPLED = 8
"""How many faults are drawn for those who have a few minutes."""
MOST = Path("/proc/sys/net/netfilter/nf_conntrack_max")
KEEP_WAYS = "ip neigh show dev {0} > /tmp/neigh; ip route show dev {0} > /tmp/routes"
"""What a fault may need to undo itself."""


def run(tried: Cluster, where: str, words: str) -> None:
    """Run a command on a node, or kubectl."""
    if where == API:
        tried.kubectl(*shlex.split(words))
    else:
        tried.nodes[where].run("sh", "-c", words)


@contextmanager
def planted(tried: Cluster, fault: PlantedFault) -> Iterator[None]:
    """Plant a fault, and take it away again."""
    tunnel = network.CALICO if tried.plan.plugin == "routed" else network.FLANNEL
    with ExitStack() as undone:
        if tried.plan.overlay == "vxlan":
            tried.nodes[fault.node].run("sh", "-c", KEEP_WAYS.format(tunnel))
        if fault.cabled:
            ends = (tried.nodes[fault.node], tried.nodes[fault.other])
            undone.enter_context(network.second_wire(tried.control, *ends))
        undone.callback(MOST.write_text, MOST.read_text(encoding="ascii"), encoding="ascii")
        if fault.moving:
            shop.move_in(tried, fault.moving, fault.other)
            undone.callback(shop.move_out, tried, fault.moving)
            control.wait(lambda: shop.connects(tried, fault), "kube-proxy's rules")
        if fault.protocol == "udp":
            server = datagrams.find_pod(tried, "kube-system", f"dns-{fault.other}")
            undone.enter_context(datagrams.serve(server, pods.PORT))
        undone.callback(run, tried, fault.node, f"{{ {fault.undo}; }} || true")
        run(tried, fault.node, fault.plant)
        if fault.also_on:
            undone.callback(run, tried, fault.also_on, fault.also_undo)
            run(tried, fault.also_on, fault.also)
        if fault.emptied:
            control.wait(
                lambda: shop.refuse(shop.read_rules(tried, fault.node), fault.emptied),
                "empty rules",
            )
        if fault.moving:
            shop.leave(tried, fault.moving)
            control.wait(lambda: not shop.connects(tried, fault), "the pod's processes to end")
            time.sleep(SYNCS)  # a younger change may still be written
        yield


def list_planted() -> list[ParameterSet]:
    """Return every fault on every shape of cluster that can have it."""
    known = {shape: [fault for fault in FAULTS if fault.fits(plan_of(shape))] for shape in SHAPES}
    short = [fault for fault in known[SHAPES[0]] if not fault.slow]
    drawn = random.Random(SEED).sample(short, SAMPLED)  # which ones is no secret
    return [
        pytest.param(
            shape,
            fault,
            id=f"{fault.name} {shape}",
            marks=[pytest.mark.sample] if shape == SHAPES[0] and fault in drawn else [],
        )
        for shape, faults in known.items()
        for fault in faults
    ]


@pytest.mark.parametrize(("tried", "fault"), list_planted(), indirect=["tried"])
def test_a_planted_fault_is_named_and_cured(
    tried: Cluster, fault: PlantedFault, tmp_path: Path, say: Callable[[str], None]
) -> None:
    """It really breaks the connection; the answer names node, fault and line; its cure mends it."""
    shop.await_rules(tried)
    fault = shop.place(tried, fault, SEED)
    say(f"seed {SEED}: {fault.source} > {fault.destination}, planted on {fault.node}")
    with planted(tried, fault):
        control.wait(lambda: not shop.connects(tried, fault), "the connection to break")

        answer = shop.ask_why(tried, fault, tmp_path)

        first = answer.findings[0]
        assert answer.verdict == "fault"
        assert answer.diagnosis.node == fault.node, str(answer)
        assert first.check in fault.check.split(), str(answer)
        assert any(fault.line in span.text for span in first.evidence[:2])
        commands = [
            command
            for repair in first.repairs[:1]
            for command in repair.commands
            if not command.startswith(("kubectl", "systemctl"))
        ]
        assert bool(commands) is fault.cured, str(answer)
        undone = [cure(tried, fault, command) for command in commands]
        if not fault.cured:
            run(tried, fault.by_hand_on or fault.node, fault.by_hand or fault.undo)
        control.wait(lambda: shop.connects(tried, fault), "the connection")
    for command in filter(None, undone):
        tried.nodes[fault.node].run("sh", "-c", f"{command} || true")


def cure(tried: Cluster, fault: PlantedFault, command: str) -> str:
    """Run a command of the cure on the fault's node; return the one that undoes it, where a later
    test would meet its rule.
    """
    if MOST.name in command:  # which no namespace has for itself
        subprocess.run(shlex.split(command), check=True, capture_output=True)
        return ""
    loads = command.startswith("modprobe")  # what is built into the kernel is no module
    tried.nodes[fault.node].run("sh", "-c", f"{command} || {'true' if loads else 'false'}")
    if " -A " in command:
        return command.replace(" -A ", " -D ", 1)
    before, sign, after = command.partition(" -I ")
    chain, _, rest = after.partition(" ")
    return f"{before} -D {chain} {rest.partition(' ')[2]}" if sign and rest[:1].isdigit() else ""
