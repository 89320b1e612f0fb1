"""Values as `iptables -L` words them to the options and values that `iptables-save` prints."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from podpath.evidence.iptables.ruleset import OptionText
from podpath.evidence.text.services import read_port
from podpath.net import protocols
from podpath.xtables import registry
from podpath.xtables.tos import spell_tos

Groups = Mapping[str, str | None]

_PORT_OPTIONS = frozenset({
    "sport", "dport", "sports", "dports", "ports", "ctorigsrcport", "ctorigdstport", "ctreplsrcport", "ctrepldstport",
})  # fmt: skip
_CHUNKS: Mapping[int, str] = {
    0: "DATA", 1: "INIT", 2: "INIT_ACK", 3: "SACK", 4: "HEARTBEAT", 5: "HEARTBEAT_ACK", 6: "ABORT", 7: "SHUTDOWN",
    8: "SHUTDOWN_ACK", 9: "ERROR", 10: "COOKIE_ECHO", 11: "COOKIE_ACK", 12: "ECN_ECNE", 13: "ECN_CWR", 14: "SHUTDOWN_COMPLETE",
    192: "FORWARD_TSN", 193: "ASCONF", 128: "ASCONF_ACK",
}  # fmt: skip
_DCCP = (
    "REQUEST",
    "RESPONSE",
    "DATA",
    "ACK",
    "DATAACK",
    "CLOSEREQ",
    "CLOSE",
    "RESET",
    "SYNC",
    "SYNCACK",
    "INVALID",
)
_TCP_OPTIONS = {"mss": 2, "wscale": 3, "sack-permitted": 4, "sack": 5, "timestamp": 8, "md5": 19}
_ELEMENT = re.compile(
    r"\[(?P<place>\d)\]|(?P<no>! )?(?P<name>reqid|spi|proto|mode|tunnel-dst|tunnel-src) (?P<value>\S+)"
)
_ALL_BITS = 0xFFFFFFFF
_LOG_FLAGS = (
    "log-tcp-sequence",
    "log-tcp-options",
    "log-ip-options",
    "log-uid",
    "",
    "log-macdecode",
)
_LOG_LEVELS = ("emerg", "alert", "crit", "error", "warn", "notice", "info", "debug")


def read_value(option: str, value: str) -> str:
    """Spell one word of an option as iptables-save does; `ValueError` says what a name hides."""
    if option in _PORT_OPTIONS:
        return re.sub(r"[^,:]+", lambda found: read_port(found[0]), value)
    reader = _READERS.get(option)
    return reader(value) if reader is not None else value


def _bits(text: str) -> int:
    """Read a hexadecimal number; `ValueError` where the text is none."""
    if not re.fullmatch(r"(?:0x)?[0-9a-fA-F]{1,16}", text):
        raise ValueError(f"expected a hexadecimal number, saw {text!r}")
    return int(text, 16)


def _read_flags(value: str) -> str:
    return ",".join(
        protocols.flag_names(_bits(part)) if part.startswith("0x") else part
        for part in value.split(",")
    )


def _read_icmp(value: str) -> str:
    number, _, code = re.sub(r"\s+codes?\s+", "/", value).partition("/")
    return "any" if number == "255" and not code else f"{number}/{code}" if code else number


def _read_chunks(value: str) -> str:
    def name(found: re.Match[str]) -> str:
        number = int(found[0], 16)
        return _CHUNKS.get(number, str(number))

    return re.sub(r"0x[0-9a-f]{4}", name, value)


def _read_dccp(value: str) -> str:
    return re.sub(r"\d+", lambda found: _DCCP[min(int(found[0]), len(_DCCP) - 1)], value)


def _read_number(what: str) -> Callable[[str], str]:
    def read(value: str) -> str:
        if value == "root":
            return "0"
        if not re.fullmatch(r"[\d-]+", value):
            raise ValueError(f"expected a {what} by number, saw the name {value!r}")
        return value

    return read


def _unescape(value: str) -> str:
    return re.sub(r"\\(.)", r"\1", value)


def _read_tcp_options(value: str) -> str:
    return re.sub(r"[a-z][\w-]*", lambda found: str(_TCP_OPTIONS.get(found[0], found[0])), value)


_READERS: Mapping[str, Callable[[str], str]] = {
    "tcp-flags": _read_flags,
    "icmp-type": _read_icmp,
    "icmpv6-type": _read_icmp,
    "chunk-types": _read_chunks,
    "dccp-types": _read_dccp,
    "uid-owner": _read_number("user"),
    "gid-owner": _read_number("group"),
    "hashlimit-mode": lambda value: value.replace("-", ","),
    "set-tos": spell_tos,
    "strip-options": _read_tcp_options,
    "bytecode": lambda value: f"{value.count(',') + 1},{value}",
    "string": _unescape,
    "hex-string": _unescape,
    "u32": _unescape,
    "datestart": lambda value: value.replace(" ", "T"),
    "datestop": lambda value: value.replace(" ", "T"),
    "monthdays": lambda value: re.sub(r"(?<=\d)(?:st|nd|rd|th)", "", value),
    "set-class": lambda value: ":".join(part.zfill(4) for part in value.split(":")),
    **{
        name: option.save
        for match in registry.MATCHES
        for name, option in match.options.items()
        if option.save is not None
    },
}


def _split_words(groups: Groups, name: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\S+", groups[name] or ""))


def _tcp(groups: Groups) -> tuple[OptionText, ...]:
    options = _ports(groups)
    if groups["tcp_option"] is not None:
        options += (
            OptionText("tcp-option", (groups["tcp_option"],), groups["no_tcp_option"] is not None),
        )
    if groups["tcp_flags"] is not None:
        mask, _, flags = groups["tcp_flags"].partition("/")
        options += (OptionText("tcp-flags", (mask, flags), groups["no_tcp_flags"] is not None),)
    return options


def _ports(groups: Groups) -> tuple[OptionText, ...]:
    ports = ((name, groups[name]) for name in ("sport", "dport"))
    return tuple(
        OptionText(name, (value,), groups[f"no_{name}"] is not None)
        for name, value in ports
        if value is not None
    )


def _sctp(groups: Groups) -> tuple[OptionText, ...]:
    if groups["chunk_types"] is None:
        return _ports(groups)
    return (
        *_ports(groups),
        OptionText(
            "chunk-types", _split_words(groups, "chunk_types"), groups["no_chunk_types"] is not None
        ),
    )


def _set(groups: Groups) -> tuple[OptionText, ...]:
    options = [
        OptionText(
            "match-set", _split_words(groups, "match_set"), groups["no_match_set"] is not None
        )
    ]
    for group, value in groups.items():
        if value is not None and not group.startswith("no_") and group != "match_set":
            name = group.removeprefix("flag_")
            values = () if group.startswith("flag_") else (value,)
            options.append(
                OptionText(name.replace("_", "-"), values, groups.get(f"no_{name}") is not None)
            )
    return tuple(options)


def _limit(groups: Groups) -> tuple[OptionText, ...]:
    options = (OptionText("limit", (groups["limit"] or "",)),)
    burst = groups["limit_burst"] or "5"
    return options if burst == "5" else (*options, OptionText("limit-burst", (burst,)))


def _connlimit(groups: Groups) -> tuple[OptionText, ...]:
    bound = "connlimit-above" if groups["sign"] == ">" else "connlimit-upto"
    side = "connlimit-saddr" if groups["side"] == "src" else "connlimit-daddr"
    return (
        OptionText(bound, (groups["count"] or "",)),
        OptionText("connlimit-mask", (groups["mask"] or "",)),
        OptionText(side),
    )


def _policy(groups: Groups) -> tuple[OptionText, ...]:
    options = [OptionText("dir", (groups["dir"] or "",)), OptionText("pol", (groups["pol"] or "",))]
    if groups["flag_strict"]:
        options.append(OptionText("strict"))
    for found in _ELEMENT.finditer(groups["elements"] or ""):
        if found["name"] is None:
            if found["place"] != "0":
                options.append(OptionText("next"))
            continue
        value = found["value"]
        if found["name"] == "proto" and value.isdigit():
            value = {"50": "esp", "51": "ah", "108": "ipcomp"}.get(value, value)
        options.append(OptionText(found["name"], (value,), found["no"] is not None))
    return tuple(options)


def _recent(groups: Groups) -> tuple[OptionText, ...]:
    action = {"SET": "set", "CHECK": "rcheck", "UPDATE": "update", "REMOVE": "remove"}[
        groups["action"] or "SET"
    ]
    options = [OptionText(action, (), groups["no_action"] is not None)]
    for group in ("seconds", "flag_reap", "hitcount", "flag_rttl", "name", "mask"):
        value = groups[group]
        if value is not None:
            options.append(
                OptionText(
                    group.removeprefix("flag_"), () if group.startswith("flag_") else (value,)
                )
            )
    options.append(OptionText("rdest" if groups["side"] == "dest" else "rsource"))
    return tuple(options)


def _time(groups: Groups) -> tuple[OptionText, ...]:
    names = ("timestart", "timestop", "monthdays", "weekdays", "datestart", "datestop")
    options = [
        OptionText(name, (value,), groups.get(f"no_{name}") is not None)
        for name in names
        if (value := groups[name]) is not None
    ]
    if groups["zone"] is None:
        options.append(OptionText("kerneltz"))
    if groups["flag_contiguous"]:
        options.append(OptionText("contiguous"))
    return tuple(options)


def _string(groups: Groups) -> tuple[OptionText, ...]:
    text = groups["string"] or ""
    name = "hex-string" if re.fullmatch(r"\|[0-9a-f]+\|", text) else "string"
    options = [OptionText(name, (text,), groups["no_string"] is not None)]
    options += [
        OptionText(word, (value,))
        for word in ("algo", "from", "to")
        if (value := groups[word]) is not None
    ]
    return (*options, OptionText("icase")) if groups["flag_icase"] else tuple(options)


def _changed(prefix: str) -> Callable[[Groups], tuple[OptionText, ...]]:
    """Read `TTL increment by 1`."""

    def read(groups: Groups) -> tuple[OptionText, ...]:
        name = {"s": "set", "i": "inc", "d": "dec"}[(groups["action"] or "s")[0]]
        return (OptionText(f"{prefix}-{name}", (groups["count"] or "",)),)

    return read


def _mark(groups: Groups) -> tuple[OptionText, ...]:
    """Read `MARK or 0x4000`: iptables-save spells every kind of it as `--set-xmark VALUE/MASK`
    (libxt_MARK.c:mark_tg_print).
    """
    value, _, mask_text = (groups["value"] or "0").partition("/")
    bits = _bits(value)
    mask = _bits(mask_text) if mask_text else _ALL_BITS
    action = groups["action"]
    if action == "and":
        bits, mask = 0, bits ^ _ALL_BITS
    elif action == "or":
        mask = bits
    elif action == "xor":
        mask = 0
    return (OptionText("set-xmark", (f"{bits:#x}/{mask:#x}",)),)


def _connmark(groups: Groups) -> tuple[OptionText, ...]:
    if "value" in groups:
        return _mark(groups)
    both = groups["mask"] or "0xffffffff"
    nfmask = groups["save_nfmask"] or groups["restore_nfmask"] or both
    ctmask = groups["save_ctmask"] or groups["restore_ctmask"] or both
    return (
        OptionText(f"{groups['action']}-mark"),
        OptionText("nfmask", (nfmask,)),
        OptionText("ctmask", (ctmask,)),
    )


def _tos_target(groups: Groups) -> tuple[OptionText, ...]:
    """Read `TOS and 0x0f`, which iptables-save spells as `--set-tos VALUE/MASK`
    (libxt_TOS.c:tos_tg_print).
    """
    action, value = groups["action"], groups["value"] or ""
    if action == "set":
        return (OptionText("set-tos", (value,)),)
    bits = _bits(value)
    value = {
        "and": f"0x00/{bits ^ 0xFF:#04x}",
        "or": f"{bits:#04x}/{bits:#04x}",
        "xor": f"{bits:#04x}/0x00",
    }[action or "or"]
    return (OptionText("set-tos", (value,)),)


def _tproxy(groups: Groups) -> tuple[OptionText, ...]:
    address = (groups["address"] or "").strip("[]")
    return (
        OptionText("on-port", (groups["port"] or "",)),
        OptionText("on-ip", (address,)),
        OptionText("tproxy-mark", (groups["tproxy_mark"] or "",)),
    )


def _log(groups: Groups) -> tuple[OptionText, ...]:
    options = (
        [] if groups["log_prefix"] is None else [OptionText("log-prefix", (groups["log_prefix"],))]
    )
    level = groups["log_level"] or "4"
    level = str(_LOG_LEVELS.index(level)) if level in _LOG_LEVELS else level
    if level != "4":
        options.append(OptionText("log-level", (level,)))
    if "flags" in groups:
        bits = int(groups["flags"] or "0")
        options += [
            OptionText(name) for place, name in enumerate(_LOG_FLAGS) if name and bits >> place & 1
        ]
    else:
        options += [
            OptionText(name)
            for name in _LOG_FLAGS
            if name and groups.get("flag_" + name.replace("-", "_"))
        ]
    return tuple(options)


def _set_target(groups: Groups) -> tuple[OptionText, ...]:
    options = [OptionText(groups["action"] or "", _split_words(groups, "name"))]
    options += [OptionText(name) for name in ("exist",) if groups[f"flag_{name}"]]
    if groups["timeout"] is not None:
        options.append(OptionText("timeout", (groups["timeout"],)))
    options += [
        OptionText(name)
        for name in ("map-mark", "map-prio", "map-queue")
        if groups["flag_" + name.replace("-", "_")]
    ]
    return tuple(options)


def _connsecmark(groups: Groups) -> tuple[OptionText, ...]:
    return (OptionText(groups["action"] or ""),)


SPECIAL: Mapping[str, Callable[[Groups], tuple[OptionText, ...]]] = {
    "tcp": _tcp,
    "sctp": _sctp,
    "set": _set,
    "limit": _limit,
    "connlimit": _connlimit,
    "policy": _policy,
    "recent": _recent,
    "time": _time,
    "string": _string,
    "TTL": _changed("ttl"),
    "HL": _changed("hl"),
    "MARK": _mark,
    "CONNMARK": _connmark,
    "TOS": _tos_target,
    "TPROXY": _tproxy,
    "LOG": _log,
    "SET": _set_target,
    "CONNSECMARK": _connsecmark,
}
"""Extensions whose groups are more than options by name."""
