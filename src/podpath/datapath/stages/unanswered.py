"""What a host takes and answers with nothing: echo requests that it is set to ignore, streams to
everybody.
"""

from __future__ import annotations

from podpath.datapath.reasons.devices import EchoIgnored
from podpath.datapath.reasons.routes import NoStreamToMany
from podpath.datapath.tracing.paths import Next
from podpath.datapath.tracing.trace import Dropped
from podpath.datapath.vocabulary import StageName, StepDecision
from podpath.datapath.walk.skb import TO_MANY, Skb
from podpath.datapath.walk.state import Walk
from podpath.net import protocols
from podpath.net.provenance import Known, Span

_ECHO = "net/ipv4/icmp.c:icmp_echo v6.12"
_ECHO_TO_MANY = "net/ipv4/icmp.c:icmp_rcv v6.12"
_ECHO6 = "net/ipv6/icmp.c:icmpv6_rcv v6.12"
_STREAM = "net/ipv4/tcp_input.c:tcp_conn_request v6.12"
_REQUESTS = ((protocols.ICMP, 8), (protocols.ICMPV6, 128))
_DEFAULTS = {"net.ipv4.icmp_echo_ignore_broadcasts": "1"}
"""What a fresh kernel has, where that is not 0."""


def leave_unanswered(walk: Walk, skb: Skb) -> Next:
    """End a packet that nothing answers; None for every other."""
    packet = skb.packet
    kind = skb.destination.type if skb.destination is not None else ""
    if packet.protocol == protocols.TCP and kind in TO_MANY:
        reason = NoStreamToMany(packet.dst, kind)
        walk.trace.step(StageName.SOCKET, skb, _STREAM, packet, StepDecision.DROP, reason)
        return Dropped(netns=skb.netns.name, reason="")
    if (packet.protocol, packet.icmp_type) not in _REQUESTS:
        return None
    if packet.family == 6:
        return _ignore_echo(walk, skb, "net.ipv6.icmp.echo_ignore_all", _ECHO6)
    if kind in TO_MANY:
        key = "net.ipv4.icmp_echo_ignore_broadcasts"
        ended = _ignore_echo(walk, skb, key, _ECHO_TO_MANY, "INVALID_PROTO")
        if ended is not None:
            return ended
    return _ignore_echo(walk, skb, "net.ipv4.icmp_echo_ignore_all", _ECHO)


def _ignore_echo(walk: Walk, skb: Skb, key: str, function: str, reason: str = "") -> Next:
    """End an echo request where a sysctl says that the host ignores it."""
    fact = skb.netns.sysctls.get(key)
    value = fact.value if isinstance(fact, Known) else _DEFAULTS.get(key, "0")
    if value == "0":
        return None
    spans: tuple[Span, ...] = ()
    if isinstance(fact, Known) and fact.span is not None:
        spans = (fact.span,)
    walk.trace.step(
        StageName.SOCKET,
        skb,
        function,
        skb.packet,
        StepDecision.DROP,
        EchoIgnored(key),
        spans=spans,
    )
    return Dropped(netns=skb.netns.name, reason=reason)
