"""Silencing comments: what counts as one, which sites it silences, which are unused."""

from __future__ import annotations

import pytest

from callground.rules.ignores import comments, silence
from callground.verdict.model import Finding, Range, Reason, Verdict


def verdict(line, code="unknown-member", *, end_line=None, at=None):
    span = Range(line, 0, end_line or line, 10)
    where = Range(at or line, 2, at or line, 5)
    finding = Finding(code, "ungrounded", "error", where, "a.b", "a", False, "no", ())
    return Verdict(span, where, "call", "a.b", "ungrounded", finding=finding)


def marks(text):
    return [(c.range.line, c.range.column, c.text, c.codes, c.line) for c in comments(text)]


def status(text, *verdicts):
    result, unused = silence(verdicts, comments(text))
    return [v.status for v in result], [c.text for c in unused]


def test_with_and_without_codes():
    assert marks("a.b()  # callground: ignore\n") == [(1, 7, "# callground: ignore", (), 1)]
    text = "a.b()  # callground: ignore[unknown-member, not-callable] because\n"
    assert marks(text) == [
        (1, 7, "# callground: ignore[unknown-member, not-callable]", ("unknown-member", "not-callable"), 1)
    ]


def test_inside_strings_nothing_is_a_comment():
    assert marks('x = "# callground: ignore"\ny = """\n# type: ignore\n"""\nz = f"{x}# noqa"\n') == []


@pytest.mark.parametrize(
    "comment",
    [
        "# type: ignore",
        "# type:ignore[attr-defined]",
        "# pyright: ignore[reportAttributeAccessIssue]",
        "# ty: ignore",
        "# noqa",
        "# NOQA",
        "# noqa: F821",
        "# noqa: E501, F821",
        "# pylint: disable=no-member",
        "# mentioned first # type: ignore",
    ],
)
def test_comments_of_others_silence_and_are_never_unused(comment):
    assert status(f"a.b()  {comment}\n", verdict(1)) == (["abstained"], [])
    assert status(f"a.b()  {comment}\n") == ([], [])


@pytest.mark.parametrize(
    "comment",
    [
        "# noqa: E501",
        "# noqa:D100",
        "# pylint: disable=invalid-name",
        "# type: int",
        "# ignore",
        "# callground: ignored",
        "# type: ignored",
    ],
)
def test_comments_about_something_else_silence_nothing(comment):
    assert status(f"a.b()  {comment}\n", verdict(1)) == (["ungrounded"], [])


def test_a_silenced_verdict_says_why():
    result, _ = silence([verdict(2)], comments("\na.b()  # type: ignore\n"))
    assert result[0].reason is Reason.IGNORED
    assert result[0].detail == "line 2: # type: ignore"
    assert result[0].finding is None


def test_only_the_named_rules():
    text = "a.b()  # callground: ignore[not-callable]\n"
    assert status(text, verdict(1)) == (["ungrounded"], ["# callground: ignore[not-callable]"])
    assert status(text, verdict(1, "not-callable")) == (["abstained"], [])


def test_unused_comment_is_told():
    assert status("x = 1  # callground: ignore\n") == ([], ["# callground: ignore"])


def test_alone_on_a_line_it_speaks_for_the_next_line_of_code():
    text = "# callground: ignore\n\n# why\na.b()\na.b()\n"
    assert status(text, verdict(4), verdict(5)) == (["abstained", "ungrounded"], [])


@pytest.mark.parametrize(("line", "silent"), [(1, True), (2, False), (3, True), (4, True)])
def test_call_over_several_lines(line, silent):
    """First line, last line and the line of the wrong keyword silence; other lines inside do not."""
    lines = ["a.b(", "    1,", "    c=2,", ")"]
    lines[line - 1] += "  # callground: ignore"
    found, unused = status("\n".join(lines) + "\n", verdict(1, end_line=4, at=3))
    assert (found == ["abstained"]) is silent
    assert bool(unused) is not silent


def test_type_ignore_above_all_code_speaks_for_the_file():
    assert status("#!/usr/bin/env python\n# type: ignore\nimport a\na.b()\n", verdict(4))[0] == ["abstained"]
    assert status("import a\n# type: ignore\n\na.b()\n", verdict(4))[0] == ["ungrounded"]
    assert status("import a\n# ruff: noqa\na.b()\n", verdict(3))[0] == ["abstained"]
    assert status("import a\n# ruff: noqa: E501\na.b()\n", verdict(3))[0] == ["ungrounded"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_line_end(end):
    assert status(end.join(["x = 1", "a.b()  # callground: ignore", ""]), verdict(2)) == (["abstained"], [])


def test_form_feed_and_unicode_separators_are_no_line_ends():
    assert status("x = 1\f\ny = '\u2028'\na.b()  # callground: ignore\n", verdict(3)) == (["abstained"], [])


@pytest.mark.parametrize(
    "broken",
    [
        "foo(\n",
        'x = """\n',
        "x = 'abc\n",
        "if x:\n        y\n    z\n",
        "\x00\n",
        "$?\n",
    ],
)
def test_half_typed_code_keeps_its_comments(broken):
    text = broken + "a.b()  # callground: ignore\n"
    line = text.count("\n")
    assert status(text, verdict(line)) == (["abstained"], [])


def test_comment_before_the_break_is_kept_too():
    text = "a.b()  # callground: ignore\nfoo(\n"
    assert status(text, verdict(1)) == (["abstained"], [])


def test_two_on_one_line():
    text = "a.b()  # callground: ignore[unknown-member]  # callground: ignore[not-callable]\n"
    assert status(text, verdict(1)) == (["abstained"], ["# callground: ignore[not-callable]"])


def test_grounded_verdicts_stay():
    kept = Verdict(Range(1, 0, 1, 3), Range(1, 0, 1, 1), "call", "a", "grounded")
    assert silence([kept], comments("a()  # callground: ignore\n"))[0] == [kept]
