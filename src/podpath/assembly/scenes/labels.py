"""What people write above an output about the state that it shows: a good host, after the fix, the
broken node.

A ticket mixes outputs of a broken node with those of a healthy one, or from before and after a
cure, and only the words above each say so. They are weighed here, as data in a few languages, to
put the likelier of two outputs that disagree first.
"""

from __future__ import annotations

import re
from enum import IntEnum
from functools import cache, lru_cache
from typing import NamedTuple

from podpath.net.introductions import is_supposed
from podpath.net.provenance import Source, Span


class StateLikelihood(IntEnum):
    """How likely an output shows the state in which things failed, the likeliest first."""

    BAD = 0
    """Its label says that it shows the fault."""
    PLAIN = 1
    """Nothing is said."""
    AFTER = 2
    """Its label says, or a command before it makes, that it shows a later state."""
    GOOD = 3
    """Its label says that things work, or look right, in it."""
    ELSEWHERE = 4
    """Its label says that it comes from another, good host: it tells nothing of this one."""


# Words, not phrases: labels are written freely. `(?<!un)` and the like keep "unhealthy" out of
# "healthy".
_PLACE = (
    r"(?:hosts?|nodes?|machines?|servers?|clusters?|workers?|boxe?s?|vms?|instances?|peers?|"
    r"knotens?|maschinen?|rechner|nodos?|m[aá]quinas?|servidor(?:es)?)"
)
_GOOD_WORD = (
    r"(?:good|healthy|working|works|fine|sane|intact|unaffected|non-?affected|known[- ]good|normal|"
    r"correct|successful|gut(?:e[rnms]?)?|gesund(?:e[rnms]?)?|funktionierend(?:e[rnms]?)?|"
    r"heil(?:e[rnms]?)?|buen[oa]?s?|san[oa]s?|correct[oa]s?|funciona(?:ndo|l)?)"
)
_BAD_WORD = (
    r"(?:bad|broken|faulty|failing|fails|failed|affected|unhealthy|problem(?:atic)?|wrong|"
    r"incorrect|abnormal|misbehaving|before\s+(?:the\s+)?(?:fix|repair|change|cure|restart|"
    r"reboot)\w*|(?:not|n't|no\s+longer|never|stopped)\s+(?:be(?:ing)?\s+)?(?:work(?:s|ing)?|good|"
    r"healthy|fine|normal|ok|correct|successful)|defekt(?:e[rnms]?)?|kaputt(?:e[rnms]?)?|"
    r"fehlerhaft(?:e[rnms]?)?|schlecht(?:e[rnms]?)?|krank(?:e[rnms]?)?|"
    r"mal[oa]s?|rot[oa]s?|fall(?:a|ando|id[oa])|averiad[oa]|dañad[oa])"
)
_OLD = (
    r"(?:old|previous|former|earlier)\s+(?:ones?|rules?|rule\s?sets?|chains?|tables?|routes?|"
    r"config(?:uration)?s?|settings?|setup|state|file)(?!\w)(?![^.!?]*\b(?:still|again|remains?)\b)"
)
_FIX_WORD = (
    r"(?:fix\w*|repair\w*|cur(?:e|ed|ing)|mend\w*|chang\w+|restart\w*|reboot\w*|restor\w+|"
    r"recover\w*|load(?:ed|ing)?|enabl\w+|disabl\w+|remov\w+|delet\w+|add(?:ed|ing)?|set(?:ting)?|"
    r"apply\w*|applied|upgrad\w+|rollback|workaround|modprobe|"
    r"reparatur|behebung|neustart|arreglo|reparaci[oó]n|reinici\w+)"
)


class _StateWords(NamedTuple):
    """What labels say, by what it says of the state."""

    bad: re.Pattern[str]
    elsewhere: re.Pattern[str]
    good: re.Pattern[str]
    after: re.Pattern[str]
    not_yet: re.Pattern[str]


