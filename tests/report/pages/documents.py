"""Reads a page as a browser would, as far as is needed to tell what may go wrong in it."""

from __future__ import annotations

from html.parser import HTMLParser

_ELEMENTS = (
    "html head meta title style body h1 h2 span p pre mark code figure details summary ol ul li "
    "footer svg g rect line path circle text tspan"
)
_ATTRIBUTES = (
    "lang charset http-equiv content name class xmlns viewbox width height role x y x1 x2 y1 y2 rx "
    "cx cy r d text-anchor fill"
)
ELEMENTS, ATTRIBUTES = frozenset(_ELEMENTS.split()), frozenset(_ATTRIBUTES.split())
EMPTY = frozenset({"meta", "rect", "line", "path", "circle"})


class Document(HTMLParser):
    """A page, with what it says and what should not be in it."""

    def __init__(self, page: str) -> None:
        """Read the page."""
        super().__init__()
        self.said: list[str] = []
        self.strange: list[str] = []
        self._open: list[str] = []
        self.feed(page)
        self.close()
        self.strange += [f"<{tag}> is not closed" for tag in self._open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note elements and attributes that a page has no use for."""
        if tag not in ELEMENTS:
            self.strange.append(f"<{tag}>")
        self.strange += [f"{tag} {name}={value}" for name, value in attrs if name not in ATTRIBUTES]
        if tag not in EMPTY:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the same of an element of SVG without contents."""
        self.handle_starttag(tag, attrs)
        if tag not in EMPTY:
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        """Close the element that is open."""
        if not self._open or self._open.pop() != tag:
            self.strange.append(f"</{tag}> closes what is not open")

    def handle_data(self, data: str) -> None:
        """Note what is said."""
        self.said.append(data)

    @property
    def text(self) -> str:
        """Everything that it says."""
        return "".join(self.said)
