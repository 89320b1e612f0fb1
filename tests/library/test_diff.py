"""Two nodes compared by the library."""

from __future__ import annotations

import json

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


def test_what_differs_says_whose_it_is() -> None:
    """Below the lines, and in the document; of a file that sets the value it is the file's."""
    file = "\nroot@node1:~# cat /etc/sysctl.d/90-own.conf\nnet.ipv4.ip_forward = 0\n"
    bad = Pasted(NO_FORWARDING.text + file, "bad.txt")
    good = Pasted(NO_FORWARDING.text.replace("= 0", "= 1"), "good.txt")
    result = diff(bad, good, [PROBE])
    (difference,) = json.loads(result.json())["explanations"][0]["differences"]

    said = " ".join(result.text().split())
    assert "written by a sysctl file, again at boot, and at `sysctl --system`: sysctl net" in said
    assert [(one["kind"], one["owner"] and one["owner"]["by"]) for one in difference["whose"]] == [
        ("sysctl", "file"),
        ("sysctl", None),
    ]
