"""One network namespace to the files of a bundle: what its programs print, with as few processes as
that takes.

What several commands of `ip` print comes from one process. What a namespace has nothing of (rules,
sets, tracked connections, bridges, sockets) prints the same in every namespace that has nothing of
it, so that the program runs in the first of them only.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from podpath.collect import netlink, protocol_counters, sockets, sysctls
from podpath.collect.netlink import NetlinkDevice
from podpath.collect.netns_files import FileCommand, ProgramOutput
from podpath.collect.netns_six import SIX_FILES, SixListings

_LISTING = re.compile(r'\s*(?:\{\s*"nftables"\s*:\s*)?\[\s*')
_BETWEEN = re.compile(r"\s*,?\s*")
_SPACE = re.compile(r"\s*")
_IN_USE = re.compile(rb"^(?:TCP|UDP)6?: inuse (\d+)", re.MULTILINE)
_NET = "/proc/thread-self/net"
_INET6 = socket.AF_INET6


_LEFT_OUT = frozenset({"WG_HIDE_KEYS"})
"""Variables that programs do without: `wg show` prints private keys by this one."""


class NamespaceState(NamedTuple):
    """What was taken of a namespace."""

    files: Mapping[str, bytes]
    missing: Sequence[str]
    """A sentence for each thing that could not be had."""


class Taker:
    """Takes the state of one namespace after the other, in the process that is in each of them."""

    def __init__(self, commands: Sequence[FileCommand], owners: Mapping[int, bytes]) -> None:
        """Prepare for commands, with the owners of all sockets."""
        self._commands = commands
        self._owners = owners
        programs = {command.arguments[0] for command in commands}
        self._programs = {program: shutil.which(program) for program in programs}
        self._blank: dict[str, ProgramOutput] = {}
        self._plans: sysctls.Plans = {}
        self._six = SixListings()

    def take(self, name: str, devices: Sequence[NetlinkDevice]) -> NamespaceState:
        """Take the state of the namespace that this process is in, which goes by a name."""
        files: dict[str, bytes] = {}
        missing: list[str] = []
        together = self._run_together()
        for command in self._commands:
            if not _concerns(command, devices):
                continue
            program = command.arguments[0]
            path = self._programs[program]
            if path is None:
                missing.append(
                    f"{name}: {program} is not installed (Debian package {command.package})"
                )
                continue
            output = together.get(command.name) or self._ask(path, command, devices)
            if output.code != 0 and not output.printed:
                reason = output.complaint.decode("utf-8", "replace").strip().partition("\n")[0]
                missing.append(f"{name}: `{' '.join(command.arguments)}` failed: {reason}")
                continue
            listing = command.name.endswith(".json")
            files[command.name] = put_in_lines(output.printed) if listing else output.printed
        return NamespaceState(files, missing)

    def _run_together(self) -> dict[str, ProgramOutput]:
        """Run the commands that one process of `ip` can answer, as far as it does."""
        found: dict[str, ProgramOutput] = {}
        groups = _group(self._commands)
        for options, commands in sorted(groups.items(), key=lambda group: len(group[0])):
            path = self._programs[options[0]]
            if path is None:
                continue
            names = [command.name for command in commands]
            rules = netlink.list_rules(_INET6) if names == list(SIX_FILES) else None
            derived = self._six.derive(found, rules) if rules is not None else None
            if derived is not None:
                found |= derived
                continue
            # `ip link` leaves a family behind that `ip addr` would go by (ip/ipaddress.c), so it is
            # last
            commands.sort(key=lambda command: "link" in command.arguments)
            lines = [" ".join(_after_options(command)) for command in commands]
            given = "".join(f"{line}\n" for line in lines).encode()
            output = run(path, (*options, "-batch", "-"), given)
            parts = list(_split_listings(output.printed)) if output.code == 0 else []
            if len(parts) == len(commands):
                for command, part in zip(commands, parts, strict=True):
                    found[command.name] = ProgramOutput(0, part, b"")
            if rules is not None:
                self._six.learn(found, rules)
        return found

    def _ask(
        self, path: str, command: FileCommand, devices: Sequence[NetlinkDevice]
    ) -> ProgramOutput:
        is_blank = _BLANK.get(command.name)
        blank = is_blank is not None and is_blank(devices)
        known = self._blank.get(command.name) if blank else None
        if known is not None:
            return known
        output = self._run(path, command, devices)
        if blank:
            self._blank[command.name] = output
        return output

    def _run(
        self, path: str, command: FileCommand, devices: Sequence[NetlinkDevice]
    ) -> ProgramOutput:
        program = command.arguments[0]
        if program == "sysctl":
            return ProgramOutput(0, sysctls.list_sysctls(plans=self._plans), b"")
        if command.name in _IN_PROCESS:
            printed = _IN_PROCESS[command.name](devices)
            if printed is not None:
                return ProgramOutput(0, printed, b"")
        if program == "ss":
            output = run(path, sockets.COMMAND)
            return output._replace(printed=sockets.name_owners(output.printed, self._owners))
        return run(path, command.arguments)


def _concerns(command: FileCommand, devices: Sequence[NetlinkDevice]) -> bool:
    """Tell whether a namespace has what a command is about: few have WireGuard devices."""
    return command.name != "wg.txt" or any(each.kind == "wireguard" for each in devices)


def _has_no_rules(_: Sequence[NetlinkDevice]) -> bool:
    return netlink.is_empty(netlink.NFTABLES)


def _has_no_legacy_rules(table_names: str, _: Sequence[NetlinkDevice]) -> bool:
    names = Path(f"{_NET}/{table_names}")
    return names.exists() and not _read(str(names))


def _has_no_sets(_: Sequence[NetlinkDevice]) -> bool:
    return netlink.is_empty(netlink.IPSETS)


def _has_no_connections(_: Sequence[NetlinkDevice]) -> bool:
    return _read("/proc/sys/net/netfilter/nf_conntrack_count").strip() == b"0"


def _has_no_bridge(devices: Sequence[NetlinkDevice]) -> bool:
    return not any(
        (each.kind in _BRIDGES and each.name != "lo") or each.master is not None for each in devices
    )


def _has_no_sockets(_: Sequence[NetlinkDevice]) -> bool:
    counted = _read(f"{_NET}/sockstat") + _read(f"{_NET}/sockstat6")
    used = [int(number) for number in _IN_USE.findall(counted)]
    return bool(used) and not any(used)


_BRIDGES = frozenset({"bridge", "openvswitch", "vxlan", ""})
"""Kinds that print something to `bridge`; hardware (no kind) may bridge in itself."""
_BLANK: Mapping[str, Callable[[Sequence[NetlinkDevice]], bool]] = {
    "iptables-save.txt": _has_no_rules,
    "ip6tables-save.txt": _has_no_rules,
    "nft.json": _has_no_rules,
    "nft.txt": _has_no_rules,
    "iptables-legacy-save.txt": partial(_has_no_legacy_rules, "ip_tables_names"),
    "ip6tables-legacy-save.txt": partial(_has_no_legacy_rules, "ip6_tables_names"),
    "ipset.txt": _has_no_sets,
    "conntrack.txt": _has_no_connections,
    "bridge-link.json": _has_no_bridge,
    "bridge-vlan.json": _has_no_bridge,
    "ss.txt": _has_no_sockets,
}
"""By the file: whether a namespace has nothing of what stands in it."""


def _list_fdb(devices: Sequence[NetlinkDevice]) -> bytes | None:
    """Return what `bridge -d -j fdb` prints where nothing bridges: the groups that devices listen
    for; None where it may be more.
    """
    if not _has_no_bridge(devices):
        return None
    with netlink.open_routing() as kernel:
        entries = kernel.list_own_addresses()
    names = {each.ifindex: each.name for each in devices}
    if entries is None or not names.keys() >= {index for index, _ in entries}:
        return None
    shown = [_spell_entry(names[index], mac) for index, mac in entries]
    return json.dumps(shown, separators=(",", ":")).encode() + b"\n"


def _spell_entry(name: str, mac: bytes) -> dict[str, object]:
    return {"mac": mac.hex(":"), "ifname": name, "flags": ["self"], "state": "permanent"}


def _list_counters(_: Sequence[NetlinkDevice]) -> bytes | None:
    return protocol_counters.list_counters()


def _list_policies(_: Sequence[NetlinkDevice]) -> bytes | None:
    """Return nothing, as `ip xfrm policy` prints where there is none; None where there may be."""
    none = not netlink.is_known(netlink.XFRM_POLICIES) or netlink.is_empty(netlink.XFRM_POLICIES)
    return b"" if none else None


def _list_qdiscs(devices: Sequence[NetlinkDevice]) -> bytes | None:
    """Return what `tc qdisc` prints where no device queues, as in a pod; None where one does."""
    with netlink.open_routing() as kernel:
        found = kernel.list_qdiscs()
    names = {each.ifindex: each.name for each in devices}
    if found is None or not all(each.kind == "noqueue" and each.ifindex in names for each in found):
        return None
    lines = (
        f"qdisc noqueue {each.handle >> 16:x}: dev {names[each.ifindex]} root refcnt "
        f"{each.references} \n"
        for each in found
    )
    return "".join(lines).encode()


_IN_PROCESS: Mapping[str, Callable[[Sequence[NetlinkDevice]], bytes | None]] = {
    "bridge-fdb.json": _list_fdb,
    "nstat.json": _list_counters,
    "ip-xfrm-policy.txt": _list_policies,
    "tc-qdisc.txt": _list_qdiscs,
}
"""By the file: what gives it without a program; None where only the program can."""


def _read(path: str) -> bytes:
    """Return a file of the kernel's; nothing where it has none of that name."""
    try:
        return Path(path).read_bytes()
    except OSError:
        return b""


