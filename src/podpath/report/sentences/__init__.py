"""Reasons in words: the one place where what decided becomes a sentence.

One module for each family of `datapath.reasons`; a reason without its sentence is an error of
typing.
"""

from __future__ import annotations

from podpath.report.sentences.failures import spell_failure
from podpath.report.sentences.near import spell_near
from podpath.report.sentences.reasons import spell_reason

__all__ = ["spell_failure", "spell_near", "spell_reason"]
