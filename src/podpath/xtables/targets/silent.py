"""Targets that change nothing a walk looks at: evaluation goes on with the next rule.

What they do besides (a log line, a copy of the packet, a bit of another kernel subsystem) is named
here, so that nobody takes the list for ignorance. Their options do not matter to the path, and so
none of them is unknown.
"""

from __future__ import annotations

import re

from podpath.xtables.extension import Draw, TargetExtension, draw, make_options
from podpath.xtables.rule import MatchOption
from podpath.xtables.wording import Groups, make_form, split_words

LOGGED = "S-logged"
"""The set that the lab's rules add to and none asks."""
_MANGLE = frozenset({"mangle"})
_NEEDS_OBJECT = "it needs an object outside the rules"
_REWRITES = "it rewrites options, which the model does not hold"
_LOG_LEVELS = ("emerg", "alert", "crit", "error", "warn", "notice", "info", "debug")
_LOG_FLAGS = (
    "log-tcp-sequence",
    "log-tcp-options",
    "log-ip-options",
    "log-uid",
    "",
    "log-macdecode",
)
_TCP_OPTIONS = {"mss": 2, "wscale": 3, "sack-permitted": 4, "sack": 5, "timestamp": 8, "md5": 19}


def _list_log(groups: Groups) -> tuple[MatchOption, ...]:
    prefix = groups["log_prefix"]
    options = [] if prefix is None else [MatchOption("log-prefix", (prefix,))]
    level = groups["log_level"] or "4"
    level = str(_LOG_LEVELS.index(level)) if level in _LOG_LEVELS else level
    if level != "4":
        options.append(MatchOption("log-level", (level,)))
    bits = int(groups.get("flags") or "0")
    for place, name in enumerate(_LOG_FLAGS):
        if name and (bits >> place & 1 or groups.get("flag_" + name.replace("-", "_"))):
            options.append(MatchOption(name))
    return tuple(options)


def _list_set(groups: Groups) -> tuple[MatchOption, ...]:
    options = [MatchOption(groups["action"] or "", split_words(groups, "name"))]
    if groups["flag_exist"]:
        options.append(MatchOption("exist"))
    if groups["timeout"] is not None:
        options.append(MatchOption("timeout", (groups["timeout"],)))
    mapped = ("map-mark", "map-prio", "map-queue")
    options += [MatchOption(name) for name in mapped if groups["flag_" + name.replace("-", "_")]]
    return tuple(options)


def _list_connsecmark(groups: Groups) -> tuple[MatchOption, ...]:
    return (MatchOption(groups["action"] or ""),)


def _spell_class(value: str) -> str:
    return ":".join(part.zfill(4) for part in value.split(":"))


def _spell_tcp_options(value: str) -> str:
    return re.sub(r"[a-z][\w-]*", lambda found: str(_TCP_OPTIONS.get(found[0], found[0])), value)


_NFLOG = (
    r"nflog-group (?P<nflog_group>\d+)",
    r"nflog-(?:size|range) (?P<nflog_size>\d+)",
    r"nflog-threshold (?P<nflog_threshold>\d+)",
)

