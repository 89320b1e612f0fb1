"""What Prometheus scrapes: the parts' samples, their findings by kind, and the process's own cost,
as text.

Written here instead of with prometheus_client: the values are snapshots that the parts hold
already, so the library would only spell them, for 4 MB of memory and 50 ms of start
(docs/quality/reliability.md). Labels hold kinds, never names of pods or keys.
"""

from __future__ import annotations

import os
import re
import resource
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from podpath.version import __version__
from podpath_protect.agent.keeper import KeeperStatus, Labels, Sample
from podpath_protect.plain import plain

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
PREFIX = "podpath_protect_"
LONGEST_LABEL = 1_000
"""Characters of a label's value that are kept: kinds are short, and each scrape is stored."""
_NAME = re.compile(r"[a-z_][a-z0-9_]*")


def render_metrics(samples: Iterable[Sample]) -> str:
    """Write samples in the text format of Prometheus, each family once with its help and type."""
    families: dict[str, list[Sample]] = {}
    for sample in samples:
        families.setdefault(sample.name, []).append(sample)
    lines: list[str] = []
    for name, members in families.items():
        if _NAME.fullmatch(name) is None:
            raise AssertionError(f"{name!r} is no name of a metric")
        full = name if name.startswith("process_") else f"{PREFIX}{name}"
        full += "_total" if members[0].kind == "counter" else ""
        if members[0].help:
            lines.append(f"# HELP {full} {_escape(members[0].help)}")
        lines.append(f"# TYPE {full} {members[0].kind}")
        lines += [
            f"{full}{member.ending}{_labels(member.labels)} {member.value:.17g}"
            for member in members
        ]
    return "".join(f"{line}\n" for line in lines)


def gather_samples(
    statuses: Mapping[str, KeeperStatus], own: Iterable[Sample] = ()
) -> tuple[Sample, ...]:
    """Join what the parts tell with what holds for all of them."""
    found = [Sample("build_info", 1, (("version", __version__),), help="The running version.")]
    found += [
        Sample(
            "part_ready",
            int(status.ready),
            (("part", name),),
            help="Whether what a part keeps holds.",
        )
        for name, status in statuses.items()
    ]
    found += [
        Sample(
            "part_degraded",
            int(status.degraded),
            (("part", name),),
            help="Whether a part holds and something is amiss.",
        )
        for name, status in statuses.items()
    ]
    for name, status in statuses.items():
        kinds = Counter((finding.check, finding.severity) for finding in status.findings)
        found += [
            Sample(
                "findings",
                count,
                (("part", name), ("check", check), ("severity", severity)),
                help="What is wrong, by kind.",
            )
            for (check, severity), count in sorted(kinds.items())
        ]
    for status in statuses.values():
        found += status.samples
    return (*found, *own, *process_samples())


def process_samples(proc: Path = Path("/proc/self")) -> tuple[Sample, ...]:
    """Return what this process costs, by the names that Prometheus' own libraries use."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    pages = int((proc / "statm").read_text(encoding="ascii").split()[1])
    return (
        Sample(
            "process_cpu_seconds",
            usage.ru_utime + usage.ru_stime,
            kind="counter",
            help="Processor time, without children.",
        ),
        Sample(
            "process_resident_memory_bytes",
            pages * os.sysconf("SC_PAGE_SIZE"),
            help="Memory in use.",
        ),
        Sample(
            "process_start_time_seconds",
            _read_start(proc),
            help="When the process began, in seconds since 1970.",
        ),
        Sample("process_open_fds", len(os.listdir(proc / "fd")), help="Open descriptors."),  # noqa: PTH208  # only counted
    )


def _read_start(proc: Path) -> float:
    """Return when this process began, in seconds since 1970: the machine's start by /proc/stat, and
    the ticks from there (fs/proc/array.c:do_task_stat v6.12, field 22).
    """
    own = (proc / "stat").read_text(encoding="ascii", errors="replace")
    ticks = int(own.rpartition(")")[2].split()[19])  # the name before it may hold anything
    stat = (proc.parent / "stat").read_text(encoding="ascii").splitlines()
    booted = next(int(line.split()[1]) for line in stat if line.startswith("btime "))
    return booted + ticks / os.sysconf("SC_CLK_TCK")


def _labels(labels: Labels) -> str:
    joined = ",".join(f'{name}="{_escape(value[:LONGEST_LABEL])}"' for name, value in labels)
    return f"{{{joined}}}" if joined else ""


def _escape(text: str) -> str:
    return plain(text.replace("\\", "\\\\").replace('"', '\\"'))
