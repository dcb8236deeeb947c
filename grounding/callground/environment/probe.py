"""Asks the user's interpreter what a compiled module has, and keeps the answer as stub text.

A compiled module is imported by an isolated child (see `child` and `probe_child`) whose search path is the
interpreter's own standard library and site-packages: no folder of the workspace, nothing that a ``.pth``
file adds. Only modules that lie there are asked for.  A failure is a value with its reason.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Collection, Iterable
from typing import NamedTuple, Protocol

from callground.environment.child import run_isolated
from callground.environment.finder import Finder, Located
from callground.environment.model import Environment

PROBE_VERSION = 1
"""Part of every cache key: bumped whenever the child writes other text for the same module."""

DEFAULT_TIMEOUT = 30.0
"""Seconds for one child, which may answer for many modules."""
DEFAULT_MEMORY = 4 << 30
"""Bytes that one child may write to."""

_CHILD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "probe_child.py")
_OUTPUT_LIMIT = 64_000_000
_BATCH = 128
_ALONG = 40
_WHOLE_FILE = 64 << 20
_RESTARTS = 6

# Importing them does something, or takes a display.
_NEVER_ALONG = frozenset({"__main__", "_tkinter", "antigravity", "this", "xxsubtype", "xxlimited", "xxlimited_35"})


class Probed(NamedTuple):
    """What became of a probe."""

    text: str | None
    """The module as stub text, None when it could not be probed."""
    problem: str | None = None
    """Why there is no text."""


class KeyValueStore(Protocol):
    """Where answers are kept between sessions.  Entries may vanish at any time."""

    def get(self, key: str) -> str | None:
        """The text kept under `key`."""

    def put(self, key: str, value: str) -> None:
        """Keep a text."""


class Prober:
    """Probes compiled modules of one environment.  Not safe for simultaneous use from several threads.

    Args:
        environment: in an environment that is not trusted nothing of it is started; modules of the standard
            library are then read from this program's own Python, when its version is the same.
        store: keeps answers between sessions.
        allowed: top-level names that may be probed by import; None allows every one.  The standard library is
            always allowed.
        timeout: seconds for one child.
        memory: bytes that one child may write to, 0 for no limit.
    """

    def __init__(
        self,
        environment: Environment,
        *,
        store: KeyValueStore | None = None,
        allowed: Collection[str] | None = None,
        timeout: float = DEFAULT_TIMEOUT,
        memory: int = DEFAULT_MEMORY,
    ) -> None:
        self.environment = environment
        self._store = store
        self._allowed = None if allowed is None else frozenset(allowed)
        self._timeout = timeout
        self._memory = memory
        self._known: dict[str, Probed] = {}
        # Without any root of the workspace: what is only there is never imported.
        self._finder = Finder(environment)
        self.children = 0
        """How many children have been started."""

    def __call__(self, name: str) -> str | None:
        """The stub text of the compiled module `name`; None when it cannot be probed."""
        return self.probe(name).text

    def probe(self, name: str) -> Probed:
        """Probe one module, and its neighbours along with it: the start of a child costs more than they
        do."""
        if name not in self._known:
            self.probe_many([name, *self._neighbours(name)])
        return self._known[name]

    def probe_many(self, names: Iterable[str]) -> dict[str, Probed]:
        """Probe several modules with as few children as possible."""
        wanted = list(dict.fromkeys(names))
        pending: list[tuple[Located, str]] = []
        for name in wanted:
            if name in self._known:
                continue
            located = self._finder.locate(name)
            problem = self._refusal(name, located)
            if located is None or problem is not None:
                self._known[name] = Probed(None, problem)
                continue
            key = self._key(located)
            kept = self._store.get(key) if self._store is not None else None
            if kept is not None:
                self._known[name] = Probed(kept)
            else:
                pending.append((located, key))
        for start in range(0, len(pending), _BATCH):
            self._run(pending[start : start + _BATCH])
        return {name: self._known[name] for name in wanted}

    def forget(self) -> None:
        """Drop what is in memory, after something was installed."""
        self._known.clear()
        self._finder.refresh()

    # -- permission --------------------------------------------------------------------------

    def _interpreter(self, located: Located) -> str | None:
        """The executable that may import `located`."""
        environment = self.environment
        if environment.trusted and environment.python is not None:
            return environment.python
        same = (environment.python_version, environment.implementation, environment.platform) == (
            sys.version_info[:2],
            sys.implementation.name,
            sys.platform,
        )
        if located.origin == "stdlib" and same and sys.executable:
            return getattr(sys, "_base_executable", None) or sys.executable
        return None

    def _refusal(self, name: str, located: Located | None) -> str | None:
        """Why a module is not imported; None when it may be."""
        if located is None:
            return "it is not in the interpreter's own site-packages or standard library"
        if name == "__main__" or not located.compiled:
            return "it is not a compiled module"
        if located.origin != "stdlib":
            if self._allowed is not None and name.partition(".")[0] not in self._allowed:
                return "the settings do not allow it to be probed"
            own = [os.path.realpath(each) + os.sep for each in self.environment.site]
            if located.path is None or not os.path.realpath(located.path).startswith(tuple(own)):
                return "it is not in the interpreter's own site-packages or standard library"
        if self._interpreter(located) is None:
            return "the interpreter may not be started in an untrusted workspace"
        return None

    def _neighbours(self, name: str) -> list[str]:
        """Compiled modules beside `name`, which a child can answer for along with it."""
        located = self._finder.locate(name)
        if located is None or self._refusal(name, located) is not None:
            return []
        package = name.rpartition(".")[0]
        if located.origin == "stdlib":
            names = sorted(sys.stdlib_module_names | self.environment.builtins)
        elif package:
            names = [f"{package}.{each}" for each in sorted(self._finder.submodules(package))]
        else:
            return []
        found = []
        for each in names:
            if each == name or each in _NEVER_ALONG or each.startswith(("_test", "_xx")):
                continue
            other = self._finder.locate(each)
            if other is not None and other.compiled and other.origin == located.origin:
                found.append(each)
        # All of the standard library takes a third of a second.
        return found if located.origin == "stdlib" else found[:_ALONG]

    # -- work --------------------------------------------------------------------------------

    def _key(self, located: Located) -> str:
        if located.path is not None:
            identity = _file_digest(located.path)
        else:
            python = os.path.realpath(self._interpreter(located) or "")
            try:
                status = os.stat(python)
                identity = f"{python}:{status.st_size}:{status.st_mtime_ns}"
            except OSError:
                identity = python
        environment = self.environment
        parts = (PROBE_VERSION, located.name, identity, environment.version, environment.implementation)
        return "probe:" + hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()

    def _run(self, pending: list[tuple[Located, str]]) -> None:
        groups: dict[str, list[tuple[Located, str]]] = {}
        for located, key in pending:
            groups.setdefault(self._interpreter(located) or "", []).append((located, key))
        for python, group in groups.items():
            left = {located.name: (located, key) for located, key in group}
            for _ in range(_RESTARTS):
                if not left:
                    break
                # A module that takes its child down is blamed; the others get a new child.
                self._one_child(python, left)
            for name in left:
                self._known[name] = Probed(None, "too many modules took the child down")

    def _one_child(self, python: str, left: dict[str, tuple[Located, str]]) -> None:
        modules: list[dict[str, object]] = [
            {
                "name": name,
                "file": located.path,
                # Members that C code of the standard library may add at run time are known to typeshed.
                "stdlib": located.origin == "stdlib",
            }
            for name, (located, _) in left.items()
        ]
        path = [each for each in self.environment.site if os.path.isdir(each)]
        if not self.environment.trusted:
            path = []
            for item in modules:
                item["file"] = None  # this program's own copy, which lies elsewhere
        request = {
            "path": path,
            "seconds": max(1, int(self._timeout)),
            "memory": self._memory,
            "modules": modules,
        }
        self.children += 1
        outcome = run_isolated(
            python, [_CHILD], json.dumps(request).encode("ascii"), timeout=self._timeout, limit=_OUTPUT_LIMIT
        )
        working: str | None = None
        for line in outcome.output.splitlines():
            try:
                answer = json.loads(line)
            except ValueError:
                break  # cut off in the middle
            if "start" in answer:
                working = answer["start"]
                continue
            name, text = answer.get("module"), answer.get("text")
            if name != working or name not in left:
                break
            _, key = left.pop(name)
            working = None
            if isinstance(text, str):
                self._known[name] = Probed(text)
                if self._store is not None:
                    self._store.put(key, text)
            else:
                self._known[name] = Probed(None, f"its import failed: {answer.get('error')}")
        if working in left:
            left.pop(working)
            self._known[working] = Probed(None, f"the child that imported it {outcome.problem or 'ended'}")
        elif left:
            # It did not even begin: another child would not either.
            for name in list(left):
                left.pop(name)
                self._known[name] = Probed(None, outcome.problem or "the child did not answer")


def _file_digest(path: str) -> str:
    """A digest of the file; of a huge one of its size, its head and its tail."""
    digest = hashlib.sha256()
    try:
        size = os.path.getsize(path)
        with open(path, "rb") as file:
            if size <= _WHOLE_FILE:
                while chunk := file.read(1 << 20):
                    digest.update(chunk)
            else:
                digest.update(str(size).encode() + file.read(4 << 20))
                file.seek(-(4 << 20), os.SEEK_END)
                digest.update(file.read())
    except OSError as error:
        digest.update(str(error).encode("utf-8", "surrogateescape"))
    return digest.hexdigest()