TARGETS: tuple[TargetExtension, ...] = (
    TargetExtension(
        name="LOG",
        effect="writes a line to the kernel's log",
        options=make_options("log-level", "log-prefix", flags=filter(None, _LOG_FLAGS)),
        forms=(
            make_form(
                "LOG",
                r"LOG flags (?P<flags>\d+) level (?P<log_level>\S+)",
                r'?prefix "(?P<log_prefix>.*)"',
            ),
            make_form(
                "LOG",
                r"LOG level (?P<log_level>\S+)",
                r"?(?P<flag_log_tcp_sequence>tcp-sequence)",
                r"?(?P<flag_log_tcp_options>tcp-options)",
                r"?(?P<flag_log_ip_options>ip-options)",
                r"?(?P<flag_log_uid>uid)",
                r"?(?P<flag_log_macdecode>macdecode)",
                r'?prefix "(?P<log_prefix>.*)"',
            ),
        ),
        listed=_list_log,
        bare=True,
        draws=(draw("log-prefix seen"),),
    ),
    TargetExtension(
        name="NFLOG",
        effect="sends the packet's head to a logging program",
        options=make_options(
            "nflog-group", "nflog-range", "nflog-size", "nflog-threshold", "nflog-prefix"
        ),
        forms=(
            make_form(
                "NFLOG",
                r'nflog-prefix "?(?P<nflog_prefix>.*?)"?',
                *(f"?{words}" for words in _NFLOG),
            ),
            make_form("NFLOG", _NFLOG[0], *(f"?{words}" for words in _NFLOG[1:])),
            make_form("NFLOG", _NFLOG[1], f"?{_NFLOG[2]}"),
            make_form("NFLOG", _NFLOG[2]),
        ),
        bare=True,
    ),
    TargetExtension(
        name="ULOG",
        effect="sends the packet's head to a logging program",
        options=make_options("ulog-nlgroup", "ulog-cprange", "ulog-qthreshold", "ulog-prefix"),
        not_drawn="this kernel, or IPv4, does not have it",
    ),
    TargetExtension(
        name="TRACE",
        effect="lets the kernel report each rule that the packet meets",
        bare=True,
        tables=frozenset({"raw"}),
        draws=(Draw(tables=("raw",)),),
    ),
    TargetExtension(
        name="AUDIT",
        effect="writes an audit record",
        options=make_options("type"),
        forms=(make_form("AUDIT", r"AUDIT (?P<type>\S+)"),),
        draws=(draw("type accept"),),
    ),
    TargetExtension(
        name="CLASSIFY",
        effect="sets the traffic control class",
        options=make_options("set-class", save={"set-class": _spell_class}),
        forms=(make_form("CLASSIFY", r"CLASSIFY set (?P<set_class>\S+)"),),
    ),
    TargetExtension(
        name="IDLETIMER",
        effect="restarts a timer",
        options=make_options("timeout", "label", flags=("alarm",)),
        forms=(
            make_form(
                "IDLETIMER",
                r"timeout:(?P<timeout>\d+) label:(?P<label>\S+)",
                r"?(?P<flag_alarm>alarm)",
            ),
        ),
        not_drawn=_NEEDS_OBJECT,
    ),
    TargetExtension(
        name="LED",
        effect="blinks an LED",
        options=make_options("led-trigger-id", "led-delay", flags=("led-always-blink",)),
        not_drawn="this kernel, or IPv4, does not have it",
    ),
    TargetExtension(
        name="RATEEST",
        effect="measures a rate",
        options=make_options("rateest-name", "rateest-interval", "rateest-ewmalog"),
        forms=(
            make_form(
                "RATEEST",
                r"name (?P<rateest_name>\S+) interval (?P<rateest_interval>\S+)"
                r" ewmalog (?P<rateest_ewmalog>\S+)",
            ),
        ),
        not_drawn=_NEEDS_OBJECT,
    ),
    TargetExtension(
        name="SECMARK",
        effect="sets a security mark",
        options=make_options("selctx"),
        not_drawn=_NEEDS_OBJECT,
    ),
    TargetExtension(
        name="CONNSECMARK",
        effect="copies a security mark",
        options=make_options(flags=("save", "restore")),
        forms=(make_form("CONNSECMARK", r"CONNSECMARK (?P<action>save|restore)"),),
        listed=_list_connsecmark,
        tracks=True,
        not_drawn=_NEEDS_OBJECT,
    ),
    TargetExtension(
        name="TCPOPTSTRIP",
        effect="strips options from a TCP header",
        options=make_options("strip-options", save={"strip-options": _spell_tcp_options}),
        forms=(make_form("TCPOPTSTRIP", r"TCPOPTSTRIP options (?P<strip_options>\S+)"),),
        not_drawn=_REWRITES,
    ),
    TargetExtension(
        name="ECN",
        effect="clears congestion bits of a TCP header",
        options=make_options("ecn-tcp-cwr", "ecn-tcp-ece", "ecn-ip-ect", flags=("ecn-tcp-remove",)),
        forms=(make_form("ECN", r"ECN (?P<flag_ecn_tcp_remove>TCP remove)"),),
        tables=_MANGLE,
        draws=(Draw((MatchOption("ecn-tcp-remove"),), 6, (), ("mangle",)),),
    ),
    TargetExtension(
        name="SET",
        effect="adds the packet's addresses to a set, or removes them",
        audible=frozenset({"map-set", "map-mark", "map-prio", "map-queue"}),
        options=make_options(
            "timeout",
            flags=("exist", "map-mark", "map-prio", "map-queue"),
            pairs=("add-set", "del-set", "map-set"),
        ),
        forms=(
            make_form(
                "SET",
                r"(?P<action>add-set|del-set|map-set) (?P<name>\S+ \S+)",
                r"?(?P<flag_exist>exist)",
                r"?timeout (?P<timeout>\d+)",
                r"?(?P<flag_map_mark>map-mark)",
                r"?(?P<flag_map_prio>map-prio)",
                r"?(?P<flag_map_queue>map-queue)",
            ),
        ),
        listed=_list_set,
        draws=(draw(f"add-set {LOGGED} src"),),
    ),
    TargetExtension(
        name="TEE",
        effect="sends a copy of the packet to another host",
        options=make_options("gateway", "oif"),
        forms=(make_form("TEE", r"TEE gw:(?P<gateway>\S+)", r"?oif=(?P<oif>\S+)"),),
        not_drawn="the model ends there, or leaves the copy out, and says so",
    ),
)
"""What each does is its `effect`. SET takes a mark from a set with the options that are
`audible`.
"""
