"""Each rule has a page with the fixed sections; tests/specs runs the examples in them."""

from __future__ import annotations

import re
from importlib import resources

import pytest

from callground.rules import RULES

SECTIONS = ["What it does", "Why it is bad", "Example", "When it abstains", "How to silence it"]


@pytest.mark.parametrize("code", RULES)
def test_sections(code):
    page = RULES[code].page()
    assert page.startswith(f"# {code}\n")
    assert re.findall(r"^## (.*)$", page, re.MULTILINE) == SECTIONS


@pytest.mark.parametrize("code", RULES)
def test_bad_and_good_twin(code):
    example = RULES[code].page().split("## Example")[1].split("## When")[0]
    bad, good = re.findall(r"```python\n(.*?)```", example, re.DOTALL)
    if RULES[code].severity == "error":
        assert "# ungrounded: " in bad or f"# arity: {code}" in bad
    assert "# grounded" in good
    assert "ungrounded" not in good
    assert "arity" not in good


def test_no_page_without_a_rule():
    pages = resources.files("callground.rules") / "pages"
    assert {p.name.removesuffix(".md") for p in pages.iterdir()} == set(RULES)


def test_silencing_is_shown_with_the_rules_own_code():
    for code, rule in RULES.items():
        assert f"# callground: ignore[{code}]" in rule.page()


@pytest.mark.parametrize("code", RULES)
def test_codes_kinds_and_marks_are_known(code):
    rule = RULES[code]
    assert rule.code == code
    assert rule.kind in ("ungrounded", "arity", "import")
    assert rule.severity in ("error", "warning", "hint")
    assert rule.marks in ("callee", "argument", "import")
    assert rule.summary.endswith(".")
