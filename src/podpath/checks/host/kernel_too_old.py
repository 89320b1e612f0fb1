"""kernel-too-old: the kernel is older than what the network agent's configuration needs, or lacks
what it probes for although it is new enough.

What it is
    The agent probes the kernel when it starts, and exits because a feature is missing: `... needs
    kernel 4.17.0 or newer`. Its text names the version that first had the feature.

Why it breaks
    Without the agent or proxy, the node programs no services and no pod networks. If the kernel
    that runs is not older than that, the probe failed for another reason: an option that its
    configuration lacks (CONFIG_BPF_SYSCALL, CONFIG_CGROUP_BPF), a file system that is not mounted
    (bpffs, cgroup2), or a right that the container lacks.

How to confirm
    uname -r; zgrep -e BPF -e CGROUP /proc/config.gz; mount | grep -e bpf -e cgroup
    kubectl logs -n kube-system AGENT-POD --previous

How to fix
    Boot a kernel of the named version, or choose a mode that the present one supports. If the
    kernel is new enough, rebuild it with the missing options, or mount what is missing.

References
    Cilium, System Requirements; kube-proxy, nftables mode
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp
from podpath.checks.said import Meaning, find_said, get_value, tell
from podpath.net.messages import Message, MessageKind
from podpath.net.provenance import Source, Span
from podpath.node.case import Case

CATEGORIES = (Category.BPF, Category.KERNEL_MODULE, Category.KUBE_PROXY, Category.CNI_AGENT)
NAME = "kernel-too-old"
PROBED = 0.8
"""Which of the reasons it is, the program does not say."""
UNSHOWN = 0.9
"""A probe failed, and nothing shows which kernel runs: a new one may lack the feature, too."""
_READ = 20_000
"""Lines of a log in which a version is looked for."""
_RUNNING = re.compile(
    r"(?:\bLinux version |\bkernel (?:\(|version:? ?|is |release:? ?)|\buname -r`?[^\d\n]{0,12}|"
    r"\bKernel Version: +)(?P<version>\d+\.\d+(?:\.\d+)?)",
    re.IGNORECASE,
)
_WANTS = re.compile(r"\b(?:needs?|requires?|or (?:newer|later)|minimal|at least)\b", re.IGNORECASE)
ASK_VERSION = FollowUp(
    "which kernel the node runs",
    "uname -r",
    "an older one: it is too old; one that is not: it lacks an option, a mount or a right",
)
ASK = FollowUp(
    "what else the feature needs",
    "zgrep -e BPF -e CGROUP /proc/config.gz; mount | grep -e bpf -e cgroup; ls /sys/kernel/btf; "
    "the program's log with --debug",
    "an option that is not set, or a mount that is missing: this is why the probe fails",
)


def check(case: Case) -> Iterator[Finding]:
    """Report a kernel that a program says is too old, or what it may lack if it is not."""
    said = find_said(case, MessageKind.KERNEL_TOO_OLD)
    if not said:
        return
    version = get_value(said, "version", default="another")
    what = get_value(said, "what")
    running = list(_list_running(case, said))
    wanted = max(_read_version(one.values.get("version", "")) for one in said)
    enough = next((span for one, span in running if any(wanted) and one >= wanted), None)
    ask: FollowUp | None = ASK
    if enough is None:
        told = f" ({what})" if what else ""
        claim = f"The running kernel is too old: version {version} or newer is needed{told}."
        cure = "run a newer kernel, or switch the feature off"
        sure = bool(running) or not what
        certainty, ask = (1.0, None) if sure else (UNSHOWN, ASK_VERSION)
    else:
        probe = f" of {what}" if what else ""
        claim = (
            f"A program's probe{probe} fails although the kernel is not older than {version}: an "
            "option of its configuration, a mount or a right is missing."
        )
        cure, certainty = "give the kernel the option, or mount what is missing", PROBED
    meaning = Meaning(
        claim=claim,
        breaks="what the agent or proxy should program",
        cure=cure,
        commands=("uname -r",),
        certainty=certainty,
        ask=ask,
    )
    found = tell(NAME, said, meaning)
    yield found if enough is None else replace(found, evidence=(*found.evidence, enough))


def _list_running(case: Case, said: Sequence[Message]) -> Iterator[tuple[tuple[int, ...], Span]]:
    """Yield each version of the running kernel that a line states."""
    for source, at, line in _list_lines(case, said):
        found = _RUNNING.search(line) if _WANTS.search(line) is None else None
        if found is not None:
            yield _read_version(found["version"]), Span(source, at, at)
    shown = re.match(r"\d+(?:\.\d+)+", case.node.kernel or "")
    if shown is not None:
        yield _read_version(shown[0]), said[0].span


def _list_lines(case: Case, said: Sequence[Message]) -> Iterator[tuple[Source, int, str]]:
    for source in dict.fromkeys(one.span.source for one in said):
        for at, line in enumerate(source.lines[:_READ], source.first_line):
            yield source, at, line
    for complaint in case.complaints:
        yield complaint.span.source, complaint.span.line, complaint.span.text


def _read_version(text: str) -> tuple[int, ...]:
    """Return a version's first three numbers; those that it leaves out are 0."""
    numbers = [int(part) for part in text.split(".") if part.isdecimal()]
    return tuple((*numbers, 0, 0, 0)[:3])
