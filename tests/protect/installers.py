"""The installers of linkerd's and Istio's CNI plugins, step by step, for tests.

Transcriptions, not the programs: linkerd's `install-cni.sh` (linkerd2-proxy-init 0c4bb3a, before a
Go program took its place) and Istio's `cni/pkg/install` (istio 86c9f01, chained, without a
configuration of its own) as state machines, each step what happens between two points at which
another process can be seen to run. linkerd's moves come from another file system, so `mv` unlinks,
makes and fills the target; its cleanup truncates and fills the file in place; its jq filter is
taken to put its entry behind the others, once. Istio writes beside the file and renames. The
programs themselves are what `test_chain_real_installer` runs.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Steps = Generator[None, None, None]


def snapshot(*folders: Path) -> dict[str, tuple[int, int]]:
    """Return what a watch of folders would tell apart, hidden files too."""
    found: dict[str, tuple[int, int]] = {}
    for folder in folders:
        for path in folder.iterdir():
            try:
                there = path.stat()
            except FileNotFoundError:
                continue
            found[str(path)] = (there.st_ino, there.st_mtime_ns)
    return found


@dataclass
class Installer(ABC):
    """An installer in its folders, with the entry and the program that it brings."""

    conf: Path
    programs: Path
    kind: str
    version: int = 1
    program: bytes = b"#!/bin/sh\n"
    """What it copies."""
    running: bool = True
    seen: dict[str, tuple[int, int]] = field(default_factory=dict)

    @abstractmethod
    def install(self) -> Steps:
        """Install the plugin."""

    @abstractmethod
    def watch(self) -> Steps:
        """React to what changed."""

    @abstractmethod
    def uninstall(self) -> Steps:
        """Take the plugin out."""

    @property
    def entry(self) -> dict[str, Any]:
        """What it chains; each version has a schema of its own."""
        return {"name": self.kind, "type": self.kind, "schema": self.version, "new": [self.version]}

    def heard(self) -> list[Path]:
        """Return the files that changed since this was asked last, as inotify would tell."""
        before, self.seen = self.seen, snapshot(self.conf, self.programs)
        return [Path(name) for name, stamp in self.seen.items() if before.get(name) != stamp]

    def load(self, path: Path) -> dict[str, Any] | None:
        """Read a configuration as jq and encoding/json do; none where it is gone or half there."""
        try:
            value = json.loads(path.read_text())
        except (FileNotFoundError, ValueError):
            return None
        return value if isinstance(value, dict) else None

    def listed(self, value: dict[str, Any]) -> dict[str, Any]:
        """Put the entry behind the others, once; a single configuration becomes a list."""
        if "plugins" not in value:
            inner = {key: held for key, held in value.items() if key != "cniVersion"}
            plugins = [inner, self.entry]
            return {"name": "k8s-pod-network", "cniVersion": "0.3.1", "plugins": plugins}
        others = [plugin for plugin in value["plugins"] if plugin["type"] != self.kind]
        return {**value, "plugins": [*others, self.entry]}


@dataclass
class LinkerdInstaller(Installer):
    """linkerd's shell script."""

    kind: str = "linkerd-cni"
    sums: dict[str, str] = field(default_factory=dict)
    busy: bool = False
    """It touches the files; that its watch may write into the same ones then is its own affair."""

    def install(self) -> Steps:
        """Copy the program, arm the watch, and touch each configuration so that the watch patches
        it.
        """
        self.busy = True
        return self._install()

    def _install(self) -> Steps:
        program = self.programs / self.kind
        program.write_bytes(b"")  # cp truncates and fills
        yield
        program.write_bytes(self.program)
        program.chmod(0o755)
        self.heard()
        yield
        for path in sorted(self.conf.iterdir()):
            if path.suffix in {".conf", ".conflist"} and path.is_file():
                content = path.read_bytes()
                yield
                yield from self._move(path, content)
        self.busy = False

    def watch(self) -> Steps:
        """React to what the watch told."""
        for path in () if self.busy else self.heard():
            if self.running and path.parent == self.conf and path.suffix in {".conf", ".conflist"}:
                yield from self._sync(path)

    def _sync(self, path: Path) -> Steps:
        try:
            total = hashlib.sha256(path.read_bytes()).hexdigest()
        except FileNotFoundError:
            return
        if total == self.sums.get(str(path)):
            return
        yield
        value = self.load(path)
        if value is None:
            return
        content = (json.dumps(self.listed(value), indent=2) + "\n").encode()
        target = path.with_suffix(".conflist")
        self.sums[str(target)] = hashlib.sha256(content).hexdigest()
        yield
        if self.running:
            yield from self._move(target, content)
            if target != path:
                path.unlink(missing_ok=True)
                yield

    @staticmethod
    def _move(path: Path, content: bytes) -> Steps:
        path.unlink(missing_ok=True)
        yield
        with path.open("wb") as file:
            yield
            file.write(content)
        yield

    def uninstall(self) -> Steps:
        """Stop watching, take the entry out of every list in place, remove the program."""
        self.running = False
        yield
        for path in sorted(self.conf.glob("*conflist")):
            value = self.load(path)
            yield
            text = ""  # what jq prints of a file that it cannot read
            if value is not None and isinstance(value.get("plugins"), list):
                others = [each for each in value["plugins"] if each["type"] != self.kind]
                text = json.dumps({**value, "plugins": others}, indent=2)
            if text:
                with path.open("w") as file:
                    yield
                    file.write(text + "\n")
                yield
        (self.programs / self.kind).unlink(missing_ok=True)
        yield


