"""`-m dccp`: ports; types and options stay in doubt, since packets carry none here
(net/netfilter/xt_dccp.c v6.12).
"""

from __future__ import annotations

import re

from podpath.net import protocols
from podpath.xtables.context import RuleContext, doubtful
from podpath.xtables.extension import MatchExtension, OptionMeaning, draw
from podpath.xtables.matches.ports import port_options
from podpath.xtables.rule import MatchOption
from podpath.xtables.seen import Check
from podpath.xtables.wording import port_form


def _compile_types(option: MatchOption, context: RuleContext) -> Check:
    return doubtful(
        f"the packet's DCCP type is {' '.join(option.values)}",
        context,
        likely=False,
        negated=option.negated,
    )


def _compile_option(option: MatchOption, context: RuleContext) -> Check:
    return doubtful(
        f"the packet has DCCP option {' '.join(option.values)}",
        context,
        likely=False,
        negated=option.negated,
    )


_TYPES = (
    *("REQUEST", "RESPONSE", "DATA", "ACK", "DATAACK", "CLOSEREQ", "CLOSE", "RESET"),
    *("SYNC", "SYNCACK", "INVALID"),
)


def _spell_types(value: str) -> str:
    return re.sub(r"\d+", lambda found: _TYPES[min(int(found[0]), len(_TYPES) - 1)], value)


MATCH = MatchExtension(
    name="dccp",
    options={
        **port_options(native=False),
        "dccp-types": OptionMeaning(check=_compile_types, save=_spell_types),
        "dccp-option": OptionMeaning(check=_compile_option),
    },
    forms=(
        port_form(
            "dccp",
            r"?(?:(?P<no_dccp_types>!) )?(?P<dccp_types>[A-Z0-9][A-Z0-9,]*)",
            r"?option=(?P<no_dccp_option>!)?(?P<dccp_option>\d+)",
        ),
    ),
    draws=(draw("dport 80", protocol=protocols.DCCP),),
)
