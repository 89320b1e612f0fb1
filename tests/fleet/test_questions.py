"""What a run's tables tell: who differs, what became of the bundles, what changed since."""

from __future__ import annotations

from pathlib import Path

from bench.made_fleet import (
    FAULTS,
    PlantedCheck,
    check_planted,
    draw_node,
    pack,
    write_fleet,
)
from podpath_fleet.bundle_row import REFUSED, read_bundle
from podpath_fleet.fleet_report import list_changes, render_text
from podpath_fleet.paths import list_bundles
from podpath_fleet.questions import FleetTables
from podpath_fleet.store import open_journal, write_tables
from tests.fleet.made import BROKEN, NODES


def test_the_node_that_differs_is_named_and_no_other(out: Path) -> None:
    """Five of six nodes agree; the sixth has another value of one sysctl."""
    (outlier,) = FleetTables(str(out)).list_outliers()

    assert (outlier.pool, outlier.fact) == ("web", "sysctl net.ipv4.conf.all.rp_filter")
    assert (outlier.value, outlier.usual, outlier.nodes, outlier.of) == ("1", "0", 1, NODES)
    assert outlier.names == f"web-{3 * BROKEN:05d}"


def test_each_kind_of_planted_fault_is_named(tmp_path: Path) -> None:
    """Of twenty kinds, each on one node of sixty, every one by its fact, and no node without one:
    the sample of the runs of `docs/fleet.md`.
    """
    made, out = tmp_path / "made", str(tmp_path / "out")
    write_fleet(made, 60, 2, share=len(FAULTS) / 60)
    with open_journal(out) as journal:
        for bundle in list_bundles([str(made)]):
            journal.write(read_bundle(*bundle))
    write_tables(out)

    assert PlantedCheck(len(FAULTS), (), ()) == check_planted(made, out)


def test_a_bundle_that_is_none_is_a_row_with_the_reason(out: Path) -> None:
    """What cannot be read is told of beside what was."""
    states = {row.state: row for row in FleetTables(str(out)).count_states()}

    assert sum(row.bundles for row in states.values()) >= 2
    assert states[REFUSED].bundles == 1
    assert "broken.tar.gz" in states[REFUSED].why


def test_two_runs_are_compared(out: Path, bundles: Path, tmp_path: Path) -> None:
    """A node that was set right since is told of, with both values."""
    with open_journal(str(tmp_path)) as journal:
        node = draw_node(3 * BROKEN, 2)
        fixed = tmp_path / "fixed.tar.gz"
        fixed.write_bytes(pack(node))
        for bundle in list_bundles([str(bundles)]):
            path = str(fixed) if node["name"] in bundle.path else bundle.path
            journal.write(read_bundle(path, bundle.identity))
    write_tables(str(tmp_path))
    changes = FleetTables(str(tmp_path), str(out)).list_changes()

    assert [(one.node, one.before, one.after) for one in changes if "rp_filter" in one.what] == [
        (node["name"], "1", "0")
    ]
    assert node["name"] in render_text(list_changes(FleetTables(str(tmp_path), str(out))))
