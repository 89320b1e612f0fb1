"""`snat`, `dnat`, `masquerade` and `redirect` (net/netfilter/nft_nat.c, nft_masq.c, nft_redir.c
v6.12).

What becomes of the connection is what iptables' targets do; only where address and port come from
is nftables' own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from podpath.datapath.netfilter.state import Doubt, HookState
from podpath.datapath.netfilter.verdicts import Verdict
from podpath.datapath.nftables.unfollowed import may_stop
from podpath.datapath.nftables.values import Compiled, RulePosition, compile_value, constant_range
from podpath.datapath.reasons.translation import RuleTranslation
from podpath.datapath.xtables.actions import Actions
from podpath.net import nft
from podpath.net.addresses import Family
from podpath.node.netfilter import Rule, Target
from podpath.node.nftables_text import emit_statement
from podpath.xtables.context import RuleContext
from podpath.xtables.nat_ranges import NULL, NatRange
from podpath.xtables.registry import TARGETS

if TYPE_CHECKING:
    from podpath.node.nftables import NftRule

RANDOM = frozenset({"random", "fully-random"})
Op = Callable[[HookState], "nft.NftVerdict | Verdict | None"]
_BREAK = nft.NftVerdict("break")
_FAMILIES: dict[str, Family] = {"ip": 4, "ip6": 6}


def compile_nat(statement: nft.Nat, place: RulePosition) -> Op:
    """Compile a translation; `ValueError` where its address or port is not modeled."""
    family = _FAMILIES.get(statement.family or place.table.source.family)
    read = _compile_range(statement, place, family)
    rule = place.rule
    proxy = Rule(rule.table, rule.place, rule.position, rule.span, Target(statement.kind))
    do = _ACTS[statement.kind].act
    stop = may_stop(place, emit_statement(statement))

    def translate(state: HookState) -> nft.NftVerdict | Verdict | None:
        if family is not None and state.skb.packet.family != family:
            return _BREAK
        allowed = read(state)
        if isinstance(allowed, Doubt):
            return stop(state) or _BREAK
        if allowed is None:
            return _BREAK
        context = RuleContext(
            proxy, place.table.netns, state.skb.packet.family, "nft", place.table.no_sets
        )
        verdict = do(allowed, context)(Actions(state, proxy))
        _name_rule(state, rule)
        return verdict

    return translate


def _name_rule(state: HookState, rule: NftRule) -> None:
    """Name the rule itself as the one that translated, not the one of iptables that stands in for
    it.
    """
    decision = state.decision
    if (
        decision is not None
        and isinstance(decision.reason, RuleTranslation)
        and decision.span is rule.span
    ):
        state.decision = decision._replace(reason=decision.reason._replace(rule=rule))


def _compile_range(
    statement: nft.Nat, place: RulePosition, family: Family | None
) -> Callable[[HookState], NatRange | Doubt | None]:
    flags = set(statement.flags)
    base = NULL._replace(random=bool(flags & RANDOM), persistent="persistent" in flags)
    datatype = "ipv6_addr" if family == 6 else "ipv4_addr"
    if statement.port is not None and _is_constant(statement.port):
        low, high = constant_range(statement.port, "inet_service")
        base = base._replace(low_port=low, high_port=high)
    if statement.port is None or _is_constant(statement.port):
        port = None
    else:
        port = compile_value(statement.port, place, "inet_service")
    if statement.address is not None and _is_constant(statement.address):
        low, high = constant_range(statement.address, datatype)
        base = base._replace(low=low, high=high)
    has_address = statement.address is not None and not _is_constant(statement.address)
    if has_address and statement.address is not None:
        address = compile_value(statement.address, place, datatype)
    else:
        address = None
    return lambda state: _read_range(base, address, port, state)


def _is_constant(expression: nft.Expression) -> bool:
    return isinstance(expression, nft.Literal | nft.PrefixLiteral | nft.Interval)


def _read_range(
    base: NatRange, address: Compiled | None, port: Compiled | None, state: HookState
) -> NatRange | Doubt | None:
    """Read what comes from maps; None where a map has nothing, which ends the rule."""
    if address is not None:
        parts = address.parts(state)
        if parts is None or isinstance(parts, Doubt):
            return parts
        if not isinstance(parts[0], int):
            return None
        base = base._replace(low=parts[0], high=parts[0])
        if len(parts) > 1 and isinstance(parts[1], int):
            base = base._replace(low_port=parts[1], high_port=parts[1])
    if port is not None:
        number = port.read(state)
        if not isinstance(number, int):
            return number if isinstance(number, Doubt) else None
        base = base._replace(low_port=number, high_port=number)
    return base


_ACTS = {target.nft.name: target.nft for target in TARGETS.values() if target.nft is not None}
"""By the kind of the statement, what the target that is translated to it does."""
