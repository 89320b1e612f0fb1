"""Connections that fail for want of a translation, where the evidence leaves out rules that may
have made it.
"""

from __future__ import annotations

from podpath.datapath.reasons.neighbours import NobodyAnswers
from podpath.datapath.reasons.routes import NoRoute
from podpath.datapath.reasons.translation import NotTranslated
from podpath.datapath.tracing.trace import Assumption, Branch
from podpath.datapath.vocabulary import ConversationFailure

_WANTING = frozenset(
    {
        ConversationFailure.REFUSED,
        ConversationFailure.UNTRANSLATED,
        ConversationFailure.STRAY,
        ConversationFailure.MISDELIVERED,
        ConversationFailure.LEFT_UNTRANSLATED,
        ConversationFailure.LEFT_NODE,
    }
)
"""Ways to fail that another address or port would have prevented."""


def list_translations_left_out(branch: Branch) -> tuple[Assumption, ...]:
    """Return what a failing branch took for granted of the rules that translate and that no output
    shows; empty where it fails for another reason.
    """
    if branch.works is not False or not _wants_translation(branch):
        return ()
    passed = [step for step in branch.steps if isinstance(step.reason, NotTranslated)]
    return tuple(dict.fromkeys(made for step in passed for made in step.assumed))


def _wants_translation(branch: Branch) -> bool:
    decided = branch.last.deciding.reason if branch.last.steps else None
    return branch.kind in _WANTING or isinstance(decided, NoRoute | NobodyAnswers)
