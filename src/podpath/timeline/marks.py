"""What an event means to the network: a package changed, a service restarted, a link went down, a
table is full.

Most lines of a log mean nothing; those that do are told by the words of systemd, the kernel,
package managers, audit and kubelet.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from podpath.timeline.event import LogEvent
from podpath.timeline.mark_kinds import MarkKind
from podpath.timeline.mark_rows import ANYBODY, KERNEL, OWN, READS, SAID, MarkRows, join_rows
from podpath.timeline.services import find_service

_UNSPOKEN = frozenset(
    {
        MarkKind.PROXY,
        MarkKind.RUNTIME,
        MarkKind.NETWORK,
        MarkKind.SYSCTL,
        MarkKind.FIREWALL,
        MarkKind.SERVICE,
        MarkKind.COMMAND,
    }
)
"""Kinds whose subject says enough by its name."""


class Mark(NamedTuple):
    """What happened, in the words that chains of causes are written in."""

    kind: MarkKind
    subject: str
    """What it happened to: a package, a service, a device, a module, a program."""
    verb: str
    """`upgraded`, `installed`, `removed`, `started`, `stopped`, `reloaded`, `failed`, `ran`,
    `down`, `full`, `loaded`, ...
    """

    @property
    def words(self) -> str:
        """Say it in words: `package polkit upgraded`."""
        shown = "" if self.kind in _UNSPOKEN else self.kind
        return " ".join(word for word in (shown, self.subject, self.verb) if word)


_VERBS = {
    "starting": "started", "started": "started", "finished": "started", "stopping": "stopped",
    "stopped": "stopped", "restarting": "restarted", "restarted": "restarted",
    "reloading": "reloaded", "reloaded": "reloaded", "failed to start": "failed",
}  # fmt: skip
_UNIT = re.compile(
    r"(?P<verb>Starting|Started|Finished|Stopping|Stopped|Restarting|Restarted|Reloading|Reloaded|"
    r"Failed to start) (?P<unit>.+?)(?:\.{3}|\.)?$"
)
_UNIT_STATE = re.compile(
    r"(?P<unit>[\w@:.-]+\.service): (?:(?P<failed>Failed|Main process exited|"
    r"Start request repeated|State '?\S+ timed out)|"
    r"(?P<stopped>Succeeded|Deactivated|Stopping timed out|Killing)|"
    r"(?P<restarted>Scheduled restart job|Service RestartSec))"
)
_AUDITED = re.compile(r"SERVICE_(?P<verb>START|STOP) .*?\bunit=(?P<unit>[\w@:.-]+)")
_OWN = re.compile(
    r"(?P<restarted>\b(?:re-?start(?:ed|ing)?)\b)|(?P<reloaded>\b(?:reload(?:ed|ing)?|SIGHUP|"
    r"appl(?:ied|ying)|re-?apply\w*)\b)|(?P<stopped>\b(?:terminat(?:ing|ed)|shutting down|shutdown|"
    r"stopp(?:ing|ed)|exit(?:ing|ed)|caught SIGTERM|signal 15)\b)|"
    r"(?P<started>\b(?:start(?:ing|ed)|initiali[sz](?:ing|ed)|listening on|daemon has completed|"
    r"is starting)\b)",
    re.IGNORECASE,
)
_POD = re.compile(
    r"(?P<verb>Killing|Started|Created|BackOff|Evicted|Failed\w*|Scheduled|SuccessfulCreate|"
    r"SuccessfulDelete) (?P<object>[a-z]+/\S+?): (?P<message>.*)"
)
_RPM = re.compile(
    r"(?P<verb>Updated?|Installed?|Upgraded?|Erased?|Removed?|Dep-Installed|Obsoleted|Reinstalled?|"
    r"Downgraded?): (?:\d+:)?(?P<name>[A-Za-z0-9][\w.+]*(?:-[A-Za-z_+][\w.+]*)*)-\d"
)
_DPKG = re.compile(
    r"(?P<verb>upgrade|install|remove|purge) (?P<name>[a-z0-9][a-z0-9.+-]*)(?::\w+)? "
)
_RUN = re.compile(
    r"run: (?:-\S+ )*(?P<verb>update|upgrade|install|erase|remove|downgrade|reinstall)\s+(?:-\S+ )*"
    r"(?P<name>[A-Za-z0-9][\w.+-]*)"
)
_UNATTENDED = re.compile(r"Packages that (?:will be|were) upgraded: (?P<name>[a-z0-9][a-z0-9.+-]*)")
_PACKAGE_VERBS = {
    "up": "upgraded", "in": "installed", "er": "removed", "re": "removed", "de": "installed",
    "ob": "removed", "do": "downgraded", "pu": "removed",
}  # fmt: skip
_MANAGERS = frozenset(
    {
        "yum",
        "dnf",
        "rpm",
        "dpkg",
        "apt",
        "packagekitd",
        "unattended-upgrade",
        "unattended-upgrades",
        "zypper",
        "PackageKit",
    }
)
_COMMAND = re.compile(
    r"\bCOMMAND=(?P<command>.+)|^EXECVE .*?\ba0=(?P<argv>.+)|\bCMD \((?P<cron>.+)\)|"
    r"\bHISTORY[:=].*?\bCMD[=:](?P<history>.+)"
)
_TOOLS = re.compile(
    r"(?:^|[/\"'; ])(?P<tool>sysctl|ip6?tables(?:-restore|-nft|-legacy)?|nft|ip|tc|ifconfig|route|"
    r"brctl|bridge|modprobe|rmmod|insmod|"
    r"tuned-adm|firewall-cmd|ufw|systemctl|service|netplan|nmcli|ipset|ipvsadm|conntrack|kubectl|"
    r"docker|crictl|ifup|ifdown|ovs-vsctl|"
    r"update-alternatives|yum|dnf|apt|apt-get|rpm|dpkg|reboot|shutdown)(?=[\s\"',]|$)"
)
_TOOL_KINDS = {
    "sysctl": MarkKind.SYSCTL,
    "tuned-adm": MarkKind.SYSCTL,
    "firewall-cmd": MarkKind.FIREWALL,
    "ufw": MarkKind.FIREWALL,
    "netplan": MarkKind.NETWORK,
    "nmcli": MarkKind.NETWORK,
}
_PHYSICAL = re.compile(r"(?:e(?:th|n|m)|bond|team|ib|wl|p\d+p|usb)\w*")


def mark_event(event: LogEvent) -> Mark | None:
    """Say what an event means to the network; None where it means nothing that is known."""
    for reader in _READERS:
        mark = reader(event.program, event.message[:_WIDTH])
        if mark is not None:
            return mark
    return None


_WIDTH = 400
"""Characters of a message that are looked at: what it tells of stands at its beginning."""


def _mark_package(program: str, message: str) -> Mark | None:
    if program not in _MANAGERS and not program.startswith("unattended"):
        return None
    found = (
        _RPM.search(message)
        or _DPKG.match(message)
        or _RUN.match(message)
        or _UNATTENDED.search(message)
    )
    if found is None:
        return None
    verb = found.groupdict().get("verb") or "upgrade"
    word = verb.lower()
    changed = "installed" if word.startswith("reinst") else _PACKAGE_VERBS[word[:2]]
    return Mark(MarkKind.PACKAGE, found["name"], changed)


def _mark_unit(program: str, message: str) -> Mark | None:
    if program == "systemd" and message.startswith(("Reloading.", "Reexecuting")):
        return Mark(MarkKind.SERVICE, "systemd", "reloaded")
    if program == "audit":
        found = _AUDITED.match(message)
        verb = "started" if found is not None and found["verb"] == "START" else "stopped"
    elif program == "systemd":
        found = _UNIT.match(message)
        verb = _VERBS[found["verb"].lower()] if found is not None else ""
        if found is None:
            found = _UNIT_STATE.match(message)
            if found is not None:
                verb = next(
                    (name for name in ("failed", "stopped", "restarted") if found[name]), ""
                )
            else:
                verb = ""
    else:
        return None
    if found is None:
        return None
    unit = found["unit"].removesuffix(".service")
    service = find_service(found["unit"]) if _DULL_UNIT.match(unit) is None else None
    if service is not None:
        return Mark(service.kind, service.subject, verb)
    if _DULL_UNIT.match(unit):
        return None
    return Mark(MarkKind.SERVICE, unit[:60], verb)


_DULL_UNIT = re.compile(
    r"Session |User |session-|user[@-]|run-|libcontainer|cri-containerd-|docker-[0-9a-f]|kubepods|"
    r".*\.(?:mount|scope|slice|timer|target|device|"
    r"socket|path)\b|.*(?:Cleanup|cleanup|system activity|logrotate|Rotate log|fstrim|updatedb|"
    r"mlocate|sysstat|tmpfiles|man-db|apt download)|"
    r"Kubernetes transient mount|Virtual |Container "
)


_KERNEL, _ANYBODY = join_rows((*SAID, *KERNEL)), join_rows(ANYBODY)


def _mark_kernel(program: str, message: str) -> Mark | None:
    if program not in {"kernel", ""}:
        return None
    return _match_rows(_KERNEL, message)


def _mark_anybody(program: str, message: str) -> Mark | None:
    del program
    return _match_rows(_ANYBODY, message)


def _match_rows(table: MarkRows, message: str) -> Mark | None:
    if not table.may_fit(message):
        return None
    for row in table.rows:
        found = row.pattern.search(message) if row.sign in message else None
        if found is not None:
            fields = found.groupdict()
            subject = next((fields[name] for name in row.subjects if fields.get(name)), "")
            return Mark(
                row.kind, {"Bridge firewalling": "br_netfilter"}.get(subject, subject), row.verb
            )
    return None


def _mark_command(program: str, message: str) -> Mark | None:
    if program not in {
        "sudo",
        "audit",
        "CROND",
        "crond",
        "cron",
        "CRON",
        "bash",
        "su",
        "su:",
        "-bash",
    }:
        return None
    found = _COMMAND.search(message)
    typed = next((text for text in found.groups() if text), "") if found is not None else ""
    return next((mark for part in _split_typed(typed) if (mark := _mark_typed(part))), None)


_ARGUMENTS = re.compile(r'"? a\d{1,2}="?')
_NAMESPACE = re.compile(r"\bip (?:-\S+ )*netns exec \S+ ")
_NEXT = re.compile(r"\|\|?|&&?|;")


def _split_typed(typed: str) -> list[str]:
    """Part what was typed, or what audit logs of it, into its commands."""
    return _NEXT.split(_NAMESPACE.sub("", _ARGUMENTS.sub(" ", typed)))


_SAME = {"ip": "tc bridge", "iptables": "ip6tables", "docker": "crictl", "apt": "apt-get yum dnf"}
_READERS_OF = {name: tool for tool, names in _SAME.items() for name in names.split()}


def _only_reads(tool: str, rest: str) -> bool:
    name = tool.removesuffix("-nft").removesuffix("-legacy")
    reads = READS.get(_READERS_OF.get(name, name))
    return reads is not None and reads.match(rest.strip(" \"'")) is not None


def _mark_typed(typed: str) -> Mark | None:
    """Read one command; one that only reads means nothing."""
    tool = _TOOLS.search(typed)
    if tool is None or _only_reads(tool["tool"], typed[tool.end() :]):
        return None
    name = tool["tool"]
    if name in {"systemctl", "service"}:
        service = find_service(typed[tool.end() :])
        if service is not None:
            return Mark(service.kind, service.subject, _typed_verb(typed))
    return Mark(_TOOL_KINDS.get(name, MarkKind.COMMAND), name, "ran")


def _typed_verb(typed: str) -> str:
    for word, verb in (
        ("restart", "restarted"),
        ("reload", "reloaded"),
        ("stop", "stopped"),
        ("start", "started"),
    ):
        if word in typed:
            return verb
    return "ran"


def _mark_pod(program: str, message: str) -> Mark | None:
    del program
    found = _POD.match(message)
    if found is None:
        return None
    if found["verb"] != "Scheduled":
        service = find_service(f"{found['object'].partition('/')[2]} {found['message']}")
    else:
        service = None
    verb = {
        "Killing": "stopped",
        "Evicted": "stopped",
        "SuccessfulDelete": "stopped",
        "BackOff": "failed",
    }.get(found["verb"])
    verb = verb or ("failed" if found["verb"].startswith("Failed") else "started")
    if service is not None:
        return Mark(service.kind, service.subject, verb)
    return Mark(MarkKind.POD, found["object"].partition("/")[2], verb)


def _mark_own(program: str, message: str) -> Mark | None:
    """Read what a service says of itself."""
    if not program or program in {"kernel", "systemd", "audit"}:
        return None
    service = find_service(program)
    if service is None or _OF_DEVICE.search(message) is not None:
        return None
    found = (OWN if service.kind in _TALKATIVE else _OWN).search(message)
    if found is None:
        return None
    return Mark(service.kind, service.subject, str(found.lastgroup))


_OF_DEVICE = re.compile(r"^(?:<\w+> +(?:\[[\d.]+\] )?)?(?:device |manager: )?\([\w.@-]+\):? ")
"""How NetworkManager tells of a device: what starts there is not NetworkManager."""
_TALKATIVE = frozenset({MarkKind.RUNTIME, MarkKind.PROXY})
"""Kinds of services that tell all day what starts and stops: containers, volumes, rules."""
_READERS: tuple[Callable[[str, str], Mark | None], ...] = (
    _mark_package, _mark_unit, _mark_command, _mark_kernel, _mark_pod, _mark_anybody, _mark_own,
)  # fmt: skip
WEIGHTS: dict[MarkKind, float] = {
    MarkKind.CONNTRACK: 1.0,
    MarkKind.NEIGHBOUR: 1.0,
    MarkKind.SYSCTL: 0.9,
    MarkKind.FIREWALL: 0.9,
    MarkKind.MARTIAN: 0.9,
    MarkKind.NETWORK: 0.85,
    MarkKind.PROXY: 0.8,
    MarkKind.ADDRESS: 0.8,
    MarkKind.BOOT: 0.8,
    MarkKind.LINK: 0.8,
    MarkKind.RUNTIME: 0.75,
    MarkKind.MODULE: 0.7,
    MarkKind.PACKAGE: 0.6,
    MarkKind.MEMORY: 0.6,
    MarkKind.COMMAND: 0.5,
    MarkKind.SERVICE: 0.35,
    MarkKind.CLOCK: 0.3,
    MarkKind.POD: 0.25,
}
"""How likely each kind is to be what broke a network that worked a moment ago."""
_LEASED = 0.4
"""A lease that no earlier one is known of may be a renewal."""
_NETWORKED = re.compile(
    r"polkit|tuned|systemd|udev|procps|initscripts|iptables|nftables|kernel|linux-image|"
    r"linux-modules|NetworkManager|network-manager|firewalld|"
    r"ufw|docker|containerd|cri-o|kube|cilium|calico|openvswitch|netplan|ifupdown|cloud-init|dbus|"
    r"iproute|libvirt|ec2-net-utils|amazon",
    re.IGNORECASE,
)


def weigh_mark(mark: Mark) -> float:
    """Return the weight of what happened, 0 to 1."""
    weight = WEIGHTS[mark.kind]
    if mark.kind == MarkKind.PACKAGE:
        return 0.75 if _NETWORKED.search(mark.subject) else 0.4
    if mark.kind == MarkKind.ADDRESS and mark.verb == "leased":
        return _LEASED
    if mark.kind == MarkKind.LINK and _PHYSICAL.fullmatch(mark.subject) is None:
        if mark.verb not in {"mac changed", "switched"}:
            return 0.15
        return 0.7
    if mark.kind == MarkKind.COMMAND and mark.subject in {
        "yum",
        "dnf",
        "apt",
        "apt-get",
        "rpm",
        "dpkg",
        "kubectl",
        "docker",
        "crictl",
    }:
        return 0.35
    return weight
