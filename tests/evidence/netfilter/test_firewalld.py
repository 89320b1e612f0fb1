"""`firewall-cmd --list-all`."""

from __future__ import annotations

from podpath.evidence.records import StatementRecord
from podpath.net.firewall import ZoneSetting
from tests.evidence.consoles import block, read


def stated(text: str, command: str | None = None) -> list[object]:
    """Return what a block states; nothing of it is left over."""
    reading = read(block(text, command))
    assert not reading.gaps
    return [record.statement for record in reading.records if isinstance(record, StatementRecord)]


def test_each_setting_has_its_zone() -> None:
    """Empty settings are settings too; rich rules stand below theirs."""
    text = """
public (default, active)
  target: default
  interfaces: eth0 cni0
  services: ssh
  masquerade: no
  rich rules:
\trule family="ipv4" source address="10.0.0.0/8" accept
"""
    assert stated(text)[:4] == [
        ZoneSetting("public", "target", ("default",)),
        ZoneSetting("public", "interfaces", ("eth0", "cni0")),
        ZoneSetting("public", "services", ("ssh",)),
        ZoneSetting("public", "masquerade", ("no",)),
    ]
    assert stated(text)[-1] == ZoneSetting(
        "public", "rich rules", ('rule family="ipv4" source address="10.0.0.0/8" accept',)
    )


def test_active_zones_have_devices_alone() -> None:
    """Two keys are enough behind their command, and are nothing without it."""
    text = "docker\n  interfaces: docker0\npublic\n  interfaces: ens18\n  sources: 10.0.0.0/8"

    assert stated(text, "firewall-cmd --get-active-zones") == [
        ZoneSetting("docker", "interfaces", ("docker0",)),
        ZoneSetting("public", "interfaces", ("ens18",)),
        ZoneSetting("public", "sources", ("10.0.0.0/8",)),
    ]
