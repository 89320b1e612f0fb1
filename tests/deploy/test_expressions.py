"""The tests' own evaluator of policies' expressions follows CEL's specification, in the part that
it knows.
"""

from __future__ import annotations

import pytest

from tests.deploy.expressions import ExpressionError, compile_expression, evaluate

NAMES = {"a": {"b": {"c": "x"}}, "list": ["x", "y"], "yes": True, "no": False}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a.b.c == 'x'", True),
        ("has(a.b) && !has(a.c)", True),
        ("has(a.b.d) ? a.b.d : 'none'", "none"),
        ("'c' in a.b && a.b['c'] in list", True),
        ("list.filter(e, e != 'x')", ["y"]),
        ("list.all(e, e.startsWith('x') || e == 'y')", True),
        ("a.b.all(k, k == 'd')", False),
        ("no && a.lacks == 'x'", False),
        ("a.lacks == 'x' && no", False),
        ("a.lacks == 'x' || yes", True),
        ("[a.b.c] == ['x'] && {} != a", True),
        ("no || yes && no", False),
        ("!(yes && no) ? 'p' : 'q'", "p"),
        ("[].all(e, e.lacks)", True),
    ],
)
def test_what_expressions_come_to(text: str, value: object) -> None:
    """Precedence, presence, macros; `&&` and `||` absorb errors from either side."""
    assert value == evaluate(text, NAMES)


@pytest.mark.parametrize(
    "text", ["a.lacks", "has(a.lacks.more)", "yes && a.lacks", "!a", "'x' in a.b.c"]
)
def test_errors_are_no_answers(text: str) -> None:
    """A field that is not there and a value of another kind are errors, as in CEL."""
    with pytest.raises(ExpressionError):
        evaluate(text, NAMES)


@pytest.mark.parametrize(
    "text", ["a +", "a + b", "a.size()", "a.b b", "has(a)", "a ? b", '"x"', "1"]
)
def test_what_is_beyond_is_no_expression(text: str) -> None:
    """Whatever is not known here is refused, not guessed."""
    with pytest.raises(SyntaxError):
        compile_expression(text)
