"""A manager with a plugin's device."""

from __future__ import annotations

import pytest

from podpath.checks.ground import Ground
from podpath.checks.host.managed_by_host import NAME, check
from podpath.diagnosis.diagnose import diagnose
from podpath.library.given import Pasted
from podpath.library.reading import read_together
from tests.assembly.evidence_text import case_of_document
from tests.checks.pasted import ticket_of

FAULT = """\
```
$ nmcli device
DEVICE     TYPE      STATE                   CONNECTION
eth0       ethernet  connected               System eth0
cali12345  ethernet  connected               cali12345
```
"""
ALMOST = """\
```
$ nmcli device
DEVICE     TYPE      STATE                   CONNECTION
eth0       ethernet  connected               System eth0
cni0       bridge    connected (externally)  cni0
```
"""
HEALTHY = """\
```
$ nmcli device
DEVICE     TYPE      STATE                   CONNECTION
eth0       ethernet  connected               System eth0
cali12345  ethernet  unmanaged               --
```
"""


def test_the_fault_is_told_with_its_line() -> None:
    """The deciding line is quoted first, and it is possible."""
    found = next(check(case_of_document(FAULT)))

    assert "cali12345" in found.evidence[0].text
    assert 0.5 == found.certainty
    assert "NetworkManager" in str(found.claim)


@pytest.mark.parametrize("ticket", [ALMOST, HEALTHY])
def test_what_only_looks_like_it_is_let_be(ticket: str) -> None:
    """What it only watches, and what it leaves alone."""
    assert [] == list(check(case_of_document(ticket)))


TAKEN = "Jan 07 10:00:01 n1 dhcpcd[611]: vethd1f20aa: adding route to 169.254.0.0/16"
DEFAULT = "Jan 07 10:00:01 n1 dhcpcd[611]: vethd1f20aa: adding default route"
STARTS = " It begins whenever a container is started."


@pytest.mark.parametrize(
    ("line", "prose", "certainty"),
    [
        (TAKEN, "Containers cannot reach the Internet any more.", 1.0),
        (TAKEN, "A container cannot connect to the database on 10.9.8.7 port 5432.", 1.0),
        (TAKEN, "The laptop cannot reach the printer 192.168.1.9.", 0.7),
        (TAKEN, "The web page loads slowly and then fails.", 0.7),
        (TAKEN, f"The server cannot reach 192.168.1.9.{STARTS}", 1.0),
        (DEFAULT, "The host cannot reach the Internet.", 1.0),
        (DEFAULT, "The host cannot reach the printer 192.168.1.9.", 0.7),
    ],
)
def test_what_a_daemon_did_is_the_cause_of_what_goes_over_it(
    line: str, prose: str, certainty: float
) -> None:
    """Not of any failure that happens to be told in the same ticket."""
    ticket = Pasted(f"{prose}\n\n```\n{line}\n```\n", "ticket.md")
    found = [one for one in diagnose(read_together([ticket]).facts).findings if one.check == NAME]

    assert [certainty] == [one.certainty for one in found]
    assert bool(found[0].asks) == (certainty < 1)
    by_start = Ground.AT_CONTAINER_START in found[0].reasoning
    assert by_start == (STARTS in prose)


OLD = "Jan 07 10:00:01 n1 NetworkManager[812]: <info> "
PREPARED = f"{OLD}(veth4d2a91c): device state change: disconnected -> prepare (reason 'none')"
ASSUMED = (
    f"{OLD}(veth4d2a91c): device state change: unmanaged -> unavailable "
    "(reason 'connection-assumed')\n"
    f"{OLD}Activation (veth4d2a91c) starting connection 'veth4d2a91c'\n"
)
STARTED = f"{OLD}Activation (veth4d2a91c) starting connection 'Office LAN'\n"


@pytest.mark.parametrize(
    ("lines", "certainty"),
    [(STARTED + PREPARED, 1.0), (PREPARED, 1.0), (ASSUMED + PREPARED, 0.7)],
    ids=["own profile", "transition", "assumed"],
)
def test_a_device_that_is_assumed_keeps_what_it_has(lines: str, certainty: float) -> None:
    """The same transitions say that a profile is applied, or that none is."""
    text = f"Containers cannot reach the database.\n\n```\n{lines}\n```\n"
    finding = next(one for one in check(ticket_of(text)))

    assert certainty == finding.certainty
    assert (STARTED in lines) == any("Office LAN" in span.text for span in finding.evidence)


OVERVIEW = "{said}\n\n```\n$ nmcli\n{link}: {state}\n        ethernet (veth), sw, mtu 1480\n```\n"


@pytest.mark.parametrize(
    ("said", "state", "certainty"),
    [
        ("Containers lose their network now and then.",
         "connecting (getting IP configuration) to Wired connection 3", 1.0),
        ("The web page is refused.",
         "connecting (getting IP configuration) to Wired connection 3", 0.5),
        ("Containers lose their network now and then.", "connected to Wired connection 3", 0.5),
    ],
)  # fmt: skip
def test_a_manager_that_configures_a_pods_device(said: str, state: str, certainty: float) -> None:
    """It asks for an address on the device just now, and workloads lose theirs."""
    text = OVERVIEW.format(said=said, link="cali1a81d481534", state=state)
    (finding,) = check(ticket_of(text))

    assert certainty == finding.certainty


@pytest.mark.parametrize(
    ("link", "state"),
    [("cali1a81d481534", "unmanaged"), ("docker0", "connected (externally) to docker0"),
     ("eth0", "connecting (getting IP configuration) to System eth0")],
)  # fmt: skip
def test_devices_that_are_left_alone_or_the_hosts_own(link: str, state: str) -> None:
    """They are as they should be."""
    text = OVERVIEW.format(said="Containers lose their network.", link=link, state=state)
    assert not list(check(ticket_of(text)))
