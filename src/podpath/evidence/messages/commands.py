"""What iproute2, iptables, ping and modprobe answer when they fail, and programs that pass such an answer on."""

from __future__ import annotations

from podpath.evidence.messages.row import Row, make_row
from podpath.net.messages import MessageKind

ROWS: tuple[Row, ...] = (
    make_row(MessageKind.RTNETLINK_ANSWER, "RTNETLINK answers: ", r"RTNETLINK answers: (?P<error>\w[\w -]*\w)"),
    make_row(
        MessageKind.SEND_FAILED,
        "sendmsg: ",
        r"sendmsg: (?P<error>Operation not permitted|Invalid argument|No buffer space available|Network is unreachable|"
        r"Network unreachable|No route to host|Message too long)",
    ),
    make_row(MessageKind.XTABLES_LOCKED, "xtables lock"),
    make_row(
        MessageKind.EXTENSION_MISSING,
        "Couldn't load ",
        r"Couldn't load (?P<sort>match|target) [`'\"]?(?P<name>[\w-]+)",
    ),
    make_row(
        MessageKind.EXTENSION_MISSING,
        "unknown option",
        r"ip6?tables\S* v\S+: unknown option \"?(?P<name>--?[\w-]+)",
    ),
    make_row(
        MessageKind.TABLE_MISSING,
        "can't initialize ip",
        r"can't initialize ip6?tables table [`'\"]?(?P<table>\w+)",
    ),
    make_row(
        MessageKind.IPTABLES_FAILED,
        "tables",
        r"ip6?tables(?:-restore|-save)?[^:]*: (?:line (?P<line>\d+) failed|(?P<error>No chain/target/match by that name|"
        r"Resource temporarily unavailable|Permission denied[^.]*|Invalid argument[^.]*|Too many links|"
        r"Bad rule[^.]*|Index of (?:insertion|deletion) too big))",
    ),
    make_row(
        MessageKind.MODULE_NOT_FOUND,
        "not found in directory",
        r"Module (?P<module>[\w-]+) not found in directory (?P<directory>\S+)",
    ),
)
