"""What a change of a module's text changes for those who use it, symbol by symbol.

Text that only moves changes nothing: rows are compared without their lines.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from callground.facts.index import ModuleIndex
from callground.facts.model import Binding, Class, Function, ModuleFacts, Piece

Key = tuple[str, ...]
"""As in ``verdict.model``: ``("symbol", module, name)`` and so on."""


def changed_keys(module: str, old: ModuleFacts | None, new: ModuleFacts | None) -> set[Key]:
    """The keys whose answer may differ between two versions of `module` (None: there is no such module).

    ``("module", module)``               it comes or goes, parses, is open, exports other names
    ``("symbol", module, name)``         what binds the name at module level
    ``("class", module, qualname)``      anything of the class row, methods' signatures included
    ``("signature", module, qualname)``  anything of the function row but its body
    ``("body", module, qualname)``       the text of the function
    ``("stores", attr)``                 who stores to attributes of that name
    ``("text", module)``                 anything but where it stands
    """
    if old is None and new is None:
        return set()
    before = _states(module, old)
    after = _states(module, new)
    changed = {key for key, state in before.items() if after.get(key, ()) != state}
    changed.update(key for key in after if key not in before)
    return changed


def _states(module: str, facts: ModuleFacts | None) -> dict[Key, Hashable]:
    """The state of every key that the facts say something about."""
    if facts is None:
        return {}
    states: dict[Key, list[Hashable]] = {}
    add = states.setdefault
    index = ModuleIndex(facts)
    add(("module", module), []).append(_module_state(index))
    add(("text", module), []).append(tuple([piece.digest for piece in facts.pieces]))
    for piece in facts.pieces:
        signatures: dict[str, list[Hashable]] = {row.qualname: [] for row in piece.functions}
        for function in piece.functions:
            signature = _signature(function)
            signatures[function.qualname].append(signature)
            add(("signature", module, function.qualname), []).append(signature)
            add(("body", module, function.qualname), []).append(function.body_digest)
        for binding in piece.bindings:
            add(("symbol", module, binding.name), []).append(_binding(binding, piece, signatures))
        for row in piece.classes:
            add(("class", module, row.qualname), []).append(_class(row, piece, signatures))
        for store in piece.attr_stores:
            add(("stores", store.attr), []).append((store.receiver, store.scope, store.value))
    return {key: tuple(parts) for key, parts in states.items()}


def _module_state(index: ModuleIndex) -> Hashable:
    facts = index.facts
    stars = tuple([(row.value, row.guards) for _, row in index.star_imports()])
    # Imports are not in it, for they have keys of their own in the graph, ``("imported", module)``: what a
    # function imports must not make everything be asked again that has to do with its module.
    # What a module's statements do to its namespace is read from their text; a statement that only defines
    # functions or classes has keys for that.
    text = (
        tuple([piece.digest for piece in facts.pieces if piece.dynamic or not _only_defines(piece)])
        if index.dynamic or index.bindings("__getattr__")
        else ()
    )
    return facts.error, index.has_masked, frozenset(index.dynamic), index.exports(), stars, text


def _only_defines(piece: Piece) -> bool:
    names = {binding.name for binding in piece.bindings}
    kinds = {binding.kind for binding in piece.bindings}
    return bool(kinds) and kinds <= {"def", "class"} and "__getattr__" not in names


def _signature(row: Function) -> Hashable:
    return (
        row.params,
        row.returns,
        row.decorators,
        row.is_async,
        row.is_generator,
        row.body,
        row.type_params,
    )


def _binding(row: Binding, piece: Piece, signatures: dict[str, list[Hashable]]) -> Hashable:
    """A binding without its place; a long value, which the row does not hold, by its piece."""
    value: Hashable = row.value if row.value is not None else piece.digest
    if row.kind == "def" and row.value:
        value = (row.value, tuple(signatures.get(row.value, ())))
    return row.name, row.kind, value, row.path, row.annotation, row.guards


def _class(row: Class, piece: Piece, signatures: dict[str, list[Hashable]]) -> Hashable:
    attributes = _unique(
        (
            attribute.name,
            attribute.method,
            attribute.receiver,
            attribute.kind,
            attribute.value if attribute.value is not None else piece.digest,
            attribute.path,
            attribute.annotation,
            attribute.guards,
        )
        for attribute in row.self_attrs
    )
    members = tuple([_binding(member, piece, signatures) for member in row.members])
    return row.bases, row.keywords, row.decorators, members, attributes, row.dynamic, row.type_params


def _unique(values: Iterable[Hashable]) -> tuple[Hashable, ...]:
    return tuple(dict.fromkeys(values))
