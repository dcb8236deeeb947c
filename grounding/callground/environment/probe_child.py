"""Runs inside the user's interpreter, isolated: imports compiled modules and writes down what they have.

Started by `probe` as a script with ``-I -S -B``; it imports nothing of callground and runs on Python 3.7
and newer. It reads one JSON request from standard input and answers with JSON lines on a private
descriptor: descriptors 0 to 2 lead nowhere before the first import, so that nothing that a module prints
gets into the answer.

What it writes has the syntax of a stub file: everything that the module's namespace holds, signatures
where the interpreter knows them, ``(*args, **kwargs)`` where it does not, and a ``__getattr__`` wherever
more may be there than can be seen.
"""

from __future__ import annotations

import inspect
import json
import keyword
import os
import re
import sys
import types
from typing import Any

OPEN_PARAMETERS = "*args: _Any, **kwargs: _Any"
TEXT_LIMIT = 8_000_000
DEPTH_LIMIT = 4

# What every module or class has, or what only says how it was made.
_MODULE_NOISE = frozenset(
    "__name__ __doc__ __package__ __loader__ __spec__ __file__ __path__ __builtins__ __cached__".split()
)
_CLASS_NOISE = frozenset(
    "__module__ __qualname__ __doc__ __dict__ __weakref__ __slots__ __new__ __init__ __getattribute__"
    " __getattr__ __hash__ __annotations__ __annotate__ __firstlineno__ __static_attributes__"
    " __orig_bases__ __parameters__ __subclasshook__ __init_subclass__ __reduce_cython__"
    " __setstate_cython__ __text_signature__".split()
)
# site.py adds these to every ordinary interpreter; here it did not run.
_SITE_BUILTINS = ("copyright", "credits", "exit", "help", "license", "quit")
_ROUTINE_TYPES = frozenset(
    ["cython_function_or_method", "fused_cython_function", "nb_func", "nb_method", "instancemethod"]
)
_CONSTANTS = (int, str, bytes, float, complex, bool)


def main() -> None:
    """Answer the request on standard input."""
    request = json.loads(sys.stdin.buffer.read().decode("utf-8"))
    out = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    _limit(request["seconds"], request["memory"])
    sys.argv = [""]
    sys.path.extend(path for path in request["path"] if path not in sys.path)

    def answer(**values: Any) -> None:
        out.write(json.dumps(values).encode("ascii") + b"\n")
        out.flush()

    for item in request["modules"]:
        name = item["name"]
        answer(start=name)
        try:
            text = probe(name, item["file"], item["stdlib"])
        except BaseException as error:  # noqa: BLE001 - a module may raise SystemExit
            message = f"{type(error).__name__}: {error}"
            answer(module=name, error=message[:300])
        else:
            answer(module=name, text=text)
    out.flush()
    os._exit(0)  # no exit handlers, no waiting for threads that a module started


def _limit(seconds: int, memory: int) -> None:
    try:
        import resource
    except ImportError:
        return
    limits = [("RLIMIT_CPU", seconds), ("RLIMIT_CORE", 0), ("RLIMIT_FSIZE", 0)]
    if memory:
        # Libraries reserve far more address space than they ever write to.
        limits += [("RLIMIT_DATA", memory), ("RLIMIT_AS", 8 * memory)]
    for name, value in limits:
        try:
            kind = getattr(resource, name)
            hard = resource.getrlimit(kind)[1]
            limit = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(kind, (limit, limit))
        except (AttributeError, OSError, ValueError):
            continue


def probe(name: str, file: str | None, stdlib: bool) -> str:
    """The text of the module `name`; raises whatever its import raises.

    `file` is where it has to come from, None for one that is compiled in.
    """
    __import__(name)
    module = sys.modules[name]
    actual = getattr(module, "__file__", None)
    if file is not None and (actual is None or os.path.realpath(actual) != os.path.realpath(file)):
        raise ImportError(f"it was imported from {actual}")
    return Writer(name, module, stdlib).text()


