"""What Cilium's BPF programs decide about a packet."""

from __future__ import annotations

from typing import NamedTuple

from podpath.datapath.reasons.distinct import distinct
from podpath.net.addresses import Address


@distinct
class HandedToStack(NamedTuple):
    """The program hands the packet to the host's stack."""


@distinct
class AnswerRedirected(NamedTuple):
    """The program translates the answer back and sends it straight to its pod, past netfilter."""

    address: Address


@distinct
class BpfMasqueraded(NamedTuple):
    """The program masquerades the packet, after netfilter saw it."""

    address: Address
    before: Address
    link: str
    stands_in: bool
    """True where the address stands for that of the device, which is not in evidence."""


@distinct
class DeliveredToEndpoint(NamedTuple):
    """The program delivers the packet to a pod's device, past netfilter."""

    link: str


@distinct
class DeliveredToHost(NamedTuple):
    """The program hands what came through a tunnel for the node itself to its stack, on Cilium's
    own device.
    """

    link: str


@distinct
class SentThroughOverlay(NamedTuple):
    """The program sends the packet through a tunnel to the pod's node, past netfilter."""

    link: str


@distinct
class RoutedPastHost(NamedTuple):
    """The program routes the packet itself, past netfilter."""

    link: str | None
    """None where the route has no device."""


@distinct
class PeerShown(NamedTuple):
    """The socket sees the service as its peer."""

    address: Address


@distinct
class ServiceTranslated(NamedTuple):
    """The program translates a service to one of its endpoints."""

    service: Address
    endpoint: Address
    by_maps: bool = False
    """True where the maps are shown, and not the service alone."""


@distinct
class NoBackend(NamedTuple):
    """The maps have the service, and no backend of it."""

    service: Address
    port: int


@distinct
class ServiceRestored(NamedTuple):
    """The program translates the source back to the service."""

    service: Address


CiliumReason = (
    HandedToStack | AnswerRedirected | BpfMasqueraded | DeliveredToEndpoint | SentThroughOverlay
    | DeliveredToHost | RoutedPastHost | PeerShown | ServiceTranslated | ServiceRestored | NoBackend
)  # fmt: skip
