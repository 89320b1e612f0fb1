"""What NAT does, in words."""

from __future__ import annotations

from typing import assert_never

from podpath.datapath.reasons import translation
from podpath.datapath.reasons.translation import TranslationReason
from podpath.net import nft
from podpath.net.packet import endpoint
from podpath.node.netfilter import Rule
from podpath.node.nftables import NftRule
from podpath.report.sentences.rules import place_rule


def spell_translation(reason: TranslationReason) -> str:  # one arm for each reason
    """Say how NAT changed a packet, or why it could not."""
    match reason:
        case translation.DestinationRewritten(rule, before, after):
            old, new = endpoint(before.dst, before.dport), endpoint(after.dst, after.dport)
            return f"{place_rule(rule)} ({_target(rule)}) rewrites the destination {old} to {new}"
        case translation.SourceRewritten(rule, before, after, drawn):
            old, new = endpoint(before.src, before.sport), endpoint(after.src, after.sport)
            said = f"{place_rule(rule)} ({_target(rule)}) rewrites the source {old} to {new}"
            if drawn:
                return f"{said} (the kernel picks the port)"
            return said
        case translation.NoAddressToMasquerade(rule, link):
            return f"{place_rule(rule)} masquerades, but {link} has no address to take"
        case translation.NoAddressToRedirect(rule, link):
            return f"{place_rule(rule)} redirects, but {link} has no address"
        case translation.TranslatedAsFirst(connection):
            return f"translated like the connection's first packet, {connection}"
        case translation.ErrorTranslated(connection):
            return f"the error and the packet it quotes are translated with {connection}"
        case translation.PortClash(connection):
            clash = "another connection has the same reply tuple"
            return f"{clash}: the port of {connection} is changed, though no rule says so"
        case translation.MasqueradeDeviceChanged(before, after):
            return (
                f"the connection was masqueraded for {before} and now leaves on {after}: "
                "conntrack deletes the entry"
            )
        case translation.NotTranslated():
            return "no rule that the evidence shows translates it"
        case _:
            assert_never(reason)


def _target(rule: Rule | NftRule) -> str:
    if isinstance(rule, NftRule):
        return next(
            (statement.kind for statement in rule.statements if isinstance(statement, nft.Nat)), ""
        )
    return rule.target.name if rule.target is not None else ""
