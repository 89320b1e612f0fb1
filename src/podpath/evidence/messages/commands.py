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
        r"sendmsg: (?P<error>Operation not permitted|Invalid argument|No buffer space available|Network is unreachable|"
        r"Network unreachable|No route to host|Message too long|Cannot assign requested address)",
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
        r"ip6?tables(?:-restore|-save)?[^:]*: (?:line (?P<line>\d+) failed|(?P<error>No chain/target/match by that name|"
        r"Resource temporarily unavailable|Permission denied[^.]*|Invalid argument[^.]*|Too many links|"
        r"Bad rule[^.]*|Index of (?:insertion|deletion) too big))",
    ),
    make_row(
        MessageKind.MODULE_NOT_FOUND,
        "not found in directory",
        r"Module (?P<module>[\w-]+) not found in directory (?P<directory>\S+)",
    ),
    make_row(
        MessageKind.MODULE_NOT_FOUND,
        "could not insert",
        r"could not insert [`'\"]?(?P<module>[\w-]+)[`'\"]?: (?P<error>Unknown symbol|Exec format error|Operation not permitted|"
        r"Required key not available|Key was rejected by service|Cannot allocate memory|Invalid argument)",
    ),
    make_row(
        MessageKind.MODULE_NOT_FOUND,
        "Module ",
        r"Module (?P<module>[\w-]+) not found in (?:directory )?(?P<directory>/lib/modules/\S+|directory)",
    ),
    make_row(
        MessageKind.DEVICE_TYPE_UNSUPPORTED,
        "nknown device type",
        r"Error: Unknown device type|Unknown device type",
    ),
    make_row(
        MessageKind.SET_FAILED,
        "ipset v",
        r"ipset v\S+: (?P<error>Kernel error received: [\w ]+|Cannot open session to kernel|Set cannot be (?:created|"
        r"destroyed)[^.]*|"
        r"The set with the given name does not exist|Hash is full[^.]*|Kernel support protocol versions[^.]*)",
    ),
    make_row(
        MessageKind.NFT_FAILED,
        "Could not process rule",
        r"Could not process rule: (?P<error>No such file or directory|Operation not supported|Device or resource busy|"
        r"File exists|"
        r"Too many open files in system|Message too long|No buffer space available|Invalid argument)",
    ),
    make_row(
        MessageKind.IPTABLES_FAILED,
        "CHAIN_",
        r"ip6?tables.*?(?P<error>(?:RULE|CHAIN|TABLE)_(?:ADD|APPEND|INSERT|USER_ADD|UPDATE) failed) \((?P<reason>[^)]+)\)",
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
        r"^\s*(?:\S+ )?Error: (?P<error>Nexthop has invalid gateway|Invalid prefix for given prefix length|"
        r"inet6? address is expected rather than[^.]*|Nexthop device is not up|Gateway can not be a local address|"
        r"ipv4: FIB table does not exist|IPv6 is disabled on[^.]*|Peer netns reference is invalid)",
    ),
)
