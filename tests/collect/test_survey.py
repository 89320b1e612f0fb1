"""How namespaces hang together, by what the kernel says."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from podpath.collect.survey import held, survey
from tests.collect.machines import PREFIX, Machine, add_netns, ip


@pytest.mark.kernel("ip")
def test_pairs_are_right_where_indices_names_and_addresses_are_equal() -> None:
    """Each end's namespace is the one that the kernel has a number for, whatever else looks like
    it.
    """
    with Machine() as machine:
        names = [machine.wire, *machine.nodes]
        names += [f"{node}-{number}" for node in machine.nodes for number in range(2)]
        with held({name: f"/run/netns/{name}" for name in names}) as descriptors:
            found = survey(descriptors)
        pairs = {frozenset(((pair[0], pair[1]), (pair[2], pair[3]))) for pair in found.list_pairs()}
        expected = set()
        for place, node in enumerate(machine.nodes):
            expected.add(frozenset(((node, "eth0"), (machine.wire, f"port{place}"))))
            for number in range(2):
                ends = ((node, f"veth{number}"), (f"{node}-{number}", "eth0"))
                expected.add(frozenset(ends))
        assert pairs == expected


@pytest.mark.kernel("ip")
def test_a_namespace_that_is_not_surveyed_is_nobodys_other_end() -> None:
    """A number without a namespace stays one, though another namespace has a device of that index
    that points back.
    """
    with Machine() as machine:
        first, second = machine.nodes
        wanted = {"host": first, "stranger": f"{second}-0"}
        with held({name: f"/run/netns/{netns}" for name, netns in wanted.items()}) as descriptors:
            found = survey(descriptors)
        assert {device.ifindex for device in found.devices["host"]} >= {10}
        assert found.identifiers["host"] == {}
        assert list(found.list_edges()) == []
        assert list(found.list_pairs()) == []


@pytest.mark.kernel("ip")
def test_pairs_within_a_namespace_and_devices_of_other_kinds() -> None:
    """Both ends in one namespace are a pair; a macvlan says where it sits and is none."""
    with ExitStack() as stack:
        below, above = f"{PREFIX}-m", f"{PREFIX}-n"
        add_netns(stack, below)
        add_netns(stack, above)
        ip("link", "add", "x0", "type", "veth", "peer", "x1", netns=below)
        ip("link", "add", "mac0", "link", "x0", "netns", above, "type", "macvlan", netns=below)
        with held({name: f"/run/netns/{name}" for name in (below, above)}) as descriptors:
            found = survey(descriptors)
        assert list(found.list_pairs()) == [(below, "x0", below, "x1")]
        (edge,) = found.list_edges()
        assert (edge.netns, edge.device.name, edge.device.kind, edge.other) == (
            above,
            "mac0",
            "macvlan",
            below,
        )


@pytest.mark.kernel("ip")
def test_what_is_held_stays_and_what_is_gone_is_left_out(tmp_path: Path) -> None:
    """A namespace that loses its name while it is held can still be entered; one that is no
    namespace is told as gone.
    """
    name = f"{PREFIX}-h"
    ip("netns", "add", name)
    (tmp_path / "file").touch()
    paths = {"held": f"/run/netns/{name}", "gone": "/none", "file": str(tmp_path / "file")}
    with held(paths) as descriptors:
        ip("netns", "del", name)
        found = survey(descriptors)
        assert "gone" not in descriptors
        assert [device.name for device in found.devices["held"]] == ["lo"]
        assert tuple(found.gone) == ("file",)
