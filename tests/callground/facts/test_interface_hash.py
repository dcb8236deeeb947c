"""Which keys an edit changes."""

from __future__ import annotations

import pytest

from callground.facts.extract import extract_module
from callground.facts.interface_hash import changed_keys

BASE = """\
import a

LIMIT = 10

def f(x):
    return x

class C(Base):
    y = 1

    def __init__(self):
        self.z = 1

    def m(self, k):
        return k

a.patched = 1
"""


def keys(old: str | None, new: str | None) -> set[tuple[str, ...]]:
    return all_keys(old, new) - {("text", "mod")}


def all_keys(old: str | None, new: str | None) -> set[tuple[str, ...]]:
    return changed_keys(
        "mod",
        None if old is None else extract_module(old),
        None if new is None else extract_module(new),
    )


def test_the_text_has_a_key_of_its_own() -> None:
    assert all_keys(BASE, BASE.replace("return x", "return 2")) >= {("text", "mod"), ("body", "mod", "f")}
    assert all_keys(BASE, BASE) == set()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import a\n", "\n\n# moved\nimport a\n"),
        ("    return x\n", "    return x\n\n\n"),
        ("LIMIT = 10\n\n", "LIMIT = 10  # ten\n"),
        ("class C(Base):\n", "class C(Base):\n\n    # about y\n"),
    ],
)
def test_text_that_moves_changes_nothing(before: str, after: str) -> None:
    assert keys(BASE, BASE.replace(before, after)) == set()


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        ("LIMIT = 10", "LIMIT = 11", {("symbol", "mod", "LIMIT")}),
        ("LIMIT = 10", "LIMIT: int = 10", {("symbol", "mod", "LIMIT")}),
        ("LIMIT = 10", "LIMITS = 10", {("symbol", "mod", "LIMIT"), ("symbol", "mod", "LIMITS")}),
        ("LIMIT = 10", "if a: LIMIT = 10", {("symbol", "mod", "LIMIT")}),
        ("    return x", "    return x + 1", {("body", "mod", "f")}),
        (
            "def f(x):",
            "def f(x, y=1):",
            {("body", "mod", "f"), ("signature", "mod", "f"), ("symbol", "mod", "f")},
        ),
        ("        return k", "        return -k", {("body", "mod", "C.m")}),
        (
            "def m(self, k):",
            "def m(self, k=1):",
            {("body", "mod", "C.m"), ("signature", "mod", "C.m"), ("class", "mod", "C")},
        ),
        ("self.z = 1", "self.z = 2", {("body", "mod", "C.__init__"), ("class", "mod", "C")}),
        ("y = 1", "y = 2", {("class", "mod", "C")}),
        ("C(Base)", "C(Other)", {("class", "mod", "C")}),
        ("a.patched = 1", "a.other = 1", {("stores", "patched"), ("stores", "other")}),
        ("a.patched = 1", "b.patched = 1", {("stores", "patched")}),
        ("import a\n", "import a\n__all__ = ['f']\n", {("module", "mod"), ("symbol", "mod", "__all__")}),
        ("import a\n", "import a\nexec(b)\n", {("module", "mod")}),
        ("import a\n", "import a\nfoo(\n", {("module", "mod")}),
        ("import a\n", "import a\nfrom b import *\n", {("module", "mod"), ("symbol", "mod", "*")}),
    ],
)
def test_what_an_edit_changes(before: str, after: str, changed: set[tuple[str, ...]]) -> None:
    assert keys(BASE, BASE.replace(before, after, 1)) == changed
    assert keys(BASE.replace(before, after, 1), BASE) == changed


def test_a_value_that_is_too_long_to_keep_still_counts() -> None:
    long = "X = [" + "1, " * 1_000
    assert keys(f"{long}]", f"{long}2]") == {("symbol", "mod", "X")}


def test_a_module_that_comes_or_goes_changes_all_its_keys() -> None:
    appeared = keys(None, BASE)
    assert appeared == keys(BASE, None)
    assert {
        ("module", "mod"),
        ("symbol", "mod", "f"),
        ("class", "mod", "C"),
        ("stores", "patched"),
    } <= appeared
    assert keys(None, None) == set()
    assert keys(None, "") == keys("", None) == {("module", "mod")}


def test_another_overload_changes_the_signature() -> None:
    text = "@overload\ndef f(x: int): ...\n@overload\ndef f(x: str): ...\n"
    changed = keys(text, text + "@overload\ndef f(x: bytes): ...\n")
    assert changed == {("signature", "mod", "f"), ("body", "mod", "f"), ("symbol", "mod", "f")}
