"""The kinds of editing that are recorded: what a person does, and what an assistant does.

Each function is one recording.  It says of every text who wrote it, from what it does itself.
"""

from __future__ import annotations

import difflib
import re
import subprocess
import sys
import time
from collections.abc import Callable

from traces.case import AI, HUMAN, Case
from traces.nvim import AUTOPAIRS

KINDS: dict[str, Callable[[Case], None]] = {}


def kind(function: Callable[[Case], None]) -> Callable[[Case], None]:
    """A kind, under the name of its function."""
    KINDS[function.__name__] = function
    return function


def _open_line(case: Case, line: int) -> None:
    """Begin to type on a new line below a line, at its start."""
    case.nvim.at(line)
    case.nvim.keys("o<C-u>")


def _type_lines(case: Case, text: str, pause: float = 0.002) -> None:
    """Type lines whose indentation is in the text: what the editor indents by itself is taken back."""
    for number, line in enumerate(text.removesuffix("\n").split("\n")):
        if number:
            case.nvim.keys("<CR><C-u>")
        case.nvim.type(line, pause)


# -- typing


@kind
def typing(case: Case) -> None:
    """A function of 40 lines, key by key."""
    case.begin(functions=2)
    case.some_ai()
    text = case.there(case.writer.function(40))
    _open_line(case, case.between())
    case.nvim.keys("<CR><C-u>")
    _type_lines(case, text, case.random.choice((0.001, 0.003)))
    case.nvim.keys("<CR><C-u><CR><C-u><Esc>")


@kind
def completion(case: Case) -> None:
    """Typing in which names are completed from a menu, with and without brackets."""
    case.begin()
    case.some_ai()
    _open_line(case, case.inside() - 1)
    for number in range(6):
        name = case.writer.name()
        case.truth[name] = HUMAN
        if number:
            case.nvim.keys("<CR><C-u>")
        case.nvim.type("    " + case.random.choice(("", "key = ", "client.", "return_value = store.")))
        typed = case.random.randint(1, 5)
        case.nvim.type(name[:typed])
        brackets = case.random.choice(("", "", "(", "()"))
        case.nvim.lua(
            "local size, item = ...; vim.fn.complete(vim.fn.col('.') - size, { item, item .. '_more' })",
            typed,
            name + brackets,
        )
        case.nvim.keys(case.random.choice(("<C-y>", "<C-n><C-p><C-y>", "<C-n><C-p><C-y>")))
        if case.random.random() < 0.5:
            case.nvim.settle(0.2)
        if brackets == "()":
            case.nvim.keys("<Left>")
        case.nvim.type(("(" if not brackets else "") + case.writer.arguments() + ("" if brackets == "()" else ")"))
        if brackets == "()":
            case.nvim.keys("<End>")
    case.nvim.keys("<Esc>")


@kind
def autopairs(case: Case) -> None:
    """Typing while brackets and quotes close by themselves."""
    case.begin(functions=2)
    case.some_ai()
    case.nvim.lua(AUTOPAIRS)
    text = case.there(case.writer.function(14))
    _open_line(case, case.between())
    case.nvim.keys("<CR><C-u>")
    rows = [line for line in text.split("\n") if line.count("(") == line.count(")")]
    names = set(re.findall(r"(\w+)\(", "\n".join(rows)))
    for name in re.findall(r"(\w+)\(", text):
        if name not in names:
            case.truth.pop(name, None)
    for row in rows:
        case.nvim.keys("<CR><C-u>")
        for character in row:
            case.nvim.type(character, 0.001)
    case.nvim.keys("<Esc>")


