"""Addresses are named by the kernel's table of symbols."""

from __future__ import annotations

import pytest

from podpath.drops.symbols import SymbolTable

TABLE = """\
ffffffff81000000 T _text
ffffffff81a00000 t nf_hook_slow
ffffffff81a00100 T ip_forward
ffffffff81b00000 D some_data
ffffffffc0300000 t br_handle_frame\t[bridge]
broken line
"""


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        (0xFFFFFFFF81A00012, "nf_hook_slow+0x12"),
        (0xFFFFFFFF81A00100, "ip_forward+0x0"),
        (0xFFFFFFFFC0300007, "br_handle_frame+0x7"),
        (0xFFFFFFFF80000000, "0xffffffff80000000"),
        (0xFFFFFFFFFF000000, "0xffffffffff000000"),
    ],
)
def test_an_address_lies_in_the_function_before_it(address: int, expected: str) -> None:
    """Data is no function, and what is far behind the last one is in none."""
    assert expected == SymbolTable(TABLE).name(address)


def test_a_hidden_table_names_nothing() -> None:
    """Where the kernel hides addresses (kptr_restrict), all are zero."""
    hidden = SymbolTable("0000000000000000 T nf_hook_slow\n")

    assert hidden.name(0xFFFFFFFF81A00012) == "0xffffffff81a00012"
