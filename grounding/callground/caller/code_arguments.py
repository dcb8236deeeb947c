"""The arguments of a call that is suggested in code: names in scope, values that the request says, or nothing.

For every parameter that a call has to give, in this order: a name in scope that is spelled like it, an attribute
of ``self`` that is, a value that the request says (quoted, a number, a member of an enum or a ``Literal``), a name
made of its words, the only name in scope of its type.  Defaults are left out, but for a name in scope that is
spelled like the parameter.  What cannot be found is named in `Filled.missing` and stands as ``...`` in the call.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from callground.caller.code_context import Name, Situation
from callground.caller.code_tools import name_stems, stems
from callground.facts.model import Param

PLACEHOLDER = "..."
_QUOTED = re.compile(r"`([^`\n]+)`|\"([^\"\n]*)\"|(?<!\w)'([^'\n]*)'(?!\w)")
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])")
_BASIC = frozenset({"str", "int", "float", "bool", "bytes", "list", "dict", "set", "tuple", "frozenset", "complex"})
_GENERIC = {
    "Sequence": {"list", "tuple", "str", "range"},
    "Iterable": {"list", "tuple", "set", "dict", "str", "frozenset", "Iterator", "Generator", "range"},
    "Collection": {"list", "tuple", "set", "dict", "frozenset"},
    "Mapping": {"dict"},
    "MutableMapping": {"dict"},
    "List": {"list"},
    "Dict": {"dict"},
    "Set": {"set"},
    "Tuple": {"tuple"},
    "Path": {"Path", "PosixPath"},
    "float": {"float", "int"},
    "int": {"int", "bool"},
}
_ANYTHING = frozenset({"Any", "object", "T"})
_NEAR = 40


class Argument(NamedTuple):
    """One argument of a suggested call."""

    parameter: str
    text: str
    how: str
    """Where it came from, in words."""
    certainty: float
    """Between 0 and 1, by rule of thumb."""
    keyword: bool = False


class Filled(NamedTuple):
    """The arguments of a call, in the order in which they are written."""

    arguments: tuple[Argument, ...]
    missing: tuple[str, ...]
    """Parameters that have to be given and could not be found; each stands as ``...``."""

    @property
    def text(self) -> str:
        """What stands between the parentheses."""
        return ", ".join(f"{a.parameter}={a.text}" if a.keyword else a.text for a in self.arguments)

    @property
    def certainty(self) -> float:
        """That of the least certain argument; 1 for a call without arguments."""
        return min((a.certainty for a in self.arguments), default=1.0)


def fill(situation: Situation, params: Sequence[Param], receiver: str = "") -> Filled:
    """The arguments for these parameters (``self`` not among them).  `receiver` is what the method is called on."""
    arguments: list[Argument] = []
    missing: list[str] = []
    used: set[str] = {receiver} if receiver else set()
    said = _said(situation.request)
    positional = True
    for param in params:
        if param.kind in ("*args", "**kwargs"):
            positional = positional and param.kind == "**kwargs"
            continue
        by_keyword = param.kind == "keyword-only" or not positional
        found = _find(situation, param, used, said)
        if found is None:
            if param.default is not None:
                if param.kind == "positional-only":
                    break
                positional = False
                continue
            missing.append(param.name)
            found = Argument(param.name, PLACEHOLDER, "not found", 0.0)
        used.add(found.text)
        arguments.append(found._replace(keyword=by_keyword))
    return Filled(tuple(arguments), tuple(missing))


class _Said(NamedTuple):
    """The values that a request says."""

    quoted: list[str]
    numbers: list[str]
    words: frozenset[str]


def _said(request: str) -> _Said:
    quoted = [next(part for part in match if part) for match in _QUOTED.findall(request) if any(match)]
    bare = _QUOTED.sub(" ", request)
    return _Said(quoted, _NUMBER.findall(bare), frozenset(re.findall(r"\w+", request)))


def _find(situation: Situation, param: Param, used: set[str], said: _Said) -> Argument | None:
    required = param.default is None
    names = [name for name in situation.names if not name.is_module and name.text not in used]
    exact = [name for name in names if _spelled(name, param)]
    for name in exact:
        fits = fitting(situation, name, param)
        if fits is False:
            continue
        own = "." not in name.text
        if required or (own and (name.parameter or name.distance <= _NEAR)):
            return Argument(param.name, name.text, "a name in scope of the same spelling", 0.95 if own else 0.85)
    value = _value(param, said)
    if value is not None:
        return value
    if not required:
        return None
    wanted = name_stems(param.name)
    alike: list[tuple[float, int, Name]] = []
    for name in names:
        have = name_stems(name.text.rpartition(".")[2])
        fits = fitting(situation, name, param)
        if fits is False or name.is_class or not have or not wanted:
            continue
        share = len(have & wanted) / len(have | wanted)
        if share >= 0.3 or (fits is True and not _plain(param)):
            alike.append((share + (0.4 if fits is True else 0.0) - min(name.distance, 100) / 500, -name.distance, name))
    if alike:
        alike.sort(key=lambda each: (-each[0], -each[1], each[2].text))
        best = alike[0]
        clear = len(alike) == 1 or best[0] - alike[1][0] > 0.15
        how = "a name in scope that is made of the same words" if best[0] >= 0.3 else "of the right type"
        return Argument(param.name, best[2].text, how, min(0.85, 0.45 + best[0] / 2) if clear else 0.4)
    return None


def _spelled(name: Name, param: Param) -> bool:
    last = name.text.rpartition(".")[2]
    return last.strip("_") == param.name.strip("_") and bool(last.strip("_"))


def _value(param: Param, said: _Said) -> Argument | None:
    """A value that the request says for a parameter; none for one that is merely likely."""
    annotation = param.annotation or ""
    choices = _choices(annotation)
    if choices:
        hits = [choice for choice in choices if str(choice) in said.words or str(choice) in said.quoted]
        if len(hits) == 1:
            return Argument(param.name, repr(hits[0]), "the request says it", 0.8)
        return None
    types = _types(annotation)
    mentioned = bool(name_stems(param.name) & frozenset(word.lower() for word in said.words))
    if len(said.quoted) == 1 and types & {"str"} and (param.default is None or mentioned):
        return Argument(param.name, repr(said.quoted[0]), "the request quotes it", 0.8)
    if len(said.numbers) == 1 and types & {"int", "float"} and mentioned:
        number = said.numbers[0]
        if "." not in number or "float" in types:
            return Argument(param.name, number, "the request says it", 0.8)
    return None


def _choices(annotation: str) -> list[object]:
    """The values of a ``Literal[...]``."""
    if "Literal[" not in annotation:
        return []
    try:
        tree = ast.parse(annotation.strip("'\""), mode="eval")
    except (SyntaxError, ValueError):
        return []
    return list(_literals(tree))


def _literals(tree: ast.AST) -> Iterator[object]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and ast.unparse(node.value).rpartition(".")[2] == "Literal":
            for inner in ast.walk(node.slice):
                if isinstance(inner, ast.Constant):
                    yield inner.value


def _types(annotation: str) -> frozenset[str]:
    """Last names of the types that an annotation mentions."""
    return frozenset(re.findall(r"[^\W\d]\w*", annotation)) - {"Optional", "Union", "None", "typing", "t"}


def _plain(param: Param) -> bool:
    """Whether the type says too little to pick a name by it alone."""
    types = _types(param.annotation or "")
    return not types or bool(types & _ANYTHING) or types <= (_BASIC | _GENERIC.keys())


def fitting(situation: Situation, name: Name, param: Param) -> bool | None:
    """Whether a name is of a parameter's type; None where that is not known."""
    types = _types(param.annotation or "")
    if not types or types & _ANYTHING or not name.classes or name.is_class:
        return None
    allowed = set(types)
    for each in types:
        allowed |= _GENERIC.get(each, set())
    have = {ref.qualname.rpartition(".")[2] for ref in name.classes}
    if have & allowed:
        return True
    for (_, qualname), holders in situation.receivers.items():
        if name.text in holders and qualname.rpartition(".")[2] in types:
            return True
    if not name.certain:
        return None
    # An unknown word may be an alias or a type parameter: only plain types rule each other out.
    return False if have <= _BASIC and types <= (_BASIC | _GENERIC.keys()) else None


def result_name(situation: Situation, name: str, returns: str) -> str:
    """The name that a call's result should get: one that is read below and bound nowhere; empty for none."""
    if situation.shape.known or returns == "None" or not situation.wanted_below:
        return ""
    made_of = frozenset(stems(f"{name} {returns}"))
    scored = sorted(
        ((len(name_stems(each) & made_of) / max(1, len(name_stems(each))), each) for each in situation.wanted_below),
        key=lambda pair: (-pair[0], pair[1]),
    )
    return scored[0][1] if scored[0][0] > 0 else ""
