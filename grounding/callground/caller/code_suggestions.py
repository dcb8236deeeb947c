"""Whole grounded calls for a place of a Python file, best first.

The request and the code around it rank the workspace's tools; for the best of them the call is written out as it
would be written there (receiver, import, arguments), put into the text and judged by the same `verify` as any
other code.  Only what is grounded there leaves this module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

from callground.caller import code_arguments, code_features
from callground.caller.code_combiner import CodeCombiner, CombinerError, Reason, softmax
from callground.caller.code_context import PROBE, Situation, pieces_at, situation
from callground.caller.code_request import Asked, asked_at
from callground.caller.code_spelling import (
    Spelling,
    line_span,
    parameters,
    signature_text,
    spellings,
    statement_of,
)
from callground.caller.code_tools import CodeTool, CodeTools, ToolTable
from callground.caller.encoder import Encoder, EncoderUnavailable, default_model
from callground.caller.tool_vectors import ToolVectors
from callground.caller.tools import words
from callground.gate.layers import layer
from callground.graph.changes import never
from callground.graph.driver import Stopped, judge_sites, planned
from callground.graph.snapshot import Snapshot
from callground.graph.space import Space
from callground.resolve.memo import Memo
from callground.text.edits import Edit, apply_edits
from callground.text.lines import LineIndex
from callground.verdict.model import Verdict

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from callground.facts.store import Store

    Floats = NDArray[np.float32]

CONSIDERED = 300
"""Tools whose features are looked at."""
TRIED = 24
"""Tools whose call is written out, at most."""
LEAST_SHARE = 0.004
"""A tool with less of the list's softmax is not offered, however short the list."""
LEAST_COSINE = 0.3
"""A request that shares no word with any tool, and is no nearer to one than this, fits none."""
_NAMES = tuple(code_features.FEATURES)
_COSINE = _NAMES.index("cosine")
_SAID = tuple(_NAMES.index(name) for name in ("overlap", "verb alike", "written out"))
LEAST_CERTAINTY = 0.8
"""Certainty of the arguments from which a call may be shown unasked."""


class CodeSuggestion(NamedTuple):
    """One call that can be written at the place."""

    text: str
    """What is written there, the statement's beginning included."""
    callee: str
    """Dotted name of what is called."""
    import_: str
    """The import statement that comes with it; empty where the file needs none."""
    score: float
    """Its share of the ranked list, between 0 and 1."""
    shown_unasked: bool
    """Whether the gate is sure enough to show it although nobody asked."""
    start: int = 0
    end: int = 0
    """What `text` replaces in the text that was asked about: offsets in code points."""
    edits: tuple[Edit, ...] = ()
    """The edits of import statements, in the same text."""
    placeholders: tuple[str, ...] = ()
    """Parameters that have to be filled in; each stands as ``...`` in `text`, in order."""
    call: str = ""
    """The call alone."""
    signature: str = ""
    doc: str = ""
    sureness: float = 0.0
    """The gate's figure for the list, between 0 and 1."""
    reasons: tuple[Reason, ...] = ()
    path: str = ""
    line: int = 0
    """Where the callee is defined."""