@kind
def snippet(case: Case) -> None:
    """A trigger word that is expanded to a few words."""
    case.begin()
    case.some_ai()
    for _ in range(3):
        name = case.writer.name()
        case.truth[name] = HUMAN
        trigger, body = case.random.choice(
            (
                ("fori", f"for ${{1:item}} in {name}(${{2:items}}):\n    ${{0:pass}}"),
                ("log", f"key = client.{name}(__name__)"),
                ("wo", f"with {name}(${{1:path}}) as ${{2:file}}:\n    ${{0:pass}}"),
                ("pr", f"{name}(${{1:value}})"),
                (name, f"{name}(${{1:items}}, ${{2:key}})"),
                (name[:4], f"{name}(${{1:items}}, ${{2:key}})"),
            )
        )
        _open_line(case, case.inside() - 1)
        case.nvim.type("    " + trigger, 0.005)
        if case.random.random() < 0.5:
            case.nvim.settle(0.2)
        case.nvim.lua(
            """local size, body = ...
            local row, col = unpack(vim.api.nvim_win_get_cursor(0))
            vim.api.nvim_buf_set_text(0, row - 1, col - size, row - 1, col, {})
            vim.snippet.expand(body)""",
            len(trigger),
            body,
        )
        case.nvim.keys("<Esc>")
        case.nvim.lua("vim.snippet.stop()")
        case.nvim.settle(0.3)


# -- things come back


@kind
def undo(case: Case) -> None:
    """Storms of undo and redo over typed and inserted text."""
    case.begin()
    case.some_ai(1.0)
    text = case.there(case.writer.function(7))
    _open_line(case, case.between())
    _type_lines(case, text)
    case.nvim.keys("<CR><C-u><CR><C-u><Esc>")
    case.nvim.settle(0.4)
    case.insert_block(case.between(), "\n\n" + case.ai(case.writer.function(6)))
    case.nvim.settle(0.4)
    case.nvim.at(case.inside())
    case.nvim.keys("yyp")
    depth = 0
    for _ in range(case.random.randint(15, 40)):
        if depth and case.random.random() < 0.5:
            case.nvim.keys("<C-r>", case.random.choice((0.0, 0.02, 0.2)))
            depth -= 1
        elif depth < 4:
            case.nvim.keys("u", case.random.choice((0.0, 0.02, 0.2)))
            depth += 1
    if case.random.random() < 0.5:
        case.check()
    while depth:
        case.nvim.keys("<C-r>", 0.02)
        depth -= 1
    if case.random.random() < 0.3:
        case.nvim.command("earlier 2")
        case.nvim.settle(0.2)
        case.nvim.command("later 2")


@kind
def move_lines(case: Case) -> None:
    """Lines that are moved by :move, by deleting and putting, and by cutting."""
    case.begin(functions=4)
    case.some_ai()
    for _ in range(5):
        line, size = case.inside(), case.random.randint(0, 2)
        count = len(case.nvim.nvim.current.buffer)
        last = min(line + size, count - 1)
        way = case.random.randrange(4)
        target = case.random.randrange(count)
        if way == 0:
            case.nvim.command(f"{line + 1},{last + 1}move {target if not line <= target <= last + 1 else line}")
        elif way == 1:
            case.nvim.at(line)
            case.nvim.keys(f"{last - line + 1}dd")
            case.nvim.settle(case.random.choice((0.01, 0.3, 0.8)))
            case.nvim.at(case.random.randrange(len(case.nvim.nvim.current.buffer)))
            case.nvim.keys(case.random.choice("pP"))
        elif way == 2:
            case.nvim.at(line)
            case.nvim.keys("ddp" if line + 1 < count else "ddP")
        else:
            case.nvim.at(line)
            case.nvim.keys(f"V{'j' * (last - line)}d", 0.05)
            case.nvim.keys("P" if case.random.random() < 0.5 else "3jp")
        case.nvim.settle(case.random.choice((0.02, 0.2)))
    case.nvim.settle(0.1)


@kind
def duplicate(case: Case) -> None:
    """Lines that are there twice: yyp, :copy."""
    case.begin()
    case.some_ai()
    for _ in range(4):
        line = case.inside()
        case.nvim.at(line)
        if case.random.random() < 0.5:
            case.nvim.keys(case.random.choice(("yyp", "yyP", "Vyp")))
        else:
            case.nvim.command(f"{line + 1}copy {case.random.randrange(len(case.nvim.nvim.current.buffer))}")
        case.nvim.settle(case.random.choice((0.02, 0.2)))
    case.nvim.settle(0.1)


