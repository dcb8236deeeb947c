"""What is known about one open document, edit by edit.

Edits come as the editor sends them.  Key strokes only move what is known.  Everything else is put together
(the changes of one notification, a deletion with the insertion that follows it, the pieces of a stream) and
then judged: does it come back from somewhere, is it the same in another form, or is it new and holds calls?
Nothing here reads a clock or a file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from callground.provenance import shapes, signals
from callground.provenance.align import spread, transfer
from callground.provenance.history import History, Source, whole
from callground.provenance.intervals import Span, Spans, Stamp, cut, edited, filled, normal, placed, stamped
from callground.provenance.judge import Hints, New, judged
from callground.provenance.regions import change_of, regions_of
from callground.provenance.streams import Pace, Stream, statement_start
from callground.provenance.whence import FEW_WORDS, Whence
from callground.text.edits import Edit, compose

JOIN = 0.6
"""Seconds between a deletion and an insertion at the same place that belong together."""
TYPED_WITHIN = 5.0
"""Seconds for which a typed word can be the trigger of an expansion."""
MOST_TYPED = 80

_GUESSES = frozenset((signals.INSERTION, signals.PASTE, signals.STREAM, signals.REWRITE))

Sources = Callable[[], Iterable[Source]]


class Lookup(NamedTuple):
    """An insertion that may be a copy from a file that is not open."""

    number: int
    text: str


class _Recent(NamedTuple):
    """The last edit that was more than a key stroke, as it can be judged again with its other half."""

    time: float
    text: str
    spans: Spans
    edits: list[Edit]
    raw: list[tuple[str, str]]
    removed: bool
    inserted: bool
    place: tuple[int, int]
    """In the text of now."""


@dataclass
class Ledger:
    """The spans of one document."""

    text: str
    spans: Spans = ()
    history: History = field(default_factory=History)
    """Of everything that was removed lately, from any document."""
    pace: Pace = field(default_factory=Pace)
    elsewhere: Sources = tuple
    """The other open documents."""
    watching: bool = True
    """New text is judged; else only what is known of the old is kept up."""
    lookups: list[Lookup] = field(default_factory=list)
    """Insertions to be looked for in the rest of the workspace; whoever does so takes them from here."""
    _places: dict[int, tuple[int, int]] = field(default_factory=dict)
    _numbers: int = 0
    _typed: tuple[float, int, str] = (0.0, 0, "")
    """When, up to where, and what was typed last in one go."""
    _taken: tuple[float, int, str] = (0.0, 0, "")
    """A typed word that was taken out in one piece: when, where, which."""
    _stream: Stream | None = None
    _recent: _Recent | None = None
    _erased: tuple[str, Spans, int] | None = None
    _grown: tuple[float, int] | None = None
    _own: Source | None = None

    # -- edits

    def change(self, edits: Iterable[Edit], now: float) -> None:
        """The edits of one notification, each in the text that the one before left."""
        group: list[Edit] = []
        run: tuple[int, int] = (0, 0)
        keys = 0
        ahead = self.text
        for given in edits:
            edit = _inside(given, ahead)
            short = shapes.trimmed(edit, ahead)
            if short is None:
                continue
            removed = ahead[short.start : short.end]
            single = shapes.is_key_stroke(removed, short.text)
            if group and _appends(group[-1], short, removed):
                # The next piece of a stream, perhaps.
                self._group(group, now)
                group = []
            if not single and (group or not self._goes_on(short, removed, now)):
                group.append(edit)
                ahead = ahead[: edit.start] + edit.text + ahead[edit.end :]
                continue
            if group:
                self._group(group, now)
                group = []
            if single:
                self._key_stroke(short, removed, now)
                keys += bool(short.text)
                begin = run[0] if short.start == run[1] and run != (0, 0) else short.start
                run = (begin, short.start + len(short.text))
            else:
                self._piece(short, now)
            ahead = self.text
        if group:
            self._group(group, now)
        elif keys and self.pace.note(keys) and self.watching:
            # No person presses so many keys at once: as if it had come in one piece.
            self._judge_anew(*run, Hints())

    def reload(self, text: str, stamp: Stamp | None) -> None:
        """The document has another text that nobody put in here; what is new in it gets `stamp`."""
        moved = transfer(self.text, self.spans, text)
        spans = moved.spans
        gone = tuple(self.history)
        for run in moved.fresh:
            keys = [word.key for word in run.words]
            stamps = whole(keys, gone) if len(keys) >= FEW_WORDS else None
            if stamps is not None:
                # Put aside by git, and brought back.
                spans = placed(spans, run.start, run.end - run.start, _shifted(spread(run.words, stamps), -run.start))
            elif stamp is not None:
                spans = filled(spans, run.start, run.end, stamp)
        self.history.add(self.text, self.spans)
        self.replace(text, spans)

    def replace(self, text: str, spans: Spans) -> None:
        """The document has another text, and this is known of it."""
        self.text, self.spans = text, spans
        self._stream = self._recent = self._erased = self._grown = self._own = None
        self._places.clear()

    def mark(self, start: int, end: int, stamp: Stamp | None) -> None:
        """Somebody knows where ``text[start:end]`` came from (None: forget what is known of it)."""
        self.spans = stamped(self.spans, start, end, stamp)

    def found_elsewhere(self, number: int) -> bool:
        """An insertion stands in another file of the workspace: it is a copy.  Whether that changed anything."""
        place = self._places.pop(number, None)
        if place is None:
            return False
        before = self.spans
        known = [span for span in cut(before, *place) if span.stamp.source not in _GUESSES]
        self.spans = placed(before, place[0], place[1] - place[0], tuple(known))
        return self.spans != before

    def not_found(self, number: int) -> None:
        """An insertion stands nowhere else."""
        self._places.pop(number, None)

    def growing(self, now: float, quiet: float) -> tuple[int, int] | None:
        """The last statement of a stream that may still grow: the offsets of its ends."""
        if self._grown is None or now - self._grown[0] >= quiet:
            return None
        end = min(self._grown[1], len(self.text))
        return statement_start(self.text, end), end

    # -- one key

    def _key_stroke(self, edit: Edit, removed: str, now: float) -> None:
        stream = self._stream
        appends = stream is not None and stream.appends(self.text, edit, removed, now)
        self._note_typed(edit, now)
        self._note_erased(edit, removed)
        self._apply(edit)
        self._recent = None
        if stream is None:
            return
        if not appends:
            self._stream = None
            return
        ended = stream.key_stroke(edit, now)
        if ended is not None:
            # A person goes on from where it stopped.
            self._stream = None
            if stream.confirmed:
                self.spans = stamped(self.spans, ended, edit.start + len(edit.text), None)
        elif stream.confirmed:
            self._grown = (now, stream.end)
            self._judge_stream(stream)

    def _note_typed(self, edit: Edit, now: float) -> None:
        when, end, typed = self._typed
        at = edit.start + len(edit.text)
        if edit.text:
            goes_on = end == edit.start and now - when < TYPED_WITHIN
            self._typed = (now, at, ((typed if goes_on else "") + edit.text)[-MOST_TYPED:])
        else:
            self._typed = (now, at, typed[:-1]) if end == edit.end else (0.0, 0, "")

    def _note_erased(self, edit: Edit, removed: str) -> None:
        """Text that is taken out key by key comes back in one piece when that is undone."""
        if not removed:
            self._erased = None
            return
        part = cut(self.spans, edit.start, edit.end)
        text, spans = removed, part
        if self._erased is not None:
            known, known_spans, place = self._erased
            if edit.end == place:
                text, spans = removed + known, normal([*part, *_shifted(known_spans, len(removed))])
            elif edit.start == place:
                text, spans = known + removed, normal([*known_spans, *_shifted(part, len(known))])
        self._erased = (text, spans, edit.start)
        if len(text) > 1 and not text.isspace():
            self.history.add(text, spans)

    # -- streams

    def _goes_on(self, edit: Edit, removed: str, now: float) -> bool:
        """Whether a change is one more piece of a stream."""
        return self._stream is not None and self._stream.appends(self.text, edit, removed, now)

    def _piece(self, edit: Edit, now: float) -> None:
        stream = self._stream
        assert stream is not None
        if not stream.confirmed:
            # By itself first: it may be a copy, or the second of two insertions.
            self._group([edit], now)
            if self._stream is None:
                return
            self._stream = stream
        else:
            self._apply(edit)
            self._recent = self._erased = None
        stream.piece(edit, now)
        self._grown = (now, stream.end)
        if stream.confirmed:
            self._judge_stream(stream)

    def _judge_stream(self, stream: Stream) -> None:
        """Judge everything from the first piece on as one insertion."""
        self._judge_anew(stream.start, stream.end, Hints(stream=True))

    def _judge_anew(self, start: int, end: int, hints: Hints) -> None:
        edit = Edit(start, start, self.text[start:end])
        base = self.text[:start] + self.text[end:]
        spans = edited(self.spans, Edit(start, end, ""))
        self._decide(base, spans, [edit], hints)

    # -- everything else

    def _group(self, edits: list[Edit], now: float) -> None:
        """Edits that came together and are more than key strokes."""
        base, spans, first = self.text, self.spans, edits[0]
        text, place = base, (first.start, first.start)
        raw: list[tuple[str, str]] = []
        total: list[Edit] = []
        for edit in edits:
            raw.append((text[edit.start : edit.end], edit.text))
            self._note_taken(edit, raw[-1][0], now)
            place = _carried(place, edit)
            self._move_places(edit)
            text = text[: edit.start] + edit.text + text[edit.end :]
            total = compose(total, [edit])
        removed, inserted = any(old for old, _ in raw), any(new for _, new in raw)
        recent = self._recent
        if recent is not None and len(edits) == 1 and now - recent.time <= JOIN:
            halves = (inserted and not removed and recent.removed and not recent.inserted) or (
                removed and not inserted and recent.inserted
            )
            low, high = recent.place
            touches = first.start <= high and first.end >= low
            # What was put in just now is taken out again: that is no second half.
            both = base[max(first.start, low) : min(first.end, high)].strip() if recent.inserted else ""
            if halves and touches and not both:
                base, spans, raw = recent.text, recent.spans, [*recent.raw, *raw]
                total = compose(recent.edits, total)
                place = _carried(recent.place, first)
                removed = inserted = True
        self._recent = _Recent(now, base, spans, total, raw, removed, inserted, place)
        self._erased = None
        blocks = sum(old.count("\n") > 0 and new.count("\n") > 0 for old, new in raw)
        known = self._decide(base, spans, total, Hints(self._trigger(raw, place, now), blocks=blocks))
        self._typed = (0.0, 0, "")
        self._stream = None
        if not known and len(edits) == 1 and first.text and not raw[-1][0].strip():
            self._stream = Stream.begin(first.start, first.text, now)

    def _note_taken(self, edit: Edit, removed: str, now: float) -> None:
        """A word that was typed just now is taken out: it may be the trigger of an expansion."""
        when, _, typed = self._typed
        if removed and now - when < TYPED_WITHIN and shapes.is_word(removed) and typed.endswith(removed):
            self._taken = (now, edit.start, removed)

    def _trigger(self, raw: Sequence[tuple[str, str]], place: tuple[int, int], now: float) -> str:
        when, at, word = self._taken
        inserted = [new for _, new in raw if new]
        if word and now - when <= JOIN and place[0] <= at <= place[1] and len(inserted) == 1:
            return word
        return ""

    def _decide(self, base: str, spans: Spans, edits: Sequence[Edit], hints: Hints) -> bool:
        """Make `edits` of `base`, and find out whose the new text is.  Whether (some of) it came back."""
        regions, short, after = regions_of(base, edits)
        moved = spans
        for edit in sorted(short, reverse=True):
            moved = edited(moved, edit)
        changes = [change_of(region, spans) for region in regions]
        for change in changes:
            region = change.region
            if region.removes:
                old_end = region.old_start + len(region.old)
                self.history.add(region.old, cut(spans, region.old_start, old_end))
        self.text, self.spans = after, moved
        whence = Whence(self.history, self._documents(base, spans) if self.watching else None)
        news: list[New] = []
        for change in changes:
            region = change.region
            origin = whence.of(change)
            if change.carried is not None and not origin.copied:
                self.spans = placed(self.spans, region.new_start, len(region.new), change.carried)
            for span in origin.taken:
                place = (region.new_start + span.start, region.new_start + span.end)
                self.spans = stamped(self.spans, *place, span.stamp)
            news.append(New(change, origin.left))
        came_back = any(
            len(run.words) >= FEW_WORDS and run not in new.fresh for new in news for run in new.change.fresh
        )
        if not self.watching:
            return came_back
        for new, stamp in zip(news, judged(news, hints), strict=True):
            if stamp is not None:
                self._stamp(new, stamp)
        return came_back

    def _documents(self, base: str, spans: Spans) -> Callable[[], list[Source]]:
        def documents() -> list[Source]:
            if self._own is None or self._own.text != base or self._own.spans != spans:
                self._own = Source(base, spans)
            return [self._own, *self.elsewhere()]

        return documents

    def _stamp(self, new: New, stamp: Stamp) -> None:
        offset = new.change.region.new_start
        spots = (
            new.change.region.inserted if new.change.carried is None else [(run.start, run.end) for run in new.fresh]
        )
        for start, end in spots:
            self.spans = stamped(self.spans, offset + start, offset + end, stamp)
        start, end = offset + spots[0][0], offset + spots[-1][1]
        if stamp.source != signals.REWRITE:
            self._numbers += 1
            # The first pieces of a stream may have been asked for already.
            self._places = {n: p for n, p in self._places.items() if p[1] <= start or p[0] >= end}
            self._places[self._numbers] = (start, end)
            self.lookups = [known for known in self.lookups if known.number in self._places]
            self.lookups.append(Lookup(self._numbers, self.text[start:end]))

    def _apply(self, edit: Edit) -> None:
        self.text = self.text[: edit.start] + edit.text + self.text[edit.end :]
        self.spans = edited(self.spans, edit)
        self._move_places(edit)

    def _move_places(self, edit: Edit) -> None:
        for number, where in self._places.items():
            self._places[number] = _moved(where, edit)
        if self._grown is not None and edit.start < self._grown[1]:
            self._grown = (self._grown[0], self._grown[1] + len(edit.text) - (edit.end - edit.start))


def _appends(before: Edit, edit: Edit, removed: str) -> bool:
    """Whether an edit only adds to what the one before has put in."""
    return bool(before.text) and not removed.strip() and edit.start == before.start + len(before.text)


def _inside(edit: Edit, text: str) -> Edit:
    size = len(text)
    return Edit(min(edit.start, size), min(edit.end, size), edit.text)


def _shifted(spans: Spans, by: int) -> Spans:
    return tuple(Span(span.start + by, span.end + by, span.stamp) for span in spans)


def _moved(place: tuple[int, int], edit: Edit) -> tuple[int, int]:
    """A stretch after an edit: what is put in at its ends stays outside."""
    start, end = place
    by = len(edit.text) - (edit.end - edit.start)
    if edit.end <= start:
        return start + by, end + by
    if edit.start >= end:
        return place
    return min(start, edit.start), max(end + by, edit.start + len(edit.text))


def _carried(place: tuple[int, int], edit: Edit) -> tuple[int, int]:
    """The stretch that an edit and those before it have touched, after it."""
    start, end = place
    by = len(edit.text) - (edit.end - edit.start)
    new_end = edit.start + len(edit.text)
    if edit.end <= start and (edit.end, edit.start) != (start, start):
        start, end = start + by, end + by
    elif edit.start <= end:
        end = max(end + by, new_end)
    return min(start, edit.start), max(end, new_end)
