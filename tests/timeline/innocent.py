"""Logs of a busy node on which nothing breaks: twenty kinds, each in its program's own words.

`python -m tests.timeline.innocent [LINES]` makes 100,000 lines of each (unless said otherwise),
asks about them alone and together, at several moments, and says what is claimed: nothing should be.
It exits with 1 where something is.
"""

from __future__ import annotations

import json
import random
import string
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from podpath.net.provenance import Source
from podpath.timeline.build import ToldFailure, build_chronicle
from podpath.timeline.chain_files import load_chains
from podpath.timeline.chronicle import SURE, Chronicle
from podpath.timeline.clock import Clock
from podpath.timeline.reading import read_logs

START = datetime(2025, 3, 12, tzinfo=UTC)
DAY = timedelta(days=1)
LINES = 100_000
Stamp = Callable[[datetime, random.Random], str]


class Kind(NamedTuple):
    """A kind of log."""

    name: str
    """The file's name."""
    stamp: Stamp
    section: str = ""
    """Where `innocent.txt` has what it says; empty where the stamp's maker says all."""


def klog(now: datetime, rng: random.Random) -> str:
    """Start a line as klog does."""
    return f"{rng.choice('IIIIIIW')}{now:%m%d %H:%M:%S.%f} {rng.randrange(1, 9000):7} "


def syslog(program: str) -> Stamp:
    """Start a line as syslog does, behind it the program."""
    return lambda now, rng: (
        f"{now:%b} {now.day:2} {now:%H:%M:%S} node-7 {program}[{rng.randrange(300, 9000)}]: "
    )


def bare_syslog(now: datetime, _: random.Random) -> str:
    """Start a line as syslog does; its program is the message's."""
    return f"{now:%b} {now.day:2} {now:%H:%M:%S} node-7 "


def logrus(now: datetime, _: random.Random) -> str:
    """Start a line as logrus does."""
    return f'time="{now:%Y-%m-%dT%H:%M:%S}.{now.microsecond:06}321Z" '


def ring(now: datetime, _: random.Random) -> str:
    """Start a line as `dmesg -T` does."""
    return f"[{now:%a %b} {now.day:2} {now:%H:%M:%S %Y}] "


def etcd(now: datetime, rng: random.Random) -> str:
    """Make a line as etcd does."""
    level, caller, message, rest = rng.choice(
        (
            ("info", "mvcc/index.go:214", "compact tree index", {"revision": rng.randrange(10**6)}),
            ("info", "mvcc/kvstore_compaction.go:66", "finished scheduled compaction",
             {"compact-revision": rng.randrange(10**6), "took": f"{rng.randrange(90)}.1ms"}),
            ("warn", "etcdserver/util.go:170", "apply request took too long",
             {"took": f"{rng.randrange(100, 400)}.4ms", "expected-duration": "100ms",
              "prefix": "read-only range ", "request": 'key:"/registry/health" ',
              "response": "range_response_count:0 size:8"}),
            ("info", "traceutil/trace.go:171", "trace[1203413] transaction",
             {"detail": "{read_only:false; response_revision:9; }", "duration": "101.8ms",
              "start": f"{now:%Y-%m-%dT%H:%M:%S}.000Z", "steps": ["'process raft request'"]}),
            ("info", "etcdserver/server.go:1395", "triggering snapshot",
             {"local-member-id": "8e9e05c52164694d", "local-member-applied-index": 100001}),
            ("info", "etcdserver/server.go:2491", "saved snapshot", {"snapshot-index": 100001}),
            ("info", "fileutil/purge.go:85", "purged", {"path": "/var/lib/etcd/snap/0.snap"}),
            ("info", "wal/wal.go:785", "created a new WAL segment", {"path": "0000.wal"}),
        )
    )  # fmt: skip
    stamp = f"{now:%Y-%m-%dT%H:%M:%S}.{now.microsecond // 1000:03}Z"
    return json.dumps({"level": level, "ts": stamp, "caller": caller, "msg": message, **rest})


def _nothing(now: datetime, rng: random.Random) -> str:
    del now, rng
    return ""


def cri(now: datetime, _: random.Random) -> str:
    """Start a line as the kubelet stores containers' output."""
    return f"{now:%Y-%m-%dT%H:%M:%S}.{now.microsecond:06}321Z stdout F "


def network_manager(now: datetime, _: random.Random) -> str:
    """Start a line as NetworkManager does in the journal."""
    return (
        f"{now:%b} {now.day:2} {now:%H:%M:%S} node-7 NetworkManager[812]: <info>  "
        f"[{now.timestamp():.4f}] "
    )


def zulu(now: datetime, _: random.Random) -> str:
    """Start a line with ISO 8601 alone."""
    return f"{now:%Y-%m-%dT%H:%M:%S}.{now.microsecond // 1000:03}Z"


def metallb(now: datetime, rng: random.Random) -> str:
    """Start an object as MetalLB's speaker does; its keys are sorted."""
    return f'{{"ts":"{now:%Y-%m-%dT%H:%M:%S}Z","branch":"v0.14.{rng.randrange(9)}",'


