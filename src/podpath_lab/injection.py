"""A single frame put on a device, whatever it holds, and what is answered to it: how bad packets
fare.
"""

from __future__ import annotations

from collections.abc import Mapping

from podpath.datapath.conntrack.remains import list_entries
from podpath.datapath.conversations.single_packet import answer_to, drive_packet
from podpath.datapath.reasons.failures import FrameEnded
from podpath.datapath.tracing import paths
from podpath.datapath.tracing.exploration import Choices, explore
from podpath.datapath.tracing.trace import Branch, Conversation, Delivered, Transmitted
from podpath.datapath.vocabulary import ConversationFailure, Reachability
from podpath.datapath.walk.compiled import Engine
from podpath.datapath.walk.skb import Skb
from podpath.datapath.walk.state import Walk
from podpath.net.packet import Packet
from podpath.net.probe import Probe
from podpath.node.node import Node


def inject(
    node: Node | Engine,
    netns: str,
    link: str,
    frame: Packet,
    *,
    settled: Mapping[str, object] | None = None,
) -> Conversation:
    """Walk a frame that is handed to a device of a namespace for transmission, as a packet socket
    does (packet(7)).
    """
    engine = node if isinstance(node, Engine) else Engine(node)
    explored = explore(lambda choices: _run(engine, netns, link, frame, choices), settled=settled)
    branches = explored.results
    works = {branch.works for branch in branches}
    if None in works:
        verdict = Reachability.UNDECIDED
    elif len(works) > 1:
        verdict = Reachability.SOMETIMES
    else:
        verdict = Reachability.ALWAYS if True in works else Reachability.NEVER
    probe = Probe(frame.protocol, frame.src, frame.dst, frame.sport, frame.dport, netns)
    return Conversation(
        probe=probe, branches=branches, verdict=verdict, truncated=explored.truncated
    )


def _run(engine: Engine, netns: str, link: str, frame: Packet, choices: Choices) -> Branch:
    walk = Walk(engine, choices)
    skb = Skb(frame, engine.node.namespaces[netns], link=engine.namespace(netns).link(link))
    trace = drive_packet(walk, "frame", skb, frame, reply=False, path=paths.EMIT)
    answers = answer_to(walk, skb, trace)
    arrived = isinstance(trace.outcome, Delivered | Transmitted)
    return Branch(
        assumptions=tuple(choices.made),
        traces=(trace,),
        works=arrived,
        answers=answers,
        kind=ConversationFailure.NONE if arrived else ConversationFailure.DROPPED,
        failure=None if arrived else FrameEnded(trace.deciding.reason),
        tracked=list_entries(walk.learned.conntrack),
        drawn_ports=tuple(walk.draws.ports.values()),
        discovery=tuple(walk.learned.discovery),
    )