@kind
def cut_inside(case: Case) -> None:
    """Functions and parts of lines that are cut here and pasted there in one file."""
    case.begin(functions=4)
    case.some_ai()
    for _ in range(3):
        lines = case.nvim.nvim.current.buffer[:]
        starts = [number for number, line in enumerate(lines) if line.startswith("def ")]
        start = case.random.choice(starts)
        end = next((n for n in range(start + 1, len(lines)) if not lines[n].startswith((" ", ")"))), len(lines))
        case.nvim.at(start)
        case.nvim.keys(f"{end - start}dd" if case.random.random() < 0.7 else f"{end - start}yy")
        case.nvim.settle(case.random.choice((0.05, 0.5, 1.2)))
        case.nvim.at(case.between())
        case.nvim.keys("p")
        case.nvim.settle(0.1)
    line = case.nvim.line_of("(")
    case.nvim.at(line, 4)
    case.nvim.keys("D", 0.1)
    case.nvim.keys(case.random.choice(("p", "u")))


@kind
def cut_between(case: Case) -> None:
    """Functions that are cut or copied from another file, open or not."""
    other = case.writer.module(3)
    closed = case.writer.module(2)
    case.begin(b_py=other, c_py=closed)
    case.some_ai()
    for _ in range(2):
        case.nvim.edit("b.py")
        lines = case.nvim.nvim.current.buffer[:]
        starts = [number for number, line in enumerate(lines) if line.startswith("def ")]
        if starts:
            start = case.random.choice(starts)
            end = next((n for n in range(start + 1, len(lines)) if not lines[n].startswith((" ", ")"))), len(lines))
            case.nvim.at(start)
            case.nvim.keys(f"{end - start}{case.random.choice(('dd', 'yy'))}")
        case.nvim.settle(case.random.choice((0.02, 0.3)))
        case.nvim.edit("a.py")
        case.nvim.at(case.between())
        case.nvim.keys(case.random.choice(("p", "P")))
        case.nvim.settle(0.2)
    # From a file that no buffer holds, as from another window.
    lines = closed.split("\n")
    start = next(number for number, line in enumerate(lines) if line.startswith("def "))
    end = next(n for n in range(start + 1, len(lines)) if not lines[n].startswith((" ", ")")))
    case.nvim.lua("vim.fn.setreg('z', ...)", "\n".join(lines[start:end]) + "\n", "V")
    case.nvim.at(case.between())
    case.nvim.keys('"zp')


@kind
def several_cursors(case: Case) -> None:
    """The same edit at many places: visual blocks, macros, :global, :substitute."""
    case.begin()
    case.some_ai()
    rows = [f"    {case.writer.name()}({case.random.choice(('items', 'rows, key', '3'))})" for _ in range(5)]
    text = case.there("".join(f"{row[4:]}\n" for row in rows))
    line = case.inside()
    case.nvim.lua("vim.fn.setreg('z', ...)", "".join(f"    {row}\n" for row in text.splitlines()), "V")
    _open_line(case, line - 1)
    _type_lines(case, "\n".join(rows))
    case.nvim.keys("<Esc>")
    case.nvim.settle(0.3)
    first = case.nvim.line_of(rows[0].strip())
    for _ in range(2):
        name = case.writer.name()
        case.truth[name] = HUMAN
        way = case.random.randrange(5)
        case.nvim.at(first, 4)
        if way == 0:
            case.nvim.keys(f"<C-v>{len(rows) - 1}jI{name}(<Esc>", 0.05)
            case.nvim.at(first, 4)
            case.nvim.keys(f"<C-v>{len(rows) - 1}j$A)<Esc>")
        elif way == 1:
            case.nvim.command(f"{first + 1},{first + len(rows)}s/^    \\(.*\\)$/    key = {name}(\\1, 3)/")
        elif way == 2:
            case.nvim.command(f"{first + 1},{first + len(rows)}g/./normal A + {name}(rows, 5)")
        elif way == 3:
            case.nvim.keys(f"qqA + {name}(key)<Esc>jq{len(rows) - 1}@q")
        else:
            case.nvim.keys(f"A + {name}(key, 4)<Esc>", 0.05)
            for _ in rows[1:]:
                case.nvim.keys("j.")
        case.nvim.settle(0.3)