class Writer:
    """Writes one module as a stub."""

    def __init__(self, name: str, module: Any, stdlib: bool) -> None:
        self.name = name
        self.module = module
        self.stdlib = stdlib
        self.namespace: dict[str, Any] = dict(vars(module))
        self.imports: dict[str, str] = {}
        self.written: dict[int, str] = {}
        self.size = 0

    def text(self) -> str:
        """The whole stub."""
        lines: list[str] = []
        for name, value in self.namespace.items():
            if name in _MODULE_NOISE or not _is_name(name):
                continue
            lines.extend(self.member(name, value))
        if self.name == "builtins":
            lines.extend(f"{name}: _Any" for name in _SITE_BUILTINS if name not in self.namespace)
        opened = "__getattr__" in self.namespace or type(self.module) is not types.ModuleType
        if opened and not any(line.startswith("def __getattr__") for line in lines):
            lines.append("def __getattr__(name: str) -> _Any: ...")
        head = ["from typing import Any as _Any"]
        head.extend(f"import {module} as {alias}" for module, alias in self.imports.items())
        return "\n".join(head + lines) + "\n"

    def member(self, name: str, value: Any) -> list[str]:
        """What a module-level name stands for."""
        if isinstance(value, types.ModuleType):
            found = _module_name(value)
            return [f"{name} = {self.imported(found)}" if found else f"{name}: _Any"]
        if isinstance(value, type):
            return self.class_member(name, value)
        if _is_routine(value):
            return [f"def {name}({parameters(value, None)}): ..."]
        return [self.constant(name, value, {})]

    def constant(self, name: str, value: Any, around: dict[str, Any]) -> str:
        """An attribute: with its type where that is a plain one whose name means here what it means
        everywhere."""
        kind = type(value)
        plain = kind in _CONSTANTS and kind.__name__ not in around and kind.__name__ not in self.namespace
        return f"{name}: {kind.__name__ if plain else '_Any'}"

    def class_member(self, name: str, cls: type) -> list[str]:
        """A class under a module-level name: where it is at home it is written, elsewhere it is referred
        to."""
        known = self.written.get(id(cls))
        if known is not None:
            return [f"{name} = {known}"]
        if not (_home(cls) == self.name and _qualname(cls) == name):
            expression = self.foreign(cls)
            if expression is not None:
                return [f"{name} = {expression}"]
            if _home(cls) == self.name and self.own_path(cls):
                return [f"{name} = {_qualname(cls)}"]
        self.written[id(cls)] = name
        return self.class_lines(name, cls, 0)

    # -- classes -------------------------------------------------------------------------

    def class_lines(self, name: str, cls: type, depth: int) -> list[str]:
        """A class statement."""
        members: dict[str, Any] = {}
        bases: list[str] = []
        self.inherit(cls, bases, members)
        members.update(vars(cls))
        meta = self.metaclass(cls)
        if meta:
            bases.append("metaclass=" + meta)
        indent = "    " * (depth + 1)
        listed = f"({', '.join(bases)})" if bases else ""
        head = "    " * depth + f"class {name}{listed}:"
        lines = []
        for key, value in members.items():
            if _is_name(key) and key not in _CLASS_NOISE:
                lines.extend(self.attribute(cls, key, value, depth + 1))
        lines.extend(constructor(cls, members, indent))
        if self.is_open(cls, members):
            lines.append(indent + "def __getattr__(self, name: str) -> _Any: ...")
        self.size += sum(map(len, lines))
        if self.size > TEXT_LIMIT:
            raise MemoryError("the module has too many members")
        return [head] + (lines or [indent + "pass"])

    def inherit(self, cls: type, bases: list[str], members: dict[str, Any]) -> None:
        """Collect the bases that can be named; what the others give goes into `members`."""
        for base in cls.__bases__:
            if base is object:
                continue
            expression = self.expression(base)
            if expression is None:
                self.inherit(base, bases, members)
                members.update(vars(base))
            elif expression not in bases:
                bases.append(expression)

    def attribute(self, cls: type, name: str, value: Any, depth: int) -> list[str]:
        """One entry of a class's namespace."""
        indent = "    " * depth
        if isinstance(value, staticmethod):
            return [
                indent + "@staticmethod",
                indent + f"def {name}({parameters(value.__func__, None)}): ...",
            ]
        if isinstance(value, (classmethod, types.ClassMethodDescriptorType)):
            bound = getattr(cls, name, None)
            return [
                indent + "@classmethod",
                indent + f"def {name}({parameters(bound, 'cls')}): ...",
            ]
        if isinstance(value, types.BuiltinFunctionType):  # does not bind
            return [indent + "@staticmethod", indent + f"def {name}({parameters(value, None)}): ..."]
        if isinstance(value, type):
            if depth >= DEPTH_LIMIT or not (_qualname(value).endswith("." + name) and _home(value) == _home(cls)):
                expression = self.expression(value)
                return [indent + (f"{name} = {expression}" if expression else f"{name}: _Any")]
            return self.class_lines(name, value, depth)
        if _is_routine(value):
            return [indent + f"def {name}({unbound_parameters(value)}): ..."]
        return [indent + self.constant(name, value, dict(vars(cls)))]

    def metaclass(self, cls: type) -> str | None:
        """What to write after ``metaclass=``; None when the class's bases or ``type`` say it."""
        meta = type(cls)
        if meta is type or any(type(base) is meta and self.expression(base) for base in cls.__bases__):
            return None
        expression = self.expression(meta)
        if expression is not None:
            return expression
        plain = not any("__getattr__" in vars(each) for each in _mro(meta)) and same_access(meta, type)
        return None if plain else "_metaclass_that_cannot_be_named"

    def is_open(self, cls: type, members: dict[str, Any]) -> bool:
        """Whether instances may have attributes that the class does not show."""
        if "__getattr__" in members:
            return True
        if self.stdlib:
            if self.name in ("builtins", "types"):
                return False
        elif getattr(cls, "__dictoffset__", 0) and not issubclass(cls, type):
            # Compiled code may store into the instance's dictionary, and no one sees its text.
            return True
        return "__getattribute__" in members and not same_access(cls, object)

    # -- names ---------------------------------------------------------------------------

    def imported(self, module: str) -> str:
        """The alias under which the text imports `module`."""
        alias = self.imports.get(module)
        if alias is None:
            alias = self.imports[module] = f"_m{len(self.imports)}"
        return alias

    def expression(self, cls: type) -> str | None:
        """How the text refers to a class; None when nothing that can be imported leads to it."""
        known = self.written.get(id(cls))
        if known is not None:
            return known
        if _home(cls) == self.name and self.own_path(cls):
            return _qualname(cls)
        foreign = self.foreign(cls)
        if foreign is not None:
            return foreign
        for name, value in self.namespace.items():
            if value is cls and _is_name(name):
                return name
        return None

    def own_path(self, cls: type) -> bool:
        """Whether the class stands in this module under the name that it says it has."""
        return _lookup(self.module, _qualname(cls)) is cls

    def foreign(self, cls: type) -> str | None:
        """An expression for a class whose definition is in another module, for certain."""
        home, qualname = _home(cls), _qualname(cls)
        if home == "builtins":
            import builtins

            if getattr(builtins, qualname, None) is not cls:
                return None
            return qualname if qualname not in self.namespace else f"{self.imported('builtins')}.{qualname}"
        module = sys.modules.get(home)
        if home == self.name or module is None or not all(map(_is_name, home.split("."))):
            return None
        if _lookup(module, qualname) is not cls or not _defines(module, qualname):
            return None
        return f"{self.imported(home)}.{qualname}"


