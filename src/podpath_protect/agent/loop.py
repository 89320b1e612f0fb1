"""The agent: parts started, the configuration watched, health told, and everything ended in order.

The main thread does little: it waits for signals and for changes of the configuration, and turns
often enough for `/livez` to see that it lives. An unreadable configuration is reported and the old
one stays in force; a good one restarts only the parts that it changes.
"""

from __future__ import annotations

import logging
import os
import select
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import IO

from podpath.net.tables import TableError
from podpath_protect.agent.config import AgentConfig, Listen, listen_address, load_config, node_name
from podpath_protect.agent.health import Answer, Endpoints, HealthServer, say
from podpath_protect.agent.keeper import Keeper, KeeperStatus, Sample, all_hold
from podpath_protect.agent.logs import configure_logs
from podpath_protect.agent.metrics import gather_samples, render_metrics
from podpath_protect.agent.parts import (
    AgentContext,
    Recipe,
    describe_lacks,
    list_recipes,
    make_keeper,
)
from podpath_protect.capabilities import held_capabilities
from podpath_protect.drops.feed import DropBoard
from podpath_protect.watch import DirectoryWatch

_log = logging.getLogger("podpath.protect.agent")

TURN_SECONDS = 5.0
SETTLE_SECONDS = 0.2
"""How long a changed file is left alone before it is read: an editor that writes in place is seen
with half of it.
"""
STUCK_SECONDS = 60.0
"""A main thread that has not turned for so long is stuck."""


def mark_dead(status: KeeperStatus) -> KeeperStatus:
    """Return the last status of a part that does not live any more, as what it is worth: readiness,
    taint and metrics are all made of it.
    """
    if not status.ready:
        return status
    return replace(status, ready=False, why="its thread has ended: nothing is kept any more")


