"""A small fleet: bundles of one pool, one node of which differs, and a run over them."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.made_fleet import draw_node, pack, set_sysctl
from podpath_fleet.bundle_row import read_bundle
from podpath_fleet.paths import list_bundles
from podpath_fleet.store import open_journal, write_tables
from tests.fleet.made import BROKEN, NODES


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make bundles of one pool in a folder: one node differs, and one bundle is none."""
    folder = tmp_path_factory.mktemp("bundles")
    for number in range(0, 3 * NODES, 3):
        node = draw_node(number, 2)
        if number == 3 * BROKEN:
            set_sysctl("net.ipv4.conf.all.rp_filter", "1")(node)
        (folder / f"{node['name']}.tar.gz").write_bytes(pack(node))
    (folder / "broken.tar.gz").write_bytes(b"\x1f\x8b not an archive")
    return folder


@pytest.fixture(scope="module")
def out(bundles: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run over them in this process, and return the run's folder."""
    folder = tmp_path_factory.mktemp("out")
    with open_journal(str(folder)) as journal:
        for bundle in list_bundles([str(bundles)]):
            journal.write(read_bundle(*bundle))
    write_tables(str(folder))
    return folder