def _mro(cls: type) -> tuple[type, ...]:
    """The class and its bases, without ``object``."""
    return tuple(each for each in cls.__mro__ if each is not object)


def _home(cls: type) -> str:
    home = getattr(cls, "__module__", None)
    return home if isinstance(home, str) else ""


def _qualname(cls: type) -> str:
    name = getattr(cls, "__qualname__", None)
    return name if isinstance(name, str) else ""


def _lookup(module: Any, path: str) -> Any:
    value = module
    for part in path.split("."):
        try:
            value = vars(value)[part]
        except (TypeError, KeyError):
            return None
    return value


_SOURCES: dict[str, str] = {}


def _defines(module: Any, qualname: str) -> bool:
    """Whether the module's own text (or compiled code) has the class: a ``__module__`` may be set to a
    facade."""
    spec = getattr(module, "__spec__", None)
    if getattr(spec, "name", None) != module.__name__:
        return False
    origin = getattr(module, "__file__", None)
    if origin is None:
        return getattr(spec, "origin", None) == "built-in"
    if not origin.endswith(".py"):
        return True
    text = _SOURCES.get(origin)
    if text is None:
        try:
            with open(origin, encoding="utf-8", errors="replace") as file:
                text = file.read()
        except OSError:
            text = ""
        _SOURCES[origin] = text
    last = qualname.rpartition(".")[2]
    return re.search(rf"^[ \t]*class[ \t]+{re.escape(last)}\b", text, re.MULTILINE) is not None


