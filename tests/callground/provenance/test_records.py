"""Records of assistants, whole and broken, on lines that have moved since."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from callground.config.model import Provenance
from callground.facts.store import Store
from callground.provenance import persist
from callground.provenance.attribution import attribution, lines_of_scope, scope_of_files
from callground.provenance.changed_lines import changed_lines
from callground.provenance.intervals import AI, HUMAN, UNKNOWN, Span, Stamp
from callground.provenance.records.agent_trace import parse_traces
from callground.provenance.records.commits import Commit, assistant_of
from callground.provenance.records.gather import Records
from callground.provenance.records.git_ai import parse_note
from callground.provenance.records.hook import mark_change
from callground.provenance.records.murmur import murmur3
from callground.provenance.scope import covered


def git(folder: Path, *arguments: str, stdin: str | None = None, author: str = "P <p@example.org>") -> str:
    name, _, email = author.partition(" <")
    identity = ["-c", f"user.name={name}", "-c", f"user.email={email.rstrip('>')}", "-c", "init.defaultBranch=main"]
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True, input=stdin
    )
    return done.stdout.strip()


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "-q")
    return folder


def write(folder: Path, name: str, lines: list[str]) -> str:
    text = "\n".join(lines) + "\n"
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    return text


def commit(folder: Path, message: str = "x", author: str = "P <p@example.org>") -> str:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", message, author=author)
    return git(folder, "rev-parse", "HEAD")


def calls(*names: str) -> list[str]:
    return [f"{name}(1)" for name in names]


# -- identities

COMMITS = [
    ("A <a@b.c>", "Fix\n\nCo-Authored-By: Claude <noreply@anthropic.com>", "Claude"),
    ("A <a@b.c>", "Fix\n\nCo-Authored-By: Claude Opus 4 <noreply@anthropic.com>", "Claude"),
    ("A <a@b.c>", "Fix\n\nco-authored-by: aider (gpt-4o) <aider@aider.chat>", "aider"),
    ("A <a@b.c>", "Fix\n\nCo-authored-by: aider (x) <noreply@aider.dev>", "aider"),
    ("Ann (aider) <ann@b.c>", "Fix", "aider"),
    ("A <a@b.c>", "aider: Fix", "aider"),
    ("A <a@b.c>", "Fix\n\nCo-authored-by: Copilot <198982749+Copilot@users.noreply.github.com>", "Copilot"),
    ("copilot-swe-agent[bot] <1+Copilot@users.noreply.github.com>", "Fix", "Copilot"),
    ("Cursor Agent <cursoragent@cursor.com>", "Fix", "Cursor"),
    ("A <a@b.c>", "Fix\n\nCo-authored-by: Codex <noreply@openai.com>", "Codex"),
    ("A <a@b.c>", "Fix\n\nCo-authored-by: codex@openai.com <codex@openai.com>", "Codex"),
    ("devin <158243242+devin-ai-integration[bot]@users.noreply.github.com>", "Fix", "Devin"),
    ("f <1+factory-droid[bot]@users.noreply.github.com>", "Fix", "Factory Droid"),
    ("w <noreply@codeium.com>", "Fix", "Windsurf"),
    ("A <a@b.c>", "Fix\n\nClaude-Session: 0123", "Claude"),
    ("A <a@b.c>", "Fix\n\nAssisted-by: Claude Code", "Claude"),
    ("A <a@b.c>", "Fix\n\nGenerated-by: Cursor", "Cursor"),
    # people
    ("Claude Monet <claude@monet.fr>", "Fix", None),
    ("A <a@b.c>", "Fix\n\nCo-authored-by: Claude Shannon <claude@bell.com>", None),
    ("A <a@b.c>", "Talk about Claude and Copilot\n\nnoreply@anthropic.com is an address", None),
    ("A <a@b.c>", "Fix\n\nCo-authored-by: Whisper <noreply@openai.com>", None),
    ("A <a@b.c>", "Fix\n\nClaude-Session:", None),
    ("A <a@b.c>", "Fix\n\nSigned-off-by: Claude <noreply@anthropic.com>", None),
    ("A <a@b.c>", "Fix\n\nCo-authored-by: Claudette", None),
]


@pytest.mark.parametrize(("author", "message", "tool"), COMMITS)
def test_who_a_commit_names(author: str, message: str, tool: str | None) -> None:
    name, _, email = author.partition(" <")
    assert assistant_of(Commit(name, email.rstrip(">"), "P", "p@example.org", message)) == tool


def test_lines_of_an_assistants_commit_wherever_they_are_now(repo: Path) -> None:
    write(repo, "old.py", calls("a", "b"))
    commit(repo)
    write(repo, "old.py", calls("a", "ai1", "ai2", "b"))
    commit(repo, "more\n\nCo-Authored-By: Claude <noreply@anthropic.com>")
    git(repo, "mv", "old.py", "new.py")
    commit(repo, "move")
    text = write(repo, "new.py", ["# top", *calls("a", "ai1", "typed", "ai2", "b")])
    spans = Records(str(repo)).spans(str(repo / "new.py"), text)
    assert [(row[0], row[1], row[2].tool) for row in covered(text, spans)] == [(3, 3, "Claude"), (5, 5, "Claude")]
    assert Records(str(repo), Provenance(commits=False)).spans(str(repo / "new.py"), text) == ()


# -- git-ai

NOTE = """\
src/main.py
  s_c9883b05a2487d::t_9f8e7d6c5b4a32 1-2,4
  h_31dce776f88375 3
