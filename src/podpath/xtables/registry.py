"""Every extension of iptables. A new one is its module and a line here; the order is the one in
which words of `iptables -L` are tried.
"""

from __future__ import annotations

from collections.abc import Mapping

from podpath.xtables.extension import MatchExtension, TargetExtension
from podpath.xtables.matches import (
    addrtype,
    comment,
    connmark,
    conntrack,
    dccp,
    ecn,
    helper,
    icmp,
    iprange,
    length,
    mac,
    mark,
    multiport,
    nfacct,
    opaque,
    owner,
    physdev,
    pkttype,
    policy,
    recent,
    rpfilter,
    sctp,
    set,  # noqa: A004  # the match's own name
    socket,
    state,
    statistic,
    tcp,
    tcpmss,
    tos,
    ttl,
    udp,
)
from podpath.xtables.targets import (
    checksum,
    ct,
    masquerade,
    nat,
    queue,
    redirect,
    reject,
    silent,
    stopping,
    tproxy,
)
from podpath.xtables.targets import connmark as connmark_target
from podpath.xtables.targets import mark as mark_target
from podpath.xtables.targets import tcpmss as tcpmss_target
from podpath.xtables.targets import tos as tos_target
from podpath.xtables.targets import ttl as ttl_target

_MATCHES: tuple[MatchExtension, ...] = (
    tcp.MATCH,
    udp.UDP,
    udp.UDPLITE,
    sctp.MATCH,
    dccp.MATCH,
    icmp.ICMP,
    icmp.ICMP6,
    icmp.ICMPV6,
    conntrack.MATCH,
    state.MATCH,
    connmark.MATCH,
    multiport.MATCH,
    addrtype.MATCH,
    statistic.MATCH,
    set.MATCH,
    physdev.MATCH,
    owner.MATCH,
    iprange.MATCH,
    mac.MATCH,
    policy.MATCH,
    recent.MATCH,
    ecn.MATCH,
    tcpmss.MATCH,
    helper.MATCH,
    socket.MATCH,
    rpfilter.MATCH,
    comment.MATCH,
    nfacct.MATCH,
    mark.MATCH,
    length.MATCH,
    pkttype.MATCH,
    ttl.TTL,
    ttl.HL,
    tos.TOS,
    tos.DSCP,
    *opaque.MATCHES,
)
_TARGETS: tuple[TargetExtension, ...] = (
    reject.TARGET,
    nat.DNAT,
    nat.SNAT,
    nat.NETMAP,
    masquerade.TARGET,
    redirect.TARGET,
    mark_target.TARGET,
    connmark_target.TARGET,
    tproxy.TARGET,
    queue.NFQUEUE,
    queue.QUEUE,
    ct.CT,
    ct.NOTRACK,
    tcpmss_target.TARGET,
    checksum.TARGET,
    tos_target.TOS,
    tos_target.DSCP,
    ttl_target.TTL,
    ttl_target.HL,
    *silent.TARGETS,
    *stopping.TARGETS,
)

MATCHES: Mapping[str, MatchExtension] = {match.name: match for match in _MATCHES}
"""By the name behind `-m`."""
TARGETS: Mapping[str, TargetExtension] = {target.name: target for target in _TARGETS}
"""By the name behind `-j`; verdicts and chains are none."""
EXTENSIONS: tuple[MatchExtension | TargetExtension, ...] = (*_MATCHES, *_TARGETS)
"""All of them."""
VERDICTS = frozenset({"ACCEPT", "DROP", "RETURN"})
"""Names behind `-j` that no extension is needed for."""