def _module_name(module: Any) -> str | None:
    name = getattr(module, "__name__", None)
    if isinstance(name, str) and sys.modules.get(name) is module and all(map(_is_name, name.split("."))):
        return name
    return None


def _is_name(name: Any) -> bool:
    return isinstance(name, str) and name.isidentifier() and not keyword.iskeyword(name)


# -- signatures --------------------------------------------------------------------------


def _is_routine(value: Any) -> bool:
    return inspect.isroutine(value) or type(value).__name__ in _ROUTINE_TYPES


def _signature(value: Any) -> inspect.Signature | None:
    try:
        return inspect.signature(value)
    except Exception:  # noqa: BLE001 - extensions raise what they like
        return None


def parameters(value: Any, first: str | None) -> str:
    """The parameter list of something that is called without a receiver, after the parameter `first`."""
    signature = _signature(value)
    text = render(list(signature.parameters.values())) if signature is not None else None
    if text is None:
        text = OPEN_PARAMETERS
    if first is None:
        return text
    # A receiver in front of positional-only parameters becomes one of them, which changes nothing.
    return f"{first}, {text}" if text else first


def unbound_parameters(value: Any) -> str:
    """The parameter list of a method as it stands in its class, receiver included."""
    signature = _signature(value)
    if signature is not None:
        found = list(signature.parameters.values())
        if found and found[0].kind in (found[0].POSITIONAL_ONLY, found[0].POSITIONAL_OR_KEYWORD):
            text = render(found)
            if text is not None:
                return text
    return "self, " + OPEN_PARAMETERS


def render(found: list[inspect.Parameter]) -> str | None:
    """Source text of parameters; None when a name cannot be written."""
    parts: list[str] = []
    positional_only = keyword_only = False
    for each in found:
        if not _is_name(each.name):
            return None
        if positional_only and each.kind != each.POSITIONAL_ONLY:
            parts.append("/")
            positional_only = False
        if each.kind == each.POSITIONAL_ONLY:
            positional_only = True
        if each.kind == each.VAR_POSITIONAL:
            keyword_only = True
        if each.kind == each.KEYWORD_ONLY and not keyword_only:
            parts.append("*")
            keyword_only = True
        stars = "*" if each.kind == each.VAR_POSITIONAL else "**" if each.kind == each.VAR_KEYWORD else ""
        default = "=..." if each.default is not each.empty else ""
        parts.append(stars + each.name + default)
    if positional_only:
        parts.append("/")
    return ", ".join(parts)


def constructor(cls: type, members: dict[str, Any], indent: str) -> list[str]:
    """How the class is called, as an ``__init__``; nothing when it inherits that."""
    if "__init__" not in members and "__new__" not in members:
        return []
    made = members.get("__init__")
    if made is not None and _is_routine(made) and not isinstance(made, types.WrapperDescriptorType):
        return [indent + f"def __init__({unbound_parameters(made)}): ..."]
    made = members.get("__new__")
    made = made.__func__ if isinstance(made, staticmethod) else made
    if made is not None and _is_routine(made) and not isinstance(made, types.BuiltinFunctionType):
        return [indent + f"def __new__({unbound_parameters(made)}): ..."]
    text = OPEN_PARAMETERS
    # The text signature of this very class: inspect alone would also take one of its bases'.
    if cls.__text_signature__ is not None and type(cls).__call__ is type.__call__:
        text = parameters(cls, None)
    return [indent + "def __init__(self%s): ..." % (", " + text if text else "")]


# -- attribute access of compiled types -----------------------------------------------------


def same_access(cls: type, usual: type) -> bool:
    """Whether instances of both look attributes up with the same C function; False when it cannot be told.

    A C type that sets the usual function itself shows a ``__getattribute__`` like one that answers for
    anything.
    """
    slots = _access_slots(cls)
    return slots is not None and slots == _access_slots(usual)


def _access_slots(cls: type) -> tuple[int, int] | None:
    if sys.implementation.name != "cpython":
        return None
    try:
        import ctypes
    except ImportError:
        return None
    word = ctypes.sizeof(ctypes.c_void_p)
    start = object.__basicsize__ + word  # after the object's head and ob_size
    table = (ctypes.c_size_t * 17).from_address(id(cls) + start)
    return table[5], table[15]  # tp_getattr, tp_getattro


if __name__ == "__main__":
    main()
