"""Cases made of what people paste: a text as a ticket holds it, read and put together as `diagnose`
does it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from podpath.assembly.case import assemble_case
from podpath.checks.finding import Finding
from podpath.evidence.documents.document import split_document
from podpath.evidence.recognition import read
from podpath.library.given import Pasted
from podpath.library.reading import read_together
from podpath.node.case import Case

Check = Callable[[Case], Iterator[Finding]]


def case_of(text: str) -> Case:
    """Put together the case of a ticket whose every line stands in a fence."""
    sources = split_document("ticket.md", ["```", *text.strip("\n").split("\n"), "```"])
    readings = [(source, read(source)) for source in sources]
    return assemble_case([(source, reading) for source, reading in readings if reading is not None])


def ticket_of(text: str) -> Case:
    """Put together the case of a whole ticket, its prose included."""
    return read_together([Pasted(text, "ticket.md")]).facts


def found(check: Check, text: str) -> list[tuple[float, str]]:
    """Return how sure each finding of a check is, with the first line that it quotes, blanks
    squeezed.
    """
    return [(one.certainty, " ".join(one.evidence[0].text.split())) for one in check(case_of(text))]
