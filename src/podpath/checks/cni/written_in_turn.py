"""written-in-turn: two agents keep rewriting one CNI configuration, each undoing the other's
change.

What it is
    The logs of two agents say that they saw the folder of CNI configurations change and wrote their
    own again: Cilium, which claims the folder for itself, and a mesh's plugin, which adds itself to
    the chain in the existing file.

Why it breaks
    Each write looks like a change to the other agent. The file always holds what the last one
    wrote: pods that start then get no mesh, or no network.

How to confirm
    ls -l --time-style=full-iso /etc/cni/net.d (twice); cat /etc/cni/net.d/*
    kubectl -n kube-system get cm cilium-config -o yaml | grep cni-exclusive

How to fix
    Make Cilium leave the folder to others: cni.exclusive=false (cni-exclusive: "false" in
    cilium-config), and restart its agents.

References
    istio.io, Platform prerequisites: Cilium; Cilium, Integration with Istio
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.said import find_said
from podpath.net.messages import Message, MessageKind
from podpath.node.case import Case

CATEGORIES = (Category.CNI_CONFIGURATION, Category.MESH_REDIRECT)
NAME = "written-in-turn"
ONCE = 0.6
"""Where each wrote once: that happens when one of them is installed, too."""
ASK = FollowUp(
    "whether they keep writing",
    "ls -l --time-style=full-iso /etc/cni/net.d (twice, a minute apart)",
    "the times change: they keep overwriting each other; otherwise it is over",
)


def check(case: Case) -> Iterator[Finding]:
    """Report two agents that each write the configuration anew when it changes."""
    writers: dict[str, Message] = {}
    said = find_said(case, MessageKind.PLUGIN_CONFIGURATION_REWRITTEN)
    for one in said:
        writers.setdefault(one.values["what"], one)
    if len(writers) > 1:
        again = sum(one.times for one in said) > len(writers)
        yield Finding(
            check=NAME,
            severity=Severity.FAULT,
            claim="Two agents rewrite the CNI configuration, each after the other's change.",
            evidence=tuple(one.span for one in writers.values()),
            reasoning=("Each write by one of them makes the other write its own version again.",),
            breaks=("the network, or the mesh, of new pods",),
            prevention="Let one agent own the folder, and the others add themselves to its chain.",
            certainty=1.0 if again else ONCE,
            asks=() if again else (ASK,),
        )
