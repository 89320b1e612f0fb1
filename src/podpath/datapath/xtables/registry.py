"""Which module evaluates which extension. A match that the packet alone decides comes from
`xtables.registry` by itself.
"""

from __future__ import annotations

from collections.abc import Mapping

from podpath.datapath.netfilter.state import Act, Check
from podpath.datapath.xtables.context import (
    MatchCompiler,
    RuleContext,
    TargetCompiler,
    doubtful,
    spell_match,
)
from podpath.datapath.xtables.matches import (
    addrtype,
    comment,
    connmark,
    conntrack,
    dccp,
    ecn,
    helper,
    icmp,
    iprange,
    mac,
    multiport,
    nfacct,
    of_packet,
    opaque,
    owner,
    physdev,
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
    udp,
)
from podpath.datapath.xtables.targets import (
    connmark as connmark_target,
)
from podpath.datapath.xtables.targets import (
    ct,
    dnat,
    masquerade,
    netmap,
    queue,
    redirect,
    reject,
    silent,
    snat,
    tproxy,
    unknown,
)
from podpath.datapath.xtables.targets import (
    mark as mark_target,
)
from podpath.datapath.xtables.targets import (
    tos as tos_target,
)
from podpath.datapath.xtables.targets import (
    ttl as ttl_target,
)
from podpath.node.netfilter import Match, Target
from podpath.xtables import registry as xtables

MATCHES: Mapping[str, MatchCompiler] = {
    "addrtype": addrtype.compile_match,
    "comment": comment.compile_match,
    "connmark": connmark.compile_match,
    "conntrack": conntrack.compile_match,
    "dccp": dccp.compile_match,
    "ecn": ecn.compile_match,
    "helper": helper.compile_match,
    "icmp": icmp.compile_match,
    "icmp6": icmp.compile_match,
    "icmpv6": icmp.compile_match,
    "iprange": iprange.compile_match,
    "mac": mac.compile_match,
    "multiport": multiport.compile_match,
    "nfacct": nfacct.compile_match,
    "owner": owner.compile_match,
    "physdev": physdev.compile_match,
    "policy": policy.compile_match,
    "recent": recent.compile_match,
    "rpfilter": rpfilter.compile_match,
    "sctp": sctp.compile_match,
    "set": set.compile_match,
    "socket": socket.compile_match,
    "state": state.compile_match,
    "statistic": statistic.compile_match,
    "tcp": tcp.compile_match,
    "tcpmss": tcpmss.compile_match,
    "udp": udp.compile_match,
    "udplite": udp.compile_match,
    **{match.name: of_packet.make_compiler(match) for match in xtables.MATCHES},
    **dict.fromkeys(opaque.EXTENSIONS, opaque.compile_match),
}
"""By the name behind `-m`."""

TARGETS: Mapping[str, TargetCompiler] = {
    "CONNMARK": connmark_target.compile_target,
    "CT": ct.compile_target,
    "DNAT": dnat.compile_target,
    "DSCP": tos_target.compile_target,
    "HL": ttl_target.compile_target,
    "MARK": mark_target.compile_target,
    "MASQUERADE": masquerade.compile_target,
    "NETMAP": netmap.compile_target,
    "NFQUEUE": queue.compile_target,
    "NOTRACK": ct.compile_target,
    "QUEUE": queue.compile_target,
    "REDIRECT": redirect.compile_target,
    "REJECT": reject.compile_target,
    "SNAT": snat.compile_target,
    "TOS": tos_target.compile_target,
    "TPROXY": tproxy.compile_target,
    "TTL": ttl_target.compile_target,
    **dict.fromkeys(unknown.NOT_FOLLOWED, unknown.compile_stop),
}
"""By the name behind `-j`; those of `targets.silent` change nothing and are not among them."""

VERDICT_NAMES = frozenset({"ACCEPT", "DROP", "RETURN"})


def is_target(name: str) -> bool:
    """Tell whether a name behind `-j` is a verdict's or an extension's, and so no chain's."""
    return name in VERDICT_NAMES or name in TARGETS or name in silent.EFFECTS


def compile_match(match: Match, context: RuleContext) -> tuple[Check, ...]:
    """Compile one match; one that is not known, or not understood, answers with a doubt and never
    with yes.
    """
    compiler = MATCHES.get(match.name)
    if compiler is None:
        return (
            doubtful(
                f"{spell_match(match)} (an unknown match) at {context.where} matches",
                context,
                likely=False,
            ),
        )
    try:
        return compiler(match, context)
    except ValueError as error:
        return (
            doubtful(
                f"{spell_match(match)} at {context.where} matches ({error})", context, likely=False
            ),
        )


def compile_target(target: Target, context: RuleContext) -> Act | None:
    """Compile one target; None for one that changes nothing. An unknown one forks the walk."""
    if silent.is_silent(target):
        return None
    compiler = TARGETS.get(target.name)
    if compiler is None:
        return unknown.compile_unknown(target, context, "an unknown target")
    try:
        return compiler(target, context)
    except ValueError as error:
        return unknown.compile_unknown(target, context, str(error))
