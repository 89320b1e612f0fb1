"""`-m owner`: the socket that sent a local packet (net/netfilter/xt_owner.c:owner_mt v6.12)."""

from __future__ import annotations

import re
from collections.abc import Callable

from podpath.xtables.context import RuleContext
from podpath.xtables.extension import MatchExtension, OptionMeaning
from podpath.xtables.rule import MatchOption, single
from podpath.xtables.seen import Answer, Check, Doubt, Surroundings
from podpath.xtables.values import parse_integer
from podpath.xtables.wording import make_form

ASK = "ps -eo pid,user,group,comm"


def is_local(state: Surroundings) -> bool:
    """Tell whether a process of this host sent the packet: only such a packet has an owner.

    The sockets by which the kernel sends errors, resets and echo replies have no file
    (net/ipv4/icmp.c, tcp_ipv4.c v6.12).
    """
    return state.skb.iif is None and state.skb.physin is None and not state.skb.by_kernel


def _compile_user(option: MatchOption, _: RuleContext) -> Check:
    first, last = _parse_ids(single(option))
    wanted = not option.negated
    doubt = Doubt(
        f"the sender runs as uid {single(option)}", likely=False, ask=ASK, negated=option.negated
    )

    def check_user(state: Surroundings) -> Answer:
        if not is_local(state):
            return not wanted
        uid = state.skb.uid
        if uid is None:
            return doubt
        return (first <= uid <= last) is wanted

    return check_user


def _compile_group(option: MatchOption, _: RuleContext) -> Check:
    _parse_ids(single(option))
    doubt = Doubt(
        f"the sender runs as gid {single(option)}", likely=False, ask=ASK, negated=option.negated
    )

    def check_group(state: Surroundings) -> Answer:
        return doubt if is_local(state) else option.negated

    return check_group


def _compile_socket(option: MatchOption, _: RuleContext) -> Check:
    wanted = not option.negated

    def check_socket(state: Surroundings) -> bool:
        return is_local(state) is wanted

    return check_socket


def _compile_supplementary(option: MatchOption, context: RuleContext) -> Check:
    del option, context
    return lambda _: True


def _parse_ids(text: str) -> tuple[int, int]:
    first, dash, last = text.partition("-")
    low = parse_integer(first)
    return low, (parse_integer(last) if dash else low)


def _spell_id(what: str) -> Callable[[str], str]:
    def spell(value: str) -> str:
        if value == "root":
            return "0"
        if not re.fullmatch(r"[\d-]+", value):
            raise ValueError(f"expected a {what} by number, saw the name {value!r}")
        return value

    return spell


MATCH = MatchExtension(
    name="owner",
    options={
        "uid-owner": OptionMeaning(check=_compile_user, save=_spell_id("user")),
        "gid-owner": OptionMeaning(check=_compile_group, save=_spell_id("group")),
        "socket-exists": OptionMeaning(check=_compile_socket, words=0),
        "suppl-groups": OptionMeaning(check=_compile_supplementary, words=0),
    },
    forms=(
        make_form(
            "owner",
            r"(?:(?P<no_flag_socket_exists>!) )?owner (?P<flag_socket_exists>socket exists)",
        ),
        make_form("owner", r"(?:(?P<no_uid_owner>!) )?owner UID match (?P<uid_owner>\S+)"),
        make_form(
            "owner",
            r"(?:(?P<no_gid_owner>!) )?owner GID match (?P<gid_owner>\S+)",
            r"?(?P<flag_suppl_groups>incl\. suppl\. groups)",
        ),
    ),
    apart=True,
)
