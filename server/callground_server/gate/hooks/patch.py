"""The patch format of ``apply_patch``: several files in one edit, hunks found by their context."""

from __future__ import annotations

from dataclasses import dataclass, field

from callground_server.gate.wire import RequestError


@dataclass
class FilePatch:
    """What a patch does to one file."""

    path: str
    kind: str
    """``add``, ``update`` or ``delete``."""
    moved_to: str = ""
    lines: list[str] = field(default_factory=list)
    """Of a new file."""
    hunks: list[list[str]] = field(default_factory=list)

    def applied(self, old: str | None) -> str | None:
        """The new text; None for a deleted file.  Raises RequestError when a hunk does not fit."""
        if self.kind == "delete":
            return None
        if self.kind == "add":
            return "\n".join([*self.lines, ""])
        if old is None:
            raise RequestError(f"the patch updates {self.path}, which is not there")
        rows = old.split("\n")
        at = 0
        for hunk in self.hunks:
            at = _apply(rows, hunk, at)
        return "\n".join(rows)


def parse_patch(text: str) -> list[FilePatch]:
    """The files of a patch.  Raises RequestError when it is not one."""
    lines = text.replace("\r\n", "\n").split("\n")
    try:
        lines = lines[lines.index("*** Begin Patch") + 1 :]
    except ValueError:
        raise RequestError("the patch does not begin with `*** Begin Patch`") from None
    files: list[FilePatch] = []
    for line in lines:
        if line.startswith("*** End Patch"):
            break
        for mark, kind in (("*** Add File: ", "add"), ("*** Update File: ", "update"), ("*** Delete File: ", "delete")):
            if line.startswith(mark):
                files.append(FilePatch(line[len(mark) :].strip(), kind))
                break
        else:
            if not files:
                continue
            current = files[-1]
            if line.startswith("*** Move to: "):
                current.moved_to = line[len("*** Move to: ") :].strip()
            elif line.startswith("*** End of File"):
                continue
            elif current.kind == "add":
                current.lines.append(line.removeprefix("+"))
            elif line.startswith("@@"):
                current.hunks.append([line])
            elif current.kind == "update":
                if not current.hunks:
                    current.hunks.append(["@@"])
                current.hunks[-1].append(line)
    return files


def _apply(rows: list[str], hunk: list[str], start: int) -> int:
    """Apply one hunk to the rows in place; the row behind it."""
    header, *body = hunk
    context = header.removeprefix("@@").strip().removesuffix("@@").strip()
    if context and not context.startswith("-"):
        start = next((n + 1 for n in range(start, len(rows)) if context in rows[n]), start)
    while body and body[-1] == "":
        body = body[:-1]
    old = [line[1:] for line in body if line[:1] in (" ", "-") or not line]
    new = [line[1:] for line in body if line[:1] in (" ", "+") or not line]
    at = _find(rows, old, start)
    if at is None:
        raise RequestError("a hunk of the patch does not fit the file")
    rows[at : at + len(old)] = new
    return at + len(new)


def _find(rows: list[str], wanted: list[str], start: int) -> int | None:
    if not wanted:
        return len(rows) if not rows or rows[-1] else len(rows) - 1
    for exact in (True, False):
        for first in (start, 0):
            for at in range(first, len(rows) - len(wanted) + 1):
                part = rows[at : at + len(wanted)]
                if part == wanted or (not exact and [r.rstrip() for r in part] == [w.rstrip() for w in wanted]):
                    return at
    return None
