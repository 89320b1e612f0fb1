"""Flows as a JUnit report: a flow is a test case. Undecided is an error, not as expected a failure:
neither is a pass.
"""

from __future__ import annotations

import re
from xml.sax.saxutils import escape as escape_xml
from xml.sax.saxutils import quoteattr

from podpath.checks.owned import OwnerPlaces
from podpath.flows.compared import FlowResult, FlowsAnswer
from podpath.report.escape import escape
from podpath.report.flows_text import list_lines, list_reasons, say_result
from podpath.report.owner_words import say_owned
from podpath.report.quotes import quote

_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 has no way to spell."""


def render_junit(answer: FlowsAnswer) -> str:
    """Render the report."""
    counts = (
        f'tests="{len(answer.results)}" failures="{len(answer.unmet)}"'
        f' errors="{len(answer.undecided)}"'
    )
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuites name="podpath check" {counts}>',
        f'  <testsuite name="flows" {counts} skipped="0">',
    ]
    for one in answer.results:
        lines += _case(one, answer.owners)
    return "\n".join([*lines, "  </testsuite>", "</testsuites>", ""])


def _case(one: FlowResult, owners: OwnerPlaces) -> list[str]:
    span = one.flow.span
    if span:
        place = f" file={_attribute(span.source.name)} line={_attribute(str(span.line))}"
    else:
        place = ""
    head = f'    <testcase classname="podpath.check" name={_attribute(one.flow.name)}{place}'
    if one.is_met is True:
        return [f"{head}/>"]
    kind = "failure" if one.is_met is False else "error"
    told = "\n".join(
        [
            str(one.probe),
            *(quote(line) for line in list_lines(one)),
            *say_owned(owners.list_owned(list_lines(one))),
            *list_reasons(one),
        ]
    )
    said = _attribute(say_result(one))
    return [
        f"{head}>",
        f'      <{kind} type="{one.walk.state}" message={said}>{_text(told)}</{kind}>',
        "    </testcase>",
    ]


def _attribute(text: str) -> str:
    return quoteattr(_clean(text))


def _text(text: str) -> str:
    return escape_xml("\n".join(_clean(line) for line in text.split("\n")))


def _clean(text: str) -> str:
    return _NOT_XML.sub("?", escape(text))
