"""Claims in words, whoever states them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from podpath.checks.ground import Ground, Unsettling
from podpath.report.claims import spell_claim, spell_link

LOADED = """
import sys
from podpath.report.claims import spell_claim
spell_claim("It is lost.")
print("podpath.report.sentences" in sys.modules)
"""


def test_what_a_check_words_itself_stays() -> None:
    """A sentence is itself."""
    assert ("It is lost.", "Twice.") == (spell_claim("It is lost."), spell_link("Twice."))


def test_ground_has_a_sentence() -> None:
    """What a claim rests on is said, too."""
    assert spell_link(Ground.SAME_ERROR) == "A system call trace shows the same kernel error."


@pytest.mark.parametrize("link", [*Ground, *Unsettling])
def test_whatever_settles_or_unsettles_a_claim_has_a_sentence(link: Ground | Unsettling) -> None:
    """An answer in full names each."""
    assert spell_link(link).endswith(".")


def test_sentences_of_walks_are_loaded_where_one_is_said() -> None:
    """Whoever words a claim in full need not load them."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED], capture_output=True, text=True, check=True
    )

    assert done.stdout == "False\n"
