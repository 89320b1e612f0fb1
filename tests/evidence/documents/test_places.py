"""In which shell a command was typed."""

from __future__ import annotations

import pytest

from podpath.evidence.commands.typed import parse_typed
from podpath.evidence.documents.places import ShellTracker, named_by_prompt
from podpath.evidence.documents.prompts import Prompt


def _walk(*typed: tuple[str, str]) -> list[str | None]:
    places = ShellTracker()
    return [
        places.locate(Prompt(sign, command, "", True), parse_typed(command), 1)
        for sign, command in typed
    ]


def test_a_pod() -> None:
    """A shell in a pod has another prompt; with the outer one back, it is left."""
    assert [None, "pod/default/web", None] == _walk(
        ("$", "kubectl exec -it web -- sh"), ("/ #", "ip a"), ("$", "ip a")
    )


def test_a_namespace() -> None:
    """A shell of `ip netns exec` keeps the prompt, until `exit`."""
    assert [None, "red", "red", None] == _walk(
        ("#", "ip netns exec red bash"), ("#", "ip a"), ("#", "exit"), ("#", "ip a")
    )


def test_wrapped_commands_name_their_own() -> None:
    """A wrapper counts, whatever shell it is typed in."""
    assert [None, "blue", "pod/default/web"] == _walk(
        ("$", "kubectl exec -it web -- sh"), ("/ #", "ip netns exec blue ip a"), ("/ #", "ip a")
    )


def test_a_container_that_a_command_makes() -> None:
    """What it runs is its own, and what is typed after it the host's."""
    assert ["container of alpine", None] == _walk(
        ("$", "docker run --rm -it alpine ip route"), ("$", "ip route")
    )


PROMPTS = [
    ("/ #", "container"), ("root@web-7c9d4b6f5-x2lqh:/#", "pod/?/web-7c9d4b6f5-x2lqh"),
    ("root@0123456789ab:/#",
    "container 0123456789ab"),
    ("root@edge-17:~#", None), ("$", None), ("[root@w1 ~]#", None),
]  # fmt: skip


@pytest.mark.parametrize(("prompt", "netns"), PROMPTS)
def test_prompts_of_containers(prompt: str, netns: str | None) -> None:
    """The host name of a Deployment's pod, a container's id and busybox's prompt show where one
    is.
    """
    assert netns == named_by_prompt(prompt)
