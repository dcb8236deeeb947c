"""Each rule's words, from plain facts."""

from __future__ import annotations

import pytest

from callground import rules

CASES = [
    ("unknown-name", {"name": "run"}, "name `run` is not defined, nor is it a builtin"),
    (
        "unknown-name",
        {"name": "run", "owner": "app", "owner_kind": "module"},
        "name `run` is not defined in module `app`, nor is it a builtin",
    ),
    ("unknown-import", {"name": "nope"}, "no module named `nope` in the workspace or the environment"),
    (
        "unknown-import",
        {
            "name": "Markup",
            "owner": "flask",
            "owner_kind": "module",
            "distribution": "flask",
            "version": "3.1",
        },
        "cannot import `Markup`: module `flask` (flask 3.1) does not define it",
    ),
    (
        "unknown-import",
        {"name": "flask.nope", "distribution": "flask", "version": "3.1"},
        "no module named `flask.nope` in the installed distribution (flask 3.1)",
    ),
    (
        "unknown-member",
        {"name": "fetch", "owner": "app.Client", "owner_kind": "class"},
        "class `app.Client` has no member `fetch`",
    ),
    (
        "unknown-member",
        {"name": "parse", "owner": "json", "owner_kind": "module", "distribution": None, "version": None},
        "module `json` has no member `parse`",
    ),
    (
        "unknown-member",
        {
            "name": "run",
            "owner": "app",
            "owner_kind": "module",
            "detail": "it exists only where `sys.platform == 'win32'`",
        },
        "module `app` has no member `run`; it exists only where `sys.platform == 'win32'`",
    ),
    (
        "unknown-member",
        {"name": "run", "owner": "app.f", "owner_kind": "function"},
        "function `app.f` has no member `run`",
    ),
    (
        "not-callable",
        {"callee": "datetime", "owner": "datetime", "owner_kind": "module"},
        "`datetime` cannot be called: it is the module `datetime`",
    ),
    (
        "not-callable",
        {"callee": "x", "owner": "int", "owner_kind": "class"},
        "`x` cannot be called: it is a value of `int`",
    ),
    ("not-callable", {"callee": "x"}, "`x` cannot be called"),
    (
        "too-many-arguments",
        {"callee": "f", "maximum": 2, "given": 3},
        "`f` takes at most 2 positional arguments, 3 are given",
    ),
    (
        "too-many-arguments",
        {"callee": "f", "maximum": 0, "given": 1},
        "`f` takes no positional arguments, 1 is given",
    ),
    (
        "too-many-arguments",
        {"callee": "f", "maximum": 1, "given": 2},
        "`f` takes at most 1 positional argument, 2 are given",
    ),
    (
        "missing-argument",
        {"callee": "f", "parameter": "a"},
        "`f` is called without its required argument `a`",
    ),
    (
        "missing-argument",
        {"callee": "f", "parameter": ["a", "b", "c"]},
        "`f` is called without its required arguments `a`, `b` and `c`",
    ),
    ("unknown-keyword", {"callee": "f", "name": "tiemout"}, "`f` has no parameter `tiemout`"),
    ("duplicate-argument", {"callee": "f", "parameter": "a"}, "`f` gets its parameter `a` twice"),
    (
        "positional-only-as-keyword",
        {"callee": "f", "name": "x"},
        "`f` takes `x` by position only, not as a keyword",
    ),
    ("deprecated-call", {"callee": "f", "detail": "use g"}, "`f` is deprecated: use g"),
]


@pytest.mark.parametrize(("code", "facts", "text"), CASES)
def test_message(code, facts, text):
    assert rules.message(code, **facts) == text


def test_every_rule_has_a_message_case():
    assert {code for code, _, _ in CASES} == set(rules.RULES)


def test_a_rule_that_does_not_exist_is_a_mistake_of_the_caller():
    with pytest.raises(KeyError):
        rules.message("unknown-rule")


def test_every_rule_gives_words_even_without_facts():
    for code in rules.RULES:
        assert rules.message(code, name="x", callee="x")
