"""Which host an output is of."""

from __future__ import annotations

import pytest

from podpath.assembly.scenes.hosts_named import name_host
from podpath.assembly.scenes.scene import set_scene
from podpath.evidence.records import Reading
from podpath.net.provenance import Source


def named(label: str | None, prompt: str | None = None) -> str | None:
    """Return the host of an output under a label."""
    source = Source(name="ticket.md", lines=("x",), label=label, prompt=prompt, command="ip addr")
    return name_host(set_scene(source, Reading((), ()), 0))


@pytest.mark.parametrize(
    ("label", "host"),
    [
        ("node1:", "node1"),
        ("On k8s-worker-02:", "k8s-worker-02"),
        ("From 1804Test1", "1804test1"),
        ("Host1:", "host1"),
        ("On node `web-1` shows:", "web-1"),
        ("On 188:", "188"),
        ("host A:", "a"),
    ],
)
def test_a_label_that_is_a_name(label: str, host: str | None) -> None:
    """A place and a name, and nothing else."""
    assert host == named(label)


@pytest.mark.parametrize(
    "label", ["Working:", "On the node:", "After the restart:", "node1 is broken since we moved it"]
)
def test_other_words_name_none(label: str) -> None:
    """A state or a sentence is no name."""
    assert named(label) is None


def test_a_prompt_counts_before_the_words() -> None:
    """Who typed it knew where."""
    assert "db1" == named("node7:", "root@db1:~#")