KINDS: tuple[Kind, ...] = (
    Kind("kubelet.log", klog, "kubelet"),
    Kind("containerd.log", logrus, "containerd"),
    Kind("kube-proxy.log", klog, "kube-proxy"),
    Kind("coredns-5dd5756b68-x7k2p_kube-system_coredns-" + 64 * "a" + ".log", cri, "coredns"),
    Kind("etcd.log", etcd),
    Kind("messages", bare_syslog, "system"),
    Kind("dmesg.txt", ring, "kernel"),
    Kind("ingress-nginx.log", _nothing, "ingress"),
    Kind("calico-node.log", lambda now, _: f"{now:%Y-%m-%d %H:%M:%S}.{now.microsecond // 1000:03} ",
         "felix"),
    Kind("cilium-agent.log", logrus, "cilium"),
    Kind("NetworkManager.log", network_manager, "networkmanager"),
    Kind("kube-apiserver.log", klog, "apiserver"),
    Kind("kube-controller-manager.log", klog, "controller-manager"),
    Kind("crio.log", logrus, "crio"),
    Kind("istiod.log", _nothing, "istio"),
    Kind("audit.log", _nothing, "audit"),
    Kind("ovs-vswitchd.log", zulu, "openvswitch"),
    Kind("haproxy.log", bare_syslog, "loadbalancer"),
    Kind("metallb-speaker.log", metallb, "metallb"),
    Kind("auth.log", bare_syslog, "security"),
)  # fmt: skip


def _read_messages() -> dict[str, tuple[str, ...]]:
    text = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")
    sections = (part.partition("\n") for part in text.split("== ")[1:])
    return {name: tuple(body.strip("\n").split("\n")) for name, _, body in sections}


MESSAGES = {"": ("",), **_read_messages()}


def make_log(kind: Kind, lines: int, span: timedelta = DAY) -> Source:
    """Make a log of that many lines, as they would stand in such a span of time."""
    rng = random.Random(f"{lines} {kind.name}")
    return Source(name=kind.name, lines=tuple(_make_lines(kind, lines, span, rng)))


def _make_lines(kind: Kind, lines: int, span: timedelta, rng: random.Random) -> Iterator[str]:
    messages = MESSAGES[kind.section]
    half = max(len(messages) // 2, 1)
    now = START
    for _ in range(lines):
        now += span * rng.expovariate(lines)
        often = rng.random() < 0.75
        message = rng.choice(messages[:half] if often else messages)
        text = kind.stamp(now, rng)
        yield text + message.format(
            **_draw(rng),
            stamp=f"{now:%d/%b/%Y:%H:%M:%S +0000}",
            stamp2=zulu(now, rng),
            epoch=int(now.timestamp()),
        )


def _draw(rng: random.Random) -> dict[str, str | int]:
    """Draw what stands in the messages' gaps."""
    hexes = f"{rng.getrandbits(256):064x}"
    svc = rng.choice(("cart", "search", "pay", "mail", "stock"))
    return {
        "ns": rng.choice(("shop", "billing", "monitoring", "kube-system")),
        "svc": svc,
        "pod": f"{svc}-{hexes[:9]}-{''.join(rng.choices('bcdfghjklmnpqrstvwxz', k=5))}",
        "uid": f"{hexes[:8]}-{hexes[8:12]}-{hexes[12:16]}-{hexes[16:20]}-{hexes[20:32]}",
        "cid": hexes,
        "ip": f"10.244.{rng.randrange(256)}.{rng.randrange(1, 255)}",
        "dev": rng.choice(("veth", "cali", "lxc")) + hexes[:8],
        "n": rng.randrange(10, 60_000),
        "port": rng.randrange(32_768, 60_999),
        "s": rng.randrange(1, 60),
        "ms": f"{rng.randrange(1000):03}",
        "x": "".join(rng.choices(string.ascii_lowercase, k=5)),
    }


MOMENTS = tuple(START + timedelta(hours=hours, minutes=13) for hours in (3, 9, 14, 20))
"""When a user might say that it failed."""
CLOCK = Clock(now=(START + 2 * DAY).timestamp())


def judge(
    sources: Sequence[Source], moments: Sequence[datetime] = MOMENTS
) -> Iterator[tuple[str, Chronicle]]:
    """Ask of these logs what broke: at no moment, and at some that have nothing to do with them."""
    logs = read_logs(sources, CLOCK)
    chains = load_chains()
    yield "no moment", build_chronicle(logs, chains)
    for moment in moments:
        for told in (
            ToldFailure(failed_at=moment.timestamp()),
            ToldFailure(failed_at=moment.timestamp(), timeout=10, last_ok=moment.timestamp() - 120),
        ):
            yield f"{moment:%H:%M}", build_chronicle(logs, chains, told)


def claims(chronicle: Chronicle) -> tuple[str, ...]:
    """Return what is claimed: every chain, and each suspect that is more than shown."""
    return (
        *(f"chain {story.chain.name} {story.score}" for story in chronicle.stories),
        *(
            f"suspect {suspect.mark.words} {suspect.score}: {suspect.event.span.text}"
            for suspect in chronicle.suspects
            if suspect.score >= SURE
        ),
    )


def main() -> int:
    """Judge all kinds, alone and together."""
    lines = int(sys.argv[1]) if len(sys.argv) > 1 else LINES
    made = [make_log(kind, lines) for kind in KINDS]
    wrong = 0
    for sources in (*([source] for source in made), made):
        began = time.process_time()
        found = [(when, claim) for when, one in judge(sources) for claim in claims(one)]
        wrong += len(found)
        name = sources[0].name if len(sources) == 1 else "all together"
        spent = time.process_time() - began
        sys.stdout.write(f"{name}: {len(found)} claims, {spent:.1f} s\n")
        sys.stdout.writelines(f"  {when}: {claim[:200]}\n" for when, claim in found[:10])
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
