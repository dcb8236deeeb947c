"""Places mined from source trees: a comment that a call follows, with the file as it was before the call was written.

A place is what the code side of the caller is trained and measured on.  The statement with the call is taken out of
the file, and with it every import, local and comment whose only use it was, so that nothing left behind tells what
stood there.  What the comment says is the request; the called function of the same tree is the answer.

Nothing is executed or imported: files are read and parsed.
"""

from __future__ import annotations

import ast
import os
import random
import re
import warnings
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from callground.caller.code_request import ASIDE
from callground.caller.training.code_masking import Masker

EVALUATION = frozenset(
    "celery black mitmproxy streamlit conan luigi scrapy prefect xarray textual networkx moto".split()
)
"""Projects that are measured on: never mined for training."""

MOST_FILES = 700
MOST_CHARACTERS = 400_000

_ASIDE_FOLDERS = re.compile(r"/(tests?|testing|_vendor|vendored|vendor|node_modules|migrations|locale)/")
_EVERYDAY = frozenset(
    "get set add append pop update items keys values join split format copy close open read write strip replace encode "
    "decode run call start stop next len str int list dict print isinstance super range sorted find index remove clear "
    "send".split()
)
"""Names that mostly mean another thing than the tree's own function of that name."""


class Target(NamedTuple):
    """A function, method or class of the tree that a place may call."""

    path: str
    """Relative to the tree's root."""
    qualname: str
    """``Class.method``; for a class its own name."""
    line: int
    """1-based line of the ``def`` (of ``__init__`` for a class that has one)."""
    parameters: int
    """How many parameters it names, ``self`` and ``cls`` not counted."""

    @property
    def name(self) -> str:
        """The last part."""
        return self.qualname.rpartition(".")[2]


class Place(NamedTuple):
    """A comment and what was called under it."""

    path: str
    """Relative to the tree's root."""
    request: str
    """What the comment says, on one line."""
    text: str
    """The file without the call; the comment is still there, with an empty line under it."""
    line: int
    """1-based line of `text` under the comment, where the call belongs."""
    indent: str
    statement: str
    """The statement that stood there, as it was written."""
    callee: str
    """Source text of what was called."""
    target: Target | None
    """What it was; None where it is no function of the tree."""
    original_line: int
    """1-based line of the statement in the file as it was."""


class Tree(NamedTuple):
    """What was found in a source tree."""

    targets: tuple[Target, ...]
    places: tuple[Place, ...]
    lines: int


def python_files(root: str, limit: int = MOST_FILES) -> Iterator[str]:
    """Source files of a tree, relative to it: no tests, nothing vendored."""
    count = 0
    for folder, folders, names in os.walk(root):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(folder, name)
            inside = "/" + os.path.relpath(path, root).replace(os.sep, "/")
            if not name.endswith(".py") or _ASIDE_FOLDERS.search(inside):
                continue
            if name.startswith("test_") or name == "conftest.py":
                continue
            yield inside[1:]
            count += 1
            if count >= limit:
                return


def mine(root: str, *, others: bool = False, wanted: Callable[[str], bool] = bool, per_file: int | None = None) -> Tree:
    """The places of a source tree whose comments are `wanted`, at most `per_file` of each file (chosen by lot).

    With `others` also those of which the text does not say that they call something of the tree's own.
    """
    files: list[tuple[str, str, ast.Module]] = []
    targets: list[Target] = []
    lines = 0
    for relative in python_files(root):
        read = _read(os.path.join(root, relative))
        if read is None:
            continue
        text, tree = read
        lines += text.count("\n")
        files.append((relative, text, tree))
        targets += definitions(tree, relative)
    by_name: dict[str, list[Target]] = defaultdict(list)
    for target in targets:
        by_name[target.name].append(target)
    places: list[Place] = []
    for relative, text, tree in files:
        places += places_in(text, tree, relative, by_name, others=others, wanted=wanted, most=per_file)
    return Tree(tuple(targets), tuple(places), lines)


def _read(path: str) -> tuple[str, ast.Module] | None:
    try:
        with open(path, encoding="utf-8", newline="") as file:
            text = file.read()
        if len(text) > MOST_CHARACTERS:
            return None
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return text, ast.parse(text)
    except (OSError, ValueError, SyntaxError, RecursionError, MemoryError):
        return None


# -- what can be called


