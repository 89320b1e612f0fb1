"""Files of cilium-bugtool and of cilium's sysdump, which holds a bugtool's folder for each node."""

from __future__ import annotations

import pytest

from podpath.evidence.layouts.cilium import BUGTOOL, SYSDUMP, mangle
from podpath.evidence.layouts.layout import BundleLayout, ReadAs
from podpath.evidence.layouts.table import NamedFile, find_bundles, place_file
from tests.evidence.layouts.placing import Told, told

STAMP = "20261122-101500"
PATHS = [
    (BUGTOOL, "cmd/ip--d--s-l.md", Told("ip -d -s l")),
    (BUGTOOL, "cmd/ip--4-route-show-table-2004.md", Told("ip -4 route show table 2004")),
    (BUGTOOL, "cmd/cilium-dbg-status---verbose.md", Told("status --verbose")),
    (BUGTOOL, "cmd/gops-stack.md", Told("", how=ReadAs.ASIDE)),
    (BUGTOOL, "cmd/dmesg---time-format=iso.md", Told("", how=ReadAs.LOG)),
    (SYSDUMP, f"k8s-services-{STAMP}.yaml", Told("kubectl get services --all-namespaces -o yaml")),
    (
        SYSDUMP,
        f"ciliumnetworkpolicies-{STAMP}.yaml",
        Told("kubectl get ciliumnetworkpolicies --all-namespaces -o yaml"),
    ),
    (SYSDUMP, f"logs-cilium-abcde-cilium-agent-{STAMP}.log", Told("", how=ReadAs.LOG)),
]


@pytest.mark.parametrize(("layout", "path", "expected"), PATHS)
def test_what_files_hold(layout: BundleLayout, path: str, expected: Told) -> None:
    """A file's name is its command, with spaces and slashes made dashes."""
    assert expected == told(layout, path)


def test_names_of_files() -> None:
    """Options keep their dashes."""
    assert "iptables-save--c" == mangle("iptables-save -c")


def test_each_agent_is_a_bundle_of_its_own() -> None:
    """The bugtools' folders in a sysdump are of the nodes that they name; objects are of none."""
    agents = [
        NamedFile(f"d/cilium-bugtool-{name}-{STAMP}/cmd/hostname.md", f"{name}\n".encode())
        for name in ("n1", "n2")
    ]
    objects = [
        NamedFile(f"d/k8s-{kind}-{STAMP}.yaml", b"kind: List\n") for kind in ("nodes", "pods")
    ]
    bundles = find_bundles([*agents, *objects])
    assert {"n1", "n2", None} == {bundle.host for bundle in bundles}
    found = place_file(bundles, f"d/cilium-bugtool-n2-{STAMP}/cmd/ip-a.md")
    assert found is not None
    assert found[1] is not None
    assert ("ip a", "n2") == (found[1].command, found[1].host)
    assert place_file(bundles, "elsewhere/notes.txt") is None