@kind
def sort_lines(case: Case) -> None:
    """Lines that are sorted."""
    case.begin()
    case.some_ai()
    line = case.inside()
    mine = [f"    {case.writer.name()}({case.writer.arguments()})" for _ in range(6)]
    theirs = [f"    {case.writer.name()}({case.writer.arguments()})" for _ in range(case.random.choice((0, 3)))]
    case.there("\n".join(mine))
    _open_line(case, line - 1)
    _type_lines(case, "\n".join(mine))
    case.nvim.keys("<Esc>")
    case.nvim.settle(0.3)
    first = case.nvim.line_of(mine[0].strip())
    if theirs:
        case.insert_block(first + 2, case.ai("\n".join(theirs)))
        case.nvim.settle(0.8)
    last = first + len(mine) + len(theirs)
    case.nvim.command(f"{first + 1},{last}{case.random.choice(('sort', 'sort!', 'sort /(/'))}")
    if case.random.random() < 0.4:
        case.nvim.settle(0.3)
        case.nvim.keys("u")


@kind
def comment(case: Case) -> None:
    """Blocks that are commented out and in again."""
    case.begin()
    case.some_ai()
    for _ in range(2):
        line = case.inside()
        last = min(line + case.random.randint(1, 6), len(case.nvim.nvim.current.buffer) - 1)
        case.nvim.at(line)
        case.nvim.keys(f"gc{last - line}j", case.random.choice((0.05, 0.4)))
        case.nvim.settle(0.2)
        if case.random.random() < 0.3:
            case.nvim.keys("u")
        else:
            case.nvim.at(line)
            case.nvim.keys(f"gc{last - line}j")
        case.nvim.settle(0.1)
    case.nvim.keys("gg=G" if case.random.random() < 0.3 else "")
    case.nvim.settle(0.1)


@kind
def reload(case: Case) -> None:
    """A buffer that goes back to what lies on the disk, or is opened again unchanged."""
    case.begin()
    case.some_ai(1.0)
    case.nvim.command("silent write")
    case.written("a.py")
    text = case.there(case.writer.function(5))
    _open_line(case, case.between())
    _type_lines(case, text)
    case.nvim.keys("<Esc>")
    case.nvim.settle(0.2)
    if case.random.random() < 0.5:
        case.nvim.command("silent write")
        case.written("a.py")
    case.nvim.command("edit!")
    case.nvim.settle(0.2)
    if case.random.random() < 0.5:
        case.check()
        case.nvim.command("bwipeout!")
        case.nvim.settle(0.1)
        case.nvim.edit("a.py")


# -- programs that change the form


def _messy(case: Case) -> str:
    """A module that a formatter has much to do with."""
    text = case.writer.module(3, 9)
    text = re.sub(r"'([\w/-]*)'", lambda match: f'"{match[1]}"' if case.random.random() < 0.5 else match[0], text)
    text = re.sub(r", ", lambda _: case.random.choice((", ", ",", " , ")), text)
    text = re.sub(r" = ", lambda _: case.random.choice((" = ", "=", "  =  ")), text)
    text = re.sub(r"\((\w+)\):", lambda match: case.random.choice((f"({match[1]}):", f"( {match[1]} ) :")), text)
    return text.replace("\n\n\n", case.random.choice(("\n\n\n", "\n", "\n\n\n\n")))


