"""What devices do, in words."""

from __future__ import annotations

from typing import assert_never

from podpath.datapath.reasons import devices
from podpath.datapath.reasons.devices import DeviceReason


def spell_device(reason: DeviceReason) -> str:  # noqa: C901, PLR0911, PLR0912  # one arm for each reason
    """Say what a device did with a frame."""
    match reason:
        case devices.ReceivedOn(link):
            return f"it comes in on {link}"
        case devices.LinkDown(link):
            return f"{link} is down"
        case devices.NoCarrier(link):
            return f"{link} has no carrier: nothing is at its other end"
        case devices.HandedToMaster(link, master):
            return (
                f"{link} is a port of {master}: its receive handler hands the frame on before IP "
                "sees it"
            )
        case devices.SharesWire(link, parent, netns):
            return (
                f"{link} shares the wire of {parent} in netns {netns}, whose own host never gets "
                "its frames"
            )
        case devices.FrameForOther(mac, link, own):
            return f"the frame is for {mac}, but {link} has {own}"
        case devices.LoopedBack(link):
            return f"it comes back in on {link}"
        case devices.DiscardedOnLoopback(link, address):
            return (
                f"{address} is routed out of {link} but is not an address of this host: it is "
                "discarded"
            )
        case devices.SentThroughSlave(link, slave):
            return f"{link} sends it through its slave {slave}, with the MAC of {link}"
        case devices.SwallowedByDummy(link):
            return f"{link} is a dummy device: it discards what it sends"
        case devices.HandedToPeer(link, peer, netns, crosses):
            return f"{link} hands it to its peer {peer}{f' in {netns}' if crosses else ''}"
        case devices.LeftNode(link, inferred):
            return f"it leaves the node on {link}{f' ({inferred})' if inferred else ''}"
        case devices.LeftByPort(link, mac, master):
            return (
                f"it leaves the node on {link} with {link}'s own MAC {mac}, though {link} is a "
                f"port of {master}"
            )
        case devices.CrossedWire(link, node, peer, subnet):
            over = f"the wire of {subnet}" if subnet is not None else "the routers between them"
            return (
                f"it goes from {link} over {over} to {peer} of {node}, which is assumed to "
                "deliver it"
            )
        case devices.TooLongForEnd(link, length, mtu):
            return f"its {length} bytes exceed the MTU of {link}, {mtu}"
        case (
            devices.TunnelFromOther()
            | devices.NoPeerFor()
            | devices.NoEndpointOf()
            | devices.KeyUnknown()
            | devices.PresharedAlone()
            | devices.SourceNotAllowed()
            | devices.VniUnknown()
            | devices.OwnFrameReturned()
            | devices.TunnelPortClosed()
            | devices.OuterChecksumWrong()
            | devices.TunnelsNested()
            | devices.NoRemoteEnd()
            | devices.WrappedForUnknownEnd()
        ):
            return _spell_ends(reason)
        case devices.NoDevice():
            return "it has no device to leave on"
        case devices.Wrapped(link, remote):
            return f"{link} encapsulates it for {remote}"
        case devices.Unwrapped(link):
            return f"{link} decapsulates it"
        case devices.ReachedSocket(port, netns):
            return f"it reaches {netns if port is None else f'port {port} in {netns}'}"
        case devices.EchoIgnored(key):
            return f"the host ignores such echo requests: {key} is 1"
        case _:
            assert_never(reason)


def _spell_ends(  # noqa: C901, PLR0911, PLR0912  # a row for each reason
    reason: devices.TunnelFromOther
    | devices.NoPeerFor
    | devices.NoEndpointOf
    | devices.KeyUnknown
    | devices.PresharedAlone
    | devices.SourceNotAllowed
    | devices.VniUnknown
    | devices.OwnFrameReturned
    | devices.TunnelPortClosed
    | devices.OuterChecksumWrong
    | devices.TunnelsNested
    | devices.NoRemoteEnd
    | devices.WrappedForUnknownEnd,
) -> str:
    """Return why a tunnel does not carry a packet on, as a clause."""
    match reason:
        case devices.VniUnknown(link, vni, own):
            return f"it has VNI {vni}, but {link} has {own}"
        case devices.OwnFrameReturned(link, mac):
            return f"its source is {mac}, {link}'s own MAC: the driver drops it as a loop"
        case devices.TunnelPortClosed(link, port, own, up):
            if not up:
                return f"nobody listens on port {port}: {link} is down"
            return f"nobody listens on port {port}: {link} is on port {own}"
        case devices.OuterChecksumWrong(link):
            return (
                f"its outer UDP checksum is wrong: {link} computed it (udpcsum) before NAT rewrote "
                "the outer packet, and NAT does not get it right while the inner checksum is still "
                "left to the device"
            )
        case devices.TunnelsNested(link, depth):
            return f"{link} is reached from within {depth} tunnels: the kernel treats it as a loop"
        case devices.NoRemoteEnd(link, address):
            return f"{link} has no remote end for {address}"
        case devices.WrappedForUnknownEnd(link):
            return (
                f"{link} encapsulates it; the remote end is not in evidence, so the outer packet "
                "is not walked"
            )
        case devices.TunnelFromOther(link, source, remote):
            return f"it comes from {source}, but {link} is a tunnel to {remote} only"
        case devices.NoPeerFor(link, address):
            return f"no peer of {link} has {address} among its allowed IPs"
        case devices.NoEndpointOf(link, key):
            return f"{link} knows no endpoint of its peer {key}"
        case devices.KeyUnknown(link, key, is_own):
            if is_own:
                return f"it is for the key {key}, which is not {link}'s"
            return f"it is from the key {key}, which no peer of {link} has"
        case devices.PresharedAlone(link):
            return f"{link} and the other end do not both have a preshared key"
        case devices.SourceNotAllowed(link, address):
            return f"{link} does not accept {address} from the peer that sends it (allowed IPs)"
        case _:
            assert_never(reason)
