"""The rows that the extractor makes out of one module's syntax.

Every row is a NamedTuple of plain values, so that it is cheap to build, hashable, comparable and
can be written as JSON.  **Lines in a piece's rows are relative to the piece** (its first line is 1),
so that text that only moves keeps its rows; columns are 0-based UTF-8 byte offsets, as in ``ast``.
Expressions are kept as source text, never as trees: the evaluator parses the few it is asked about.
"""

from __future__ import annotations

from typing import NamedTuple

# Bumped whenever the extractor gives other rows for the same text: part of every key in the store.
EXTRACTOR_VERSION = 7

SUBCLASS_MADE = "subclass-made"
"""Instead of an attribute's name: the receiver is among the bases of ``type(name, bases, namespace)``.

The value then lists the namespace's names, parted by commas; none where they are not known."""


class Param(NamedTuple):
    """One parameter of a function, in source order."""

    name: str
    kind: str
    """``positional-only``, ``positional`` (positional or keyword), ``*args``, ``keyword-only`` or
    ``**kwargs``."""
    annotation: str | None
    """Source text; for a string annotation the text inside the quotes is left as it is, quotes included."""
    default: str | None
    """Source text of the default; ``"..."`` stands for a default longer than 2,000 characters."""


class Function(NamedTuple):
    """A ``def`` or ``async def`` at module or class level (also under ``if``, ``try``, ... there)."""

    name: str
    qualname: str
    """Dotted from the module, for example ``Session.get``."""
    line: int
    """Line of the ``def`` keyword, relative to the piece."""
    col: int
    end_line: int
    params: tuple[Param, ...]
    returns: str | None
    decorators: tuple[str, ...]
    is_async: bool
    is_generator: bool
    body: str
    """``empty`` (docstring, ``pass``, ``...`` only), ``raises`` (after the docstring one ``raise`` only),
    else ``""``."""
    doc: str
    """First line of the docstring, at most 200 characters."""
    type_params: tuple[str, ...]
    """PEP 695 parameters, as source text."""
    body_digest: str
    """16 hex digits over the text of the whole statement (decorators included)."""


class Binding(NamedTuple):
    """One way in which one name gets a value in a module's or a class's body, in source order.

    kind       value                                   path
    ---------  --------------------------------------  ---------------------------------------------
    def        qualname of the Function                ""
    class      qualname of the Class                   ""
    import     dotted module                           "" (binds the first part) or "as" (binds the whole)
    from       dots and module (``..pkg.mod``)         original name
    star       dots and module; ``name`` is ``"*"``    ""
    assign     expression                              "" or where in an unpacking: "0", "1.0", "*2" (starred,
                                                       at 2), "-1" (after a starred one: from the end)
    annassign  expression or "" (no value)             ""
    augassign  right-hand expression                   operator ("+=")
    for        iterable                                like assign; prefixed with "async:" for ``async for``
    with       context expression                      like assign; "async:" prefix for ``async with``
    except     exception type expression or ""         ""
    walrus     expression                              ""
    match      ""                                      "" (a capture in a pattern)
    del        ""                                      ""
    type       value of a PEP 695 ``type X = ...``     ""
    global     expression or ""                        kind of the statement, which stands in a function with
                                                       ``global X`` (or is ``globals()["X"] = ...``)
    """

    name: str
    kind: str
    line: int
    """Line of the statement that binds (of the alias for imports), relative to the piece."""
    col: int
    value: str | None
    """Source text, or None when it is longer than 2,000 characters (read it from the piece's tree)."""
    path: str
    annotation: str | None
    guards: tuple[str, ...]
    """Enclosing conditions inside the same module, class or function body, outermost first: ``if:TEST``,
    ``else:TEST`` (an ``elif`` adds the ``else:`` of each test before it), ``try:EXC1,EXC2`` with the caught
    types (an empty one for a bare ``except``; ``try`` alone when nothing is caught), ``except:EXC1,EXC2``,
    ``try-else``, ``finally``, ``loop``, ``with``, ``match``.  A test of over 2,000 characters is ``?``."""


