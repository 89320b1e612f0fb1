"""A runtime's own sample, in the place of a cluster's network."""

from __future__ import annotations

import pytest

from podpath.checks.cni.runtime_network import check
from tests.checks.pasted import ticket_of

LISTED = """\
{said}

```
# ls /etc/cni/net.d
{names}
```
"""


@pytest.mark.parametrize(
    ("said", "names", "certainties"),
    [
        ("Some pods of a new node have addresses of no range of ours.",
         "11-crio-ipv4-bridge.conflist\n20-overlay.conflist", [0.8]),
        ("Pods do not reach those of other nodes.", "10-flannel.conflist\n09-podman.conflist",
         [0.8]),
        ("Pods do not reach those of other nodes.",
         "10-flannel.conflist\n87-podman.conflist", []),
        ("Pods do not reach those of other nodes.",
         "11-crio-ipv4-bridge.conflist.disabled\n20-overlay.conflist", []),
        ("Pods do not reach those of other nodes.", "11-crio-ipv4-bridge.conflist", []),
    ],
    ids=["crio", "podman", "behind", "disabled", "alone"],
)  # fmt: skip
def test_a_sample_that_sorts_first_may_be_taken(
    said: str, names: str, certainties: list[float]
) -> None:
    """As a list of the folder shows: by name alone, for the runtime may be told otherwise."""
    case = ticket_of(LISTED.format(said=said, names=names))

    assert certainties == [one.certainty for one in check(case)]


@pytest.mark.parametrize(("name", "certainty"), [("99-calico", 1.0), ("10-calico", 0.8)])
def test_a_list_of_another_moment_than_the_choice(name: str, certainty: float) -> None:
    """A file that sorts before the sample would be the choice: it came after the log's line."""
    text = f"""Pods do not reach those of other nodes.

```
# ls /etc/cni/net.d
87-podman-bridge.conflist
{name}.conflist
# journalctl -u crio -b | grep CNI
level=info msg="Found CNI network podman (type=bridge) at /etc/cni/net.d/87-podman-bridge.conflist"
level=info msg="Updated default CNI network name to podman"
```
"""
    (found,) = check(ticket_of(text))

    assert certainty == found.certainty
    assert (certainty < 1) is bool(found.asks)
