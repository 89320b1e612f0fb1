"""A ticket: prose from a template, with the console outputs of the recording put in where the
template names them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from examples.record.machine import Netns

TEMPLATES = Path(__file__).parent / "tickets"


def transcript(prompt: str, netns: Netns, line: str) -> str:
    """Run a line in a namespace and give what the terminal shows: the prompt, the line and its
    output.
    """
    return f"{prompt}{line}\n{netns.shell(line)}".rstrip()


def write_ticket(file: Path, template: str, outputs: Mapping[str, str]) -> None:
    """Fill the template's `{{key}}` places; a place or an output without its partner ends the
    recording.
    """
    text = (TEMPLATES / template).read_text(encoding="utf-8")
    places = set(re.findall(r"\{\{([\w-]+)\}\}", text))
    if places != set(outputs):
        raise RuntimeError(
            f"{template}: places and outputs differ in {sorted(places ^ set(outputs))}"
        )
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(
        re.sub(r"\{\{([\w-]+)\}\}", lambda place: outputs[place[1]], text), encoding="utf-8"
    )
