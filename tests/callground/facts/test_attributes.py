"""Stores to attributes: through a method's receiver, and through anything else."""

from __future__ import annotations

from textwrap import dedent, indent

import pytest

from callground.facts.extract import extract_module
from callground.facts.model import Class, Piece


def piece(text: str) -> Piece:
    (only,) = extract_module(dedent(text)).pieces
    return only


def class_of(text: str) -> Class:
    return piece(text).classes[0]


def method(body: str, header: str = "def m(self, a, *, b=1):") -> Piece:
    return piece(f"class C:\n    {header}\n{indent(dedent(body), ' ' * 8)}\n")


def self_attrs(body: str, header: str = "def m(self, a, *, b=1):") -> list[tuple[str, str, str | None, str]]:
    row = method(body, header).classes[0]
    return [(attr.name, attr.kind, attr.value, attr.path) for attr in row.self_attrs]


@pytest.mark.parametrize(
    ("body", "rows"),
    [
        # name, kind, value, path
        ("self.x = f()", [("x", "assign", "f()", "")]),
        ("self.x = self.y = 1", [("x", "assign", "1", ""), ("y", "assign", "1", "")]),
        ("self.x, (q, *self.y) = f()", [("x", "assign", "f()", "0"), ("y", "assign", "f()", "1.*1")]),
        ("self.x: int", [("x", "annassign", "", "")]),
        ("self.x: int = 1", [("x", "annassign", "1", "")]),
        ("self.x += 1", [("x", "augassign", "1", "+=")]),
        ("for self.x in y: pass", [("x", "for", "y", "")]),
        ("for i, self.x in y: pass", [("x", "for", "y", "1")]),
        ("with y as self.x: pass", [("x", "with", "y", "")]),
        ("with y as (a, self.x): pass", [("x", "with", "y", "1")]),
        ("del self.x", [("x", "del", "", "")]),
        ("setattr(self, 'x', f())", [("x", "setattr", "f()", "")]),
        ("object.__setattr__(self, 'x', 1)", [("x", "setattr", "1", "")]),
        ("super().__setattr__('x', 1)", [("x", "setattr", "1", "")]),
        ("super(C, self).__setattr__('x', 1)", [("x", "setattr", "1", "")]),
        ("self.__setattr__('x', 1)", [("x", "setattr", "1", "")]),
        ("self.__dict__['x'] = 1", [("x", "setattr", None, "")]),
        ("vars(self)['x'] = 1", [("x", "setattr", None, "")]),
        ("self.__dict__.setdefault('x', 1)", [("x", "setattr", None, "")]),
        ("self.__dict__.update(x=1, y=2)", [("x", "setattr", None, ""), ("y", "setattr", None, "")]),
        ("setattr(self, a, 1)", [("*", "setattr", "1", "")]),
        ("[0 for self.x in y]", [("x", "for", None, "")]),
        ("def g():\n    self.x = 1", [("x", "assign", "1", "")]),
        ("def g(self):\n    self.x = 1", []),
        ("def g():\n    self = 2\n    self.x = 1", []),
        ("def g():\n    for self in y: pass\n    self.x = 1", []),
        ("class D:\n    def m(self):\n        self.x = 1", []),
        ("class D:\n    def m(this):\n        self.x = 1", [("x", "assign", "1", "")]),
        ("g = lambda: setattr(self, 'x', 1)", [("x", "setattr", "1", "")]),
        ("g = lambda self: setattr(self, 'x', 1)", []),
        ("[setattr(self, 'x', y) for y in z]", [("x", "setattr", "y", "")]),
        ("[setattr(self, 'x', y) for self in z]", []),
        ("self.x.y = 1", []),
        ("self.x[0] = 1", []),
        ("other.x = 1", []),
        ("setattr(other, 'x', 1)", []),
        ("self.x = " + "1 + " * 600 + "1", [("x", "assign", None, "")]),
        ("self.x", []),
        ("self.x()", []),
    ],
)
def test_stores_through_the_receiver(body: str, rows: list[tuple[str, str, str | None, str]]) -> None:
    assert self_attrs(body) == rows


def test_rows_name_their_method_and_line_and_guards() -> None:
    (row,) = piece(
        """
        class C:
            if a:
                class D:
                    def m(self):
                        if b:
                            try:
                                self.x: int = 1
                            except E: pass
        """
    ).classes[1:]
    (attr,) = row.self_attrs
    assert (attr.method, attr.receiver, attr.line, attr.annotation) == ("C.D.m", "instance", 8, "int")
    assert attr.guards == ("if:b", "try:E")


