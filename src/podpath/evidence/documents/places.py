"""Where commands run once a shell was opened in another place: `kubectl exec -it POD -- sh`, and
what follows at its prompt.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from podpath.evidence.commands.typed import TypedCommand
from podpath.evidence.documents.prompts import Prompt

_EXITS = frozenset({"exit", "logout"})
_CONTAINER_PROMPT = re.compile(r"/[\w./-]* [#$]")
_POD_HOST = re.compile(
    r"[\w.+-]+@(?P<name>[a-z0-9](?:[a-z0-9-]*[a-z0-9])?-[bcdfghjklmnpqrstvwxz2456789]{5,10}"
    r"-[bcdfghjklmnpqrstvwxz2456789]{5}):/"
)
"""A host name that ends as the names of a Deployment's pods do (k8s.io/apimachinery
`rand.SafeEncodeString`).
"""
_CONTAINER_HOST = re.compile(r"[\w.+-]+@(?P<id>[0-9a-f]{12}):/")


class _Shell(NamedTuple):
    netns: str | None
    outer: str
    """The prompt at which it was opened."""
    keeps_prompt: bool
    region: int


class ShellTracker:
    """Follows which shell the commands of one document are typed in."""

    def __init__(self) -> None:
        """Start in the host's shell."""
        self._shells: list[_Shell] = []

    def locate(self, prompt: Prompt | None, typed: TypedCommand, region: int) -> str | None:
        """Say which network namespace a command runs in, and remember the shell it opens or
        leaves.
        """
        sign = prompt.text if prompt is not None else ""
        self._leave(sign, region)
        around = self._shells[-1].netns if self._shells else named_by_prompt(sign)
        if typed.opens_shell:
            self._shells.append(_Shell(typed.netns, sign, typed.keeps_prompt, region))
            return around
        if typed.text in _EXITS and self._shells:
            self._shells.pop()
            return around
        return typed.netns if typed.wrapped else around

    def _leave(self, sign: str, region: int) -> None:
        """Drop the shells that a prompt shows to be left: the outer prompt is back, or another
        block has begun.
        """
        while self._shells:
            shell = self._shells[-1]
            gone = region != shell.region if shell.keeps_prompt else sign == shell.outer
            if not gone:
                return
            self._shells.pop()


def named_by_prompt(prompt: str) -> str | None:
    """Name the network namespace that a prompt alone shows: that of a pod by its host name, or some
    container's.
    """
    pod = _POD_HOST.match(prompt)
    if pod is not None:
        return f"pod/?/{pod['name']}"
    container = _CONTAINER_HOST.match(prompt)
    if container is not None:
        return f"container {container['id']}"
    return "container" if _CONTAINER_PROMPT.fullmatch(prompt) else None
