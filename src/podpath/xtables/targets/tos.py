"""`-j TOS` and `-j DSCP`: the type-of-service byte (net/netfilter/xt_DSCP.c v6.12). Evaluation goes
on.
"""

from __future__ import annotations

from podpath.xtables.context import RuleContext
from podpath.xtables.extension import TargetExtension, make_options
from podpath.xtables.matches.tos import (
    DSCP_BITS,
    parse_dscp,
    parse_dscp_class,
    parse_tos,
    spell_tos,
)
from podpath.xtables.rule import MatchOption, Target, single
from podpath.xtables.seen import RuleActions, TargetAct
from podpath.xtables.values import parse_integer
from podpath.xtables.wording import Groups, make_form, read_bits


def compile_target(target: Target, _: RuleContext) -> TargetAct:
    """Compile the one option to `tos = (tos & ~mask) ^ value`; `--set-tos` with a mask is no
    exception.
    """
    if len(target.options) != 1:
        raise ValueError(f"expected one option of {target.name}")
    value, mask = _parse(target.options[0])

    def set_tos(state: RuleActions) -> None:
        before = state.skb.packet.tos
        tos = (before & (0xFF ^ mask)) ^ value
        if tos != before:
            state.set_tos(tos)

    return set_tos


def _parse(option: MatchOption) -> tuple[int, int]:
    text = single(option)
    if option.name == "set-dscp":
        return parse_dscp(text) << 2, DSCP_BITS
    if option.name == "set-dscp-class":
        return parse_dscp_class(text) << 2, DSCP_BITS
    if option.name == "set-tos":
        return parse_tos(text)
    bits = parse_integer(text, most=255)
    operations = {"and-tos": (0, 0xFF ^ bits), "or-tos": (bits, bits), "xor-tos": (bits, 0)}
    if option.name not in operations:
        raise ValueError(f"expected an option of TOS or DSCP, saw --{option.name}")
    return operations[option.name]


def _list_tos(groups: Groups) -> tuple[MatchOption, ...]:
    """Read `TOS and 0x0f`, which iptables-save spells as `--set-tos VALUE/MASK`
    (libxt_TOS.c:tos_tg_print).
    """
    action, value = groups["action"], groups["value"] or ""
    if action == "set":
        return (MatchOption("set-tos", (value,)),)
    bits = read_bits(value)
    value = {
        "and": f"0x00/{bits ^ 0xFF:#04x}",
        "or": f"{bits:#04x}/{bits:#04x}",
        "xor": f"{bits:#04x}/0x00",
    }[action or "or"]
    return (MatchOption("set-tos", (value,)),)


TOS = TargetExtension(
    name="TOS",
    options=make_options("set-tos", "and-tos", "or-tos", "xor-tos", save={"set-tos": spell_tos}),
    forms=(
        make_form("TOS", r"TOS (?P<action>set)\s*(?P<value>[0A-Z]\S*)"),
        make_form("TOS", r"TOS (?P<action>and|or|xor) (?P<value>0x\S+)"),
    ),
    listed=_list_tos,
    tables=frozenset({"mangle"}),
    compiler=compile_target,
)
DSCP = TargetExtension(
    name="DSCP",
    options=make_options("set-dscp", "set-dscp-class"),
    forms=(make_form("DSCP", r"DSCP set (?P<set_dscp>\S+)"),),
    tables=frozenset({"mangle"}),
    compiler=compile_target,
)
