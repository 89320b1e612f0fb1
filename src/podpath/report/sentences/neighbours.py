"""How a MAC was found or not, in words."""

from __future__ import annotations

from typing import assert_never

from podpath.datapath.reasons import neighbours
from podpath.datapath.reasons.neighbours import NeighbourReason, Refusal
from podpath.datapath.reasons.routes import InputReason, SourceReason
from podpath.report.sentences.routes import spell_route


def spell_neighbour(reason: NeighbourReason) -> str:  # noqa: C901, PLR0911, PLR0912  # one arm for each reason
    """Say how the MAC of a next hop was found, or why it was not."""
    match reason:
        case neighbours.NoLinkLayer(link):
            return f"{link} needs no link-layer address"
        case neighbours.OwnMacForAll(link, mac):
            return f"{link} does no ARP (NOARP): what it sends carries its own MAC {mac}"
        case neighbours.EntryUsed(address, mac, state):
            return f"{address} has the MAC {mac} (entry {state})"
        case neighbours.EntryWrong(address, mac, state, link, netns, own):
            return (
                f"{address} has the MAC {mac} (entry {state}), but {link} in {netns} has that "
                f"address with {own}"
            )
        case neighbours.AskedOnPort(address, link, master):
            asked = f"{address} is resolved on {link}, a port of {master}"
            return f"{asked}: the answer comes in on {master}, where nothing waits for it"
        case neighbours.AnsweredBy(address, link, netns, mac):
            return f"{link} in {netns} answers for {address}: {mac}"
        case neighbours.PresumedToAnswer(address, mac):
            return f"{address} is outside the model and assumed to answer: {mac}"
        case neighbours.AnsweredBefore(address, mac):
            return f"{address} has the MAC {mac}, as it answered earlier"
        case neighbours.SaidItself(address, mac):
            return f"{address} has the MAC {mac}, from its own ARP request"
        case neighbours.ArpRefused(address, refusal):
            return f"{address} does not answer ARP: {_spell_refusal(refusal)}"
        case neighbours.NeighbourSilent(address, device, state):
            return f"{address} does not answer ARP on {device} ({state})"
        case neighbours.NobodyAnswers(address, device):
            return f"nothing answers for {address} on {device}"
        case neighbours.SolicitationLost(address, netns, hook, asks):
            what = "the neighbor solicitation for" if asks else "the neighbor advertisement of"
            what = "the ARP request for" if address.family == 4 else what
            return f"{what} {address} is dropped at {hook} in {netns}, so its MAC stays unknown"
        case neighbours.ForeignSenderAsked(found, request, owner):
            leaves = f"the ARP request leaves with {request.link}'s MAC {request.sender_mac}"
            return f"{spell_neighbour(found)}; {leaves} and the address {request.sender} of {owner}"
        case _:
            assert_never(reason)


def _spell_refusal(refusal: Refusal) -> str:  # one arm for each refusal
    if isinstance(refusal, InputReason | SourceReason):
        return spell_route(refusal)
    match refusal:
        case neighbours.NoArp(link):
            return f"{link} does no ARP (NOARP)"
        case neighbours.NotAddressOf(address, netns):
            return f"{address} is not an address of {netns}"
        case neighbours.OnlyForItself():
            return "it answers only for itself"
        case neighbours.RequestWithoutSender():
            return "the request has no sender address"
        case neighbours.ArpIgnored(level, link):
            return f"arp_ignore is {level} on {link}"
        case neighbours.ArpIgnoredElsewhere(level, address, link):
            return f"arp_ignore is {level}, and {address} is not on {link}"
        case neighbours.ArpIgnoredAcrossSubnets(sender, address):
            return f"arp_ignore is 2, and {sender} is not in the subnet of {address}"
        case neighbours.ArpIgnoredHostScope(address):
            return f"arp_ignore is 3, and {address} has scope host"
        case neighbours.ArpFiltered(sender, link):
            return f"arp_filter is 1, and the route back to {sender} does not use {link}"
        case _:
            assert_never(refusal)