class CodeCaller:
    """Suggests calls in one workspace.  One thread at a time; it keeps the tools and their vectors."""

    def __init__(
        self,
        encoder: Encoder | None = None,
        combiner: CodeCombiner | None = None,
        *,
        tools: CodeTools | None = None,
        store: Store | None = None,
    ) -> None:
        self.encoder = encoder if encoder is not None else Encoder()
        self.tools = tools or CodeTools()
        self.vectors = ToolVectors(self.encoder, store)
        self._combiner = combiner
        self._asked: tuple[str, Floats] | None = None

    def unavailable(self) -> str | None:
        """Why nothing can be suggested here, or None."""
        reason = self.encoder.available()
        if reason is not None:
            return reason
        try:
            _ = self.combiner
        except CombinerError as error:
            return str(error)
        return None

    @property
    def combiner(self) -> CodeCombiner:
        """The ranking.  Raises CombinerError."""
        if self._combiner is None:
            folder = getattr(self.encoder, "path", None)
            self._combiner = CodeCombiner.read(folder if isinstance(folder, Path) else default_model())
        return self._combiner

    # -- in the background

    def prepare(self, snapshot: Snapshot, stop: Callable[[], bool] = never) -> bool:
        """Read and embed what has not been yet, until `stop` says so; whether everything is done.

        `stop` is asked before each file and each text, so that a slice can be as short as one of them.
        """
        if not self.tools.read(snapshot, self.tools.missing(snapshot), stop):
            return False
        table = self.tools.table(snapshot, stop)
        if table is None:
            return False
        if self.encoder.available() is not None:
            return True
        left = self.vectors.warm([tool.text for tool in table.tools], stop)
        if not left:
            self.vectors.flush()
        return not left

    # -- on demand

    def suggest(
        self,
        snapshot: Snapshot,
        path: str,
        text: str,
        offset: int,
        *,
        limit: int = 5,
        explicit: bool = True,
        request: str = "",
        explain: bool = False,
        memo: Memo | None = None,
        stop: Callable[[], bool] = never,
    ) -> list[CodeSuggestion]:
        """Calls for an offset of a text, best first, at most `limit`; see `suggest` below.

        Raises Stopped when `stop()` says so, EncoderUnavailable and CombinerError where nothing can be ranked.
        """
        asked = asked_at(text, offset, explicit=explicit, request=request)
        if asked is None:
            return []
        ranked = self.rank(snapshot, path, asked, memo=memo, stop=stop)
        if ranked is None:
            return []
        if not explicit and ranked.sureness < self.combiner.threshold:
            return []
        if not ranked.hints:
            return []
        found: list[CodeSuggestion] = []
        below = memo if memo is not None and memo.tracking else Memo()
        most = 1 if not explicit else TRIED
        for place, index in enumerate(ranked.order[:most]):
            if stop():
                raise Stopped
            if explicit and ranked.shares[index] < LEAST_SHARE and found:
                break
            suggestion = self._written(ranked, index, place == 0, snapshot, below, stop)
            if suggestion is None or (not explicit and not suggestion.shown_unasked):
                continue
            if explain:
                suggestion = suggestion._replace(reasons=tuple(self.combiner.explain(ranked.rows, index)))
            found.append(suggestion)
            if len(found) >= limit:
                break
        return found

    def rank(
        self,
        snapshot: Snapshot,
        path: str,
        asked: Asked,
        *,
        memo: Memo | None = None,
        stop: Callable[[], bool] = never,
    ) -> Ranked | None:
        """The tools for a request, before any call is written; None where the place cannot be read.

        Raises Stopped, EncoderUnavailable and CombinerError.
        """
        table = self.tools.table(snapshot, stop)
        if table is None:
            raise Stopped
        if not table.tools:
            return None
        place = situation(
            snapshot,
            path,
            asked.text.replace("\r\n", "\n").replace("\r", "\n"),
            asked.line,
            asked.request,
            asked.shape,
            memo=memo,
            request_lines=asked.request_lines,
        )
        if place is None:
            return None
        if stop():
            raise Stopped
        heard = code_features.hear(place, snapshot, table)
        vector = self.vector(asked.request)
        every = self.cosines(table, vector)
        chosen = code_features.candidates(heard, table, CONSIDERED, every)
        tools = [table.tools[index] for index in chosen]
        rows = code_features.rows(heard, table, tools, *self._alike(place, tools, vector, stop))
        scores = self.combiner.scores(rows)
        shares = softmax(scores)
        order = [int(i) for i in (-scores).argsort(kind="stable")]
        return Ranked(asked, place, table, tools, rows, shares, order, self.combiner.sureness(rows, scores))

    def vector(self, text: str) -> Floats:
        """The vector of a request; the last one is kept.  Raises EncoderUnavailable."""
        if self._asked is None or self._asked[0] != text:
            self._asked = (text, self.encoder.encode([text])[0])
        return self._asked[1]

    def cosines(self, table: ToolTable, vector: Floats) -> Floats:
        """The cosine of each tool with a request; 0 for one whose vector is not known yet."""
        import numpy as np

        zero = np.zeros(len(vector), np.float16)
        known = self.vectors.known([tool.text for tool in table.tools])
        rows = np.stack([zero if row is None else row for row in known])
        result: Floats = rows.astype(np.float32) @ vector
        return result

    def _alike(
        self, place: Situation, tools: Sequence[CodeTool], vector: Floats, stop: Callable[[], bool]
    ) -> tuple[Sequence[float], Sequence[float]]:
        """The cosines of some tools with the request, and with the function around."""
        import numpy as np

        texts = [tool.text for tool in tools]
        if self.vectors.warm(texts, stop):
            raise Stopped
        table = self.vectors.of(texts)
        around = function_text(place)
        alike = table @ self.vectors.of([around])[0] if around else np.zeros(len(tools), np.float32)
        return (table @ vector).tolist(), alike.tolist()

    def _written(
        self,
        ranked: Ranked,
        index: int,
        first: bool,
        snapshot: Snapshot,
        memo: Memo,
        stop: Callable[[], bool],
    ) -> CodeSuggestion | None:
        """The call of one tool, written out and judged; None where it would not be grounded."""
        tool, place, asked = ranked.tools[index], ranked.place, ranked.asked
        if tool.kind == "property" or (tool.path == place.path and tool.line == place.function_line):
            return None
        if place.shape.awaited and not tool.is_async:
            return None
        if tool.is_async and not place.is_async:
            # Its result would be a coroutine that nobody runs.
            return None
        for spelling in list(spellings(place, tool))[:2]:
            params = parameters(place, tool)
            filled = code_arguments.fill(place, params, spelling.receiver)
            call = f"{spelling.text}({filled.text})"
            statement = statement_of(place, tool, call)
            if not self._holds(place, spelling, statement, snapshot, memo, stop):
                continue
            sure = first and ranked.sureness >= self.combiner.threshold
            unasked = sure and not filled.missing and filled.certainty >= LEAST_CERTAINTY
            edits = _in_original(place, asked, spelling.edits)
            newline = "\r\n" if "\r\n" in asked.text else "\n"
            return CodeSuggestion(
                asked.before + statement.replace("\n", newline),
                f"{tool.module}.{tool.qualname}" if tool.module else tool.qualname,
                spelling.import_,
                round(float(ranked.shares[index]), 4),
                unasked,
                asked.start,
                asked.end,
                edits,
                filled.missing,
                call,
                signature_text(tool),
                tool.doc,
                round(ranked.sureness, 4),
                (),
                tool.path,
                tool.line,
            )
        return None

    def _holds(
        self,
        place: Situation,
        spelling: Spelling,
        statement: str,
        snapshot: Snapshot,
        memo: Memo,
        stop: Callable[[], bool],
    ) -> bool:
        """Whether the text with the statement (and its import) in it is grounded there, and no worse."""
        source = place.source
        start, end = line_span(source.text, place.line)
        white = len(source.text[start:end]) - len(source.text[start:end].lstrip())
        body = statement + (" pass" if statement.endswith(":") else "")
        try:
            patched = apply_edits(source.text, [*spelling.edits, Edit(start + white, end, body)])
        except ValueError:
            return False
        if any(edit.start > start for edit in spelling.edits):
            return False
        shift = sum(edit.text.count("\n") for edit in spelling.edits)
        after = snapshot.with_overlay({place.path: patched})
        first = place.line + shift
        lines = [(first, first + statement.count("\n"))]
        for edit in spelling.edits:
            at = source.text.count("\n", 0, edit.start) + 1
            lines.append((at, at + edit.text.count("\n") + 1))
        below = layer(memo, snapshot, after) if memo.tracking else Memo()
        with after.space.contents.pinned():
            sites = planned(place.path, after, pieces_at(after, place.path, lines))
            touching = [s for s in sites if any(a <= s.range.end_line and s.range.line <= b for a, b in lines)]
            verdicts = judge_sites(touching, after, below, stop=stop)
        return _grounded(verdicts, lines)


