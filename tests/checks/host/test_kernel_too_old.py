"""A kernel that a program says is too old."""

from __future__ import annotations

import pytest

from podpath.checks.host.kernel_too_old import PROBED, UNSHOWN, check
from tests.checks.pasted import ticket_of

NEEDS = 'level=fatal msg="cannot start" error="BPF NodePort services needs kernel 4.17.0 or newer."'


def told(*lines: str, said: str = "The agent exits.") -> list[tuple[str, float, int]]:
    """Return what is claimed of a log, how sure it is, and how many questions it has."""
    text = f"{said}\n\n```\n" + "\n".join(lines) + "\n```\n"
    return [(str(one.claim), one.certainty, len(one.asks)) for one in check(ticket_of(text))]


@pytest.mark.parametrize(
    ("beside", "certainty"),
    [
        ("", UNSHOWN),
        ("Linux version 4.9.0-19-amd64", 1.0),
        ("kernel 6.1.0 or newer is recommended", UNSHOWN),
    ],
    ids=["none", "older", "wanted"],
)
def test_a_kernel_that_is_older_or_not_shown(beside: str, certainty: float) -> None:
    """It is certain where an older one is shown; what is wanted is no version that runs."""
    ((claim, told_certainty, asks),) = told(beside, NEEDS)

    assert claim.startswith("The running kernel is too old: version 4.17.0 or newer is needed")
    assert (certainty, int(certainty < 1)) == (told_certainty, asks)


def test_a_program_that_compares_versions_decides() -> None:
    """It looks for no feature, but at the version."""
    ((_, certainty, asks),) = told(
        "Kernel version: NOT OK: minimal supported kernel version is 4.9"
    )

    assert (1.0, 0) == (certainty, asks)


@pytest.mark.parametrize(
    ("beside", "said"),
    [
        ("kernel (6.6.30) versions: OK!", "The agent exits."),
        ("Linux version 4.17.0-1-generic", "The agent exits."),
        ("", "The agent on n2 fails. `uname -r` there: 6.6.30-custom."),
        ("Linux version 4.17", "The agent exits."),
        ("$ uname -r\n5.10.0-8-amd64", "The agent exits."),
    ],
    ids=["log", "boot", "sentence", "short", "command"],
)
def test_a_kernel_that_is_new_enough_lacks_something_else(beside: str, said: str) -> None:
    """Its version is stated; what it lacks is asked for."""
    ((claim, certainty, asks),) = told(NEEDS, beside, said=said)

    assert "fails although the kernel is not older than 4.17.0" in claim
    assert (PROBED, 1) == (certainty, asks)


def test_other_words_of_versions() -> None:
    """Nothing is missing."""
    assert not told('level=info msg="clang (10.0.0) and kernel (6.6.30) versions: OK!"')
