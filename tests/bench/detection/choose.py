"""Chooses the faults to plant in one project; `mutate.py` runs it inside the project's own environment.

    PYTHON choose.py TREE PROJECT SEED COUNT [--open]

PYTHON is the interpreter of the project's environment. Each module of TREE is imported and its syntax
walked; a candidate is kept only when `truth.py` proves it a fault. At most one mutant is taken per top-level
function or method (a "unit"), so that all mutants of a project live together in one tree. The answer is
JSON on standard output.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import importlib.util
import inspect
import json
import random
import re
import sys
import types
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import names
import truth
from truth import Workspace

Edit = tuple[int, int, str]
Candidate = dict[str, Any]
Function = ast.FunctionDef | ast.AsyncFunctionDef

#: how many mutants of each kind a project gets at most before the rest is filled up
QUOTA = {
    "k1": 5, "k2": 6, "k3": 6, "k4": 5, "k5": 5, "k6": 6, "k7": 5,
    "k8": 5, "k9": 5, "k10": 5, "k11": 4, "k13": 3, "k14": 2,
}  # fmt: skip
OPEN_QUOTA = {"k15": 6}
FILL = ("k2", "k3", "k6", "k5", "k9", "k10", "k4", "k8")

GUARD = re.compile(r"version_info|platform|os\.name|TYPE_CHECKING|WINDOWS|WIN|PY3|PY2|hasattr|callable\(")
CAUGHT = (
    "ImportError", "ModuleNotFoundError", "NameError", "AttributeError", "TypeError", "Exception",
    "BaseException",
)  # fmt: skip
POSITIONAL_ONLY_BUILTINS = {
    "abs", "all", "any", "bin", "callable", "chr", "getattr", "hasattr", "hash", "id", "isinstance",
    "issubclass", "iter", "len", "next", "ord", "repr", "sorted", "sum",
}  # fmt: skip
SUPPRESSED = re.compile(r"#\s*(type:\s*ignore|pylint:|pyright:|ty:)")


class Receiver(NamedTuple):
    """A variable whose class is known."""

    cls: type
    how: str
    line: int  # it holds after this line


class File:
    """One source file: its bytes, and byte offsets of syntax nodes."""

    def __init__(self, path: Path, source: bytes) -> None:
        self.path = path
        self.source = source
        self.lines = [0]
        for line in source.splitlines(keepends=True):
            self.lines.append(self.lines[-1] + len(line))

    def start(self, node: Any) -> int:
        offset: int = self.lines[node.lineno - 1] + node.col_offset
        return offset

    def end(self, node: Any) -> int:
        offset: int = self.lines[node.end_lineno - 1] + node.end_col_offset
        return offset

    def text(self, node: Any) -> str:
        return self.source[self.start(node) : self.end(node)].decode()

    def starts_line(self, node: ast.stmt) -> bool:
        """Does nothing but white space stand before the statement on its line?"""
        line = self.lines[node.lineno - 1]
        return not self.source[line : line + node.col_offset].strip()

    def attribute_edit(self, callee: ast.Attribute, name: str) -> list[Edit]:
        end = self.end(callee)
        start = end - len(callee.attr.encode())
        assert self.source[start:end] == callee.attr.encode()
        return [(start, end, name)]

    def first_argument(self, call: ast.Call) -> int:
        return self.source.index(b"(", self.end(call.func)) + 1

    def apply(self, edits: Sequence[Edit]) -> bytes:
        source = self.source
        for start, end, text in sorted(edits, reverse=True):
            source = source[:start] + text.encode() + source[end:]
        return source


class Unit:
    """One function or method, and what its body says about calls and names."""

    def __init__(self, node: Function) -> None:
        self.node = node
        self.decorators = [ast.unparse(d) for d in node.decorator_list]
        arguments = node.args
        self.parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        self.plain_names = {a.arg for a in arguments.args}
        self.calls: list[ast.Call] = []
        self.statements: list[ast.stmt] = []
        self.local = {a.arg for a in [*self.parameters, arguments.vararg, arguments.kwarg] if a}
        self.assigned: dict[str, list[ast.Assign | None]] = {}
        self.narrowed: set[str] = set()
        self.body = ast.Module(body=node.body, type_ignores=[])
        self._walk(self.body, guarded=False)
        self.global_names = {n for x in ast.walk(self.body) if isinstance(x, ast.Global) for n in x.names}

    def _walk(self, parent: ast.AST, guarded: bool) -> None:
        for field, value in ast.iter_fields(parent):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    self._visit(parent, field, child, guarded)

    def _visit(self, parent: ast.AST, field: str, child: ast.AST, guarded: bool) -> None:
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            self.local.add(child.name)
            return
        if isinstance(child, ast.Lambda):
            return
        guarded = guarded or _guards(parent, field, child)
        if isinstance(child, ast.Name) and isinstance(child.ctx, (ast.Store, ast.Del)):
            self.local.add(child.id)
            self.assigned.setdefault(child.id, []).append(None)
        elif isinstance(child, (ast.Import, ast.ImportFrom)):
            self.local |= {(alias.asname or alias.name).split(".")[0] for alias in child.names}
        elif isinstance(child, (ast.Global, ast.Nonlocal)):
            self.local.update(child.names)
        elif isinstance(child, ast.Call):
            if (
                isinstance(child.func, ast.Name)
                and child.func.id in ("isinstance", "hasattr", "type", "issubclass")
                and child.args
                and isinstance(child.args[0], ast.Name)
            ):
                self.narrowed.add(child.args[0].id)
            if not guarded:
                self.calls.append(child)
        elif isinstance(child, ast.Assign) and len(child.targets) == 1:
            target = child.targets[0]
            if isinstance(target, ast.Name):
                self.assigned.setdefault(target.id, []).append(child)
        if isinstance(child, (ast.Expr, ast.Assign, ast.Return, ast.AugAssign)) and not guarded and field == "body":
            self.statements.append(child)
        self._walk(child, guarded)

    def statement_of(self, call: ast.Call) -> ast.stmt | None:
        end = call.end_lineno or call.lineno
        around = [s for s in self.statements if s.lineno <= call.lineno and end <= (s.end_lineno or 0)]
        return around[-1] if around else None


def _guards(parent: ast.AST, field: str, child: ast.AST) -> bool:
    """Is the child run only under a test that may explain a missing name?"""
    if isinstance(parent, (ast.If, ast.IfExp)) and GUARD.search(ast.unparse(parent.test)):
        return True
    if isinstance(parent, ast.Try) and field == "body":
        for handler in parent.handlers:
            if handler.type is None or any(error in ast.unparse(handler.type) for error in CAUGHT):
                return True
    return isinstance(child, ast.Assert) and bool(GUARD.search(ast.unparse(child.test)))


class Chooser:
    """Collects the candidates of a project."""

    def __init__(self, workspace: Workspace, open_receivers: bool) -> None:
        self.work = workspace
        self.rng = workspace.rng
        self.open_receivers = open_receivers
        self.candidates: list[Candidate] = []
        self.file: File
        self._self_attributes: dict[tuple[type, str], type | None] = {}

    def run(self) -> list[Candidate]:
        for path, module in self.work.modules.items():
            self.file = File(path, self.work.source[path])
            try:
                tree = ast.parse(self.file.source)
            except SyntaxError:
                continue
            self.imports(module, tree)
            for node in tree.body:
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    self.unit(module, node, None, node.name)
                elif isinstance(node, ast.ClassDef):
                    cls = vars(module).get(node.name)
                    if isinstance(cls, type) and cls.__module__ == module.__name__:
                        for item in node.body:
                            if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef)):
                                self.unit(module, item, cls, f"{node.name}.{item.name}")
        return self.candidates

    def emit(self, kind: str, unit: str, node: Any, edits: list[Edit], proof: str, sub: str) -> None:
        """Keep a candidate; edits stand on the original bytes, whole inserted lines are edits too."""
        self.candidates.append(
            {
                "kind": kind,
                "sub": sub,
                "unit": unit,
                "file": str(self.file.path.relative_to(self.work.tree)),
                "line": node.lineno,
                "end_line": node.end_lineno,
                "edits": edits,
                "truth": proof,
            }
        )

    # -- imports (k7, k11) -----------------------------------------------------------------------

    def imports(self, module: types.ModuleType, tree: ast.Module) -> None:
        unit = f"{self.file.path}:import"
        for node in tree.body:
            if isinstance(node, ast.ImportFrom):
                if node.module == "__future__":
                    continue
                if node.lineno == node.end_lineno and node.names[0].name != "*":
                    self.imported_name(module, node, unit)
            elif not isinstance(node, ast.Import):
                continue
            end = node.end_lineno or node.lineno
            line = self.file.source[self.file.lines[end - 1] : self.file.lines[end]]
            if end < len(self.file.lines) - 1 and not line.rstrip().endswith((b";", b"\\")):
                self.imported_module(module, node, end, unit)

    def package(self, module: types.ModuleType) -> str:
        if self.file.path.name == "__init__.py":
            return module.__name__
        return module.__name__.rpartition(".")[0]

    def imported_name(self, module: types.ModuleType, node: ast.ImportFrom, unit: str) -> None:
        try:
            full = node.module or ""
            if node.level:
                full = importlib.util.resolve_name("." * node.level + full, self.package(module))
        except ImportError:
            return
        source = sys.modules.get(full)
        if not isinstance(source, types.ModuleType) or truth.is_open_module(source):
            return
        base = self.rng.choice(node.names).name
        extra = names.STD.get(full, []) + names.THIRD.get(full, [])
        name = self.work.pick(base, lambda n: self.work.absent_in_module(source, n), extra)
        if name and not self.file.text(node).endswith(")"):
            at = self.file.end(node)
            where = "from " + self.work.origin(source)
            self.emit("k7", unit, node, [(at, at, ", " + name)], f"module {full} has no {name}", where)

    def imported_module(self, module: types.ModuleType, node: ast.Import | ast.ImportFrom, end: int, unit: str) -> None:
        """A new import line after the node."""
        chance = self.rng.random()
        if chance < 0.3:
            full = self.rng.choice(names.TOPMODS)
            text = self.rng.choice([f"import {full}", f"from {full} import {full.split('_')[0]}_client"])
        elif chance < 0.65 and isinstance(node, ast.ImportFrom) and not node.level and node.module:
            full = f"{node.module}.{self.rng.choice(names.MODS)}"
            text = f"import {full}"
            if node.names[0].name != "*":
                text = f"from {full} import {names.invent(node.names[0].name, self.rng)[0]}"
        else:
            package = self.package(module)
            name = self.rng.choice(names.MODS)
            if not package:
                return
            full = f"{package}.{name}"
            text = self.rng.choice(
                [
                    f"from .{name} import load_defaults",
                    f"from {full} import process_all",
                    f"from . import {name}",
                ]
            )
            if text.startswith("from . import"):
                parent = sys.modules.get(package)
                if parent is None or truth.is_open_module(parent) or hasattr(parent, name):
                    return
        try:
            absent = importlib.util.find_spec(full) is None
        except (ImportError, ValueError):
            absent = True
        except Exception:  # importing the parent package may do anything
            absent = False
        if absent and full.split(".")[-1] not in self.work.words:
            at = self.file.lines[end]
            self.emit("k11", unit, node, [(at, at, text + "\n")], f"no module {full}", "insert")

    # -- calls -----------------------------------------------------------------------------------

    def unit(self, module: types.ModuleType, node: Function, cls: type | None, name: str) -> None:
        if any("overload" in ast.dump(d) or "abstract" in ast.dump(d) for d in node.decorator_list):
            return
        unit = Unit(node)
        if any(isinstance(x, ast.Match) for x in ast.walk(unit.body)):
            return
        UnitChooser(self, module, unit, cls, f"{self.file.path}:{name}").run()

    def self_attribute(self, module: types.ModuleType, cls: type, name: str) -> type | None:
        """The class of `self.<name>` when the repo assigns it once, in `__init__`, from a constructor."""
        key = (cls, name)
        if key not in self._self_attributes:
            self._self_attributes[key] = self._find_self_attribute(module, cls, name)
        return self._self_attributes[key]

    def _find_self_attribute(self, module: types.ModuleType, cls: type, name: str) -> type | None:
        stores = rb"\." + name.encode() + rb"\b\s*(?::[^=\n]+)?[-+|]?=(?!=)|setattr"
        sources = b"\n".join(self.work.source.values()).replace(b"setattr", b"")
        if hasattr(cls, name) or len(re.findall(stores, sources)) != 1:
            return None
        found = None
        for node in ast.parse(self.file.source).body:
            if not isinstance(node, ast.ClassDef) or node.name != cls.__name__:
                continue
            for init in node.body:
                if not isinstance(init, ast.FunctionDef) or init.name != "__init__":
                    continue
                local = {a.arg for a in init.args.args}
                for statement in init.body:
                    if (
                        isinstance(statement, ast.Assign)
                        and len(statement.targets) == 1
                        and ast.unparse(statement.targets[0]) == "self." + name
                        and isinstance(statement.value, ast.Call)
                    ):
                        value = self.work.resolve(module, statement.value.func, local)
                        if isinstance(value, type):
                            found = value
        return found


class UnitChooser:
    """The candidates of one function or method."""

    def __init__(self, chooser: Chooser, module: types.ModuleType, unit: Unit, cls: type | None, name: str) -> None:
        self.chooser = chooser
        self.work = chooser.work
        self.rng = chooser.rng
        self.file = chooser.file
        self.module = module
        self.unit = unit
        self.cls = cls
        self.name = name
        node = unit.node
        first = node.args.args[0].arg if cls and node.args.args and "staticmethod" not in unit.decorators else ""
        self.self_class: type | None = None  # the class of `self`, in a plain method
        if (
            first == "self"
            and "classmethod" not in unit.decorators
            and not any("property" in d or "setter" in d for d in unit.decorators)
        ):
            self.self_class = cls
        self.receivers: dict[str, Receiver] = {}
        self.find_receivers()

    def run(self) -> None:
        first = self.unit.node.body[0].lineno
        for call in self.unit.calls:
            if call.lineno < first:
                continue
            if isinstance(call.func, ast.Name):
                self.bare_name(call, call.func)
            elif isinstance(call.func, ast.Attribute) and call.func.end_lineno == call.func.value.end_lineno:
                self.attribute(call, call.func)
        if self.chooser.open_receivers:
            self.open_receivers()
        self.insert_on_receivers()
        self.insert_on_modules()

    def emit(self, kind: str, node: Any, edits: list[Edit], proof: str, sub: str) -> None:
        self.chooser.emit(kind, self.name, node, edits, proof, sub)

    def emit_member(self, kind: str, call: ast.Call, name: str | None, proof: str, sub: str) -> None:
        """Replace the attribute that is called."""
        if name:
            assert isinstance(call.func, ast.Attribute)
            self.emit(kind, call, self.file.attribute_edit(call.func, name), f"{proof} {name}", sub)

    def find_receivers(self) -> None:
        """Variables whose class is known: name -> class, how it is known, from which line it holds."""
        unit = self.unit
        for name, stores in unit.assigned.items():
            real = [s for s in stores if s is not None]
            if len(stores) != 2 or len(real) != 1:  # the name and the assignment itself
                continue
            if name in unit.narrowed or name in unit.global_names or name in unit.plain_names:
                continue
            value = real[0].value
            line = real[0].end_lineno or 0
            if isinstance(value, ast.Call):
                cls, how = self.work.result_class(self.module, value, unit.local - {name}, self.cls)
                if cls is not None:
                    self.receivers[name] = Receiver(cls, how, line)
            elif isinstance(value, (ast.List, ast.ListComp)):
                self.receivers[name] = Receiver(list, "literal", line)
            elif isinstance(value, (ast.Dict, ast.DictComp)):
                self.receivers[name] = Receiver(dict, "literal", line)
            elif isinstance(value, ast.JoinedStr) or (isinstance(value, ast.Constant) and isinstance(value.value, str)):
                self.receivers[name] = Receiver(str, "literal", line)
        for parameter in unit.parameters:
            name = parameter.arg
            if parameter.annotation is None or name in unit.assigned or name in unit.narrowed:
                continue
            cls = self.work.annotation_class(self.module, parameter.annotation)
            if cls is not None and cls is not object and not getattr(cls, "_is_protocol", False):
                self.receivers[name] = Receiver(cls, "annotation", unit.node.lineno)

    def bare_name(self, call: ast.Call, callee: ast.Name) -> None:
        """k1, and the arity of functions and classes called by name."""
        name = callee.id
        if name in self.unit.local:
            return
        target = self.work.resolve(self.module, callee, self.unit.local)
        if (
            isinstance(target, (types.FunctionType, type))
            and self.work.origin(target) == "repo"
            and name in vars(self.module)
        ):
            self.invented_function(call, callee, target)
        if name in POSITIONAL_ONLY_BUILTINS and target is getattr(builtins, name):
            self.positional_only(call, target)
        if target is not None:
            self.arity(call, target, name, None)

    def invented_function(self, call: ast.Call, callee: ast.Name, target: Any) -> None:
        work, file = self.work, self.file
        name = work.pick(
            callee.id,
            lambda n: n not in work.words and not hasattr(self.module, n) and not hasattr(builtins, n),
        )
        if not name:
            return
        use = (file.start(callee), file.end(callee), name)
        self.emit("k1", call, [use], f"no name {name} anywhere in the repo", "bare name")
        home = sys.modules.get(target.__module__)
        statement = self.unit.statement_of(call)
        if home is None or home is self.module or truth.is_open_module(home) or statement is None:
            return
        if work.absent_in_module(home, name) and file.starts_line(statement):
            line = file.lines[statement.lineno - 1]
            insert = f"{' ' * statement.col_offset}from {target.__module__} import {name}\n"
            proof = f"module {target.__module__} has no {name}"
            self.emit("k1", call, [(line, line, insert), use], proof, "local import and use")

    def attribute(self, call: ast.Call, callee: ast.Attribute) -> None:
        """k2 to k6, and the arity of methods and of members of modules and classes."""
        work, receiver, attr = self.work, callee.value, callee.attr
        target: Any = None
        title = ""
        variants: list[Any] | None = None
        owner = work.resolve(self.module, receiver, self.unit.local) if truth.dotted(receiver) else None
        known = self.receivers.get(receiver.id) if isinstance(receiver, ast.Name) else None
        if isinstance(owner, types.ModuleType) and not truth.is_open_module(owner):
            self.module_member(call, attr, owner)
        elif isinstance(owner, type) and truth.is_closed_class(owner):
            self.class_member(call, attr, owner)
        elif isinstance(receiver, ast.Name) and receiver.id == "self" and self.self_class:
            self.self_method(call, attr, self.self_class)
            variants = self.method_variants(self.self_class, attr)
            if variants:
                target, title = variants[0], "self." + attr
        elif isinstance(receiver, ast.Name) and known and call.lineno > known.line - (known.how == "annotation"):
            cls = known.cls
            kind = "k3" if work.origin(cls) == "repo" else "k6"
            self.member_of(kind, call, attr, cls, known.how)
            variants = self.method_variants(cls, attr) if truth.is_closed_class(cls) else None
            if variants:
                target, title = variants[0], f"{receiver.id}.{attr}"
        elif (
            isinstance(receiver, ast.Name)
            and receiver.id not in self.unit.local
            and receiver.id in vars(self.module)
            and not isinstance(vars(self.module)[receiver.id], (types.ModuleType, type, types.FunctionType))
        ):
            self.module_global(call, attr, receiver.id)
        elif (
            self.self_class
            and isinstance(receiver, ast.Attribute)
            and isinstance(receiver.value, ast.Name)
            and receiver.value.id == "self"
            and (cls_ := self.chooser.self_attribute(self.module, self.self_class, receiver.attr))
        ):
            self.member_of("k3" if work.origin(cls_) == "repo" else "k6", call, attr, cls_, "self.attr")
        elif isinstance(receiver, ast.Constant) and isinstance(receiver.value, (str, bytes)):
            cls = type(receiver.value)
            name = work.pick(attr, lambda n: work.absent_in_class(cls, n), names.JS[cls.__name__])
            self.emit_member("k6", call, name, f"{cls.__name__} has no", "literal receiver")
        if isinstance(owner, (types.ModuleType, type)) and target is None:
            value = work.resolve(self.module, callee, self.unit.local)
            if isinstance(value, (types.FunctionType, type)):
                target, title = value, ".".join(truth.dotted(callee) or [])
        if target is not None:
            self.arity(call, target, title, variants)

    def module_member(self, call: ast.Call, attr: str, owner: types.ModuleType) -> None:
        kind = {"repo": "k1", "std": "k5", "third": "k4"}[self.work.origin(owner)]
        key = "os.path" if owner.__name__ == "posixpath" else owner.__name__
        extra = names.STD.get(key, []) + names.THIRD.get(key, [])
        name = self.work.pick(attr, lambda n: self.work.absent_in_module(owner, n), extra)
        self.emit_member(kind, call, name, f"module {owner.__name__} has no", "module attribute")

    def class_member(self, call: ast.Call, attr: str, owner: type) -> None:
        kind = {"repo": "k3", "std": "k5", "third": "k4"}[self.work.origin(owner)]
        name = self.work.pick(
            attr,
            lambda n: self.work.absent_in_class(owner, n, False) and not hasattr(type(owner), n),
            names.JS.get(owner.__name__, []),
        )
        if kind != "k3":
            proof = f"class {owner.__module__}.{owner.__qualname__} has no"
            self.emit_member(kind, call, name, proof, "class attribute")

    def absent_member(self, base: str | None, cls: type) -> str | None:
        extra = names.JS.get(cls.__name__, [])
        return self.work.pick(base, lambda n: self.work.absent_in_class(cls, n), extra)

    def member_of(self, kind: str, call: ast.Call, attr: str, cls: type, how: str) -> None:
        name = self.absent_member(attr, cls)
        self.emit_member(kind, call, name, f"{cls.__module__}.{cls.__qualname__} has no", how)

    def self_method(self, call: ast.Call, attr: str, cls: type) -> None:
        method = inspect.getattr_static(cls, attr, None)
        if isinstance(method, (types.FunctionType, staticmethod, classmethod)):
            name = self.work.pick(attr, lambda n: self.work.absent_in_class(cls, n))
            proof = f"{cls.__module__}.{cls.__qualname__} and its subclasses have no"
            self.emit_member("k2", call, name, proof, "self")

    def method_variants(self, cls: type, attr: str) -> list[Any] | None:
        """The method as the class and its subclasses define it, bound; None where one is in doubt."""
        if not isinstance(inspect.getattr_static(cls, attr, None), types.FunctionType):
            return None
        found = [inspect.getattr_static(c, attr, None) for c in [cls, *truth.subclasses(cls)]]
        functions = {id(f): f for f in found}.values()
        if not all(isinstance(f, types.FunctionType) and not hasattr(f, "__wrapped__") for f in functions):
            return None
        return [types.MethodType(f, object()) for f in functions if f is not None]

    def module_global(self, call: ast.Call, attr: str, receiver: str) -> None:
        """A global of the module that is bound once, such as `logger = logging.getLogger(__name__)`."""
        value = vars(self.module)[receiver]
        cls = type(value)
        source, word = self.file.source, receiver.encode()
        if (
            len(re.findall(rb"(?m)^" + word + rb"\s*[:=]", source)) == 1
            and self.work.origin(cls) != "repo"
            and b"global " + word not in source
        ):
            name = self.work.pick(
                attr,
                lambda n: self.work.absent_in_class(cls, n) and not hasattr(value, n),
                names.JS.get(cls.__name__, []),
            )
            proof = f"{cls.__module__}.{cls.__qualname__} has no"
            self.emit_member("k6", call, name, proof, "module global")

    # -- receivers that nothing explains (k15) -----------------------------------------------------

    def open_receivers(self) -> None:
        """Receivers that neither annotation nor constructor explains; the name stands nowhere."""
        bare = {a.arg for a in self.unit.parameters if a.annotation is None} - {"self", "cls"}
        for call in self.unit.calls:
            callee = call.func
            if not isinstance(callee, ast.Attribute) or callee.end_lineno != callee.value.end_lineno:
                continue
            sub = self.open_receiver(callee.value, bare)
            if sub:
                name = self.work.pick(
                    callee.attr,
                    lambda n: n not in self.work.words and n not in self.work.environment_words,
                )
                self.emit_member("k15", call, name, "no object of the environment has", sub)

    def open_receiver(self, receiver: ast.expr, bare: set[str]) -> str | None:
        unit = self.unit
        if isinstance(receiver, ast.Name):
            if receiver.id in bare and receiver.id not in unit.assigned:
                return "unannotated parameter"
            if receiver.id in unit.local and receiver.id not in self.receivers and receiver.id not in unit.plain_names:
                return "local of unknown origin"
        elif isinstance(receiver, ast.Attribute):
            if (
                self.self_class
                and isinstance(receiver.value, ast.Name)
                and receiver.value.id == "self"
                and not self.chooser.self_attribute(self.module, self.self_class, receiver.attr)
            ):
                return "self.attr of unknown origin"
        elif isinstance(receiver, ast.Call):
            return "result of a call"
        return None

    # -- new statements ----------------------------------------------------------------------------

    def insert_on_receivers(self) -> None:
        """k3 and k6: a new statement on a receiver whose class is known."""
        file = self.file
        for variable, (cls, how, line) in self.receivers.items():
            kind = "k3" if self.work.origin(cls) == "repo" else "k6"
            place = self.place_after(variable, how, line)
            if place is None:
                continue
            at, offset = place
            if not file.starts_line(at):
                continue
            methods = sorted(
                name
                for name in dir(cls)
                if not name.startswith("_")
                and isinstance(
                    inspect.getattr_static(cls, name, None), (types.FunctionType, types.MethodDescriptorType)
                )
            )
            base = self.rng.choice(methods) if methods else None
            name = self.absent_member(base, cls)
            if name:
                store = self.rng.choice(["", "prepared_ = "])
                text = f"{' ' * at.col_offset}{store}{variable}.{name}()\n"
                proof = f"{cls.__module__}.{cls.__qualname__} has no {name}"
                self.emit(kind, at, [(offset, offset, text)], proof, how + ", insert")

    def place_after(self, variable: str, how: str, line: int) -> tuple[ast.stmt, int] | None:
        """The statement to stand beside, and the offset of the new line."""
        file = self.file
        if how == "annotation":
            body = self.unit.node.body
            first = body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                body = body[1:]
            if not body:
                return None
            at = body[0]
            decorators: list[ast.expr] = getattr(at, "decorator_list", [])
            top = (decorators[0].lineno - 1 if decorators else 0) or at.lineno - 1
            return at, file.lines[top]
        for statement in self.unit.statements:
            if (
                isinstance(statement, ast.Assign)
                and statement.end_lineno == line
                and isinstance(statement.targets[0], ast.Name)
                and statement.targets[0].id == variable
            ):
                if line >= len(file.lines):
                    return None
                rest = file.source[file.end(statement) : file.lines[line]].strip()
                if rest and not rest.startswith(b"#"):
                    return None
                return statement, file.lines[line]
        return None

    def insert_on_modules(self) -> None:
        """k4 and k5: a new statement that uses a module of this file."""
        unit, file, node = self.unit, self.file, self.unit.node
        modules = [
            (name, value)
            for name, value in vars(self.module).items()
            if isinstance(value, types.ModuleType)
            and name not in unit.local
            and not truth.is_open_module(value)
            and self.work.origin(value) in ("std", "third")
            and not name.startswith("__")
        ]
        places = [
            s
            for s in unit.statements
            if file.starts_line(s)
            and not (s is node.body[0] and isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))
        ]
        if not modules or not places or self.rng.random() >= 0.5:
            return
        alias, owner = self.rng.choice(modules)
        place = self.rng.choice(places)
        kind = "k4" if self.work.origin(owner) == "third" else "k5"
        key = "os.path" if owner.__name__ == "posixpath" else owner.__name__
        public = sorted(
            name
            for name, value in vars(owner).items()
            if isinstance(value, (types.FunctionType, types.BuiltinFunctionType)) and not name.startswith("_")
        )
        invented = self.work.pick(
            self.rng.choice(public) if public else None,
            lambda n: self.work.absent_in_module(owner, n),
            names.STD.get(key, []) + names.THIRD.get(key, []),
        )
        if invented and re.search(rb"(?m)^(import|from)\s[^\n]*\b" + alias.encode() + rb"\b", file.source):
            arguments = sorted(n for n in unit.local if n not in ("self", "cls") and n in unit.plain_names)
            argument = self.rng.choice(arguments or ['"data"'])
            line = file.lines[place.lineno - 1]
            text = f"{' ' * place.col_offset}prepared_ = {alias}.{invented}({argument})\n"
            proof = f"module {owner.__name__} has no {invented}"
            self.emit(kind, place, [(line, line, text)], proof, "insert")

    # -- arguments (k8, k9, k10, k13, k14) ---------------------------------------------------------

    def positional_only(self, call: ast.Call, target: Any) -> None:
        """k14: the last argument of a builtin passed by the name of its parameter."""
        if _has_star(call) or not call.args:
            return
        try:
            parameters = list(inspect.signature(target).parameters.values())
        except ValueError:
            return
        last = len(call.args) - 1
        argument = call.args[last]
        if (
            last >= len(parameters)
            or parameters[last].kind is not inspect.Parameter.POSITIONAL_ONLY
            or isinstance(argument, ast.GeneratorExp)
            or self.file.source[self.file.end(argument) : self.file.end(call)].strip() != b")"
        ):
            return
        name = parameters[last].name
        edit = (self.file.start(argument), self.file.end(argument), f"{name}={self.file.text(argument)}")
        self.emit("k14", call, [edit], f"{target.__name__}: {name} is positional-only", "builtin")

    def arity(self, call: ast.Call, target: Any, title: str, variants: list[Any] | None) -> None:
        """k8, k9, k10 and k13: arguments that no variant of the target takes."""
        if _has_star(call) or any(isinstance(a, ast.GeneratorExp) for a in call.args):
            return
        signature = truth.certain_signature(target)
        if signature is None:
            return
        try:
            signatures = [inspect.signature(v) for v in variants] if variants else [signature]
        except ValueError:
            return
        if not all(_binds([s], len(call.args), _keywords(call)) for s in signatures):
            return
        function = target.__func__ if isinstance(target, types.MethodType) else target
        end = self.file.end(call) - 1
        if self.file.source[end : end + 1] != b")":
            return
        if self.rng.random() > 0.35:  # keep the number of candidates (and of re-parses) low
            return
        arity = Arity(self, call, title, signature, signatures, self.work.origin(function))
        which = self.rng.choice(["k8", "k9", "k10", "k10", "k13"])
        {"k8": arity.extra, "k9": arity.unknown, "k10": arity.missing, "k13": arity.twice}[which]()


class Arity:
    """The argument faults of one call."""

    def __init__(
        self,
        chooser: UnitChooser,
        call: ast.Call,
        title: str,
        signature: inspect.Signature,
        signatures: list[inspect.Signature],
        origin: str,
    ) -> None:
        self.chooser = chooser
        self.rng = chooser.rng
        self.file = chooser.file
        self.call = call
        self.title = f"{title}{signature}"
        self.parameters = list(signature.parameters.values())
        self.signatures = signatures
        self.origin = origin
        self.count = len(call.args)
        self.keywords = _keywords(call)

    def some(self, kind: Any) -> bool:
        return any(p.kind is kind for s in self.signatures for p in s.parameters.values())

    def emit(self, kind: str, edit: Edit, count: int, keywords: list[str], proof: str) -> None:
        """Keep the candidate when the edited text parses to just that call and nothing takes it."""
        if _binds(self.signatures, count, keywords):
            return
        try:
            tree = ast.parse(self.file.apply([edit]))
        except SyntaxError:
            return
        call = self.call
        if any(
            isinstance(x, ast.Call)
            and (x.lineno, x.col_offset, len(x.args)) == (call.lineno, call.col_offset, count)
            and sorted(k.arg or "" for k in x.keywords) == sorted(keywords)
            for x in ast.walk(tree)
        ):
            self.chooser.emit(kind, call, [edit], proof, self.origin)

    def last_value(self) -> ast.expr | None:
        values = [*self.call.args, *(k.value for k in self.call.keywords)]
        return max(values, key=self.file.end, default=None)

    def extra(self) -> None:
        if self.some(inspect.Parameter.VAR_POSITIONAL):
            return
        positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        most = max(sum(p.kind in positional for p in s.parameters.values()) for s in self.signatures)
        if self.count != most or _binds(self.signatures, self.count + 1, self.keywords):
            return
        value = self.rng.choice(["True", "None", "0", '"utf-8"', "[]"])
        if self.call.args:
            at, text = self.file.end(self.call.args[-1]), ", " + value
        else:
            at, text = self.file.first_argument(self.call), value + (", " if self.keywords else "")
        proof = f"{self.title}: {most} positionals at most"
        self.emit("k8", (at, at, text), self.count + 1, self.keywords, proof)

    def unknown(self) -> None:
        if self.some(inspect.Parameter.VAR_KEYWORD):
            return
        name = self.rng.choice(names.KW)
        keywords = [*self.keywords, name]
        if any(name in s.parameters for s in self.signatures) or _binds(self.signatures, self.count, keywords):
            return
        last = self.last_value()
        value = self.rng.choice(["True", "10", "None"])
        if last is not None:
            at, text = self.file.end(last), f", {name}={value}"
        else:
            at, text = self.file.first_argument(self.call), f"{name}={value}"
        self.emit("k9", (at, at, text), self.count, keywords, f"{self.title} has no {name}")

    def missing(self) -> None:
        call, file = self.call, self.file
        if call.keywords and (not call.args or self.rng.random() < 0.4):
            gone = call.keywords[self.rng.randrange(len(call.keywords))]
            left = [k for k in self.keywords if k != gone.arg]
            order: list[Any] = sorted([*call.args, *call.keywords], key=file.start)
            place = order.index(gone)
            if place:
                edit = (file.end(order[place - 1]), file.end(gone), "")
            else:
                edit = (file.start(gone), file.start(order[1]) if len(order) > 1 else file.end(gone), "")
            self.emit("k10", edit, self.count, left, f"{self.title}: {gone.arg} missing")
        elif call.args:
            last = call.args[-1]
            if self.count > 1:
                edit = (file.end(call.args[-2]), file.end(last), "")
            else:
                edit = (
                    file.start(last),
                    file.start(call.keywords[0]) if call.keywords else file.end(last),
                    "",
                )
            proof = f"{self.title}: one positional missing"
            self.emit("k10", edit, self.count - 1, self.keywords, proof)

    def twice(self) -> None:
        both = [p for p in self.parameters if p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
        if (
            not self.call.args
            or not both
            or self.parameters[0].kind is inspect.Parameter.POSITIONAL_ONLY
            or self.some(inspect.Parameter.VAR_POSITIONAL)
        ):
            return
        name = self.rng.choice(both[: self.count]).name
        last = self.last_value()
        if name in self.keywords or last is None:
            return
        at = self.file.end(last)
        proof = f"{self.title}: {name} given twice"
        self.emit("k13", (at, at, f", {name}=None"), self.count, [*self.keywords, name], proof)


def _has_star(call: ast.Call) -> bool:
    return any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords)


def _keywords(call: ast.Call) -> list[str]:
    return [k.arg or "" for k in call.keywords]


def _binds(signatures: Iterable[inspect.Signature], count: int, keywords: Iterable[str]) -> bool:
    """Does one of the signatures take so many positionals and these keywords?"""
    keywords = list(keywords)
    if len(set(keywords)) < len(keywords):
        return False
    for signature in signatures:
        try:
            signature.bind(*[0] * count, **dict.fromkeys(keywords, 0))
        except TypeError:
            continue
        return True
    return False


# -- the choice --------------------------------------------------------------------------------------


def choose(candidates: Iterable[Candidate], rng: random.Random, quota: dict[str, int], count: int) -> list[Candidate]:
    """At most one candidate per unit, spread over kinds, sub-kinds and owners."""
    by_kind: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        by_kind.setdefault(candidate["kind"], []).append(candidate)
    for group in by_kind.values():
        rng.shuffle(group)
        seen: dict[tuple[str, str], int] = {}
        for candidate in group:
            key = (candidate["sub"], candidate["truth"].split(" has no ")[0])
            candidate["rank"] = seen[key] = seen.get(key, 0) + 1
        group.sort(key=lambda c: int(c["rank"]))
    used: set[str] = set()
    chosen: list[Candidate] = []
    for kind in sorted(quota, key=lambda k: len(by_kind.get(k, []))):
        left = quota[kind]
        for candidate in by_kind.get(kind, []):
            if left == 0:
                break
            if candidate["unit"] not in used:
                used.add(candidate["unit"])
                chosen.append(candidate)
                left -= 1
    rest = [c for kind in FILL for c in by_kind.get(kind, [])]
    rng.shuffle(rest)
    for candidate in rest:
        if len(chosen) >= count:
            break
        kind = candidate["kind"]
        if candidate["unit"] in used or sum(c["kind"] == kind for c in chosen) >= quota[kind] + 3:
            continue
        used.add(candidate["unit"])
        chosen.append(candidate)
    return chosen


def finish(workspace: Workspace, candidate: Candidate) -> bool:
    """Adds the original and the mutated text; False when the mutated file does not parse."""
    source = workspace.source[workspace.tree / candidate["file"]]
    edits: list[Edit] = candidate["edits"]
    first, last = min(e[0] for e in edits), max(e[1] for e in edits)
    start = source.rfind(b"\n", 0, first) + 1
    end = source.find(b"\n", last)
    end = len(source) if end < 0 else end
    inserted = len(edits) == 1 and edits[0][0] == edits[0][1] and edits[0][2].endswith("\n")
    candidate["original"] = "" if inserted else source[start:end].decode()
    mutated = File(workspace.tree, source).apply(edits)
    try:
        ast.parse(mutated)
    except SyntaxError:
        return False
    candidate["mutated"] = mutated[start : end + len(mutated) - len(source)].decode()
    if inserted:
        candidate["mutated"] = edits[0][2].rstrip("\n")
    del candidate["rank"]
    candidate["unit"] = candidate["unit"].removeprefix(f"{workspace.tree}/")
    lines = source.decode("utf8", "replace").split("\n")[candidate["line"] - 1 : candidate["end_line"]]
    # the project's own suppression comment stands on these lines: the mutant is not scored
    candidate["suppressed"] = not inserted and any(SUPPRESSED.search(line) for line in lines)
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path)
    parser.add_argument("project")
    parser.add_argument("seed")
    parser.add_argument("count", type=int)
    parser.add_argument("--open", action="store_true", help="choose open receivers (k15)")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    workspace = Workspace(options.tree, options.project, options.seed)
    candidates = Chooser(workspace, options.open).run()
    quota, count = (OPEN_QUOTA, 0) if options.open else (QUOTA, options.count)
    chosen = [c for c in choose(candidates, workspace.rng, quota, count) if finish(workspace, c)]
    answer = {
        "imported": len(workspace.modules),
        "files": len(workspace.source),
        "candidates": len(candidates),
        "chosen": chosen,
    }
    json.dump(answer, sys.__stdout__ or sys.stdout)


if __name__ == "__main__":
    main()
