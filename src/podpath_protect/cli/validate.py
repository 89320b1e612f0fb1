"""`podpath protect validate`: an init container's proof that the pod's traffic is redirected."""

from __future__ import annotations

import ipaddress
import json
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import cast

import click

from podpath.net.errors import UsageError
from podpath.report.escape import escape
from podpath_protect.reflect.messages import PORT as REFLECTOR_PORT
from podpath_protect.validate.durations import parse_go_duration, parse_linkerd_duration
from podpath_protect.validate.judgement import Validation
from podpath_protect.validate.plan import MESHES, Settings, Style
from podpath_protect.validate.run import TokenEnds, validate_token
from podpath_protect.validate.run import validate as run_probes
from podpath_protect.validate.sockets import SocketEnd, parse_end

MESSAGE_LIMIT = 4096
"""Bytes of a termination message that the kubelet keeps."""
FAILED = (
    "Failed to validate networking configuration. Please ensure traffic redirection rules are "
    "rewriting traffic as expected."
)
UNABLE = (
    "Unable to connect to validator. Please ensure iptables rules are rewriting traffic as expected"
)
ENV = "LINKERD_NETWORK_VALIDATOR"


class Killed(Exception):
    """A signal came."""


class EndType(click.ParamType[SocketEnd]):
    """An address and a port."""

    name = "address:port"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> SocketEnd:
        """Read it; a usage error says what was expected."""
        try:
            return value if isinstance(value, SocketEnd) else parse_end(str(value))
        except ValueError:
            self.fail(
                (
                    "expected an address with a port, as 192.0.2.2:1404 or [fd00::1]:20001, saw "
                    f"{value!r}"
                ),
                param,
                ctx,
            )


class ReflectorsType(click.ParamType[tuple[SocketEnd, ...]]):
    """Addresses with or without a port, as the downward API gives them in status.hostIP and
    status.hostIPs.
    """

    name = "address[:port][,...]"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[SocketEnd, ...]:
        """Read them; a usage error says what was expected."""
        if isinstance(value, tuple):
            return value
        try:
            return tuple(_parse_reflector(word.strip()) for word in str(value).split(","))
        except ValueError:
            self.fail(
                (
                    "expected addresses such as 10.0.0.1, fd00::1, 10.0.0.1:15105 or "
                    f"[fd00::1]:15105, saw {value!r}"
                ),
                param,
                ctx,
            )


def _parse_reflector(text: str) -> SocketEnd:
    try:
        return SocketEnd(str(ipaddress.ip_address(text)), REFLECTOR_PORT)
    except ValueError:
        return parse_end(text)


class PortsType(click.ParamType[tuple[int, ...]]):
    """Ports and ranges; of a range the first and the last are tried."""

    name = "ports"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        """Read `80,443,8000-8010`; a usage error says what was expected."""
        if isinstance(value, tuple):
            return value
        words = [word.strip() for word in str(value).split(",") if word.strip()]
        ports = [end for word in words for end in word.split("-", 1)]
        if not all(port.isascii() and port.isdigit() and 0 < int(port) < 65536 for port in ports):
            self.fail(f"expected ports such as 25,443,8000-8010, saw {value!r}", param, ctx)
        return tuple(dict.fromkeys(map(int, ports)))


