"""How a request is read: tokens with places, what code they spell, and the words that are left without it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

_CHUNK = re.compile(r"[^\s\"'`“”‘’,;!?()\[\]{}<>|]+")
_TOKEN = re.compile(r"\w+|[^\w\s]")
_REASON = re.compile(r",?\s+(because|since|so that|in order to|as I|as we)\s", re.IGNORECASE)
_MAIN_WORDS = 3
"""Words that a main clause has at least; before fewer, "since" is hardly a conjunction."""
_TRAILING = ".:…"
_LONGEST = 400
"""Tokens of a request that are read; a longer one is cut there (and the student abstains on it)."""

KIND_WORDS = {
    "path": "file",
    "dotted": "name",
    "identifier": "name",
    "number": "number",
    "range": "numbers",
    "address": "address",
    "quoted": "text",
}
"""What the encoder reads in the place of a value: what matters to the choice of a tool is that one stands there."""


class Token(NamedTuple):
    """One word or one punctuation mark, with the chunk (what stands between two spaces) that it is part of."""

    text: str
    start: int
    end: int
    chunk: int
    """Index into `Reading.chunks`, -1 for punctuation between chunks."""


class Chunk(NamedTuple):
    """What stands between spaces and quotes, without the punctuation that ends a clause."""

    text: str
    start: int
    end: int
    kind: str
    """``word``, ``capital``, or a key of `KIND_WORDS`."""
    quoted: bool


@dataclass(frozen=True)
class Reading:
    """A request as the student sees it."""

    text: str
    tokens: tuple[Token, ...]
    chunks: tuple[Chunk, ...]
    cut: bool
    """Whether the text was longer than is read."""

    @property
    def words(self) -> list[str]:
        """The request's words in lower case, each value replaced by what kind of value it is."""
        return [f"<{chunk.kind}>" if chunk.kind in KIND_WORDS else _fold(chunk.text) for chunk in self.chunks]

    @property
    def masked(self) -> str:
        """What the encoder reads: the main clause, each value that is spelt like code replaced by a noun."""
        end = self.reason_at
        out: list[str] = []
        at = 0
        for chunk in self.chunks:
            noun = KIND_WORDS.get(chunk.kind)
            if noun is None or chunk.start >= end:
                continue
            out += [self.text[at : chunk.start], noun]
            at = chunk.end
        out.append(self.text[at:end])
        return "".join(out)

    @property
    def reason_at(self) -> int:
        """Where a clause begins that says why, which is not what is asked for; the length of the text without one."""
        found = _REASON.search(self.text)
        if found is None or sum(chunk.end <= found.start() for chunk in self.chunks) < _MAIN_WORDS:
            return len(self.text)
        return found.start()


def _fold(text: str) -> str:
    return unicodedata.normalize("NFKC", text).lower()


def kind_of(text: str) -> str:
    """What a chunk is spelt like."""
    if re.fullmatch(r"[-+]?[$€£]?\d[\d,]*(\.\d+)?%?", text):
        return "number"
    if re.fullmatch(r"\d+(-|\.\.|:)\d+", text):
        return "range"
    if "@" in text[1:-1] or "://" in text:
        return "address"
    if "/" in text.strip("/") or "\\" in text:
        return "path"
    if re.fullmatch(r"[^\W\d]\w*(\.[^\W\d]\w*)+", text):
        return "dotted"
    if re.fullmatch(r"\w+", text) and (
        "_" in text
        or re.search(r"[a-z][A-Z]", text)
        or (
            re.search(r"\d", text)
            and re.search(r"[^\W\d]", text)
            and not re.fullmatch(r"\d+(st|nd|rd|th|am|pm|h|m|s|k|px|gb|mb|kb|ms)", text, re.I)
        )
    ):
        return "identifier"
    return "capital" if text[:1].isupper() else "word"


def read(text: str) -> Reading:
    """Cut a request into chunks and tokens; every character that is no space lies in one token."""
    chunks: list[Chunk] = []
    tokens: list[Token] = []
    quotes = _quoted(text)
    for found in _CHUNK.finditer(text):
        start, end = found.span()
        while end - start > 1 and text[end - 1] in _TRAILING:
            end -= 1
        while end - start > 1 and text[start] in ":…":
            start += 1
        inside = any(a < start + 1 and end - 1 < b for a, b in quotes)
        chunks.append(Chunk(text[start:end], start, end, kind_of(text[start:end]), inside))
    here = 0
    for found in _TOKEN.finditer(text):
        while here < len(chunks) and chunks[here].end <= found.start():
            here += 1
        part = here if here < len(chunks) and chunks[here].start <= found.start() else -1
        tokens.append(Token(found[0], found.start(), found.end(), part))
        if len(tokens) > _LONGEST:
            break
    cut = len(tokens) > _LONGEST
    return Reading(text, tuple(tokens[:_LONGEST]), tuple(chunks[:_LONGEST]), cut)


def _quoted(text: str) -> list[tuple[int, int]]:
    spans = []
    for mark in ('"', "`", "“”", "‘’"):
        first, last = mark[0], mark[-1]
        spans += [
            m.span() for m in re.finditer(f"{re.escape(first)}[^{re.escape(last)}]{{1,200}}{re.escape(last)}", text)
        ]
    spans += [m.span() for m in re.finditer(r"(?<!\w)'[^']{1,200}'(?!\w)", text)]
    return spans


def without_values(reading: Reading, spans: Iterable[tuple[int, int]]) -> frozenset[str]:
    """The words of a request outside the given spans: what it is called when its values do not count."""
    taken = list(spans)
    return frozenset(
        word
        for word, chunk in zip(reading.words, reading.chunks, strict=True)
        if not any(chunk.start < end and start < chunk.end for start, end in taken)
        and not (word.startswith("<") and word.endswith(">"))
    )


def groups_of(phrasings: Sequence[frozenset[str]], tools: Sequence[str | None], alike: float = 0.6) -> list[int]:
    """One number for each request; requests that say the same in nearly the same words share theirs.

    Two requests of one tool belong together when their words, values left out, overlap by `alike` (Jaccard).
    Evidence that is meant to hold for new phrasings may not have one group on both sides of a split.
    """
    parent = list(range(len(phrasings)))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    unique: dict[tuple[str | None, frozenset[str]], int] = {}
    for i, (words, tool) in enumerate(zip(phrasings, tools, strict=True)):
        first = unique.setdefault((tool, words), i)
        parent[i] = root(first)
    heads = list(unique.items())
    for a, ((tool, words), i) in enumerate(heads):
        for (other_tool, other), j in heads[a + 1 :]:
            if tool != other_tool:
                continue
            shared = len(words & other)
            if shared and shared >= alike * len(words | other):
                parent[root(j)] = root(i)
    roots = [root(i) for i in range(len(phrasings))]
    numbers: dict[int, int] = {}
    return [numbers.setdefault(r, len(numbers)) for r in roots]
