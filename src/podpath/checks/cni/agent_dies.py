"""agent-dies: a network plugin's own program exits with an error.

What it is
    A log line in which a program gives up (fatal, panic, killed by a signal, a flag or
    configuration that it rejects) from calico-node, cilium-agent, flannel or a similar program, and
    one of its pods that keeps crashing.

Why it breaks
    Without its agent, a node gets no CNI configuration, and no routes and rules for new pods: the
    node stays NotReady, or new pods hang in ContainerCreating while old ones keep working.

How to confirm
    kubectl logs -n kube-system POD --previous; kubectl -n kube-system get pods -o wide

How to fix
    Fix what the line names: chart values that exclude each other, a flag from another version, a
    CPU or kernel that the program cannot use.

References
    the manual of the plugin; Kubernetes, "Installing Addons"
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from podpath.checks.category import Category
from podpath.checks.dying import find_last_words, is_agent, report_end
from podpath.checks.finding import Finding
from podpath.net.failures import FailureKind
from podpath.node.case import Case

CATEGORIES = (Category.CNI_AGENT, Category.CNI_CONFIGURATION)
NAME = "agent-dies"


def check(case: Case) -> Iterator[Finding]:
    """Report the first network plugin whose program ends by its own words."""
    words = [word for word in find_last_words(case) if is_agent(word.program)]
    if words:
        found = report_end(NAME, words, "the pod network on the nodes where it exits")
        yield replace(found, proves=frozenset({FailureKind.NOT_STARTED}))
