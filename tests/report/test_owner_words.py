"""Whose a line is, in words and in JSON."""

from __future__ import annotations

from podpath.checks.finding import Repair
from podpath.net.owners import UNSIGNED, Owned, OwnedKind, Owner, OwnerSign, Writer, name_owner
from podpath.node.change import DeleteRoute
from podpath.node.node import HOST
from podpath.report.owner_words import owned_objects, owner_object, render_owned, render_undone
from podpath.report.style import Style
from podpath.testing.nodes import given_route, span


def own(
    kind: OwnedKind, name: str, owner: Owner | None = None, writers: tuple[Writer, ...] = ()
) -> Owned:
    """Return a thing in the host's namespace."""
    return Owned(kind, name, "host", span(name), owner or UNSIGNED, writers)


def say(*owned: Owned, verbose: bool = False) -> list[str]:
    """Render whose things are, without line breaks."""
    return render_owned(owned, Style(verbose=verbose, width=2000), "")


UFW = name_owner(OwnerSign.CHAIN, "ufw-user-input")


def test_a_line_says_whose_it_is_and_when_it_comes_back() -> None:
    """Each owner once, with what is its own; unknown ones last."""
    rules = [own(OwnedKind.RULE, f"ufw-user-input {number}", UFW) for number in (1, 2)]
    route = own(OwnedKind.ROUTE, "10.0.0.0/8")

    assert say(route, *rules) == [
        (
            "written by ufw, again at `ufw reload`, and at boot: rules ufw-user-input 1, "
            "ufw-user-input 2"
        ),
        "unknown: route 10.0.0.0/8",
    ]
    assert [] == say()
    assert owner_object(None) is None
    assert owner_object(UNSIGNED) is None


def test_a_rule_among_the_kernels_own_chains_seems_an_admins() -> None:
    """One in a chain that somebody made may be any program's."""
    assert "an admin's or a script's" in say(own(OwnedKind.RULE, "FORWARD 3"))[0]
    assert ["unknown: rule MINE 3"] == say(own(OwnedKind.RULE, "MINE 3"))


def test_who_writes_what_bears_no_sign() -> None:
    """Is told beside."""
    writers = (Writer("Docker", "at start"), Writer("libvirt"))
    sysctl = own(OwnedKind.SYSCTL, "net.ipv4.ip_forward", None, writers)

    (said,) = say(sysctl)
    (whole,) = say(sysctl, verbose=True)

    assert said.endswith("sysctl net.ipv4.ip_forward (written by Docker, libvirt on some nodes)")
    assert whole.endswith("(written by Docker (at start), libvirt on some nodes)")


def test_a_long_walk_stays_calm() -> None:
    """A few things of each owner are named, all of them where everything is asked for."""
    many = [own(OwnedKind.RULE, f"ufw-user-input {number}", UFW) for number in range(9)]

    assert say(*many)[0].endswith("ufw-user-input 3 and 5 more")
    assert "more" not in say(*many, verbose=True)[0]


def test_things_and_their_owners_as_json() -> None:
    """With the line that they stand in; nobody is null."""
    found = owned_objects([own(OwnedKind.ROUTE, "10.0.0.0/8"), own(OwnedKind.RULE, "x 1", UFW)])

    assert found[0] == {
        "kind": "route",
        "name": "10.0.0.0/8",
        "netns": "host",
        "source": "given",
        "line": 1,
        "owner": None,
        "writers": [],
    }
    assert found[1]["owner"] == owner_object(UFW)


def test_a_cure_that_will_not_last_says_so() -> None:
    """And names what to change instead."""
    route = given_route("10.0.0.0/8 via 192.0.2.1 dev eth0 proto dhcp")
    repair = Repair(
        title="x", commands=("ip route del",), changes=(DeleteRoute(netns=HOST, route=route),)
    )

    said = " ".join(line.strip() for line in render_undone(repair, Style(), "  "))

    assert said.startswith("! will not last: the DHCP client restores its own")
    assert "instead" in said
