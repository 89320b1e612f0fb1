"""Prose among console output: sentences, list items and headings, as people write them round what
they paste.

Prose is told by its words, not by its place: articles, prepositions and pronouns that no tool
prints in a row. Writing without blanks between words (Chinese, Japanese) is told by its characters.
"""

from __future__ import annotations

import re

_SMALL_WORDS = frozenset(
    """a an the is are was were be been being am of to in on at for from with without and or but nor
    not that this these those it its we our us you your i my me they them their he she his her as by
    if then else so when while which what where who why how can cannot could should would will may
    might must has have had having do does did done there here after before because also than into
    onto about between through during until again only all any each other another same just still
    now very more most some such like see let's let doesn't don't isn't can't won't didn't we're
    we'll it's i'm you'll that's there's saw found tried looks look show shows means seems happened
    happens using used use both every once whether instead however""".split()  # noqa: SIM905 - a list of words reads best as words
)
_FOREIGN = frozenset(
    """der die das und ist nicht ein eine einen mit auf für von zu den dem wir ich aber auch wird
    kann keine nach bei aus über wenn wie noch nur mehr sich haben les une des est pas dans pour
    avec sur que qui je nous mais cette ces aux ont sont plus comme sans el los las una con para
    del pero está son desde cuando también um uma não em com mas quando isso ele gli che non di per
    sono della nel anche и не на как но по для из от при все нет так это что мы nie się jest na że
    oraz przez dla ale som och är inte att det en på har hij het een niet van voor met maar ook dit
    deze""".split()  # noqa: SIM905 - a list of words reads best as words
)  # fmt: skip
"""Articles, prepositions and pronouns of other languages of Europe that no tool prints in a row."""
_BULLET = re.compile(r"\A\s*(?:[-*+\u2022\u00b7\u2013]|\(?\d{1,2}[.)]|[a-z]\))\s+")
_MARKUP = re.compile(
    r"[*`~]{1,3}|(?<!\w)_{1,2}(?=\w)|(?<=\w)_{1,2}(?!\w)|</?[A-Za-z][^>]*>|!?\[|\]\([^)]*\)|\]"
)
_WORD = re.compile(
    r"[(\"'\u201c\u2018\u00ab\u201e]*[^\W\d_](?:[^\W\d_]|['\u2019-])*[,.;:!?)\"'\u201d\u2019\u2026\u00bb]*"
)
_FEW, _SHARE_FOREIGN = 4, 0.55
_MARKS = "(\"'\u201c\u2018,.;:!?)\u201d\u2019"
_WIDE = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]")
_SPEAKER = re.compile(
    r"(?:@?[\w.-]+(?: [\w.-]+)?(?:,? at)?\s{1,4}[\[(]?(?:today |"
    r"yesterday )?(?:at )?\d{1,2}:\d\d(?::\d\d)?\s?(?:[AaPp]\.?[Mm]\.?)?[\])]?:?|"
    r"\[\d{1,2}:\d\d(?::\d\d)?\s?(?:[AaPp][Mm])?\] <?@?[\w.-]+>?:?)"
)
_TABULAR = re.compile(r"\S(?: {3,}|\t+)\S")
_COUNTED = re.compile(r"\d{3,} [a-z][\w ,()/-]*", re.IGNORECASE)
"""What netstat -s counts, in words: a number of three digits or more, and no mark at the end."""
_LABEL_WORDS, _PLACE_WORDS = 8, 3
_VALUED = re.compile(r"\S(?: {3,}|\t+)\S|:\s+\S|^[\"'{\[]|[={}<>]")
"""What a value or a column has, and a label has not."""
_NAME = re.compile(r"(?=\S*\d|\S*[/._-])[\w./@-]{1,60}")
"""What a label may name besides words: a host, a file, a number."""
_ADDRESS = re.compile(r"\d+\.\d+\.\d+\.\d+|(?:[0-9a-f]{2}:){5}|0x[0-9a-f]+")


def strip_markup(line: str) -> str:
    """Take Markdown and HTML decoration, bullets and heading signs off a line of prose."""
    text = re.sub(r"^\s*(?:#{1,6}\s+|>\s+)", "", line)
    return _MARKUP.sub("", _BULLET.sub("", text, count=1)).strip()


def reads_as_prose(line: str) -> bool:
    """Tell whether a line reads as written by a person to a person, and not as printed by a
    tool.
    """
    if _WIDE.search(line):
        return len(_WIDE.findall(line)) >= 4
    text = strip_markup(line)
    words = text.split()
    if len(words) < 2 or _TABULAR.search(text) or _COUNTED.fullmatch(text):
        return False
    plain = sum(_WORD.fullmatch(word) is not None for word in words)
    bare = [word.strip(_MARKS).lower() for word in words]
    small = sum(word in _SMALL_WORDS for word in bare)
    foreign = sum(word in _FOREIGN for word in bare)
    if foreign > max(small, 1) and len(words) > _FEW:
        return plain >= _SHARE_FOREIGN * len(words)
    if len(words) <= 4:
        return small >= 1 and plain == len(words) and text[-1] in ":.,!?;" and text[0].isalpha()
    return (
        plain >= 0.55 * len(words)
        and small >= max(1, len(words) // 7)
        and (small >= 2 or text[-1] in ".:!?,")
    )


def reads_as_words(line: str) -> bool:
    """Tell whether a line is a label or a remark of a few words: no value, sign or column in it but
    the name of a host or a file.
    """
    words = line.strip().rstrip(":.!?").split()
    if not words or len(words) > _LABEL_WORDS or _VALUED.search(line.strip()):
        return False
    plain = sum(_WORD.fullmatch(word.rstrip(":")) is not None for word in words)
    named = sum(_NAME.fullmatch(word.strip(_MARKS)) is not None for word in words)
    if plain + named < len(words) or (named > 1 and len(words) > _PLACE_WORDS):
        return False
    return plain > 0 or (len(words) == 1 and not words[0].isdigit())


def reads_as_sentence(line: str) -> bool:
    """Tell whether a line is prose beyond doubt: long enough, with several small words, and no
    address in it.
    """
    text = strip_markup(line)
    words = text.split()
    if _WIDE.search(line):
        return reads_as_prose(line)
    small = sum(word.strip(_MARKS).lower() in _SMALL_WORDS for word in words)
    return (
        reads_as_prose(line)
        and len(words) >= 5
        and small >= 2
        and (text[:1].isupper() or _ADDRESS.search(text) is None)
    )


def is_heading(line: str) -> bool:
    """Tell whether a line is a heading or rule of Markdown, a tag of HTML alone, or says who wrote
    in a chat and when.
    """
    stripped = line.strip()
    if _SPEAKER.fullmatch(stripped) is not None:
        return True
    return re.fullmatch(r"#{1,6}\s+\S.*|[=~*_-]{4,}|</?[A-Za-z][^>]*>|!\[.*", stripped) is not None
