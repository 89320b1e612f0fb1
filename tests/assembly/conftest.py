"""What tests of the assembly share."""

from __future__ import annotations

from pathlib import Path

import pytest

from podpath.node.case import Case
from tests.assembly.evidence_text import case_of_document


@pytest.fixture(scope="session")
def recorded(repository: Path) -> Case:
    """Provide the case of a node and a pod as Linux 6.18 printed them."""
    path = repository / "tests/data/assembly/two-namespaces/console.txt"
    return case_of_document(path.read_text(), "console.txt")
