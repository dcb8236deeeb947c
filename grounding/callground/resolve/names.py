"""Names: from a use to the definitions that reach it, and from a definition to its values."""

from __future__ import annotations

import ast
import hashlib
from typing import NamedTuple

from callground.facts.extract import extract_module as extract
from callground.facts.model import Binding
from callground.graph.interface import Module, SourceFile
from callground.resolve import (
    calls,
    classes,
    containers,
    expressions,
    modules,
    narrowing,
    parameters,
    type_forms,
)
from callground.resolve.evaluator import Evaluator
from callground.resolve.flow import Def
from callground.resolve.flow_model import sources_of
from callground.resolve.scopes import ClassFace, Scope
from callground.resolve.static import parse_expression
from callground.resolve.values import (
    NEVER,
    ClassObject,
    FunctionObject,
    LocalFunction,
    ModuleObject,
    Ref,
    Values,
    builtin,
    instance,
    join,
    known,
    unknown,
)
from callground.verdict.model import Reason

MODULE_DUNDERS = {
    "__name__": "str",
    "__file__": "str",
    "__doc__": "str",
    "__package__": "str",
    "__path__": "list",
    "__dict__": "dict",
    "__annotations__": "dict",
    "__spec__": "",
    "__loader__": "",
    "__builtins__": "",
    "__cached__": "str",
    "__debug__": "bool",
}


class NameLookup(NamedTuple):
    """What a name is: its values, or that it is nowhere, or why that is not certain."""

    values: Values
    missing: bool = False
    where: str = ""


def lookup(ev: Evaluator, node: ast.Name, scope: Scope) -> NameLookup:
    """The values of a loaded name in a scope."""
    defs: frozenset[Def] | None = None
    flow = ev.flow(scope)
    if flow is not None:
        defs = flow.uses.get(id(node))
        if defs is None and id(node) in flow.dead:
            return NameLookup(unknown(Reason.UNREACHABLE))
        if defs is None and node.id in flow.locals and scope.kind != "module":
            defs = frozenset(flow.locals[node.id]) or None
    if defs is not None:
        return NameLookup(from_defs(ev, defs, scope, node.id))
    return outer(ev, node.id, scope)


def from_defs(ev: Evaluator, defs: frozenset[Def], scope: Scope, name: str, plain: Values | None = None) -> Values:
    """The union over reaching definitions; ``unbound`` adds nothing (using it raises something else).

    `plain` is what a dotted name is without any narrowing.
    """
    parts: list[Values] = []
    for d in sorted(defs, key=_order):
        if d.kind == "unbound":
            continue
        if d.kind == "attribute":
            parts.append(plain if plain is not None else unknown(Reason.UNKNOWN_ATTRIBUTE, name))
        elif d.kind == "outer":
            found = outer(ev, d.name, scope)
            parts.append(unknown(Reason.UNBOUND_FLOW, d.name) if found.missing else found.values)
        elif d.kind == "shared":
            parts.append(_bound_inside(ev, d.name, scope))
        else:
            parts.append(definition(ev, d, scope, name, plain))
    if not parts:
        return unknown(Reason.UNBOUND_FLOW, name)
    return join(*parts)


def _bound_inside(ev: Evaluator, name: str, scope: Scope) -> Values:
    """What functions that declare the name ``global`` (or ``nonlocal``) give it."""
    if scope.kind != "module":
        return unknown(Reason.UNKNOWN_TYPE, f"a function inside binds {name}")
    rows = [(p, b) for p, b in ev.index(scope.file).bindings(name) if b.kind == "global" and ev.alive(b.guards)]
    if not rows:
        return unknown(Reason.UNKNOWN_TYPE, f"a function binds {name}")
    return join(*(evaluate_binding(ev, scope.module, scope.file, p, b, scope) for p, b in rows))


def _order(d: Def) -> tuple[int, int]:
    node = d.node
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def outer(ev: Evaluator, name: str, scope: Scope) -> NameLookup:
    """A name that the innermost scope does not bind: enclosing functions, the module, builtins."""
    skip_class = scope.kind != "class"
    current: Scope | None = scope
    first = True
    while current is not None:
        if current.kind == "class" and current.cls is not None:
            if first or not skip_class:
                values = classes.body_name(ev, current.cls, name, current.before)
                if values is not None:
                    return NameLookup(values)
        elif current.kind == "function" and not first:
            flow = ev.flow(current)
            if flow is not None:
                if name in flow.locals:
                    return NameLookup(from_defs(ev, frozenset(flow.locals[name]), current, name))
                if flow.dynamic:
                    return NameLookup(unknown(Reason.DYNAMIC_SCOPE))
        elif current.kind == "function" and first:
            flow = ev.flow(current)
            if flow is not None and flow.dynamic:
                return NameLookup(unknown(Reason.DYNAMIC_SCOPE))
        if current.kind == "function" and name == "__class__":
            owner = current.enclosing_class()
            if owner is not None:
                return NameLookup(known(ClassObject(owner.ref)))
        if current.kind == "module":
            return module_name(ev, current, name)
        if current.kind == "class" and not first:
            pass
        first = False
        current = current.parent
    return NameLookup(unknown(Reason.UNSUPPORTED))


