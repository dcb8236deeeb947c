"""What holds for every CPython, whatever its version and its build."""

from __future__ import annotations

# Compiled into every CPython; the rest of a build's list has to come from the interpreter.
ALWAYS_BUILTIN = frozenset(
    "_abc _ast _codecs _collections _functools _imp _io _operator _signal _sre _stat _string _symtable"
    " _thread _tracemalloc _warnings _weakref atexit builtins errno faulthandler gc itertools marshal sys"
    " time".split()
)
# In ``sys.modules`` without a file of their own.
ALWAYS_THERE = frozenset({"__main__", "_frozen_importlib", "_frozen_importlib_external"})
# Imported while the interpreter starts (or frozen): no file of the workspace can take their place.
STARTUP = frozenset(
    "abc codecs encodings io _collections_abc _sitebuiltins genericpath ntpath posixpath os site stat zipimport".split()
)
# Submodules that code registers in ``sys.modules``: their parent is no package.
REGISTERED = frozenset({"pyexpat.errors", "pyexpat.model", "xml.parsers.expat.errors", "xml.parsers.expat.model"})
