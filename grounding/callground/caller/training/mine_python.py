"""Requests and functions out of Python projects: docstrings, comments over calls, tools of MCP servers.

The files are parsed, never imported.  A comment's call is followed through the file's own imports, so that a pair
names the function that was really called, not one that only shares its name.
"""

from __future__ import annotations

import ast
import random
import re
import warnings
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from callground.caller.tools import words
from callground.caller.training.archives import Archive
from callground.caller.training.corpus import Group, MinedTool, Pair, clean, distinct
from callground.caller.training.phrasing import first_sentence, imperative, polite, request

_SKIPPED_FOLDERS = re.compile(r"(^|/)(tests?|testing|_vendor|vendored?|migrations|locale|examples?|node_modules)/")
_SKIPPED_COMMENTS = re.compile(
    r"^(todo|fixme|xxx|hack|noqa|type:|pylint|pragma|mypy|pyright|fmt:|isort|ruff|nosec|region|endregion|http|copyright|-\*-|!|\$)",
    re.I,
)
# So common that a call of that name on an unknown receiver says nothing about which function it is.
_COMMON = frozenset(
    "get set add append pop update items keys values join split format copy close open read write strip "
    "replace encode decode run call start stop next find index remove clear send save load delete create "
    "list filter all first last".split()
)
_REMARKS = frozenset(
    "the this that it its for in if we is are as at on from with to not no all by and or new old data "
    "first last here now only name note key value type max min default when while use used other per non "
    "main test http base".split()
)
MOST_FILES = 250
MOST_PAIRS_OF_A_KIND = 700
"""Of one project: a large one must not drown the others."""


@dataclass
class _Function:
    tool: MinedTool
    path: str
    name: str
    owner: str | None
    is_mcp_tool: bool = False


@dataclass
class _Module:
    path: str
    source: str
    tree: ast.Module
    imported: dict[str, str] = field(default_factory=dict)
    """Local name -> the dotted thing it stands for."""


def python_project(archive: Archive) -> Iterator[Group]:
    """The groups of one project: its documented functions, its comments, and its MCP tools where it has some."""
    modules = [module for name in archive.names() if (module := _module(archive, name)) is not None][:MOST_FILES]
    functions: list[_Function] = []
    for module in modules:
        functions += _functions(module)
    if not functions:
        return
    chance = random.Random(zlib.crc32(archive.project.encode()))
    mcp = [function for function in functions if function.is_mcp_tool]
    if len(mcp) >= 2:
        yield _documented(Group("mcp", archive.project), mcp, chance, times=3)
    yield _documented(Group("docstring", archive.project), functions, chance, times=1)
    yield _commented(Group("comment", archive.project), modules, functions, chance)


def _module(archive: Archive, name: str) -> _Module | None:
    base = name.rpartition("/")[2]
    if not name.endswith(".py") or _SKIPPED_FOLDERS.search(name) or base.startswith("test_") or base == "conftest.py":
        return None
    source = archive.text(name)
    if len(source) > 400_000:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return None
    return _Module(name, source, tree, dict(_imports(name, tree)))


def _imports(path: str, tree: ast.Module) -> Iterator[tuple[str, str]]:
    package = path.removesuffix(".py").split("/")[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.asname or alias.name.partition(".")[0], alias.name
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*start, *([node.module] if node.module else [])])
            for alias in node.names:
                yield alias.asname or alias.name, f"{module}.{alias.name}"


def _functions(module: _Module) -> Iterator[_Function]:
    for node in module.tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield _function(node, None, module.path)
            # Servers define their tools inside a registering function.
            for inner in ast.walk(node):
                if (
                    inner is not node
                    and isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef)
                    and _registers(inner)
                ):
                    yield _function(inner, None, module.path)
        elif isinstance(node, ast.ClassDef):
            for member in node.body:
                if not isinstance(member, ast.FunctionDef | ast.AsyncFunctionDef):
                    continue
                if member.name == "__init__":
                    yield _function(member, node, module.path)
                elif not member.name.startswith("__"):
                    yield _function(member, node.name, module.path)


def _registers(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(re.search(r"\b(tool|mcp_tool|register_tool)\b", ast.unparse(mark)) for mark in node.decorator_list)


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef, owner: ast.ClassDef | str | None, path: str) -> _Function:
    arguments = node.args
    names = [
        a.arg for a in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs] if a.arg not in ("self", "cls")
    ]
    name = node.name
    doc = ast.get_docstring(node) or ""
    shown = name
    if isinstance(owner, ast.ClassDef):
        # A class is called by its own name.
        name = shown = owner.name
        doc = ast.get_docstring(owner) or doc
        owner = None
    elif owner is not None:
        shown = f"{owner}.{name}"
    summary = clean(re.split(r"\n\s*\n|\n\s*[-=]{4,}", doc)[0])[:300]
    return _Function(MinedTool(shown, summary, distinct(names)), path, name, owner, _registers(node))


