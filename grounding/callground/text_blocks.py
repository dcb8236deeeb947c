"""Python out of what a person or a model wrote around it: fences, prompts, shell heredocs, plain prose."""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from typing import NamedTuple


class CodeBlock(NamedTuple):
    """One block of code in a text."""

    code: str
    language: str
    """Lower-case first word of the fence's info string; ``""`` without one."""
    line: int
    """1-based line of the text on which the code begins."""


_FENCE = re.compile(r"^(?P<indent>[ \t]*(?:>[ \t]?)*)(?P<fence>`{3,}|~{3,})(?P<info>.*)$")
_PYTHON = frozenset({"python", "py", "python3", "py3", "pycon", "ipython", "ipython3", "doctest", "sage"})
_SHELL = frozenset({"sh", "bash", "shell", "zsh", "console", "shell-session", "terminal"})
_HEREDOC = re.compile(r"<<(?P<dash>-?)\s*(?P<quote>['\"]?)(?P<word>\w+)(?P=quote)")
_PROMPT = re.compile(r"^\s*(?:>>>|\.\.\.)(?: |$)")
_CODE_LINE = re.compile(
    r"^\s*(?:(?:async\s+)?(?:def|class|with|for)\b|import\s+\w|from\s+\S+\s+import\b|@\w|return\b|[\w.]+\s*\(|"
    r"[\w.\[\], ]+\s*[-+*/|&]?=[^=])"
)


def extract_code_block(text: str) -> str:
    """The Python code in `text`, ``""`` when there is none.

    Fences that say Python are taken first (several are joined), then fences that say nothing and hold
    Python, then heredocs that feed Python or write a ``.py`` file, then doctest prompts; a text without
    any of these is code itself, less the prose before and after it.  A fence that is never closed ends
    with the text.
    """
    blocks = extract_code_blocks(text)
    if blocks:
        return "\n\n".join(block.code.strip("\n") for block in blocks) + "\n"
    return ""


def extract_code_blocks(text: str) -> list[CodeBlock]:
    """The blocks that `extract_code_block` joins, each with its place in the text."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    fenced = _fenced(text)
    named = [block for block in fenced if block.language in _PYTHON]
    if named:
        return [_unprompted(block) for block in named if block.code.strip()]
    in_shell = [
        inner
        for block in fenced
        if block.language in _SHELL or not block.language
        for inner in _heredocs(block.code, block.line)
    ]
    if in_shell:
        return in_shell
    unnamed = [_unprompted(block) for block in fenced if not block.language and block.code.strip()]
    python = [block for block in unnamed if _parses(block.code)]
    if python or fenced:
        # An unnamed fence that does not parse may still be half-typed Python.
        return python or [block for block in unnamed if _looks_like_code(block.code)]
    heredocs = _heredocs(text, 1)
    if heredocs:
        return heredocs
    bare = _bare(text)
    return [bare] if bare is not None else []


def _fenced(text: str) -> list[CodeBlock]:
    blocks: list[CodeBlock] = []
    lines = text.split("\n")
    number = 0
    while number < len(lines):
        opening = _FENCE.match(lines[number])
        number += 1
        if opening is None or ("`" in opening["fence"] and "`" in opening["info"]):
            continue  # inline code such as ```x``` opens nothing
        start, fence, indent = number, opening["fence"], opening["indent"]
        closing = re.compile(rf"^[ \t>]*{re.escape(fence[0])}{{{len(fence)},}}[ \t]*$")
        while number < len(lines) and not closing.match(lines[number]):
            number += 1
        body = "\n".join(_outdent(line, indent) for line in lines[start:number])
        info = opening["info"].strip().lstrip("{").lstrip(".").rstrip("}")
        language = re.split(r"[\s,:{]", info.lower(), maxsplit=1)[0]
        blocks.append(CodeBlock(body, language, start + 1))
        number += 1
    return blocks


def _outdent(line: str, indent: str) -> str:
    """The line less the fence's own indentation and quote marks."""
    if line.startswith(indent):
        return line[len(indent) :]
    if ">" in indent:
        return re.sub(r"^[ \t]*(?:>[ \t]?)+", "", line, count=1)
    width = len(line) - len(line.lstrip())
    return line[min(width, len(indent)) :]


def _heredocs(text: str, first_line: int) -> list[CodeBlock]:
    """Bodies of shell here-documents that go to Python or into a Python file."""
    blocks: list[CodeBlock] = []
    lines = text.split("\n")
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        opening = _HEREDOC.search(line)
        if opening is None or not re.search(r"\bpython[\d.]*\b|\.pyi?\b|\bipython\b", line):
            continue
        start = number
        while number < len(lines):
            end = lines[number].lstrip("\t") if opening["dash"] else lines[number]
            if end == opening["word"]:
                break
            number += 1
        body = lines[start:number]
        if opening["dash"]:
            body = [entry.lstrip("\t") for entry in body]
        blocks.append(CodeBlock("\n".join(body), "python", first_line + start))
        number += 1
    return blocks


def _unprompted(block: CodeBlock) -> CodeBlock:
    """Without ``>>>`` and ``...`` prompts and the output between them, where there are prompts."""
    lines = block.code.split("\n")
    if not any(line.lstrip().startswith(">>>") for line in lines):
        return block._replace(code=textwrap.dedent(block.code))
    kept: list[str] = []
    going_on = False
    for line in lines:
        # A prompt opens an input; "..." goes on only after one, elsewhere it is output.
        prompt = _PROMPT.match(line)
        if prompt and (going_on or line.lstrip().startswith(">>>")):
            kept.append(line[prompt.end() :])
            going_on = True
        else:
            going_on = False
    return block._replace(code="\n".join(kept))


def _bare(text: str) -> CodeBlock | None:
    if any(line.lstrip().startswith(">>> ") for line in text.split("\n")):
        return _unprompted(CodeBlock(text, "", 1))
    code = textwrap.dedent(text)
    if _parses(code):
        return CodeBlock(code, "", 1) if _looks_like_code(code) or not _is_words(code) else None
    # Prose around code: the longest run of paragraphs that parses and is more than words.
    paragraphs = _paragraphs(text)
    best: CodeBlock | None = None
    for first in range(len(paragraphs)):
        for last in range(len(paragraphs), first, -1):
            start, end = paragraphs[first][0], paragraphs[last - 1][1]
            run = textwrap.dedent("\n".join(text.split("\n")[start:end]))
            if best is not None and len(run) <= len(best.code):
                break
            if _looks_like_code(run) and _parses(run):
                best = CodeBlock(run, "", start + 1)
    if best is not None:
        return best
    return CodeBlock(code, "", 1) if _looks_like_code(code) else None


def _paragraphs(text: str) -> list[tuple[int, int]]:
    """Line ranges (0-based, end exclusive) between blank lines; at most 40, for a bounded search."""
    ranges: list[tuple[int, int]] = []
    start: int | None = None
    lines = text.split("\n")
    for number, line in enumerate([*lines, ""]):
        if line.strip():
            start = number if start is None else start
        elif start is not None:
            ranges.append((start, number))
            start = None
    return ranges[:40]


def _parses(code: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _is_words(code: str) -> bool:
    """Whether parsed text is nothing but names (``Done``): a word, not a program."""
    return all(
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Name) for statement in ast.parse(code).body
    )


def _looks_like_code(code: str) -> bool:
    return any(_CODE_LINE.match(line) for line in code.split("\n"))
