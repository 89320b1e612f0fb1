"""agent-dies: a network plugin's own program ends by itself, with an error of its own.

What it is
    A line of the level at which a program gives up (fatal, panic, an abort by signal, a flag or
    configuration that it does not take) of calico-node, cilium-agent, flannel and similar programs,
    and a pod of it that keeps crashing.

Why it breaks
    Without its agent a node gets no CNI configuration, no routes and no rules for new pods: the
    node stays NotReady, or new pods hang in ContainerCreating while old ones go on.

How to confirm
    kubectl logs -n kube-system POD --previous; kubectl -n kube-system get pods -o wide

How to fix
    Mend what the line names: values of a chart that exclude each other, a flag of another version,
    a CPU or kernel that the program cannot use.

References
    the manual of the plugin; Kubernetes, "Installing Addons"
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.dying import find_last_words, is_agent, report_end
from podpath.checks.finding import Finding
from podpath.node.case import Case

CATEGORIES = (Category.CNI_AGENT, Category.CNI_CONFIGURATION)
NAME = "agent-dies"


def check(case: Case) -> Iterator[Finding]:
    """Report the first network plugin whose program ends by its own words."""
    words = [word for word in find_last_words(case) if is_agent(word.program)]
    if words:
        yield report_end(NAME, words, "the network of pods on the nodes where it ends")
