"""Messages are each other's inverse, garbage is none, and a stranger's ask is never answered by
more than it was.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath_protect.reflect.messages import (
    FATES,
    LONGEST,
    NO_COOKIE,
    Cookie,
    ReflectRequest,
    Report,
    emit,
    parse_answer,
    parse_ask,
)

HEX = st.text("0123456789abcdef", min_size=32, max_size=32)
PORTS = st.lists(st.integers(1, 65535), min_size=1, max_size=16, unique=True).map(tuple)


@given(HEX, PORTS, HEX)
def test_an_ask_is_read_as_it_was_written(token: str, ports: tuple[int, ...], cookie: str) -> None:
    """Reading is the inverse of writing, within one datagram's bound."""
    ask = ReflectRequest(token, ports, cookie)

    assert (ask, None) == (parse_ask(emit(ask)), parse_answer(emit(ask)))
    assert len(emit(ask)) <= LONGEST


@given(
    HEX,
    HEX,
    st.dictionaries(st.integers(1, 65535), st.sampled_from(FATES), min_size=1, max_size=16),
)
def test_answers_are_read_as_they_were_written(
    token: str, cookie: str, fates: dict[int, str]
) -> None:
    """A cookie and a report, each as itself."""
    report = Report(token, fates)  # type: ignore[arg-type]  # drawn from the fates that there are

    assert [Cookie(token, cookie), report] == [
        parse_answer(emit(Cookie(token, cookie))),
        parse_answer(emit(report)),
    ]
    assert len(emit(report)) <= LONGEST


@given(HEX, PORTS)
def test_a_stranger_gets_less_than_it_sent(token: str, ports: tuple[int, ...]) -> None:
    """What answers an ask without a cookie is shorter than it: a forged sender is no amplifier's
    victim.
    """
    assert len(emit(Cookie(token, NO_COOKIE))) < len(emit(ReflectRequest(token, ports)))


@given(st.binary(max_size=600))
def test_garbage_is_no_message(data: bytes) -> None:
    """Whatever comes, reading ends in a message or in none."""
    assert parse_ask(data) is None
    assert parse_answer(data) is None


@pytest.mark.parametrize(
    "text",
    [
        f"podpath-reflect/2 {'a' * 32} 0 {'0' * 32}",
        f"podpath-reflect/2 {'a' * 32} 65536 {'0' * 32}",
        f"podpath-reflect/2 {'a' * 32} {','.join(['80'] * 17)} {'0' * 32}",
        f"podpath-reflect/2 {'a' * 31} 80 {'0' * 32}",
        f"podpath-reflect/1 {'a' * 32} 80",
        f"podpath-reflect/2 {'a' * 32} 80 {'0' * 32}\n",
    ],
)
def test_what_cannot_be_asked_for(text: str) -> None:
    """Ports that are none, too many of them, a token that is too short, another version, a rest."""
    assert parse_ask(text.encode()) is None


def test_a_fate_that_is_unknown_is_left_out() -> None:
    """A newer reflector may know more fates: the others are still read."""
    assert Report("a" * 32, {2: "refused"}) == parse_answer(
        f"podpath-reflected/2 {'a' * 32} 1=odd,2=refused".encode()
    )