@cache
def _words() -> _StateWords:
    """Compile the words when the first label is judged: it takes longer than all else that is done
    where none stands.
    """
    return _StateWords(
        bad=re.compile(
            (
                rf"(?<![\w-]){_BAD_WORD}(?![\w-])|^\W*(?:before|vorher|antes|之前)\W*$|不正常|异常|"
                r"故障(?!恢复|修复|排除)|有问题|坏的|修复前|恢复前|不通|失败"
            ),
            re.IGNORECASE,
        ),
        elsewhere=re.compile(
            rf"(?<![\w-]){_GOOD_WORD}\s+(?:\w+\s+)?{_PLACE}(?!\w)|(?<!\w){_PLACE}\s+(?:that|which|"
            rf"where)\s+(?:\w+\s+){{0,3}}{_GOOD_WORD}(?!\w)|"
            rf"(?<!\w){_PLACE}[\w.-]*(?:\s+[\w.-]+)?\s*[(\[]\s*(?:the\s+|a\s+)?{_GOOD_WORD}(?!\w)|"
            rf"(?<!\w)(?:the|a|another)\s+(?:\w+\s+)?{_GOOD_WORD}\s+one(?!\w)|"
            r"(?:正常|好|健康)的?(?:主机|节点|机器|服务器|宿主机)|"
            r"(?<!\w)(?:host|nodo|servidor|m[aá]quina)\s+(?:buen[oa]|san[oa]|correct[oa]|"
            r"que\s+funciona)(?!\w)|"
            rf"^\W*(?:(?:this|that|these|here)\s+(?:is|are|was|were)\s+)?(?:(?:the|my|our)\s+)?{_OLD}",
            re.IGNORECASE,
        ),
        good=re.compile(
            rf"(?<![\w-]){_GOOD_WORD}(?![\w-])|(?<!\w)(?:ok|okay)(?!\w)|in Ordnung|正常|健康|好的",
            re.IGNORECASE,
        ),
        after=re.compile(
            r"(?<!\w)(?:after|once|since|with|nach|despu[eé]s\s+de(?:l)?)\s+"
            rf"(?:\w+\s+){{0,3}}{_FIX_WORD}(?!\w)|(?<!\w)(?:fixed|repaired|cured|resolved|solved|"
            r"restored|recovered|behoben|repariert|arreglad[oa]|reparad[oa])(?!\w)|"
            r"^\W*(?:and\s+)?(?:after(?:wards)?|now|nachher|danach|jetzt|despu[eé]s|ahora|之后|"
            r"现在)\W*$|(?<!\w)(?:now|jetzt|ahora)\s+(?:it\s+)?(?:works|shows|funktioniert|"
            r"funciona)(?!\w)|(?:修复|恢复|重启|加载|修改|解决)(?:之)?后|已修复|已恢复",
            re.IGNORECASE,
        ),
        not_yet=re.compile(
            (
                r"(?<!\w)(?:to|how|must\s+be|should\s+be|can\s+be|not|n't)\s+(?:\w+\s+)?(?:fix|"
                r"repair|solve|fixed|repaired|solved)"
            ),
            re.IGNORECASE,
        ),
    )


