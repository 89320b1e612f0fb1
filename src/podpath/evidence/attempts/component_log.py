"""Log lines of components and containers: those that say that a connection failed are attempts; the
rest is kept as it is.

Who made the attempt is whoever wrote the log: a pod, where a container's log is shown.
"""

from __future__ import annotations

import re

from podpath.evidence.attempts.failures import parse_failure
from podpath.evidence.commands.typed import parse_typed
from podpath.evidence.formats import CERTAIN, LIKELY, NO, Format, sample
from podpath.evidence.records import AttemptRecord, HeadingRecord, Reading
from podpath.evidence.text.line_ledger import LineLedger
from podpath.net.provenance import Source

_LINE = re.compile(
    r"\s*+(?:(?:node=\S+ )?type=\w+ msg=audit\(|<\d{1,3}>(?:1 \d{4}-|[A-Z][a-z]{2} [ \d]\d )|"
    r"\{\"__(?:REALTIME|CURSOR)|\[[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}\] |"
    r"(?:Start-Date|End-Date|Commandline|Requested-By|Install|Upgrade|Remove|Purge): |"
    r"(?=\S[^\s-]*+-\S[^\s-]*+-\S)\S++ +[A-Z][a-z]{2} (?:\d\d [A-Z][a-z]{2} \d{4}|"
    r"[A-Z][a-z]{2} +\d+) \d\d:\d\d:\d\d|[A-Z][a-z]{2} \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \S+ \S+ \S+|"
    r"[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ \S+:\d+\]|time=\"?\d{4}-|ts=\d{4}-|level=\w+ |"
    r"\{\"(?:level|ts|time|msg|severity|log|@timestamp)\"|"
    r"\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d\S*\s+\S|[A-Z][a-z]{2} [ \d]?\d \d\d:\d\d:\d\d \S+ "
    r"\S+|\[ *\d+\.\d{6}\] |\d\d:\d\d:\d\d[.,]?\d* (?:INFO|WARN|ERROR|DEBUG)|"
    r"(?:INFO|WARN|WARNING|ERROR|FATAL|DEBUG|panic|Error|error)\b)"
)
_NODE_COMPONENTS = re.compile(
    r"\b(?:kubelet|kube-proxy|containerd|dockerd|systemd|kernel|cilium-agent|flanneld|bird|felix)\b"
    r"(?:\[\d+\])?:?|\b(?:kubelet\w*|proxier|prober\w*|pod_workers|remote_(?:runtime|image)|"
    r"kuberuntime\w*|eviction_manager|docker_sandbox)\.go:\d+\]"
)
"""Components that run in the host's network namespace, by their names or by the files of their
sources.
"""
_SERVER = re.compile(r"\.go:\d+\]|subsys=|logger=")
_WORTH = (
    "dial ",
    "://",
    "refused",
    "timed out",
    "timeout",
    "unreachable",
    "no route",
    "reset by peer",
    "deadline exceeded",
    "\u8d85\u65f6",
)
"""A line without any of these tells of no connection; most lines of a log are such."""


def recognise_log(source: Source) -> int:
    """Recognize log lines by how they start, or by the failure they tell of."""
    lines = sample(source)
    if not lines:
        return NO
    shaped = sum(_LINE.match(line) is not None for line in lines)
    telling = sum(_is_telling(line) and parse_failure(line) is not None for line in lines)
    if telling and shaped:
        return CERTAIN - 5
    typed = parse_typed(source.command or "")
    logs = typed.program in {"journalctl", "dmesg"} or (
        typed.program in {"kubectl", "crictl", "docker"} and " logs " in f" {typed.text} "
    )
    exported = any(line.startswith("__REALTIME_TIMESTAMP=") for line in lines)
    return LIKELY if telling or logs or exported or shaped >= 0.7 * len(lines) else NO


def read_log(source: Source) -> Reading:
    """Read the failures; runs of other lines become one heading each."""
    ledger = LineLedger(source)
    start: int | None = None
    for index, line in enumerate(ledger.lines):
        if not line.strip():
            continue
        failed = read_failure(ledger, index, line)
        if failed and start is not None:
            _keep(ledger, start, index - 1)
        if failed:
            start = None
        elif start is None:
            start = index
    if start is not None:
        _keep(ledger, start, len(ledger.lines) - 1)
    return ledger.close("a line of a log")


def _keep(ledger: LineLedger, first: int, last: int) -> None:
    """Keep a run of lines as one heading: a log has many."""
    while last > first and not ledger.lines[last].strip():
        last -= 1
    ledger.add(HeadingRecord(span=ledger.span(first, last), text=ledger.lines[first].strip()[:200]))


def _is_telling(line: str) -> bool:
    lowered = line.lower()
    return any(sign in lowered for sign in _WORTH)


def read_failure(ledger: LineLedger, index: int, line: str) -> bool:
    """Read a line that tells of a connection that failed; tell whether it is one."""
    failure = parse_failure(line) if _is_telling(line) else None
    if failure is None:
        return False
    ledger.add(
        AttemptRecord(
            span=ledger.span(index),
            protocol=failure.protocol,
            dst=failure.dst,
            dport=failure.dport,
            result=failure.result,
            src=failure.src,
            who="container log" if _origin(ledger.source, line) == "pod" else "log",
            origin=_origin(ledger.source, line),
            detail=line.strip(),
        )
    )
    return True


def _origin(source: Source, line: str) -> str | None:
    """Say where the writer of a log runs, as far as the line or the command shows it."""
    if source.netns is not None:
        return source.netns
    if _NODE_COMPONENTS.search(line[:120]):
        return "host"
    typed = parse_typed(source.command or "")
    if (
        typed.program in {"kubectl", "oc", "k", "docker", "crictl"}
        and " logs " in f" {typed.text} "
    ):
        return "pod"
    if typed.program in {"journalctl", "dmesg"}:
        return "host"
    return "pod" if source.command is None and _SERVER.search(line) else None


FORMAT = Format("component log", recognise_log, read_log, decides=False)