def _formatter(case: Case, command: list[str]) -> None:
    case.begin()
    case.insert_block(0, "# start\n")
    text = _messy(case)
    case.there(text)
    case.write("a.py", text)
    case.files["a.py"] = text
    case.disk["a.py"] = text
    case._events.clear()
    case.nvim.begin()
    case.nvim.edit("a.py")
    case.nvim.settle(0.1)
    case.some_ai()
    if case.random.random() < 0.5:
        line = f"    {case.writer.name()}( 'x',{case.writer.arguments()} )"
        _open_line(case, case.inside() - 1)
        _type_lines(case, case.there(line.strip()).join(("    ", "")))
        case.nvim.keys("<Esc>")
        case.nvim.settle(0.1)
    old = case.nvim.text()
    done = subprocess.run(command, input=old, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, (done.stderr, old)
    new = done.stdout
    way = case.random.randrange(4)
    if way == 0:
        case.nvim.command("%!" + " ".join(command))
    elif way == 1:
        case.nvim.lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, ...)", new.split("\n")[:-1])
    elif way == 2:
        _apply(case, [(0, 0, len(old.split("\n")), 0, new)])
    else:
        _apply(case, _differences(old, new))
    if case.random.random() < 0.4:
        case.nvim.command("silent write")
        case.written("a.py")
    case.nvim.settle(0.3)


def _apply(case: Case, edits: list[tuple[int, int, int, int, str]]) -> None:
    """Edits as a language server sends them: all refer to the same text."""
    case.nvim.lua(
        """local edits = {}
        for _, e in ipairs(...) do
          table.insert(edits, { newText = e[5], range = { start = { line = e[1], character = e[2] },
            ['end'] = { line = e[3], character = e[4] } } })
        end
        vim.lsp.util.apply_text_edits(edits, vim.api.nvim_get_current_buf(), 'utf-32')""",
        [list(edit) for edit in edits],
    )


def _differences(old: str, new: str) -> list[tuple[int, int, int, int, str]]:
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    return [(a, 0, b, 0, "".join(after[c:d])) for tag, a, b, c, d in matcher.get_opcodes() if tag != "equal"]


@kind
def black(case: Case) -> None:
    """The file as black writes it."""
    _formatter(case, [sys.executable, "-m", "black", "-q", "-"])


@kind
def ruff_format(case: Case) -> None:
    """The file as ruff writes it."""
    _formatter(case, [sys.executable, "-m", "ruff", "format", "-q", "--stdin-filename", "a.py", "-"])


@kind
def imports(case: Case) -> None:
    """Imports that are organised, and one that is added."""
    text = case.writer.module(2)
    names = [case.writer.name() for _ in range(4)]
    head = "".join(
        case.random.choice((f"from store import {name}\n", f"from client.{name} import session as {name}\n"))
        for name in names
    )
    uses = "".join(f"rows = {name}({case.writer.arguments()})\n" for name in names)
    case.begin(b_py=head + text + "\n\n" + uses)
    case.nvim.edit("b.py")
    case.some_ai()
    old = case.nvim.text()
    if case.random.random() < 0.5:
        added = f"from registry import {case.writer.name()}, {case.writer.name()}\n"
        _apply(case, [(0, 0, 0, 0, added)])
        case.nvim.settle(0.1)
        old = case.nvim.text()
    new = subprocess.run(
        [sys.executable, "-m", "isort", "-q", "--force-sort-within-sections", "-"],
        input=old, capture_output=True, text=True, check=True, timeout=60,
    ).stdout  # fmt: skip
    if case.random.random() < 0.5:
        _apply(case, _differences(old, new))
    else:
        case.nvim.lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, ...)", new.split("\n")[:-1])


@kind
def rename(case: Case) -> None:
    """A name that becomes another everywhere."""
    case.begin()
    case.some_ai()
    for _ in range(2):
        text = case.nvim.text()
        names = [name for name in case.truth if re.search(rf"\b{name}\(", text)]
        old = case.random.choice(names)
        # Used at several places, like a function of one's own.
        _open_line(case, case.inside() - 1)
        case.nvim.type(f"    {old}(items, 7)", 0.001)
        case.nvim.keys("<Esc>")
        case.nvim.settle(0.2)
        origin = case.truth.pop(old)
        new = case.writer.name()
        if origin == HUMAN:
            case.truth[new] = HUMAN
        if case.random.random() < 0.6:
            lines = case.nvim.nvim.current.buffer[:]
            edits = [
                (number, match.start(), number, match.end(), new)
                for number, line in enumerate(lines)
                for match in re.finditer(rf"\b{old}\b", line)
            ]
            _apply(case, edits)
        else:
            case.nvim.command(f"%s/\\<{old}\\>/{new}/g")
        case.nvim.settle(0.2)


