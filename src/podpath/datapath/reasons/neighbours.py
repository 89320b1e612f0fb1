"""How the MAC of a next hop was found, or why nobody answered for it."""

from __future__ import annotations

from typing import NamedTuple

from podpath.datapath.reasons.distinct import distinct
from podpath.datapath.reasons.routes import InputReason, SourceReason
from podpath.datapath.vocabulary import Hook
from podpath.net.addresses import Address, Mac


@distinct
class NoArp(NamedTuple):
    """The device takes no part in ARP or neighbor discovery (`net/ipv4/arp.c:arp_rcv v6.12`)."""

    link: str


@distinct
class NotAddressOf(NamedTuple):
    """The address asked for is none of the station's."""

    address: Address
    netns: str


@distinct
class OnlyForItself(NamedTuple):
    """The station answers for no others: proxy_arp is off."""


@distinct
class RequestWithoutSender(NamedTuple):
    """The request has no sender address."""


@distinct
class ArpIgnored(NamedTuple):
    """arp_ignore of 8 and more answers nothing."""

    level: int
    link: str


@distinct
class ArpIgnoredElsewhere(NamedTuple):
    """arp_ignore of 1 and 2 answers for addresses of the device alone."""

    level: int
    address: Address
    link: str


@distinct
class ArpIgnoredAcrossSubnets(NamedTuple):
    """arp_ignore of 2 answers only senders in the address's subnet."""

    sender: Address
    address: Address


@distinct
class ArpIgnoredHostScope(NamedTuple):
    """arp_ignore of 3 does not answer for addresses of scope host."""

    address: Address


@distinct
class ArpFiltered(NamedTuple):
    """arp_filter answers only where the way back leads over the device."""

    sender: Address
    link: str


Refusal = (
    NoArp | NotAddressOf | OnlyForItself | RequestWithoutSender | ArpIgnored | ArpIgnoredElsewhere
    | ArpIgnoredAcrossSubnets | ArpIgnoredHostScope | ArpFiltered | InputReason | SourceReason
)  # fmt: skip
"""Why a station does not answer an ARP request: by its own settings, or since it would not route
the packet that asks.
"""


@distinct
class NoLinkLayer(NamedTuple):
    """The device needs no link-layer address."""

    link: str


@distinct
class OwnMacForAll(NamedTuple):
    """The device does no ARP: its frames carry its own MAC as destination
    (`net/ipv4/arp.c:arp_constructor v6.12`).
    """

    link: str
    mac: Mac


@distinct
class EntryUsed(NamedTuple):
    """The neighbor table holds the MAC."""

    address: Address
    mac: Mac
    state: str


@distinct
class EntryWrong(NamedTuple):
    """The neighbor table holds a MAC, and the device that has the address has another one."""

    address: Address
    mac: Mac
    state: str
    link: str
    """The device that has the address."""
    netns: str
    own: Mac


@distinct
class AskedOnPort(NamedTuple):
    """The next hop is asked for on a bridge's port: the answer comes in on the bridge, where nobody
    waits for it.
    """

    address: Address
    link: str
    master: str


@distinct
class AnsweredBy(NamedTuple):
    """A device of the node answers the ARP request."""

    address: Address
    link: str
    netns: str
    mac: Mac


@distinct
class PresumedToAnswer(NamedTuple):
    """The next hop is outside the model and taken to answer."""

    address: Address
    mac: Mac


@distinct
class AnsweredBefore(NamedTuple):
    """The next hop answered an earlier request."""

    address: Address
    mac: Mac


@distinct
class SaidItself(NamedTuple):
    """The next hop's own ARP request said its MAC."""

    address: Address
    mac: Mac


@distinct
class ArpRefused(NamedTuple):
    """Who has the address does not answer."""

    address: Address
    refusal: Refusal


@distinct
class NeighbourSilent(NamedTuple):
    """The next hop does not answer, as its entry says."""

    address: Address
    device: str
    state: str


@distinct
class NobodyAnswers(NamedTuple):
    """Nobody on the link has the address."""

    address: Address
    device: str


@distinct
class SolicitationLost(NamedTuple):
    """The packet filter ends a message of IPv6 neighbor discovery."""

    address: Address
    netns: str
    hook: Hook
    asks: bool
    """True for the solicitation, False for the advertisement that answers it."""


class ArpRequest(NamedTuple):
    """The ARP request (or neighbor solicitation) that resolving a next hop puts on a link."""

    link: str
    sender_mac: Mac | None
    sender: Address
    target: Address


PlainNeighbourReason = (
    NoLinkLayer | OwnMacForAll | EntryUsed | EntryWrong | AskedOnPort | AnsweredBy
    | PresumedToAnswer | AnsweredBefore | SaidItself | ArpRefused | NeighbourSilent | NobodyAnswers
    | SolicitationLost
)  # fmt: skip


@distinct
class ForeignSenderAsked(NamedTuple):
    """The ARP request that found it carried the address of another device: it teaches that address
    a foreign MAC.
    """

    found: PlainNeighbourReason
    request: ArpRequest
    owner: str
    """The device that has the sender address."""


NeighbourReason = PlainNeighbourReason | ForeignSenderAsked
