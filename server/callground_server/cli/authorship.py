"""Scope ``ai`` in a terminal, and ``callground provenance``: who wrote what, and how it is known."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterable

from callground.check import CannotRead, Target
from callground.config import find_root, load
from callground.facts.store import Store
from callground.provenance import signals
from callground.provenance.attribution import attribution, scope_of_files
from callground.provenance.changed_lines import GitError, changed_lines
from callground.provenance.intervals import HUMAN
from callground.provenance.records.gather import Records, uncommitted
from callground.provenance.scope import covered
from callground.session import Session
from callground.source.decode import decode


def ai_targets(
    session: Session, targets: Iterable[Target], since: str | None, *, complain: Callable[[str], None]
) -> list[Target]:
    """Those of the targets with lines that are not known to be a person's, each with these lines.

    Raises GitError as `changed_lines` does.
    """
    by_path = {target.path: target for target in targets}
    switches = session.config.provenance
    records = Records(session.root, switches)

    def read(path: str) -> str | None:
        target = by_path[path]
        try:
            return target.text if target.text is not None else session.text(path)
        except CannotRead:
            return None

    changed = dict(changed_lines(session.root))
    for target in by_path.values():
        if target.text is not None:
            # What came through a pipe stands for the file.
            changed[target.path] = tuple(uncommitted(session.root, target.path, target.text))
    lines = scope_of_files(
        records,
        session.workspace.reader.store,
        by_path,
        read,
        changed,
        switches,
        changed_lines(session.root, since) if since is not None else None,
    )
    for trouble in records.troubles:
        complain(trouble)
    return [by_path[path]._replace(lines=found) for path, found in lines.items()]


def run_provenance(options: argparse.Namespace) -> int:
    """``callground provenance FILE``: the exit status."""
    path = os.path.abspath(options.file)
    try:
        with open(path, "rb") as file:
            text = decode(file.read()).text
    except (OSError, ValueError) as error:
        print(f"callground: {options.file}: {error}", file=sys.stderr)
        return 2
    root = os.path.abspath(options.root) if options.root is not None else find_root(path)
    config, problems = load(root)
    records = Records(root, config.provenance)
    with Store() as store:
        changed = uncommitted(root, path, text)
        spans = attribution(records, store, path, text, changed, config.provenance)
    for trouble in (*map(str, problems), *records.troubles):
        print(f"callground: {trouble}", file=sys.stderr)
    rows = covered(text, spans)
    if options.format == "json":
        json.dump(
            [
                {
                    "start_line": first,
                    "end_line": last,
                    "origin": stamp.origin,
                    "source": stamp.source,
                    "confidence": stamp.confidence,
                    "tool": stamp.tool,
                }
                for first, last, stamp in rows
            ],
            sys.stdout,
            indent=2,
        )
        sys.stdout.write("\n")
        return 0
    if not rows:
        print(f"{options.file}: nothing tells that anybody but a person wrote it")
        return 0
    width = max(len(_lines(first, last)) for first, last, _ in rows)
    for first, last, stamp in rows:
        tool = f" ({stamp.tool})" if stamp.tool else ""
        who = "a person" if stamp.origin == HUMAN else stamp.origin
        sure = "" if stamp.confidence == 1 else f", {stamp.confidence:.0%} sure"
        says = signals.SIGNALS[stamp.source].says
        print(f"{_lines(first, last):>{width}}  {who}{tool}: {says} [{stamp.source}{sure}]")
    return 0


def _lines(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"


__all__ = ["GitError", "ai_targets", "run_provenance"]
