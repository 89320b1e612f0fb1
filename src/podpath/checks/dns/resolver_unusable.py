"""resolver-unusable: the host's own configuration leaves it without a resolver.

What it is
    /etc/resolv.conf names no server, or names one by name instead of by address, or names 0.0.0.0,
    which is whoever asks, and the question is refused there; or the `hosts:`
    line in /etc/nsswitch.conf does not list `dns` (or `resolve`), or stops before it for the names
    that fail (`mdns4_minimal [NOTFOUND=return]` and names that end in .local).

Why it breaks
    The C library asks only what these two files name. Without a server in resolv.conf, it asks
    127.0.0.1; without `dns` in nsswitch.conf, it asks no name server at all. Addresses work, names
    do not. dig and nslookup do not read nsswitch.conf, so they still work.

How to confirm
    getent hosts NAME; dig NAME; ls -l /etc/resolv.conf; grep ^hosts /etc/nsswitch.conf

How to fix
    Have the program that manages the file set the servers (resolvectl dns, nmcli ... ipv4.dns,
    netplan nameservers), or write `nameserver ADDRESS` by hand if no program manages it; set
    `hosts: files dns`.

References
    resolv.conf(5), nsswitch.conf(5), nss-mdns
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from podpath.checks.category import Category
from podpath.checks.files import files_of
from podpath.checks.finding import Finding, Severity
from podpath.checks.objects import see
from podpath.checks.said import find_said
from podpath.net.addresses import read_address
from podpath.net.failures import FailureKind
from podpath.net.messages import Message, MessageKind
from podpath.net.provenance import Span, list_spans
from podpath.net.settings import Setting
from podpath.net.trees import Tree
from podpath.node.case import Case

CATEGORIES = (Category.DNS_CONFIGURATION, Category.NETWORK_MANAGER)
NAME = "resolver-unusable"
DNS = 53
ASKS = frozenset({"dns", "resolve", "nis", "ldap", "sss", "winbind"})


def check(case: Case) -> Iterator[Finding]:
    """Report what keeps the host from asking any name server."""
    failed = find_said(case, MessageKind.NAME_FAILS)
    for seen in see(case, "ResolvConf"):
        for sight in seen.sights:
            for server in sight.tree.items_at("nameservers"):
                word = server.text.partition("%")[0]
                yield from _find_unspecified(case, server)
                if read_address(word) is None and _is_name(word):
                    claim = f"resolv.conf names the server {server.text}, which is not an address."
                    yield _report(claim, server.line, failed, server.text)
    for file in files_of(case, "nsswitch"):
        for setting in file.all("hosts"):
            words = [word.lower() for word in setting.words]
            if ASKS.isdisjoint(words):
                claim = "The hosts line in nsswitch.conf lists no source that asks a name server."
                yield _report(claim, setting.span, failed, setting.value)
            elif _ends_at_mdns(words):
                yield from _report_local(setting, failed)


def _find_unspecified(case: Case, server: Tree) -> Iterator[Finding]:
    """Report a server that is no address of anybody, where a question to this host itself is
    refused.
    """
    address = read_address(server.text)
    if address is None or not address.is_unspecified:
        return
    own = [
        one
        for one in case.attempts
        if one.is_bad and one.probe.dport == DNS and one.probe.dst.is_loopback
    ]
    refused = [one.span for one in own if one.result is FailureKind.REFUSED]
    claim = f"resolv.conf names {address}, which means who asks, and no server listens there."
    if refused:
        yield replace(
            _report(claim, server.line, (), server.text),
            evidence=(server.line, refused[0]),
            certainty=1.0,
        )


def _ends_at_mdns(words: Sequence[str]) -> bool:
    """Tell whether the search ends, where mDNS finds nothing, before a name server is asked."""
    if "notfound=return" not in words or not any(word.startswith("mdns") for word in words):
        return False
    return ASKS.isdisjoint(words[: words.index("notfound=return")])


def _report_local(setting: Setting, failed: Sequence[Message]) -> Iterator[Finding]:
    """Report it where a name in .local is not found."""
    local = [one for one in failed if one.values.get("name", "").rstrip(".").endswith(".local")]
    if local:
        claim = (
            "nsswitch.conf ends the search for names in .local at mDNS, so "
            f"{local[0].values['name']} is never looked up in DNS."
        )
        yield _report(claim, setting.span, tuple(local), setting.value)


def _is_name(word: str) -> bool:
    """Tell whether it is a name and no address with digits replaced."""
    return (
        any(sign.isalpha() for sign in word)
        and "x" not in word.lower().split(".")
        and word.replace(".", "").replace("-", "").isalnum()
    )


def _report(claim: str, span: Span, failed: tuple[Message, ...], mark: str) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=claim,
        evidence=(span, *list_spans(failed[:1])),
        breaks=("names, while addresses work",),
        prevention="Let only one program write these files.",
        certainty=1.0 if failed else 0.8,
        marks=(mark,),
    )
