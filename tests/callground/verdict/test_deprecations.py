"""Calls of what its author has marked as deprecated."""

from __future__ import annotations

import pytest

from projects import check_project

LIBRARY = """\
import sys
import warnings
from warnings import warn

from typing_extensions import deprecated, overload


class GoesSoon(FutureWarning):
    pass


class Loud(UserWarning):
    pass


@deprecated("use new")
def marked(): ...


def always():
    \'\'\'Doc.\'\'\'
    message = "gone in 3"
    warnings.warn(message, DeprecationWarning, stacklevel=2)


def derived():
    warn("goes soon", category=GoesSoon)


def sometimes(x=None):
    if x is not None:
        warn("x goes", DeprecationWarning)


def other():
    warn("careful", Loud)


def late():
    print()
    warn("late", DeprecationWarning)


@overload
@deprecated("no text")
def half(x: str) -> str: ...
@overload
def half(x: int) -> int: ...
def half(x): return x


@deprecated("no class")
class Marked: ...


class Child(Marked): ...


class Warns:
    def __init__(self):
        warnings.warn("no instances", PendingDeprecationWarning)


class Plain:
    @deprecated("no method")
    def method(self): ...
    @staticmethod
    @deprecated("no static")
    def static(): ...
"""


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("library.marked()", "use new"),
        ("library.always()", ""),
        ("library.derived()", "goes soon"),
        ("library.Marked()", "no class"),
        ("library.Warns()", "no instances"),
        ("library.Plain().method()", "no method"),
        ("library.Plain.static()", "no static"),
        ("library.sometimes()", None),
        ("library.other()", None),
        ("library.late()", None),
        ("library.half(1)", None),
        ("library.Child()", None),
        ("library.Plain()", None),
        ("(library.marked if library.__doc__ else library.late)()", None),
    ],
)
def test_deprecated_calls(call, said, tmp_path, tmp_path_factory):
    files = {"library.py": LIBRARY, "main.py": f"import library\n\n{call}\n"}
    report = check_project(tmp_path, files, cache=tmp_path_factory.mktemp("cache"))
    assert report.is_grounded
    hints = [e.finding for e in report.notes if e.path.endswith("main.py")]
    if said is None:
        assert hints == []
        return
    (hint,) = hints
    callee = call.removesuffix("()").removesuffix("(1)")
    assert (hint.code, hint.severity) == ("deprecated-call", "hint")
    assert hint.message == f"`{callee}` is deprecated" + (f": {said}" if said else "")
    assert hint.evidence
    assert [
        v.status for f in report.files for v in f.verdicts if v.callee == callee and f.path.endswith("main.py")
    ] == ["grounded"]
