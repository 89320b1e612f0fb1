"""Prose is told from console by its words."""

from __future__ import annotations

import pytest

from podpath.evidence.documents.prose import reads_as_prose, strip_markup

PROSE = [
    "On a bad host:", "and on a good host:", "This is the service definition:",
    "We then ran the same command on the other node.",
    "  1. The pod sends a SYN to the service, and it is changed there",
    "从上面事件可以看出, 探针超时失败了", "If we talk to the pod directly, then it works.",
]  # fmt: skip
CONSOLE = [
    "TCP SYN:", ("5: cni0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 8951 qdisc noqueue state UP group "
                "default qlen 1000"),
    "    valid_lft forever preferred_lft forever", "0 packets dropped by kernel",
    "default via 10.0.0.1 dev eth0",
    "bridge name bridge id       STP enabled interfaces", "Kernel IP routing table",
    "Endpoints:         10.0.5.44:80,10.0.54.235:80 + 7 more...",
]  # fmt: skip


@pytest.mark.parametrize("line", PROSE)
def test_sentences_are_prose(line: str) -> None:
    """Sentences, introductions and list items read as prose, in any language."""
    assert reads_as_prose(line)


@pytest.mark.parametrize("line", CONSOLE)
def test_output_is_not(line: str) -> None:
    """What tools print does not read as prose."""
    assert not reads_as_prose(line)


def test_markup_is_taken_off() -> None:
    """Bullets, emphasis, tags and links go; names with underscores stay."""
    assert "see KUBE_MARK on the host" == strip_markup(
        "* see `KUBE_MARK` on **<mark>the</mark>** [host](http://x.example)"
    )
