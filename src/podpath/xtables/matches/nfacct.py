"""`-m nfacct`: counts and matches, as long as its object has no quota (net/netfilter/xt_nfacct.c
v6.12).
"""

from __future__ import annotations

from podpath.xtables.context import RuleContext, always
from podpath.xtables.extension import MatchExtension, OptionMeaning
from podpath.xtables.rule import MatchOption
from podpath.xtables.seen import Check


def _compile_name(_: MatchOption, __: RuleContext) -> Check:
    return always(True)


MATCH = MatchExtension(
    name="nfacct",
    options={"nfacct-name": OptionMeaning(check=_compile_name)},
    not_drawn="it needs an object outside the rules",
)