def module_name(ev: Evaluator, scope: Scope, name: str) -> NameLookup:
    """A global or builtin name as seen from `scope` (a module scope)."""
    module, file = scope.module, scope.file
    found = modules.global_values(ev, module, file, name, scope.before)
    if found is not None:
        return NameLookup(found)
    star = modules.star_lookup(ev, module, file, name)
    if star is not None and star.found is not None:
        return NameLookup(star.found)
    if star is not None and star.why is not None:
        return NameLookup(unknown(*star.why))
    if name in MODULE_DUNDERS:
        cls = MODULE_DUNDERS[name]
        return NameLookup(known(instance(cls)) if cls else unknown(Reason.UNKNOWN_TYPE, name))
    other = modules.open_reason(ev, module, file, name)
    values = modules.member(ev, "builtins", name)
    if values.found is not None:
        return NameLookup(values.found, where="builtins")
    if other is not None:
        return NameLookup(unknown(*other))
    if ev.index(file).bindings(name):
        return NameLookup(unknown(Reason.VERSION_GUARD, f"{name} is bound under another version or platform"))
    if values.guarded:
        return NameLookup(unknown(Reason.VERSION_GUARD, f"{name} exists under another version or platform"))
    if module.is_package and (name in module.submodules or ev.snapshot.exists(f"{module.name}.{name}")):
        # Importing a submodule binds it in its package.
        ev.read("module", f"{module.name}.{name}")
        return NameLookup(known(ModuleObject(f"{module.name}.{name}")))
    # A name may also be bound from elsewhere: `module.name = ...`, `builtins.name = ...`.
    if values.why is not None and values.why.reason not in (Reason.COMPILED, Reason.STUB_ONLY):
        return NameLookup(unknown(*values.why))
    if ev.snapshot.stores(name):
        ev.read("stores", name)
        return NameLookup(unknown(Reason.MONKEY_PATCHED, name))
    ev.read("stores", name)
    return NameLookup(unknown(Reason.UNKNOWN_TYPE, f"no name {name}"), missing=True)


def definition(ev: Evaluator, d: Def, scope: Scope, name: str, plain: Values | None = None) -> Values:
    """The values of one definition inside a function (or a module that is walked)."""
    key = ("def", d, id(scope), name, plain)
    ev.steps += 1
    if d.kind in ("param", "import", "from", "def", "class", "match", "except", "except*", "declared"):
        return _definition(ev, d, scope, name, plain)
    return ev.values(key, lambda: _definition(ev, d, scope, name, plain), local=True)


def _definition(ev: Evaluator, d: Def, scope: Scope, name: str, plain: Values | None) -> Values:
    node = d.node
    if d.kind == "param" and isinstance(node, ast.arg):
        return parameters.value(ev, node, scope, d.path)
    if d.annotation is not None and not d.path:
        declared = type_forms.instances(ev, d.annotation, scope)
        if declared.complete or d.kind == "declared" or not isinstance(node, ast.expr):
            return declared
        return (
            join(declared, expressions.value(ev, node, scope)) if declared.items else expressions.value(ev, node, scope)
        )
    if d.kind in ("assign", "walrus") and isinstance(node, ast.expr):
        return containers.unpack(ev, expressions.value(ev, node, scope), d.path)
    if d.kind == "for" and isinstance(node, ast.expr):
        return containers.unpack(ev, containers.iterate(ev, node, scope, d.is_async), d.path)
    if d.kind == "with" and isinstance(node, ast.expr):
        entered = calls.enter(ev, expressions.value(ev, node, scope), d.is_async)
        return containers.unpack(ev, entered, d.path)
    if d.kind == "aug" and isinstance(node, ast.AugAssign):
        before = _before(ev, d, scope, name)
        return expressions.binary(ev, before, node.op, expressions.value(ev, node.value, scope), scope)
    if d.kind == "except":
        return type_forms.exceptions(ev, node, scope) if isinstance(node, ast.expr) else unknown(Reason.UNKNOWN_TYPE)
    if d.kind == "except*":
        return known(type_forms.GROUP)
    if d.kind == "def" and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return local_function(ev, node, scope)
    if d.kind == "class" and isinstance(node, ast.ClassDef):
        return local_class(ev, node, scope)
    if d.kind == "import" and isinstance(node, ast.Import):
        return modules.imported_value(ev, str(d.path[0]), str(d.path[1]))
    if d.kind == "from" and isinstance(node, ast.ImportFrom):
        source = "." * node.level + (node.module or "")
        return modules.from_value(ev, scope.module, source, str(d.path[0]))
    if d.kind == "match" and isinstance(node, ast.MatchClass):
        return type_forms.of_class_values(ev, expressions.value(ev, node.cls, scope))
    if d.kind == "narrow":
        return narrowing.narrowed(ev, d, scope, name, plain)
    return unknown(Reason.UNSUPPORTED, d.kind)


