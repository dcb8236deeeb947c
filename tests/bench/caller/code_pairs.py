"""Pairs of a comment and the function of the same tree that is called under it, as they were first measured.

The rules here are fixed: other pairs would give other numbers.  What is trained on comes from
`callground.caller.training.code_places`, which asks the evaluator instead of going by names.
"""

from __future__ import annotations

import ast
import os
import re
import warnings
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

SKIP = re.compile(
    r"^(todo|fixme|xxx|noqa|type:|pylint|pragma|mypy|fmt:|isort|ruff|nosec|region|endregion|http|copyright|-\*-|!|\$)",
    re.I,
)
SKIPPED_FOLDERS = re.compile(r"/(tests?|testing|_vendor|vendored|vendor|node_modules|migrations|locale)/")
EVERYDAY = set(
    "get set add append pop update items keys values join split format copy close open read write strip replace format encode decode "
    "run call start stop next len str int list dict print isinstance super range sorted find index remove clear send".split()
)


def is_request(comment: str) -> bool:
    comment = comment.strip()
    found = re.findall(r"[A-Za-z]{2,}", comment)
    if len(found) < 3 or len(found) > 40 or SKIP.match(comment):
        return False
    if len(re.findall(r"[A-Za-z ]", comment)) < 0.8 * len(comment):
        return False
    try:
        tree = ast.parse(comment)
    except SyntaxError:
        return True
    return not any(isinstance(n, (ast.Call, ast.Assign, ast.Import)) for n in ast.walk(tree))


def first_sentence(text: str) -> str:
    text = re.sub(r"\s+", " ", text.strip().split("\n\n")[0])
    return re.split(r"(?<=[.!?])\s", text)[0][:200]


def record(node: Any, cls: str | None, path: str) -> dict[str, Any]:
    args = node.args
    every = args.posonlyargs + args.args + args.kwonlyargs
    return {
        "name": node.name,
        "cls": cls,
        "path": path,
        "line": node.lineno,
        "params": [a.arg for a in every if a.arg not in ("self", "cls")],
        "doc": first_sentence(ast.get_docstring(node) or ""),
    }


def definitions(tree: ast.Module, path: str) -> Iterator[dict[str, Any]]:
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield record(node, None, path)
        elif isinstance(node, ast.ClassDef):
            for member in node.body:
                if not isinstance(member, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    continue
                if member.name == "__init__":
                    made = record(member, node.name, path)
                    made["name"], made["cls"] = node.name, None
                    made["doc"] = first_sentence(ast.get_docstring(node) or "") or made["doc"]
                    yield made
                elif not member.name.startswith("__"):
                    yield record(member, node.name, path)


def mine(root: str, max_files: int = 700) -> dict[str, Any]:
    functions: list[dict[str, Any]] = []
    files: list[tuple[str, list[str], ast.Module]] = []
    for folder, _, names in os.walk(root):
        for name in sorted(names):
            path = os.path.join(folder, name)
            if not name.endswith(".py") or SKIPPED_FOLDERS.search(path + "/") or len(files) >= max_files:
                continue
            if name.startswith("test_") or name == "conftest.py":
                continue
            try:
                with open(path, encoding="utf-8") as file:
                    source = file.read()
                if len(source) > 400_000:
                    continue
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    tree = ast.parse(source)
            except Exception:
                continue
            relative = os.path.relpath(path, root)
            functions += definitions(tree, relative)
            files.append((relative, source.split("\n"), tree))
    by_name: dict[str, list[int]] = defaultdict(list)
    for i, f in enumerate(functions):
        by_name[f["name"]].append(i)
    pairs = [pair for file in files for pair in pairs_of(*file, functions, by_name)]
    return {"funcs": functions, "pairs": pairs}


def pairs_of(
    path: str, lines: list[str], tree: ast.Module, functions: list[dict[str, Any]], by_name: dict[str, list[int]]
) -> Iterator[dict[str, Any]]:
    for node in ast.walk(tree):
        if not isinstance(node, (ast.Expr, ast.Assign, ast.AnnAssign, ast.Return, ast.AugAssign)):
            continue
        if not getattr(node, "value", None):
            continue
        i = node.lineno - 2
        comment: list[str] = []
        while i >= 0 and lines[i].strip().startswith("#") and len(comment) < 3:
            comment.insert(0, lines[i].strip().lstrip("#").strip())
            i -= 1
        if not comment or (i >= 0 and lines[i].strip().startswith("#")):
            continue
        text = " ".join(comment)
        if not is_request(text):
            continue
        value: Any = node.value
        while isinstance(value, (ast.Await, ast.Starred, ast.Subscript)):
            value = value.value
        if not isinstance(value, ast.Call):
            continue
        func = value.func
        name = func.id if isinstance(func, ast.Name) else func.attr if isinstance(func, ast.Attribute) else None
        if not name or name in EVERYDAY or name.startswith("__") or name not in by_name:
            continue
        candidates = by_name[name]
        own = [k for k in candidates if functions[k]["path"] == path]
        if len(own) == 1:
            chosen = own[0]
        elif len(candidates) == 1:
            chosen = candidates[0]
        else:
            continue
        if isinstance(func, ast.Name) and functions[chosen]["cls"]:
            continue
        if len(value.args) > len(functions[chosen]["params"]):
            continue
        yield {"text": text, "fn": chosen, "path": path, "line": node.lineno}
