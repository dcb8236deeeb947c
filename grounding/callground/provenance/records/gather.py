"""All records of one repository, put together for one file at a time."""

from __future__ import annotations

import difflib
import os

from callground.config.model import Provenance
from callground.provenance.changed_lines import GitError, committed_text, lines_between, run_git
from callground.provenance.intervals import AI, Spans, Stamp, filled
from callground.provenance.records.agent_trace import TraceLines, placed_by_hash, read_traces
from callground.provenance.records.blame import Blamed, assistants, blame, notes
from callground.provenance.records.git_ai import REF, parse_note
from callground.provenance.records.model import Lines, at
from callground.provenance.signals import COMMITS
from callground.text.lines import LineIndex


class Records:
    """The records of the repository that a folder lies in.  Each trouble is told once, in `troubles`."""

    def __init__(self, root: str, switches: Provenance | None = None) -> None:
        self.root = root
        self.troubles: list[str] = []
        self._on = switches or Provenance()
        self._top = self._top_folder()
        self._traces: dict[str, list[TraceLines]] | None = None
        self._assistants: dict[str, str] | None = None
        self._notes: dict[str, str] | None = None
        self._read_notes: dict[str, dict[str, list[Lines]]] = {}
        self._texts: dict[tuple[str, str], str | None] = {}

    @property
    def has_history(self) -> bool:
        """Whether any commit says something about who wrote it."""
        return bool(self.assistants or self.notes)

    @property
    def assistants(self) -> dict[str, str]:
        """Commits that name an assistant -> which."""
        if self._assistants is None:
            self._assistants = {}
            if self._on.commits and self._top:
                try:
                    self._assistants = assistants(self._top)
                except GitError:
                    pass  # nothing was committed yet
        return self._assistants

    @property
    def notes(self) -> dict[str, str]:
        """Commits with a note of git-ai -> the note's object."""
        if self._notes is None:
            self._notes = {}
            if self._on.git_ai and self._top:
                try:
                    self._notes = notes(self._top, REF)
                except GitError:
                    pass  # there are no notes
        return self._notes

    def traced(self) -> list[str]:
        """The files (absolute) that Agent Trace records tell of."""
        return [os.path.join(self._base, *name.split("/")) for name in self._all_traces()]

    def touched(self) -> set[str] | None:
        """The files (absolute, by their names then) that commits with an attribution have touched.

        None when git cannot tell.
        """
        commits = sorted({*self.assistants, *self.notes})
        if not commits or not self._top:
            return set()
        try:
            output = run_git(
                self._top,
                *("diff-tree", "--stdin", "--root", "-r", "-m", "-z", "--name-only", "--no-commit-id", "--no-renames"),
                stdin="\n".join(commits) + "\n",
            )
        except GitError:
            return None
        return {os.path.join(self._top, *name.split("/")) for name in output.split("\0") if name}

    def spans(self, path: str, text: str, *, committed: bool = True) -> Spans:
        """What the records say of a file's text; with `committed` false only of what is not committed yet."""
        index = LineIndex(text)
        found: Spans = ()
        name = os.path.relpath(os.path.realpath(path), os.path.realpath(self._base)).replace(os.sep, "/")
        for record in self._trace_lines(name, path, text):
            found = _fill(found, index, record)
        if committed and self.has_history:
            for record in self._history_lines(path, text):
                found = _fill(found, index, record)
        return found

    # -- Agent Trace

    @property
    def _base(self) -> str:
        return self._top or self.root

    def _all_traces(self) -> dict[str, list[TraceLines]]:
        if self._traces is None:
            self._traces = {}
            if self._on.agent_trace:
                for record in read_traces(self._base, self._report):
                    self._traces.setdefault(record.path, []).append(record)
        return self._traces

    def _trace_lines(self, name: str, path: str, text: str) -> list[Lines]:
        records = self._all_traces().get(name, [])
        if not records:
            return []
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        found: list[Lines] = []
        # The newest record of a line counts.
        for record in reversed(records):
            place = placed_by_hash(record, lines) if record.content_hash else None
            if place is not None:
                found.append(Lines(*place, record.stamp))
            else:
                found += self._moved(record, path, text)
        return found

    def _moved(self, record: TraceLines, path: str, text: str) -> list[Lines]:
        """Where the lines of a record without a (known) hash stand now.

        They were lines of the work tree, with HEAD at the record's revision: so they are in the first commit
        after it that touched the file, or are not committed yet.
        """
        then = self._text_after(record, path)
        source = text if then is None else then
        before = self._text_at(record.revision, path)
        edited = lines_between(before, source) if before is not None else ((1, source.count("\n") + 1),)
        mine = [
            (max(first, record.first), min(last, record.last))
            for first, last in edited
            if first <= record.last and record.first <= last
        ]
        if then is not None:
            mine = _carried(then, text, mine)
        return [Lines(first, last, record.stamp) for first, last in mine]

    def _text_after(self, record: TraceLines, path: str) -> str | None:
        if not self._top or not record.revision:
            return None
        try:
            listed = run_git(
                self._top, "rev-list", "--reverse", "--ancestry-path", f"{record.revision}..HEAD", "--", path
            ).split()
        except GitError:
            return None  # a revision that is not here
        return self._text_at(listed[0], path) if listed else None

    def _text_at(self, revision: str, path: str) -> str | None:
        if not self._top or not revision or revision.startswith("-"):
            return None
        key = (revision, path)
        if key not in self._texts:
            try:
                name = os.path.relpath(os.path.realpath(path), os.path.realpath(self._top)).replace(os.sep, "/")
                self._texts[key] = run_git(self._top, "show", "--no-textconv", f"{revision}:{name}")
            except GitError:
                self._texts[key] = None
        return self._texts[key]

    # -- commits

    def _history_lines(self, path: str, text: str) -> list[Lines]:
        try:
            blamed = blame(self._top, path, text)
        except GitError:
            return []  # a file that git does not have
        found: list[Lines] = []
        for number, line in enumerate(blamed, 1):
            stamp = self._stamp_of(line)
            if stamp is None:
                continue
            if found and found[-1].last == number - 1 and found[-1].stamp == stamp:
                found[-1] = found[-1]._replace(last=number)
            else:
                found.append(Lines(number, number, stamp))
        return found

    def _stamp_of(self, line: Blamed) -> Stamp | None:
        if not line.commit:
            return None
        if line.commit in self.notes:
            stamp = at(self._note(line.commit).get(line.path, []), line.line)
            if stamp is not None:
                return stamp
        tool = self.assistants.get(line.commit)
        return Stamp(AI, COMMITS, 0.6, tool) if tool is not None else None

    def _note(self, commit: str) -> dict[str, list[Lines]]:
        known = self._read_notes.get(commit)
        if known is None:
            try:
                text = run_git(self._top, "cat-file", "blob", self.notes[commit])
                known = parse_note(text, lambda trouble: self._report(f"{trouble} ({commit[:10]})"))
            except GitError as error:
                self._report(f"the git-ai note of {commit[:10]} cannot be read: {error}")
                known = {}
            self._read_notes[commit] = known
        return known

    def _top_folder(self) -> str:
        try:
            return run_git(self.root, "rev-parse", "--show-toplevel").rstrip("\n")
        except GitError:
            return ""

    def _report(self, trouble: str) -> None:
        if trouble not in self.troubles:
            self.troubles.append(trouble)


def uncommitted(root: str, path: str, text: str) -> list[tuple[int, int]]:
    """The lines of a text that differ from HEAD; all of a file that HEAD has not.  None of them without git."""
    try:
        before = committed_text(root, path)
    except GitError:
        return []
    if before is None:
        return [(1, text.count("\n") + 1)]
    return list(lines_between(before, text))


def _fill(spans: Spans, index: LineIndex, record: Lines) -> Spans:
    start, end = index.offset(record.first, 0), index.offset(record.last + 1, 0)
    return filled(spans, start, end, record.stamp) if start < end else spans


def _carried(then: str, now: str, lines: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Where lines of a text stand in a later one; those that have changed since are left out."""
    old, new = (each.replace("\r\n", "\n").replace("\r", "\n").split("\n") for each in (then, now))
    result = []
    for block in difflib.SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
        for first, last in lines:
            low, high = max(first - 1, block.a), min(last, block.a + block.size)
            if low < high:
                result.append((low - block.a + block.b + 1, high - block.a + block.b))
    return result
