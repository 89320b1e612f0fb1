"""How a new connection gets its address and port (net/netfilter/nf_nat_core.c:nf_nat_setup_info
v6.12).
"""

from __future__ import annotations

from podpath.datapath.conntrack.connection import Connection
from podpath.datapath.conntrack.table import ConntrackTable
from podpath.datapath.conntrack.tuples import ICMPS, PORTED, inverse, inverse_kind, tuple_key
from podpath.datapath.nat.jenkins import jhash2, reciprocal_scale
from podpath.datapath.netfilter.state import Decision, HookState
from podpath.datapath.netfilter.tracking import conntrack_table
from podpath.datapath.reasons.translation import DestinationRewritten, SourceRewritten
from podpath.datapath.routing.reasons import kernel_version
from podpath.datapath.vocabulary import StepDecision
from podpath.net import protocols
from podpath.net.addresses import WIDTH, Address
from podpath.node.netfilter import ConnTuple, Rule
from podpath.xtables.nat_ranges import NatRange
from podpath.xtables.verdicts import ACCEPT, DROP, Verdict

KEEPS_REVERSE = (6, 12)
DRAWS_FROM_RANGES = ((5, 0), (6, 8))
"""From which kernel on, and before which, a destination's port is drawn from the range of a rule
that does not ask for it; others take the first that is free
(`net/netfilter/nf_nat_core.c:nf_nat_l4proto_unique_tuple v6.12`).
"""
MAX_ATTEMPTS = 128
"""NF_NAT_MAX_ATTEMPTS: ports that are tried before the kernel draws again."""
LOW_PORTS = ((512, 1, 511), (1024, 600, 1023))
"""A source port below the first number is mapped to a port from the second to the third; any other
to 1024 and up.
"""


def bind_destination(state: HookState, rule: Rule, allowed: NatRange) -> Verdict:
    """Return the packet's connection a destination in the range, as a rule wants it."""
    connection = state.skb.connection
    if connection is None or connection.confirmed:
        return ACCEPT
    if connection.dst_nat_done:
        return DROP
    before = inverse(connection.reply)
    watch_target = state.walk.engine.watch_target
    if watch_target is not None:
        allowed = watch_target(state.skb.netns.name, rule, allowed)
    set_up(state, connection, allowed, source=False)
    after = inverse(connection.reply)
    state.decision = Decision(
        StepDecision.DNAT, DestinationRewritten(rule, before, after), rule.span
    )
    return ACCEPT


def bind_source(state: HookState, rule: Rule, allowed: NatRange) -> Verdict:
    """Return the packet's connection a source in the range, as a rule wants it."""
    connection = state.skb.connection
    if connection is None or connection.confirmed:
        return ACCEPT
    if connection.src_nat_done:
        return DROP
    before = inverse(connection.reply)
    set_up(state, connection, allowed, source=True)
    after = inverse(connection.reply)
    rewritten = SourceRewritten(rule, before, after, connection.port_at_random)
    state.decision = Decision(StepDecision.SNAT, rewritten, rule.span)
    return ACCEPT


def bind_nothing(state: HookState, connection: Connection, *, source: bool) -> None:
    """Settle that no rule translates the connection, but for a port that is taken
    (`nf_nat_alloc_null_binding`).
    """
    if connection.confirmed:
        return
    address = connection.reply.dst if source else connection.reply.src
    set_up(state, connection, NatRange(low=address.value, high=address.value), source=source)


def set_up(state: HookState, connection: Connection, allowed: NatRange, *, source: bool) -> None:
    """Give a connection a source or a destination in the range (`nf_nat_setup_info`)."""
    current = inverse(connection.reply)
    new = _unique_tuple(state, connection, current, allowed, source=source)
    if new != current:
        connection.reply = inverse(new)
        if source:
            connection.src_nat = True
        else:
            connection.dst_nat = True
    if source:
        connection.src_nat_done = True
    else:
        connection.dst_nat_done = True