@dataclass
class IstioInstaller(Installer):
    """Istio's Go program: it writes where its entry is missing from the configuration that it
    chose, and stays with the file that came first when it began.
    """

    kind: str = "istio-cni"
    place: Path | None = None
    """The configuration that it patched."""
    name: str = ""
    """The file that it chose (`CNIConfName`)."""

    def install(self) -> Steps:
        """Begin as a new process, which has chosen no configuration yet."""
        self.place, self.name = None, ""
        yield from self._install()

    def _install(self) -> Steps:
        """Copy the program, patch the configuration where it must be, and watch anew."""
        self._replace(self.programs / self.kind, self.program, 0o755)
        yield
        if not self._is_valid():
            yield
            yield from self._patch()
        self.seen = snapshot(self.conf, self.programs)

    def watch(self) -> Steps:
        """Install anew at any change, and where what stands there is wrong by the time that it
        watches.
        """
        if self.running and (self.heard() or not self._is_valid()):
            yield from self._install()

    def uninstall(self) -> Steps:
        """Take the first entry out of the one configuration that was patched, remove the
        program.
        """
        self.running = False
        yield
        value = None if self.place is None else self.load(self.place)
        yield
        if self.place is not None and value is not None:
            text = json.dumps({**value, "plugins": self._without(value["plugins"])}, indent=2)
            self._replace(self.place, text.encode(), self.place.stat().st_mode & 0o777)
            yield
        (self.programs / self.kind).unlink(missing_ok=True)
        yield

    def _is_valid(self) -> bool:
        """Check as `checkValidCNIConfig` does: where no configuration loads there is nothing to
        write, and the file that comes first counts until one was chosen.
        """
        first = self._first()
        if first is None:
            return False
        if first != self.place and not self.name:
            self.name = first.name
            return False
        value = None if self.place is None else self.load(self.place)
        plugins = [] if value is None else value.get("plugins", [])
        return any(each["type"] == self.kind for each in plugins)

    def _patch(self) -> Steps:
        """Write the chosen file, or its twin of the other extension; it waits where neither is."""
        first = self._first()
        if first is None and not self.name:
            return
        path = self.conf / (self.name or (first.name if first is not None else ""))
        twin = path.with_suffix(".conflist" if path.suffix == ".conf" else ".conf")
        path = next((each for each in (path, twin) if each.is_file()), path)
        value = self.load(path)
        if value is None:
            return
        yield
        content = (json.dumps(self._patched(value), indent=2) + "\n").encode()
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o600
        self._replace(path, content, mode)
        yield
        if path.suffix == ".conf":
            try:
                path.replace(path.with_suffix(".conflist"))
            except FileNotFoundError:
                return  # it ends with an error, and its pod begins anew
            path = path.with_suffix(".conflist")
        self.place = path

    def _patched(self, value: dict[str, Any]) -> dict[str, Any]:
        if "type" in value:
            return self.listed(value)
        return {**value, "plugins": [*self._without(value["plugins"]), self.entry]}

    def _without(self, plugins: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Leave out the first entry of its own alone."""
        own = [place for place, each in enumerate(plugins) if each["type"] == self.kind]
        return [each for place, each in enumerate(plugins) if place not in own[:1]]

    def _first(self) -> Path | None:
        for path in sorted(self.conf.iterdir()):
            value = self.load(path) if path.suffix in {".conf", ".conflist"} else None
            if value is not None and (value.get("plugins") or value.get("type")):
                return path
        return None

    @staticmethod
    def _replace(path: Path, content: bytes, mode: int) -> None:
        aside = path.with_name(f"{path.name}.tmp.7")
        aside.write_bytes(content)
        aside.chmod(mode)
        aside.rename(path)
