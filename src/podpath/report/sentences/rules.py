"""What rules and policies decide, in words."""

from __future__ import annotations

from typing import assert_never

from podpath.datapath.reasons import rules
from podpath.datapath.reasons.rules import RuleReason
from podpath.node.netfilter import Rule
from podpath.node.nftables import NftRule
from podpath.node.nftables_text import emit_rule, emit_statement
from podpath.xtables.registry import TARGETS


def spell_rule(reason: RuleReason) -> str:  # noqa: C901, PLR0911, PLR0912  # one arm for each reason
    """Say what a rule or a policy decided."""
    if isinstance(reason, rules.FieldReason):
        return _spell_field(reason)
    match reason:
        case rules.RuleDecided(rule, verdict):
            return f"{name_rule(rule)} {verdict}s it"
        case rules.RuleRejected(rule, answer, sent):
            return (
                f"{name_rule(rule)} rejects "
                f"it{f' with {answer}' if sent else ', and no answer is sent'}"
            )
        case rules.PolicyDecided(table, chain, native):
            name, policy = (f"{table} {chain}", "drop") if native else (chain, "DROP")
            return f"no rule of {name} decides, and its policy is {policy}"
        case rules.ChainTaken(chain, verdict):
            return f"{chain}, which the evidence does not show, is assumed to {verdict} it"
        case rules.TargetTaken(rule, verdict):
            return f"{name_rule(rule)} is assumed to be one that {verdict}s it"
        case rules.StatementTaken(rule, verdict):
            return f"{name_rule(rule)} is assumed to {verdict} it"
        case rules.QueueTaken(rule, verdict):
            return f"{name_rule(rule)} queues it for a program, which is assumed to {verdict} it"
        case rules.TargetStops(rule, target):
            return f"{name_rule(rule)}: {TARGETS[target].stops}"
        case rules.StatementStops(rule, statement):
            return f"{name_rule(rule)}: what {statement} does with it is not modeled"
        case rules.SentByRule(rule, link):
            return f"{name_rule(rule)} sends it straight out of {link}"
        case rules.KeptFromConntrack(rule):
            return f"{name_rule(rule)} keeps the packet from conntrack"
        case rules.ZoneSet(rule, zone, helper):
            return (
                f"{name_rule(rule)} has conntrack look it up in zone "
                f"{zone}{f', with the helper {helper}' if helper else ''}"
            )
        case rules.PacketChanged(rule, statement):
            return f"{place_rule(rule)}: {emit_statement(statement)}"
        case rules.HandedToProxy(rule, port, mark):
            return f"{name_rule(rule)} hands it to the socket on port {port}, mark {mark:#x}"
        case rules.NoProxyListens(rule, port):
            return f"{name_rule(rule)} hands it to port {port}, where nobody listens"
        case _:
            assert_never(reason)


def _spell_field(reason: rules.FieldReason) -> str:
    match reason:
        case rules.MarkSet(rule, mark):
            return f"{name_rule(rule)} sets the mark to {mark:#x}"
        case rules.MarksSet(rule, mark, connection_mark):
            return f"{name_rule(rule)}: mark {mark:#x}, connection mark {connection_mark:#x}"
        case rules.TosSet(rule, tos):
            return f"{name_rule(rule)} sets TOS {tos:#x}"
        case rules.TtlSet(rule, ttl):
            return f"{name_rule(rule)} sets TTL {ttl}"
        case rules.MssLowered(rule, before, after):
            known = f" from {before}" if before else ""
            size = f"{known} to {after}" if after else ""
            return f"{name_rule(rule)} lowers the MSS{size}"
        case _:
            assert_never(reason)


def name_rule(rule: Rule | NftRule) -> str:
    """Name a rule by its chain and its place there; one of nftables by its handle and its text
    too.
    """
    if isinstance(rule, NftRule):
        return f"{place_rule(rule)} ({emit_rule(rule)})"
    return place_rule(rule)


def place_rule(rule: Rule | NftRule) -> str:
    """Name a rule by its chain and its place there, and its handle where it has one."""
    if isinstance(rule, Rule):
        return f"{rule.chain} rule {rule.position}"
    handle = f", handle {rule.handle}" if rule.handle is not None else ""
    return f"{rule.place} rule {rule.position}{handle}"