def _group(commands: Sequence[FileCommand]) -> dict[tuple[str, ...], list[FileCommand]]:
    """Return the commands of `ip` that share their options, which one process can answer."""
    groups: dict[tuple[str, ...], list[FileCommand]] = {}
    for command in commands:
        if command.arguments[0] == "ip":
            options = command.arguments[: len(command.arguments) - len(_after_options(command))]
            groups.setdefault(options, []).append(command)
    return {options: group for options, group in groups.items() if len(group) > 1}


def _after_options(command: FileCommand) -> tuple[str, ...]:
    first = next(
        place
        for place, word in enumerate(command.arguments)
        if place > 0 and not word.startswith("-")
    )
    return command.arguments[first:]


def _split_listings(printed: bytes) -> Iterator[bytes]:
    """Yield the JSON listings that stand one after the other; none from where it is no JSON."""
    text = printed.decode("utf-8", "surrogateescape")
    decoder, place = json.JSONDecoder(), 0
    while place < len(text):
        try:
            _, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            return
        yield text[place:end].encode("utf-8", "surrogateescape") + b"\n"
        space = _SPACE.match(text, end)
        place = space.end() if space is not None else end


def run(path: str, arguments: Sequence[str], given: bytes = b"") -> ProgramOutput:
    """Run a program in this process's namespaces, and wait for it.

    What goes in and out are files in memory: there is no pipe that could fill up, and nothing to
    poll for.
    """
    files = [os.memfd_create(name) for name in ("in", "out", "err")]
    try:
        if given:
            os.write(files[0], given)
            os.lseek(files[0], 0, os.SEEK_SET)
        actions = [(os.POSIX_SPAWN_DUP2, file, number) for number, file in enumerate(files)]
        known = {name: value for name, value in os.environ.items() if name not in _LEFT_OUT}
        child = os.posix_spawn(path, list(arguments), known, file_actions=actions)
        _, status = os.waitpid(child, 0)
        printed, complaint = (_read_all(file) for file in files[1:])
        return ProgramOutput(os.waitstatus_to_exitcode(status), printed, complaint)
    finally:
        for file in files:
            os.close(file)


def _read_all(descriptor: int) -> bytes:
    size = os.fstat(descriptor).st_size
    return os.pread(descriptor, size, 0)


def put_in_lines(listing: bytes) -> bytes:
    """Return a JSON listing with one of its objects to a line, so that a quoted line is one fact;
    as it is where it is none.

    The text of each object stays as it was printed: iproute2 repeats keys, which a decoded object
    would lose.
    """
    text = listing.decode("utf-8", "surrogateescape")
    opening = _LISTING.match(text)
    if opening is None:
        return listing
    decoder, place, objects = json.JSONDecoder(), opening.end(), []
    try:
        while text[place : place + 1] == "{":
            _, end = decoder.raw_decode(text, place)
            objects.append(text[place:end].replace("\n", " "))
            following = _BETWEEN.match(text, end)
            place = following.end() if following is not None else end
    except (ValueError, RecursionError):
        return listing
    lines = "\n".join(
        (text[: opening.end()].strip(), ",\n".join(objects), text[place:].strip(), "")
    )
    whole = bool(objects) and text[place : place + 1] == "]"
    if whole:
        return lines.encode("utf-8", "surrogateescape")
    return listing
