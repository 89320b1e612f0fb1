"""`nmcli device` and `networkctl`."""

from __future__ import annotations

from podpath.evidence.records import StatementRecord
from podpath.net.statements import ManagedDevice
from tests.evidence.consoles import block, read


def managed(text: str) -> list[ManagedDevice]:
    """Return the devices of a block without gaps."""
    reading = read(block(text))
    assert not reading.gaps
    found = [one.statement for one in reading.records if isinstance(one, StatementRecord)]
    return [one for one in found if isinstance(one, ManagedDevice)]


def test_networkmanager_says_what_it_took() -> None:
    """A state may have a remark in brackets; no profile is `--`."""
    found = managed("""
DEVICE     TYPE      STATE                   CONNECTION
eth0       ethernet  connected               System eth0
docker0    bridge    connected (externally)  docker0
lo         loopback  unmanaged               --
""")
    assert [
        ("connected", "System eth0"),
        ("connected (externally)", "docker0"),
        ("unmanaged", ""),
    ] == [(one.state, one.profile) for one in found]


def test_networkd_says_how_far_it_is() -> None:
    """The state is that of the setup."""
    found = managed("""
IDX LINK  TYPE     OPERATIONAL SETUP
  1 lo    loopback carrier     unmanaged
  2 cali1 ether    degraded    configuring

2 links listed.
""")
    assert [("lo", "unmanaged"), ("cali1", "configuring")] == [
        (one.link, one.state) for one in found
    ]


def test_the_overview_of_nmcli_names_states_and_profiles() -> None:
    """Below each device stand its details, which state nothing here."""
    source = block(
        "eth0: connected to System eth0\n"
        '        "Red Hat Virtio"\n'
        "        ethernet (virtio_net), 52:54:00:12:34:56, hw, mtu 1500\n"
        "\n"
        "cali1a2b3c: connecting (getting IP configuration) to Wired connection 3\n"
        "docker0: connected (externally) to docker0\n"
        "lo: unmanaged\n",
        "nmcli",
    )
    reading = read(source)
    found = [one.statement for one in reading.records if isinstance(one, StatementRecord)]

    assert () == reading.gaps
    assert [
        ("eth0", "connected", "System eth0"),
        ("cali1a2b3c", "connecting (getting IP configuration)", "Wired connection 3"),
        ("docker0", "connected (externally)", "docker0"),
        ("lo", "unmanaged", ""),
    ] == [(one.link, one.state, one.profile) for one in found if isinstance(one, ManagedDevice)]
