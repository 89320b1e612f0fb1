"""`-m conntrack`: state, tuples, status and direction of the packet's connection
(net/netfilter/xt_conntrack.c v6.12).

The kernel asks in one function, and its order shows: a packet without a connection is done after
`--ctstate`, whatever the other options say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from podpath.net import protocols
from podpath.net.addresses import Address, Family
from podpath.xtables.context import RuleContext, unknown_option
from podpath.xtables.extension import MatchExtension, make_options
from podpath.xtables.rule import Match, MatchOption, single, spell, words
from podpath.xtables.seen import Answer, Check, ConnectionSeen, Doubt, Surroundings, TrackedPacket
from podpath.xtables.values import parse_ports, parse_range
from podpath.xtables.wording import make_form, option_form

STATES = frozenset({"INVALID", "ESTABLISHED", "NEW", "RELATED", "UNTRACKED", "SNAT", "DNAT"})


class _Part(NamedTuple):
    """A condition on the connection itself."""

    holds: Callable[[ConnectionSeen, Surroundings], Answer]
    wanted: bool


def compile_match(match: Match, context: RuleContext) -> tuple[Check, ...]:
    """Compile all options to one check, as `conntrack_mt` is one function."""
    states = [option for option in match.options if option.name in {"ctstate", "state"}]
    others = [option for option in match.options if option.name not in {"ctstate", "state"}]
    unknown = [option for option in others if option.name not in PARTS]
    if unknown:
        return (unknown_option(match.name, unknown[0], context),)
    if states and not others:
        return (_check_state(states[-1]),)
    parts = tuple(
        _Part(PARTS[option.name](option, context), not option.negated) for option in others
    )
    return (_check_all(_check_state(states[-1]) if states else None, parts),)


def packet_state(skb: TrackedPacket) -> str:
    """Return what a packet is to conntrack; before conntrack, what a CT target hung on it counts as
    new (`xt_ct_target`).

    Without a connection the packet counts as untracked where a rule said so, else as invalid.
    """
    if skb.ctinfo == "RELATED" and skb.connection is None:
        # an error about an untracked packet: it has a state and nothing to have it of
        # (`nf_conntrack_attach`)
        return "INVALID"
    return skb.ctinfo or ("NEW" if skb.template is not None else "INVALID")


def _check_state(option: MatchOption) -> Check:
    states = frozenset(words(option))
    if not states or not states <= STATES:
        raise ValueError(f"expected connection states, saw {spell(option)!r}")
    wanted = not option.negated
    source_nat, destination_nat = "SNAT" in states, "DNAT" in states

    def check_state(state: Surroundings) -> bool:
        skb = state.skb
        if packet_state(skb) in states:
            return wanted
        connection = skb.connection
        if connection is not None and (
            (source_nat and connection.src_nat) or (destination_nat and connection.dst_nat)
        ):
            return wanted
        return not wanted

    return check_state


def _check_all(check_state: Check | None, parts: tuple[_Part, ...]) -> Check:
    def check_conntrack(state: Surroundings) -> Answer:
        if check_state is not None and check_state(state) is False:
            return False
        connection = state.attached
        if connection is None:
            return check_state is not None
        doubt: Doubt | None = None
        for part in parts:
            held = part.holds(connection, state)
            if isinstance(held, Doubt):
                doubt = held
            elif held is not part.wanted:
                return False
        return True if doubt is None else doubt

    return check_conntrack


PartCompiler = Callable[
    [MatchOption, RuleContext], Callable[[ConnectionSeen, Surroundings], Answer]
]


def _address(select: Callable[[ConnectionSeen], Address]) -> PartCompiler:
    def compile_address(
        option: MatchOption, context: RuleContext
    ) -> Callable[[ConnectionSeen, Surroundings], Answer]:
        value, mask = _parse_network(single(option), context.family)
        return lambda connection, _: select(connection).value & mask == value

    return compile_address


def _port(select: Callable[[ConnectionSeen], int]) -> PartCompiler:
    def compile_port(
        option: MatchOption, _: RuleContext
    ) -> Callable[[ConnectionSeen, Surroundings], Answer]:
        first, last = parse_ports(single(option))
        return lambda connection, _: first <= select(connection) <= last

    return compile_port


def _compile_protocol(
    option: MatchOption, _: RuleContext
) -> Callable[[ConnectionSeen, Surroundings], Answer]:
    number = protocols.protocol_number(single(option))
    return lambda connection, _: connection.original.protocol == number


def _compile_direction(
    option: MatchOption, _: RuleContext
) -> Callable[[ConnectionSeen, Surroundings], Answer]:
    word = single(option).upper()
    if word not in {"ORIGINAL", "REPLY"}:
        raise ValueError(f"expected ORIGINAL or REPLY, saw {word!r}")
    reply = word == "REPLY"
    return lambda _, state: state.skb.reply is reply


STATUSES: Mapping[str, Callable[[ConnectionSeen], bool]] = {
    "NONE": lambda _: False,
    "EXPECTED": lambda connection: connection.expected,
    "SEEN_REPLY": lambda connection: connection.seen_reply,
    "ASSURED": lambda connection: connection.assured,
    "CONFIRMED": lambda connection: connection.confirmed,
}


def _compile_status(
    option: MatchOption, _: RuleContext
) -> Callable[[ConnectionSeen, Surroundings], Answer]:
    names = words(option)
    if not names or not STATUSES.keys() >= set(names):
        raise ValueError(f"expected connection statuses, saw {names}")
    tests = tuple(STATUSES[name] for name in names)
    return lambda connection, _: any(test(connection) for test in tests)


def _compile_expiry(
    option: MatchOption, context: RuleContext
) -> Callable[[ConnectionSeen, Surroundings], Answer]:
    parse_range(single(option))
    doubt = Doubt(
        f"the connection expires in {single(option)} seconds",
        likely=False,
        ask="conntrack -L",
        negated=option.negated,
    )
    del context
    return lambda _, __: doubt


def _parse_network(text: str, family: Family) -> tuple[int, int]:
    network, _, length = text.partition("/")
    address = Address.parse(network)
    if address.family != family:
        raise ValueError(f"expected an IPv{family} network, saw {text!r}")
    width = 32 if family == 4 else 128
    if length.isdigit():
        mask = ((1 << width) - 1) ^ ((1 << (width - int(length))) - 1)
    else:
        mask = Address.parse(length).value if length else (1 << width) - 1
    return address.value & mask, mask


PARTS: Mapping[str, PartCompiler] = {
    "ctproto": _compile_protocol,
    "ctorigsrc": _address(lambda connection: connection.original.src),
    "ctorigdst": _address(lambda connection: connection.original.dst),
    "ctreplsrc": _address(lambda connection: connection.reply.src),
    "ctrepldst": _address(lambda connection: connection.reply.dst),
    "ctorigsrcport": _port(lambda connection: connection.original.sport),
    "ctorigdstport": _port(lambda connection: connection.original.dport),
    "ctreplsrcport": _port(lambda connection: connection.reply.sport),
    "ctrepldstport": _port(lambda connection: connection.reply.dport),
    "ctstatus": _compile_status,
    "ctexpire": _compile_expiry,
    "ctdir": _compile_direction,
}


MATCH = MatchExtension(
    name="conntrack",
    options=make_options(
        "ctstate",
        *(name for name in PARTS if not name.endswith("port")),
        ports=(name for name in PARTS if name.endswith("port")),
    ),
    forms=tuple(make_form("conntrack", option_form(name, name)) for name in ("ctstate", *PARTS)),
    apart=True,
    compiler=compile_match,
    tracks=True,
)