@pytest.mark.parametrize(
    ("header", "name", "receiver"),
    [
        ("def m(self):", "self", "instance"),
        ("def m(this, a):", "this", "instance"),
        ("def m(self, /):", "self", "instance"),
        ("@classmethod\n    def m(cls):", "cls", "class"),
        ("@abc.abstractclassmethod\n    def m(klass):", "klass", "class"),
        ("@validator('x')\n    def m(cls, value):", "cls", "class"),
        ("def __new__(cls):", "cls", "class"),
        ("def __init_subclass__(cls, **kw):", "cls", "class"),
        ("def __class_getitem__(klass, item):", "klass", "class"),
        ("def m(self):", "type(self)", "class"),
        ("def m(self):", "self.__class__", "class"),
        ("@property\n    def m(self):", "self", "instance"),
        ("async def m(self):", "self", "instance"),
    ],
)
def test_what_the_receiver_is(header: str, name: str, receiver: str) -> None:
    (row,) = method(f"{name}.x = 1", header).classes
    assert [(attr.name, attr.receiver) for attr in row.self_attrs] == [("x", receiver)]


@pytest.mark.parametrize("header", ["@staticmethod\n    def m(self):", "def m():", "def m(*self):"])
def test_methods_without_a_receiver(header: str) -> None:
    result = method("self.x = 1", header)
    assert result.classes[0].self_attrs == ()
    assert [(store.receiver, store.attr) for store in result.attr_stores] == [("self", "x")]


@pytest.mark.parametrize("base", ["type", "abc.ABCMeta", "EnumMeta"])
def test_in_a_metaclass_the_first_parameter_is_its_instance(base: str) -> None:
    row = class_of(f"class M({base}):\n    def __init__(cls, *a):\n        cls.x = 1\n")
    assert [attr.receiver for attr in row.self_attrs] == ["instance"]


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("def __new__(cls):", "super().__new__(cls)"),
        ("def __new__(cls):", "object.__new__(cls)"),
        ("@classmethod\n    def m(cls):", "cls()"),
        ("@classmethod\n    def m(cls):", "cls.__new__(cls)"),
        ("def m(self):", "type(self)()"),
        ("def m(self):", "self.__class__(1)"),
        ("def m(self):", "copy.copy(self)"),
        ("def m(self):", "copy(self)"),
        ("def m(self):", "self._clone()"),
        ("def m(self):", "super().copy()"),
        ("@staticmethod\n    def m():", "C()"),
    ],
)
def test_stores_through_a_new_instance(header: str, value: str) -> None:
    result = method(f"new = {value}\nnew.x = 1\nnew.y, z = 1, 2\nsetattr(new, 'w', 3)", header)
    (row,) = result.classes
    assert [(attr.name, attr.receiver) for attr in row.self_attrs] == [
        ("x", "instance"),
        ("y", "instance"),
        ("w", "instance"),
    ]
    assert result.attr_stores == ()


def test_another_local_is_no_new_instance() -> None:
    result = method("new = D()\nnew.x = 1\nother = self.copy_of(self)\nother.y = 2")
    assert result.classes[0].self_attrs == ()
    assert [store.attr for store in result.attr_stores] == ["x", "y"]


@pytest.mark.parametrize(
    ("body", "marks"),
    [
        ("self.x = 1", ()),
        ("setattr(self, 'x', 1)", ()),
        ("setattr(self, a, 1)", ("setattr",)),
        ("setattr(self, f'{a}_x', 1)", ("setattr",)),
        ("super().__setattr__(a, 1)", ("setattr",)),
        ("object.__setattr__(self, a, 1)", ("setattr",)),
        ("map(partial(setattr, self), a)", ("setattr",)),
        ("put = object.__setattr__", ("setattr",)),
        ("setattr(other, a, 1)", ()),
        ("self.__dict__[a] = 1", ("dict-write",)),
        ("self.__dict__.update(a)", ("dict-write",)),
        ("self.__dict__.update(**a)", ("dict-write",)),
        ("self.__dict__ |= a", ("dict-write",)),
        ("self.__dict__ = a", ("dict-write",)),
        ("vars(self)[a] = 1", ("dict-write",)),
        ("vars(self).update(a)", ("dict-write",)),
        ("self.__dict__['x'] = 1", ()),
        ("del self.__dict__[a]", ()),
        ("x = self.__dict__[a]", ()),
        ("x = self.__dict__.get(a)", ()),
        ("other.__dict__.update(a)", ()),
        ("self.__class__ = D", ("class-write",)),
        ("def g():\n    setattr(self, a, 1)", ("setattr",)),
        ("locals()[a] = 1", ()),
        ("exec('x = 1')", ()),
    ],
)
def test_marks_of_a_class(body: str, marks: tuple[str, ...]) -> None:
    assert method(body).classes[0].dynamic == marks


