"""Edits that an agent's hook reports: marked in the store, where the editor and the terminal find them."""

from __future__ import annotations

from callground.provenance import persist
from callground.provenance.align import transfer
from callground.provenance.intervals import AI, Spans, Stamp, stamped
from callground.provenance.signals import HOOK


def mark_change(store: persist.KeyValue, before: str | None, after: str, tool: str) -> Spans:
    """An agent makes `after` of a file's text `before` (None: the file is new): what is new is the agent's.

    What was known of `before` is carried over.  The mark hangs on the text, so it may be made before the file is
    written: a text that never comes to be is never looked for.
    """
    known = persist.load(store, before) if before is not None else None
    moved = transfer(before or "", known or (), after)
    spans = moved.spans
    for run in moved.fresh:
        spans = stamped(spans, run.start, run.end, Stamp(AI, HOOK, 1.0, tool))
    persist.save(store, after, spans)
    return spans
