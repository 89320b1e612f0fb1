"""`bridge link`, from text and from JSON."""

from __future__ import annotations

from podpath.evidence import recognition
from podpath.evidence.node_records import BridgePortRecord
from podpath.evidence.records import Reading
from tests.evidence.consoles import block, read, recorded, stated


def ports(reading: Reading) -> dict[str, BridgePortRecord]:
    """Return the ports of a reading by name."""
    return {
        record.port: record for record in reading.records if isinstance(record, BridgePortRecord)
    }


def test_text_and_json_give_the_same_records() -> None:
    """State, bridge and every option of `-d` come out alike."""
    assert [stated(record) for record in read(recorded("bridge-d-link")).records] == [
        stated(record) for record in read(recorded("bridge-d-j-link")).records
    ]


def test_ports_keep_their_options() -> None:
    """What decides where a frame goes is there."""
    found = ports(read(recorded("bridge-d-link")))

    assert ("cni0", "forwarding", "on", "off") == (
        found["veth1a"].bridge, found["veth1a"].state, found["veth1a"].details["hairpin"],
        found["veth1a"].details["isolated"],
    )  # fmt: skip
    assert {"priority": "32", "cost": "2"} == ports(read(recorded("bridge-link")))["veth2b"].details


def test_a_port_is_no_plain_device() -> None:
    """The line is like one of `ip link`, but for the state of the port."""
    found = recognition.recognise(
        block(
            "3: veth1@if2: <BROADCAST,UP,LOWER_UP> mtu 1500 master br0 state blocking priority 32 "
            "cost 2"
        )
    )

    assert found is not None
    assert "bridge link" == found.name


def test_options_below_another_line_are_a_gap() -> None:
    """They belong to the port right above only."""
    reading = read(
        block(
            "3: v1: <UP> mtu 1500 master br0 state forwarding priority 32 cost 2\nwhat?\n"
            "    hairpin on guard off"
        )
    )

    assert ({"priority": "32", "cost": "2"}, [2, 3]) == (
        ports(reading)["v1"].details,
        [gap.span.line for gap in reading.gaps],
    )
