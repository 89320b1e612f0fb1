"""The reflector as a part of the agent: it serves, counts, and makes no node unready.

A pod that finds no reflector is told that its inbound redirection is untested, and starts; so an
address that cannot be listened at is told and tried again, and keeps no pod from the node.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping
from typing import Final

from podpath_protect.agent.keeper import Body, KeeperContext, KeeperStatus, Sample
from podpath_protect.reflect.messages import FATES
from podpath_protect.reflect.options import ReflectOptions, resolve
from podpath_protect.reflect.reflector import Reflector
from podpath_protect.validate.sockets import SocketEnd

_log = logging.getLogger("podpath.protect.reflect")

REPORT_SECONDS = 5.0
OUTCOMES: Final = ("served", "challenged", "repeated", "held", "foreign", "malformed")
UNKNOWN = (
    "the address to listen at is not known: give POD_IPS or POD_IP (downward API), or `listen` in "
    "[reflect]"
)


def make_body(options: ReflectOptions, environment: Mapping[str, str]) -> Body:
    """Make what the agent runs as its part `reflect`."""
    return lambda context: _keep(context, options, resolve(options.listen, environment))


def _keep(context: KeeperContext, options: ReflectOptions, ends: tuple[SocketEnd, ...]) -> None:
    told = ""
    while not context.stopping:
        why = UNKNOWN
        if ends:
            try:
                _serve(context, Reflector(ends, options.allow, per_second=options.per_second), ends)
            except OSError as error:
                why = f"cannot listen at {', '.join(map(str, ends))}: {error.strerror}"
            else:
                return
        if why != told:
            _log.warning(
                "inbound redirection cannot be proven to pods", extra={"fields": {"why": why}}
            )
            told = why
        context.report(
            KeeperStatus(
                ready=True, degraded=True, why=why, samples=_samples(Counter(), listening=False)
            )
        )
        context.wait(REPORT_SECONDS)


def _serve(context: KeeperContext, reflector: Reflector, ends: tuple[SocketEnd, ...]) -> None:
    _log.info("the reflector listens", extra={"fields": {"at": [str(end) for end in ends]}})
    try:
        while not context.stopping:
            context.report(
                KeeperStatus(ready=True, samples=_samples(reflector.counts, listening=True))
            )
            reflector.serve(REPORT_SECONDS, context.descriptor)
    finally:
        reflector.close()


def _samples(counts: Counter[str], *, listening: bool) -> tuple[Sample, ...]:
    requests = (
        Sample(
            "reflect_requests",
            counts[outcome],
            (("outcome", outcome),),
            "counter",
            "Requests of validators, by what became.",
        )
        for outcome in OUTCOMES
    )
    connections = (
        Sample(
            "reflect_connections",
            counts[f"connection-{fate}"],
            (("fate", fate),),
            "counter",
            "Connections back to pods.",
        )
        for fate in FATES
    )
    return (
        *requests,
        *connections,
        Sample("reflect_listening", int(listening), help="Whether validators can ask."),
    )
