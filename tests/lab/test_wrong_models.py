"""Systematically wrong models: which decisions are swapped, how, and what the page is made of."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from scripts.planted import SOURCE, Mutant, argument_for, read_arguments
from scripts.wrong_model_draw import of_module, splice, swap, wrong_models
from scripts.wrong_model_page import Figures, Tried, page
from scripts.wrong_models import ARGUMENTS, Ran, Store

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("decision", "swapped"),
    [
        ("a == b", "a != b"), ("a < b", "a <= b"), ("a is None", "a is not None"),
        ("a in b", "a not in b"), ("a <= b < c", "a < b < c"), ("a or b", "a and b"),
        ("not a", "a"), ("True", "False"), ("found(a)", "not (found(a))"),
    ],
)  # fmt: skip
def test_a_decision_is_swapped_for_its_contrary(decision: str, swapped: str) -> None:
    """Of an order the swap differs in its end alone; a chain is swapped in its first part."""
    made = swap(ast.parse(decision, mode="eval").body)

    assert made is not None
    assert ast.unparse(ast.parse(made[1])) == ast.unparse(ast.parse(swapped))


def test_lines_keep_their_numbers() -> None:
    """What takes the place of an expression of several lines has as many."""
    source = 'x = "ä" if (one\n    and two) else 3\ny = 4\n'
    (test,) = (node.test for node in ast.walk(ast.parse(source)) if isinstance(node, ast.IfExp))
    made = splice(source, test, "one or two")

    assert made.splitlines()[2] == "y = 4"
    assert ast.unparse(ast.parse(made)) == "x = 'ä' if one or two else 3\ny = 4"


def test_what_decides_nothing_about_a_packet_is_left_alone(tmp_path: Path) -> None:
    """Defaults and code outside of functions are."""
    module = tmp_path / "module.py"
    module.write_text(
        "LIMIT = 1 < 2\n\n\ndef f(a: int, b: bool = True) -> bool:\n    return a > 3\n"
    )

    assert [each.change for each in of_module(module)] == ["- return a > 3 + return (a >= 3)"]


def test_modules_take_turns() -> None:
    """The first models are of different modules, none of which a frame could not show."""
    places = [each.place for each in wrong_models("datapath")[:40]]

    assert len(set(places)) == 40
    assert not [
        place for place in places if place.startswith(("datapath/reasons", "datapath/cilium"))
    ]


def test_every_argument_fits_a_wrong_model() -> None:
    """What was argued about code that is gone is taken out, and the tests it names are there."""
    arguments = read_arguments(ARGUMENTS)
    models = wrong_models("datapath")
    used = {argument_for(model, arguments) for model in models}

    assert [each.change or each.module for each in arguments if each not in used] == []
    held = [each.held.partition("::") for each in arguments if each.held]
    assert [path for path, _, _ in held if not (ROOT / path).is_file()] == []
    for path, _, name in held:
        assert f"def {name}" in (ROOT / path).read_text(encoding="utf-8") if name else True


def made_model(change: str = "one") -> Mutant:
    """Make a wrong model of nothing."""
    return Mutant(SOURCE / "datapath/icmp.py", "Eq to NotEq", "x = 0\n", f"x = {change}\n")


def test_what_became_of_a_model_is_kept_until_the_sources_change(tmp_path: Path) -> None:
    """A run that is stopped goes on; a case of another generator says nothing."""
    store = Store(tmp_path / "db", "sources")
    store.keep(Ran(7, False, None, {"datapath/icmp.py": [1, 2]}))  # type: ignore[arg-type]  # not looked at
    store.keep(Ran(8, True, None, {"datapath/icmp.py": [1]}))  # type: ignore[arg-type]  # as above
    store.note(made_model(), 7, 1)
    again = Store(tmp_path / "db", "sources")

    assert again.by_line(range(10)) == {("datapath/icmp.py", 1): [7], ("datapath/icmp.py", 2): [7]}
    assert again.outcome(made_model()) == (7, 1)
    assert again.outcome(made_model("two")) is None
    assert Store(tmp_path / "db", "others").seeds() == set()


def test_the_page_tells_open_ones_from_argued_ones() -> None:
    """The figures add up, and each that no case noticed is listed with its reason."""
    arguments = read_arguments(ARGUMENTS)
    equivalent, held = (
        next(each for each in arguments if bool(each.held) is is_held) for is_held in (False, True)
    )
    found = Figures(cases=300, first=5, last=304, decisions=3000, noticed=1)
    for why in (None, equivalent, held):
        found.add(Tried(made_model(), 2, why), noticed=False)
    found.add(Tried(made_model(), 2, None), noticed=True)
    text = page(found)

    assert "| 5 | 2 | 3 | 1 | 1 | 1 |" in text
    assert "noticed 2 of 5 swaps (40.0 %)" in text
    assert f"2; {equivalent.why} |" in text
    assert f"(`{held.held}`)" in text
