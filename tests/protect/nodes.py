"""A node's CNI folders for tests, and the keeper at work on them."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from podpath_protect.agent.keeper import KeeperContext, KeeperStatus
from podpath_protect.apply import Applier
from podpath_protect.chain.guard import ChainGuard, FolderState
from podpath_protect.chain.keeper import keep_chain
from podpath_protect.chain.options import ChainOptions
from podpath_protect.chain.removal import Removal, remove
from tests.protect.folders import MESH

ENTRY = json.dumps(MESH)
PATIENCE = 60.0


@dataclass
class CniNode:
    """Folders of configurations and programs."""

    root: Path
    options: ChainOptions = field(init=False)
    clock: float = 1000.0

    def __post_init__(self) -> None:
        """Make the folders, with the programs that tests chain."""
        for folder in (self.conf, self.bin):
            folder.mkdir(parents=True)
        for name in ("bridge", "portmap", "host-local", "linkerd-cni", "ptp", "cilium-cni"):
            self.program(name)
        self.options = ChainOptions(entry=ENTRY, conf_dir=str(self.conf), bin_dirs=(str(self.bin),))

    @property
    def conf(self) -> Path:
        """The folder of configurations."""
        return self.root / "net.d"

    @property
    def bin(self) -> Path:
        """The folder of programs."""
        return self.root / "bin"

    def program(self, name: str, content: str = "#!/bin/sh\n") -> Path:
        """Make a program."""
        path = self.bin / name
        path.write_text(content)
        path.chmod(0o755)
        return path

    def write(self, name: str, text: str) -> Path:
        """Write a configuration whole, as a careful vendor does."""
        path = self.conf / name
        temporary = self.conf / f".{name}.tmp"
        temporary.write_text(text)
        temporary.rename(path)
        return path

    def types(self, name: str) -> list[str]:
        """Return the plugins of a list."""
        return [plugin["type"] for plugin in json.loads((self.conf / name).read_text())["plugins"]]

    def names(self) -> list[str]:
        """List the folder of configurations, what is kept aside left out."""
        return sorted(
            path.name for path in self.conf.iterdir() if not path.name.endswith(".podpath-original")
        )

    def guard(self, *, dry_run: bool = False, **more: object) -> ChainGuard:
        """Make a guard."""
        return ChainGuard(replace(self.options, **more), Applier(dry_run=dry_run))  # type: ignore[arg-type]  # options by name

    def look(self, **more: object) -> FolderState:
        """Look once with a guard of its own."""
        return self.guard(**more).look(self.clock)  # type: ignore[arg-type]  # as above

    def remove(self, **more: object) -> Removal:
        """Take the plugin out."""
        return remove(replace(self.options, **more), Applier())  # type: ignore[arg-type]  # as above

    @contextmanager
    def kept(self, **more: object) -> Iterator[Kept]:
        """Keep the chain for a block."""
        kept = Kept()
        context = KeeperContext(kept.heard.append)
        options = replace(self.options, **more)  # type: ignore[arg-type]  # as above
        thread = threading.Thread(target=keep_chain, args=(context, options, Applier()))
        thread.start()
        try:
            yield kept
        finally:
            context.stop()
            thread.join(PATIENCE)
            assert not thread.is_alive()
            context.close()


@dataclass
class Kept:
    """What a keeper reported."""

    heard: list[KeeperStatus] = field(default_factory=list)

    @property
    def last(self) -> KeeperStatus:
        """The last report."""
        return self.heard[-1]

    def wait(self, holds: Callable[[], bool], seconds: float = PATIENCE) -> None:
        """Wait until something holds; fail where it does not in time."""
        over = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < over, [status.why for status in self.heard[-3:]]
            time.sleep(0.01)

    def wait_ready(self, *, ready: bool = True, seconds: float = PATIENCE) -> None:
        """Wait for a report."""
        self.wait(lambda: bool(self.heard) and self.last.ready is ready, seconds)


def sample(status: KeeperStatus, name: str) -> float:
    """Return the value of a status' sample."""
    return next(one.value for one in status.samples if one.name == name)
