"""What is to be explained: connections that failed, connections that worked, and those that are
only asked about.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from podpath.diagnosis.connections import Observed, observe
from podpath.net.failures import Ending, FailureKind
from podpath.net.probe import Probe
from podpath.net.provenance import Span
from podpath.node.case import Attempt, Case
from podpath.node.node import Node, may_have


@dataclass(frozen=True, slots=True, kw_only=True)
class Symptom:
    """One connection, and what the evidence says became of it."""

    probe: Probe
    fails: bool | None
    """True: it failed; False: it worked; None: nobody says."""
    result: str = ""
    """What came of it, in words; empty where nobody says."""
    kind: FailureKind | None = None
    """How it failed; None where it did not, or nobody says."""
    spans: tuple[Span, ...] = ()
    """The lines that say so."""
    who: str = ""
    observed: tuple[Observed, ...] = ()
    """The same connection in captures."""
    asked: bool = False
    """True where the user named it."""
    passed: tuple[Span, ...] = ()
    """The lines that say that its first packet passed the host."""

    @property
    def words(self) -> str:
        """Say what failed, for a list of what a cause breaks."""
        by = f" ({self.who})" if self.who else ""
        return f"{self.probe}{by}: {self.result or 'fails'}"


def collect_symptoms(case: Case, probes: Iterable[Probe]) -> tuple[Symptom, ...]:
    """Return every connection that the user or the evidence speaks of: asked ones first, then
    failing, then working ones.

    Several lines about one connection (an attempt, a capture of it) are one symptom; client ports
    do not tell them apart.
    """
    found: list[Symptom] = []
    for symptom in (*_asked(probes), *_attempts(case.attempts)):
        _merge(found, symptom if symptom.asked else _place_again(case.node, symptom))
    captured = observe(case.sightings)
    found.sort(
        key=lambda symptom: (not symptom.asked, symptom.fails is not True, symptom.fails is None)
    )
    observed: list[Symptom] = []
    for symptom in found:
        seen = tuple(one for one in captured if _same(symptom.probe, one.probe))
        observed.append(replace(symptom, observed=seen))
    return tuple(observed)


def _asked(probes: Iterable[Probe]) -> Iterator[Symptom]:
    for probe in probes:
        yield Symptom(probe=probe, fails=None, asked=True)


def _attempts(attempts: Iterable[Attempt]) -> Iterator[Symptom]:
    for attempt in attempts:
        if not attempt.good:
            yield Symptom(
                probe=attempt.probe,
                fails=None if attempt.result is Ending.INTERRUPTED else attempt.failed,
                result=attempt.result,
                kind=attempt.result if isinstance(attempt.result, FailureKind) else None,
                spans=(attempt.span,),
                who=attempt.who,
                passed=(attempt.span,) if attempt.passed else (),
            )


def _place_again(node: Node, symptom: Symptom) -> Symptom:
    """Return a symptom of the evidence without the device that it came in by, where the node has
    none of that name: the two were taken at different moments, or hosts.
    """
    device = symptom.probe.in_dev
    if device is None or may_have(node, device):
        return symptom
    return replace(symptom, probe=symptom.probe._replace(in_dev=None))


def _merge(found: list[Symptom], new: Symptom) -> None:
    """Add a symptom, or what it says to the one that is about the same connection and does not say
    the opposite.
    """
    for place, old in enumerate(found):
        opposed = old.fails is not None and new.fails is not None and old.fails != new.fails
        if _same(old.probe, new.probe) and not opposed:
            found[place] = replace(
                old,
                probe=_fuller(old.probe, new.probe),
                fails=new.fails if old.fails is None else old.fails,
                result=old.result if old.fails is not None else new.result or old.result,
                kind=old.kind or new.kind,
                spans=tuple(dict.fromkeys((*old.spans, *new.spans))),
                who=old.who or new.who,
                passed=(*old.passed, *new.passed),
            )
            return
    found.append(new)


def _same(one: Probe, other: Probe) -> bool:
    ends = (one.protocol, one.src, one.dst, one.dport) == (
        other.protocol,
        other.src,
        other.dst,
        other.dport,
    )
    places = one.netns in (None, other.netns) or other.netns is None
    return ends and places and (one.in_dev in (None, other.in_dev) or other.in_dev is None)


def _fuller(one: Probe, other: Probe) -> Probe:
    """Keep the first probe, with the place that only the second names."""
    if one.netns is None and one.in_dev is None:
        return one._replace(netns=other.netns, in_dev=other.in_dev)
    return one
