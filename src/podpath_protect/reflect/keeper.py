"""The reflector as a part of the agent: it serves, counts, and makes no node unready.

A pod that finds no reflector is told that its inbound redirection is untested, and starts; so an
address that cannot be listened at is told and tried again, and keeps no pod from the node.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping
from functools import partial
from typing import Final

from podpath_protect.agent.keeper import (
    REPORT_SECONDS,
    Body,
    KeeperContext,
    KeeperStatus,
    Sample,
    keep_serving,
)
from podpath_protect.reflect.messages import FATES
from podpath_protect.reflect.options import ReflectOptions, resolve
from podpath_protect.reflect.reflector import Reflector
from podpath_protect.validate.sockets import SocketEnd

_log = logging.getLogger("podpath.protect.reflect")

OUTCOMES: Final = ("served", "challenged", "repeated", "held", "foreign", "malformed")
UNKNOWN = (
    "the address to listen at is not known: give POD_IPS or POD_IP (downward API), or `listen` in "
    "[reflect]"
)


def make_body(options: ReflectOptions, environment: Mapping[str, str]) -> Body:
    """Make what the agent runs as its part `reflect`."""
    return lambda context: keep_serving(
        context,
        partial(_serve, context, options, resolve(options.listen, environment)),
        _complain,
        _samples(Counter(), listening=False),
    )


def _complain(why: str) -> None:
    _log.warning("inbound redirection cannot be proven to pods", extra={"fields": {"why": why}})


def _serve(context: KeeperContext, options: ReflectOptions, ends: tuple[SocketEnd, ...]) -> str:
    """Answer validators until the part shall stop, or say why that cannot begin."""
    if not ends:
        return UNKNOWN
    try:
        reflector = Reflector(ends, options.allow, per_second=options.per_second)
    except OSError as error:
        return f"cannot listen at {', '.join(map(str, ends))}: {error.strerror}"
    _log.info("the reflector listens", extra={"fields": {"at": [str(end) for end in ends]}})
    try:
        while not context.stopping:
            context.report(
                KeeperStatus(ready=True, samples=_samples(reflector.counts, listening=True))
            )
            reflector.serve(REPORT_SECONDS, context.descriptor)
    finally:
        reflector.close()
    return ""


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
