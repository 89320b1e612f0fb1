"""Files of troubleshoot.sh's support bundles, and the JSON of its host collectors."""

from __future__ import annotations

import pytest

from podpath.evidence.layouts.layout import ReadAs
from podpath.evidence.layouts.table import NamedFile, find_bundles
from podpath.evidence.layouts.troubleshoot import (
    LAYOUT,
    spell_interfaces,
    spell_modules,
    spell_sysctls,
)
from tests.evidence.layouts.placing import Told, told

PATHS = [
    ("cluster-resources/pods/shop.json", Told("kubectl -n shop get pods -o json")),
    ("cluster-resources/nodes.json", Told("kubectl get nodes -o json")),
    ("host-collectors/node-2/system/sysctl.json", Told("", None, "node-2")),
    ("host-collectors/system/sysctl.json", Told("")),
    ("host-collectors/run-host/iptables.txt", Told("", how=ReadAs.SNIFFED)),
    ("host-collectors/system/cpu.json", Told("", how=ReadAs.ASIDE)),
    ("sysctl/node-1", Told("sysctl -a", None, "node-1")),
    ("cluster-resources/pods/logs/shop/web-0/c.log", Told("", how=ReadAs.LOG)),
]


@pytest.mark.parametrize(("path", "expected"), PATHS)
def test_what_files_hold(path: str, expected: Told) -> None:
    """A file's path says its command and its host."""
    assert expected == told(LAYOUT, path)


def test_recognition() -> None:
    """Objects or host collectors make such a bundle."""
    found = find_bundles(
        [NamedFile("sb/cluster-resources/nodes.json", b"{}"), NamedFile("sb/version.yaml", b"")]
    )
    assert [(LAYOUT, "sb/")] == [(bundle.layout, bundle.root) for bundle in found]
    assert () == find_bundles([NamedFile("sb/version.yaml", b"")])


def test_host_collectors() -> None:
    """Sysctls, modules that are loaded, and devices are said as the tools print them."""
    (sysctls,) = spell_sysctls('{"net.ipv4.ip_forward": "0", "kernel.x": ""}')
    assert ("net.ipv4.ip_forward = 0",) == sysctls.lines
    (modules,) = spell_modules(
        '{"br_netfilter": {"status": "loaded", "size": 32768, "instances": 0}, "ip_vs": {"status": '
        '"loadable"}}'
    )
    assert ["br_netfilter"] == [line.split()[0] for line in modules.lines[1:]]
    (links,) = spell_interfaces(
        '[{"Index": 2, "MTU": 1500, "Name": "eth0", "HardwareAddr": "AgAK9AEF", "Flags": 51}]'
    )
    assert '"address": "02:00:0a:f4:01:05"' in links.lines[1]
    assert [] == [*spell_interfaces("{")]
