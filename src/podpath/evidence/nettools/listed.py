"""Outputs in rows of which each says by itself what it says: sessions of routing daemons, proxies
of a mesh, calls of a program, and what a machine consists of.

A row that convicts is a message of its line (`evidence.messages`); here every row that is
understood is kept, so that what is left is known not to be read. Of some of these outputs no line
decides what becomes of a packet.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from podpath.evidence.commands.command import parse_command
from podpath.evidence.formats import CERTAIN, LIKELY, NO, Format, sample, share
from podpath.evidence.records import Reading
from podpath.evidence.text.line_ledger import LineLedger
from podpath.evidence.text.tokenizer import strip_terminal
from podpath.net.provenance import Source

_IP = r"(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-fA-F]*:[0-9a-fA-F:.]+)"
_STATE = r"(?:Idle|Connect|Active|Passive|OpenSent|OpenConfirm|Established|Clearing)"
_ALIKE = 0.6
"""The share of lines that are rows where no heading names the output."""


class Listed(NamedTuple):
    """One kind of output."""

    name: str
    head: re.Pattern[str]
    """A line that only this output has; rows that are most of a text count, too."""
    rows: re.Pattern[str]
    """A line of it that is understood, the heading included."""
    programs: frozenset[str] = frozenset()
    """Programs that print nothing else."""
    decides: bool = True


def _listed(name: str, head: str, rows: str, programs: str = "", *, decides: bool = True) -> Listed:
    either = re.compile(rf"\s*(?:{head}|{rows})\s*$")
    return Listed(
        name, re.compile(rf"\s*(?:{head})\s*$"), either, frozenset(programs.split()), decides
    )


KINDS: tuple[Listed, ...] = (
    _listed(
        "calicoctl node status",
        r"IPv[46] BGP status|(?:\| *)?PEER ADDRESS *\| *PEER TYPE.*",
        r"Calico process is running\.|No IPv[46] (?:peers found|BGP peers).*|\+-[-+]*\+|"
        rf"\|? *{_IP} *\|[^|]*\| *\w+ *\|[^|]*\|[^|]*\|?|\|(?: +\|){{3,4}} [\w ]+\|",
    ),
    _listed(
        "birdc show protocols",
        r"BIRD v?[\d.]+\S* ready\.|[Nn]ame +[Pp]roto +[Tt]able +[Ss]tate +[Ss]ince.*",
        r"[\w.-]+ +(?:BGP|OSPF|Kernel|Device|Direct|Static|RIP|BFD|Pipe|Babel|RAdv|MRT|RPKI) +\S+ +"
        r"(?:up|start|down|stop) +\S+(?: .*)?|Access restricted",
    ),
    _listed(
        "show ip bgp summary",
        r"Neighbor +V +AS +MsgRcvd.*",
        r"(?:IPv[46] Unicast|L2VPN EVPN) Summary.*|BGP router identifier .*|BGP table version .*|"
        r"RIB entries .*|Peers \d+, using .*|Total number of neighbors \d+|"
        rf"\S+ +4 +\d+ +\d+ +\d+ +\d+ +\d+ +\d+ +\S+ +(?:\d+|{_STATE}(?: \(\w+\))?)(?: +.*)?",
    ),
    _listed(
        "istioctl proxy-status",
        r"NAME +(?:CLUSTER +)?CDS +LDS +EDS +RDS.*",
        r"\S+\.\S+ +(?:\S+ +)?(?:(?:SYNCED|STALE|NOT SENT|IGNORED|ERROR)(?: \([^)]*\))? *){3,6}"
        r"\S.*",
    ),
    _listed(
        "istioctl analyze",
        r"(?:Error|Warn|Warning|Info) \[IST\d{4}\] .*",
        r"Error: Analyzers found issues .*|See https://istio\.io/.*|"
        r".*No validation issues found .*",
    ),
    _listed(
        "strace",
        r"(?:\[pid +\d+\] )?(?:\d+ +)?(?:\d+[\d.:]* )?(?:connect|socket|sendto|recvfrom|bind|poll|"
        r"sendmmsg|accept4?|setsockopt|epoll_wait|ioctl|fcntl)\(.*\) += (?:-?\d+|0x[0-9a-f]+|\?).*",
        r"(?:\[pid +\d+\] )?(?:\d+ +)?(?:\d+[\d.:]* )?\w+\(.*(?:\) += .*|<unfinished \.\.\.>|\.{3})"
        r"|(?:\[pid +\d+\] )?(?:\d+[\d.:]* )?<\.{3} \w+ resumed>.*|strace: .*",
        decides=False,
    ),
    _listed(
        "pwru",
        r"SKB +CPU +PROCESS +(?:NETNS +MARK/x +.*)?FUNC.*",
        r"0x[0-9a-f]{6,16} +\d+ +.*|\d{4}/\d\d/\d\d [\d:]+ (?:Per cpu|Attach|Listening|"
        r"Kprobes?|Ignored).*|\d+ / \d+ \[-*\].*",
        decides=False,
    ),
    _listed(
        "os-release",
        r"PRETTY_NAME=.*|Distributor ID:\s.*|No LSB modules are available\.",
        r"[A-Z][A-Z_]*=.*|(?:Description|Release|Codename):\s.*|[\w ]+ Linux release [\d.]+.*",
        "lsb_release hostnamectl",
        decides=False,
    ),
    _listed(
        "docker version",
        r"(?:Client|Server)(?:: ?.*| version: .*| API version: .*)",
        r"(?:Version|API version|Go version|Git commit|Built|OS/Arch|Experimental|GitCommit|"
        r"Context|Engine|containerd|runc|docker-init|Cloud integration|Orchestrator):.*|"
        r"(?:Go version|Git commit|OS/Arch) \((?:client|server)\): .*",
        decides=False,
    ),
    _listed(
        "packages",
        r"ii +\S+ +\d\S*.*",
        r"[\w.+-]{1,80}-\d[\w.+~^-]{0,80}\.(?:x86_64|noarch|aarch64|i[3-6]86|ppc64le|s390x)"
        r"(?: +\S.*)?|(?:Listing\.\.\.|Installed Packages).*|"
        r"\S+/\S+ \S+ (?:amd64|all|arm64|i386) \[.*",
        "rpm dpkg",
        decides=False,
    ),
    _listed(
        "lspci",
        r"(?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.\d (?:Ethernet|Network|Infiniband) .*",
        r"(?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.\d .*|(?:DeviceName|Subsystem|Flags|Memory at|"
        r"I/O ports at|Capabilities|Kernel driver in use|Kernel modules|Physical Slot|"
        r"Expansion ROM|Control|Status|Latency|Interrupt|Region \d|IOMMU group|"
        r"NUMA node)\b.*|#+ ?SNIP ?#+",
        decides=False,
    ),
    _listed(
        "stack trace",
        r"at [\w.$/<>]+\([\w.$:~/ -]*\).*|goroutine \d+ \[.*|Traceback \(most recent call last\):",
        r"#\d+ +\S+\(\d+\): .*|File \".*\", line \d+.*|Caused by: .*|\.{3} \d+ more|"
        r"[\w.$]{1,200}(?:Exception|Error): .*",
        decides=False,
    ),
    _listed(
        "CoreDNS queries",
        r"(?:\S+ )?\[INFO\] \[?[\w.:]+\]?:\d+ - \d+ \"\w+ IN \S+ (?:udp|tcp) \d+ .*",
        r"\[(?:INFO|WARNING|ERROR)\] (?:plugin/|SIGTERM|Reloading).*|CoreDNS-\d.*|linux/\w+, go.*|"
        r"\.:\d+",
        decides=False,
    ),
    _listed(
        "rollout",
        r"(?:deployment|daemonset|statefulset)\.apps/\S+ (?:restarted|created|configured|unchanged|"
        r"scaled|patched)",
        r"Waiting for (?:deployment|daemon set|statefulset) .*|"
        r"(?:deployment|daemon set|statefulset) \"\S+\" successfully rolled out|"
        r"[\w.-]+/\S+ (?:created|configured|unchanged|deleted|labeled|annotated|"
        r"patched|edited|restarted)",
        decides=False,
    ),
)  # fmt: skip
"""In the order they are asked."""


def make_format(kind: Listed) -> Format:
    """Return the format of a kind of output."""

    def recognise(source: Source) -> int:
        """Recognize the heading, or rows that are most of the text."""
        lines = [strip_terminal(line) for line in sample(source)]
        if not lines:
            return NO
        rows = share(lines, kind.rows)
        if parse_command(source.command).program in kind.programs and rows >= _ALIKE:
            return CERTAIN
        if any(kind.head.match(line) for line in lines) and rows >= _ALIKE:
            return LIKELY
        return NO

    def read(source: Source) -> Reading:
        """Keep the rows that are understood."""
        ledger = LineLedger(source)
        for index, line in enumerate(ledger.lines):
            if kind.rows.match(strip_terminal(line)):
                ledger.head(index)
        return ledger.close(f"a row of {kind.name}")

    return Format(kind.name, recognise, read, decides=kind.decides)


FORMATS = tuple(map(make_format, KINDS))
