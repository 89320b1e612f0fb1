"""A component's own error convicts where people miss exactly what the component is there for, and
nothing else is found.
"""

from __future__ import annotations

import pytest

from podpath.checks.needs import Need, is_lacking
from podpath.diagnosis.diagnose import diagnose
from tests.checks.pasted import ticket_of

LOCKED = (
    "E0301 10:00:01.1 1 proxier.go:1474] Failed to execute iptables-restore: exit status 4 (Another"
    " app is currently holding the xtables lock. Perhaps you want to use the -w option?)"
)
UNIT = "Mar 01 10:00:01 h1 systemd[1]: nftables.service: Failed with result 'exit-code'."
NODE = 'E0101 10:00:00.0 1 node.go:130] Failed to retrieve node info: nodes "ip-10-0-0-7" not found'
EXISTS = "fw nft[911]: Error: Could not process rule: File exists"
BOND = "[   12.1] bond0: link status definitely down for interface eno2, disabling it"
SANDBOX = (
    "Warning  FailedCreatePodSandBox  2s  kubelet  Failed to create pod sandbox: rpc error: code = "
    'Unknown desc = failed to set up sandbox container "9a1" network for pod "web-0": networkPlugin'
    ' cni failed to set up pod "web-0_shop" network: '
)
EMERG = (
    "$ journalctl -u nginx -n 3\nMar 01 10:00:01 lb1 nginx[812]: nginx: [emerg] unknown directive "
    '"prxy" in /etc/nginx/nginx.conf:12'
)
REFUSED = "$ curl http://192.0.2.7:{port}/\ncurl: (7) Failed to connect to 192.0.2.7 port {port}: "
STUCK = "Since the update the pod web-0 stays in ContainerCreating."


def first(prose: str, *blocks: str) -> tuple[str, bool]:
    """Return the check of the first finding of a ticket, and whether it is certain."""
    fences = "\n\n".join(f"```\n{block}\n```" for block in blocks)
    finding = diagnose(ticket_of(f"{prose}\n\n{fences}\n")).findings[0]
    return finding.check, finding.certainty == 1


@pytest.mark.parametrize(
    ("prose", "line", "check"),
    [
        ("New services of worker-3 time out.", LOCKED, "xtables-lock-held"),
        ("Published ports cannot be reached from other hosts.", UNIT, "firewall-unit-failed"),
        ("The service of type LoadBalancer gets no answer.", NODE, "proxy-node-unknown"),
        ("After the update the ruleset is not loaded anymore.", EXISTS, "ruleset-not-written"),
        (STUCK, SANDBOX + "open /run/acme/net.env: no such file or directory", "plugin-fails"),
        (STUCK, SANDBOX + "range 10.9.0.0/28: no addresses left", "plugin-fails"),
    ],
)
def test_what_fails_needs_the_component(prose: str, line: str, check: str) -> None:
    """A service needs its rules, a pod its network."""
    assert (check, True) == first(prose, line)


@pytest.mark.parametrize(
    ("prose", "line", "check"),
    [
        ("The web page is slow.", LOCKED, "xtables-lock-held"),
        ("Since the ruleset was loaded, 192.0.2.7 is not reached.", EXISTS, "ruleset-not-written"),
        ("Downloads from the Internet break off.", UNIT, "firewall-unit-failed"),
        ("The page answers with 502.", NODE, "proxy-node-unknown"),
        ("The bond was switched on purpose and is silent since.", BOND, "bond-link-lost"),
        (STUCK, SANDBOX + "Get https://10.96.0.1/api: dial tcp: i/o timeout", "plugin-fails"),
        ("The web page is slow.", SANDBOX + "open /run/a: no such file", "plugin-fails"),
    ],
)
def test_what_fails_needs_something_else(prose: str, line: str, check: str) -> None:
    """Another failure than the component's, an error that is not the plugin's own, or a bond that
    goes on by its other link.
    """
    assert (check, False) == first(prose, line)


@pytest.mark.parametrize(("port", "sure"), [(80, True), (443, True), (5432, False)])
def test_a_program_that_ended_is_refused_on_its_own_port(
    port: int,
    sure: bool,  # noqa: FBT001 # a row
) -> None:
    """On another port somebody else is missing."""
    refused = REFUSED.format(port=port) + "Connection refused"

    assert ("program-dies", sure) == first("The page is refused.", refused, EMERG)


def test_two_faults_of_different_sorts_stay_as_they_are() -> None:
    """Where something else is wrong as well, what people miss does not tell which of them it is."""
    assert not first("Services time out, and the bond is down.", LOCKED, BOND)[1]


def test_nobody_misses_anything() -> None:
    """Without a sentence that says what fails nothing is lacking."""
    case = ticket_of(f"A log.\n\n```\n{LOCKED}\n```\n")

    assert not any(is_lacking(case, need) for need in Need)
