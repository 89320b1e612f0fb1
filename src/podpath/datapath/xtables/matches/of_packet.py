"""Matches that the packet alone decides: what `xtables` holds of each, as checks of the walk."""

from __future__ import annotations

from podpath.datapath.netfilter.state import Check, HookState
from podpath.datapath.xtables.context import (
    MatchCompiler,
    OptionCompiler,
    RuleContext,
    compile_options,
)
from podpath.node.netfilter import Match, MatchOption
from podpath.xtables.extension import MatchExtension, OptionMeaning


def make_compiler(extension: MatchExtension) -> MatchCompiler:
    """Return what compiles a match of the extension: every option is a check of its own."""
    compilers = {name: _compile_by(option) for name, option in extension.options.items()}

    def compile_match(match: Match, context: RuleContext) -> tuple[Check, ...]:
        return compile_options(match, context, compilers)

    return compile_match


def _compile_by(known: OptionMeaning) -> OptionCompiler:
    def compile_option(option: MatchOption, context: RuleContext) -> Check:
        del context
        if len(option.values) != known.words:
            raise ValueError(
                f"expected {known.words} values of --{option.name}, saw {len(option.values)}"
            )
        holds = known.read(" ".join(option.values))
        wanted = not option.negated

        def check_option(state: HookState) -> bool:
            return holds(state.skb) is wanted

        return check_option

    return compile_option
