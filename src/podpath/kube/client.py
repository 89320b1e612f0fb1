"""One client of one API server: requests with typed errors, and streams that another thread can
cut.

A token that ended is read again within the request (a 401 is answered by the new token), so that
its rotation is seen by nobody. Certificates that were rewritten are read before the next request
that follows a failure. No header, token or file content stands in any message or log.
"""

from __future__ import annotations

import os
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal, NoReturn, Self, TypeVar

import httpx2
import msgspec
from httpx2.websockets import HTTPXWSException, WebSocketSession, WebSocketUpgradeError
from lightkube import ConfigError
from lightkube.config.client_adapter import user_auth, verify_cluster
from lightkube.config.models import User

from podpath.kube.access import Access
from podpath.kube.objects import KubeStatus, StatusDetails
from podpath.net.errors import PodpathError
from podpath.version import __version__

Verb = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
T = TypeVar("T")

CONNECT_SECONDS, ANSWER_SECONDS = 5.0, 15.0
SILENCE_SECONDS = 90.0
"""A watch that says nothing for so long is taken for dead: servers send a bookmark about once a
minute.
"""
LONGEST_LINE = 16 << 20
"""A watch sends one object a line, and no object is larger than etcd takes (1.5 MB) and its
JSON.
"""
JSON = "application/json"
MERGE_PATCH = "application/merge-patch+json"


class KubeError(PodpathError):
    """Anything that went wrong between us and the API server."""


class Unreachable(KubeError):
    """No answer, or half of one: refused, reset, timed out, no certificate, no token."""


class Refused(KubeError):
    """The server answered, and said no."""

    def __init__(self, verb: str, path: str, status: KubeStatus) -> None:
        """Keep what a caller decides by: the code, the reason, how long to wait."""
        super().__init__(f"{verb} {path}: {status.code} {status.reason}: {status.message}"[:1000])
        details = status.details or StatusDetails()
        self.code, self.reason, self.message = status.code, status.reason, status.message
        self.retry_after = float(details.retry_after_seconds)
        self.causes = tuple(cause.reason for cause in details.causes)


class Stream:
    """The lines of an answer that goes on; `cut` ends it from any thread."""

    def __init__(self, response: httpx2.Response) -> None:
        """Take over an answer whose head was read."""
        self._response = response

    def lines(self) -> Iterator[bytes]:
        """Yield line by line; `Unreachable` where the connection breaks, silently the end where the
        server ends it.
        """
        rest = bytearray()
        try:
            for chunk in self._response.iter_bytes():
                rest += chunk
                *whole, last = rest.split(b"\n")
                rest = bytearray(last)
                if len(rest) > LONGEST_LINE:
                    raise Unreachable(f"the watch sent a line of more than {LONGEST_LINE >> 20} MB")
                yield from (bytes(line) for line in whole if line)
        except (httpx2.HTTPError, httpx2.StreamError, OSError) as error:
            raise Unreachable(f"the watch broke: {_reason(error)}") from error

    def cut(self) -> None:
        """End the connection below the reader's feet, so that a thread that waits in it goes on at
        once.
        """
        network = self._response.extensions.get("network_stream")
        held = None if network is None else network.get_extra_info("socket")
        if isinstance(held, socket.socket) and held.fileno() >= 0:
            with socket.socket(
                fileno=os.dup(held.fileno())
            ) as same:  # TLS state belongs to the reader; the socket is shared
                try:
                    same.shutdown(socket.SHUT_RDWR)
                except OSError:
                    return  # it is gone already


