"""Prediction meets observation: packet by packet, where a walk has it pass, and where captures show
it.

Only places that show some packet of the connection are asked about: there a capture was running,
and it let such packets through. Where walk and captures agree, the captures prove the walk; where
they part, the model, the evidence of the node, or the time at which it was taken is wrong, and the
place at which they part says where to look.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from podpath.checks.finding import Finding
from podpath.datapath.reasons.devices import LinkDown
from podpath.datapath.tracing.trace import (
    Branch,
    Delivered,
    Dropped,
    Rejected,
    Step,
    Trace,
    Transmitted,
)
from podpath.datapath.vocabulary import StageName
from podpath.diagnosis.connections import ConnectionFrame, Observed, kind_of
from podpath.diagnosis.fit import Fit
from podpath.net.provenance import Span, list_spans
from podpath.node.node import HOST

if TYPE_CHECKING:  # reports of captures alone need none of the walks
    from podpath.diagnosis.symptoms import Symptom
    from podpath.diagnosis.worlds import Judgement

_BEHIND_DEVICE = frozenset(
    {
        StageName.NEIGHBOUR,
        StageName.BRIDGE,
        StageName.BRIDGE_PREROUTING,
        StageName.DEVICE_TRANSMIT,
    }
)
"""Stages that a packet meets on the device that it was routed to. A capture sees what a driver is
handed before the driver drops it (net/core/dev.c:xmit_one v6.12; seen on 6.18 with a VXLAN device
that has no remote end), and nothing on a device that is down.
"""
QUOTED = 2
"""Lines of each side that are quoted."""


class NetnsDevice(NamedTuple):
    """A device in a namespace."""

    netns: str
    link: str

    def __str__(self) -> str:
        """Name the device, and its namespace where that is not the host."""
        return self.link if self.netns == HOST else f"{self.link} in netns {self.netns}"


class PacketComparison(NamedTuple):
    """One packet of a connection, as a walk predicts it and as captures show it."""

    probe: str
    packet: str
    """`SYN`, `SYN-ACK`, `ACK`, `data`, `echo request`."""
    agrees: bool
    predicted: str
    """Where the walk has it pass and what becomes of it, in words."""
    predicted_by: tuple[Span, ...]
    """The lines that the walk decides by."""
    seen: str
    """Where captures show it, and where they do not."""
    seen_by: tuple[Span, ...]
    """The frames."""


def meet(symptom: Symptom, branch: Branch) -> tuple[PacketComparison, ...]:
    """Hold each packet of a walk against the captures of its connection, in the order in which the
    packets are sent.
    """
    frames: list[ConnectionFrame] = []
    for observed in symptom.observed:
        frames += (seen for seen in observed.seen if seen.place.link is not None)
    watched = set(map(_place, frames))
    meetings: list[PacketComparison] = []
    for trace in branch.traces:
        part = (kind_of(trace.packet), trace.direction == "original")
        mine = [seen for seen in frames if (seen.kind, seen.original) == part]
        hops = [hop for hop in predict_places(trace) if hop in watched]
        if mine or hops:
            meetings.append(_meet(symptom, trace, mine, hops))
    return tuple(meetings)


def predict_places(trace: Trace) -> tuple[NetnsDevice, ...]:
    """Return the devices that a capture would show a packet on, in their order."""
    found: dict[NetnsDevice, None] = {}
    for step in trace.steps:
        if step.link is not None:
            found.setdefault(NetnsDevice(step.netns, step.link))
    places = list(found)
    if isinstance(trace.outcome, Transmitted):
        places = [
            *(place for place in places if place != (trace.outcome.netns, trace.outcome.link)),
            NetnsDevice(trace.outcome.netns, trace.outcome.link),
        ]
    if isinstance(trace.outcome, (Dropped, Rejected)):
        here = [place for place in places if place.netns == trace.outcome.netns]
        if len(here) > 1 and not _came_to_device(trace.deciding):
            places.remove(here[-1])  # the device that it was routed to, and did not come to
    return tuple(places)


def _came_to_device(deciding: Step) -> bool:
    """Tell whether a packet was dropped where a capture on the device that it was routed to had
    seen it.
    """
    return deciding.stage in _BEHIND_DEVICE and not isinstance(deciding.reason, LinkDown)


def _meet(
    symptom: Symptom, trace: Trace, mine: Sequence[ConnectionFrame], hops: Sequence[NetnsDevice]
) -> PacketComparison:
    shown = {_place(seen): seen for seen in reversed(mine)}
    missing = [hop for hop in hops if hop not in shown]
    beyond = [place for place in shown if place not in predict_places(trace)]
    return PacketComparison(
        probe=str(symptom.probe),
        packet=trace.name,
        agrees=not missing and not beyond,
        predicted=_predicted(trace, hops),
        predicted_by=_deciding_lines(trace, missing),
        seen=_seen_words(shown, missing, beyond),
        seen_by=tuple(dict.fromkeys(list_spans(shown.values())))[-QUOTED:],
    )


def _place(seen: ConnectionFrame) -> NetnsDevice:
    return NetnsDevice(seen.place.netns or HOST, seen.place.link or "")


def _predicted(trace: Trace, hops: Sequence[NetnsDevice]) -> str:
    way = f"passes {', '.join(map(str, hops))}" if hops else "passes no device that was captured"
    match trace.outcome:
        case Dropped() | Rejected():
            return (
                f"{way}, and is dropped at {trace.deciding.stage} in netns {trace.deciding.netns}"
            )
        case Transmitted(link=link):
            return f"{way}, and leaves on {link}"
        case Delivered(netns=netns):
            return f"{way}, and is delivered in netns {netns}"
        case _:
            return f"{way}; what happens to it is undecided"


def _deciding_lines(trace: Trace, missing: Sequence[NetnsDevice]) -> tuple[Span, ...]:
    """Return the lines of the step that ends the packet, or of the steps that send it to where it
    was not seen.
    """
    chosen = [
        step
        for step in trace.steps
        if step.link is not None and NetnsDevice(step.netns, step.link) in missing
    ]
    if trace.steps and (not chosen or isinstance(trace.outcome, (Dropped, Rejected))):
        chosen = [trace.deciding]
    spans = [span for step in chosen for span in step.spans]
    if not spans:
        spans = [span for step in reversed(trace.steps) for span in step.spans]
    return tuple(dict.fromkeys(spans))[:QUOTED]


def _seen_words(
    shown: dict[NetnsDevice, ConnectionFrame],
    missing: Sequence[NetnsDevice],
    beyond: Sequence[NetnsDevice],
) -> str:
    parts = []
    usual = [f"{place} ({seen.span})" for place, seen in shown.items() if place not in beyond]
    if usual:
        parts.append(f"seen on {', '.join(usual)}")
    if beyond:
        parts.append(
            f"seen on {', '.join(f'{place} ({shown[place].span})' for place in beyond)}, despite "
            "that"
        )
    if missing:
        parts.append(f"not seen on {', '.join(map(str, missing))}")
    return ", ".join(parts) or "not seen"


def find_partings(judgements: Sequence[Judgement]) -> Iterator[PacketComparison]:
    """Give, for each failing connection that no walk explains, the first packet at which walk and
    captures part.
    """
    for judgement in judgements:
        if (
            judgement.symptom.fails is True
            and judgement.fit != Fit.EXPLAINS
            and judgement.branch is not None
        ):
            parted = next(
                (one for one in meet(judgement.symptom, judgement.branch) if not one.agrees), None
            )
            if parted is not None:
                yield parted


def add_observations(
    findings: Sequence[Finding], judgements: Sequence[Judgement]
) -> tuple[Finding, ...]:
    """Add to each cause what captures show of the packet that it ends: the walk's prediction, seen
    to come true.
    """
    return tuple(_add_observation(finding, judgements) for finding in findings)


def _add_observation(finding: Finding, judgements: Sequence[Judgement]) -> Finding:
    branch = finding.shown_by
    judged = [one for one in judgements if one.branch is branch and one.symptom.observed]
    if branch is None or not judged:
        return finding
    ended = next(
        (one for one in reversed(meet(judged[0].symptom, branch)) if one.agrees and one.seen_by),
        None,
    )
    if ended is None or ended.packet != branch.last.name:
        return finding
    elsewhere = _unreached(judged[0].symptom.observed, branch.last)
    never = (
        f", but never on {', '.join(map(str, elsewhere))}, where the connection's first packet "
        "was seen"
        if elsewhere
        else ""
    )
    told = f"Captures show the same: the {ended.packet} is {ended.seen}{never}."
    return replace(
        finding,
        reasoning=(*finding.reasoning, told),
        evidence=tuple(dict.fromkeys((*finding.evidence, *ended.seen_by))),
    )


def _unreached(observed: Sequence[Observed], trace: Trace) -> list[NetnsDevice]:
    """Return the places that the first packet of the same direction was seen on, and this one never
    was.
    """
    kind, original = kind_of(trace.packet), trace.direction == "original"
    frames = [
        seen
        for one in observed
        for seen in one.seen
        if seen.place.link is not None and seen.original == original
    ]
    if not frames:
        return []
    first = {_place(seen) for seen in frames if seen.kind == frames[0].kind}
    return sorted(first - {_place(seen) for seen in frames if seen.kind == kind})
