"""Prose of other languages: who, whom and how it fails, in English words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath.evidence.documents.circumstances import read_circumstances
from podpath.evidence.documents.complaints import read_complaints
from podpath.evidence.documents.glosses import gloss
from podpath.net.complaints import Circumstance, Complaint, EndKind
from podpath.net.failures import FailureKind

POD, CONTAINER, NODE = EndKind.POD, EndKind.CONTAINER, EndKind.NODE


def complain(text: str) -> tuple[Complaint, ...]:
    """Return what a text complains of."""
    return tuple(one for one in read_complaints("ticket.md", (text,), ()) if not one.works)


@pytest.mark.parametrize(
    ("text", "source", "failure"),
    [
        ("容器无法访问外网，一直超时。", CONTAINER, FailureKind.TIMEOUT),
        ("pod 之间 ping不通，同一节点上正常。", POD, None),
        ("节点一直 NotReady，kubelet 报错。", NODE, FailureKind.NOT_STARTED),
        ("宿主机访问 pod 正常，但是 pod 无法解析域名。", POD, FailureKind.NAME_NOT_RESOLVED),
        ("容器启动失败。", CONTAINER, FailureKind.NOT_STARTED),
        ("파드에서 외부로 통신이 되지 않는다.", POD, None),
        ("컨테이너가 시작되지 않는다.", CONTAINER, FailureKind.NOT_STARTED),
        ("ポッド から インターネット に 接続できない。", POD, None),
        ("コンテナ の 名前解決 が タイムアウト します。", CONTAINER, FailureKind.NAME_NOT_RESOLVED),
        ("Контейнеры не могут открыть интернет, таймаут.", CONTAINER, FailureKind.TIMEOUT),
        ("Die Pods können nicht auf den Dienst zugreifen.", POD, None),
        ("Los contenedores no pueden salir al exterior.", CONTAINER, None),
    ],
)
def test_a_complaint_in_another_language(
    text: str, source: EndKind, failure: FailureKind | None
) -> None:
    """Who complains, and how it fails where the text says so."""
    found = complain(text)

    assert found
    assert {source} & {one.source for one in found} | ({source} & {one.target for one in found})
    assert failure is None or failure in {one.failure for one in found}


@pytest.mark.parametrize(
    ("text", "circumstance"),
    [
        ("pod 通过 service 访问不了自己。", Circumstance.TO_ITSELF),
        ("偶尔无法解析外部域名。", Circumstance.INTERMITTENT),
        ("一开始抓包就通了，停止抓包又不通。", Circumstance.DURING_CAPTURE),
        ("간헐적으로 실패한다.", Circumstance.INTERMITTENT),
    ],
)
def test_a_circumstance_in_another_language(text: str, circumstance: Circumstance) -> None:
    """What is told beside the failure."""
    told = read_circumstances("ticket.md", (text,), ())

    assert circumstance in {one.circumstance for one in told}


@pytest.mark.parametrize(
    "text",
    [
        "Pods cannot reach the service.",
        "The name nodo1 is a host's.",
        "curl: (7) Failed to connect to 10.0.0.1 port 80: Connection refused",
        "",
    ],
)
def test_english_and_outputs_stay_as_they_are(text: str) -> None:
    """No word of English is replaced."""
    assert text == gloss(text)


def test_what_works_is_no_complaint() -> None:
    """In each of the scripts."""
    for text in ("服务访问正常。", "서비스 통신이 된다.", "Сервис работает."):
        assert not complain(text)


@given(st.text(max_size=80))
def test_any_text_is_glossed(text: str) -> None:
    """No text breaks it, and ASCII without known words comes out unchanged."""
    assert isinstance(gloss(text), str)
