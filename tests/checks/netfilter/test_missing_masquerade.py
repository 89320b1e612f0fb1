"""Connections to a service that its node sends on to another, and does not masquerade."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from podpath.library.why import WhyResult, why
from tests.clusters import OBJECTS, unpack

ACCEPTED = "-A POSTROUTING -o flannel.1 -j ACCEPT"


def ask(folder: Path, alter: Callable[[list[str]], list[str]]) -> WhyResult:
    """Ask why a client outside cannot reach a service by the node that has none of its pods."""
    nodes = unpack(folder)
    path = Path(nodes["node1"]) / "netns" / "host" / "iptables-save.txt"
    path.write_text("\n".join(alter(path.read_text().split("\n"))))
    return why("outside", "node/node1:30180", nodes=nodes, objects=str(OBJECTS))


def flush(lines: list[str]) -> list[str]:
    """Empty the chain in which kube-proxy masquerades."""
    return [line for line in lines if "-A KUBE-POSTROUTING" not in line]


def accept_first(lines: list[str]) -> list[str]:
    """Accept what leaves by the tunnel before kube-proxy's rules see it."""
    place = next(at for at, line in enumerate(lines) if "-A POSTROUTING" in line)
    return [*lines[:place], ACCEPTED, *lines[place:]]


def flush_beside(lines: list[str]) -> list[str]:
    """Empty it where a plugin's chain follows, which has nothing to do with it."""
    kept = flush(lines)
    place = max(at for at, line in enumerate(kept) if "-A POSTROUTING" in line)
    chains = [line for line in kept if line.startswith(":KUBE-MARK-MASQ")]
    at = kept.index(chains[0])
    jump = "-A POSTROUTING -j CNI-HOSTPORT-MASQ"
    return [
        *kept[:at],
        ":CNI-HOSTPORT-MASQ - [0:0]",
        *kept[at : place + 1],
        jump,
        *kept[place + 1 :],
    ]


def mark_nothing(lines: list[str]) -> list[str]:
    """Leave out the rules that mark, too, as for a service whose clients are to stay visible."""
    return [line for line in flush(lines) if "-j KUBE-MARK-MASQ" not in line]


@pytest.mark.parametrize(
    ("alter", "line", "cure"),
    [
        (
            flush,
            "-j KUBE-POSTROUTING",
            "iptables -t nat -A POSTROUTING -m mark --mark 0x4000/0x4000 -j MASQUERADE",
        ),
        (
            flush_beside,
            "-j KUBE-POSTROUTING",
            "iptables -t nat -A POSTROUTING -m mark --mark 0x4000/0x4000 -j MASQUERADE",
        ),
        (accept_first, ACCEPTED, None),
    ],
)
def test_what_is_marked_and_not_masqueraded(
    tmp_path: Path, alter: Callable[[list[str]], list[str]], line: str, cure: str | None
) -> None:
    """The last line of POSTROUTING that the packet met is quoted, then the one that marks it; the
    cure masquerades by that mark, where it would be reached.
    """
    answer = ask(tmp_path, alter)
    found = answer.findings[0]

    assert (answer.verdict, answer.diagnosis.node) == ("fault", "node1")
    assert (found.check, found.certainty) == ("missing-masquerade", 1.0)
    assert line in found.evidence[0].text
    assert "-A KUBE-MARK-MASQ -j MARK --set-xmark 0x4000/0x4000" in found.evidence[1].text
    commands = [repair.commands[0] for repair in found.repairs if repair.commands]
    assert commands[:1] == ([] if cure is None else [cure])


def test_what_nothing_marks(tmp_path: Path) -> None:
    """The answer goes astray all the same, but no rule was to masquerade it."""
    answer = ask(tmp_path, mark_nothing)

    assert answer.findings[0].check == "untranslated-reply"


def test_what_is_masqueraded(tmp_path: Path) -> None:
    """Nothing is wrong with the node as it was recorded."""
    assert ask(tmp_path, list).verdict == "none"