# -- assistants


@kind
def block(case: Case) -> None:
    """A block that a plugin puts in."""
    case.begin()
    for _ in range(case.random.randint(1, 3)):
        if case.random.random() < 0.5:
            case.insert_block(case.between(), "\n\n" + case.ai(case.writer.function(case.random.randint(4, 20))))
        else:
            rows = [f"    {line}" for line in case.writer.statement() + case.writer.statement()]
            case.insert_block(case.inside(), case.ai("\n".join(rows)) + "\n")
        case.nvim.settle(case.random.choice((0.05, 0.7, 1.2)))
        if case.random.random() < 0.4:
            line = f"key = {case.writer.name()}({case.writer.arguments()})"
            _open_line(case, case.inside() - 1)
            case.nvim.type("    " + case.there(line), 0.001)
            case.nvim.keys("<Esc>")
            case.nvim.settle(0.2)


@kind
def inline(case: Case) -> None:
    """Ghost text that is accepted behind what was typed."""
    case.begin()
    for _ in range(3):
        head = case.random.choice(("key = ", "return_value = ", "if ", "", "rows = client.", "total += "))
        name = case.writer.name()
        case.truth[name] = AI
        line = f"{head}{name}({case.writer.arguments()})" + (":" if head == "if " else "")
        tail = []
        if head == "if ":
            tail = [f"        {case.writer.call(nested=False)}"]
        elif case.random.random() < 0.3:
            tail = [f"    {row}" for row in case.writer.statement()]
        if tail:
            case.ai("\n".join(tail))
        _open_line(case, case.inside() - 1)
        typed = len(head) + case.random.choice((0, 0, 1, 3))
        if typed == 0 and case.random.random() < 0.5:
            typed = 2
        case.nvim.type("    " + line[:typed], 0.002)
        case.nvim.settle(case.random.choice((0.01, 0.3)))
        rest = [line[typed:], *tail]
        if case.random.random() < 0.6:
            case.nvim.lua(
                """local row, col = unpack(vim.api.nvim_win_get_cursor(0))
                local text = ...
                vim.api.nvim_buf_set_text(0, row - 1, col, row - 1, col, text)""",
                rest,
            )
        else:
            case.nvim.lua(
                """local row, col = unpack(vim.api.nvim_win_get_cursor(0))
                local line = vim.api.nvim_get_current_line()
                local whole = line:sub(1, col) .. ...
                vim.lsp.util.apply_text_edits({ { newText = whole, range = {
                  start = { line = row - 1, character = 0 }, ['end'] = { line = row - 1, character = col } } } },
                  vim.api.nvim_get_current_buf(), 'utf-8')""",
                "\n".join(rest),
            )
        case.nvim.keys("<Esc>")
        case.nvim.settle(case.random.choice((0.02, 0.4, 1.2)))


@kind
def stream(case: Case) -> None:
    """Text that grows in 60 pieces."""
    case.begin()
    text = case.ai(case.writer.function(case.random.randint(8, 16)))
    line = case.between()
    if case.random.random() < 0.5:
        typed = f"key = {case.writer.name()}({case.writer.arguments()})"
        _open_line(case, case.inside() - 1)
        case.nvim.type("    " + case.there(typed), 0.001)
        case.nvim.keys("<Esc>")
        case.nvim.settle(0.1)
    case.nvim.lua("vim.api.nvim_buf_set_lines(0, ...)", line, line, False, ["", ""])
    cuts = sorted(case.random.sample(range(1, len(text)), min(59, len(text) - 1)))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    row, column, current = line + 1, 0, ""
    way = case.random.random() < 0.5
    pause = case.random.choice((0.003, 0.01, 0.016))
    for piece in pieces:
        rows = piece.split("\n")
        if way:
            case.nvim.lua("vim.api.nvim_buf_set_text(0, ...)", row, column, row, column, rows)
        else:
            case.nvim.lua("vim.api.nvim_buf_set_lines(0, ...)", row, row + 1, False, [current + rows[0], *rows[1:]])
        current = current + piece if len(rows) == 1 else rows[-1]
        column = len(current.encode())
        row += len(rows) - 1
        time.sleep(pause)
    if case.random.random() < 0.4:
        case.nvim.settle(0.3)
        typed = f"key = {case.writer.name()}({case.writer.arguments()})"
        case.there(typed)
        case.nvim.at(row - 1)
        case.nvim.keys("O<C-u>")
        case.nvim.type("    " + typed, 0.02)
        case.nvim.keys("<Esc>")