_FAILS = re.compile(
    r"(?<!\w)(?:not ?ready|can ?not|can't|no longer|not any ?more|los(?:es?|t)|unreachable|"
    r"tim(?:es?|ed) ?out|refused?|stop(?:s|ped)?|gone|vanish\w*|disappear\w*|do(?:es)?(?: not|n't)|"
    r"(?:is|are) (?:down|missing|cut off|not reachable)|breaks?|broke|no (?:internet|network|"
    r"connection|route|answer|access)|(?:nothing|nobody|none of (?:\w+ ){1,3})\s?"
    r"(?:works?|resolves?|answers?|connects?|starts?|comes?|gets?|responds?|reach(?:es)?))(?!\w)",
    re.IGNORECASE,
)
"""What a sentence says that blames what was changed: the output shows the failure."""
_NO_MORE = re.compile(
    r"(?<!\w)(?:no (?:more|further) \w+|(?:no|without) (?:[\w-]+ ){1,3}any ?more)",
    re.IGNORECASE,
)
"""What says of a fault that it is over."""
_CURED = re.compile(
    r"(?<!\w)(?:(?:fix|repair|mend|restor|recover|workaround)\w*|cur(?:e|ed|ing)|"
    r"(?:re)?solv(?:ed|ing))(?!\w)",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"(?<!\w)(?:if|when(?:ever)?|as soon as|as long as|while|unless|until|only)(?!\w)[^.!?]*$",
    re.IGNORECASE,
)
"""What makes a sentence one of what would be, or of another time, unless it leads over to an output
by a colon.
"""
_CONTRAST = re.compile(
    r"(?<!\w)(?:but|however|whereas|except|(?:al)?though|(?<!not )yet|aber|sondern|außer|pero|"
    r"excepto|salvo)(?!\w)|但",
    re.IGNORECASE,
)
"""What parts a sentence into what works and what does not: an output below it may show either."""
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[\u3002\uff01\uff1f])\s*(?=\S)")
_LABEL_WIDTH = 90


@lru_cache(maxsize=4096)
def judge_label(label: str) -> StateLikelihood:
    """Tell what the prose above an output says of the state that it shows.

    Its last sentence counts first: it leads over to the output. What comes before that may speak of
    something else that works, but a host that it names is the one that the output was taken on.
    """
    if is_supposed(last_sentence(label)):
        return StateLikelihood.ELSEWHERE
    last = _judge_sentence(last_sentence(label))
    if last is not StateLikelihood.PLAIN:
        return last
    whole = _judge_sentence(label)
    if whole is StateLikelihood.GOOD:
        return StateLikelihood.PLAIN
    return whole


def last_sentence(label: str) -> str:
    """Return the sentence of a label that stands right above the output."""
    return _SENTENCE_END.split(label.strip())[-1]


def _judge_sentence(label: str) -> StateLikelihood:
    words = _words()
    if words.bad.search(label):
        return StateLikelihood.BAD
    leads_over = label.rstrip().endswith((":", "\uff1a"))
    mixed = _CONTRAST.search(label) or (_FAILS.search(label) and not leads_over)
    if words.elsewhere.search(label) and (leads_over or not mixed):
        return StateLikelihood.ELSEWHERE
    if words.after.search(label) and not words.not_yet.search(label):
        from podpath.evidence.documents.complaints import find_fault  # noqa: PLC0415 - slow to load

        fails = _FAILS.search(label) or (find_fault(label) and not _NO_MORE.search(label))
        blamed = fails and not _CURED.search(label)
        if blamed:
            return StateLikelihood.PLAIN
        return StateLikelihood.AFTER
    conditional = _CONDITION.search(label.rstrip(" .!")) and not leads_over
    good = words.good.search(label) and not conditional and not mixed
    if good:
        return StateLikelihood.GOOD
    return StateLikelihood.PLAIN


def judge_source(source: Source) -> StateLikelihood:
    """Tell how likely a source shows the state in which things failed, by its label."""
    if source.label:
        return judge_label(source.label)
    return StateLikelihood.PLAIN


def spell_meaning(span: Span | None) -> str:
    """Say which output a value stands in, for an option's meaning: `as at ticket.md:40 (On a good
    host:)`.
    """
    if span is None:
        return "as the kernel's own rules imply"
    label = span.source.label
    if not label or judge_label(label) is StateLikelihood.PLAIN:
        return f"as at {span}"
    if _judge_sentence(last_sentence(label)) is not StateLikelihood.PLAIN:
        words = last_sentence(label)
    else:
        words = label.strip()
    if len(words) > _LABEL_WIDTH:
        words = words[: _LABEL_WIDTH - 3] + "..."
    return f"as at {span} ({words})"
