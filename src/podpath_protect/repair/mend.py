"""A pod mended where it is: the rules that it asks for are written into its network namespace, and
proven by the validator there.

Written is only what is missing, in the families that the pod's own proxy serves, in one transaction
for each, in the kind of iptables that the pod uses already. Then the same validator that the pod
runs is run in its namespace: a pod counts as mended only when packets say so, and where they do
not, everything that was written is taken back. The namespace is held open from the look to the
proof, so that neither a process number nor a name that is given to another in the meantime leads
astray.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from ipaddress import ip_address
from typing import Final, Literal

from podpath.net.errors import PodpathError
from podpath_protect.apply import Applier, ApplyError
from podpath_protect.cluster.objects import KubePod
from podpath_protect.repair.judgement import NamespaceObservation
from podpath_protect.repair.knocking import find_reachable, knock
from podpath_protect.repair.namespaces import NamespacePath, Namespaces
from podpath_protect.repair.redirect import PodRedirect, asked, render_restore, render_undo
from podpath_protect.repair.rules import (
    Flavour,
    NamespaceRules,
    describe_mixture,
    look,
    read_listening,
)
from podpath_protect.repair.serving import ProxyService, find_served

_PROGRAMS: Final = {4: "iptables", 6: "ip6tables"}
PROOF_SECONDS = 3


class MendError(PodpathError):
    """A namespace that cannot be entered, or is another's by now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mending:
    """What became of a pod that was to be mended in place."""

    state: Literal["mended", "would", "failed", "undone", "gone", "impossible"]
    """`undone`: what was written was not proven, and was taken back. `gone`: its namespace went
    while it was looked for. `impossible`: nothing will help but another pod.
    """
    why: str
    changed: bool = False
    """Whether anything was written into the pod's namespace."""


def _families(addresses: Sequence[str]) -> tuple[int, ...]:
    """Return the families of a pod's addresses, 4 and 6."""
    return tuple(sorted({ip_address(address).version for address in addresses}))


def see(pod: KubePod, namespaces: Namespaces) -> NamespaceObservation | None:
    """Look whether the rules that a pod asks for stand in its namespace; None where it asks for
    none.
    """
    redirect = asked(pod)
    if redirect is None:
        return None
    found = namespaces.find(pod.addresses, pod.metadata.uid)
    if found.place is None:
        return NamespaceObservation(redirected=None, why=found.why)
    try:
        with hold(found.place) as path:
            service = _find_service(path, redirect, pod.addresses)
            if not service.families:
                return NamespaceObservation(redirected=None, why=service.why)
            sight = look(path, redirect, service.families)[0]
    except MendError as error:
        return NamespaceObservation(redirected=None, why=str(error))
    return replace(sight, why="; ".join(filter(None, (sight.why, service.why))))


def _find_service(path: str, redirect: PodRedirect, addresses: Sequence[str]) -> ProxyService:
    ports = (redirect.outbound, redirect.inbound)
    return find_served(addresses, ports, read_listening(path), redirect.declared)


def mend(pod: KubePod, namespaces: Namespaces, applier: Applier) -> Mending:
    """Write the rules that a pod asks for into its namespace where they are missing, and prove that
    they work.
    """
    redirect = asked(pod)
    if redirect is None:
        return Mending(
            state="impossible",
            why="it has no mesh's proxy, so it is not known which rules it needs",
        )
    if redirect.unmodelled:
        return Mending(
            state="impossible",
            why=f"it asks for what is not known how to give: {redirect.unmodelled}",
        )
    if pod.status.phase == "Failed":
        return Mending(
            state="impossible", why="it has failed for good: its namespace is gone or going"
        )
    if not pod.addresses:
        return Mending(state="impossible", why="the pod has no address yet")
    found = namespaces.find(pod.addresses, pod.metadata.uid)
    if found.place is None:
        return Mending(state="failed", why=found.why)
    try:
        with hold(found.place) as path:
            return _mend(path, redirect, pod.addresses, applier)
    except MendError as error:
        return Mending(state="gone", why=str(error))
    except ApplyError as error:
        return Mending(state="failed", why=str(error))


