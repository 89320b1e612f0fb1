"""Rulesets loaded into the real kernel, and what the real tools print of them.

    sudo python -m tests.evidence.netfilter_recording

writes the fixtures anew. The kernel tests do the same without keeping it, so that what is held
against the fixtures is also held against the kernel that they run on.
"""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

DATA = Path(__file__).resolve().parents[1] / "data"
RULES, SPECS = DATA / "netfilter" / "rules", DATA / "netfilter" / "specs"
RECORDED = DATA / "netfilter" / "recorded"
CONSOLES = DATA / "consoles" / "netfilter"
TABLES = ("raw", "mangle", "nat", "filter", "security")
STYLES = (
    "calico",
    "cilium",
    "docker",
    "firewalld",
    "flannel",
    "istio",
    "kube-proxy",
    "linkerd",
    "portmap",
)
_MARK = "=====8<====="


class Recording(NamedTuple):
    """What the tools print of one ruleset, by command."""

    outputs: Mapping[str, str]

    @property
    def saved(self) -> str:
        """Return what iptables-save printed."""
        return next(text for command, text in self.outputs.items() if "-save" in command)

    def listed(self, table: str) -> str:
        """Return what `iptables -nvL` printed of a table."""
        return next(
            text for command, text in self.outputs.items() if command.endswith(f"-t {table} -nvL")
        )


def record(setup: Iterable[str], commands: Iterable[str]) -> Recording:
    """Run shell lines in a fresh network namespace, then commands, and give what each command
    printed.
    """
    asked = tuple(commands)
    script = "\n".join([*setup, *(f"echo '{_MARK}'; {command} 2>/dev/null" for command in asked)])
    done = subprocess.run(
        ["unshare", "--net", "sh", "-c", script], stdout=subprocess.PIPE, text=True, check=True
    )
    _, *texts = done.stdout.split(f"{_MARK}\n")
    return Recording(dict(zip(asked, texts, strict=True)))


def load_style(style: str, flavour: str) -> Iterator[str]:
    """Yield the shell lines that load a ruleset of the folder, with its sets."""
    sets = RULES / f"{style}.ipset"
    if sets.is_file():
        yield f"ipset restore < {sets}"
    yield f"iptables-{flavour}-restore < {RULES / style}.rules"


def load_specs(family: int, flavour: str) -> Iterator[str]:
    """Yield the shell lines that load every rule of a list of specifications that this kernel
    takes.
    """
    program = f"{'ip6tables' if family == 6 else 'iptables'}-{flavour}"
    inet = "inet6" if family == 6 else "inet"
    yield (
        f"ipset create SETIP hash:ip family {inet} counters timeout 0; ipset create SETIP2 "
        f"hash:net family {inet}"
    )
    yield (
        f"ipset create SETIPPORT hash:ip,port family {inet}; ipset create SETSKB hash:ip family "
        f"{inet} skbinfo"
    )
    yield "; ".join(f"{program} -t {table} -N SUB" for table in TABLES)
    for line in (SPECS / f"{family}.txt").read_text(encoding="utf-8").splitlines():
        table, chain, spec = line.split("|", 2)
        text = shlex.quote(f"*{table}\n-A {chain} {spec}\nCOMMIT\n")
        yield f"printf %s {text} | {program}-restore --noflush 2>/dev/null || true"


