"""More kinds: other ways in which plugins write, and in which people bring text in."""

from __future__ import annotations

import time

from traces.case import HUMAN, Case
from traces.kinds import kind


@kind
def stream_whole(case: Case) -> None:
    """A block that is drawn anew, a little longer, with each piece of a stream."""
    case.begin()
    text, line = case.ai(case.writer.function(10)).rstrip("\n"), case.between()
    case.nvim.lua("vim.api.nvim_buf_set_lines(0, ...)", line, line, False, ["", "", ""])
    size, height = case.random.choice((3, 8, 15)), 1
    for end in range(size, len(text) + size, size):
        rows = text[:end].split("\n")
        case.nvim.lua("vim.api.nvim_buf_set_lines(0, ...)", line + 2, line + 2 + height, False, rows)
        height = len(rows)
        time.sleep(0.01)


@kind
def stream_lines(case: Case) -> None:
    """A block that comes line by line."""
    case.begin()
    rows, line = ["", "", *case.ai(case.writer.function(14)).rstrip("\n").split("\n")], case.between()
    for number, row in enumerate(rows):
        case.nvim.lua("vim.api.nvim_buf_set_lines(0, ...)", line + number, line + number, False, [row])
        time.sleep(case.random.choice((0.02, 0.08)))


@kind
def hunks(case: Case) -> None:
    """An assistant's edit of several places at once, with an import."""
    case.begin(functions=4, lines=9)
    lines = case.nvim.nvim.current.buffer[:]
    places = [
        number
        for number, row in enumerate(lines)
        if row.startswith("    ") and row[4] not in " )" and row.count("(") == row.count(")") and row[-1] != ":"
    ]
    edits = [[0, 0, 0, 0, "import textwrap\n"]]
    for number in case.random.sample(places, 3):
        row = f"{case.random.choice(('key = ', '', 'rows = '))}{case.writer.name()}({case.writer.arguments()})"
        edits.append([number, 0, number, 0, f"    {case.ai(row)}\n"])
    case.nvim.lua(
        """local edits = {}
        for _, e in ipairs(...) do
          table.insert(edits, { newText = e[5], range = { start = { line = e[1], character = e[2] },
            ['end'] = { line = e[3], character = e[4] } } })
        end
        vim.lsp.util.apply_text_edits(edits, vim.api.nvim_get_current_buf(), 'utf-32')""",
        edits,
    )


@kind
def put_over(case: Case) -> None:
    """Yanked lines that are put in place of others, and words in place of words."""
    case.begin(functions=4)
    case.some_ai()
    for _ in range(3):
        case.nvim.at(case.inside())
        case.nvim.keys("yy", 0.02)
        case.nvim.at(case.inside())
        case.nvim.keys("Vp")
        case.nvim.settle(case.random.choice((0.05, 0.4)))
    case.nvim.at(case.inside(), 4)
    case.nvim.keys("yiw", 0.02)
    case.nvim.at(case.inside(), 4)
    case.nvim.keys("viwp")


@kind
def read_in(case: Case) -> None:
    """A file of the workspace that is read into another."""
    case.begin(b_py=case.writer.module(1))
    case.some_ai()
    case.nvim.at(case.between())
    case.nvim.command("read b.py")


@kind
def typed_at_once(case: Case) -> None:
    """Lines whose keys all come within a moment."""
    case.begin()
    case.some_ai()
    for _ in range(5):
        line = case.there(f"key = {case.writer.name()}({case.writer.arguments()})")
        case.nvim.at(case.inside() - 1)
        case.nvim.keys("o<C-u>    " + line.replace("<", "<lt>") + "<Esc>")
        case.nvim.settle(case.random.choice((0.0, 0.2, 1.2)))
    name = case.writer.name()
    case.truth[name] = HUMAN
    case.nvim.command(f"iabbrev <buffer> zz key = {name}(__name__)")
    case.nvim.at(case.inside() - 1)
    case.nvim.keys("o<C-u>    zz <Esc>")


@kind
def line_ends(case: Case) -> None:
    """A file whose lines end with carriage return and line feed, and text outside of ASCII."""
    case.begin()
    case.path("a.py").write_bytes(case.files["a.py"].replace("\n", "\r\n").encode())
    case.nvim.begin()
    case.nvim.edit("a.py")
    case.nvim.settle(0.1)
    case.nvim.at(0)
    case.nvim.keys("O# ünïcödé 😀 漢<Esc>")
    text = case.ai(case.writer.function(6)).replace("'utf-8'", "'é😀漢'")
    case.insert_block(case.between(), "\n\n" + text)
    case.nvim.settle(0.4)
    name = case.writer.name()
    case.truth[name] = HUMAN
    case.nvim.at(case.inside() - 1)
    case.nvim.keys("o<C-u>")
    case.nvim.type(f"    key = {name}('😀é', 3)")
    case.nvim.keys("<Esc>")