class Client:
    """Requests to one API server. Threads may share it."""

    def __init__(
        self,
        access: Access,
        *,
        answer_seconds: float = ANSWER_SECONDS,
        silence_seconds: float = SILENCE_SECONDS,
    ) -> None:
        """Keep the way; nothing is read or sent before the first request."""
        self.access = access
        self._answer = httpx2.Timeout(answer_seconds, connect=min(CONNECT_SECONDS, answer_seconds))
        self._patient = httpx2.Timeout(
            answer_seconds, connect=min(CONNECT_SECONDS, answer_seconds), read=silence_seconds
        )
        self._lock = threading.Lock()
        self._http: httpx2.Client | None = None
        self._read_from: tuple[float, ...] = ()
        self._doubtful = False

    def __enter__(self) -> Self:
        """Return the client itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close every connection."""
        self.close()

    def close(self) -> None:
        """Close every connection; a later request opens new ones."""
        with self._lock:
            if self._http is not None:
                self._http.close()
                self._http = None

    def request(
        self,
        verb: Verb,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: object = None,
        content_type: str = JSON,
    ) -> bytes:
        """Send one request and give the answer's body; `Refused` or `Unreachable` where there is
        none. Where TLS fails before the request is sent, it is tried once more: a busy server, or
        a balancer before it, does that at times.
        """
        content = None if body is None else msgspec.json.encode(body)
        headers = {} if body is None else {"Content-Type": content_type}
        try:
            request = self._connected().build_request(
                verb, path, params=query, content=content, headers=headers, timeout=self._answer
            )
            response = self._send(request)
        except (httpx2.HTTPError, httpx2.InvalidURL, ConfigError, OSError) as error:
            self._fail(verb, path, error)
        if response.is_success:
            return response.content
        raise Refused(verb, path, _status(response))

    def read(self, kind: type[T], path: str, *, query: Mapping[str, str] | None = None) -> T:
        """Read one object."""
        return decode(kind, self.request("GET", path, query=query), path)

    def create(self, kind: type[T], path: str, body: object) -> T:
        """Create an object, and read what the server made of it."""
        return decode(kind, self.request("POST", path, body=body), path)

    def download(
        self,
        path: str,
        *,
        headers: Mapping[str, str],
        most: int,
        seconds: float,
    ) -> bytes:
        """Read an answer that is long or long in coming; `Unreachable` where it is longer than
        `most` bytes, or not whole within the seconds.
        """
        until = time.monotonic() + seconds
        content = bytearray()
        with self._opened(path, {}, self._waiting(seconds), headers) as response:
            try:
                for chunk in response.iter_bytes():
                    content += chunk
                    if len(content) > most:
                        raise Unreachable(f"{path}: the answer is longer than {most >> 20} MB")
                    if time.monotonic() > until:
                        raise Unreachable(f"{path}: not whole within {seconds:.0f} s")
            except (httpx2.HTTPError, httpx2.StreamError, OSError) as error:
                self._fail("GET", path, error)
        return bytes(content)

    @contextmanager
    def stream(
        self,
        path: str,
        *,
        query: Mapping[str, str] | Sequence[tuple[str, str]],
        headers: Mapping[str, str] | None = None,
    ) -> Iterator[Stream]:
        """Open an answer that goes on; refusals are told at once, breaks while it is read."""
        with self._opened(path, query, self._patient, headers) as response:
            yield Stream(response)

    @contextmanager
    def converse(
        self, path: str, *, query: Sequence[tuple[str, str]], protocol: str, seconds: float
    ) -> Iterator[WebSocketSession]:
        """Open a WebSocket (RFC 6455) that speaks a protocol of Kubernetes; refusals are told at
        once.
        """
        try:
            http = self._connected()
            with http.websocket(
                path,
                params=list(query),
                subprotocols=[protocol],
                headers={"Accept": "*/*"},  # kubelets refuse any other with 406 (seen on 1.20)
                timeout=self._waiting(seconds),
                keepalive_ping_interval_seconds=None,
                max_message_size_bytes=LONGEST_LINE,
            ) as session:
                yield session
        except WebSocketUpgradeError as error:
            raise Refused("GET", path, _status(_read_whole(error.response))) from error
        except (HTTPXWSException, TimeoutError) as error:
            self._fail("GET", path, error)
        except (httpx2.HTTPError, httpx2.InvalidURL, ConfigError, OSError) as error:
            self._fail("GET", path, error)

    @contextmanager
    def _opened(
        self,
        path: str,
        query: Mapping[str, str] | Sequence[tuple[str, str]],
        timeout: httpx2.Timeout,
        headers: Mapping[str, str] | None = None,
    ) -> Iterator[httpx2.Response]:
        try:
            http = self._connected()
            given = query.items() if isinstance(query, Mapping) else query
            request = http.build_request(
                "GET", path, params=tuple(given), timeout=timeout, headers=headers
            )
            response = http.send(request, stream=True)
        except (httpx2.HTTPError, httpx2.InvalidURL, ConfigError, OSError) as error:
            self._fail("GET", path, error)
        try:
            if not response.is_success:
                try:
                    response.read()
                except (httpx2.HTTPError, OSError) as error:
                    self._fail("GET", path, error)
                raise Refused("GET", path, _status(response))
            yield response
        finally:
            response.close()

    def _send(self, request: httpx2.Request) -> httpx2.Response:
        try:
            return self._connected().send(request)
        except httpx2.ConnectError as error:
            if not _is_of_handshake(error):
                raise
        return self._connected().send(request)

    def _waiting(self, seconds: float) -> httpx2.Timeout:
        return httpx2.Timeout(seconds, connect=min(CONNECT_SECONDS, seconds))

    def _fail(self, verb: str, path: str, error: Exception) -> NoReturn:
        self._doubtful = True
        raise Unreachable(f"{verb} {self.access.server}{path}: {_reason(error)}") from error

    def _connected(self) -> httpx2.Client:
        """Return the connections; new ones where the files that they were made from changed since,
        as certificates do.
        """
        with self._lock:
            if (
                self._http is not None
                and self._doubtful
                and _stamps(self.access.files()) != self._read_from
            ):
                self._http.close()
                self._http = None
            self._doubtful = False
            if self._http is None:
                self._read_from = _stamps(self.access.files())
                self._http = _open(self.access)
            return self._http


