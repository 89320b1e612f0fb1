"""The Common Expression Language of `deploy/policy`, by its own authors' runtime (cel-cpp).

The project's own API server (1.20) knows no ValidatingAdmissionPolicy, so this is how the tests ask
what the expressions mean. Names are of any type, as in a server, which checks types for warnings
alone. What it does not show: that an API server takes the policies around the expressions.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from cel_expr_python import cel

Names = Mapping[str, object]
ENVIRONMENT = cel.NewEnv(
    variables=dict.fromkeys(("request", "object", "oldObject", "variables"), cel.Type.DYN)
)


class ExpressionError(Exception):
    """What CEL calls an error: a field that is not there, an operand of another type."""


@cache
def compile_expression(text: str) -> cel.Expression:
    """Check an expression; `ValueError` where it is none."""
    try:
        return ENVIRONMENT.compile(text)
    except RuntimeError as error:
        raise ValueError(str(error)) from error


def evaluate(text: str, names: Names) -> object:
    """Return what an expression comes to."""
    value = compile_expression(text).eval(data=names)
    if value.type() == cel.Type.ERROR:
        raise ExpressionError(str(value.value()))
    return value.plain_value()
