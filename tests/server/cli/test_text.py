"""The report that people read."""

from __future__ import annotations

import io
import os

import pytest

from callground.verdict.model import Finding, Range, Reason, Step, Suggestion, Verdict
from callground.verdict.report import EnvironmentInfo, FileError, FileVerdicts, GroundingReport
from callground_server.cli.progress import ProgressBar
from callground_server.cli.style import Style, style_for
from callground_server.cli.text import Look, explain, render

ROOT = os.path.join(os.sep, "w")
APP = os.path.join(ROOT, "app.py")
SOURCE = {APP: ["import client", "", "\tclient.fetch('😀')"]}
LOOK = Look(base=ROOT)
HERE = EnvironmentInfo(os.path.join(ROOT, ".venv", "bin", "python"), "3.11.7", True)


def lines(path):
    return SOURCE.get(path, [])


FOUND = Finding(
    "unknown-member",
    "ungrounded",
    "error",
    Range(3, 8, 3, 13),
    "client.fetch",
    "client",
    False,
    "module `client` has no member `fetch`",
    ("module client is at client.py:1",),
    suggestions=(Suggestion("get", "(url)"), Suggestion("post")),
)
WRONG = Verdict(
    Range(3, 1, 3, 18),
    Range(3, 8, 3, 13),
    "call",
    "client.fetch",
    "ungrounded",
    finding=FOUND,
    steps=(Step(Range(3, 1, 3, 7), "`client` is the module client"),),
)
ABSTAINED = Verdict(Range(3, 1, 3, 18), Range(3, 1, 3, 7), "call", "client", "abstained", Reason.ANY, "Any")


def report(*verdicts, errors=(), environment=HERE, scope="all", notes=()):
    files = (FileVerdicts(APP, verdicts, notes),) if verdicts or notes else ()
    return GroundingReport(ROOT, files, errors, scope, environment)


def test_a_finding_in_full():
    assert render(report(WRONG, ABSTAINED), lines, LOOK) == (
        f"""callground: scope all, 2 calls in 1 file looked at, Python 3.11.7 ({os.path.join(".venv", "bin", "python")})

app.py:3:9: error[unknown-member]: module `client` has no member `fetch`
 3 |     client.fetch('😀')
   |            ^^^^^
   = module client is at client.py:1
   = did you mean `get(url)`? or `post`

1 finding (1 ungrounded)
calls: 0 grounded, 1 wrong, 1 abstained
abstained because: any 1
"""
    )


def test_grounded():
    grounded = Verdict(Range(1, 0, 1, 3), Range(1, 0, 1, 1), "reference", "a", "grounded")
    text = render(report(grounded), lines, LOOK)
    assert text.startswith("callground: scope all, 0 calls and 1 reference in 1 file looked at, Python 3.11.7")
    assert "grounded: no call was proven wrong" in text


def test_files_that_could_not_be_read():
    text = render(report(errors=(FileError(APP, "it does not parse"),)), lines, LOOK)
    assert "\napp.py: not checked: it does not parse\n" in text
    assert "nothing was looked at, 1 file not checked" in text


def test_notes_do_not_look_like_findings():
    note = FOUND.__class__(**{**FOUND.__dict__, "severity": "hint", "code": "unused-ignore", "suggestions": ()})
    text = render(report(notes=(note,)), lines, LOOK)
    assert "app.py:3:9: hint[unused-ignore]" in text
    assert "grounded: no call was proven wrong, 1 note" in text


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        (HERE._replace(trusted=False), "python), untrusted"),
        (HERE._replace(python=None), "Python 3.11.7\n"),
        (HERE._replace(version="", python=None), "Python of unknown version"),
        (HERE._replace(doubtful="no virtual environment"), "doubtful environment: no virtual environment"),
        (None, "no environment"),
    ],
)
def test_environment_is_told(environment, words):
    assert words in render(report(WRONG, environment=environment), lines, LOOK)


def test_a_source_that_is_gone_leaves_the_rest():
    text = render(report(WRONG), lambda path: [], LOOK)
    assert "app.py:3:9: error[unknown-member]" in text
    assert "did you mean" in text


def test_colours_change_nothing_but_colours():
    import re

    plain = render(report(WRONG, ABSTAINED), lines, LOOK)
    painted = render(report(WRONG, ABSTAINED), lines, LOOK._replace(style=Style(True)))
    assert painted != plain
    assert re.sub(r"\x1b\[[\d;]*m", "", painted) == plain


def test_explain():
    assert explain(APP, 3, [WRONG, ABSTAINED], lines, LOOK) == (
        """app.py:3
    client.fetch('😀')

call `client.fetch` at 3:2: ungrounded
  1. `client` is the module client  (3:2)
  unknown-member: module `client` has no member `fetch`
  = module client is at client.py:1
  = did you mean `get(url)`? or `post`

call `client` at 3:2: abstained
  because: any (Any)
"""
    )


def test_explain_without_a_call():
    assert "no call and no reference stands on this line" in explain(APP, 2, [WRONG], lines, LOOK)
    assert explain(APP, 99, [], lines, LOOK)


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("terminal", "environment", "colours"),
    [
        (True, {}, True),
        (False, {}, False),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"NO_COLOR": ""}, True),
        (False, {"FORCE_COLOR": "1"}, True),
        (False, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (True, {"FORCE_COLOR": "0"}, False),
        (True, {"TERM": "dumb"}, False),
    ],
)
def test_when_there_are_colours(terminal, environment, colours):
    assert style_for(Terminal() if terminal else io.StringIO(), environment).colours is colours


def test_progress_on_a_terminal_is_taken_away_again():
    stream = Terminal()
    with ProgressBar(stream, patience=0) as bar:
        bar.update("indexing", 1, 4)
        bar.update("indexing", 4, 4)
    assert "indexing [" in stream.getvalue()
    assert "4/4" in stream.getvalue()
    assert stream.getvalue().endswith("\r\x1b[2K")


@pytest.mark.parametrize(("stream", "wanted"), [(io.StringIO(), True), (Terminal(), False)])
def test_no_progress_when_nobody_looks(stream, wanted):
    with ProgressBar(stream, wanted=wanted, patience=0) as bar:
        bar.update("indexing", 1, 4)
    assert stream.getvalue() == ""


def test_no_progress_for_what_is_quick():
    stream = Terminal()
    with ProgressBar(stream) as bar:
        bar.update("indexing", 1, 1)
    assert stream.getvalue() == ""