@pytest.mark.parametrize(
    ("body", "marks"),
    [
        ("locals()['x'] = 1", ("locals-write",)),
        ("locals().update(a)", ("locals-write",)),
        ("vars()[a] = 1", ("locals-write",)),
        ("for n in a: locals()[n] = 1", ("locals-write",)),
        ("f(locals())", ("locals-write",)),
        ("exec('x = 1')", ("exec",)),
        ("exec('x = 1', {})", ()),
        ("x = sorted(locals())", ()),
        ("x = '%(a)s' % locals()", ()),
    ],
)
def test_marks_of_a_class_body(body: str, marks: tuple[str, ...]) -> None:
    row = class_of(f"class C:\n    {body}\n")
    assert row.dynamic == marks


def test_passing_a_name_through_is_no_mark() -> None:
    header = "def __setattr__(self, name, value):"
    body = "if a: object.__setattr__(self, name, value)\nsuper().__setattr__(name, value)\nself.__dict__[name] = value"
    assert method(body, header).classes[0].dynamic == ()
    # But a name that was changed on the way is one.
    assert method(f"name = '_' + name\n{body}", header).classes[0].dynamic == ("setattr", "dict-write")


@pytest.mark.parametrize(
    ("text", "stores"),
    [
        # receiver, attribute, scope, value
        ("C.x = f()", [("C", "x", "", "f()")]),
        ("a.b.c = 1", [("a.b", "c", "", "1")]),
        ("f(1).x = 1", [("f(1)", "x", "", "1")]),
        ("a.x, b = c", [("a", "x", "", None)]),
        ("a.x += 1", [("a", "x", "", None)]),
        ("a.x: int = 1", [("a", "x", "", "1")]),
        ("a.x: int", [("a", "x", "", None)]),
        ("for a.x in b: pass", [("a", "x", "", "b")]),
        ("with b as a.x: pass", [("a", "x", "", "b")]),
        ("del a.x", []),
        ("setattr(a, 'x', 1)", [("a", "x", "", "1")]),
        ("setattr(a, n, 1)", [("a", "*", "", "1")]),
        ("type.__setattr__(a, 'x', 1)", [("a", "x", "", "1")]),
        ("a.__setattr__('x', 1)", [("a", "x", "", "1")]),
        ("a.__dict__.update(b)", [("a", "*", "", None)]),
        ("a.__dict__['x'] = 1", [("a", "x", "", None)]),
        ("vars(a)[n] = 1", [("a", "*", "", None)]),
        ("a.__dict__ = b", [("a", "*", "", "b")]),
        ("def f(self):\n    self.x = 1", [("self", "x", "f", "1")]),
        ("def f():\n    def g():\n        a.x = 1", [("a", "x", "f", "1")]),
        ("class C:\n    a.x = 1", [("a", "x", "C", "1")]),
        ("class C:\n    def m(self):\n        self.a.x = 1", [("self.a", "x", "C.m", "1")]),
        ("class C:\n    def m(self, o):\n        o.x = 1", [("o", "x", "C.m", "1")]),
        ("a" * 201 + ".x = 1", [("?", "x", "", "1")]),
        ("x = lambda: setattr(a, 'y', 1)", [("a", "y", "", "1")]),
        ("(a if b else c).x = 1", [("a if b else c", "x", "", "1")]),
    ],
)
def test_stores_through_anything_else(text: str, stores: list[tuple[str, str, str, str | None]]) -> None:
    rows = piece(text).attr_stores
    assert [(row.receiver, row.attr, row.scope, row.value) for row in rows] == stores
    assert all(row.line >= 1 for row in rows)