def _unique_tuple(
    state: HookState,
    connection: Connection,
    current: ConnTuple,
    allowed: NatRange,
    *,
    source: bool,
) -> ConnTuple:
    """Find a tuple in the range that no other connection has (`get_unique_tuple`)."""
    table = conntrack_table(state.walk, state.skb.netns)
    if source and not allowed.random:
        if _in_range(current, allowed):
            if _is_free(table, connection, current) or _keeps_reverse(state, table, connection):
                return current
        else:
            mapped = _same_source(table, connection, current, allowed)
            if mapped is not None and _is_free(table, connection, mapped):
                return mapped
    new = _with_address(current, allowed, connection.zone.id, source=source)
    if not allowed.random:
        if allowed.low_port is None:
            if _is_free(table, connection, new):
                return new
        elif (
            allowed.base_port is None
            and _port_in_range(new, allowed, source=source)
            and (allowed.low_port == allowed.high_port or _is_free(table, connection, new))
        ):
            return new
    return _with_port(state, connection, new, allowed, source=source)


def _is_free(table: ConntrackTable, connection: Connection, candidate: ConnTuple) -> bool:
    """Tell whether replies to the tuple would reach this connection (`nf_nat_used_tuple`)."""
    kind = inverse_kind(candidate.protocol, connection.kind) or 0
    key = tuple_key(inverse(candidate), kind, connection.zone.in_direction(reply=True))
    return not table.taken(key, connection)


def _keeps_reverse(state: HookState, table: ConntrackTable, connection: Connection) -> bool:
    """Tell whether a datagram keeps its port although its reply tuple is taken: by the original
    tuple of a connection that nothing translates, as that of its answers in another zone
    (`nf_nat_used_tuple_new` v6.12).
    """
    kernel = state.walk.engine.node.home_of(state.skb.netns).kernel
    if connection.reply.protocol != protocols.UDP or kernel_version(kernel) < KEEPS_REVERSE:
        return False
    key = tuple_key(
        connection.reply, connection.reply_kind, connection.zone.in_direction(reply=True)
    )
    found = table.find(key, connection.zone)
    if found is None:
        return False
    other, reply = found
    return not reply and not (other.src_nat or other.dst_nat)


def _in_range(candidate: ConnTuple, allowed: NatRange) -> bool:
    if (
        allowed.low is not None
        and allowed.high is not None
        and not allowed.low <= candidate.src.value <= allowed.high
    ):
        return False
    return allowed.low_port is None or _port_in_range(candidate, allowed, source=True)


def _port_in_range(candidate: ConnTuple, allowed: NatRange, *, source: bool) -> bool:
    if (
        allowed.low_port is None
        or allowed.high_port is None
        or candidate.protocol not in PORTED | ICMPS | {protocols.GRE}
    ):
        return True
    port = candidate.sport if source or candidate.protocol in ICMPS else candidate.dport
    return allowed.low_port <= port <= allowed.high_port


def _same_source(
    table: ConntrackTable, connection: Connection, current: ConnTuple, allowed: NatRange
) -> ConnTuple | None:
    """Find how the same source is mapped already for another destination
    (`find_appropriate_src`).
    """
    for other in table.of_source((current.src, current.sport, current.protocol)):
        if other is connection or other.zone.in_direction(
            reply=False
        ) != connection.zone.in_direction(reply=False):
            continue
        mapped = inverse(other.reply)
        candidate = current._replace(src=mapped.src, sport=mapped.sport)
        if candidate.protocol in ICMPS:
            candidate = candidate._replace(dport=mapped.sport)
        if _in_range(candidate, allowed):
            return candidate
    return None


