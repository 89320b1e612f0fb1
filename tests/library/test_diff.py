"""Two nodes compared by the library."""

from __future__ import annotations

from podpath.library.diff import diff
from podpath.library.given import Pasted
from tests.library.samples import NO_FORWARDING, PROBE


def test_one_difference_explains() -> None:
    """Of two differences the one that cures is named, and the other is listed."""
    good = Pasted(
        NO_FORWARDING.text.replace("= 0", "= 1").replace("mtu 1500", "mtu 1400"), "good.txt"
    )
    result = diff(NO_FORWARDING, good, [PROBE])

    assert ("explained", 1) == (result.verdict, result.exit_code)
    assert len(result.explanations) == 1
    assert len(result.differences) > 1


def test_same_node_does_not_differ() -> None:
    """Where nothing differs nothing explains."""
    result = diff(NO_FORWARDING, NO_FORWARDING, [PROBE])

    assert ((), ()) == (result.differences, result.explanations)
