"""A node of which single namespaces are read again: what that gives is what a reading of the whole
node gives.
"""

from __future__ import annotations

import json
import re
import tarfile
from dataclasses import fields, replace
from pathlib import Path

import pytest

from podpath.collect.netns_files import ASPECT_FILES, NetnsAspect
from podpath.datapath.walk.compiled import Engine
from podpath.library.reading import read
from podpath.library.watched_node import (
    NodeFrame,
    Renewed,
    WatchedNode,
    assemble_again,
    find_owners,
)
from podpath.node.node import Netns

DATA = Path(__file__).parents[1] / "data" / "cluster" / "vxlan"
NODES = ("node1", "node2")
TOLD = {
    NetnsAspect.RULES: {"netfilter", "nftables"},
    NetnsAspect.ROUTES: {"routes", "rules"},
    NetnsAspect.WHOLE: {each.name for each in fields(Netns)},
}


_FOLDER = re.compile(r"name='[^']*?(?=netns/|bundle)")

_SOURCE = re.compile(r"source=Source\([^)]*\)")


def unpack(node: str) -> dict[str, bytes]:
    """Return the files of a recorded node, without its logs."""
    with tarfile.open(DATA / f"{node}.tar.gz") as archive:
        members = [each for each in archive if each.isfile() and "logs/" not in each.name]
        opened = {each.name: archive.extractfile(each) for each in members}
        return {name: file.read() for name, file in opened.items() if file is not None}


def frame_of(files: dict[str, bytes]) -> NodeFrame:
    """Return what is kept of a node."""
    kept = {
        name: text
        for name, text in files.items()
        if not name.startswith("netns/") or name.endswith("/ip-link.json")
    }
    return NodeFrame({}, {}, kept)


def outputs_of(files: dict[str, bytes], name: str, aspect: NetnsAspect) -> dict[str, bytes]:
    """Return the outputs that tell an aspect of a namespace."""
    wanted = {f"netns/{name}/{file}" for file in ASPECT_FILES[aspect]}
    return {file: text for file, text in files.items() if file in wanted}


def spell(netns: Netns, name: str, aspect: NetnsAspect) -> str:
    """Spell a field; sources have the bundle's name before their own. Of a device that two outputs
    list alike, either may be quoted.
    """
    said = _FOLDER.sub("name='", repr(getattr(netns, name)))
    return _SOURCE.sub("", said) if aspect is NetnsAspect.WHOLE else said


@pytest.mark.parametrize("node", NODES)
@pytest.mark.parametrize("aspect", NetnsAspect)
def test_a_namespace_by_itself_is_what_it_is_in_the_node(node: str, aspect: NetnsAspect) -> None:
    """Every fact that the aspect's outputs tell, with its line, of every namespace."""
    whole, files = read(DATA / f"{node}.tar.gz").node, unpack(node)
    assert len(whole.namespaces) > 2
    for name, before in whole.namespaces.items():
        wanted = {name: aspect}
        found = assemble_again(frame_of(files), wanted, outputs_of(files, name, aspect))
        assert found is not None
        ((told, again),) = found.values()
        assert told is aspect
        for field in TOLD[aspect]:
            assert spell(again, field, aspect) == spell(before, field, aspect), (name, field)


def test_other_devices_need_the_whole_node() -> None:
    """Whose peer a new one is, or one with another index, the namespace alone does not say."""
    files = unpack("node1")
    listed = json.loads(files["netns/host/ip-link.json"])
    outputs = outputs_of(files, "host", NetnsAspect.WHOLE)
    for changed in (listed[:-1], [{**listed[0], "ifindex": 99}, *listed[1:]]):
        outputs["netns/host/ip-link.json"] = json.dumps(changed).encode()
        assert assemble_again(frame_of(files), {"host": NetnsAspect.WHOLE}, outputs) is None
    outputs["netns/host/ip-link.json"] = json.dumps(
        [{**listed[0], "mtu": 99}, *listed[1:]]
    ).encode()
    assert assemble_again(frame_of(files), {"host": NetnsAspect.WHOLE}, outputs) is not None


def test_what_was_not_read_again_stays() -> None:
    """Of the namespace all that the aspect does not tell, and what was compiled of the others."""
    node = read(DATA / "node1.tar.gz").node
    engine = Engine(node)
    engine.rulesets |= {("host", 4): "old", ("web-node1", 4): "kept"}
    engine.tracked |= {"host": "kept"}
    watched = WatchedNode(engine=engine, netns={}, owners=find_owners(node))
    emptied = replace(node.namespaces["host"], netfilter={}, sysctls={})
    renewed: Renewed = {"host": (NetnsAspect.RULES, emptied)}
    found = watched.renew(renewed).engine

    assert found.node.host.netfilter == {}
    assert found.node.host.sysctls == node.host.sysctls
    assert found.node.namespaces["web-node1"] is node.namespaces["web-node1"]
    assert found.rulesets["web-node1", 4] == "kept"
    assert found.rulesets["host", 4] != "old"
    assert found.tracked["host"] == "kept"