@kind
def rewrite(case: Case) -> None:
    """A function that is replaced by one with other calls, some of which were there."""
    case.begin(functions=3, lines=9)
    lines = case.nvim.nvim.current.buffer[:]
    starts = [number for number, line in enumerate(lines) if line.startswith("def ")]
    start = case.random.choice(starts)
    end = next((n for n in range(start + 1, len(lines)) if not lines[n].startswith((" ", ")"))), len(lines))
    old = lines[start:end]
    new: list[str] = []
    depth = 0
    for row in old:
        depth += row.count("(") - row.count(")")
        new.append(row)
        whole = depth == 0 and row.count("(") == row.count(")") and row.startswith("    ") and row.strip() != ")"
        if whole and not row.endswith(":") and case.random.random() < 0.5:
            indent = row[: len(row) - len(row.lstrip())]
            added = case.writer.statement()
            case.ai("\n".join(added))
            new[-1:-1] = [indent + line for line in added]
    for _ in range(2):
        place = case.random.randrange(len(new))
        match = re.search(r"\b(\w+)\(([^()]*)\)", new[place])
        if match and not new[place].lstrip().startswith("def ") and case.truth.get(match[1]) == HUMAN:
            name = case.writer.name()
            case.truth[name] = AI
            new[place] = new[place].replace(match[0], f"{name}({case.writer.arguments()})", 1)
    way = case.random.randrange(3)
    if way == 0:
        case.nvim.lua("vim.api.nvim_buf_set_lines(0, ...)", start, end, False, new)
    elif way == 1:
        case.nvim.lua("vim.api.nvim_buf_set_lines(0, ...)", start, end, False, [])
        case.nvim.settle(case.random.choice((0.0, 0.02)))
        case.nvim.lua("vim.api.nvim_buf_set_lines(0, ...)", start, start, False, new)
    else:
        _apply(case, [(start, 0, end, 0, "".join(f"{row}\n" for row in new))])
    case.nvim.settle(0.8)


@kind
def paste(case: Case) -> None:
    """Whole calls that are pasted from another program."""
    case.begin()
    for _ in range(2):
        if case.random.random() < 0.5:
            text, line = "\n\n" + case.ai(case.writer.function(6)), case.between()
        else:
            rows = [f"    {row}" for row in case.writer.statement()]
            text, line = case.ai("\n".join(rows)) + "\n", case.inside()
        if case.random.random() < 0.5:
            case.nvim.lua("vim.fn.setreg('z', ...)", text, "V")
            case.nvim.at(max(line - 1, 0))
            case.nvim.keys('"zp')
        else:
            case.nvim.at(line)
            case.nvim.keys("O<C-u>")
            case.nvim.nvim.api.paste(text.removesuffix("\n"), False, -1)
            case.nvim.keys("<Esc>")
        case.nvim.settle(case.random.choice((0.3, 0.8)))


# -- outside of the editor


@kind
def agent_open(case: Case) -> None:
    """An agent rewrites a file whose buffer is open."""
    case.begin()
    if case.random.random() < 0.5:
        text = case.there(case.writer.function(5))
        _open_line(case, case.between())
        _type_lines(case, text)
        case.nvim.keys("<CR><C-u><CR><C-u><Esc>")
    case.nvim.command("silent write")
    case.written("a.py")
    case.nvim.settle(0.1)
    for _ in range(case.random.randint(1, 2)):
        _rewrite_on_disk(case, "a.py")
        case.nvim.command("checktime")
        case.nvim.settle(0.2)


