"""Commands that change a node, as typed at a prompt: facts before and after them differ.

Not modeled: what a script does that is called by its name, and what a changed object of Kubernetes
leads to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from podpath.evidence.cilium.flags import parse_flags
from podpath.evidence.commands.command import parse_command
from podpath.evidence.commands.shells import SimpleCommand
from podpath.evidence.commands.typed import TypedCommand, parse_typed
from podpath.evidence.commands.wrappers import WRAPPERS
from podpath.evidence.formats import CERTAIN, NO, Format
from podpath.evidence.kernel import sysctl
from podpath.evidence.kubernetes.records import CiliumOptionRecord
from podpath.evidence.netfilter.typed import read_typed_rules
from podpath.evidence.records import (
    ChangeCommandRecord,
    HeadingRecord,
    Reading,
    StatementRecord,
)
from podpath.evidence.text.ledger import Ledger
from podpath.net.addresses import IfName
from podpath.net.provenance import Source
from podpath.net.statements import NoRoutes, NothingFound, TypedDevice

_IP_VERBS = (
    "add",
    "append",
    "change",
    "replace",
    "prepend",
    "delete",
    "set",
    "flush",
    "up",
    "down",
    "attach",
    "detach",
)
_TABLE_EDIT = re.compile(
    r"-[A-Z]*[ADIRFXNPZE][a-z]*|--(?:append|delete|insert|replace|flush|new-chain|delete-chain|"
    r"policy|zero)"
)
_RULES_CHANGED = re.compile(
    r"\s*(?:sudo\s+)?(?:/\S*/)?ip6?tables(?:-legacy|-nft)?\s+(?:(?:-t|--table)\s+\w+\s+|"
    r"-[wW]\s+(?:\d+\s+)?|--wait\s+)*(?:-[APIFXDN]|--(?:append|policy|insert|flush|delete|"
    r"new-chain))(?:\s+[A-Za-z][\w-]*(?:\s+(?:-|!|\d|ACCEPT|DROP).*)?)?\s*"
)
_VALUED = frozenset(
    {
        "-n",
        "--namespace",
        "--context",
        "--kubeconfig",
        "-H",
        "-M",
        "--db",
        "-t",
        "--timeout",
        "-s",
        "--cluster",
    }
)
"""Options whose value could be taken for a verb."""
_RPM_CHANGE = re.compile(r"-[a-z]*[Uie][a-z]*$|--(?:upgrade|install|erase)")
_STATE_FILES = re.compile(
    r"/(?:proc/sys|sys|etc|lib/systemd|usr/lib|var/lib/(?:cni|kubelet)|opt/cni)/.*"
)


def _words(*verbs: str) -> Callable[[tuple[str, ...]], bool]:
    wanted = frozenset(verbs)
    return lambda arguments: not wanted.isdisjoint(arguments)


def _begins(*verbs: str) -> Callable[[tuple[str, ...]], bool]:
    return lambda arguments: any(word.startswith(verbs) for word in arguments)


def _first(*verbs: str) -> Callable[[tuple[str, ...]], bool]:
    wanted = frozenset(verbs)

    def starts(arguments: tuple[str, ...]) -> bool:
        before = ""
        for word in arguments:
            if not word.startswith("-") and before not in _VALUED:
                return word in wanted
            before = word
        return False

    return starts


def _always(_: tuple[str, ...]) -> bool:
    return True


def _changes_table(arguments: tuple[str, ...]) -> bool:
    return any(_TABLE_EDIT.fullmatch(word) for word in arguments)


def _changes_ip(arguments: tuple[str, ...]) -> bool:
    """Tell whether `ip OBJECT VERB` changes something; verbs may be cut short, as iproute2 lets
    them be.
    """
    plain = [word for word in arguments if not word.startswith("-")]
    if len(plain) < 2 or "monitor".startswith(plain[0]):
        return False
    verb = plain[1]
    return (
        len(verb) >= 1
        and verb not in {"s", "sh", "l", "g"}
        and any(name.startswith(verb) for name in _IP_VERBS)
    )


def _changes_sysctl(arguments: tuple[str, ...]) -> bool:
    return any(
        word in {"-w", "-p", "--system", "--write", "-f"}
        or word.startswith(("-p", "--load"))
        or "=" in word
        for word in arguments
    )


def _loads_module(arguments: tuple[str, ...]) -> bool:
    return bool(arguments) and not any(
        word
        in {
            "-n",
            "--dry-run",
            "--show",
            "-c",
            "--showconfig",
            "-D",
            "--show-depends",
            "--resolve-alias",
        }
        for word in arguments
    )


def _changes_package(arguments: tuple[str, ...]) -> bool:
    asks = any(word.startswith("-q") for word in arguments)
    return not asks and any(map(_RPM_CHANGE.match, arguments))


def _has_arguments(arguments: tuple[str, ...]) -> bool:
    return any(not word.startswith("-") for word in arguments)


def _changes_interface(arguments: tuple[str, ...]) -> bool:
    return len([word for word in arguments if not word.startswith("-")]) >= 2


_CHANGES: Mapping[str, Callable[[tuple[str, ...]], bool]] = {
    "modprobe": _loads_module, "insmod": _has_arguments, "rmmod": _has_arguments,
    "sysctl": _changes_sysctl,
    "ip": _changes_ip, "bridge": _changes_ip, "tc": _changes_ip,
    "route": _first("add", "del", "delete", "flush"),
    "ifconfig": _changes_interface, "ifup": _has_arguments, "ifdown": _has_arguments,
    "arp": _words("-d", "-s", "--delete",
    "--set"),
    "brctl": _first("addbr", "delbr", "addif", "delif", "stp", "hairpin", "setageing"),
    **dict.fromkeys((
        "iptables", "ip6tables", "ebtables", "arptables", "iptables-legacy", "ip6tables-legacy",
        "iptables-nft", "ip6tables-nft",
    ), _changes_table),
    **dict.fromkeys(("iptables-restore", "ip6tables-restore"), _always),
    "nft": _words("add", "insert", "delete", "flush", "create", "replace", "destroy", "-f"),
    "ipset": _first("add", "del", "create", "destroy", "flush", "restore", "swap", "rename"),
    "conntrack": _words("-D", "-F", "-U", "-I", "--delete", "--flush", "--update"),
    "ipvsadm": _words("-A", "-E", "-D", "-C", "-R", "-a", "-e", "-d"),
    "ethtool": _words("-K", "-s", "-G", "-A", "-L",
    "--offload"),
    "ovs-vsctl": _first(
        "add-br", "del-br", "add-port", "del-port", "add-bond", "set", "clear", "remove",
    ),
    "ovs-appctl": _first(
        "bond/set-active-slave", "bond/set-active-member", "bond/enable-slave",
        "bond/disable-slave", "fdb/flush",
    ),
    "ovs-ofctl": _first("add-flow", "add-flows", "del-flows", "mod-flows", "replace-flows"),
    "systemctl": _first(
        "start", "stop", "restart", "reload", "reload-or-restart", "try-restart", "enable",
        "disable", "mask", "unmask", "daemon-reload", "daemon-reexec", "isolate", "kill",
    ),
    "service": _words("start", "stop", "restart", "reload", "force-reload"),
    "kubectl": _first(
        "apply", "create", "delete", "edit", "patch", "scale", "rollout", "drain", "cordon",
        "uncordon", "label", "annotate", "set", "replace", "taint", "expose", "run", "autoscale",
    ),
    "helm": _first("install", "upgrade", "uninstall", "rollback", "delete"),
    "istioctl": _first("install", "upgrade", "uninstall"),
    "linkerd": _first("install", "upgrade", "inject"),
    "calicoctl": _first("apply", "create", "delete", "replace", "patch"),
    "cilium": _first("install", "upgrade", "uninstall"),
    "kubeadm": _first("init", "join", "reset", "upgrade"),
    "minikube": _first("start", "stop", "delete", "addons"), "kind": _first("create", "delete"),
    "kops": _first("update", "edit"),
    **dict.fromkeys(
        ("yum", "dnf", "apt", "apt-get", "zypper", "apk", "snap"),
        _words(
            "install", "update", "upgrade", "remove", "reinstall", "downgrade", "add",
            "dist-upgrade", "autoremove",
        ),
    ),
    "rpm": _changes_package,
    "dpkg": _words("-i", "-r", "-P", "--install", "--remove"),
    **dict.fromkeys(("reboot", "shutdown", "poweroff", "dhclient", "kexec"), _always),
    **dict.fromkeys(
        ("docker", "podman", "crictl", "nerdctl"),
        _first("restart", "stop", "start", "wait", "rm", "rmi", "kill", "stopp", "rmp"),
    ),
    **dict.fromkeys(("kill", "pkill", "killall"), _has_arguments),
    "update-alternatives": _words("--set", "--config", "--auto"),
    "nmcli": _words("mod", "modify", "up", "down", "add", "delete", "reload", "set"),
    "netplan": _first("apply", "try"),
    "ufw": _first(
        "enable", "disable", "allow", "deny", "reject", "limit", "reload", "delete", "reset",
        "route", "default", "insert",
    ),
    "csf": _words("-x", "-e", "-r", "-s", "-f", "-a", "-d", "-dr"),
    **dict.fromkeys(
        ("shorewall", "pve-firewall", "ferm", "rc-service"),
        _words("start", "stop", "restart", "reload", "clear", "compile"),
    ),
    "fail2ban-client": _words("unban", "unbanip", "banip", "start", "stop", "reload"),
    "networkctl": _first("reload", "reconfigure", "up", "down"),
    "setenforce": _has_arguments,
    "firewall-cmd": _begins("--add", "--remove", "--reload", "--complete-reload", "--set"),
    "tuned-adm": _first("profile", "off"),
    "sed": lambda arguments: any(re.match(r"-[a-z]*i", word) for word in arguments),
    "mount": _has_arguments, "umount": _has_arguments,
}  # fmt: skip
"""What the arguments of each program must be for it to change something that outlives it."""


def changes_state(typed: TypedCommand) -> bool:
    """Tell whether a command line changes the node."""
    return any(_changes(step) or _changes_inside(typed, step) for step in typed.commands)


def changes_rules(line: str) -> bool:
    """Tell whether a line is an iptables command that changes a table: one beyond doubt, also
    without a prompt.
    """
    return _RULES_CHANGED.fullmatch(line) is not None


def is_typed_evidence(typed: TypedCommand) -> bool:
    """Tell whether the command line itself is evidence, whatever it printed: it changes state, or
    sets options of Cilium.
    """
    return changes_state(typed) or bool(parse_flags(typed.text))


def _changes_inside(typed: TypedCommand, step: SimpleCommand) -> bool:
    """Tell whether what a wrapper behind a pipe runs changes something (`echo 1 | sudo tee
    FILE`).
    """
    if not step.operator or not step.words or step.program not in WRAPPERS:
        return False
    start = typed.commands[0].words[0].start if typed.commands[0].words else 0
    inner = parse_typed(typed.text[step.words[0].start - start : step.words[-1].end - start])
    return any(_changes(one) for one in inner.commands)


def _changes(step: SimpleCommand) -> bool:
    if any(
        ">" in redirect.operator and _STATE_FILES.fullmatch(redirect.target)
        for redirect in step.redirects
    ):
        return True
    if step.program == "tee":
        return any(_STATE_FILES.fullmatch(word) for word in step.arguments)
    changes = _CHANGES.get(step.program)
    return changes is not None and changes(step.arguments)


_PORT = re.compile(
    r"ip l\w* set (?:dev )?(?P<link>[\w.@-]+) (?:up )?master (?P<bridge>[\w.@-]+)|"
    r"brctl addif (?P<master>[\w.@-]+) (?P<port>[\w.@-]+)|"
    r"ovs-vsctl add-port (?P<switch>[\w.@-]+) (?P<added>[\w.@-]+)|"
    r"(?:ip a\w* (?:add|a|replace) \S+ .*?dev|dhclient|dhcpcd|ifup|ifconfig) "
    r"(?P<addressed>[\w.@-]+)"
)


def _find_device(step: SimpleCommand) -> TypedDevice | None:
    """Return what a command does to a device: it makes it a bridge's port, or gives it an
    address.
    """
    words = [word for word in step.arguments if not word.startswith("-")]
    port = _PORT.match(" ".join((step.program, *words)))
    if port is None:
        return None
    link = port["link"] or port["port"] or port["added"] or port["addressed"]
    return TypedDevice(IfName(link), port["bridge"] or port["master"] or port["switch"] or "")


_GREPS = frozenset({"grep", "egrep", "fgrep", "rg"})
_SILENCING = frozenset("vqcLl")
"""Options with which a grep prints something else than what it finds."""
_PLAIN = re.compile(r"[\w.:/-]+")
_TABLE_LISTED = re.compile(
    r"(?:sudo\s+)?(?:\S*/)?ip\s+(?:-4\s+)?r(?:o|ou|out|oute)?\s+"
    r"(?:(?:show|list|ls|sh|s|l)\s+)?(?:table|t)\s+(?P<table>[\w.-]+)"
)

_DATA = ("[{", '{"')
"""What JSON begins with and no program's name does: a line of a megabyte need not be cut as a shell
would.
"""


def recognise_typed(source: Source) -> int:
    """Recognize a source whose lines are the command as typed, and one that printed nothing."""
    if source.command is None or sysctl.states_value(source):
        return NO
    if not source.lines:
        return (
            1  # the least claim: a reader that knows what silence means of this command comes first
        )
    prompted = source.prompt is None or source.lines[0].lstrip().startswith(source.prompt)
    typed = (
        source.lines[0]
        .lstrip()
        .removeprefix(source.prompt or "")
        .strip()
        .removesuffix("\\")
        .strip()
    )
    if typed.startswith(_DATA) and not source.command.lstrip().startswith(_DATA):
        return NO
    words = typed.split()
    return (
        CERTAIN
        if prompted and words and source.command.split()[-1:] and _is_own_text(source, typed)
        else NO
    )


def _is_own_text(source: Source, typed: str) -> bool:
    command = parse_typed(typed).text or typed
    return bool(command) and " ".join((source.command or "").split()).startswith(
        " ".join(command.split())
    )


def read_typed(source: Source) -> Reading:
    """Read what a command states by itself: that it changes the node, and options of Cilium."""
    ledger = Ledger(source)
    command = source.command or ""
    last = max(len(source.lines) - 1, 0)
    if changes_state(parse_typed(command)):
        span = ledger.span(0, last)
        ledger.add(ChangeCommandRecord(span=span, command=command))
        for record in read_typed_rules(command, span):
            ledger.add(record)
        for step in parse_typed(command).commands:
            device = _find_device(step)
            if device is not None:
                ledger.add(StatementRecord(span=span, statement=device))
    else:
        ledger.add(HeadingRecord(span=ledger.span(0, last), text=command))
        nothing = None if source.lines else _find_sought(command) or _find_empty_table(command)
        if nothing is not None:
            ledger.add(StatementRecord(span=ledger.span(0, last), statement=nothing))
    for flag in parse_flags(command):
        index = next((i for i, line in enumerate(source.lines) if flag.spelled in line), 0)
        ledger.add(CiliumOptionRecord(span=ledger.span(index), key=flag.key, value=flag.value))
    return ledger.close("a command")


def _find_sought(command: str) -> NothingFound | None:
    """Return what a command that printed nothing looked for by one plain grep."""
    parsed = parse_command(command)
    if len(parsed.filters) != 1 or parsed.filters[0][0].rpartition("/")[2] not in _GREPS:
        return None
    words = parsed.filters[0][1:]
    options = "".join(word.lstrip("-") for word in words if word.startswith("-"))
    plain = [word for word in words if not word.startswith("-") and not word.isdecimal()]
    if set(options) & _SILENCING or len(plain) != 1 or _PLAIN.fullmatch(plain[0]) is None:
        return None
    return NothingFound(parsed.program, parsed.arguments, plain[0])


def _find_empty_table(command: str) -> NoRoutes | None:
    """Return the routing table that a command which printed nothing lists whole."""
    found = _TABLE_LISTED.fullmatch(command.strip())
    return NoRoutes(found["table"]) if found is not None else None


FORMAT = Format("a typed command", recognise_typed, read_typed)
