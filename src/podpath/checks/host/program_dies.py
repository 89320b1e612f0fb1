"""program-dies: a program exits with an error of its own, so nothing is there to answer.

What it is
    A log line in which a program gives up (fatal, emerg, panic, killed by a signal, a flag or
    configuration that it rejects, a file that cannot be executed), together with a pod in
    CrashLoopBackOff, a failed unit, or a ticket that says that the program does not stay up.

Why it breaks
    Nothing listens where the program should: connections are refused, probes fail, and a supervisor
    restarts it at longer and longer intervals. No packet, route or rule is at fault. If it exits
    because it could not reach, resolve or bind something, that is a different fault and is reported
    as that.

How to confirm
    kubectl logs POD --previous; kubectl describe pod POD; journalctl -u UNIT
    kubectl get pods -o wide                    # CrashLoopBackOff, restarts

How to fix
    Fix what the line names: the flag, the configuration, the image for this CPU, the library.

References
    Kubernetes, "Debug Running Pods"; systemd.service(5)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from podpath.checks.category import Category
from podpath.checks.dying import find_last_words, is_agent, is_refused, report_end
from podpath.checks.finding import Finding
from podpath.checks.needs import Need
from podpath.node.case import Case

CATEGORIES = (Category.APPLICATION, Category.NO_LISTENER)
NAME = "program-dies"


def check(case: Case) -> Iterator[Finding]:
    """Report the first program that ends by its own words; network plugins have a page of their
    own.
    """
    words = [word for word in find_last_words(case) if not is_agent(word.program)]
    if words:
        found = report_end(NAME, words, "connections to the program's services")
        refused = is_refused(case, words[0])
        yield replace(found, needed_for=frozenset({Need.LISTENER}) if refused else frozenset())
