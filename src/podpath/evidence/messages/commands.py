"""What iproute2, iptables, ping and modprobe answer when they fail, and programs that pass such an
answer on.
"""

from __future__ import annotations

from podpath.evidence.messages.row import MessagePattern, make_row
from podpath.net.messages import MessageKind

ROWS: tuple[MessagePattern, ...] = (
    make_row(
        MessageKind.RTNETLINK_ANSWER,
        "RTNETLINK answers: ",
        r"RTNETLINK answers: (?P<error>\w[\w -]*\w)",
    ),
    make_row(
        MessageKind.SEND_FAILED,
        "sendmsg: ",
        r"sendmsg: (?P<error>Operation not permitted|Invalid argument|No buffer space available|"
        r"Network is unreachable|Network unreachable|No route to host|Message too long|"
        r"Cannot assign requested address)",
    ),
    make_row(MessageKind.XTABLES_LOCKED, "xtables lock"),
    make_row(
        MessageKind.EXTENSION_MISSING,
        "Couldn't load ",
        r"Couldn't load (?P<sort>match|target) [`'\"]?(?P<name>(?!DOCKER)[\w-]+)",
    ),
    make_row(
        MessageKind.EXTENSION_MISSING,
        "unknown option",
        r"ip6?tables\S* v\S+(?: \(\w+\))?: unknown option \"?(?P<name>--?[\w-]+)",
    ),
    make_row(
        MessageKind.TABLE_MISSING,
        "can't initialize ip",
        r"can't initialize ip6?tables table [`'\"]?(?P<table>\w+)",
    ),
    make_row(
        MessageKind.IPTABLES_FAILED,
        "tables",
        r"ip6?tables(?:-restore|-save)?[^:]*: (?:line (?P<line>\d+) failed|"
        r"(?P<error>No chain/target/match by that name|"
        r"Resource temporarily unavailable|Permission denied[^.]*|Invalid argument[^.]*|"
        r"Too many links|Bad rule[^.]*|Index of (?:insertion|deletion) too big))",
    ),
    make_row(
        MessageKind.MODULE_NOT_FOUND,
        "not found in directory",
        r"Module (?P<module>[\w-]+) not found in directory (?P<directory>\S+)",
    ),
    make_row(
        MessageKind.MODULE_NOT_FOUND,
        "could not insert",
        r"could not insert [`'\"]?(?P<module>[\w-]+)[`'\"]?: (?P<error>Unknown symbol|"
        r"Exec format error|Operation not permitted|Required key not available|Key was rejected by "
        r"service|Cannot allocate memory|Invalid argument)",
    ),
    make_row(
        MessageKind.MODULE_NOT_FOUND,
        "Module ",
        (
            r"Module (?P<module>[\w-]+) not found in (?:directory )?(?P<directory>/lib/modules/\S+|"
            r"directory)"
        ),
    ),
    make_row(
        MessageKind.DEVICE_TYPE_UNSUPPORTED,
        "nknown device type",
        r"Error: Unknown device type|Unknown device type",
    ),
    make_row(
        MessageKind.SET_FAILED,
        "ipset v",
        r"ipset v\S+: (?P<error>Kernel error received: [\w ]+|Cannot open session to kernel|"
        r"Set cannot be (?:created|destroyed)[^.]*|"
        r"The set with the given name does not exist|Hash is full[^.]*|Kernel support protocol "
        r"versions[^.]*)",
    ),
    make_row(
        MessageKind.NFT_FAILED,
        "Could not process rule",
        r"Could not process rule: (?P<error>No such file or directory|Operation not supported|"
        r"Device or resource busy|File exists|"
        r"Too many open files in system|Message too long|No buffer space available|"
        r"Invalid argument)",
    ),
    make_row(
        MessageKind.IPTABLES_FAILED,
        "CHAIN_",
        (
            r"ip6?tables.*?(?P<error>(?:RULE|CHAIN|TABLE)_(?:ADD|APPEND|INSERT|USER_ADD|UPDATE) "
            r"failed) \((?P<reason>[^)]+)\)"
        ),
    ),
    make_row(
        MessageKind.IPTABLES_FAILED,
        "RULE_",
        r"ip6?tables.*?(?P<error>RULE_(?:APPEND|INSERT|REPLACE) failed) \((?P<reason>[^)]+)\)",
    ),
    make_row(
        MessageKind.IPTABLES_FAILED,
        "Failed to initialize nft",
        r"Failed to initialize nft: (?P<error>[\w ]+)",
    ),
    make_row(MessageKind.ADDRESS_FAMILY_UNSUPPORTED, "ddress family not supported by protocol"),
    make_row(
        MessageKind.RTNETLINK_ANSWER,
        "Error: ",
        r"^\s*(?:\S+ )?Error: (?P<error>Nexthop has invalid gateway|Invalid prefix for given "
        r"prefix length|inet6? address is expected rather than[^.]*|Nexthop device is not up|"
        r"Gateway can not be a local address|ipv4: FIB table does not exist|IPv6 is disabled "
        r"on[^.]*|Peer netns reference is invalid)",
    ),
)
