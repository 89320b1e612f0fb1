"""`-m mac`: the Ethernet source of a received packet (net/netfilter/xt_mac.c:mac_mt v6.12).

What comes in on a device that is not Ethernet, `lo` or a tunnel of IP in IP, matches neither with
nor without `!`.
"""

from __future__ import annotations

from podpath.xtables.context import RuleContext
from podpath.xtables.extension import MatchExtension, OptionMeaning
from podpath.xtables.rule import MatchOption, single
from podpath.xtables.seen import Answer, Check, Doubt, Surroundings
from podpath.xtables.wording import make_form


def _compile_source(option: MatchOption, context: RuleContext) -> Check:
    wanted_mac = single(option).lower()
    wanted = not option.negated
    doubt = Doubt(
        f"the frame's source is {wanted_mac}",
        likely=False,
        ask=context.show,
        negated=option.negated,
    )

    def check_mac(state: Surroundings) -> Answer:
        if not state.has_link_header:
            return False
        mac = state.skb.packet.smac
        if mac is None:
            return doubt
        return (mac == wanted_mac) is wanted

    return check_mac


MATCH = MatchExtension(
    name="mac",
    options={"mac-source": OptionMeaning(check=_compile_source)},
    forms=(make_form("mac", r"MAC (?:(?P<no_mac_source>!) )?(?P<mac_source>\S+)"),),
)