def decode(kind: type[T], content: bytes | msgspec.Raw, path: str) -> T:
    """Read what the server sent; what is not what it should be is as good as no answer.

    Servers write null for some fields that are not set (times, empty lists), which is the same as
    leaving them out.
    """
    try:
        return msgspec.json.decode(content, type=kind)
    except msgspec.ValidationError:
        pass
    except msgspec.DecodeError as error:
        raise Unreachable(f"{path}: the answer is not what the API promises: {error}") from error
    try:
        return msgspec.convert(_without_nulls(msgspec.json.decode(content)), type=kind)
    except msgspec.ValidationError as error:
        raise Unreachable(f"{path}: the answer is not what the API promises: {error}") from error


def _without_nulls(value: object) -> object:
    if isinstance(value, dict):
        return {key: _without_nulls(one) for key, one in value.items() if one is not None}
    if isinstance(value, list):
        return [_without_nulls(one) for one in value]
    return value


def _open(access: Access) -> httpx2.Client:
    config = access.config
    user = config.user or User()
    alive: list[Any] = [(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)]
    alive += [
        (socket.IPPROTO_TCP, option, value)
        for option, value in ((socket.TCP_KEEPIDLE, 20), (socket.TCP_KEEPINTVL, 10))
    ]
    transport = httpx2.HTTPTransport(
        verify=verify_cluster(config.cluster, user, config.abs_file), socket_options=alive
    )
    agent = {"User-Agent": f"podpath/{__version__}", "Accept": JSON}
    return httpx2.Client(
        base_url=access.server, auth=user_auth(user), transport=transport, headers=agent
    )


def _read_whole(response: httpx2.Response) -> httpx2.Response:
    """Read the body of a refusal; one that was closed before says no more than its code."""
    try:
        response.read()
    except (httpx2.HTTPError, httpx2.StreamError, OSError):
        return httpx2.Response(response.status_code, content=b"")
    return response


def _status(response: httpx2.Response) -> KubeStatus:
    """Read a refusal; proxies and load balancers refuse in their own words, and some say in a
    header how long to wait.
    """
    try:
        status = msgspec.json.decode(response.content, type=KubeStatus)
    except msgspec.DecodeError:
        status = KubeStatus(message=response.text[:200])
    header = response.headers.get("Retry-After", "")
    wait = int(header) if header.isdecimal() else 0
    details = status.details or StatusDetails()
    if wait > details.retry_after_seconds:
        details = msgspec.structs.replace(details, retry_after_seconds=wait)
    return msgspec.structs.replace(
        status,
        code=response.status_code,
        reason=status.reason or response.reason_phrase,
        details=details,
    )


def _reason(error: Exception) -> str:
    """Say in words what broke; the type's name where the error itself says nothing."""
    cause = error.__cause__ if isinstance(error.__cause__, (ssl.SSLError, OSError)) else error
    if str(cause):
        return f"{type(error).__name__}: {cause}"
    return type(error).__name__


def _is_of_handshake(error: BaseException | None) -> bool:
    """Tell whether TLS failed for another reason than a certificate, which stays as it is."""
    while error is not None and not isinstance(error, ssl.SSLError):
        error = error.__cause__ or error.__context__
    return error is not None and not isinstance(error, ssl.SSLCertVerificationError)


def _stamps(files: tuple[str, ...]) -> tuple[float, ...]:
    def stamp(name: str) -> float:
        try:
            return os.stat(name).st_mtime  # noqa: PTH116  # names, which need no Path
        except OSError:
            return 0.0

    return tuple(map(stamp, files))
