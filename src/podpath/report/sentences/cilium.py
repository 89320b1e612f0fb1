"""What Cilium's programs decide, in words."""

from __future__ import annotations

from typing import assert_never

from podpath.datapath.reasons import cilium
from podpath.datapath.reasons.cilium import CiliumReason
from podpath.datapath.walk.cilium_config import NOTE

BY_MAPS = "from the maps"
UNSEEN = "the host's netfilter does not see it"


def spell_cilium(reason: CiliumReason) -> str:  # one arm for each reason
    """Say what a BPF program decided about a packet."""
    match reason:
        case cilium.HandedToStack() | cilium.DeliveredToHost():
            on = f" on {reason.link}" if isinstance(reason, cilium.DeliveredToHost) else ""
            return f"Cilium hands it to the host's stack{on} ({NOTE})"
        case cilium.AnswerRedirected(address):
            said = (
                f"Cilium translates the answer back to {address} and sends it straight to its pod"
            )
            return f"{said}: netfilter does not see it ({NOTE})"
        case cilium.BpfMasqueraded(address, before, link, stands_in):
            said = (
                f"Cilium masquerades it as {address}, after netfilter saw it as {before} ({NOTE})"
            )
            return (
                f"{said}; {address} stands for the address of {link}, which is not in evidence"
                if stands_in
                else said
            )
        case cilium.DeliveredToEndpoint(link):
            return f"Cilium delivers it to {link} itself: {UNSEEN} ({NOTE})"
        case cilium.SentThroughOverlay(link):
            return f"Cilium sends it through {link} to the pod's node: {UNSEEN} ({NOTE})"
        case cilium.RoutedPastHost(link):
            return (
                f"Cilium routes it to {'nowhere' if link is None else link} itself: {UNSEEN} "
                f"({NOTE})"
            )
        case cilium.PeerShown(address):
            return f"the socket sees {address} as its peer ({NOTE})"
        case cilium.ServiceTranslated(service, endpoint, by_maps):
            note = BY_MAPS if by_maps else NOTE
            return f"Cilium translates the service {service} to its endpoint {endpoint} ({note})"
        case cilium.NoBackend(service, port):
            return f"Cilium has the service {service}:{port} without a backend ({BY_MAPS})"
        case cilium.ServiceRestored(service):
            return f"Cilium translates the source back to the service {service} ({NOTE})"
        case _:
            assert_never(reason)