class Ranked(NamedTuple):
    """The tools for one request."""

    asked: Asked
    place: Situation
    table: ToolTable
    tools: list[CodeTool]
    rows: Floats
    shares: Floats
    order: list[int]
    """Places in `tools`, best first."""
    sureness: float

    @property
    def hints(self) -> bool:
        """Whether the request speaks of any of the tools at all."""
        said = self.rows[:, list(_SAID)]
        return bool(len(said)) and (float(said.max()) > 0 or float(self.rows[:, _COSINE].max()) >= LEAST_COSINE)


def function_text(place: Situation) -> str:
    """What the encoder reads of the function around a place; empty at module level."""
    if not place.function:
        return ""
    around = words(place.owner.rpartition(".")[2])
    text = f"{around} {words(place.function)}".strip()
    first = place.function_doc.strip().split("\n")[0].strip()[:200]
    return f"{text}: {first}" if first else text


def _in_original(place: Situation, asked: Asked, edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """Edits of the text with the probe as edits of the text that was asked about: all of them stand above the place."""
    index, original = place.source.lines, LineIndex(asked.text)
    newline = "\r\n" if "\r\n" in asked.text else "\n"
    return tuple(
        Edit(
            original.offset(*index.position(edit.start)),
            original.offset(*index.position(edit.end)),
            edit.text.replace("\n", newline),
        )
        for edit in edits
    )


def _grounded(verdicts: Iterable[Verdict], lines: Sequence[tuple[int, int]]) -> bool:
    """Whether the call on the first of these lines is grounded, and nothing on any of them is wrong."""
    first, last = lines[0]
    found = False
    for verdict in verdicts:
        inside = first <= verdict.range.line and verdict.range.end_line <= last
        on_import = any(a <= verdict.range.line <= b for a, b in lines[1:])
        if verdict.status in ("ungrounded", "arity") and (inside or on_import):
            return False
        if inside and verdict.site == "call":
            if verdict.status != "grounded":
                return False
            found = True
    return found


_callers: WeakKeyDictionary[Space, CodeCaller] = WeakKeyDictionary()


def suggest(
    snapshot: Snapshot, path: str, text: str, offset: int, *, limit: int = 5, explicit: bool = True
) -> list[CodeSuggestion]:
    """Calls that can be written at an offset of a text, best first.

    `text` is the file as the editor has it (`snapshot` may show another version of it).  With `explicit` false only
    a comment is taken for a request, and only what the gate is sure of is answered.  Nothing where there is no
    encoder, or nothing fits.
    """
    caller = _callers.get(snapshot.space)
    if caller is None:
        caller = _callers[snapshot.space] = CodeCaller()
    if caller.unavailable() is not None:
        return []
    try:
        return caller.suggest(snapshot, path, text, offset, limit=limit, explicit=explicit)
    except EncoderUnavailable:
        return []


__all__ = ["PROBE", "CodeCaller", "CodeSuggestion", "Ranked", "spellings", "suggest"]
