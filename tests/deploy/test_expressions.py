"""Policies' expressions are what CEL's own runtime takes and says of them."""

from __future__ import annotations

import pytest

from tests.deploy.expressions import ExpressionError, compile_expression, evaluate

NAMES = {"object": {"b": {"c": "x"}, "list": ["x", "y"], "yes": True, "no": False}}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("has(object.b.d) ? object.b.d : 'none'", "none"),
        ("object.list.filter(e, e != 'x')", ["y"]),
        ("object.list.all(e, e.startsWith('x') || e == 'y')", True),
        ("object.lacks == 'x' && object.no", False),
        ("object.lacks == 'x' || object.yes", True),
        ("[object.b.c] == ['x'] && {} != object.b", True),
    ],
)
def test_what_expressions_come_to(text: str, value: object) -> None:
    """Presence, macros, lists and maps; `&&` and `||` absorb errors from either side."""
    assert value == evaluate(text, NAMES)


@pytest.mark.parametrize(
    "text", ["object.lacks", "has(object.lacks.more)", "!object.b", "'x' in object.b.c"]
)
def test_errors_are_no_answers(text: str) -> None:
    """A field that is not there and a value of another kind are errors."""
    with pytest.raises(ExpressionError):
        evaluate(text, NAMES)


@pytest.mark.parametrize("text", ["object.b +", "object.b.none(x)", "stranger.b", "object ? 1"])
def test_what_is_no_expression_is_refused(text: str) -> None:
    """What cannot be read, functions and names that nobody declared."""
    with pytest.raises(ValueError, match="ERROR"):
        compile_expression(text)
