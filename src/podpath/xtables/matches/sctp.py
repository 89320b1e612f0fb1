"""`-m sctp`: ports; chunk types stay in doubt, since packets carry none here
(net/netfilter/xt_sctp.c v6.12).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from podpath.net import protocols
from podpath.xtables.context import RuleContext, doubtful
from podpath.xtables.extension import MatchExtension, OptionMeaning, draw
from podpath.xtables.matches.ports import port_options
from podpath.xtables.rule import MatchOption
from podpath.xtables.seen import Check
from podpath.xtables.wording import Groups, list_ports, port_form, split_words


def _compile_chunks(option: MatchOption, context: RuleContext) -> Check:
    return doubtful(
        f"the packet's SCTP chunks are {' '.join(option.values)}",
        context,
        likely=False,
        negated=option.negated,
    )


_CHUNKS: Mapping[int, str] = {
    0: "DATA", 1: "INIT", 2: "INIT_ACK", 3: "SACK", 4: "HEARTBEAT", 5: "HEARTBEAT_ACK", 6: "ABORT",
    7: "SHUTDOWN", 8: "SHUTDOWN_ACK", 9: "ERROR", 10: "COOKIE_ECHO", 11: "COOKIE_ACK",
    12: "ECN_ECNE", 13: "ECN_CWR", 14: "SHUTDOWN_COMPLETE", 192: "FORWARD_TSN", 193: "ASCONF",
    128: "ASCONF_ACK",
}  # fmt: skip


def _spell_chunks(value: str) -> str:
    def name(found: re.Match[str]) -> str:
        number = int(found[0], 16)
        return _CHUNKS.get(number, str(number))

    return re.sub(r"0x[0-9a-f]{4}", name, value)


def _list(groups: Groups) -> tuple[MatchOption, ...]:
    if groups["chunk_types"] is None:
        return list_ports(groups)
    chunks = split_words(groups, "chunk_types")
    negated = groups["no_chunk_types"] is not None
    return (*list_ports(groups), MatchOption("chunk-types", chunks, negated))


MATCH = MatchExtension(
    name="sctp",
    options={
        **port_options(native=False),
        "chunk-types": OptionMeaning(check=_compile_chunks, words=2, save=_spell_chunks),
    },
    forms=(
        port_form("sctp", r"?(?:(?P<no_chunk_types>!) )?(?P<chunk_types>(?:any|all|only) \S+)"),
    ),
    listed=_list,
    draws=(draw("dport 80", protocol=protocols.SCTP),),
)