"with space.py"
  0123456789abcdef 1
---
{"schema_version":"authorship/3.0.0","base_commit_sha":"x",
 "prompts":{"0123456789abcdef":{"agent_id":{"tool":"aider","model":"m"}}},
 "humans":{"h_31dce776f88375":{"author":"N <e>"}},
 "sessions":{"s_c9883b05a2487d":{"agent_id":{"tool":"cursor","id":"1","model":"claude"},"human_author":"e"}}}
"""


def test_a_note_of_git_ai() -> None:
    troubles: list[str] = []
    note = parse_note(NOTE, troubles.append)
    assert troubles == []
    assert [(row.first, row.last, row.stamp.origin, row.stamp.tool) for row in note["src/main.py"]] == [
        (1, 2, AI, "cursor claude"),
        (4, 4, AI, "cursor claude"),
        (3, 3, HUMAN, ""),
    ]
    assert note["with space.py"][0].stamp.tool == "aider m"


BROKEN_NOTES = [
    ("", 0),
    ("src/main.py\n  s_0a::t_0b 1-2\n", 0),
    ("src/main.py\n  s_0a::t_0b 1-2\n---\n{not json", 0),
    ("src/main.py\n  s_0a::t_0b 1-2\n---\n{}", 0),
    ('src/main.py\n  s_0a::t_0b 1-2\n---\n{"schema_version":"other/1"}', 0),
    ('src/main.py\n  s_0a::t_0b 2-1\n  x y z\n  s_0a 3\n---\n{"schema_version":"authorship/3.0.0"}', 1),
    ('  s_0a::t_0b 1\nsrc/main.py\n  s_0a 5,x\n---\n{"schema_version":"authorship/3.0.0","sessions":[1]}', 0),
]


@pytest.mark.parametrize(("text", "rows"), BROKEN_NOTES)
def test_broken_notes_are_told_once_and_ignored(text: str, rows: int) -> None:
    troubles: list[str] = []
    note = parse_note(text, troubles.append)
    assert len(troubles) == 1
    assert sum(map(len, note.values())) == rows


def test_notes_belong_to_lines_of_their_commit(repo: Path) -> None:
    write(repo, "src/main.py", calls("ai1", "ai2", "mine", "ai3", "untold"))
    sha = commit(repo)
    git(repo, "notes", "--ref=ai", "add", "-F", "-", sha, stdin=NOTE)
    text = write(repo, "src/main.py", ["# new", *calls("ai1", "new", "ai2", "mine", "ai3", "untold")])
    records = Records(str(repo))
    rows = covered(text, records.spans(str(repo / "src/main.py"), text))
    assert [(first, last, stamp.origin) for first, last, stamp in rows] == [
        (2, 2, AI),
        (4, 4, AI),
        (5, 5, HUMAN),
        (6, 6, AI),
    ]
    assert records.troubles == []
    git(repo, "notes", "--ref=ai", "add", "-f", "-m", "nonsense", sha)
    records = Records(str(repo))
    for _ in range(3):
        assert records.spans(str(repo / "src/main.py"), text) == ()
    assert len(records.troubles) == 1


# -- Agent Trace


def trace(path: str, *ranges: dict, revision: str = "", kind: str = "ai") -> str:
    return json.dumps(
        {
            "version": "0.1.0",
            "id": "1",
            "timestamp": "2026-01-01T00:00:00Z",
            "vcs": {"type": "git", "revision": revision},
            "tool": {"name": "agent", "version": "1"},
            "files": [
                {
                    "path": path,
                    "conversations": [{"contributor": {"type": kind, "model_id": "p/m"}, "ranges": list(ranges)}],
                }
            ],
        }
    )


def lines(first: int, last: int, **more: object) -> dict:
    return {"start_line": first, "end_line": last, **more}


def keep_traces(repo: Path, *records: str) -> None:
    (repo / ".agent-trace").mkdir(exist_ok=True)
    (repo / ".agent-trace" / "traces.jsonl").write_text("\n".join(records) + "\n")


def test_traces_of_the_work_tree(repo: Path) -> None:
    write(repo, "a.py", calls("a", "b"))
    head = commit(repo)
    text = write(repo, "a.py", calls("a", "ai1", "ai2", "b"))
    keep_traces(repo, trace("a.py", lines(2, 3), revision=head), trace("b.py", lines(2, 3), revision=head))
    rows = covered(text, Records(str(repo)).spans(str(repo / "a.py"), text))
    assert [(first, last, stamp.origin, stamp.tool) for first, last, stamp in rows] == [(2, 3, AI, "agent p/m")]


def test_traces_of_lines_that_were_committed_and_moved_since(repo: Path) -> None:
    write(repo, "a.py", calls("a", "b"))
    head = commit(repo)
    write(repo, "a.py", calls("a", "ai1", "ai2", "b"))
    keep_traces(repo, trace("a.py", lines(2, 3), revision=head))
    commit(repo)
    text = write(repo, "a.py", calls("new1", "new2", "a", "ai1", "other", "ai2", "b"))
    rows = covered(text, Records(str(repo)).spans(str(repo / "a.py"), text))
    assert [(first, last) for first, last, _ in rows] == [(4, 4), (6, 6)]


def test_a_content_hash_finds_the_lines_again(repo: Path) -> None:
    block = calls("ai1", "ai2")
    digest = f"murmur3:{murmur3(chr(10).join(block).encode()):08x}"
    text = write(repo, "a.py", [*calls("x", "y", "z"), *block, *calls("w")])
    keep_traces(repo, trace("a.py", lines(1, 2, content_hash=digest), revision="0" * 40))
    rows = covered(text, Records(str(repo)).spans(str(repo / "a.py"), text))
    assert [(first, last) for first, last, _ in rows] == [(4, 5)]


def test_the_newest_record_of_a_line_counts(repo: Path) -> None:
    text = write(repo, "a.py", calls("a", "b", "c"))
    keep_traces(repo, trace("a.py", lines(1, 3)), trace("a.py", lines(2, 2), kind="human"))
    rows = covered(text, Records(str(repo)).spans(str(repo / "a.py"), text))
    assert [(first, last, stamp.origin) for first, last, stamp in rows] == [(1, 1, AI), (2, 2, HUMAN), (3, 3, AI)]


@pytest.mark.parametrize(
    ("text", "count", "troubles"),
    [
        ("", 0, 0),
        ("not json\n", 0, 1),
        (trace("a.py", lines(1, 2)) + "\n{broken\n[]\n", 1, 1),
        (json.dumps(json.loads(trace("a.py", lines(1, 2))), indent=2), 1, 0),
        ("[" + trace("a.py", lines(1, 2)) + "," + trace("b.py", lines(1, 2)) + "]", 2, 0),
        (trace(".shell-history", lines(1, 2)), 0, 0),
        (trace(".sessions/1", lines(1, 2)), 0, 0),
        (trace("../other/a.py", lines(1, 2)), 0, 0),
        (trace("/abs/a.py", lines(1, 2)), 0, 0),
        (trace("a.py", lines(1, 1)), 0, 0),  # a placeholder: nothing was edited
        (trace("a.py", lines(3, 2), lines(0, 1), {"start_line": "1", "end_line": 2}), 0, 1),
        (trace("a.py", {"start_line": True, "end_line": 2}), 0, 1),
        ('{"version":"0.1.0","files":{}}', 0, 1),
        ('{"files":[{"path":"a.py","conversations":[{"ranges":3}]}, 7]}', 0, 1),
        ("9" * 10, 0, 1),
        ("[" * 100_000, 0, 1),
    ],
)
def test_broken_traces_are_told_once_and_ignored(text: str, count: int, troubles: int) -> None:
    told: list[str] = []
    assert len(parse_traces(text, told.append)) == count
    assert len(told) == troubles


def test_contributors_of_ranges_and_of_unknown_kinds() -> None:
    (one, two, three) = parse_traces(
        trace("a.py", lines(2, 3), lines(4, 5, contributor={"type": "human"}), lines(6, 7, contributor={"type": "?"})),
        print,
    )
    assert (one.stamp.origin, two.stamp.origin, three.stamp.origin) == (AI, HUMAN, UNKNOWN)


@pytest.mark.parametrize(
    ("data", "value"),
    [(b"", 0), (b"a", 0x3C2569B2), (b"abc", 0xB3DD93FA), (b"hello", 0x248BFA47), (b"hello, world", 0x149BBB7F)],
)
def test_murmur3(data: bytes, value: int) -> None:
    assert murmur3(data) == value


# -- hooks


def test_only_what_is_new_in_an_edit_is_the_agents(tmp_path: Path) -> None:
    before = "def f(a):\n    x = load(a)\n    return x\n"
    after = before.replace("    return", "    check(x, 3)\n    return")
    known = (Span(0, 8, Stamp(AI, "client")),)
    with Store(tmp_path) as store:
        persist.save(store, before, known)
        spans = mark_change(store, before, after, "agent")
        assert [(after[span.start : span.end], span.stamp.source) for span in spans] == [
            ("def f(a", "client"),
            ("check(x, 3", "hook"),
        ]
        assert persist.load(store, after) == spans
        assert len(mark_change(store, None, "new(1)\n", "agent")) == 1
        assert mark_change(store, "a( 1,'x')\n", 'a(1, "x")\n', "agent") == ()


# -- all together


def test_scope_of_a_project(repo: Path, tmp_path: Path) -> None:
    write(repo, "old.py", calls("a", "b"))
    write(repo, "typed.py", calls("a", "b"))
    commit(repo)
    write(repo, "ai.py", calls("ai1", "ai2"))
    commit(repo, "more\n\nCo-Authored-By: Claude <noreply@anthropic.com>")
    write(repo, "old.py", calls("a", "changed", "b"))
    write(repo, "new.py", calls("n"))
    typed = write(repo, "typed.py", calls("a", "typed", "b"))
    names = ["old.py", "typed.py", "ai.py", "new.py"]
    with Store(tmp_path / "cache") as store:
        persist.save(store, typed, ())  # an editor has seen a person type it

        def scope(since: str | None = None) -> dict[str, object]:
            found = scope_of_files(
                Records(str(repo)),
                store,
                [str(repo / name) for name in names],
                lambda path: Path(path).read_text(),
                changed_lines(str(repo)),
                Provenance(),
                changed_lines(str(repo), since) if since else None,
            )
            return {Path(path).name: lines for path, lines in found.items()}

        assert scope() == {"old.py": ((2, 2),), "ai.py": ((1, 2),), "new.py": ((1, 1),)}
        assert scope("HEAD") == {"old.py": ((2, 2),), "new.py": ((1, 1),)}
        assert scope("HEAD~1") == {"old.py": ((2, 2),), "ai.py": ((1, 2),), "new.py": ((1, 1),)}
        off = attribution(
            Records(str(repo)), store, str(repo / "new.py"), "n(1)\n", [(1, 1)], Provenance(uncommitted=False)
        )
        assert lines_of_scope("n(1)\n", off) == ()