def _rewrite_on_disk(case: Case, name: str) -> None:
    lines = case.disk[name].split("\n")
    starts = [number for number, line in enumerate(lines) if line.startswith("def ")]
    start = case.random.choice(starts)
    new = case.ai(case.writer.function(case.random.randint(4, 12))).rstrip("\n").split("\n")
    if case.random.random() < 0.5:
        lines[start:start] = [*new, "", ""]
    else:
        end = next((n for n in range(start + 1, len(lines)) if not lines[n].startswith((" ", ")"))), len(lines))
        lines[start:end] = new
    time.sleep(0.02)
    case.write(name, "\n".join(lines))


@kind
def agent_closed(case: Case) -> None:
    """An agent writes files that no buffer holds; then they are opened."""
    case.begin(b_py=case.writer.module(2))
    case.some_ai(0.3)
    _rewrite_on_disk(case, "b.py")
    case.write("new.py", case.ai(case.writer.module(1)))
    case.nvim.settle(0.1)
    if case.random.random() < 0.5:
        _rewrite_on_disk(case, "b.py")
    case.nvim.edit("b.py")
    case.nvim.settle(0.05)
    case.check()
    case.nvim.edit("new.py")


def _git(case: Case, *arguments: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *identity, *arguments], cwd=case.nvim.folder, check=True, capture_output=True, timeout=60)


def _repository(case: Case) -> None:
    _git(case, "init", "-q")
    _git(case, "add", "*.py")
    _git(case, "commit", "-q", "-m", "first")


def _moved(case: Case, *arguments: str) -> None:
    """A git command that writes files."""
    _git(case, *arguments)
    case.note("g", arguments[0])
    for name in ("a.py", "b.py"):
        case.written(name)
    case.nvim.command("checktime")
    case.nvim.settle(0.25)


@kind
def checkout(case: Case) -> None:
    """Branches that are switched while the file is open."""
    case.begin(b_py=case.writer.module(2))
    _repository(case)
    _git(case, "checkout", "-q", "-b", "other")
    text = case.files["a.py"] + "\n\n" + case.there(case.writer.function(8))
    case.path("a.py").write_text(text, "utf-8")
    _git(case, "commit", "-q", "-a", "-m", "more")
    _git(case, "checkout", "-q", "main")
    case.nvim.command("checktime")
    case.nvim.settle(0.1)
    time.sleep(0.02)
    _moved(case, "checkout", "-q", "other")
    if case.random.random() < 0.5:
        _moved(case, "checkout", "-q", "main")
        _moved(case, "checkout", "-q", "other")


@kind
def stash(case: Case) -> None:
    """Work that is put aside and comes back."""
    case.begin()
    _repository(case)
    case.some_ai()
    text = case.there(case.writer.function(6))
    _open_line(case, case.between())
    _type_lines(case, text)
    case.nvim.keys("<CR><C-u><CR><C-u><Esc>")
    case.nvim.command("silent write")
    case.written("a.py")
    case.nvim.settle(0.2)
    _moved(case, "stash")
    case.nvim.settle(case.random.choice((0.1, 0.8)))
    _moved(case, "stash", "pop")


@kind
def rebase(case: Case) -> None:
    """A branch that is put on top of another one."""
    case.begin(b_py=case.writer.module(2))
    _repository(case)
    _git(case, "checkout", "-q", "-b", "topic")
    case.path("a.py").write_text(case.files["a.py"] + "\n\n" + case.there(case.writer.function(6)), "utf-8")
    _git(case, "commit", "-q", "-a", "-m", "topic")
    _git(case, "checkout", "-q", "main")
    head = "import json\n\n\n" + case.there(case.writer.function(6)) + "\n\n"
    case.path("a.py").write_text(head + case.files["a.py"], "utf-8")
    _git(case, "commit", "-q", "-a", "-m", "main goes on")
    _moved(case, "checkout", "-q", "topic")
    time.sleep(0.02)
    _moved(case, "rebase", "-q", "main")
