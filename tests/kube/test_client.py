"""Tests of `kube.client`: typed refusals, tokens that change, streams that are cut, and no
secret in any error.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from podpath.kube import access
from podpath.kube.client import Client, Refused, Unreachable, decode
from podpath_protect.cluster.objects import KubePod, PodList
from tests.apiserver import ADMIN, NOBODY, ApiServer, free_port
from tests.kube.scripted import Answer, Asked, Scripted, refusal, write_kubeconfig


def test_reads_from_the_real_server(api_server: ApiServer) -> None:
    """An object is read into its type."""
    with Client(access.find(api_server.kubeconfig())) as client:
        assert client.read(PodList, "/api/v1/namespaces/kube-public/pods").items == ()


def test_refusals_carry_code_and_reason(api_server: ApiServer) -> None:
    """What the real server refuses has its code, reason and the words of the server."""
    with Client(access.find(api_server.kubeconfig(NOBODY))) as client:
        with pytest.raises(Refused, match=r"403 Forbidden.*nobody") as forbidden:
            client.request("GET", "/api/v1/pods")
        assert (403, "Forbidden") == (forbidden.value.code, forbidden.value.reason)

    with Client(access.find(api_server.kubeconfig())) as client, pytest.raises(Refused) as missing:
        client.read(KubePod, "/api/v1/namespaces/default/pods/nobody-knows")
    assert (404, "NotFound") == (missing.value.code, missing.value.reason)


def test_a_token_that_nobody_knows_is_refused_without_being_told(api_server: ApiServer) -> None:
    """A wrong token is a 401, and stands in no word of the error."""
    with (
        Client(access.find(api_server.kubeconfig("wrong-token-0123456789"))) as client,
        pytest.raises(Refused) as refused,
    ):
        client.request("GET", "/api/v1/pods")

    assert 401 == refused.value.code
    assert "wrong-token" not in f"{refused.value!r} {refused.value} {refused.value.__cause__!r}"


@pytest.mark.parity("G26")
def test_g26_a_token_that_was_rotated_is_read_again_within_the_request(
    api_server: ApiServer, tmp_path: Path
) -> None:
    """When the server ends the old token, the next request succeeds with the new one: nobody sees
    the change.
    """
    token = tmp_path / "token"
    token.write_text(ADMIN, encoding="utf-8")
    (tmp_path / "ca.crt").write_bytes(api_server.authority.read_bytes())
    environment = {
        "KUBERNETES_SERVICE_HOST": "127.0.0.1",
        "KUBERNETES_SERVICE_PORT": str(api_server.port),
    }
    with Client(access.find(environment=environment, account=tmp_path)) as client:
        client.request("GET", "/api/v1/pods")
        renewed = "renewed-token-0123456789"
        tokens = api_server.home / "tokens.csv"
        before = tokens.read_text(encoding="utf-8")
        try:
            tokens.write_text(before.replace(f"{ADMIN},", f"{renewed},"), encoding="utf-8")
            token.write_text(renewed, encoding="utf-8")
            api_server.kill()
            api_server.start(token=renewed)
            client.request("GET", "/api/v1/pods")
        finally:
            tokens.write_text(before, encoding="utf-8")
            api_server.kill()
            api_server.start()


def test_a_token_file_that_is_away_is_no_crash(tmp_path: Path) -> None:
    """A token file that cannot be read makes a request fail with its name, and the next one works
    again.
    """
    with Scripted(lambda _: Answer(200, [b"{}"])) as server:
        token = tmp_path / "token"
        path = write_kubeconfig(tmp_path, server.url, {"tokenFile": str(token)})
        with Client(access.find(path)) as client:
            with pytest.raises(Unreachable, match="token"):
                client.request("GET", "/version")
            token.write_text("t", encoding="utf-8")
            client.request("GET", "/version")

            assert "Bearer t" == server.asked[-1].authorization


def test_nobody_at_the_address_is_unreachable(tmp_path: Path) -> None:
    """A refused connection names the server and the reason."""
    path = write_kubeconfig(tmp_path, f"https://127.0.0.1:{free_port()}", {})
    with Client(access.find(path)) as client, pytest.raises(Unreachable, match="refused"):
        client.request("GET", "/version")


def test_a_handshake_that_fails_is_tried_once_more(tmp_path: Path) -> None:
    """A server that ends TLS with an alert (RFC 8446, 6: fatal, unexpected_message) is asked twice,
    and named then.
    """
    asked: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            for _ in range(2):
                peer, _ = server.accept()
                with peer:
                    asked.append(peer.recv(4096)[:1])
                    peer.sendall(bytes.fromhex("15 0303 0002 020a"))

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        path = write_kubeconfig(tmp_path, f"https://127.0.0.1:{server.getsockname()[1]}", {})
        with Client(access.find(path)) as client, pytest.raises(Unreachable, match="unexpected"):
            client.request("GET", "/version")
        thread.join(5)
    assert [b"\x16", b"\x16"] == asked


def test_a_certificate_of_another_authority_is_refused(
    api_server: ApiServer, tmp_path: Path
) -> None:
    """A server whose certificate our authority did not sign is not spoken to."""
    path = write_kubeconfig(tmp_path, api_server.url, {"token": ADMIN})
    with Client(access.find(path)) as client, pytest.raises(Unreachable, match="certificate"):
        client.request("GET", "/version")


def test_an_authority_that_was_written_anew_is_read(api_server: ApiServer, tmp_path: Path) -> None:
    """A cluster whose authority changes is reached again once the file has the new one."""
    (tmp_path / "token").write_text(ADMIN, encoding="utf-8")
    stale = tmp_path / "ca.crt"
    stale.write_bytes((Path(__file__).parent / "data" / "another-ca.pem").read_bytes())
    environment = {
        "KUBERNETES_SERVICE_HOST": "127.0.0.1",
        "KUBERNETES_SERVICE_PORT": str(api_server.port),
    }
    with Client(access.find(environment=environment, account=tmp_path)) as client:
        with pytest.raises(Unreachable, match="certificate"):
            client.request("GET", "/version")
        stale.write_bytes(api_server.authority.read_bytes())

        assert b"gitVersion" in client.request("GET", "/version")


@pytest.mark.parametrize("place", ["body", "header"])
def test_how_long_to_wait_is_read_from_body_and_header(tmp_path: Path, place: str) -> None:
    """A busy server says how long to wait in its Status or in the header; both count."""
    busy = (
        Answer(429, [b"later"], (("Retry-After", "9"),))
        if place == "header"
        else refusal(429, "Busy", retryAfterSeconds=9)
    )
    with (
        Scripted(lambda _: busy) as server,
        Client(access.find(server.kubeconfig(tmp_path))) as client,
    ):
        with pytest.raises(Refused) as refused:
            client.request("GET", "/api/v1/pods")

        assert (429, 9.0) == (refused.value.code, refused.value.retry_after)


def test_words_of_a_proxy_are_kept(tmp_path: Path) -> None:
    """What a load balancer answers in its own words is a refusal with those words, not a crash."""
    answer = Answer(503, [b"<html>no backend</html>"])
    with (
        Scripted(lambda _: answer) as server,
        Client(access.find(server.kubeconfig(tmp_path))) as client,
    ):
        with pytest.raises(Refused, match="no backend"):
            client.request("GET", "/api/v1/pods")
        assert 1 == len(server.asked)


def test_an_answer_that_is_no_json_is_unreachable() -> None:
    """What does not have the form that the API promises is as good as no answer."""
    with pytest.raises(Unreachable, match="promises"):
        decode(PodList, b'{"items": 7}', "/api/v1/pods")


def test_lines_are_whole_however_they_arrive(tmp_path: Path) -> None:
    """Lines that arrive in pieces are put together, and half a line at the end is not given out."""
    pieces = [b'{"a":', b"1}\n{}", b'\n\n{"half', b'":']
    with (
        Scripted(lambda _: Answer(200, pieces)) as server,
        Client(access.find(server.kubeconfig(tmp_path))) as client,
    ):
        with client.stream("/api/v1/pods", query={"watch": "1"}) as stream:
            lines = list(stream.lines())

        assert [b'{"a":1}', b"{}"] == lines


def test_a_line_without_an_end_is_not_kept_for_ever(tmp_path: Path) -> None:
    """A server that never ends its line takes no more memory than the longest line may."""

    def endless() -> Iterator[bytes]:
        for _ in range(100):
            yield b"x" * (1 << 20)

    answer = Answer(200, endless())
    with (
        Scripted(lambda _: answer) as server,
        Client(access.find(server.kubeconfig(tmp_path))) as client,
    ):
        with (
            client.stream("/api/v1/pods", query={}) as stream,
            pytest.raises(Unreachable, match="16 MB"),
        ):
            list(stream.lines())
        assert 1 == len(server.asked)


def test_a_cut_ends_a_reader_that_waits(api_server: ApiServer) -> None:
    """`cut` from another thread ends a reader that would wait for minutes."""
    query = {"watch": "true", "fieldSelector": "spec.nodeName=none", "timeoutSeconds": "300"}
    with (
        Client(access.find(api_server.kubeconfig())) as client,
        client.stream("/api/v1/pods", query=query) as stream,
    ):
        threading.Timer(0.3, stream.cut).start()
        began = time.monotonic()
        try:
            lines = list(stream.lines())
        except Unreachable:
            lines = []

        assert ([], True) == (lines, time.monotonic() - began < 60)


def test_a_cut_before_the_first_line_harms_nothing(tmp_path: Path) -> None:
    """Cutting a stream whose connection is gone already is no error."""

    def ends(_: Asked) -> Answer:
        return Answer(200)

    with Scripted(ends) as server, Client(access.find(server.kubeconfig(tmp_path))) as client:
        with client.stream("/api/v1/pods", query={}) as stream:
            assert list(stream.lines()) == []
        stream.cut()
