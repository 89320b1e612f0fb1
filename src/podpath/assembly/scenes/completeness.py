"""Whether an output lists all things of its kind, by the command that printed it and by what stands
in it.

Only then does "it is not there" mean anything: a walk takes a whole routing table at its word and
asks about a fragment.
"""

from __future__ import annotations

from collections.abc import Sequence

from podpath.assembly.scenes.scene import ReadSource
from podpath.evidence.commands import command
from podpath.evidence.commands.command import parse_family
from podpath.evidence.node_records import LinkRecord, SysctlRecord
from podpath.net import protocols
from podpath.net.addresses import Family

_OBJECTS = frozenset({"address", "link", "route", "rule", "neigh", "fdb", "vlan"})
"""Objects of ip(8) and bridge(8)."""
_WHOLE = (((),), ((), ("nud", "all")))
"""What may stand behind `show` of a whole listing; of neighbors all states may be asked for."""
_SOCKET_LETTERS = {"t": protocols.TCP, "u": protocols.UDP}
_OTHER_SOCKETS = frozenset("wxdS")
"""Letters of ss(8) and netstat(8) that ask for raw, Unix, DCCP and SCTP sockets."""
_WHOLE_SYSCTLS = 200
"""`sysctl -a` prints over 400 keys under net. alone in any namespace; nobody types so many."""


def lists_all(scene: ReadSource, kind: str) -> bool:
    """Tell whether the scene lists all things of a kind (`link`, `address`, `rule`, `neigh`,
    `sysctl`, ...) in its namespace.
    """
    if not scene.whole or not shows_output(scene):
        return False
    if kind in {"link", "address"}:
        return _lists_devices(scene, kind)
    if kind in _OBJECTS:
        asked = asked_object(scene)
        return asked is not None and asked[0] == kind and asked[1] in _WHOLE[kind == "neigh"]
    return _lists_other(scene, kind)


def listed_device(scene: ReadSource) -> str:
    """Return the one device whose addresses `ip addr show DEVICE` lists whole; empty where the
    scene lists another thing.
    """
    asked = asked_object(scene)
    if not scene.whole or not shows_output(scene) or asked is None or asked[0] != "address":
        return ""
    words = asked[1][1:] if asked[1][:1] == ("dev",) else asked[1]
    return words[0] if len(words) == 1 else ""


def shows_output(scene: ReadSource) -> bool:
    """Tell whether any output stands there: a ticket may show a command alone, which says nothing
    of what it printed.
    """
    return any(line.strip() for line in scene.source.lines) and not (
        scene.source.prompt and scene.source.lines[0].lstrip().startswith(scene.source.prompt)
    )


def listed_protocols(scene: ReadSource) -> frozenset[int]:
    """Return the protocols whose sockets `ss` or `netstat` was asked for: those of its letters, TCP
    and UDP without any.
    """
    letters = _letters(scene.command.arguments)
    chosen = frozenset(
        protocol for letter, protocol in _SOCKET_LETTERS.items() if letter in letters
    )
    if chosen or letters & _OTHER_SOCKETS:
        return chosen
    return frozenset(_SOCKET_LETTERS.values())


def _letters(arguments: Sequence[str]) -> frozenset[str]:
    short = [word for word in arguments if word.startswith("-") and not word.startswith("--")]
    return frozenset("".join(short))


def listed_tables(scene: ReadSource) -> tuple[str, ...]:
    """Return the routing tables that the scene lists whole: `all`, or the names; empty where it
    shows a part.
    """
    if not scene.whole or not shows_output(scene):
        return ()
    if scene.command.program in {"route", "netstat"}:
        if all(word.startswith("-") for word in scene.command.arguments):
            return ("main",)
        return ()
    asked = asked_object(scene)
    if asked is None or asked[0] != "route":
        return ()
    rest = asked[1]
    if not rest:
        return ("main",)
    if len(rest) == 2 and rest[0] in {"table", "tab", "t"}:
        return (rest[1],)
    return ()


def listed_families(scene: ReadSource) -> tuple[Family, ...]:
    """Return the families that the scene's command lists: `ip addr` shows both, `ip route` and `ip
    rule` IPv4 unless told.
    """
    asked = parse_family(scene.source)
    if asked is not None:
        return (asked,)
    shown = asked_object(scene)
    if scene.command.program in {"route", "netstat"}:
        return (4,)
    # `ip route show table all` dumps every family, all else of route and rule is IPv4 by default
    # (says ip/iproute.c, ip/iprule.c)
    only_one = shown is not None and shown[0] in {"route", "rule"} and "all" not in shown[1]
    return (4,) if only_one else (4, 6)


def asked_object(scene: ReadSource) -> tuple[str, tuple[str, ...]] | None:
    """Return the object of the scene's `ip` or `bridge` command and its selectors behind `show`;
    None for another command.
    """
    return command.asked_object(scene.command)


def _lists_devices(scene: ReadSource, kind: str) -> bool:
    """Tell it of `ip link` and `ip addr`: a listing that was not cut holds `lo`, which every
    namespace has.
    """
    asked = asked_object(scene)
    if asked is not None and (asked[1] or (kind == "address" and asked[0] != "address")):
        return False
    if asked is None and scene.command.program:
        return False
    if (
        kind == "link"
        and asked is not None
        and asked[0] == "address"
        and parse_family(scene.source) is not None
    ):
        # `ip -4 addr` leaves out devices without an address of that family
        # (ip/ipaddress.c:ipaddr_filter)
        return False
    if kind == "address" and asked is None and "addr" not in scene.source.format:
        return False
    return any(
        isinstance(record, LinkRecord) and record.name == "lo" for record in scene.reading.records
    )


def _lists_other(scene: ReadSource, kind: str) -> bool:
    program, arguments = scene.command.program, scene.command.arguments
    if kind == "sysctl":
        if program:
            return (
                program == "sysctl"
                and len(arguments) == 1
                and arguments[0] in {"-a", "-A", "--all"}
            )
        read = [
            record
            for record in scene.reading.records
            if isinstance(record, SysctlRecord) and not record.configured
        ]
        return len(read) >= _WHOLE_SYSCTLS
    if kind == "modules":
        return program == "lsmod" or (
            not program and any(line.startswith("Module ") for line in scene.source.lines[:3])
        )
    if kind == "sockets":
        letters = _letters(arguments)
        shows_listening = "l" in letters or (
            "a" in letters and not (program == "netstat" and "g" in letters)
        )
        return (
            program in {"ss", "netstat"}
            and shows_listening
            and all(word.startswith("-") for word in arguments)
        )
    return False