def _mend(path: str, redirect: PodRedirect, addresses: Sequence[str], applier: Applier) -> Mending:
    service = _find_service(path, redirect, addresses)
    families = service.families
    if not families:
        return Mending(state="impossible", why=service.why)
    sight, shown = look(path, redirect, families)
    if sight.redirected is None:
        return Mending(state="failed", why=sight.why)
    wanting = [family for family in families if len(shown[family].hooks) < 2]
    written: list[int] = []
    try:
        for family in wanting:
            applier.run(
                _command(path, family, shown[family].flavour),
                stdin=render_restore(redirect, family, shown[family].jumps),
            )
            written.append(family)
        if applier.dry_run:
            return Mending(state="would", why=sight.why)
        fault = _prove_all(path, redirect, addresses, families, changed=bool(wanting))
    except ApplyError as error:
        fault = str(error)
    if fault:
        mixed = describe_mixture(shown)
        said = f"{fault}{f'; {mixed}' if mixed else ''}"
        return _undo(path, redirect, {family: shown[family] for family in written}, applier, said)
    if wanting:
        done = f"wrote redirect rules for {' and '.join(f'IPv{family}' for family in wanting)}"
    else:
        done = "found every rule there"
    why = "; ".join(filter(None, (f"{done}; the validator passes in its namespace", service.why)))
    return Mending(state="mended", why=why, changed=bool(wanting))


def _prove_all(
    path: str,
    redirect: PodRedirect,
    addresses: Sequence[str],
    families: Sequence[int],
    *,
    changed: bool,
) -> str:
    """Prove by packets, and where something was written look for the rules too; empty where both
    hold.
    """
    mine = [address for address in addresses if ip_address(address).version in families]
    fault = prove(path, redirect, find_reachable(mine), families)
    if fault:
        return f"the validator says in its namespace: {fault}"
    if not changed:
        return ""
    sight = look(path, redirect, families)[0]
    return "" if sight.redirected else sight.why


def _undo(
    path: str,
    redirect: PodRedirect,
    written: Mapping[int, NamespaceRules],
    applier: Applier,
    fault: str,
) -> Mending:
    """Take back what was written, and look that it is as it was; a proof that failed is final."""
    if not written:
        return Mending(state="failed", why=f"nothing was written, and {fault}")
    left: list[str] = []
    for family, before in written.items():
        text = render_undo(redirect, family, before.jumps, before.own)
        try:
            applier.run(_command(path, family, before.flavour), stdin=text)
        except ApplyError as error:
            left.append(f"IPv{family}: {error}")
    after = look(path, redirect, tuple(written))[1]
    left += [
        f"IPv{family}: its rules are not what they were"
        for family, before in written.items()
        if family not in after or not after[family].is_as(before)
    ]
    if left:
        return Mending(
            state="failed",
            why=f"rules were written, {fault}; they could not be taken back: {'; '.join(left)}",
            changed=True,
        )
    return Mending(state="undone", why=f"rules were written and taken back, since {fault}")


def prove(
    path: str,
    redirect: PodRedirect,
    reachable: Sequence[str] = (),
    families: Sequence[int] = (),
) -> str:
    """Run the validator within a namespace; empty where it passes, else what it says.

    At the addresses that can be reached from here it is knocked, which proves inbound redirection
    too. Where the proxy listens already its ports cannot be borrowed, and the rules are looked for
    instead.
    """
    options = ["--proxy-uid", str(redirect.proxy_uid), "--timeout", f"{PROOF_SECONDS}s"]
    ports = ["--outbound-port", str(redirect.outbound), "--inbound-port", str(redirect.inbound)]
    mode = "istio" if redirect.style == "istio" else "podpath"
    named = {(): "auto", (4,): "4", (6,): "6"}.get(tuple(families), "both")
    command = [
        sys.executable,
        "-m",
        "podpath",
        "protect",
        "validate",
        "--json",
        "--mode",
        mode,
        *options,
        *ports,
        *["--await-inbound"] * bool(reachable),
        "--families",
        named,
    ]
    try:
        with knock(reachable):
            done = subprocess.run(
                ["nsenter", f"--net={path}", *command],
                capture_output=True,
                text=True,
                check=False,
                timeout=PROOF_SECONDS + 20,
                stdin=subprocess.DEVNULL,
            )
        told = json.loads(done.stdout)
    except (OSError, subprocess.TimeoutExpired, ValueError) as error:
        return f"the validator cannot be run there: {error}"
    if told["ok"]:
        return ""
    if told["cause"] == "busy":
        return ""  # the rules were seen by whoever asks; a proxy that listens is what they lead to
    return f"{told['cause']}: {told['claim']}"


def _command(path: str, family: int, flavour: Flavour) -> tuple[str, ...]:
    return (
        "nsenter",
        f"--net={path}",
        f"{_PROGRAMS[family]}-{flavour}-restore",
        "--noflush",
        "-w",
        "5",
    )


@contextmanager
def hold(place: NamespacePath) -> Iterator[str]:
    """Hold a namespace open and give a path that leads into this very one."""
    try:
        descriptor = os.open(place.path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise MendError(
            f"its namespace {place.path} cannot be entered: {error.strerror}"
        ) from error
    try:
        if os.fstat(descriptor).st_ino != place.inode:
            raise MendError(f"its namespace {place.path} is another's by now")
        yield f"/proc/{os.getpid()}/fd/{descriptor}"
    finally:
        os.close(descriptor)
