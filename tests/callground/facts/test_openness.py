"""Exports, marks of a module, imports and mentions."""

from __future__ import annotations

import pytest

from callground.facts.extract import extract_module
from callground.facts.index import Exports, ModuleIndex


def index(text: str) -> ModuleIndex:
    return ModuleIndex(extract_module(text))


@pytest.mark.parametrize(
    ("text", "names", "is_open", "sources"),
    [
        ("x = 1", None, False, ()),
        ("__all__ = ['a', 'b', 'a']", ("a", "b"), False, ()),
        ("__all__ = ('a',)", ("a",), False, ()),
        ("__all__: list[str] = ['a']", ("a",), False, ()),
        ("__all__ = []", (), False, ()),
        ("__all__ = ['a']\n__all__ = ['b']", ("b",), False, ()),
        ("__all__ = ['a']\n__all__ += ['b']", ("a", "b"), False, ()),
        ("__all__ = ['a'] + ['b']", ("a", "b"), False, ()),
        ("__all__ = ['a']\n__all__.append('b')\n__all__.extend(['c'])", ("a", "b", "c"), False, ()),
        ("__all__ = ['a', 'b']\n__all__.remove('a')", ("b",), False, ()),
        ("__all__ = ['a', 'b']\nif c: __all__.remove('a')", ("a", "b"), False, ()),
        ("__all__ = ['a']\n__all__.insert(0, 'b')", ("a", "b"), False, ()),
        ("__all__ = ['a']\n__all__ = __all__ + ['b']", ("a", "b"), False, ()),
        ("__all__ = ['a']\n__all__.pop()", ("a",), True, ()),
        ("__all__ = ['a']\n__all__.append(name)", ("a",), True, ()),
        ("def export(f):\n    __all__.append(f.__name__)\n__all__ = []", (), True, ()),
        ("def put(n):\n    __all__[0] = n\n__all__ = ['a']", ("a",), True, ()),
        ("def change():\n    add(__all__)\n__all__ = ['a']", ("a",), True, ()),
        ("__all__ = ['a']\n__all__ += m.__all__", ("a",), False, ("m",)),
        ("__all__ = m.__all__ + n.o.__all__ + ['a']", ("a",), False, ("m", "n.o")),
        ("__all__ = [*m.__all__, 'a']", ("a",), False, ("m",)),
        ("__all__ = ['a']\n__all__.extend(m.__all__)", ("a",), False, ("m",)),
        ("__all__ = list(m.__all__)", (), False, ("m",)),
        ("__all__ = sorted(['a'])", ("a",), False, ()),
        ("from .m import __all__", (), False, (".m",)),
        ("__all__ = ['a']\nif b: __all__ += ['c']", ("a", "c"), False, ()),
        ("__all__ = ['a']\nif b: __all__ = ['c']", ("a", "c"), False, ()),
        ("__all__ = [n for n in dir()]", (), True, ()),
        ("__all__ = ['a']\n__all__ += f()", ("a",), True, ()),
        ("__all__ = ['a', b]", (), True, ()),
        ("__all__ = 'ab'", (), True, ()),
        ("__all__ = ['a']\n__all__.remove('a')", (), False, ()),
        ("__all__ = ['a']\n__all__.append(b)", ("a",), True, ()),
        ("__all__ = ['a']\n__all__[:] = b", ("a",), True, ()),
        ("__all__ = ['a']\ndef f(x): __all__.append(x)", ("a",), True, ()),
        ("__all__ = ['a']\ndef f():\n  global __all__\n  __all__ = []", ("a",), True, ()),
        ("__all__ = ['a']\nadd(__all__)", ("a",), True, ()),
        ("__all__ = ['a']\nprint(sorted(__all__))", ("a",), False, ()),
        ("__all__ = ['a']\nfor n in __all__: print(n)", ("a",), False, ()),
        # An assignment forgets what was not understood before it.
        ("__all__ = f()\n__all__ = ['a']", ("a",), False, ()),
    ],
)
def test_exports(text: str, names: tuple[str, ...] | None, is_open: bool, sources: tuple[str, ...]) -> None:
    assert index(text).exports() == Exports(names, is_open, sources)


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        ("globals()[n] = 1", ("globals-write",)),
        ("globals().update(a)", ("globals-write",)),
        ("def f():\n  globals()[n] = 1", ("globals-write",)),
        ("g = globals()", ("globals-write",)),
        ("f(globals())", ("globals-write",)),
        ("vars()[n] = 1", ("globals-write",)),
        ("locals().update(a)", ("globals-write",)),
        ("frame.f_globals[n] = 1", ("globals-write",)),
        ("frame.f_globals.update(a)", ("globals-write",)),
        ("globals()['x'] = 1", ()),
        ("x = globals()['y']", ()),
        ("x = globals().get(y)", ()),
        ("if x in globals(): pass", ()),
        ("x = dict(globals())", ()),
        ("x = {**globals()}", ()),
        ("for n in list(globals()): pass", ()),
        ("def f():\n  return locals()", ()),
        ("def f():\n  return '{a}'.format(**locals())", ()),
        ("exec(code)", ("exec",)),
        ("exec(code, globals())", ("exec",)),
        ("exec(code, {})", ()),
        ("exec(code, ns)", ()),
        ("def f():\n  exec(code)", ()),
        ("def f():\n  exec(code, globals())", ("exec",)),
        ("setattr(sys.modules[__name__], n, 1)", ("setattr-module",)),
        ("sys.modules[__name__].x = 1", ("setattr-module",)),
        ("sys.modules[__name__].__dict__.update(a)", ("setattr-module",)),
        ("this = sys.modules[__name__]", ("setattr-module",)),
        ("def f():\n  this = sys.modules[__name__]", ("setattr-module",)),
        ("x = getattr(sys.modules[__name__], n)", ()),
        ("@enum.global_enum\nclass F(Flag): pass", ("globals-write",)),
        ("@global_enum\nclass F(Flag): pass", ("globals-write",)),
        ("IntEnum._convert_('F', __name__, f)", ("globals-write",)),
        ("sys.modules['a'] = b", ("sys-modules-write",)),
        ("sys.modules.setdefault('a', b)", ("sys-modules-write",)),
        ("sys.modules.pop('a')", ()),
        ("del sys.modules['a']", ()),
        ("x = sys.modules['a']", ()),
        ("sys.modules['a'].x = 1", ()),
        ("f(sys.modules['a'])", ()),
        ("sys.path.insert(0, 'a')", ("sys-path-edit",)),
        ("sys.path.append('a')", ("sys-path-edit",)),
        ("_sys.path.append('a')", ("sys-path-edit",)),
        ("sys.path += ['a']", ("sys-path-edit",)),
        ("sys.path[0:0] = ['a']", ("sys-path-edit",)),
        ("sys.path = []", ("sys-path-edit",)),
        ("def f():\n  sys.path.append('a')", ("sys-path-edit",)),
        ("site.addsitedir('a')", ("sys-path-edit",)),
        ("for p in sys.path: pass", ()),
        ("os.path.join('a')", ()),
        ("sys.meta_path.append(f)", ("import-hook",)),
        ("sys.path_hooks.insert(0, f)", ("import-hook",)),
        ("sys.meta_path[:0] = [f]", ("import-hook",)),
        ("for f in sys.meta_path: pass", ()),
        ("'exec globals() sys.path.append'", ()),
    ],
)
def test_marks_of_a_module(text: str, marks: tuple[str, ...]) -> None:
    assert index(text).dynamic == marks


