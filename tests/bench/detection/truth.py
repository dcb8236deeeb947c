"""What is true at run time: a project imported inside its own environment, and questions to it.

`choose.py` plants a fault only where an answer of this module proves it: the invented name stands on no
class, base or module, and no `*args`, `**kwargs` or `__getattr__` could take it.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import functools
import importlib
import importlib.util
import inspect
import io
import logging
import random
import re
import subprocess
import sys
import types
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Any

import names

STDLIB = set(sys.stdlib_module_names)


def dotted(expr: ast.AST) -> list[str] | None:
    """`a.b.c` as its parts, None for anything else."""
    parts: list[str] = []
    while isinstance(expr, ast.Attribute):
        parts.append(expr.attr)
        expr = expr.value
    return [expr.id, *parts[::-1]] if isinstance(expr, ast.Name) else None


def is_open_module(module: object) -> bool:
    """May the module have members that nobody can list?"""
    return type(module) is not types.ModuleType or "__getattr__" in vars(module)


def is_closed_class(cls: object) -> bool:
    """Does the class answer only for the members that its bases define?"""
    if not isinstance(cls, type):
        return False
    for base in cls.__mro__:
        if "__getattr__" in vars(base):
            return False
        if "__getattribute__" in vars(base) and base is not object and base.__module__ != "builtins":
            return False
    return type(cls).__module__ in ("builtins", "abc") or type(cls).__name__ in ("EnumMeta", "EnumType")


def subclasses(cls: type) -> set[type]:
    """All subclasses of a class that are loaded, direct or not."""
    found: set[type] = set()
    stack = [cls]
    while stack:
        try:
            direct: list[type] = type.__subclasses__(stack.pop())
        except TypeError:
            continue
        for sub in direct:
            if sub not in found:
                found.add(sub)
                stack.append(sub)
    return found


def certain_signature(target: object) -> inspect.Signature | None:
    """The signature of a callable whose arity is beyond doubt; a bound first parameter is dropped."""
    if isinstance(target, types.MethodType):
        function = target.__func__
        if not isinstance(function, types.FunctionType) or hasattr(function, "__wrapped__"):
            return None
        return inspect.signature(target)
    if isinstance(target, types.FunctionType):
        if hasattr(target, "__wrapped__") or hasattr(target, "__signature__"):
            return None
        return inspect.signature(target)
    if isinstance(target, type):
        if type(target) is not type and type(target).__name__ != "ABCMeta":
            return None
        new: object = target.__new__
        if new is not object.__new__ or "__signature__" in vars(target):
            return None
        init = next((vars(base)["__init__"] for base in target.__mro__ if "__init__" in vars(base)), None)
        if not isinstance(init, types.FunctionType) or hasattr(init, "__wrapped__"):
            return None
        return inspect.signature(types.MethodType(init, object()))
    return None


class Workspace:
    """All modules of a project tree, imported."""

    def __init__(self, tree: Path, project: str, seed: str) -> None:
        self.tree = tree
        self.rng = random.Random(f"{seed}/{project}")
        sys.path.insert(0, str(tree))
        self.top = {p.name for p in tree.iterdir() if p.is_dir()}
        self.source: dict[Path, bytes] = {}
        self.words: set[str] = set()
        for file in sorted(tree.rglob("*.py")):
            self.source[file] = file.read_bytes()
            self.words |= set(re.findall(r"\w+", self.source[file].decode("utf8", "replace")))
        self.modules: dict[Path, types.ModuleType] = {}
        for file in [*self.source, *self.source]:  # twice: a circular import may fail the first time
            if file not in self.modules:
                self._import(file)
        self._module_words: dict[str, set[str]] = {}
        self.classes: dict[str, set[type]] = {}
        for module in self.modules.values():
            for name, value in vars(module).items():
                if isinstance(value, type) and value.__module__.split(".")[0] in self.top and value.__name__ == name:
                    self.classes.setdefault(name, set()).add(value)

    def _import(self, file: Path) -> None:
        parts = list(file.relative_to(self.tree).with_suffix("").parts)
        if parts[-1] == "__init__":
            parts.pop()
        if parts[-1] == "__main__" or not all(p.isidentifier() for p in parts):
            return
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                module = importlib.import_module(".".join(parts))
        except BaseException:  # a module may do anything when it is imported, SystemExit too
            return
        if getattr(module, "__file__", None) and Path(str(module.__file__)) == file:
            self.modules[file] = module

    # -- names that exist ------------------------------------------------------------------------

    @functools.cached_property
    def environment_words(self) -> set[str]:
        """Each identifier of the project and of each loaded module's source, each attribute of a class."""
        words = set(dir(builtins))
        for name in list(sys.modules):
            words |= self.module_words(name)
        for cls in subclasses(object):
            with contextlib.suppress(Exception):
                words |= set(dir(cls))
        return words

    def module_words(self, name: str) -> set[str]:
        """Each word of the source of a loaded module."""
        if name not in self._module_words:
            words: set[str] = set()
            file = getattr(sys.modules.get(name), "__file__", None)
            if file and file.endswith(".py"):
                with contextlib.suppress(OSError):
                    words = set(re.findall(r"\w+", Path(file).read_text("utf8", "replace")))
            self._module_words[name] = words
        return self._module_words[name]

    def origin(self, value: object) -> str:
        """Where an object was defined: `repo`, `std`, `third`, or nothing when it does not say."""
        name = value.__name__ if isinstance(value, types.ModuleType) else getattr(value, "__module__", None)
        if not isinstance(name, str):
            return ""
        top = name.split(".")[0]
        if top in self.top:
            return "repo"
        return "std" if top in STDLIB or top == "builtins" else "third"

    def absent_in_module(self, module: types.ModuleType, name: str) -> bool:
        """The module has no such member and no such submodule, and never speaks of it."""
        if hasattr(module, name) or name in self.words or name in self.module_words(module.__name__):
            return False
        with contextlib.suppress(ImportError, ValueError, AttributeError):
            return importlib.util.find_spec(f"{module.__name__}.{name}") is None
        return True

    def absent_in_class(self, cls: type, name: str, with_subclasses: bool = True) -> bool:
        """No class of the hierarchy has the member, and none of its modules speaks of it."""
        if not is_closed_class(cls) or name in self.words:
            return False
        below = subclasses(cls) if with_subclasses and cls.__module__ != "builtins" else set()
        if any(hasattr(c, name) for c in [cls, *below]):
            return False
        return not any(
            base.__module__ != "builtins" and name in self.module_words(base.__module__) for base in cls.__mro__
        )

    def pick(self, base: str | None, absent: Callable[[str], bool], extra: Iterable[str] = ()) -> str | None:
        """An invented name like `base` (or one of `extra`) that is proved absent."""
        pool = list(extra)
        self.rng.shuffle(pool)
        if base:
            if pool and self.rng.random() < 0.6:
                pool = pool[:3] + names.invent(base, self.rng)
            else:
                pool = names.invent(base, self.rng) + pool
        return next((name for name in pool if name.isidentifier() and absent(name)), None)

    # -- what an expression of the source stands for ----------------------------------------------

    def resolve(self, module: types.ModuleType, expr: ast.AST, local: Collection[str]) -> Any:
        """The object of a dotted expression, through modules and classes only."""
        parts = dotted(expr)
        if not parts or parts[0] in local:
            return None
        if parts[0] in vars(module):
            value = vars(module)[parts[0]]
        elif hasattr(builtins, parts[0]):
            value = getattr(builtins, parts[0])
        else:
            return None
        for attribute in parts[1:]:
            try:
                if isinstance(value, type):
                    value = inspect.getattr_static(value, attribute)
                elif isinstance(value, types.ModuleType):
                    value = getattr(value, attribute)
                else:
                    return None
            except AttributeError:
                return None
            if isinstance(value, staticmethod):
                value = value.__func__
            elif isinstance(value, classmethod):
                return None
        return value

    def annotation_class(
        self, module: types.ModuleType, annotation: ast.AST, local: Collection[str] = ()
    ) -> type | None:
        """The class that an annotation names, when it is one plain class."""
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            try:
                annotation = ast.parse(annotation.value, mode="eval").body
            except SyntaxError:
                return None
        if not isinstance(annotation, (ast.Name, ast.Attribute)):
            return None
        value = self.resolve(module, annotation, local)
        if isinstance(value, type):
            return value
        if value is None and isinstance(annotation, ast.Name) and len(self.classes.get(annotation.id, ())) == 1:
            return next(iter(self.classes[annotation.id]))
        return None

    def result_class(
        self, module: types.ModuleType, call: ast.Call, local: Collection[str], cls: type | None
    ) -> tuple[type | None, str]:
        """The class of what a call returns, and how that is known."""
        function = call.func
        value = self.resolve(module, function, local)
        if isinstance(value, type):
            return value, "constructor"
        if (
            value is None
            and cls is not None
            and isinstance(function, ast.Attribute)
            and isinstance(function.value, ast.Name)
            and function.value.id == "self"
        ):
            value = inspect.getattr_static(cls, function.attr, None)
        if value is re.compile:
            return re.Pattern, "factory"
        if value is subprocess.run:
            return subprocess.CompletedProcess, "factory"
        if value is logging.getLogger:
            return logging.Logger, "factory"
        if (
            value is not open
            and isinstance(value, types.FunctionType)
            and not inspect.iscoroutinefunction(value)
            and not inspect.isgeneratorfunction(value)
            and not hasattr(value, "__wrapped__")
        ):
            returns = value.__annotations__.get("return")
            if isinstance(returns, type) and returns.__module__ != "builtins":
                return returns, "return annotation"
            if isinstance(returns, str) and re.fullmatch(r"[\w.]+", returns):
                home = sys.modules.get(value.__module__)
                found = self.annotation_class(home, ast.parse(returns, mode="eval").body) if home else None
                if found is not None and found.__module__ != "builtins":
                    return found, "return annotation"
        return None, ""
