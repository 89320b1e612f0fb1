"""What ended a connection, as a walk shows it: the data of a claim, before it is said in words."""

from __future__ import annotations

from dataclasses import dataclass, replace

from podpath.datapath.tracing.trace import Branch, Step, Trace
from podpath.node.netfilter import Chain, Rule, Table


@dataclass(frozen=True, slots=True, kw_only=True)
class RulePlace:
    """A rule, with the chain and table that it stands in."""

    netns: str
    table: Table
    chain: Chain
    rule: Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """What ended a connection."""

    check: str
    """The fault's name in the manual."""
    branch: Branch
    trace: Trace
    """The packet that did not arrive."""
    step: Step
    """What decided."""
    place: RulePlace | None = None
    """The rule that decided, where one did."""

    @property
    def key(self) -> tuple[object, ...]:
        """Tell causes apart: two connections that one rule drops have one cause."""
        where = self.place.rule.span if self.place is not None else None
        return self.check, self.step.netns, where or self.step.stage


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What is claimed of a cause."""

    cause: Cause
    too_late: tuple[Rule, ...] = ()
    """Rules that would have let the packet pass, but stand too late."""
    remarks: tuple[str, ...] = ()
    """Sentences to add: what logs say led to it."""

    def with_remark(self, remark: str) -> Claim:
        """Return the claim with a sentence added."""
        return replace(self, remarks=(*self.remarks, remark))


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketStory:
    """What became of one packet of the connection, up to the one that did not arrive."""

    cause: Cause
    trace: Trace