class Agent:
    """The parts of one node in one process."""

    def __init__(
        self, path: Path, environment: Mapping[str, str], stream: IO[str], *, dry_run: bool = False
    ) -> None:
        """Read the configuration; `TableError` where it is none. Nothing runs yet."""
        self._path, self._environment, self._stream, self._dry_run = (
            path,
            environment,
            stream,
            dry_run,
        )
        self._drops = DropBoard()
        self._config, self._text = self._load()
        self._parts: dict[str, tuple[Recipe, Keeper]] = {}
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._wake = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._again = False
        self._config_error = ""
        self._reloads = 0
        self._turned = time.monotonic()
        self._told_ready: bool | None = None
        """What the log says; none before the first turn."""
        self._health: HealthServer | None = None
        self._listens: Listen | None = None

    def run(self) -> None:
        """Run until `stop`."""
        try:
            with DirectoryWatch((self._path.parent,)) as watch:
                self._begin(self._config)
                while not self._stop.is_set():
                    self._turned = time.monotonic()
                    self._tell_readiness()
                    changed = watch.wait(TURN_SECONDS, self._wake)
                    self._drain()
                    if (changed or self._again) and not self._stop.is_set():
                        self._again = False
                        self._stop.wait(SETTLE_SECONDS)
                        watch.changes()
                        self._reload()
        finally:
            self._end()

    def stop(self) -> None:
        """Ask the agent to end; from any thread, or a signal's handler."""
        self._stop.set()
        os.eventfd_write(self._wake, 1)

    def reload(self) -> None:
        """Ask the agent to read its configuration again, as SIGHUP does."""
        self._again = True
        os.eventfd_write(self._wake, 1)

    def statuses(self) -> dict[str, KeeperStatus]:
        """Say how each part stands."""
        with self._lock:
            return {
                name: keeper.status() if keeper.alive() else mark_dead(keeper.status())
                for name, (_, keeper) in self._parts.items()
            }

    def _tell_readiness(self) -> None:
        """Log that the node has become ready, or is so no more, in the words of `/readyz`."""
        statuses = self.statuses()
        ready = all_hold(statuses)
        if ready is self._told_ready:
            return
        self._told_ready = ready
        if ready:
            _log.info("the node is ready: every part holds")
        else:
            why = {name: status.why for name, status in statuses.items() if not status.ready}
            _log.warning("the node is not ready", extra={"fields": {"why": why}})

    @property
    def port(self) -> int | None:
        """The port of the health endpoints; None where there are none."""
        return None if self._health is None else self._health.port

    def _load(self) -> tuple[AgentConfig, str]:
        config, text = load_config(self._path)
        listen_address(config.health.listen, self._environment)
        return config, text

    def _begin(self, config: AgentConfig) -> None:
        configure_logs(self._stream, config.log.level, config.log.format)
        fields = {
            "node": node_name(config, self._environment),
            "parts": list(config.parts()),
            "dry_run": self._is_dry(config),
        }
        _log.info("the agent starts", extra={"fields": fields})
        for name, lacks in describe_lacks(config.parts(), held_capabilities()).items():
            _log.warning(
                "a part lacks capabilities",
                extra={"fields": {"part_named": name, "lacks": list(lacks)}},
            )
        self._serve(config)
        self._settle(config)

    def _reload(self) -> None:
        try:
            config, text = self._load()
            self._serve(config)
        except TableError as error:
            if str(error) != self._config_error:
                _log.error(
                    "the new configuration is refused, the old one goes on",
                    extra={"fields": {"error": str(error)}},
                )
            self._config_error = str(error)
            return
        self._config_error = ""
        if text == self._text:
            return
        self._reloads += 1
        configure_logs(self._stream, config.log.level, config.log.format)
        _log.info(
            "the configuration is read anew", extra={"fields": {"parts": list(config.parts())}}
        )
        self._settle(config)
        self._config, self._text = config, text

    def _is_dry(self, config: AgentConfig) -> bool:
        return config.dry_run or self._dry_run

    def _settle(self, config: AgentConfig) -> None:
        """Let just those parts run that the configuration asks for, and leave alone those that it
        does not change.
        """
        config = replace(config, dry_run=self._is_dry(config))
        wanted = list_recipes(config, self._environment)
        surroundings = AgentContext(
            environment=self._environment,
            statuses=self.statuses,
            drops=self._drops,
            metrics=self.metrics,
        )
        for name in [
            name for name, (recipe, _) in self._parts.items() if wanted.get(name) != recipe
        ]:
            self._drop(name)
        new = {
            name: (recipe, make_keeper(name, config, surroundings))
            for name, recipe in wanted.items()
            if name not in self._parts
        }
        with self._lock:
            self._parts |= (
                new  # all of them before any begins: who asks how the parts stand hears of each
            )
        for _, keeper in new.values():
            keeper.start()

    def _drop(self, name: str) -> None:
        _, keeper = self._parts[name]
        keeper.stop()
        with self._lock:
            del self._parts[name]

    def _serve(self, config: AgentConfig) -> None:
        if config.health.listen == self._listens:
            return
        before, address = self._health, listen_address(config.health.listen, self._environment)
        try:
            endpoints = Endpoints(live=self.live, ready=self.ready, metrics=self._open_metrics)
            self._health = None if address is None else HealthServer(address, endpoints)
        except OSError as error:
            raise TableError(
                f"{self._path}: expected an address to listen on, saw {address}: {error.strerror}"
            ) from error
        self._listens = config.health.listen
        if before is not None:
            before.close()

    def live(self) -> Answer:
        """Say whether the agent works."""
        with self._lock:
            dead = [name for name, (_, keeper) in self._parts.items() if not keeper.alive()]
        stuck = time.monotonic() - self._turned > STUCK_SECONDS
        return say(not dead and not stuck, dead=dead, stuck=stuck)

    def ready(self) -> Answer:
        """Say whether everything that is kept holds."""
        statuses = self.statuses()
        parts = {
            name: {"ready": status.ready, "degraded": status.degraded, "why": status.why}
            for name, status in statuses.items()
        }
        return say(
            all_hold(statuses),
            parts=parts,
            config=self._config_error or "ok",
        )

    def metrics(self) -> str:
        """Return everything that can be measured."""
        own = (
            Sample(
                "config_valid",
                int(not self._config_error),
                help="Whether the configuration file could be read as it is now.",
            ),
            Sample(
                "config_reloads",
                self._reloads,
                kind="counter",
                help="Changes of the configuration that were taken over.",
            ),
        )
        return render_metrics(gather_samples(self.statuses(), own))

    def _open_metrics(self) -> str | None:
        """Return the metrics where whoever reaches the health endpoints may have them."""
        if self._config.health.metrics:
            return self.metrics()
        return None

    def _drain(self) -> None:
        poll = select.poll()
        poll.register(self._wake, select.POLLIN)
        if poll.poll(0):
            os.eventfd_read(self._wake)

    def _end(self) -> None:
        _log.info("the agent ends")
        for name in list(self._parts):
            self._drop(name)
        if self._health is not None:
            self._health.close()
        os.close(self._wake)
