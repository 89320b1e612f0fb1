"""What a built-in incident is: a node that works, the commands that break it, those that mend it,
and what fails meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from podpath.datapath.conversations.acts import PAYLOAD
from podpath.net.probe import Probe
from podpath.node.node import HOST
from podpath_lab.draft import Draft
from podpath_lab.script import ScriptCommand


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """A known kind of fault, ready to be built on the real kernel."""

    name: str
    summary: str
    """What broke, one sentence."""
    build: Callable[[], Draft]
    """Makes the node as it is when it works."""
    broken_by: tuple[ScriptCommand, ...]
    mended_by: tuple[ScriptCommand, ...]
    probe: str
    """What fails while it is broken, and works before and after."""
    checks: tuple[str, ...]
    """The checks that may rightly name it."""
    prepared_by: tuple[ScriptCommand, ...] = ()
    """Commands that complete the working node where the model has no word for them."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Files that a bundle of the node holds besides what is collected: the configuration of what
    stand-ins stand in for.
    """
    changed_files: Mapping[str, str] = field(default_factory=dict)
    """Files that a bundle of the broken node holds instead, or besides."""
    hidden_files: tuple[str, ...] = ()
    """Files that a bundle leaves out: they would show what stands in for what this kernel lacks."""
    ports: tuple[int, ...] = (80, 8080)
    """What servers listen on, in every namespace."""
    size: int = PAYLOAD
    """Bytes that the client sends: many where only large packets are lost."""
    only_mended_by_hand: str = ""
    """Why the cure of the diagnosis cannot be tried here, where that is so; `mended_by` is run
    instead.
    """
    same_port: bool = False
    """True where the fault lies with the traces of an earlier connection, so that each try must use
    its port.
    """

    def asked(self, attempt: int = 0) -> Probe:
        """Return the probe of an attempt: each is a connection of its own, from a port of its
        own.
        """
        probe = Probe.parse(self.probe)
        if self.same_port:
            return probe
        return probe._replace(sport=probe.sport + attempt)


def on_host(*arguments: str, stdin: str = "") -> ScriptCommand:
    """Make a command that runs in the host's namespace."""
    return ScriptCommand(arguments, stdin, HOST)


def within(netns: str, *arguments: str) -> ScriptCommand:
    """Make a command that runs in another namespace."""
    return ScriptCommand(arguments, "", netns)


def restore(text: str, flavour: str = "nft") -> ScriptCommand:
    """Make the command that adds a ruleset to the host's, keeping what is there."""
    return on_host(f"iptables-{flavour}-restore", "--noflush", stdin=text)
