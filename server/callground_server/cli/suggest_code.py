"""``callground suggest [TEXT] --at FILE:LINE``: calls of the workspace's own functions for a place in a file."""

from __future__ import annotations

import argparse
import json
import os
import re
from typing import Any

from callground.caller.code_combiner import CombinerError
from callground.caller.code_suggestions import CodeCaller, CodeSuggestion
from callground.caller.encoder import EncoderUnavailable
from callground.session import Session
from callground.text.lines import LineIndex
from callground_server.cli.gate import fail

SHOWN = 5
_PLACE = re.compile(r"(?P<file>.+?):(?P<line>\d+)(?::(?P<column>\d+))?\Z")


def run_at(options: argparse.Namespace) -> int:
    """Print the calls, best first; 0 when there is one, 1 when nothing fits.  Raises ValueError for a bad place."""
    file, line, column = _place(str(options.at))
    root = getattr(options, "root", None)
    with Session.open(os.path.abspath(root) if root else None, paths=[file]) as session:
        text = session.text(file)
        index = LineIndex(text)
        if line > index.count:
            raise ValueError(f"{file} has {index.count} lines, not {line}")
        at = index.offset(line, column - 1) if column else index.offset(line, len(index.line(line)))
        session.index()
        workspace = session.workspace
        caller = CodeCaller(store=workspace.reader.store)
        why = caller.unavailable()
        if why is not None:
            return fail(why)
        try:
            found = caller.suggest(
                workspace.snapshot(),
                file,
                text,
                at,
                limit=SHOWN,
                request=str(options.text or ""),
                explain=bool(getattr(options, "explain", False)),
                memo=workspace.memo,
            )
        except (EncoderUnavailable, CombinerError) as error:
            return fail(str(error))
        caller.vectors.flush()
    if getattr(options, "json", False):
        print(json.dumps({"suggestions": [_plain(each) for each in found]}, indent=2))
    else:
        _show(found)
    return 0 if found else 1


def _place(text: str) -> tuple[str, int, int]:
    """File, 1-based line, and 1-based column or 0."""
    match = _PLACE.match(text)
    if match is None or int(match["line"]) < 1:
        raise ValueError(f"--at takes FILE:LINE or FILE:LINE:COLUMN, not `{text}`")
    file = os.path.abspath(match["file"])
    if not os.path.isfile(file):
        raise ValueError(f"--at: no such file: {match['file']}")
    return file, int(match["line"]), int(match["column"] or 0)


def _plain(each: CodeSuggestion) -> dict[str, Any]:
    return {
        "call": each.call,
        "text": each.text,
        "callee": each.callee,
        "import": each.import_,
        "share": each.score,
        "sure": each.shown_unasked,
        "missing": list(each.placeholders),
        "signature": each.signature,
        "documentation": each.doc,
        "defined": {"path": each.path, "line": each.line},
        "edits": [{"start": e.start, "end": e.end, "text": e.text} for e in each.edits]
        + [{"start": each.start, "end": each.end, "text": each.text}],
        "reasons": [{"feature": r.feature, "effect": r.effect, "value": r.value} for r in each.reasons],
    }


def _show(found: list[CodeSuggestion]) -> None:
    if not found:
        print("nothing here fits")
    for each in found:
        print(f"{each.text.strip()}    # {each.score:.2f}" + (f", needs: {each.import_}" if each.import_ else ""))
        if each.placeholders:
            print(f"  = to fill in: {', '.join(each.placeholders)}")
        for reason in each.reasons:
            print(f"  {reason.effect:+6.2f}  {reason.feature} ({reason.value:g})")
