"""Which lines differ from a revision, asked of a git child process with a time limit."""

from __future__ import annotations

import difflib
import os
import re
import shutil
import subprocess
from collections.abc import Mapping

Lines = tuple[tuple[int, int], ...]
"""Ranges of 1-based lines, both ends inclusive."""

TIME_LIMIT = 30.0
"""Seconds that one git command may take."""

_HUNK = re.compile(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@")
_ESCAPE = re.compile(r'\\([0-7]{3}|[abtnvfr"\\])')
_ESCAPES = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, '"': 34, "\\": 92}


class GitError(Exception):
    """The changed lines cannot be told; the text is for people."""


def changed_lines(root: str, since: str | None = None) -> Mapping[str, Lines | None]:
    """The changed lines of each changed file under `root`: absolute path -> ranges, None for the whole file.

    Compared is the working tree: with the merge base of ``HEAD`` and `since`, or with ``HEAD`` where
    `since` is None.  Files that git does not track (and does not ignore) count as changed.
    Raises GitError when git is absent, fails, takes too long or knows no such revision.
    """
    top = run_git(root, "rev-parse", "--show-toplevel").rstrip("\n")
    base = _base(root, since)
    diff = run_git(
        root,
        *("diff", "--unified=0", "--no-color", "--no-ext-diff", "--no-textconv", "--find-renames"),
        *("--src-prefix=a/", "--dst-prefix=b/", "--no-relative", "--diff-filter=d", base),
        *("--", "*.py", "*.pyi", "*.pyw", "*.ipynb"),
    )
    changed: dict[str, Lines | None] = {
        os.path.join(top, *name.split("/")): lines for name, lines in parse_diff(diff).items()
    }
    untracked = run_git(root, "ls-files", "--others", "--exclude-standard", "--full-name", "-z")
    for name in filter(None, untracked.split("\0")):
        changed[os.path.join(top, *name.split("/"))] = None
    return changed


def changed_lines_of_text(root: str, path: str, text: str, since: str | None = None) -> Lines | None:
    """The lines of `text`, which stands for the file `path`, that differ from the revision; None: all of them.

    Raises GitError as `changed_lines` does.
    """
    before = committed_text(root, path, since)
    return lines_between(before, text) if before is not None else None


def committed_text(root: str, path: str, since: str | None = None) -> str | None:
    """The text that a file has in the revision that `changed_lines` compares with; None: it is not there.

    Raises GitError as `changed_lines` does.
    """
    base = _base(root, since)
    top = os.path.realpath(run_git(root, "rev-parse", "--show-toplevel").rstrip("\n"))
    name = os.path.relpath(os.path.realpath(path), top).replace(os.sep, "/")
    try:
        return run_git(root, "show", "--no-textconv", f"{base}:{name}")
    except GitError:
        return None


def lines_between(before: str, text: str) -> Lines:
    """The lines of `text` that differ from those of `before`; line ends do not count."""
    old, new = (each.replace("\r\n", "\n").replace("\r", "\n").split("\n") for each in (before, text))
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    return tuple((start + 1, end) for tag, _, _, start, end in matcher.get_opcodes() if tag != "equal" and end > start)


def parse_diff(diff: str) -> dict[str, Lines]:
    """The lines that the new side of a unified diff without context has; file names as in the repository."""
    found: dict[str, list[tuple[int, int]]] = {}
    current: list[tuple[int, int]] | None = None
    left = 0
    for line in diff.split("\n"):
        if left > 0 and line[:1] in ("+", "-", "\\"):
            left -= line[0] == "+"
            continue
        if line.startswith("diff --git "):
            current, left = None, 0
        elif line.startswith("+++ ") and current is None:
            # git ends a name that has blanks with a tab
            name = unquoted(line[4:].removesuffix("\r").removesuffix("\t"))
            current = found.setdefault(name.removeprefix("b/"), []) if name != "/dev/null" else []
        elif current is not None:
            hunk = _HUNK.match(line)
            if hunk is not None:
                left = int(hunk[2]) if hunk[2] is not None else 1
                if left:
                    current.append((int(hunk[1]), int(hunk[1]) + left - 1))
    return {name: tuple(lines) for name, lines in found.items() if lines}


def _base(root: str, since: str | None) -> str:
    if since is None:
        if _succeeds(root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"):
            return "HEAD"
        # Nothing was committed yet: everything differs from the empty tree.
        return run_git(root, "hash-object", "-t", "tree", "--stdin", stdin="").strip()
    if since.startswith("-") or not _succeeds(root, "rev-parse", "--verify", "--quiet", f"{since}^{{commit}}"):
        raise GitError(f"git knows no revision `{since}` here (in a shallow clone, fetch it first)")
    try:
        return run_git(root, "merge-base", "HEAD", since).strip()
    except GitError:
        return since  # unrelated histories have no merge base


def _succeeds(root: str, *arguments: str) -> bool:
    try:
        run_git(root, *arguments)
    except GitError:
        return False
    return True


def run_git(root: str, *arguments: str, stdin: str | None = None) -> str:
    """What a git command prints.  Raises GitError."""
    git = shutil.which("git")
    if git is None:
        raise GitError("git is not installed, and without it the changed lines are not known")
    # Inside a hook these name another repository or a half-made index.
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")
    }
    environment.update(GIT_OPTIONAL_LOCKS="0", GIT_TERMINAL_PROMPT="0", LC_ALL="C")
    # A file-system monitor is a program that the repository's own settings name: it is not started.
    command = [git, "-C", root, "-c", "core.quotePath=off", "-c", "core.fsmonitor=false", *arguments]
    try:
        done = subprocess.run(
            command,
            input=stdin.encode() if stdin is not None else b"",
            capture_output=True,
            timeout=TIME_LIMIT,
            env=environment,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise GitError(f"`git {arguments[0]}` took longer than {TIME_LIMIT:.0f} seconds") from None
    except OSError as error:
        raise GitError(f"git cannot be started: {error}") from None
    if done.returncode != 0:
        reason = done.stderr.decode("utf-8", "replace").strip().split("\n")[0].removeprefix("fatal: ")
        if "not a git repository" in reason:
            reason = f"{root} is not in a git repository, so there are no changed lines"
        raise GitError(reason or f"`git {arguments[0]}` failed")
    return done.stdout.decode("utf-8", "surrogateescape")


def unquoted(name: str) -> str:
    """A file name as git writes it: in quotes, with C escapes, when it holds special characters."""
    if not (name.startswith('"') and name.endswith('"') and len(name) > 1):
        return name
    raw = name[1:-1].encode("utf-8", "surrogateescape")
    text = raw.decode("latin-1")

    def byte(match: re.Match[str]) -> str:
        escape = match[1]
        return chr(int(escape, 8) if escape.isdigit() else _ESCAPES[escape])

    return _ESCAPE.sub(byte, text).encode("latin-1").decode("utf-8", "surrogateescape")
