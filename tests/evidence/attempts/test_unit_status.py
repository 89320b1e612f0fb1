"""`systemctl status`."""

from __future__ import annotations

from podpath.evidence.attempts.unit_status import FORMAT
from podpath.evidence.formats import CERTAIN
from podpath.evidence.recognition import recognise
from podpath.evidence.records import AttemptRecord, StatementRecord
from podpath.net.statements import UnitState
from tests.evidence.consoles import block, read

STATUS = """\
● etcd.service - etcd key-value store
     Loaded: loaded (/lib/systemd/system/etcd.service; disabled; vendor preset: enabled)
    Drop-In: /etc/systemd/system/etcd.service.d
             └─10-local.conf
     Active: activating (auto-restart) (Result: exit-code) since Tue 2021-06-01 23:05:15 CST; 2s ago
       Docs: https://github.com/etcd-io/etcd
    Process: 15941 ExecStart=/usr/bin/etcd $ARGS (code=exited, status=1/FAILURE)
   Main PID: 15941 (code=exited, status=1/FAILURE)
      Tasks: 12 (limit: 4915)
     CGroup: /system.slice/etcd.service
             ├─15941 /usr/bin/etcd --name a
             └─15942 helper

Jun 01 23:05:15 node1 etcd[15941]: dial tcp 10.0.0.7:2380: connect: connection refused
Jun 01 23:05:15 node1 etcd[15941]: something that nobody knows
"""


def units(text: str) -> list[UnitState]:
    """Return the units of a block."""
    found = [one.statement for one in read(block(text)).records if isinstance(one, StatementRecord)]
    return [one for one in found if isinstance(one, UnitState)]


def test_a_block_says_whether_the_unit_runs() -> None:
    """Its names, its state, and whether it starts at boot."""
    (unit,) = units(STATUS)

    assert ("etcd.service", "etcd key-value store") == (unit.unit, unit.title)
    assert ("activating", "auto-restart") == (unit.active, unit.detail)
    assert ("loaded", "disabled", False) == (unit.loaded, unit.enabled, unit.once)


def test_its_log_is_read_as_a_log() -> None:
    """A connection that failed is an attempt; a line that nobody knows is a gap."""
    reading = read(block(STATUS))

    assert ["10.0.0.7"] == [
        str(one.dst) for one in reading.records if isinstance(one, AttemptRecord)
    ]
    assert ["something that nobody knows" in gap.span.text for gap in reading.gaps] == [True]


def test_several_units_and_old_signs() -> None:
    """Older versions print a star or nothing before the name, in any state."""
    text = """\
* a.service - A
   Loaded: loaded (/lib/a.service; enabled)
   Active: inactive (dead)
     Process: 1 ExecStart=/bin/a (code=exited, status=0/SUCCESS)
b.service - LSB: B
   Loaded: masked (Reason: Unit b.service is masked.)
   Active: inactive (dead)
Unit c.service could not be found.
"""
    assert [
        ("a.service", "inactive", True),
        ("b.service", "inactive", False),
        ("c.service", "inactive", False),
    ] == [(one.unit, one.active, one.once) for one in units(text)]


def test_a_name_may_stand_in_the_command_alone() -> None:
    """A block whose first line was not copied belongs to the unit that was asked for."""
    source = block("   Loaded: loaded (/lib/x; enabled)\n   Active: failed", "systemctl status x")
    found = [one.statement for one in read(source).records if isinstance(one, StatementRecord)]

    assert ["x.service"] == [one.unit for one in found if isinstance(one, UnitState)]


def test_a_document_with_such_a_block_is_no_status() -> None:
    """Words above it make it less sure; the block alone is recognized for certain."""
    assert CERTAIN == FORMAT.recognise(block(STATUS))
    assert CERTAIN > FORMAT.recognise(block(f"All of this happens at night.\n\n{STATUS}"))
    assert recognise(block(STATUS)) is FORMAT