def _before(ev: Evaluator, d: Def, scope: Scope, name: str) -> Values:
    """What was in the name before ``x += y``: what came in from outside, or what such a statement made of that.

    In a loop these statements are each other's sources: one round of them is gone.
    """
    if not d.base:
        return unknown(Reason.UNKNOWN_OPERATOR)
    others, sources = sources_of(d.base)

    def compute() -> Values:
        first = from_defs(ev, sources, scope, name) if sources else unknown(Reason.UNKNOWN_OPERATOR)
        parts = [first]
        for other in sorted(others, key=_order):
            if isinstance(other.node, ast.AugAssign):
                right = expressions.value(ev, other.node.value, scope)
                parts.append(expressions.binary(ev, first, other.node.op, right, scope))
        return join(*parts)

    return ev.values(("before", others, sources, id(scope), name), compute, local=True)


def local_function(ev: Evaluator, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> Values:
    """A function defined inside a function (or at the top of a module that is walked), decorators applied."""
    if scope.kind == "module":
        found = modules.global_values(ev, scope.module, scope.file, node.name, None)
        if found is not None:
            return found
    base = known(LocalFunction(node, scope))
    return calls.decorate(ev, base, list(node.decorator_list), scope)


def local_class(ev: Evaluator, node: ast.ClassDef, scope: Scope) -> Values:
    """A class defined inside a function: its facts are made from its own text."""
    if scope.kind == "module":
        found = modules.global_values(ev, scope.module, scope.file, node.name, None)
        return found if found is not None else unknown(Reason.UNSUPPORTED, "class")
    face = local_class_face(ev, node, scope)
    if face is None:
        return unknown(Reason.UNSUPPORTED, "local class")
    why = classes.decorator_why(ev, face)
    value = known(ClassObject(face.ref))
    return value if why is None else value.opened(*why)


def local_class_face(ev: Evaluator, node: ast.ClassDef, scope: Scope) -> ClassFace | None:
    """The facts of a class statement inside a function, made once per node."""
    known_as = ev.local_names.get(id(node))
    if known_as is not None and known_as[1] is scope:
        return ev.local_classes.get(known_as[0])
    text = ast.unparse(node)
    facts = extract(text)
    if not facts.pieces or not facts.pieces[0].classes:
        return None
    rows = [c for c in facts.pieces[0].classes if c.qualname == node.name]
    if not rows:
        return None
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    # The name says the content: what is remembered about the class holds as long as its text is the same.
    ref = Ref(scope.module.name, f"{scope.qualname}.<locals>.{node.name}@{digest}")
    file = SourceFile(f"{scope.file.path}#{ref.qualname}", text, facts, digest, scope.file.is_stub)
    face = ClassFace(ref, scope.module, file, 0, rows[0], scope)
    ev.local_classes[ref] = face
    ev.local_names[id(node)] = (ref, scope)
    ev.keep_node(node)
    return face


def evaluate_binding(ev: Evaluator, module: Module, file: SourceFile, piece: int, b: Binding, scope: Scope) -> Values:
    """The values that one row of a module's or class's body gives to its name."""
    line = file.facts.starts[piece] + b.line - 1
    if b.kind == "def":
        prefix = scope.cls.ref if scope.cls is not None else None
        ref = Ref(module.name, b.value or b.name)
        return calls.function_value(ev, ref, file, piece, b, prefix, scope)
    if b.kind == "class":
        ref = Ref(module.name, b.value or b.name)
        if scope.cls is not None and "<locals>" in scope.cls.ref.qualname:
            ref = Ref(module.name, f"{scope.cls.ref.qualname}.{b.name}")
        return classes.class_value(ev, ref)
    if b.kind == "import":
        return modules.imported_value(ev, b.value or "", b.path)
    if b.kind == "from":
        return modules.from_value(ev, module, b.value or "", b.path)
    here = scope.at(line)
    is_async = b.path.startswith("async:")
    path = _path(b.path.removeprefix("async:")) if b.kind in ("assign", "annassign", "for", "with") else ()
    if b.annotation is not None:
        node = parse_expression(b.annotation)
        if node is None:
            return unknown(Reason.UNSUPPORTED, "annotation")
        if type_forms.is_alias_marker(ev, node, here) and b.value:
            value = parse_expression(b.value)
            return expressions.value(ev, value, here) if value is not None else unknown(Reason.UNSUPPORTED)
        declared = type_forms.instances(ev, node, here)
        if declared.complete or not b.value or file.is_stub:
            return declared
        value = parse_expression(b.value)
        return join(declared, expressions.value(ev, value, here)) if value is not None else declared
    if b.value is None:
        return long_value(ev, file, piece, b, here)
    if b.kind in ("assign", "walrus", "type", "global", "for", "with", "augassign", "except", "except*") and b.value:
        node = parse_expression(b.value)
        if node is None:
            return unknown(Reason.UNSUPPORTED, b.kind)
        if b.kind == "for":
            return containers.unpack(ev, containers.iterate(ev, node, here, is_async), path)
        if b.kind == "with":
            return containers.unpack(ev, calls.enter(ev, expressions.value(ev, node, here), is_async), path)
        if b.kind == "except*":
            return known(type_forms.GROUP)
        if b.kind == "except":
            return type_forms.exceptions(ev, node, here)
        if b.kind == "augassign":
            op = _OPERATORS.get(b.path)
            previous = modules.global_values(ev, module, file, b.name, line) if scope.kind == "module" else None
            if op is None or previous is None:
                return unknown(Reason.UNKNOWN_OPERATOR)
            return expressions.binary(ev, previous, op, expressions.value(ev, node, here), here)
        if b.kind == "global":
            return unknown(Reason.UNKNOWN_TYPE, "global statement") if not b.value else _global(ev, node, b, here)
        return containers.unpack(ev, expressions.value(ev, node, here), path)
    return unknown(Reason.UNKNOWN_TYPE, b.kind)


def _global(ev: Evaluator, node: ast.expr, b: Binding, here: Scope) -> Values:
    # The expression stands in a function: only what needs none of its locals can be judged here.
    if b.path.split(":")[0] not in ("assign", ""):
        return unknown(Reason.UNKNOWN_TYPE, "global statement")
    if isinstance(node, ast.Constant):
        return expressions.value(ev, node, here)
    if isinstance(node, ast.Call) and not node.args and not node.keywords:
        return expressions.value(ev, node, here)
    return unknown(Reason.UNKNOWN_TYPE, "global statement")


def long_value(ev: Evaluator, file: SourceFile, piece: int, b: Binding, scope: Scope) -> Values:
    """A value whose text is not kept in the facts: read from the piece's tree."""
    tree = ev.snapshot.tree(file, piece)
    if tree is None:
        return unknown(Reason.UNSUPPORTED)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.lineno == b.line and node.value is not None:
            if isinstance(node.value, ast.Dict):
                return known(instance("dict", unknown(Reason.BUDGET), unknown(Reason.BUDGET)))
            if isinstance(node.value, (ast.List, ast.Set)):
                name = "list" if isinstance(node.value, ast.List) else "set"
                return known(instance(name, unknown(Reason.BUDGET)))
            if isinstance(node.value, ast.Tuple):
                return known(instance("tuple", unknown(Reason.BUDGET)))
            return expressions.value(ev, node.value, scope)
    return unknown(Reason.UNSUPPORTED)


def _path(text: str) -> tuple[int | str, ...]:
    if not text:
        return ()
    return tuple(p if p.startswith("*") else int(p) for p in text.split("."))


_OPERATORS: dict[str, ast.operator] = {
    "+=": ast.Add(),
    "-=": ast.Sub(),
    "*=": ast.Mult(),
    "/=": ast.Div(),
    "//=": ast.FloorDiv(),
    "%=": ast.Mod(),
    "|=": ast.BitOr(),
    "&=": ast.BitAnd(),
}

__all__ = ["NEVER", "FunctionObject", "ModuleObject", "NameLookup", "builtin", "lookup", "outer"]
