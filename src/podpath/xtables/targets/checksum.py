"""`-j CHECKSUM`: computes the checksum that a socket left to the device
(net/netfilter/xt_CHECKSUM.c v6.12). Evaluation goes on.
"""

from __future__ import annotations

from podpath.xtables.context import RuleContext
from podpath.xtables.extension import TargetExtension, make_options
from podpath.xtables.rule import Target
from podpath.xtables.seen import RuleActions, TargetAct
from podpath.xtables.wording import make_form


def compile_target(target: Target, _: RuleContext) -> TargetAct:
    """Compile its one option."""
    if [option.name for option in target.options] != ["checksum-fill"]:
        raise ValueError("expected --checksum-fill of CHECKSUM")

    def fill(state: RuleActions) -> None:
        state.compute_checksum()

    return fill


TARGET = TargetExtension(
    name="CHECKSUM",
    options=make_options(flags=("checksum-fill",)),
    forms=(make_form("CHECKSUM", r"CHECKSUM (?P<flag_checksum_fill>fill)"),),
    tables=frozenset({"mangle"}),
    compiler=compile_target,
)