def _documented(group: Group, functions: list[_Function], chance: random.Random, times: int) -> Group:
    group.tools = [function.tool for function in functions]
    chosen = list(range(len(functions)))
    chance.shuffle(chosen)
    for at in chosen:
        tool = functions[at].tool
        sentence = first_sentence(tool.description)
        if not 4 <= len(sentence.split()) <= 30 or _only_repeats(sentence, tool.name):
            continue
        for _ in range(times):
            if group.source == "mcp" or chance.random() < 0.5:
                text = request(sentence, tool.args, chance)
            else:
                text = imperative(sentence) or sentence
            if text:
                group.pairs.append(Pair(text, at, told=True))
        if len(group.pairs) >= MOST_PAIRS_OF_A_KIND * times:
            break
    return group


def _only_repeats(sentence: str, name: str) -> bool:
    """Whether a docstring says what the name says: a pair that teaches nothing."""
    return set(words(sentence).split()) <= set(words(name).split()) | {"a", "an", "the", "of", "to"}


def _commented(group: Group, modules: list[_Module], functions: list[_Function], chance: random.Random) -> Group:
    group.tools = [function.tool for function in functions]
    by_name: dict[str, list[int]] = defaultdict(list)
    for at, function in enumerate(functions):
        by_name[function.name].append(at)
    verbs = Counter(words(function.name).split(" ")[0] for function in functions)
    orders = {verb for verb, count in verbs.items() if count >= 4 and len(verb) > 2} - _REMARKS
    seen: set[str] = set()
    for module in modules:
        lines = module.source.split("\n")
        for statement, owner in _statements(module.tree, None):
            comment = _comment_over(lines, statement.lineno)
            call = _call_of(statement)
            if not comment or call is None or comment.lower() in seen:
                continue
            callee = _callee(call, owner, module, by_name, functions)
            if callee is not None and _is_order(comment, orders):
                seen.add(comment.lower())
                group.pairs.append(Pair(polite(comment, chance) if chance.random() < 0.15 else comment, callee))
    chance.shuffle(group.pairs)
    del group.pairs[MOST_PAIRS_OF_A_KIND:]
    return group


def _statements(node: ast.AST, owner: str | None) -> Iterator[tuple[ast.stmt, str | None]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Expr | ast.Assign | ast.AnnAssign | ast.Return | ast.AugAssign):
            yield child, owner
        else:
            yield from _statements(child, child.name if isinstance(child, ast.ClassDef) else owner)


def _comment_over(lines: list[str], line: int) -> str:
    """The comment right above a line: at most three lines long, and all of it."""
    found: list[str] = []
    at = line - 2
    while at >= 0 and lines[at].strip().startswith("#"):
        found.insert(0, lines[at].strip().lstrip("#").strip())
        at -= 1
    text = clean(" ".join(found))
    plain = re.findall(r"[A-Za-z]{2,}", text)
    letters = len(re.findall(r"[A-Za-z ]", text))
    if len(found) > 3 or not 3 <= len(plain) <= 30 or _SKIPPED_COMMENTS.match(text) or letters < 0.8 * len(text):
        return ""
    return "" if _is_code(text) else text.rstrip(".:")


def _is_code(text: str) -> bool:
    try:
        return any(isinstance(node, ast.Call | ast.Assign | ast.Import) for node in ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError):
        return False


def _is_order(comment: str, verbs: set[str]) -> bool:
    """Whether a comment begins with a verb that the project names functions with: an order, no remark on why."""
    return comment.split(" ")[0].strip(",.").lower() in verbs


def _call_of(statement: ast.stmt) -> ast.Call | None:
    value = getattr(statement, "value", None)
    while isinstance(value, ast.Await | ast.Starred | ast.Subscript):
        value = value.value
    return value if isinstance(value, ast.Call) else None


def _callee(
    call: ast.Call, owner: str | None, module: _Module, by_name: dict[str, list[int]], functions: list[_Function]
) -> int | None:
    """The function that a call means, through the file's imports and classes; None where it is a guess."""
    func = call.func
    if isinstance(func, ast.Name):
        here = [at for at in by_name.get(func.id, ()) if functions[at].owner is None]
        own = [at for at in here if functions[at].path == module.path]
        if own:
            return own[0] if len(own) == 1 else None
        dotted = module.imported.get(func.id)
        if dotted is None:
            return None
        source, _, name = dotted.rpartition(".")
        there = [at for at in by_name.get(name, ()) if functions[at].owner is None]
        return _from_module(source, there, functions)
    if not isinstance(func, ast.Attribute):
        return None
    named = by_name.get(func.attr, [])
    if isinstance(func.value, ast.Name):
        if func.value.id in ("self", "cls") and owner is not None:
            own = [at for at in named if functions[at].owner == owner and functions[at].path == module.path]
            return own[0] if own else None
        dotted = module.imported.get(func.value.id)
        if dotted is not None:
            return _from_module(dotted, [at for at in named if functions[at].owner is None], functions)
    if len(named) == 1 and func.attr not in _COMMON and functions[named[0]].owner is not None:
        return named[0]
    return None


def _from_module(dotted: str, there: list[int], functions: list[_Function]) -> int | None:
    """The one of some functions whose file is the module `dotted`, or lies in that package."""
    path = dotted.replace(".", "/")
    exact = [at for at in there if functions[at].path.removesuffix(".py").removesuffix("/__init__").endswith(path)]
    inside = [at for at in there if f"{path}/" in f"{functions[at].path}/"]
    found = exact or inside
    return found[0] if path and len(found) == 1 else None