class SelfAttr(NamedTuple):
    """An attribute stored through a method's first parameter (``self.x = ...``, ``cls.x: T = ...``).

    Also through a local name that the method has just given a new instance of its class
    (``new = cls.__new__(cls)``, ``new = copy.copy(self)``, ``new = ThisClass()``).
    """

    name: str
    """Attribute name, or ``"*"`` for ``setattr(self, <not a literal>, ...)``."""
    method: str
    """Qualname of the method."""
    receiver: str
    """``instance``, or ``class``: the first parameter of a classmethod, of ``__new__``, ``__init_subclass__``
    or ``__class_getitem__``, one named ``cls`` (in a metaclass that is the instance), or ``type(self).x``,
    ``self.__class__.x``."""
    kind: str
    """assign, annassign, augassign, for, with, del, setattr, walrus."""
    line: int
    """Line of the statement, relative to the piece."""
    col: int
    value: str | None
    path: str
    annotation: str | None
    guards: tuple[str, ...]


class Class(NamedTuple):
    """A ``class`` statement; one inside a function has ``.<locals>.`` in its qualname, as Python writes it."""

    name: str
    qualname: str
    line: int
    col: int
    end_line: int
    bases: tuple[str, ...]
    """Source text of each positional base (``*bases`` keeps its star)."""
    keywords: tuple[tuple[str, str], ...]
    """``metaclass=...`` and the rest; ``**kw`` has the name ``"**"``."""
    decorators: tuple[str, ...]
    members: tuple[Binding, ...]
    """What the class body binds, in source order (nested guards included)."""
    self_attrs: tuple[SelfAttr, ...]
    dynamic: tuple[str, ...]
    """Why there may be members that are not shown: ``setattr`` (``setattr(self|cls, <not literal>, .)``,
    or ``setattr`` handed on as a value), ``dict-write`` (``self.__dict__`` or ``vars(self)`` written to
    other than under literal names, which are rows), ``class-write`` (``self.__class__ = ..``),
    ``locals-write``, ``exec``, ``subclass-made`` (``type(name, (cls,), ...)`` in a method; ``subclass-made:a,b``
    where these are all names of the namespace)."""
    doc: str
    type_params: tuple[str, ...]


class AttrStore(NamedTuple):
    """A store to an attribute of anything that is not the enclosing method's first parameter."""

    receiver: str
    """Source text of the receiver (at most 200 characters, else ``"?"``)."""
    attr: str
    """Attribute name, ``"*"`` for ``setattr(x, <not a literal>, ...)``, ``x.__dict__.update(...)``,
    ``vars(x)[..] =``."""
    scope: str
    """Qualname of the enclosing function or class, ``""`` at module level."""
    line: int
    value: str | None


class Piece(NamedTuple):
    """The facts of one top-level statement (with the comments and blank lines before it)."""

    digest: str
    """16 hex digits over the piece's text: equal text, equal facts."""
    lines: int
    """Number of lines of the piece."""
    bindings: tuple[Binding, ...]
    functions: tuple[Function, ...]
    """Module-level functions and methods, not functions nested in functions (nor methods of classes inside them)."""
    classes: tuple[Class, ...]
    attr_stores: tuple[AttrStore, ...]
    exports: tuple[tuple[str, str, tuple[str, ...]], ...]
    """What happens to ``__all__``: (operator ``=``, ``+=`` or ``-=``, ``mod`` of ``mod.__all__`` or ``""``, names);
    an operation that is not understood is ``("open", "", ())``, one in a function ``("open", "later", ())``."""
    dynamic: tuple[str, ...]
    """Module-level openness: ``globals-write``, ``exec``, ``setattr-module`` (``sys.modules[.]`` is changed),
    ``sys-modules-write``, ``sys-path-edit``, ``import-hook`` (``sys.meta_path``/``path_hooks`` touched)."""
    mentions: frozenset[str]
    """Identifiers, attribute names and identifier-like string constants that occur in the piece."""
    masked: tuple[tuple[int, int], ...]
    """Line ranges (first, last, relative, inclusive) that were masked because they do not parse."""
    imports: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Every import in the piece, functions included: (dots and module, names); no names for ``import x`` and
    ``import_module("x")``."""


class ModuleFacts(NamedTuple):
    """The facts of a whole file."""

    pieces: tuple[Piece, ...]
    starts: tuple[int, ...]
    """1-based first line of each piece in the file."""
    encoding: str
    error: str | None
    """Why nothing could be parsed: ``syntax-error``, ``too-deep``, ``too-large`` or ``not-text``.  Also
    ``syntax-newer-than-server`` as soon as one piece looks like it.  None for a file of which some pieces
    parse: the others have `Piece.masked` lines."""

    def masked_lines(self) -> list[tuple[int, int]]:
        """1-based line ranges of the file, inclusive, that do not parse: nothing in there is known."""
        return [
            (start + first - 1, start + last - 1)
            for start, piece in zip(self.starts, self.pieces, strict=True)
            for first, last in piece.masked
        ]
