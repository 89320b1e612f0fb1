"""A bundle of live namespaces: one file for each command, named after it (docs/contract.md lays it
out).
"""

from __future__ import annotations

import json
import platform
import shutil
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from examples.record.machine import Netns
from podpath.collect.netns_files import NETNS_FILES

STAND_INS = ("nft.json", "nft.txt")
"""Left out: they would show the chains that stand in for BPF programs."""


def collect_bundle(
    folder: Path, node: Netns, name: str, pods: Mapping[str, Netns], files: Mapping[str, str]
) -> None:
    """Write the bundle of a node and its pods (by `namespace/name`), and node-wide `files` as they
    are; captures stay.
    """
    if (folder / "netns").exists():
        shutil.rmtree(folder / "netns")
    folder.mkdir(parents=True, exist_ok=True)
    namespaces: dict[str, dict[str, str]] = {"host": {"role": "host"}}
    collect_netns(folder / "netns" / "host", node)
    for pod, netns in pods.items():
        namespaces[netns.name] = {"role": "pod", "pod": pod}
        collect_netns(folder / "netns" / netns.name, netns)
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    about = {
        "format": "podpath/bundle/v1",
        "node": name,
        "kernel": platform.release(),
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "netns": namespaces,
        "veth": veth_peers(folder, sorted(netns.name for netns in pods.values())),
    }
    (folder / "bundle.json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")


def collect_netns(folder: Path, netns: Netns) -> None:
    """Ask one namespace everything."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in NETNS_FILES:
        if file.name in STAND_INS:
            continue
        done = subprocess.run(
            [*netns.enter, *file.arguments], capture_output=True, text=True, check=False
        )
        text = done.stdout
        if done.returncode != 0:
            continue
        if file.name.endswith(".json"):
            parsed = json.loads(text or "[]")
            if not parsed:
                continue
            text = json_lines(parsed)
        if text.strip():
            (folder / file.name).write_text(text, encoding="utf-8")


def json_lines(parsed: object) -> str:
    """Spell a JSON array with one element a line, so that a quoted line is one fact."""
    if not isinstance(parsed, list):
        return json.dumps(parsed, indent=1) + "\n"
    elements = ",\n".join(json.dumps(element, separators=(",", ":")) for element in parsed)
    return f"[{elements}]\n"


def veth_peers(folder: Path, pods: list[str]) -> list[dict[str, str]]:
    """Give the veth pairs between the node and its pods: both `ip link` outputs show the index of
    the other end.
    """
    devices = {link["ifindex"]: link["ifname"] for link in read_links(folder / "netns" / "host")}
    return [
        {
            "netns": "host",
            "link": devices[link["link_index"]],
            "peer_netns": pod,
            "peer": link["ifname"],
        }
        for pod in pods
        for link in read_links(folder / "netns" / pod)
        if "link_netnsid" in link
    ]


def read_links(netns: Path) -> list[dict[str, Any]]:
    """Read what `ip link` printed in a namespace."""
    links: list[dict[str, Any]] = json.loads((netns / "ip-link.json").read_text(encoding="utf-8"))
    return links
