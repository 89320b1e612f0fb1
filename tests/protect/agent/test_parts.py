"""Each part is made from its own section, so that a change begins anew just the parts that it is
about.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from podpath_protect.agent.config import AgentConfig, KubernetesOptions, load_config
from podpath_protect.agent.keeper import KeeperStatus
from podpath_protect.agent.parts import (
    NEEDED,
    AgentContext,
    describe_lacks,
    list_recipes,
    make_keeper,
    unhealthy_chain,
)
from podpath_protect.drops.feed import DropBoard
from podpath_protect.order.options import OrderOptions
from podpath_protect.sysctl.options import SysctlOptions

WHOLE = "[kubernetes]\n[sysctl]\n[order]\n[chain]\ntype = 'x'\n[repair]\n[reflect]\n"


def test_a_change_is_about_its_part_alone() -> None:
    """Another poll of the sysctls changes nothing of the order; a dry run is about all."""
    config = AgentConfig(
        sysctl=SysctlOptions(), order=OrderOptions(), kubernetes=KubernetesOptions()
    )
    before = list_recipes(config, {"NODE_NAME": "n"})
    other = list_recipes(replace(config, sysctl=SysctlOptions(poll=5.0)), {"NODE_NAME": "n"})
    dry = list_recipes(replace(config, dry_run=True), {"NODE_NAME": "n"})

    assert list(before) == ["node", "sysctl", "order"]
    assert [name for name in before if before[name] != other[name]] == ["sysctl"]
    assert all(before[name] != dry[name] for name in before)


def test_every_part_can_be_made(tmp_path: Path) -> None:
    """Whatever the configuration names becomes a keeper; nothing runs yet."""
    path = tmp_path / "agent.toml"
    path.write_text(WHOLE, encoding="utf-8")
    config, _ = load_config(path)
    surroundings = AgentContext(environment={"NODE_NAME": "n"}, statuses=dict, drops=DropBoard())

    made = [
        make_keeper(name, config, surroundings) for name in list_recipes(config, {"NODE_NAME": "n"})
    ]
    assert [keeper.name for keeper in made] == [
        "node",
        "sysctl",
        "order",
        "chain",
        "repair",
        "reflect",
    ]
    assert not any(keeper.alive() for keeper in made)


def test_repair_asks_whether_the_chain_is_well() -> None:
    """No chain kept here is no obstacle; one that is not ready is, with its reason."""
    assert unhealthy_chain({}) == ""
    assert unhealthy_chain({"chain": KeeperStatus(ready=True, why="a rival writes")}) == ""
    assert unhealthy_chain({"chain": KeeperStatus(ready=False, why="no network")}) == "no network"


def test_each_part_says_what_it_lacks() -> None:
    """With every capability nothing is lacking, without any each part that needs one says so."""
    assert (
        describe_lacks(
            tuple(NEEDED), frozenset(name for needed in NEEDED.values() for name in needed)
        )
        == {}
    )
    assert describe_lacks(("sysctl", "chain"), frozenset()) == {
        "sysctl": ("CAP_NET_ADMIN is missing: writing sysctls of the network",)
    }
