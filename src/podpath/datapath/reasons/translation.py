"""What NAT does to a packet."""

from __future__ import annotations

from typing import NamedTuple

from podpath.datapath.reasons.distinct import distinct
from podpath.node.netfilter import ConnTuple, Rule
from podpath.node.nftables import NftRule


@distinct
class DestinationRewritten(NamedTuple):
    """A rule gives the connection a new destination."""

    rule: Rule | NftRule
    before: ConnTuple
    after: ConnTuple


@distinct
class SourceRewritten(NamedTuple):
    """A rule gives the connection a new source."""

    rule: Rule | NftRule
    before: ConnTuple
    after: ConnTuple
    drawn: bool
    """True where the kernel draws the port."""


@distinct
class NoAddressToMasquerade(NamedTuple):
    """A rule masquerades, and the device has no address to take."""

    rule: Rule | NftRule
    link: str


@distinct
class NoAddressToRedirect(NamedTuple):
    """A rule redirects, and the device that the packet came in on has no address."""

    rule: Rule | NftRule
    link: str


@distinct
class TranslatedAsFirst(NamedTuple):
    """The packet is translated as its connection's first one was."""

    connection: ConnTuple


@distinct
class ErrorTranslated(NamedTuple):
    """An ICMP error and the packet that it quotes are translated with their connection."""

    connection: ConnTuple


@distinct
class PortClash(NamedTuple):
    """Another connection has the same reply tuple: the port is changed, though no rule says so."""

    connection: ConnTuple


@distinct
class MasqueradeDeviceChanged(NamedTuple):
    """The connection was masqueraded for one device and leaves by another: it is forgotten."""

    before: str
    after: str


@distinct
class NotTranslated(NamedTuple):
    """No rule of the hook that the evidence shows translates the connection; others may."""


RuleTranslation = (
    DestinationRewritten | SourceRewritten | NoAddressToMasquerade | NoAddressToRedirect
)
"""What a rule does; the rest is what NAT does by itself."""
TranslationReason = (
    RuleTranslation | TranslatedAsFirst | ErrorTranslated | PortClash | MasqueradeDeviceChanged
    | NotTranslated
)  # fmt: skip