@click.command()
@click.option(
    "--mode",
    type=click.Choice(["podpath", "linkerd", "istio"]),
    help="Whose ports, user and exit codes to use; inferred from the options by default.",
)
@click.option(
    "--timeout", metavar="D", help="How long to try: 500ms, 10s, 2m.  [default: 10s; istio: 5s]"
)
@click.option("--probe-timeout", metavar="D", help="The same, under istio's name.")
@click.option(
    "--outbound-port", "-p", type=PortsType(), help="Where the proxy takes outbound connections."
)
@click.option(
    "--inbound-port", "-z", type=PortsType(), help="Where the proxy takes inbound connections."
)
@click.option(
    "--proxy-uid",
    "-u",
    type=click.IntRange(0),
    help="The proxy's own user, whom the rules must leave alone.",
)
@click.option(
    "--skip-outbound-ports",
    "-o",
    type=PortsType(),
    default=(),
    help="Destination ports that must not be redirected.",
)
@click.option(
    "--skip-inbound-ports",
    "-d",
    type=PortsType(),
    default=(),
    help="Ports of the pod that must not be redirected.",
)
@click.option(
    "--families",
    type=click.Choice(["auto", "4", "6", "both"]),
    default="auto",
    show_default=True,
    help="What must be redirected.",
)
@click.option(
    "--reflector",
    type=ReflectorsType(),
    default=(),
    help=(
        "Who connects back from outside, to prove inbound redirection: the node's addresses, where "
        "the agent has [reflect]."
    ),
)
@click.option(
    "--await-inbound",
    is_flag=True,
    help="Wait for a connection from outside instead: a startup probe of the kubelet.",
)
@click.option(
    "--listen-addr",
    type=EndType(),
    help="linkerd: where to serve the token.  [default: 0.0.0.0:4140]",
)
@click.option(
    "--connect-addr",
    type=EndType(),
    help="linkerd: where the token must come from.  [default: 192.0.2.2:1404]",
)
@click.option(
    "--log-level",
    envvar=f"{ENV}_LOG_LEVEL",
    default="info",
    show_default=True,
    metavar="L",
    help="debug, info, warn or error.",
)
@click.option(
    "--log-format",
    envvar=f"{ENV}_LOG_FORMAT",
    type=click.Choice(["plain", "json"]),
    default="plain",
    help="The format of the log.",
)
@click.option(
    "--iptables-probe-port",
    "probe_port",
    type=click.IntRange(1, 65535),
    default=15002,
    help="istio: the port probed.",
)
@click.option("--run-validation", is_flag=True, help="istio: accepted, and chooses its mode.")
@click.option(
    "--skip-rule-apply", is_flag=True, help="istio: accepted; no rule is ever applied here."
)
@click.option(
    "-m",
    "-i",
    "-x",
    "-b",
    "-g",
    "--log_output_level",
    "ignored",
    hidden=True,
    help="istio: accepted, without effect.",
)
@click.option(
    "--termination-message", metavar="FILE", help="Write the cause here too: /dev/termination-log."
)
@click.option(
    "--reflect", type=EndType(), help="Be the reflector instead, at this address, until killed."
)
@click.option(
    "--allow",
    "networks",
    multiple=True,
    metavar="CIDR",
    help="Whom the reflector serves.  [default: the pods of this node]",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def validate(**given: object) -> None:
    """Prove, before a pod's containers start, that its traffic is redirected to the mesh's proxy.

    Needs no capability, no API and no reachable target. Tries, in each family that the pod has,
    outbound redirection, skipped ports and the exemption of the proxy's own user (when run as it),
    and inbound redirection where a reflector outside helps. Says which rule is missing, as far as
    that is visible without privileges, and what it could not test.

    \b
    Examples:
      podpath protect validate --mode istio --termination-message /dev/termination-log
      podpath protect validate --mode linkerd --listen-addr '[::]:4140' --timeout 10s
      podpath protect validate --skip-outbound-ports 25,443 --reflector 10.0.0.1

    \b
    Exit codes: 0 redirected. In mode linkerd 95, in mode istio 126 for every failure. Else
    3 nothing could be tested, 60 no NAT rules at all, 61 outbound not redirected, 62 one family
    forgotten, 63 inbound not redirected, 64 redirected elsewhere, 65 a skipped port is redirected,
    66 the proxy's user is redirected, 67 a filter refuses, 68 our ports are taken, 69 somebody else
    answered, 70 the target refused, 71 killed; 2 usage error.
    """  # noqa: D301  # click wants the backspace itself
    started = time.monotonic()
    reflect = cast("SocketEnd | None", given["reflect"])
    if reflect is not None:
        _reflect(reflect, cast("tuple[str, ...]", given["networks"]))
        return
    settings = _settings(given)
    tell = _logger(str(given["log_level"]), str(given["log_format"]))
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _be_killed)
    try:
        verdict = _run(settings, given, tell)
    except Killed as killed:
        tell("error", f"Killed by {killed}")
        verdict = Validation(checks=(), cause="killed", claim=f"Killed by {killed}")
    _conclude(settings, verdict, given, time.monotonic() - started, tell)


def _run(
    settings: Settings, given: dict[str, object], tell: Callable[[str, str], None]
) -> Validation:
    wait = bool(given["await_inbound"])
    if settings.style != "linkerd":
        return run_probes(settings, tell, await_inbound=wait)
    default = TokenEnds()
    listen, connect = (
        cast("SocketEnd | None", given["listen_addr"]),
        cast("SocketEnd | None", given["connect_addr"]),
    )
    ends = TokenEnds(listen=listen or default.listen, connect=connect or default.connect)
    if (":" in ends.connect.address) and ":" not in ends.listen.address:
        raise UsageError(f"expected addresses of one family, saw {ends.listen} and {ends.connect}")
    return validate_token(settings, ends, tell, await_inbound=wait)


def _conclude(
    settings: Settings,
    verdict: Validation,
    given: dict[str, object],
    seconds: float,
    tell: Callable[[str, str], None],
) -> None:
    code = verdict.exit_code(settings.style)
    if verdict.cause and verdict.cause != "killed":
        for sentence in _complaints(settings, verdict):
            tell("error", sentence)
    elif not verdict.cause and settings.style == "istio":
        tell("info", "Validation passed, iptables rules established")
    if given["as_json"]:
        click.echo(json.dumps(_document(settings, verdict, code, seconds), indent=2))
    else:
        for check in verdict.checks:
            click.echo(
                f"{check.state:<8} {escape(check.claim)}"
                + (f"\n         missing: {check.rule}" if check.rule else "")
            )
        for one in verdict.kernel:
            click.echo(f"kernel   {one.describe()}")
    target = cast("str | None", given["termination_message"])
    if target is not None and verdict.cause:
        message = f"{verdict.cause}: {verdict.claim}".encode()[:MESSAGE_LIMIT]
        try:
            Path(target).write_bytes(message)
        except OSError as error:
            tell(
                "error", f"the termination message cannot be written to {target}: {error.strerror}"
            )
    click.get_current_context().exit(code)


