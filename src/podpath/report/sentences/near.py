"""Why a rule or route that nearly decided did not, in words."""

from __future__ import annotations

from typing import assert_never

from podpath.datapath.reasons import near
from podpath.datapath.reasons.near import NearReason
from podpath.node.netfilter import Rule

BEHIND = "but comes after the rule that decided"


def spell_near(reason: NearReason) -> str:  # one arm for each reason
    """Say by what a rule or route missed."""
    match reason:
        case near.OtherTos(tos):
            return f"it is for TOS {tos:#x}"
        case near.DeviceUnusable():
            return "its device is down or not the one asked for"
        case near.MetricLoses(metric, best):
            return f"its metric {metric} loses to {best}"
        case near.LaterAmongEquals():
            return "an equal route comes before it"
        case near.AcceptsTooLate(rule):
            return f"{_name(rule)} accepts it, {BEHIND}"
        case near.LeadsTooLate(rule, accepting):
            return f"{_name(rule)} leads to {_name(accepting)}, which accepts it, {BEHIND}"
        case near.MissedByOne(rule, condition):
            target = rule.target.name if rule.target is not None else ""
            return f"{_name(rule)} ({target}) missed it only by {condition}"
        case _:
            assert_never(reason)


def _name(rule: Rule) -> str:
    return f"{rule.chain} rule {rule.position}"