@pytest.mark.parametrize(
    ("text", "imports"),
    [
        ("import a.b, c", {("a.b", ()), ("c", ())}),
        ("from ..a import b, c as d", {("..a", ("b", "c"))}),
        ("from a import *", {("a", ("*",))}),
        ("def f():\n  import a.b", {("a.b", ())}),
        ("class C:\n  def m(self):\n    from a import b", {("a", ("b",))}),
        ("importlib.import_module('a.b')", {("a.b", ())}),
        ("import_module('a.b')", {("a.b", ())}),
        ("__import__('a')", {("a", ())}),
        ("import_module(a)", set()),
        ("import_module('.a', 'b.c')", {("b.c.a", ())}),
        ("import_module('.a', __package__)", {(".a", ())}),
        ("import_module('.a', b)", set()),
    ],
)
def test_imports_anywhere(text: str, imports: set[tuple[str, tuple[str, ...]]]) -> None:
    (piece,) = extract_module(text).pieces
    assert set(piece.imports) == imports


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("x.y(z=1)", {"x", "y", "z"}),
        ("def f(a: 'B') -> None: ...", {"f", "a", "B"}),
        ("getattr(x, 'attr')", {"getattr", "x", "attr"}),
        ("x = 'two words'  # and a comment", {"x"}),
        ("x = f'{y.z} words {w}'", {"x", "f", "y", "z", "w"}),
        ("patch('pkg.mod.attr')", {"patch", "pkg", "mod", "attr"}),
        ("x = 1e5 + 0x1F + 1_000", {"x"}),
        ('"""one"""', {"one"}),
        ('"""Prose, not names."""', set()),
        ("x = 'it''s'", {"x", "it", "s"}),
        ("é = ﬁ", {"é", "fi"}),
        ("x = b'data'", {"x", "b", "data"}),
        ("if not x: pass", {"x"}),
        ("x = '''a\nb'''", {"x"}),
    ],
)
def test_mentions(text: str, names: set[str]) -> None:
    (piece,) = extract_module(text).pieces
    assert piece.mentions == names