def _complaints(settings: Settings, verdict: Validation) -> list[str]:
    """Say it as the mesh's own validator does, for those who look for its words, and then what it
    is.
    """
    failed = [check for check in verdict.checks if check.state == "failed"]
    own = [check.claim for check in failed] or [verdict.claim]
    if settings.style == "linkerd":
        head = UNABLE if any(check.error for check in failed) else FAILED
        return [f"{head} timeout={settings.timeout:g}s", *own]
    if settings.style == "istio":
        return ["iptables validation failed; workload is not ready for Istio.", *own]
    return own


def _document(
    settings: Settings, verdict: Validation, code: int, seconds: float
) -> dict[str, object]:
    return {
        "schema": "podpath/validate/v1",
        "ok": not verdict.cause,
        "mode": settings.style,
        "cause": verdict.cause,
        "claim": verdict.claim,
        "exit_code": code,
        "seconds": round(seconds, 4),
        "checks": [check._asdict() for check in verdict.checks],
        "kernel": [one._asdict() for one in verdict.kernel],
    }


def _settings(given: dict[str, object]) -> Settings:
    style: Style = cast("Style | None", given["mode"]) or _guess_style(given)
    mesh = MESHES[style]
    asked, probing = (
        cast("str | None", given["timeout"]),
        cast("str | None", given["probe_timeout"]),
    )
    limit = 5.0 if style == "istio" else 10.0
    if probing is not None:
        limit = parse_go_duration(probing)
    if asked is not None:
        limit = parse_linkerd_duration(asked)
    families = {"auto": (), "4": (4,), "6": (6,), "both": (4, 6)}[str(given["families"])]
    listen = cast("SocketEnd | None", given["listen_addr"])
    uid = cast("int | None", given["proxy_uid"])
    return Settings(
        style=style,
        outbound=cast("tuple[int, ...] | None", given["outbound_port"])
        or ((listen.port,) if listen else mesh.outbound),
        inbound=cast("tuple[int, ...] | None", given["inbound_port"]) or mesh.inbound,
        proxy_uid=mesh.proxy_uid if uid is None else uid,
        inbound_chain=mesh.inbound_chain,
        skip_outbound=cast("tuple[int, ...]", given["skip_outbound_ports"]),
        skip_inbound=cast("tuple[int, ...]", given["skip_inbound_ports"]),
        probe_port=cast("int", given["probe_port"]),
        families=cast("tuple[()]", families),
        reflectors=cast("tuple[SocketEnd, ...]", given["reflector"]),
        timeout=limit,
    )


def _guess_style(given: dict[str, object]) -> Style:
    """Take a mesh's own options for its mode: a pod's template need not be changed."""
    if given["run_validation"] or given["skip_rule_apply"] or given["probe_timeout"]:
        return "istio"
    if given["listen_addr"] or given["connect_addr"]:
        return "linkerd"
    return "podpath"


def _reflect(end: SocketEnd, texts: tuple[str, ...]) -> None:
    from podpath_protect.reflect.options import parse_networks  # noqa: PLC0415  # only the reflector needs it
    from podpath_protect.reflect.reflector import Reflector  # noqa: PLC0415  # as above

    if ipaddress.ip_address(end.address).is_unspecified:
        raise UsageError(
            f"expected an address of this host to answer from, saw the wildcard {end.address}"
        )
    try:
        networks = parse_networks(list(texts))
    except ValueError as error:
        raise UsageError(f"expected {error}") from error
    try:
        reflector = Reflector([end], networks)
    except OSError as error:
        raise UsageError(f"cannot listen at {end}: {error.strerror}") from error
    try:
        while True:
            reflector.serve(1.0)
    finally:
        reflector.close()


def _be_killed(number: int, _: object) -> None:
    raise Killed(signal.Signals(number).name)


def _logger(level: str, form: str) -> Callable[[str, str], None]:
    """Return what writes logs to standard error, from a level on; of a filter `a=warn,debug` the
    last word counts.
    """
    ranks = {"trace": 0, "debug": 0, "info": 1, "warn": 2, "error": 3, "off": 4}
    word = level.rpartition(",")[2].rpartition("=")[2].lower()
    if word not in ranks:
        raise UsageError(
            f"expected a level of trace, debug, info, warn, error or off, saw {level!r}"
        )

    def tell(grade: str, sentence: str) -> None:
        if ranks[grade] >= ranks[word]:
            now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            if form == "json":
                line = json.dumps({"time": now, "level": grade, "message": sentence})
            else:
                line = f"{grade.upper()} {sentence}"
            print(escape(line), file=sys.stderr, flush=True)

    return tell
