"""The playbook's files: each play names clues and outputs that exist, and something unknown is an
error of ours.
"""

from __future__ import annotations

import pytest

from podpath.diagnosis.clues import Contrast, ShownPart, TrafficKind
from podpath.diagnosis.holdings import AnsweringOutput
from podpath.diagnosis.plays.play import Play
from podpath.diagnosis.plays.table import CLUES, list_plays, parse_plays
from podpath.net.failures import FailureKind
from podpath.net.technologies import Technology

TOY = """
[[play]]
fact = "the toy's link"
ask = "ethtool {device}"
decides = ["down: mend it", "up: look elsewhere"]
signs = { timeout = 2, "between nodes" = 1 }
needs = ["vxlan"]
held = ["a capture of several places"]
base = 2
"""


def test_a_play_is_read_field_by_field() -> None:
    """Clues and outputs stand in a file by their values."""
    play = Play(
        fact="the toy's link",
        ask="ethtool {device}",
        decides=("down: mend it", "up: look elsewhere"),
        signs={FailureKind.TIMEOUT: 2, TrafficKind.OTHER_NODE: 1},
        needs=frozenset({Technology.VXLAN}),
        held=frozenset({AnsweringOutput.CAPTURE}),
        base=2,
    )

    assert (play,) == parse_plays(TOY)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("timeout", "no-such-clue"),
        ('"vxlan"', '"no such clue"'),
        ("several", "no"),
        ("base", "bas"),
    ],
)
def test_what_does_not_exist_is_refused(right: str, wrong: str) -> None:
    """A clue, an output or a field that nobody knows is never passed over."""
    with pytest.raises((KeyError, TypeError, ValueError)):
        parse_plays(TOY.replace(right, wrong))


def test_every_clue_has_a_word_of_its_own() -> None:
    """Of the five kinds of clues no two share a value, so one word in a file means one clue."""
    kinds = (FailureKind, TrafficKind, Contrast, Technology, ShownPart)

    assert len(CLUES) == sum(map(len, kinds))


def test_every_play_asks_for_something_that_decides() -> None:
    """Each of them says what it asks for and what the answers mean, and some clue leads to it."""
    plays = list_plays()

    assert plays
    assert [] == [play.fact for play in plays if not (play.ask and play.decides)]
    assert [] == [play.fact for play in plays if not (play.signs or play.base or play.otherwise)]