def _with_address(current: ConnTuple, allowed: NatRange, zone: int, *, source: bool) -> ConnTuple:
    """Pick an address of the range by a hash of source and destination (`find_best_ips_proto`)."""
    if allowed.low is None or allowed.high is None:
        return current
    family = current.src.family
    value = allowed.low
    if allowed.high != allowed.low:
        value = _pick_address(
            current, allowed.low, allowed.high, None if allowed.persistent else zone
        )
    address = Address(family, value)
    if source:
        return current._replace(src=address)
    return current._replace(dst=address)


def _pick_address(current: ConnTuple, low: int, high: int, zone: int | None) -> int:
    count = WIDTH[current.src.family] // 32
    sources, targets = _words(current.src.value, count), _words(current.dst.value, count)
    seed = 0 if zone is None else targets[-1] ^ zone
    # The kernel hashes all 16 bytes of its address union, whatever the family.
    hashed = jhash2([*sources, *([0] * (4 - count))], seed)
    value, whole = 0, False
    for index in range(count):
        shift = 32 * (count - 1 - index)
        first, last = low >> shift & 0xFFFFFFFF, high >> shift & 0xFFFFFFFF
        if whole:
            word = reciprocal_scale(hashed, 0xFFFFFFFF)
        else:
            word = first + reciprocal_scale(hashed, last - first + 1)
        value = value << 32 | word
        whole = whole or word != last
        if zone is not None:
            hashed ^= targets[index]
    return value


def _words(value: int, count: int) -> list[int]:
    """Return an address as the 32-bit words that a little-endian kernel loads."""
    raw = value.to_bytes(count * 4, "big")
    return [int.from_bytes(raw[start : start + 4], "little") for start in range(0, count * 4, 4)]


def _with_port(
    state: HookState,
    connection: Connection,
    current: ConnTuple,
    allowed: NatRange,
    *,
    source: bool,
) -> ConnTuple:
    """Find a free port (`nf_nat_l4proto_unique_tuple`); where the kernel draws one, a number stands
    for any of the range.
    """
    table = conntrack_table(state.walk, state.skb.netns)
    if current.protocol not in PORTED | ICMPS:
        return current
    port = current.sport if source or current.protocol in ICMPS else current.dport
    first, last = _port_limits(current.protocol, port, allowed)
    if not source and allowed.low_port is None and current.protocol in PORTED:
        return current
    size = last - first + 1
    offset = 0
    since, before = DRAWS_FROM_RANGES
    kernel = state.walk.engine.node.home_of(state.skb.netns).kernel
    draws = since <= kernel_version(kernel) < before
    drawn = allowed.base_port is None and (allowed.random or source or draws)
    if allowed.base_port is not None:
        offset = port - allowed.base_port
    elif drawn:
        connection.port_at_random = True
        ends = [current.src.value & 0xFFFFFFFF, current.dst.value & 0xFFFFFFFF, port]
        offset = 0 if state.walk.engine.any_port else jhash2(ends, 0)
    number = port
    for attempt in range(min(size, MAX_ATTEMPTS)):
        number = first + (offset + attempt) % size
        if _is_free(table, connection, _put_port(current, number, source=source)):
            break
    if drawn and size > 1:
        what = f"the port that NAT draws in netns {state.skb.netns.name}"
        number = state.walk.draws.port(number, (first, last), what)
    return _put_port(current, number, source=source)


def _put_port(current: ConnTuple, number: int, *, source: bool) -> ConnTuple:
    if current.protocol in ICMPS:
        return current._replace(sport=number, dport=number)
    if source:
        return current._replace(sport=number)
    return current._replace(dport=number)


def _port_limits(protocol: int, port: int, allowed: NatRange) -> tuple[int, int]:
    if allowed.low_port is not None and allowed.high_port is not None:
        return min(allowed.low_port, allowed.high_port), max(allowed.low_port, allowed.high_port)
    if protocol in ICMPS:
        return 0, 0xFFFF
    for limit, first, last in LOW_PORTS:
        if port < limit:
            return first, last
    return 1024, 0xFFFF
