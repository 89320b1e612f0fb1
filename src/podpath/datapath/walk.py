"""One packet through a node: the first packet of a probe, under the likeliest answers or under all."""

from __future__ import annotations

from collections.abc import Mapping

from podpath.datapath import paths
from podpath.datapath.compiled import Engine
from podpath.datapath.conversation import first_packet, script_of
from podpath.datapath.driver import drive
from podpath.datapath.exploration import Choices, Exploration, explore
from podpath.datapath.places import place_sender, send_from
from podpath.datapath.skb import Walk
from podpath.datapath.trace import Trace
from podpath.net.probe import Probe
from podpath.node.node import Node


def walk(node: Node | Engine, probe: Probe, *, settled: Mapping[str, object] | None = None) -> Trace:
    """Walk the probe's first packet under the likeliest answers."""
    engine = node if isinstance(node, Engine) else Engine(node)
    return _run(engine, probe, Choices((), settled))


def walk_all(
    node: Node | Engine, probe: Probe, *, limit: int = 64, deviations: int = 2, settled: Mapping[str, object] | None = None
) -> Exploration[Trace]:
    """Walk the probe's first packet under every combination of answers, the likeliest first."""
    engine = node if isinstance(node, Engine) else Engine(node)
    return explore(lambda choices: _run(engine, probe, choices), limit=limit, deviations=deviations, settled=settled)


def _run(engine: Engine, probe: Probe, choices: Choices) -> Trace:
    state = Walk(engine.node, choices, engine=engine)
    act = script_of(probe.protocol)[0]
    packet = first_packet(probe, act)
    skb = send_from(state, place_sender(state, probe), packet)
    start = skb.netns.name
    outcome = drive(state, skb, paths.OUTPUT if skb.link is None else paths.RECEIVE)
    return Trace(
        name=act.name, direction="original", start=start, packet=packet, steps=tuple(state.steps), outcome=outcome,
        matched=tuple(state.matched),
    )  # fmt: skip