def definitions(tree: ast.Module, path: str) -> Iterator[Target]:
    """The functions, methods and constructors that a file defines at its top and in its classes."""
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield Target(path, node.name, node.lineno, _count(node))
        elif isinstance(node, ast.ClassDef):
            for member in node.body:
                if not isinstance(member, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    continue
                if member.name == "__init__":
                    yield Target(path, node.name, member.lineno, _count(member))
                elif not member.name.startswith("__"):
                    yield Target(path, f"{node.name}.{member.name}", member.lineno, _count(member))


def _count(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    args = node.args
    return sum(a.arg not in ("self", "cls") for a in (*args.posonlyargs, *args.args, *args.kwonlyargs))


# -- comments with a call under them


def is_request(comment: str) -> bool:
    """Whether a comment may be a request: some words of prose, no directive, no code."""
    comment = comment.strip()
    words = re.findall(r"[A-Za-z]{2,}", comment)
    if not 3 <= len(words) <= 40 or ASIDE.match(comment):
        return False
    if len(re.findall(r"[A-Za-z ]", comment)) < 0.8 * len(comment):
        return False
    try:
        tree = ast.parse(comment)
    except (SyntaxError, ValueError):
        return True
    return not any(isinstance(node, (ast.Call, ast.Assign, ast.Import)) for node in ast.walk(tree))


def places_in(
    text: str,
    tree: ast.Module,
    path: str,
    by_name: dict[str, list[Target]],
    *,
    others: bool = False,
    wanted: Callable[[str], bool] = bool,
    most: int | None = None,
) -> Iterator[Place]:
    """The places of one file, at most so many of them (chosen by lot)."""
    lines = text.split("\n")
    found: list[tuple[str, ast.stmt, ast.Call]] = []
    for node in ast.walk(tree):
        if not isinstance(node, (ast.Expr, ast.Assign, ast.AnnAssign, ast.Return, ast.AugAssign)) or not node.value:
            continue
        comment = _comment_above(lines, node.lineno)
        call = called(node.value)
        if comment is not None and call is not None and wanted(comment):
            found.append((comment, node, call))
    if most is not None and len(found) > most:
        found = random.Random(zlib.crc32(path.encode())).sample(found, most)
    masker = Masker(text, lines, tree) if found else None
    for comment, node, call in found:
        assert masker is not None
        target = resolve(call, path, by_name, masker)
        if target is None and not others:
            continue
        masked = masker.without(node)
        if masked is None:
            continue
        new_text, line, indent = masked
        yield Place(
            path,
            comment,
            new_text,
            line,
            indent,
            "\n".join(lines[node.lineno - 1 : node.end_lineno]).strip(),
            ast.unparse(call.func)[:200],
            target,
            node.lineno,
        )


def _comment_above(lines: Sequence[str], line: int) -> str | None:
    """The comment of one to three lines right above a line, if it may be a request."""
    found: list[str] = []
    index = line - 2
    while index >= 0 and lines[index].strip().startswith("#") and len(found) < 3:
        found.insert(0, lines[index].strip().lstrip("#").strip())
        index -= 1
    if not found or (index >= 0 and lines[index].strip().startswith("#")):
        return None
    comment = " ".join(found)
    return comment if is_request(comment) else None


def called(value: ast.expr) -> ast.Call | None:
    """The call that a statement's value is, ``await`` and subscripts looked through."""
    while isinstance(value, (ast.Await, ast.Starred, ast.Subscript)):
        value = value.value
    return value if isinstance(value, ast.Call) else None


def resolve(call: ast.Call, path: str, by_name: dict[str, list[Target]], masker: Masker) -> Target | None:
    """The function of the tree that a call means, where that is no guess: by name, the file's own first."""
    func = call.func
    if isinstance(func, ast.Name):
        name = func.id
        if masker.is_local(func):
            return None
    elif isinstance(func, ast.Attribute):
        name = func.attr
    else:
        return None
    candidates = by_name.get(name, [])
    if not candidates or name in _EVERYDAY or name.startswith("__"):
        return None
    own = [target for target in candidates if target.path == path]
    around = masker.class_around(call)
    if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id in ("self", "cls"):
        mine = [target for target in own if around and target.qualname == f"{around}.{name}"]
        if len(mine) == 1:
            return _fitting(call, mine[0])
    if len(own) == 1:
        target = own[0]
    elif len(candidates) == 1:
        target = candidates[0]
    else:
        return None
    if isinstance(func, ast.Name) and "." in target.qualname:
        return None
    if isinstance(func, ast.Name) and target.path != path and not masker.is_imported(name):
        return None
    return _fitting(call, target)


def _fitting(call: ast.Call, target: Target) -> Target | None:
    return target if len(call.args) <= target.parameters else None


# -- which of them are requests


_NO_VERBS = frozenset(
    "the a an this that is if we it on in for from with to not no all by as at or and new old test data first last "
    "here now only x n t s p i has can should note name key value type max min default when while use used other per "
    "non main".split()
)


def verbs(targets: Iterable[Target], least: int = 15) -> frozenset[str]:
    """First words of function names: the imperative verbs of this code."""
    counts: dict[str, int] = defaultdict(int)
    for target in targets:
        first = re.split(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[_\W]+", target.name.lstrip("_"))[0]
        counts[first.lower()] += 1
    return frozenset(w for w, k in counts.items() if k >= least and len(w) > 2 and w not in _NO_VERBS)


def is_imperative(request: str, known: frozenset[str], most_words: int = 18) -> bool:
    """Whether a comment begins with a verb and is short: then it mostly says what the call under it does."""
    words = request.lower().split()
    return words[0].strip(".,:") in known and len(words) <= most_words


DECISION = frozenset(
    "mlflow dvc nova cinder neutron keystone apache-airflow-core dask distributed spyder napari optuna jupyter-server "
    "aws-sam-cli localstack-core dagster bokeh pdm poetry wagtail discord.py nltk scikit-image astropy sunpy "
    "great-expectations snakemake apache-superset azure-cli-core pytorch-lightning glance heat ironic feast zarr "
    "django sphinx sqlalchemy twisted".split()
)
"""Projects that the code side's combiner and gate are fitted on; the encoder does not learn from them."""