SETS = (
    "ipset create pods hash:ip,port family inet timeout 300 counters comment",
    "ipset add pods 10.0.0.1,tcp:80 comment 'a pod' timeout 100; ipset add pods 10.0.0.2,udp:53-55",
    "ipset create nets hash:net; ipset add nets 10.0.0.0/8; ipset add nets 10.1.0.0/16 nomatch",
    (
        "ipset create links hash:net,iface; ipset add links 10.0.0.0/8,eth0; "
        "ipset add links 10.0.0.0/8,physdev:veth1"
    ),
    (
        "ipset create nets6 hash:net family inet6; ipset add nets6 fd00::/64; "
        "ipset create ports bitmap:port range 0-100"
    ),
    (
        "ipset add ports 80; ipset create marks hash:ip skbinfo; ipset add marks 1.2.3.4 skbmark "
        "0x10/0xff skbprio 1:10 skbqueue 5"
    ),
    (
        "ipset create empty hash:ip; ipset create all list:set size 8; ipset add all pods; "
        "ipset add all nets"
    ),
)
"""Sets of all shapes."""
_TRANSLATED = (
    "-s 10.0.0.1 -d 10.96.0.2 -r 10.244.0.5 -q 10.0.0.1 --sport 1001 --dport 80 "
    "--reply-port-src 8080 --reply-port-dst 1001"
)
CONNECTIONS = (
    (
        "ip link set lo up; iptables -A OUTPUT -m conntrack --ctstate NEW -j ACCEPT; "
        "ip6tables -A OUTPUT -m conntrack --ctstate NEW"
    ),
    "iptables -t raw -A OUTPUT -p udp --dport 999 -j CT --zone 5",
    "iptables -t raw -A OUTPUT -p udp --dport 998 -j CT --zone-orig 7",
    "sysctl -qw net.netfilter.nf_conntrack_acct=1 net.netfilter.nf_conntrack_timestamp=1",
    (
        "conntrack -I -p tcp -s 10.0.0.1 -d 10.0.0.2 --sport 1000 --dport 80 --state ESTABLISHED "
        "-t 500 -u ASSURED,SEEN_REPLY -m 5"
    ),
    f"conntrack -I -p tcp {_TRANSLATED} --state SYN_SENT -t 500",
    "conntrack -I -p 89 -s 10.0.0.1 -d 224.0.0.5 -t 100",
    "conntrack -I -p gre -s 10.0.0.1 -d 10.0.0.9 --srckey 1 --dstkey 2 -t 100",
    (
        "ping -qc1 127.0.0.1; ping -qc1 ::1; bash -c 'echo x > /dev/udp/127.0.0.1/999; "
        "echo x > /dev/udp/127.0.0.1/998'"
    ),
)
"""Connections of all shapes: zones, an untranslated and a translated one, protocols without ports,
echoes.
"""


def asked_commands(program: str, tables: Iterable[str] = TABLES) -> list[str]:
    """Return the commands that print a ruleset in both forms."""
    return [f"{program}-save -c", *(f"{program} -t {table} -nvL" for table in tables)]


def style_tables(style: str) -> list[str]:
    """Return the tables that a ruleset of the folder fills."""
    lines = (RULES / f"{style}.rules").read_text(encoding="utf-8").splitlines()
    return [line[1:] for line in lines if line.startswith("*")]


def _keep(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def main() -> None:
    """Write all fixtures anew."""
    for style in STYLES:
        program = "iptables-nft" if style != "docker" else "iptables-legacy"
        recording = record(
            load_style(style, program.removeprefix("iptables-")),
            asked_commands(program, style_tables(style)),
        )
        for command, text in recording.outputs.items():
            typed = command.replace(program, "iptables")
            name = "save" if "-save" in command else f"list-{command.split()[2]}"
            _keep(CONSOLES / f"{style}-{name}.txt", f"$ {typed}\n{text}")
    asked = ["ipset save", "ipset list", "ipset list -t", "ipset list nets"]
    for command, text in record(
        [f"{{ {line}; }} >/dev/null 2>&1" for line in SETS], asked
    ).outputs.items():
        _keep(CONSOLES / f"{command.replace(' ', '-')}.txt", f"$ {command}\n{text}")
    asked = [
        "conntrack -L",
        "conntrack -L -o extended,id",
        "conntrack -L -o ktimestamp",
        "cat /proc/net/nf_conntrack",
    ]
    for command, text in record(
        [f"{{ {line}; }} >/dev/null 2>&1" for line in CONNECTIONS], asked
    ).outputs.items():
        _keep(CONSOLES / f"{re.sub('[^a-z]+', '-', command.lower())}.txt", f"$ {command}\n{text}")
    for flavour in ("legacy", "nft"):
        for family in (4, 6):
            program = f"{'ip6tables' if family == 6 else 'iptables'}-{flavour}"
            recording = record(load_specs(family, flavour), asked_commands(program))
            for command, text in recording.outputs.items():
                name = "save" if "-save" in command else f"list-{command.split()[2]}"
                _keep(RECORDED / f"{flavour}-{family}" / f"{name}.txt", f"$ {command}\n{text}")


if __name__ == "__main__":
    main()
